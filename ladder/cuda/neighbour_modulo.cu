// Rung neighbour-modulo: neighbours first, in shared memory.
//
// Idea: each block copies its elements to shared memory, which lies within its multiprocessor, and reduces them there
// with strides 1, 2, 4, and so on. The thread that adds is the one whose number is a multiple of twice the stride.
//
//   tid       0     1     2     3     4     5     6     7
//   s = 1     0+1         2+3         4+5         6+7
//   s = 2     0..3                    4..7
//   s = 4     0..7
//
// Phases: load; for each stride, add and wait for the block; deliver.
//
// What it fixes: the input survives, and global memory is read once.
//
// When it loses: always. In every step the threads that work are spread over all warps, so that every warp runs the
// whole way with ever fewer of its lanes at work; and % by a number that the compiler does not know is a long sequence
// of instructions.
//
// Elsewhere: Harris's kernel 1 (A #1, B v1, C 1.0, E adjacent).
#include "rung.cuh"

template <typename T, finish F> __device__ void neighbour_modulo(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;

    shared[tid] = load(input, global_thread(), n);
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0 && tid + s < blockDim.x)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    deliver<F>(shared[0], out);
}

RUNG(neighbour_modulo)
