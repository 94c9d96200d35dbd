// The last 64 values of a tree in shared memory, by one warp: what the rung `last-warp` teaches, used again by the
// rungs that keep the tree.
#pragma once

#include "halving.cuh"

// Adds up shared[0] to shared[count - 1] (1 <= count <= 64); lane 0 gets the sum. Called by the first warp alone,
// whole, after a barrier. A warp's threads need not run in step since Volta, so that each step is two: everybody has
// read before anybody writes, everybody has written before anybody reads. __syncwarp() says so; it costs a few cycles,
// and volatile is no substitute.
template <typename T> __device__ T last_warp_sum(T *shared, unsigned count) {
    unsigned lane = threadIdx.x;
    T sum = lane < count ? shared[lane] : T(0);
    if (lane + 32 < count)
        sum += shared[lane + 32];
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) {
        __syncwarp();
        shared[lane] = sum;
        __syncwarp();
        sum += shared[(lane + d) % 32]; // lanes above d wrap around to values that nobody needs
    }
    return sum;
}

// The tree of `halving` from blockDim.x values down to 64, and then the last warp; thread 0 gets the sum.
template <typename T> __device__ T tree_sum(T *shared) {
    __syncthreads();
    unsigned active = halve(shared, blockDim.x, 64);
    return threadIdx.x < 32 ? last_warp_sum(shared, active) : T(0);
}
