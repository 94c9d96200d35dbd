/* The demonstration: real data reduced exactly and fast, beside what plain loops make of them. Only the values that
 * NIST certifies are read from a file; everything else is computed and timed as it runs. */
#include "demo.h"

#include "measure/clock.h"
#include "measure/machine.h"
#include "program/colour.h"
#include "program/command_line.h"
#include "program/sizes.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct demo_options {
    const char *data_folder, *command;
    uint64_t count;
} demo_options;

static int read_option(int key, char *text, void *state);

static const program_option known[] = {
    {"command", 'c', "FILE", "The reduct command (default build/reduct)"},
    {"data", 'd', "FOLDER", "NIST's reference data (default examples/data)"},
    {"count", 'n', "N", "Doubles in the large array (default 64Mi)"},
    {0},
};

static const program_command command_line = {.name = "demo",
                                             .about =
                                                 "Reduces real data exactly, beside plain loops and certified values.",
                                             .options = known,
                                             .take = read_option};

static int read_option(int key, char *text, void *state) {
    demo_options *all = state;
    switch (key) {
    case 'd':
        all->data_folder = text;
        return 0;
    case 'c':
        all->command = text;
        return 0;
    default:
        if (program_size_parse(text, &all->count) == 0 && all->count >= 2 && all->count <= (uint64_t)1 << 36)
            return 0;
        return program_command_refuse(&command_line, "--count takes a number from 2 to 64Gi, not '%s'", text);
    }
}

void demo_title(const char *text) {
    printf("\n%s%s%s\n\n", program_style_on(stdout, PROGRAM_BOLD), text, program_style_on(stdout, PROGRAM_PLAIN));
}

void demo_require(reduct_status status, const char *what) {
    if (status == REDUCT_OK)
        return;
    fprintf(stderr, "demo: %s: %s\n", what, reduct_status_text(status));
    exit(1);
}

int main(int argc, char **argv) {
    demo_options options = {"examples/data", "build/reduct", (uint64_t)1 << 26};
    double start = measure_seconds();
    int rest, status = program_command_read(&command_line, argc, argv, &options, &rest);
    if (status == 0 && rest < argc)
        status = program_command_refuse(&command_line, "unexpected argument '%s'", argv[rest]);
    if (status != 0)
        return status;
    setvbuf(stdout, NULL, _IOLBF, 0); /* in order with the output of the commands run */

    measure_machine machine;
    measure_machine_describe(&machine);
    printf("reduct %s on %s, %u processors\n", reduct_version(), machine.processor, machine.processors);
    int wrong = demo_nist(options.data_folder);
    wrong |= demo_large((size_t)options.count);
    wrong |= demo_command(options.command, options.data_folder);
    printf("\n%.1f seconds in all.\n", measure_seconds() - start);
    return wrong;
}
