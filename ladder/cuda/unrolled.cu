// Rung unrolled: no loop at all.
//
// Idea: when the compiler knows the block's size, every `if (B >= 512)` is decided while compiling, and the tree
// becomes a straight line of code.
//
// Phases: load two and add; the tree, written out; the last warp.
//
// What it fixes: loop counters, addresses and branches, which Harris found to be the bottleneck by then.
//
// When it loses: one kernel per block size, and only for powers of two (any other size runs the loop of last-warp, as
// unrolled_..._any). Compilers unroll short loops by themselves today, and the kernel waits for memory anyway.
//
// Elsewhere: Harris's kernel 6 (A #6, B v5, D loop unroll).
#include "rung.cuh"
#include "unrolled.cuh"

template <typename T, finish F, unsigned B> __device__ void unrolled(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    uint64_t i = uint64_t(blockIdx.x) * (2 * B) + threadIdx.x;

    shared[threadIdx.x] = load(input, i, n) + load(input, i + B, n);
    deliver<F>(unrolled_sum<B>(shared), out);
}

template <typename T, finish F> __device__ void unrolled_any(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    uint64_t i = uint64_t(blockIdx.x) * (2 * blockDim.x) + threadIdx.x;

    shared[threadIdx.x] = load(input, i, n) + load(input, i + blockDim.x, n);
    deliver<F>(tree_sum(shared), out);
}

UNROLLED_RUNG(unrolled)
