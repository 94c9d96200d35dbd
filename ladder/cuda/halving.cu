// Rung halving: neighbouring threads, neighbouring memory.
//
// Idea: pair element tid with element tid + half, and halve. Lanes of a warp then read words next to each other.
//
//   half = 4     0+4   1+5   2+6   3+7
//   half = 2     +(2+6)  +(3+7)
//   half = 1     0..7
//
// Phases: as before. The loop is in halving.cuh, for the rungs that keep it.
//
// What it fixes: bank conflicts. Any order of additions is as good as any other for a sum, so choose the one that suits
// the memory.
//
// When it loses: half of the threads do nothing but load one element each.
//
// A block of 96 threads halves to 48, 24, 12, 6, 3 - and 3 halved is not a whole number. Halving is rounded up here,
// and the middle element waits for the next step; rounding down loses it, which is one of the specimens.
//
// Elsewhere: Harris's kernel 3 (A #3, B v2, C 3.0, D naive, E shared).
#include "halving.cuh"
#include "rung.cuh"

template <typename T, finish F> __device__ void halving(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();

    shared[threadIdx.x] = load(input, global_thread(), n);
    __syncthreads();

    halve(shared, blockDim.x, 1);
    deliver<F>(shared[0], out);
}

RUNG(halving)
