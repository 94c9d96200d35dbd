/* Executing plans over groups on the CPU. */
#ifndef RD_CPU_GROUPS_H
#define RD_CPU_GROUPS_H

#include "core/many.h"

reduct_status rd_cpu_execute_groups(const struct rd_many *many, const struct rd_execution *execution,
                                    reduct_error *error);

#endif
