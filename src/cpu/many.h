/* Executing plans of many on the CPU. */
#ifndef RD_CPU_MANY_H
#define RD_CPU_MANY_H

#include "core/many.h"
#include "state/partial.h"

/* Reduces segments whose elements were gathered from elsewhere: `places` has the place where each was, RD_NO_PLACE if nowhere,
 * which is the index that results and failures name. */
reduct_status rd_cpu_execute_gathered(const struct rd_many *many, const struct rd_execution *execution,
                                      const uint64_t *places, reduct_error *error);

/* Where results are made from that were reduced elsewhere. fill: the states of a result, in which NaNs and extremes have the
 * index that the caller is told; that of an initial value is RD_NO_PLACE. answer: writes those of `count` results of a
 * reduction, at most RD_SIDE from number `first` on, a multiple of it, to `place` that can be made without states, and returns whether
 * these are all; if not, `left` is 0 for them, and not for others. Called by many threads at once, within rd_environment_enter(). */
struct rd_results {
    void (*fill)(const void *context, uint64_t result, struct rd_partial *states);
    bool (*answer)(const void *context, size_t which, uint64_t first, size_t count, unsigned char *place,
                   int64_t *left);
    const void *context;
};
#define RD_NO_PLACE (UINT64_MAX - 1)

/* Rounds all results, writes them and their outcomes, or reports the first failure. */
reduct_status rd_cpu_write_results(const struct rd_many *many, const struct rd_execution *execution,
                                   const struct rd_results *results, reduct_error *error);

reduct_status rd_cpu_execute_many(const struct rd_many *many, const struct rd_execution *execution,
                                  reduct_error *error);

#endif
