/* Reading the command line. */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON = 256, CSV, MARKDOWN, HTML, OFFSET };

static const struct argp_option known[] = {
    {0, 0, 0, 0, "What to measure (lists separated by commas):", 1},
    {"op", 'o', "LIST", 0, "sum, dot, norm1, norm2, var, min, argmin; on a GPU any operator; or all", 0},
    {"type", 't', "LIST", 0, "f64, f32, i64, i32; on a GPU integers of any width; or all", 0},
    {"data", 'd', "LIST", 0,
     "normal; uniform on [0, 1); wide or range60: 60 binades; full: every exponent; or all. Integers are always "
     "uniform, "
     "over 32 bits at most",
     0},
    {"sizes", 's', "LIST", 0,
     "Bytes of each array, such as 32Ki,8Mi,1Gi, or elements, such as 2^20; or all: 32Ki,512Ki,8Mi,256Mi; on a GPU "
     "2^10 "
     "to 2^30",
     0},
    {"size", 0, 0, OPTION_ALIAS, 0, 0},
    {"offset", OFFSET, "LIST", 0,
     "On a GPU: elements between an alignment of 256 bytes and the first, up to 63 (default 0)", 0},
    {"device", 'D', "LIST", 0,
     "As the library names them: cpu for the best kernels here, cpu:portable, cpu:avx2, cpu:avx512; or all, for those "
     "of these three that run here. Or one GPU: cuda:0, or cuda:0:double or cuda:0:integer for how exact sums are "
     "formed there",
     0},
    {"threads", 'j', "LIST", 0, "Numbers of threads; all: one per usable processor", 0},
    {0, 0, 0, 0, "How to measure:", 2},
    {"repeat", 'r', "N", 0, "Rounds, in each of which every variant is timed once (default 21)", 0},
    {"sample", 'm', "MS", 0, "Repeat short runs until a sample lasts this many milliseconds (default 2)", 0},
    {"seed", 'S', "N", 0, "Seed of the data (default 1)", 0},
    {0, 0, 0, 0, "What is printed:", 3},
    {"json", JSON, 0, 0, "The report as JSON, instead of tables", 0},
    {"csv", CSV, 0, 0, "The rows of the report as CSV, instead of tables", 0},
    {"markdown", MARKDOWN, 0, 0, "The report as Markdown, instead of tables", 0},
    {"html", HTML, "FILE", 0, "Also a page with charts in FILE, which needs nothing else", 0},
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
    "call. Both leave small arrays to one thread.\n\n"
    "On a GPU (--device cuda:0) the library reduces data in device memory, beside CUB where its shared object lies "
    "beside the program, and beside the fast sum of the same bytes. Runs are queued back to back and timed by events "
    "on the device; they take parts of the data in turn, so that none is in cache.\n\n"
    "Exit status: 0 if all is right, 1 if a result of the library is wrong or cannot be measured, 2 if the command "
    "line is wrong.";

static const struct {
    int key;
    matrix_list list;
    const char *name;
} list_keys[] = {{'o', LIST_OP, "op"},          {'t', LIST_TYPE, "type"},        {'d', LIST_DATA, "data"},
                 {'s', LIST_SIZE, "sizes"},     {OFFSET, LIST_OFFSET, "offset"}, {'D', LIST_DEVICE, "device"},
                 {'j', LIST_THREADS, "threads"}};

static unsigned long read_number(const char *name, char *text, unsigned long least, unsigned long most,
                                 struct argp_state *state) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || number < least || number > most)
        argp_error(state, "--%s takes a number from %lu to %lu, not '%s'", name, least, most, text);
    return number;
}

/* A wrong list ends the program; so does a device that is not here, in the library's words. */
static void read_list(matrix_list list, const char *name, const char *text, struct argp_state *state) {
    bench_options *options = state->input;
    bench_matrix scratch;
    char fault[MATRIX_FAULT];
    int outcome = matrix_set(&scratch, options->gpu, list, text, fault);
    if (outcome < 0)
        argp_error(state, "--%s=%s: %s", name, text, fault);
    if (outcome > 0) {
        fprintf(stderr, "reduct: %s\n", fault);
        exit(1);
    }
}

/* When all are known: what lists may hold depends on the device. */
static void check_lists(struct argp_state *state) {
    bench_options *options = state->input;
    const char *device = options->lists[LIST_DEVICE];
    options->gpu = matrix_is_gpu(device);
    if (options->gpu && strchr(device, ','))
        argp_error(state, "--device=%s: a GPU is measured by itself; expected one device, as in cuda:0", device);
    if (options->gpu && options->lists[LIST_THREADS])
        argp_error(state, "--threads: only CPUs have them; found --device=%s", device);
    if (!options->gpu && options->lists[LIST_OFFSET])
        argp_error(state, "--offset: only for GPUs; expected --device=cuda:N with it");
    for (size_t i = 0; i < LISTS; i++)
        if (options->lists[list_keys[i].list])
            read_list(list_keys[i].list, list_keys[i].name, options->lists[list_keys[i].list], state);
}

static void read_format(bench_format *format, struct argp_state *state) {
    bench_options *options = state->input;
    if (options->write && options->write != format)
        argp_error(state, "--json, --csv, --markdown: expected one of them; standard output can hold one report");
    options->write = format;
}

static error_t read_option(int key, char *text, struct argp_state *state) {
    bench_options *options = state->input;
    for (size_t i = 0; i < LISTS; i++)
        if (list_keys[i].key == key) {
            options->lists[list_keys[i].list] = text;
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
    case JSON:
        read_format(report_write_json, state);
        return 0;
    case CSV:
        read_format(report_write_csv, state);
        return 0;
    case MARKDOWN:
        read_format(report_write_markdown, state);
        return 0;
    case HTML:
        options->html = text;
        return 0;
    case ARGP_KEY_END:
        check_lists(state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void bench_options_read(bench_options *options, int argc, char **argv) {
    static const struct argp parser = {known, read_option, NULL, documentation, NULL, NULL, NULL};
    *options = (bench_options){.settings = {.rounds = 21, .sample_seconds = 0.002, .seed = 1}};
    static char name[] = "reduct bench";
    argv[0] = name; /* as argp is to call the command */
    /* A wrong command line ends the program in there. */
    if (argp_parse(&parser, argc, argv, 0, NULL, options) != 0) {
        fprintf(stderr, "reduct: %s\n", strerror(ENOMEM));
        exit(1);
    }
}
