/* What the CPU's rungs share. Each rung is one short file: those that are a loop over memory (plain.h, accumulators.h,
 * vectors.h, kahan.h, pairwise.h) are templates of the element type, instantiated by loops.c and vectors_*.c; threads.c
 * and exact.c build on what is there. cpu.c runs, checks and times them all. */
#ifndef LADDER_CPU_CPU_H
#define LADDER_CPU_CPU_H

#include "measure/parallel.h"

#include <reduct/reduct.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types, as indices. */
enum { CPU_I32, CPU_F32, CPU_F64, CPU_TYPES };

/* Sums n numbers at x into *result, all of one element type. */
typedef void cpu_sum(const void *x, size_t n, void *result);

/* Null where a rung makes no sense for the type. */
extern cpu_sum *const cpu_plain[CPU_TYPES], *const cpu_accumulators[CPU_TYPES];
extern cpu_sum *const cpu_kahan[CPU_TYPES], *const cpu_pairwise[CPU_TYPES];
/* In C++ (standard.cpp); the last one is null where the build had no parallel algorithms. */
extern cpu_sum *const cpu_std_accumulate[CPU_TYPES], *const cpu_std_reduce[CPU_TYPES];
extern cpu_sum *const cpu_std_reduce_par[CPU_TYPES];

/* The vector rung for one instruction set, and a loop that does nothing but read, for the limit. */
typedef struct cpu_vectors {
    const char *name; /* "avx2" */
    cpu_sum *sum[CPU_TYPES];
    cpu_sum *read[2]; /* without and with asking for memory ahead; n counts words of 8 bytes, and so does the result */
    size_t bytes;     /* of a vector */
} cpu_vectors;
extern const cpu_vectors cpu_vectors_baseline, cpu_vectors_avx2, cpu_vectors_avx512;

/* The widest that this processor has. */
const cpu_vectors *cpu_vectors_best(void);

enum { CPU_THREADS_MOST = 256 };
typedef struct cpu_team {
    measure_team *team;
    unsigned members; /* at most CPU_THREADS_MOST */
} cpu_team;

/* The same loop on every member of a team, each with a part of the array; the parts' sums are added in order. */
void cpu_threads_sum(cpu_sum *sum, int type, const void *x, size_t n, const cpu_team *team, void *result);
void cpu_threads_read(cpu_sum *read, const void *x, size_t words, const cpu_team *team, void *result);

/* The library: prepared once, executed many times. Sums of integers come back modulo 2^32. */
typedef struct cpu_exact cpu_exact;
reduct_status cpu_exact_open(reduct_type type, size_t n, cpu_exact **exact, reduct_error *error);
void cpu_exact_close(cpu_exact *exact);
void cpu_exact_sum(const cpu_exact *exact, const void *x, void *result);
const char *cpu_exact_device(const cpu_exact *exact);

#ifdef __cplusplus
}
#endif

#endif
