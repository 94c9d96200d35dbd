/* Reading the command line. */
#include "options.h"

#include <argp.h>
#include <stdlib.h>

static const struct argp_option known[] = {
    {0, 0, 0, 0, "What to measure (lists separated by commas):", 1},
    {"op", 'o', "LIST", 0, "sum, dot, norm1, norm2, var, min, argmin; or all", 0},
    {"type", 't', "LIST", 0, "f64, f32, i64, i32; or all", 0},
    {"data", 'd', "LIST", 0,
     "normal; uniform on [0, 1); wide: 60 binades; full: every exponent; or all. Integers are always uniform over 32 "
     "bits",
     0},
    {"sizes", 's', "LIST", 0, "Bytes of each array, such as 32Ki,8Mi,1Gi; or all: 32Ki,512Ki,8Mi,256Mi", 0},
    {"device", 'D', "LIST", 0,
     "cpu for the best kernels here, cpu:portable, cpu:avx2, cpu:avx512; or all, for those of these three that run "
     "here",
     0},
    {"threads", 'j', "LIST", 0, "Numbers of threads; all: one per usable processor", 0},
    {0, 0, 0, 0, "How to measure:", 2},
    {"repeat", 'r', "N", 0, "Rounds, in each of which every variant is timed once (default 21)", 0},
    {"sample", 'm', "MS", 0, "Repeat short runs until a sample lasts this many milliseconds (default 2)", 0},
    {"seed", 'S', "N", 0, "Seed of the data (default 1)", 0},
    {0, 0, 0, 0, "Help:", -1},
    {0},
};

static const char documentation[] =
    "Times exact and fast reductions beside plain vectorised loops for the same instruction set, in turns, and checks "
    "every result.\v"
    "Without an option that says what to measure, the standard tables are printed: sums on all kernels and sizes, sums "
    "of other data, the other operators; and a verdict on the target. With one, a single table of every combination "
    "is; what is not said is then sums of f64 and f32, normal data, all sizes, all devices, 1 and all threads.\n\n"
    "Rates are medians over the rounds. exact/plain is the median of the ratios of time within each round, and +- half "
    "the distance between their quartiles. Plain loops come with and without software prefetch; the faster one is "
    "compared with, and marked p if it prefetches. Their threads wait in a pool; the library creates its own in every "
    "call. Both leave small arrays to one thread.";

static const struct {
    int key;
    matrix_list list;
    const char *name;
} list_keys[] = {{'o', LIST_OP, "op"},      {'t', LIST_TYPE, "type"},     {'d', LIST_DATA, "data"},
                 {'s', LIST_SIZE, "sizes"}, {'D', LIST_DEVICE, "device"}, {'j', LIST_THREADS, "threads"}};

static unsigned long read_number(const char *name, char *text, unsigned long least, unsigned long most,
                                 struct argp_state *state) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || number < least || number > most)
        argp_error(state, "--%s takes a number from %lu to %lu, not '%s'", name, least, most, text);
    return number;
}

static error_t read_option(int key, char *text, struct argp_state *state) {
    bench_options *options = state->input;
    for (size_t i = 0; i < LISTS; i++)
        if (list_keys[i].key == key) {
            bench_matrix scratch;
            char fault[128];
            options->lists[list_keys[i].list] = text;
            if (matrix_set(&scratch, list_keys[i].list, text, fault, sizeof fault) != 0)
                argp_error(state, "--%s=%s: %s", list_keys[i].name, text, fault);
            return 0;
        }
    switch (key) {
    case 'r':
        options->settings.rounds = (unsigned)read_number("repeat", text, 1, 100000, state);
        return 0;
    case 'm':
        options->settings.sample_seconds = (double)read_number("sample", text, 0, 10000, state) / 1000;
        return 0;
    case 'S':
        options->settings.seed = read_number("seed", text, 0, (unsigned long)-1, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *stream, struct argp_state *state) {
    (void)state;
    fprintf(stream, "reduct_bench %s\n", reduct_version());
}

void bench_options_read(bench_options *options, int argc, char **argv) {
    static const struct argp parser = {known, read_option, NULL, documentation, NULL, NULL, NULL};
    *options = (bench_options){.settings = {.rounds = 21, .sample_seconds = 0.002, .seed = 1}};
    argp_program_version_hook = print_version;
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, options);
}
