// Rung cluster: blocks that read each other's shared memory.
//
// Idea: since Hopper (2022) up to eight blocks can be launched as a cluster. They run at the same time, on
// multiprocessors that lie next to each other, can wait for each other, and can read each other's shared memory
// ("distributed shared memory"). So eight blocks become one number without a detour through global memory.
//
//   block     0   1   2   3   4   5   6   7      each leaves its sum in its own shared memory
//   block 0   reads all eight, and delivers one sum for the cluster
//
// Phases:
//   1. as vector-loads, down to one sum per block, in a shared variable
//   2. the cluster waits; lanes 0 to 7 of the first block read a block's sum each (map_shared_rank) and add them
//   3. the cluster waits again: a block that ends takes its shared memory with it, so nobody may leave before it is read
//   4. one deliver per cluster: an eighth of the block sums, whatever the finish
//
// What it fixes: with the finish atomic an eighth of the atomic additions, with the others an eighth of the block sums.
//
// When it loses: a sum has so few block sums that fewer do not show. Clusters take room on neighbouring multiprocessors, so
// that some may stay empty. Nothing before compute capability 9.0.
//
// Elsewhere: CUDA C++ Programming Guide, "Thread Block Clusters" (its example is a histogram).
#include <cooperative_groups.h>

#include "rung.cuh"
#include "vector_loads.cuh"

// Also known to the host: cuda_rungs.c.
constexpr unsigned CLUSTER = 8;

template <typename T, finish F> __device__ void cluster(const T *input, uint64_t n, outlet<T> out) {
#if __CUDA_ARCH__ >= 900
    __shared__ T slot;
    auto blocks = cooperative_groups::this_cluster();
    T sum = block_sum(sum_vectors(input, n));
    if (threadIdx.x == 0)
        slot = sum;

    blocks.sync();
    bool is_first = blocks.block_rank() == 0;
    if (is_first && threadIdx.x < 32)
        sum = warp_sum(threadIdx.x < CLUSTER ? *blocks.map_shared_rank(&slot, threadIdx.x) : T(0), 32);
    blocks.sync();
    if (is_first)
        deliver_as<F>(blockIdx.x / CLUSTER, gridDim.x / CLUSTER, sum, out);
#endif
}

// The size of the cluster belongs to the kernel.
#define CLUSTER_KERNEL(NAME, TYPE, FINISH)                                                                             \
    extern "C" __global__ void __launch_bounds__(1024) __cluster_dims__(CLUSTER)                                       \
        NAME(TYPE *input, uint64_t n, outlet<TYPE> out) {                                                              \
        cluster<TYPE, FINISH>(input, n, out);                                                                          \
    }
#define CLUSTER_FINISHES(TYPE)                                                                                         \
    CLUSTER_KERNEL(cluster_##TYPE##_store, TYPE, STORE)                                                                \
    CLUSTER_KERNEL(cluster_##TYPE##_atomic, TYPE, ATOMIC)                                                              \
    CLUSTER_KERNEL(cluster_##TYPE##_last, TYPE, LAST_BLOCK)

CLUSTER_FINISHES(i32)
CLUSTER_FINISHES(f32)
CLUSTER_FINISHES(f64)
