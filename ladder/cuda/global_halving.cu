// Rung global-halving: i and i + half, in place, in global memory.
//
// Idea: the most direct tree there is. A block owns blockDim.x neighbouring elements of the input; thread tid adds
// element tid + half to element tid, half is halved, and so on until one is left.
//
//   x0 x1 x2 x3 x4 x5 x6 x7
//   +x4 +x5 +x6 +x7                half = 4
//   +x2 +x3                        half = 2
//   +x1                            half = 1: the block's sum is in x0
//
// Phases: for each halving, add and wait for the block. The input is destroyed.
//
// When it loses: every halving reads and writes global memory, and a barrier stands between any two. Caches soften that
// today; the GPUs of 2007 had none for global memory.
//
// Elsewhere: the CUDA note E calls it native; Harris begins with the next rung.
#include "rung.cuh"

template <typename T, finish F> __device__ void global_halving(T *input, uint64_t n, outlet<T> out) {
    uint64_t first = uint64_t(blockIdx.x) * blockDim.x;
    T *x = input + first;
    unsigned tid = threadIdx.x;
    unsigned active = first < n ? unsigned(min(n - first, uint64_t(blockDim.x))) : 0;

    while (active > 1) {
        unsigned half = (active + 1) / 2; // rounded up: the middle one of an odd number waits for the next step
        if (tid + half < active)
            x[tid] += x[tid + half];
        __syncthreads();
        active = half;
    }
    deliver<F>(tid == 0 && active == 1 ? x[0] : T(0), out);
}

RUNG(global_halving)
