// Rung group-global: an atomic addition per element.
//
// Idea: what one writes first, and what a histogram is, with ones for values. Each thread adds its element to the sum that the key
// names; the addition is atomic, as other threads may be adding to the same sum.
//
//   keys    2  0  2  1  2  0        result[2] += x0   result[0] += x1   result[2] += x2 ...   in whatever order they come
//
// Phases: walk; one atomic addition each.
//
// When it loses: additions to one sum come one after the other, in the L2 cache. Few groups, or one that many elements belong to,
// make all threads queue for the same address. And sums of floats depend on the order, which is another one in every run.
#include "groups.cuh"

template <typename T>
__device__ void group_global(const unsigned *keys, const T *values, uint64_t n, uint64_t groups, T *result) {
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        atomicAdd(&result[keys[i]], values[i]);
}

GROUPS(group_global)
