/* Executing plans of many on the CPU. */
#ifndef RD_CPU_MANY_H
#define RD_CPU_MANY_H

#include "core/many.h"

reduct_status rd_cpu_execute_many(const struct rd_many *many, const struct rd_execution *execution,
                                  reduct_error *error);

#endif
