// Application a * b + 1: a custom "operator" that is none. (B)
//
// (a * b + 1) * c + 1 and a * (b * c + 1) + 1 differ: the operator is not associative, so there is no such thing as its
// reduction, only one number per tree; and it has no identity, so there is nothing to fill up the last block with. Run
// with different block sizes, modulo 2^32 so that no rounding can be blamed, it gives different numbers; an in-order
// loop gives yet another. What such a formula means can be had as a composition of affine maps: see affine.cu.
#include "../rung.cuh"

// One block's tree by halving, over the elements that are there; launched again over the blocks' values until one is
// left.
extern "C" __global__ void __launch_bounds__(1024) chain_i32(const i32 *input, uint64_t n, i32 *to) {
    i32 *shared = shared_memory<i32>();
    unsigned tid = threadIdx.x;
    uint64_t first = uint64_t(blockIdx.x) * blockDim.x;

    if (first + tid < n)
        shared[tid] = input[first + tid];
    __syncthreads();
    for (unsigned active = unsigned(min(n - first, uint64_t(blockDim.x))); active > 1;) {
        unsigned half = (active + 1) / 2;
        if (tid + half < active)
            shared[tid] = shared[tid] * shared[tid + half] + 1;
        __syncthreads();
        active = half;
    }
    if (tid == 0)
        to[blockIdx.x] = shared[0];
}
