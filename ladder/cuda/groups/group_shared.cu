// Rung group-shared: a copy of all sums per block, in shared memory.
//
// Idea: let only the threads of one block queue for an address, and in memory that is near. Each block adds to sums of its own, and
// in the end adds those to the result.
//
//   block 0   copy [ . . . . ]  \.
//   block 1   copy [ . . . . ]   >  result: one atomic addition per block and group
//   block 2   copy [ . . . . ]  /
//
// Phases:
//   1. clear the copy
//   2. walk; one atomic addition in shared memory each
//   3. a barrier; then one atomic addition in global memory for each sum of the copy that is not zero
//
// What it fixes: the queue of the whole grid becomes one per block, and n atomic additions in global memory become
// blocks x groups.
//
// When it loses: the copy must fit, which on Hopper is up to 227 KiB; large copies leave room for few blocks. With as many groups as
// elements per block, merging costs what it saves. Threads of a warp with the same key still wait for each other.
#include "groups.cuh"

template <typename T>
__device__ void group_shared(const unsigned *keys, const T *values, uint64_t n, uint64_t groups, T *result) {
    T *copy = shared_memory<T>();
    for (uint64_t g = threadIdx.x; g < groups; g += blockDim.x)
        copy[g] = 0;
    __syncthreads();
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        atomicAdd(&copy[keys[i]], values[i]);
    __syncthreads();
    for (uint64_t g = threadIdx.x; g < groups; g += blockDim.x)
        if (copy[g] != 0)
            atomicAdd(&result[g], copy[g]);
}

GROUPS(group_shared)
