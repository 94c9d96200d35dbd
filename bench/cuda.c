/* `reduct bench --device cuda:N`: the matrix of cases, and what is printed. */
#include "cuda.h"

#include "cuda_cases.h"
#include "cuda_report.h"

#include "measure/machine.h"
#include "program/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The standard tables: what docs/benchmarks/cuda.py makes docs/benchmarks/cuda.md from. The first is also what a table of
 * one's own starts from. */
static const matrix_standard standards[] = {
    {"Sums by size", {"sum", "f64,f32", "normal", "all", NULL, NULL, "0", "whole", "queued"}},
    {"Sums, each waited for",
     {"sum", "f64,f32", "normal", "2^10,2^12,2^14,2^16,2^18,2^20,2^22", NULL, NULL, "0", "whole", "waited"}},
    {"Sums of other data", {"sum", "f64,f32", "wide,full", "2^28", NULL, NULL, "0", "whole", "queued"}},
    {"Sums, minima and maxima of all types, aligned and not",
     {"sum,min,max", "all", "normal", "1Gi,4Gi", NULL, NULL, "0,1", "whole", "queued"}},
    {"Sums of rows and columns",
     {"sum", "f32", "normal", "1Gi", NULL, NULL, "0",
      "rows:16,rows:32,rows:64,rows:128,rows:256,rows:512,rows:1Ki,rows:4Ki,rows:16Ki,rows:4Mi,columns:64,columns:1Ki,"
      "columns:16Ki,columns:256Ki,columns:4Mi",
      "queued"}},
    {"Sums of rows of other data and types",
     {"sum", "f64,f32", "wide,full", "1Gi", NULL, NULL, "0", "rows:64,rows:1Ki", "queued"}},
    {"Sums of rows and columns of 16 bits",
     {"sum", "f16,bf16", "normal", "2^28", NULL, NULL, "0",
      "rows:64,rows:256,rows:1Ki,rows:4Ki,rows:16Ki,rows:4Mi,columns:64,columns:1Ki,columns:16Ki,columns:256Ki",
      "queued"}},
    {"Sums of segments",
     {"sum", "f32", "normal", "1Gi", NULL, NULL, "0",
      "rows:64,segments:64,ragged:64,rows:1Ki,segments:1Ki,ragged:1Ki,segments:4Mi,falling:1Mi,one:4Mi", "queued"}},
    {"Several operators of segments at once",
     {"sum+min+max+mean+std+argmin+argmax", "f32", "normal", "1Gi", NULL, NULL, "0",
      "segments:64,segments:1Ki,ragged:64,ragged:1Ki,falling:1Mi,one:4Mi", "queued"}},
    {"Sums by groups",
     {"sum", "f64,f32", "normal", "2^26", NULL, NULL, "0",
      "groups:1,groups:100,groups:1000,groups:10000,groups:100000,groups:1000000,groups:10000000,skewed:100,skewed:"
      "1000,"
      "skewed:10000,skewed:100000,skewed:1000000,skewed:10000000,sorted:100,sorted:10000,sorted:1000000,"
      "sorted:10000000",
      "queued"}},
    {"Sums by groups of few elements",
     {"sum", "f32", "normal", "2^10,2^16,2^20", NULL, NULL, "0", "groups:64,groups:1024", "queued"}},
    {"Other operators by groups",
     {"mean,var,dot,min,argmax", "f32", "normal", "2^26", NULL, NULL, "0", "groups:100,groups:10000,groups:1000000",
      "queued"}},
    {"Sums of rows by groups",
     {"sum", "f32", "normal", "2^26", NULL, NULL, "0",
      "groups:1000x64,groups:100000x64,skewed:100000x64,groups:1000x256,groups:100000x256,skewed:100000x256",
      "queued"}},
    {"Several operators by groups at once",
     {"sum+mean,sum+mean+var+std,sum+min+max+mean+std", "f32", "normal", "2^26", NULL, NULL, "0",
      "groups:100,groups:10000,groups:1000000", "queued"}},
    {"Sums by groups of 16 bits",
     {"sum", "f16,bf16", "normal", "2^26", NULL, NULL, "0", "groups:100,groups:10000,groups:1000000", "queued"}},
    {"Sums by groups of other data",
     {"sum", "f64,f32", "wide,full", "2^26", NULL, NULL, "0", "groups:1000,groups:1000000", "queued"}},
    {"Several operators of rows and columns at once",
     {"sum+min+max+mean+std+argmin+argmax", "f64,f32,f16", "normal", "1Gi", NULL, NULL, "0",
      "rows:64,rows:256,rows:1Ki,rows:4Ki,rows:64Ki,rows:4Mi,columns:1Ki,columns:64Ki", "queued"}},
    {"Other operators of rows and columns",
     {"mean,norm2,rms,var,dot,min,argmax", "f64,f32", "normal", "1Gi", NULL, NULL, "0",
      "rows:64,rows:1Ki,rows:16Ki,rows:64Ki,rows:4Mi,columns:1Ki", "queued"}},
    {"Other operators", {"argmin,argmax,dot,norm2,var", "all", "normal", "1Gi", NULL, NULL, "0", "whole", "queued"}},
};

