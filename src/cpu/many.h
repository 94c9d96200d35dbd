/* Executing plans of many on the CPU. */
#ifndef RD_CPU_MANY_H
#define RD_CPU_MANY_H

#include "core/many.h"

/* Reduces segments whose elements were gathered from elsewhere: `places` has the place where each was, UINT64_MAX if nowhere, which is the
 * index that results and failures name. */
reduct_status rd_cpu_execute_gathered(const struct rd_many *many, const struct rd_execution *execution,
                                      const uint64_t *places, reduct_error *error);

reduct_status rd_cpu_execute_many(const struct rd_many *many, const struct rd_execution *execution,
                                  reduct_error *error);

#endif
