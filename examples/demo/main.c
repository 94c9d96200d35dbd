/* The demonstration: real data reduced exactly and fast, beside what plain loops make of them. Only the values that
 * NIST certifies are read from a file; everything else is computed and timed as it runs. */
#include "demo.h"

#include "measure/clock.h"
#include "measure/colour.h"
#include "measure/machine.h"
#include "measure/sizes.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct demo_options {
    const char *data_folder, *command;
    uint64_t count;
} demo_options;

static error_t read_option(int key, char *text, struct argp_state *state) {
    demo_options *all = state->input;
    switch (key) {
    case 'd':
        all->data_folder = text;
        return 0;
    case 'c':
        all->command = text;
        return 0;
    case 'n':
        if (measure_size_parse(text, &all->count) != 0 || all->count < 2 || all->count > (uint64_t)1 << 36)
            argp_error(state, "--count takes a number from 2 to 64Gi, not '%s'", text);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option known[] = {
    {"data", 'd', "FOLDER", 0, "NIST's reference data (default examples/data)", 0},
    {"command", 'c', "FILE", 0, "The reduct command (default build/reduct)", 0},
    {"count", 'n', "N", 0, "Doubles in the large array (default 64Mi)", 0},
    {0},
};

void demo_title(const char *text) {
    printf("\n%s%s%s\n\n", measure_style_on(stdout, MEASURE_BOLD), text, measure_style_on(stdout, MEASURE_PLAIN));
}

void demo_require(reduct_status status, const char *what) {
    if (status == REDUCT_OK)
        return;
    fprintf(stderr, "demo: %s: %s\n", what, reduct_status_text(status));
    exit(1);
}

int main(int argc, char **argv) {
    static const struct argp parser = {
        known, read_option, NULL, "Reduces real data exactly, beside plain loops and certified values.",
        NULL,  NULL,        NULL};
    demo_options options = {"examples/data", "build/reduct", (uint64_t)1 << 26};
    double start = measure_seconds();
    argp_parse(&parser, argc, argv, 0, NULL, &options);
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