typedef struct cuda_results {
    cuda_result *items;
    size_t count, room;
} cuda_results;

static void add_result(cuda_results *results, const cuda_result *result) {
    if (results->count == results->room) {
        results->room = results->room ? 2 * results->room : 64;
        results->items = program_reallocate(results->items, results->room * sizeof *results->items);
    }
    results->items[results->count++] = *result;
}

static void show_progress(const cuda_case *which) {
    char count[32], ops[CUDA_OPS_TEXT];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s of %s %s, %s data", cuda_ops_text(which, ops),
                report_count_text(which->n, count, sizeof count), reduct_type_name(which->type),
                measure_data_name(which->data));
}

static void clear_progress(void) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* Case number `number`: the last digits count operators, the first types and data, because changing those means making new
 * arrays. */
static const matrix_list order[] = {LIST_OP, LIST_OFFSET, LIST_CALLS, LIST_SHAPE, LIST_SIZE, LIST_DATA, LIST_TYPE};
enum { DIGITS = sizeof order / sizeof *order };

static cuda_case pick(const bench_matrix *what, size_t number) {
    unsigned at[LISTS];
    matrix_combination(what, order, DIGITS, number, at);
    reduct_type type = what->types[at[LIST_TYPE]];
    bench_shape shape = what->shapes[at[LIST_SHAPE]];
    uint64_t n = matrix_bytes(what, at[LIST_SIZE], type) / reduct_type_size(type);
    const bool has_columns = shape.kind == BENCH_ROWS || shape.kind == BENCH_COLUMNS || shape.kind == BENCH_SEGMENTS ||
                             shape.kind == BENCH_SEGMENTS_RAGGED;
    const uint64_t row = has_columns ? shape.columns : shape.width ? shape.width : 1;
    return (cuda_case){.op = what->ops[at[LIST_OP]],
                       .others = what->others[at[LIST_OP]],
                       .type = type,
                       .data = what->data[at[LIST_DATA]],
                       .n = n / row * row,
                       .offset = what->offsets[at[LIST_OFFSET]],
                       .shape = shape,
                       .waits = what->waits[at[LIST_CALLS]]};
}

/* Integers have one kind of data: they are measured with the first alone; segments of arrays that have no more elements than bounds of
 * 32 bits count. */
static bool is_wanted(const bench_matrix *what, const cuda_case *which) {
    return which->n > 0 && (!bench_is_segmented(which->shape) || which->n <= UINT32_MAX) &&
           (reduct_type_is_float(which->type) || which->data == what->data[0]);
}

/* Elements that the largest case of a type needs, in all arrays. */
static uint64_t most_elements(const bench_matrix *what, reduct_type type) {
    uint64_t most = 0, inputs = 1, offset = 0;
    for (unsigned i = 0; i < what->count[LIST_SIZE]; i++)
        most = matrix_bytes(what, i, type) > most ? matrix_bytes(what, i, type) : most;
    for (unsigned i = 0; i < what->count[LIST_OP]; i++)
        inputs = reduct_operator_inputs(what->ops[i]) == 2 ? 2 : inputs;
    for (unsigned i = 0; i < what->count[LIST_OFFSET]; i++)
        offset = what->offsets[i] > offset ? what->offsets[i] : offset;
    return most / reduct_type_size(type) * inputs + offset;
}

/* Tables overlap. */
static bool is_measured(const cuda_results *results, const cuda_case *which) {
    bool found = false;
    for (size_t i = 0; i < results->count; i++) {
        const cuda_case *other = &results->items[i].which;
        found = found || (cuda_same_ops(other, which) && other->type == which->type && other->data == which->data &&
                          other->n == which->n && other->offset == which->offset && other->waits == which->waits &&
                          bench_same_shape(other->shape, which->shape));
    }
    return found;
}

static void measure_matrix(cuda_lab *lab, const bench_matrix *what, cuda_results *results) {
    for (size_t i = 0; i < matrix_combinations(what, order, DIGITS); i++) {
        cuda_result result;
        cuda_case which = pick(what, i);
        if (!is_wanted(what, &which) || is_measured(results, &which))
            continue;
        show_progress(&which);
        cuda_lab_prepare(lab, which.type, which.data, most_elements(what, which.type));
        if (cuda_measure(lab, &which, &result) == 0)
            add_result(results, &result);
    }
    clear_progress();
}

