/* Reductions answered without a partial result: of few elements, or of many where less than an exact one decides the result. */
#ifndef RD_ANSWER_H
#define RD_ANSWER_H

#include "arithmetic/limbs.h"
#include "core/backend.h"

/* See struct rd_backend. */
bool rd_cpu_answer(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count, void *result);

/* The same of extremes alone, in extremes.c. */
bool rd_cpu_answer_extreme(const struct rd_prepared *prepared, const void *x, uint64_t count, void *result);

/* The same of products, squares and moments of floats, which are more than a few, in close.c. */
bool rd_cpu_answer_closely(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                           void *result);

/* What an exact sum of floats that is not zero, or moments, where there are squares, come to, rounded once: the bits of a result. Sums are of
 * any layout, and get normalised. */
uint64_t rd_cpu_finish_sums(const reduct_reduction *reduction, uint64_t count, struct rd_sum *sum,
                            struct rd_sum *squares);

#endif
