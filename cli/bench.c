/* `reduct bench`: see bench.h. The command line is read here, what is measured is in bench/. */
#include "bench.h"

#include "bench/bench.h"
#include "program/command_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { JSON = 256, CSV, MARKDOWN, HTML, OFFSET, SHAPE, CALLS };

static const program_option known[] = {
    {.text = "What to measure (lists separated by commas):"},
    {"data", 'd', "LIST",
     "normal; uniform on [0, 1); range40: 40 binades; wide or range60: 60; full: every exponent; or all, without "
     "range40. Integers are always "
     "uniform, over 32 bits at most"},
    {"device", 'D', "LIST",
     "As the library names them: cpu for the best kernels here, cpu:portable, cpu:avx2, cpu:avx512; or all, for those "
     "of these three that run here. Or one GPU: cuda:0, or cuda:0:double or cuda:0:integer for how exact sums are "
     "formed there"},
    {"threads", 'j', "LIST", "Numbers of threads; all: one per usable processor"},
    {"offset", OFFSET, "LIST",
     "On a GPU: elements between an alignment of 256 bytes and the first, up to 63 (default 0)"},
    {"calls", CALLS, "LIST", "On a GPU: queued, back to back (the default); waited, each waited for; or all"},
    {"op", 'o', "LIST",
     "sum, mean, dot, norm1, norm2, var, min, max, argmin; on a GPU any operator but minmax, and sum+min+max "
     "for several in one plan; or all"},
    {"shape", SHAPE, "LIST",
     "whole, one result (the default); rows:N or columns:N, one for each row or column of a matrix of N columns; on a "
     "GPU also segments:N or ragged:N, one for each segment of N elements, or of up to half as many more or less; "
     "falling:N or one:N, for N segments of lengths as 1/k, or of which one is long; groups:N, skewed:N or "
     "sorted:N, one for each of N groups, of which elements have numbers: with the same odds, low ones more often, "
     "or in order; groups:NxD and the like, where rows of D elements have the numbers; or all, for rows and columns of "
     "16 to 1Ki, on a GPU to 4Mi"},
    {"sizes", 's', "LIST",
     "Bytes of each array, such as 32Ki,8Mi,1Gi, or elements, such as 2^20; or all: 32Ki,512Ki,8Mi,256Mi; on a GPU "
     "2^10 to 2^30"},
    {.name = "size"},
    {"type", 't', "LIST", "f64, f32, f16, bf16, i64, i32; on a GPU integers of any width, too; or all"},
    {.text = "How to measure:"},
    {"sample", 'm', "MS", "Repeat short runs until a sample lasts this many milliseconds (default 2)"},
    {"repeat", 'r', "N", "Rounds, in each of which every variant is timed once (default 21)"},
    {"seed", 'S', "N", "Seed of the data (default 1)"},
    {.text = "What is printed:"},
    {"csv", CSV, NULL, "The rows of the report as CSV, instead of tables"},
    {"html", HTML, "FILE", "Also a page with charts in FILE, which needs nothing else"},
    {"json", JSON, NULL, "The report as JSON, instead of tables"},
    {"markdown", MARKDOWN, NULL, "The report as Markdown, instead of tables"},
    {0},
};

static const char about[] =
    "Times exact and fast reductions beside plain vectorised loops for the same instruction set, in turns, and checks "
    "every result.";

static const char notes[] =
    "Without an option that says what to measure, the standard tables are printed: sums on all kernels and sizes, sums "
    "of other data, the other operators; and a verdict on the target. With one, a single table of every combination "
    "is; what is not said is then sums of f64 and f32, normal data, all sizes, all devices, 1 and all threads.\n\n"
    "Rates are medians over the rounds. exact/plain is the median of the ratios of time within each round, and +- half "
    "the distance between their quartiles. Plain loops come with and without software prefetch; the faster one is "
    "compared with, and marked p if it prefetches. Their threads wait in a pool, as the library's do. Both leave small "
    "arrays to one thread. Rows and columns are measured beside the plain loop over all of their matrix.\n\n"
    "On a GPU (--device cuda:0) the library reduces data in device memory, beside CUB where its shared object lies "
    "beside the program, and beside the fast sum of the same bytes. Runs are queued back to back and timed by events "
    "on the device; they take parts of the data in turn, so that none is in cache.\n\n"
    "Exit status: 0 if all is right, 1 if a result of the library is wrong or cannot be measured, 2 if the command "
    "line is wrong.";

