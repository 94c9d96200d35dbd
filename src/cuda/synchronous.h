/* Reductions that wait for their result and add it to a partial one: of data on the device, or on the host. */
#ifndef RD_CUDA_SYNCHRONOUS_H
#define RD_CUDA_SYNCHRONOUS_H

#include "cuda/array.h"
#include "cuda/launch.h"
#include "state/partial.h"

/* An array on the device. With the launch's context current. */
reduct_status rd_cuda_reduce_there(const struct rd_cuda_launch *launch, const struct rd_cuda_array *array,
                                   struct rd_partial *partial, reduct_error *error);

/* An array on the host, by launches on one device each, at least one, which share the data out. The crew copies into page-locked
 * memory. Whatever context is current. */
reduct_status rd_cuda_reduce_from_host(const struct rd_cuda_launch *const *launches, unsigned devices,
                                       const struct rd_cuda_array *array, const struct rd_crew *crew,
                                       struct rd_partial *partial, reduct_error *error);

#endif
