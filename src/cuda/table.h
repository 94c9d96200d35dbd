/* Elements of tables on a CUDA device. */
#ifndef RD_CUDA_TABLE_H
#define RD_CUDA_TABLE_H

#include "state/table.h"

/* The fewest elements that go to the device; fewer, or fewer than there are groups, take less time on the host. Tests lower it. */
extern uint64_t rd_cuda_table_least;

reduct_status rd_cuda_change_table(const struct rd_device *device, reduct_table *table,
                                   const struct rd_table_change *change, reduct_error *error);

/* Copies results to the memory of a device. */
reduct_status rd_cuda_put(int device, void *to, const void *from, size_t bytes, reduct_error *error);

#endif
