/* One comparison: the library, exact and fast, beside the plain loop for the same instruction set, on the same data,
 * timed in turns. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "measure/data.h"
#include "measure/parallel.h"
#include "measure/statistics.h"
#include "report/judge.h"

#include <reduct/reduct.h>

#include <stdbool.h>
#include <stdint.h>

/* What elements are reduced to: one number; or, as those of a matrix in C order, one for each of its rows or columns; or one for
 * each segment: equally long, or of up to half as many more or less, or so many of lengths that fall as 1 / k, in mixed order, or as many of which one in the middle has three
 * quarters of all elements, and the others are equally long; or one for each group, of which elements have the number: any with the same odds, low ones far more often, or in order. */
typedef enum bench_shape_kind {
    BENCH_WHOLE,
    BENCH_ROWS,
    BENCH_COLUMNS,
    BENCH_SEGMENTS,
    BENCH_SEGMENTS_RAGGED,
    BENCH_SEGMENTS_FALLING,
    BENCH_SEGMENTS_ONE,
    BENCH_GROUPS,
    BENCH_GROUPS_SKEWED,
    BENCH_GROUPS_SORTED,
    BENCH_SHAPES
} bench_shape_kind;
typedef struct bench_shape {
    bench_shape_kind kind;
    uint64_t columns; /* of the matrix; or elements of segments, of each or as a mean; or how many segments or groups */
    uint64_t width;   /* of groups: elements of a row, each with a result of its own; 0: 1 */
} bench_shape;

typedef struct bench_case {
    reduct_operator op;
    reduct_type type;
    measure_data data;
    uint64_t bytes; /* of each array */
    bench_shape shape;
    const char *device; /* as for the library: "cpu", "cpu:avx2" */
    unsigned threads;   /* at least 1 */
    reduct_type result; /* of what others are checked with; REDUCT_DEFAULT */
} bench_case;

/* What is reduced to beside, in the same plan. */
enum { BENCH_OTHERS = 11 };
typedef struct bench_others {
    unsigned count;
    reduct_operator op[BENCH_OTHERS];
} bench_others;

static inline bool bench_same_shape(bench_shape a, bench_shape b) {
    return a.kind == b.kind && a.columns == b.columns && a.width == b.width;
}

static inline bool bench_is_grouped(bench_shape shape) {
    return shape.kind >= BENCH_GROUPS;
}

static inline bool bench_is_segmented(bench_shape shape) {
    return shape.kind >= BENCH_SEGMENTS && shape.kind <= BENCH_SEGMENTS_ONE;
}

/* How to measure: the same for all cases of a run. */
typedef struct bench_settings {
    unsigned rounds;
    double sample_seconds;
    uint64_t seed;
    unsigned threads; /* that make data for GPUs */
} bench_settings;

/* The ways that are compared. */
typedef enum bench_way { BENCH_EXACT, BENCH_FAST, BENCH_PLAIN, BENCH_WAYS } bench_way;

/* What came out of one way. */
typedef struct bench_run {
    measure_statistics seconds;  /* per run */
    measure_statistics to_plain; /* ratios of time, round by round; of the plain loop itself 0 */
    judge_finding finding;
} bench_run;

/* What came out. Integer reductions have no fast mode of their own: `has_fast` is then 0. */
typedef struct bench_result {
    bench_case which;
    char device[32];     /* the kernels that ran */
    uint64_t bytes_read; /* by one run */
    bench_run runs[BENCH_WAYS];
    int has_fast, prefetched; /* the plain loop that was faster prefetches */
} bench_result;

/* The arrays being reduced, kept from case to case, and the plain loops' threads. */
typedef struct bench_lab bench_lab;

bench_lab *bench_lab_create(bench_settings settings);
void bench_lab_destroy(bench_lab *lab);

/* Measures one case; of a matrix beside the plain loop over all of its elements. Returns 0; 1 when the case does not exist here (no such device,
 * too few elements), which leaves the result untouched; ends the program with a message when the library refuses for any other reason. */
int bench_measure(bench_lab *lab, const bench_case *which, bench_result *result);

/* 1 if there is a plain loop for the pair. */
int bench_has(reduct_operator op, reduct_type type);

/* The kernels that a device name stands for ("cpu": "cpu:avx512"), in static storage; null, with the library's reason,
 * if it cannot be used here. */
const char *bench_device(const char *name, reduct_error *error);

/* 1 if any way gave a wrong result. */
int bench_is_wrong(const bench_result *result);

#endif
