/* From what launches leave to partial results. */
#ifndef RD_CUDA_PARTIALS_H
#define RD_CUDA_PARTIALS_H

#include "cuda/array.h"
#include "cuda/device.h"
#include "state/partial.h"

/* Adds what a launch over `count` elements left behind. */
void rd_cuda_merge(struct rd_partial *total, const struct rd_cuda_partial *from, uint64_t count);

/* Products of floats keep to one tree, wherever the data are cut: a launch starts as if nothing came before, so its
 * subtrees must find their place in the tree of what did. */

/* Elements that come before the next launch, as far as that must know: 0 without a tree. */
uint64_t rd_cuda_elements_before(const struct rd_partial *partial);

/* Elements that a launch takes, at most `most`, of `left` that follow the first `before`: as many as there may be, but with a
 * tree no more than a subtree of theirs has its place for. */
uint64_t rd_cuda_next_part(const struct rd_partial *partial, uint64_t before, uint64_t left, uint64_t most);

/* Before launches: the CPU takes what these cannot: what is missing of a block of the tree, and all of a product of which a mask
 * leaves out elements. So many are `taken`. With the context current, if the array is on the device. */
reduct_status rd_cuda_begin_by_cpu(const struct rd_cuda_device *device, const struct rd_cuda_array *array,
                                   bool on_device, struct rd_partial *partial, uint64_t *taken, reduct_error *error);

/* Adds an array by the CPU. Likewise. */
reduct_status rd_cuda_add_by_cpu(const struct rd_cuda_device *device, const struct rd_cuda_array *array, bool on_device,
                                 struct rd_partial *partial, reduct_error *error);

#endif
