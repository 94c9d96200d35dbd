/* A large array: the time of exact and plain sums, and their results when the same numbers come in another order. */
#include "demo.h"

#include "measure/data.h"
#include "measure/machine.h"
#include "measure/timing.h"
#include "program/memory.h"
#include "program/sizes.h"
#include "program/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };

/* ---- ways of adding ---- */

typedef struct way {
    const char *name;
    const double *values;
    size_t count;
    reduct_plan *plan; /* of the library's ways */
    void *workspace;
    double result;
} way;

/* One running sum, in order: without licence to reorder, C allows nothing faster. */
static void run_loop(void *context) {
    way *own = context;
    double sum = 0;
    for (size_t i = 0; i < own->count; i++)
        sum += own->values[i];
    own->result = sum;
}

/* Kahan's compensated loop: far more accurate, slower, and still a matter of order. */
static void run_kahan(void *context) {
    way *own = context;
    double sum = 0, rest = 0;
    for (size_t i = 0; i < own->count; i++) {
        double term = own->values[i] - rest, next = sum + term;
        rest = (next - sum) - term;
        sum = next;
    }
    own->result = sum;
}

static void run_library(void *context) {
    way *own = context;
    const void *input = own->values;
    void *result = &own->result;
    demo_require(reduct_plan_execute(own->plan, &input, &result, own->workspace, NULL), own->name);
}

enum { LOOP, KAHAN, FAST, EXACT_ONE, EXACT_ALL, WAYS };

static void plan_sum(way *own, reduct_mode mode, unsigned threads) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64, .mode = mode};
    const reduct_plan_options options = {
        .reductions = &sum,
        .reduction_count = 1,
        .shape = {.outer = 1, .n = own->count, .inner = 1, .stride = 1},
        .threads = threads,
    };
    demo_require(reduct_plan_create(&options, &own->plan, NULL), own->name);
    own->workspace = program_allocate(reduct_plan_workspace_size(own->plan));
}

static void make_ways(way ways[WAYS], const double *values, size_t count, unsigned processors) {
    static const char *const names[WAYS] = {"plain C loop", "Kahan's loop", "reduct, fast", "reduct, exact",
                                            "reduct, exact"};
    for (int i = 0; i < WAYS; i++)
        ways[i] = (way){.name = names[i], .values = values, .count = count};
    plan_sum(&ways[FAST], REDUCT_FAST, 1);
    plan_sum(&ways[EXACT_ONE], REDUCT_EXACT, 1);
    plan_sum(&ways[EXACT_ALL], REDUCT_EXACT, processors);
}

static void free_ways(way ways[WAYS]) {
    for (int i = 0; i < WAYS; i++) {
        reduct_plan_destroy(ways[i].plan);
        free(ways[i].workspace);
    }
}

/* ---- time and error ---- */

static unsigned long long bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void print_times(const way ways[WAYS], const measure_variant variants[WAYS], unsigned processors) {
    static const char *const headings[] = {"sum", "threads", "ms", "GB/s", "result", "bits", "error in ulp"};
    double exact = ways[EXACT_ONE].result, ulp = nextafter(fabs(exact), INFINITY) - fabs(exact);
    program_table *table = program_table_create("lrrrrrr");
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        program_table_cell(table, "%s", headings[i]);
    for (int i = 0; i < WAYS; i++) {
        double seconds = measure_variant_seconds(&variants[i], ROUNDS).median;
        program_table_cell(table, "%s", ways[i].name);
        program_table_cell(table, "%u", i == EXACT_ALL ? processors : 1);
        program_table_cell(table, "%.1f", 1e3 * seconds);
        program_table_cell(table, "%.1f", (double)(ways[i].count * sizeof(double)) / seconds / 1e9);
        program_table_cell(table, "%.17g", ways[i].result);
        program_table_cell(table, "%016llx", bits_of(ways[i].result));
        if (i >= EXACT_ONE)
            program_table_cell(table, "at most 0.5");
        else
            program_table_cell(table, "%.0f", fabs(ways[i].result - exact) / ulp);
    }
    program_table_print(table, stdout, 2);
    program_table_destroy(table);
}

