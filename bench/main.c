/* reduct_bench: how much exactness costs. Measures every combination of what is asked for, and reports in tables. */
#include "cases.h"
#include "matrix.h"
#include "options.h"
#include "report.h"

#include "measure/machine.h"
#include "measure/memory.h"
#include "measure/sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The standard tables. The first is also what a table of one's own starts from. */
static const struct standard {
    const char *title;
    const char *lists[LISTS]; /* op, type, data, size, device, threads */
} standards[] = {
    {"Sums", {"sum", "f64,f32", "normal", "32Ki,512Ki,8Mi,256Mi", "all", "1,all"}},
    {"Sums of other data", {"sum", "f64,f32", "uniform,wide,full", "256Mi", "cpu", "1,all"}},
    {"Other operators", {"dot,norm1,norm2,var,min,argmin", "f64,f32", "normal", "512Ki,256Mi", "cpu", "1,all"}},
    {"Integers", {"sum,min,argmin", "i64,i32", "uniform", "512Ki,256Mi", "cpu", "1,all"}},
};

typedef struct bench_results {
    bench_result *items;
    size_t count, room;
} bench_results;

static void add_result(bench_results *results, const bench_result *result) {
    if (results->count == results->room) {
        results->room = results->room ? 2 * results->room : 64;
        results->items = measure_reallocate(results->items, results->room * sizeof *results->items);
    }
    results->items[results->count++] = *result;
}

static void show_progress(const bench_case *which) {
    char size[32];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s %s %s %s on %s, %u threads", reduct_operator_name(which->op),
                reduct_type_name(which->type), measure_data_name(which->data),
                measure_size_text(which->bytes, size, sizeof size), which->device, which->threads);
}

static void clear_progress(void) {
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* Case number `number` of a matrix. The last digits count devices, so that what is compared is measured close together;
 * the first count types and data, because changing those means making new arrays. */
static bench_case pick(const bench_matrix *what, size_t number) {
    static const matrix_list order[LISTS] = {LIST_DEVICE, LIST_THREADS, LIST_SIZE, LIST_OP, LIST_DATA, LIST_TYPE};
    size_t at[LISTS];
    for (int i = 0; i < LISTS; i++) {
        at[order[i]] = number % what->count[order[i]];
        number /= what->count[order[i]];
    }
    return (bench_case){
        .op = what->ops[at[LIST_OP]],
        .type = what->types[at[LIST_TYPE]],
        .data = what->data[at[LIST_DATA]],
        .bytes = what->sizes[at[LIST_SIZE]],
        .device = what->devices[at[LIST_DEVICE]],
        .threads = what->threads[at[LIST_THREADS]],
    };
}

static size_t count_cases(const bench_matrix *what) {
    size_t cases = 1;
    for (int i = 0; i < LISTS; i++)
        cases *= what->count[i];
    return cases;
}

/* Integers have no fast mode and one kind of data: they are measured with the first kind alone. */
static int is_wanted(const bench_matrix *what, const bench_case *which) {
    return bench_has(which->op, which->type) && (reduct_type_is_float(which->type) || which->data == what->data[0]);
}

static void measure_matrix(bench_lab *lab, const char *title, const bench_matrix *what, bench_results *results) {
    size_t first = results->count;
    for (size_t i = 0; i < count_cases(what); i++) {
        bench_result result;
        bench_case which = pick(what, i);
        if (!is_wanted(what, &which))
            continue;
        show_progress(&which);
        if (bench_measure(lab, &which, &result) == 0)
            add_result(results, &result);
    }
    clear_progress();
    bench_report_table(title, results->items + first, results->count - first, stdout);
    fflush(stdout);
}

static bench_matrix make_matrix(const struct standard *standard, const bench_options *options) {
    bench_matrix what;
    char fault[128];
    for (int i = 0; i < LISTS; i++)
        if (matrix_set(&what, (matrix_list)i, options->lists[i] ? options->lists[i] : standard->lists[i], fault,
                       sizeof fault) != 0) {
            fprintf(stderr, "reduct_bench: %s\n", fault);
            exit(1);
        }
    return what;
}

static int faults(const bench_results *results) {
    int count = 0;
    for (size_t i = 0; i < results->count; i++)
        count += *results->items[i].fault != 0;
    return count;
}

int main(int argc, char **argv) {
    bench_options options;
    bench_options_read(&options, argc, argv);
    int chosen = 0;
    for (int i = 0; i < LISTS; i++)
        chosen |= options.lists[i] != NULL;

    measure_machine machine;
    measure_machine_describe(&machine);
    printf("reduct %s, seed %llu, %u rounds\n", reduct_version(), (unsigned long long)options.settings.seed,
           options.settings.rounds);
    measure_machine_print(&machine, stdout);
    putchar('\n');

    bench_results results = {0};
    bench_lab *lab = bench_lab_create(options.settings);
    size_t tables = chosen ? 1 : sizeof standards / sizeof *standards;
    for (size_t i = 0; i < tables; i++) {
        bench_matrix what = make_matrix(&standards[i], &options);
        measure_matrix(lab, chosen ? "As asked for" : standards[i].title, &what, &results);
    }
    bench_lab_destroy(lab);
    bench_report_verdict(results.items, results.count, bench_device("cpu"), machine.processors, stdout);
    int wrong = faults(&results);
    if (wrong)
        fprintf(stderr, "reduct_bench: %d results were wrong\n", wrong);
    free(results.items);
    return wrong ? 1 : 0;
}
