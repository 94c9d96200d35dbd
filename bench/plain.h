/* Plain loops to compare with: what a careful programmer writes when exactness is not asked for. Every loop keeps
 * eight independent vectors of partial results (four where each needs two), accumulates in the element type (integers
 * in i64, floats of 16 bits in f32), and exists for each instruction set that the library has kernels for, with and without software prefetch;
 * the comparison is with whichever is faster on the machine at hand. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include "measure/parallel.h"

#include <reduct/reduct.h>

#include <stddef.h>
#include <stdint.h>

/* What a loop leaves behind: sums of integers and integer extremes are in `integer`, all else in `real`. */
typedef struct plain_partial {
    double real;
    double squares; /* second sum of PLAIN_MOMENTS */
    int64_t integer;
    uint64_t index; /* of the minimum of PLAIN_ARGMIN */
} plain_partial;

/* Reduces `count` elements; for PLAIN_MIN, PLAIN_MAX and PLAIN_ARGMIN at least one. `y` is read by PLAIN_DOT alone. */
typedef void plain_kernel(const void *x, const void *y, size_t count, plain_partial *partial);

typedef enum plain_kind {
    PLAIN_SUM,
    PLAIN_NORM1,
    PLAIN_SQUARES,
    PLAIN_DOT,
    PLAIN_MOMENTS, /* sums of elements and of squares: the variance in one pass, as in old textbooks */
    PLAIN_MIN,
    PLAIN_MAX,
    PLAIN_ARGMIN,
    PLAIN_KINDS
} plain_kind;

typedef enum plain_type { PLAIN_F64, PLAIN_F32, PLAIN_F16, PLAIN_BF16, PLAIN_I64, PLAIN_I32, PLAIN_TYPES } plain_type;

/* The loops of one instruction set, [1] with prefetch; null where there is none. */
typedef struct plain_set {
    plain_kernel *kernels[PLAIN_KINDS][PLAIN_TYPES][2];
} plain_set;

extern const plain_set plain_set_portable, plain_set_avx2, plain_set_avx512;

/* The loop that does the same work as the library on `device` ("cpu:avx2"), or null if there is none. */
plain_kernel *plain_find(const char *device, reduct_operator op, reduct_type type, int prefetch);

/* Work for a loop on a team. Small arrays are left to one thread, because starting the others costs more. */
typedef struct plain_job {
    plain_kernel *kernel;
    reduct_operator op;
    reduct_type type;
    const void *x, *y;
    size_t count;
    measure_team *team;
    unsigned members;      /* of the team */
    plain_partial partial; /* out */
} plain_job;

void plain_run(plain_job *job);

/* The result of a job that ran, of the library's result type `type`; the roots and divisions that the operator ends with
 * included. */
void plain_result(const plain_job *job, reduct_type type, void *result);

#endif