static void time_ways(way ways[WAYS], unsigned processors) {
    static double seconds[WAYS][ROUNDS];
    measure_variant variants[WAYS];
    for (int i = 0; i < WAYS; i++)
        variants[i] = (measure_variant){i == LOOP    ? run_loop
                                        : i == KAHAN ? run_kahan
                                                     : run_library,
                                        &ways[i], seconds[i]};
    measure_time(variants, WAYS, ROUNDS, 0);
    print_times(ways, variants, processors);
    printf(
        "\n  Medians of %d rounds in turns, one run. Kernels: %s. The error is counted in units of the last place of\n"
        "  the exact sum.\n",
        ROUNDS, reduct_plan_device(ways[EXACT_ONE].plan));
}

/* ---- order ---- */

static void reverse(double *values, size_t count) {
    for (size_t i = 0, j = count - 1; i < j; i++, j--) {
        double value = values[i];
        values[i] = values[j];
        values[j] = value;
    }
}

/* Fisher and Yates. Places are drawn some steps ahead and prefetched: the memory is the slow part. */
static void shuffle(double *values, size_t count) {
    enum { AHEAD = 32 };
    measure_random random = measure_random_seed(2);
    size_t places[AHEAD];
    for (size_t step = 0; step < count + AHEAD; step++) {
        size_t *place = &places[step % AHEAD];
        if (step >= AHEAD) {
            size_t last = count - 1 - (step - AHEAD);
            double value = values[last];
            values[last] = values[*place];
            values[*place] = value;
        }
        if (step < count) { /* a place from 0 to count - 1 - step */
            *place = (size_t)(measure_random_uniform(&random) * (double)(count - step));
            __builtin_prefetch(&values[*place], 1);
        }
    }
}

typedef struct order {
    const char *name;
    unsigned long long bits[WAYS]; /* of each way's result */
} order;

static order try_order(const char *name, way ways[WAYS]) {
    order tried = {.name = name};
    run_loop(&ways[LOOP]);
    run_kahan(&ways[KAHAN]);
    for (int i = FAST; i < WAYS; i++)
        run_library(&ways[i]);
    for (int i = 0; i < WAYS; i++)
        tried.bits[i] = bits_of(ways[i].result);
    return tried;
}

static int count_answers(const order orders[3], int which) {
    unsigned long long a = orders[0].bits[which], b = orders[1].bits[which], c = orders[2].bits[which];
    return 1 + (b != a) + (c != a && c != b);
}

static void print_orders(const order orders[3], unsigned processors) {
    static const char *const headings[] = {"bits, by order", "plain C loop", "Kahan's loop", "fast, 1 thread",
                                           "exact, 1 thread"};
    program_table *table = program_table_create("lrrrrr");
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        program_table_cell(table, "%s", headings[i]);
    program_table_cell(table, "exact, %u threads", processors);
    for (int which = 0; which < 3; which++) {
        program_table_cell(table, "%s", orders[which].name);
        for (int i = 0; i < WAYS; i++)
            program_table_cell(table, "%016llx", orders[which].bits[i]);
    }
    program_table_cell(table, "different answers");
    for (int i = 0; i < WAYS; i++)
        program_table_cell(table, "%d", count_answers(orders, i));
    putchar('\n');
    program_table_print(table, stdout, 2);
    program_table_destroy(table);
}

int demo_large(size_t count) {
    measure_machine machine;
    measure_machine_describe(&machine);
    char title[128], size[32];
    snprintf(title, sizeof title, "The sum of %zu doubles (%s), normally distributed around 0", count,
             program_size_text(count * sizeof(double), size, sizeof size));
    demo_title(title);

    double *values = program_allocate(count * sizeof *values);
    measure_team *team = measure_team_create(machine.processors);
    measure_fill_f64(values, count, MEASURE_NORMAL, 1, team);
    measure_team_destroy(team);

    way ways[WAYS];
    make_ways(ways, values, count, machine.processors);
    time_ways(ways, machine.processors);
    order orders[3];
    orders[0] = try_order("as made", ways);
    reverse(values, count);
    orders[1] = try_order("reversed", ways);
    shuffle(values, count);
    orders[2] = try_order("shuffled", ways);
    print_orders(orders, machine.processors);
    free_ways(ways);
    free(values);
    return count_answers(orders, EXACT_ONE) != 1 || count_answers(orders, EXACT_ALL) != 1 ||
           orders[0].bits[EXACT_ONE] != orders[0].bits[EXACT_ALL];
}
