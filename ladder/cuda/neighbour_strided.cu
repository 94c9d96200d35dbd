// Rung neighbour-strided: the same pairs, by threads that are neighbours.
//
// Idea: who adds does not matter, so let the first threads do it: thread tid takes the pair that begins at 2 s tid.
//
//   s = 1     thread 0: 0+1    1: 2+3    2: 4+5    3: 6+7
//   s = 2     thread 0: 0..3   1: 4..7
//   s = 4     thread 0: 0..7
//
// Phases: as before.
//
// What it fixes: whole warps work or are done, and the modulo is gone.
//
// When it loses: thread tid reads word 2 s tid, and shared memory has 32 banks, word w in bank w % 32. With s = 1 two
// lanes of a warp meet in each bank that is used, with s = 2 four, and so on: they are served one after the other.
//
// Elsewhere: Harris's kernel 2 (A #2, C 2.0).
#include "rung.cuh"

template <typename T, finish F> __device__ void neighbour_strided(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;

    shared[tid] = load(input, global_thread(), n);
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index + s < blockDim.x)
            shared[index] += shared[index + s];
        __syncthreads();
    }
    deliver<F>(shared[0], out);
}

RUNG(neighbour_strided)
