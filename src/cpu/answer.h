/* Reductions of few elements, answered without a partial result. */
#ifndef RD_ANSWER_H
#define RD_ANSWER_H

#include "core/backend.h"

/* See struct rd_backend. */
bool rd_cpu_answer(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count, void *result);

/* The same of extremes alone, in extremes.c. */
bool rd_cpu_answer_extreme(const struct rd_prepared *prepared, const void *x, uint64_t count, void *result);

#endif
