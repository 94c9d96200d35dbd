// What the ladder of groups shares. Each element comes with a key, the number of its group, and every kernel here leaves one sum
// per group. A group's elements lie anywhere, so any thread may have something to add to any sum: all of them are cleared first,
// and then added to by atomic operations.
#pragma once

#include "../rung.cuh"

// The atomic additions of CUDA know 64-bit integers by this name alone.
using u64 = unsigned long long;

// The kernels of a rung for each type: NAME_f32 and so on. `keys` are below `groups`.
#define GROUPS_KERNEL(NAME, TYPE)                                                                                      \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        NAME##_##TYPE(const unsigned *keys, const TYPE *values, uint64_t n, uint64_t groups, TYPE *result) {           \
        NAME(keys, values, n, groups, result);                                                                         \
    }
#define GROUPS(NAME)                                                                                                   \
    GROUPS_KERNEL(NAME, i32)                                                                                           \
    GROUPS_KERNEL(NAME, f32)                                                                                           \
    GROUPS_KERNEL(NAME, f64)
