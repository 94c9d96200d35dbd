/* See bench.h: measures every combination of what is asked for, and reports. */
#include "bench/bench.h"

#include "cases.h"
#include "cuda.h"
#include "report.h"

#include "measure/machine.h"
#include "program/memory.h"
#include "program/sizes.h"
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The standard tables. The first is also what a table of one's own starts from. */
static const matrix_standard standards[] = {
    {"Sums", {"sum", "f64,f32", "normal", "32Ki,512Ki,8Mi,256Mi", "all", "1,all", "0", "whole"}},
    {"Sums of other data", {"sum", "f64,f32", "uniform,wide,full", "256Mi", "cpu", "1,all", "0", "whole"}},
    {"Other operators",
     {"dot,norm1,norm2,var,min,argmin", "f64,f32", "normal", "512Ki,256Mi", "cpu", "1,all", "0", "whole"}},
    {"Integers", {"sum,min,argmin", "i64,i32", "uniform", "512Ki,256Mi", "cpu", "1,all", "0", "whole"}},
};

typedef struct bench_results {
    bench_result *items;
    size_t count, room;
} bench_results;

static void add_result(bench_results *results, const bench_result *result) {
    if (results->count == results->room) {
        results->room = results->room ? 2 * results->room : 64;
        results->items = program_reallocate(results->items, results->room * sizeof *results->items);
    }
    results->items[results->count++] = *result;
}

static void show_progress(const bench_case *which) {
    char size[32];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s %s %s %s on %s, %u threads", reduct_operator_name(which->op),
                reduct_type_name(which->type), measure_data_name(which->data),
                program_size_text(which->bytes, size, sizeof size), which->device, which->threads);
}

static void clear_progress(void) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* Case number `number` of a matrix. The last digits count devices, so that what is compared is measured close together;
 * the first count types and data, because changing those means making new arrays. */
static const matrix_list order[] = {LIST_DEVICE, LIST_THREADS, LIST_SHAPE, LIST_SIZE, LIST_OP, LIST_DATA, LIST_TYPE};
enum { DIGITS = sizeof order / sizeof *order };

static bench_case pick(const bench_matrix *what, size_t number) {
    unsigned at[LISTS];
    matrix_combination(what, order, DIGITS, number, at);
    return (bench_case){
        .op = what->ops[at[LIST_OP]],
        .type = what->types[at[LIST_TYPE]],
        .data = what->data[at[LIST_DATA]],
        .bytes = matrix_bytes(what, at[LIST_SIZE], what->types[at[LIST_TYPE]]),
        .shape = what->shapes[at[LIST_SHAPE]],
        .device = what->devices[at[LIST_DEVICE]],
        .threads = what->threads[at[LIST_THREADS]],
    };
}

/* Integers have no fast mode and one kind of data: they are measured with the first kind alone. */
static int is_wanted(const bench_matrix *what, const bench_case *which) {
    return bench_has(which->op, which->type) && (reduct_type_is_float(which->type) || which->data == what->data[0]);
}

static void measure_matrix(bench_lab *lab, const bench_matrix *what, bench_results *results) {
    for (size_t i = 0; i < matrix_combinations(what, order, DIGITS); i++) {
        bench_result result;
        bench_case which = pick(what, i);
        if (!is_wanted(what, &which))
            continue;
        show_progress(&which);
        if (bench_measure(lab, &which, &result) == 0)
            add_result(results, &result);
    }
    clear_progress();
}

static int faults(const bench_results *results) {
    int count = 0;
    for (size_t i = 0; i < results->count; i++)
        count += bench_is_wrong(&results->items[i]);
    return count;
}

static void print_head(const bench_options *options, const measure_machine *machine) {
    printf("reduct %s, seed %llu, %u rounds\n", reduct_version(), (unsigned long long)options->settings.seed,
           options->settings.rounds);
    measure_machine_print(machine, stdout);
    putchar('\n');
}

static void measure_all(const bench_options *options, bench_results *results) {
    int chosen = 0;
    for (int i = 0; i < LISTS; i++)
        chosen |= options->lists[i] != NULL;
    bench_lab *lab = bench_lab_create(options->settings);
    size_t tables = chosen ? 1 : sizeof standards / sizeof *standards;
    for (size_t i = 0; i < tables; i++) {
        const bench_matrix what = matrix_make(0, &standards[i], options->lists);
        size_t first = results->count;
        measure_matrix(lab, &what, results);
        if (!options->write) {
            bench_report_table(chosen ? "As asked for" : standards[i].title, results->items + first,
                               results->count - first, stdout);
            fflush(stdout);
        }
    }
    bench_lab_destroy(lab);
}

/* Returns 0, or 1 when the page could not be written. What cannot be written to standard output is noticed when the
 * command ends. */
static int write_report(const bench_options *options, const measure_machine *machine, const bench_results *results,
                        const char *best) {
    report *r = report_create("What exactness costs", "Exact and fast reductions beside plain vectorised loops for the "
                                                      "same instruction set, timed in turns; every result is checked.");
    report_fact(r, "program", "reduct %s", reduct_version());
    report_fact(r, "date", "%s", machine->date);
    report_add_machine(r);
    report_fact(r, "rounds", "%u, of which the median counts", options->settings.rounds);
    report_fact(r, "seed", "%llu", (unsigned long long)options->settings.seed);
    report_fact(
        r, "to plain",
        "ratio of time to the plain loop with the same kernels and threads: the median of the ratios within rounds");
    bench_report_target(r, results->items, results->count, best, machine->processors);
    bench_report_fill(r, results->items, results->count, best);
    if (options->write)
        options->write(r, stdout);
    int failed = options->html && report_write_page(r, options->html) != 0;
    if (failed)
        fprintf(stderr, "reduct: %s: %s\n", options->html, strerror(errno));
    report_destroy(r);
    return failed;
}

int bench_compare(const bench_options *options) {
    if (options->gpu)
        return bench_cuda(options);
    measure_machine machine;
    measure_machine_describe(&machine);
    if (!options->write)
        print_head(options, &machine);

    bench_results results = {0};
    measure_all(options, &results);
    const char *best = bench_device("cpu", NULL);
    int failed = 0;
    if (!options->write)
        bench_report_verdict(results.items, results.count, best, machine.processors, stdout);
    if (options->write || options->html)
        failed = write_report(options, &machine, &results, best);
    int wrong = faults(&results);
    if (wrong)
        fprintf(stderr, "reduct: %d result%s wrong\n", wrong, wrong == 1 ? " was" : "s were");
    free(results.items);
    return wrong || failed ? 1 : 0;
}