static const struct {
    int key;
    matrix_list list;
    const char *name;
} list_keys[] = {{'o', LIST_OP, "op"},           {'t', LIST_TYPE, "type"},        {'d', LIST_DATA, "data"},
                 {'s', LIST_SIZE, "sizes"},      {OFFSET, LIST_OFFSET, "offset"}, {'D', LIST_DEVICE, "device"},
                 {'j', LIST_THREADS, "threads"}, {SHAPE, LIST_SHAPE, "shape"},    {CALLS, LIST_CALLS, "calls"}};

static int read_option(int key, char *text, void *state);

static program_command command = {
    .name = "reduct bench", .about = about, .notes = notes, .options = known, .take = read_option};

/* Returns 0, or the exit status after saying what is wrong; so do all of these. */
static int read_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && errno == 0 && *number >= least && *number <= most)
        return 0;
    return program_command_refuse(&command, "--%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%s'", name,
                                  least, most, text);
}

/* When all are known: what lists may hold depends on the device. */
static int check_lists(bench_options *options) {
    const char *device = options->lists[LIST_DEVICE];
    options->gpu = matrix_is_gpu(device);
    if (options->gpu && strchr(device, ','))
        return program_command_refuse(
            &command, "--device=%s: a GPU is measured by itself; expected one device, as in cuda:0", device);
    if (options->gpu && options->lists[LIST_THREADS])
        return program_command_refuse(&command, "--threads: only CPUs have them; found --device=%s", device);
    if (!options->gpu && options->lists[LIST_OFFSET])
        return program_command_refuse(&command, "--offset: only for GPUs; expected --device=cuda:N with it");
    if (!options->gpu && options->lists[LIST_CALLS])
        return program_command_refuse(&command, "--calls: only for GPUs; expected --device=cuda:N with it");
    for (size_t i = 0; i < LISTS; i++) {
        const char *text = options->lists[list_keys[i].list];
        bench_matrix scratch;
        char fault[MATRIX_FAULT];
        if (text && matrix_set(&scratch, options->gpu, list_keys[i].list, text, fault) != 0)
            return program_command_refuse(&command, "--%s=%s: %s", list_keys[i].name, text, fault);
    }
    return 0;
}

static int read_format(report_writer *format, bench_options *options) {
    if (options->write && options->write != format)
        return program_command_refuse(
            &command, "--json, --csv, --markdown: expected one of them; standard output can hold one report");
    options->write = format;
    return 0;
}

static int read_setting(int key, const char *text, bench_settings *settings) {
    uint64_t number = 0;
    int status;
    switch (key) {
    case 'r':
        status = read_number("repeat", text, 1, 100000, &number);
        settings->rounds = (unsigned)number;
        return status;
    case 'm':
        status = read_number("sample", text, 0, 10000, &number);
        settings->sample_seconds = (double)number / 1000;
        return status;
    default:
        status = read_number("seed", text, 0, UINT64_MAX, &number);
        settings->seed = number;
        return status;
    }
}

static int read_option(int key, char *text, void *state) {
    bench_options *options = state;
    for (size_t i = 0; i < LISTS; i++)
        if (list_keys[i].key == key) {
            options->lists[list_keys[i].list] = text;
            return 0;
        }
    switch (key) {
    case JSON:
        return read_format(report_write_json, options);
    case CSV:
        return read_format(report_write_csv, options);
    case MARKDOWN:
        return read_format(report_write_markdown, options);
    case HTML:
        options->html = text;
        return 0;
    default:
        return read_setting(key, text, &options->settings);
    }
}

/* Returns 0, or the exit status after saying what is wrong. --help, --usage and --version end the program. */
static int read_options(bench_options *options, int argc, char **argv) {
    int rest;
    *options = (bench_options){.settings = {.rounds = 21, .sample_seconds = 0.002, .seed = 1}};
    command.version = reduct_version();
    int status = program_command_read(&command, argc, argv, options, &rest);
    if (status == 0 && rest < argc)
        status = program_command_refuse(&command, "unexpected argument '%s'", argv[rest]);
    return status != 0 ? status : check_lists(options);
}

enum outcome bench_command(int argc, char **argv) {
    bench_options options;
    int status = read_options(&options, argc, argv);
    return (enum outcome)(status != 0 ? status : bench_compare(&options));
}
