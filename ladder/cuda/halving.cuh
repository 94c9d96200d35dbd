// The tree of the rung `halving`, used again by the rungs that keep it.
#pragma once

// Adds element tid + half to element tid, half by half, from shared[0] ... shared[active - 1] until no more than `end` are
// left; returns how many. Called by the whole block, after a barrier. `half` is rounded up: of an odd number the middle
// one waits for the next step.
template <typename T> __device__ unsigned halve(T *shared, unsigned active, unsigned end) {
    unsigned tid = threadIdx.x;
    while (active > end) {
        unsigned half = (active + 1) / 2;
        if (tid + half < active)
            shared[tid] += shared[tid + half];
        __syncthreads();
        active = half;
    }
    return active;
}