/* Whether the command line says what to measure, besides the device. */
static bool is_chosen(const bench_options *options) {
    bool chosen = false;
    for (int i = 0; i < LISTS; i++)
        chosen = chosen || (i != LIST_DEVICE && options->lists[i]);
    return chosen;
}

static void measure_all(cuda_lab *lab, const bench_options *options, cuda_results *results) {
    bool chosen = is_chosen(options);
    size_t tables = chosen ? 1 : sizeof standards / sizeof *standards;
    for (size_t i = 0; i < tables; i++) {
        const bench_matrix what = matrix_make(1, &standards[i], options->lists);
        size_t first = results->count;
        measure_matrix(lab, &what, results);
        if (!options->write) {
            cuda_report_table(chosen ? "As asked for" : standards[i].title, results->items + first,
                              results->count - first, cuda_lab_read_limit(lab), stdout);
            fflush(stdout);
        }
    }
}

static report *make_report(const bench_options *options, cuda_lab *lab, const cuda_results *results) {
    measure_machine machine;
    measure_machine_describe(&machine);
    report *r =
        report_create("What exactness costs on a GPU", "Exact and fast reductions of data in device memory beside "
                                                       "CUB, timed in turns; every result is checked.");
    report_fact(r, "program", "reduct %s", reduct_version());
    report_fact(r, "date", "%s", machine.date);
    cuda_report_facts(r, lab);
    report_fact(r, "rounds", "%u, of which the median counts", options->settings.rounds);
    report_fact(r, "seed", "%llu", (unsigned long long)options->settings.seed);
    report_fact(r, "to fast, to peer, to sum",
                "ratios of time to our own fast mode, to CUB, and to the fast sum of the same bytes: medians of the "
                "ratios within rounds");
    if (cuda_lab_has_gpu_to_gpu(lab))
        report_fact(r, "to gpu_to_gpu", "the same to CUB's sum with the same bits on every GPU");
    report_add_machine(r);
    cuda_report_fill(r, lab, results->items, results->count);
    return r;
}

static int count_wrong(const cuda_results *results, bool peers) {
    int count = 0;
    for (size_t i = 0; i < results->count; i++)
        count += cuda_count_wrong(&results->items[i], peers);
    return count;
}

static void print_head(const cuda_lab *lab, const bench_options *options) {
    const gpu_cuda_facts *facts = cuda_lab_facts(lab);
    unsigned cub = cuda_lab_cub_version(lab);
    printf("reduct %s on %s, driver for CUDA %u.%u, seed %llu, %u rounds\n", reduct_version(), facts->name,
           facts->driver / 1000, facts->driver % 1000 / 10, (unsigned long long)options->settings.seed,
           options->settings.rounds);
    printf("read limit %.0f GB/s, measured; ", cuda_lab_read_limit(lab) / 1e9);
    if (cub)
        printf("CUB %u.%u.%u%s\n\n", cub / 100000, cub / 100 % 1000, cub % 100,
               cuda_lab_has_gpu_to_gpu(lab) ? "" : " (gpu_to_gpu determinism is not in this CCCL)");
    else
        printf("CUB is not measured: %s\n\n", cuda_lab_no_cub(lab));
}

int bench_cuda(const bench_options *options) {
    char why[240];
    measure_machine machine;
    cuda_results results = {0};
    bench_settings settings = options->settings;
    measure_machine_describe(&machine);
    settings.threads = machine.processors;
    cuda_lab *lab = cuda_lab_create(options->lists[LIST_DEVICE], settings, why, sizeof why);
    if (!lab) {
        fprintf(stderr, "reduct: %s\n", why);
        return 1;
    }
    if (!options->write)
        print_head(lab, options);
    measure_all(lab, options, &results);
    bool slowed = cuda_lab_has_slowed(lab);
    if (slowed)
        fprintf(stderr, "reduct: the read limit is lower than at first: the device is throttling or shared\n");
    int failed = 0;
    if (options->write || options->html) {
        report *r = make_report(options, lab, &results);
        if (slowed)
            report_warning(r, "the read limit is lower than at first: the device is throttling or shared");
        if (options->write)
            options->write(r, stdout);
        failed = options->html && report_write_page(r, options->html) != 0;
        if (failed)
            fprintf(stderr, "reduct: %s: %s\n", options->html, strerror(errno));
        report_destroy(r);
    }
    int wrong = count_wrong(&results, false), of_peers = count_wrong(&results, true);
    if (wrong)
        fprintf(stderr, "reduct: %d result%s wrong\n", wrong, wrong == 1 ? " was" : "s were");
    if (of_peers)
        fprintf(stderr, "reduct: %d result%s of CUB %s wrong\n", of_peers, of_peers == 1 ? "" : "s",
                of_peers == 1 ? "was" : "were");
    cuda_lab_destroy(lab);
    free(results.items);
    return wrong || failed ? 1 : 0;
}
