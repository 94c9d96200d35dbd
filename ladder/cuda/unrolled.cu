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
#include "last_warp.cuh"
#include "rung.cuh"

template <typename T, finish F, unsigned B> __device__ void unrolled(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;
    uint64_t i = uint64_t(blockIdx.x) * (2 * B) + tid;

    shared[tid] = load(input, i, n) + load(input, i + B, n);
    __syncthreads();

    if constexpr (B >= 1024) {
        if (tid < 512)
            shared[tid] += shared[tid + 512];
        __syncthreads();
    }
    if constexpr (B >= 512) {
        if (tid < 256)
            shared[tid] += shared[tid + 256];
        __syncthreads();
    }
    if constexpr (B >= 256) {
        if (tid < 128)
            shared[tid] += shared[tid + 128];
        __syncthreads();
    }
    if constexpr (B >= 128) {
        if (tid < 64)
            shared[tid] += shared[tid + 64];
        __syncthreads();
    }
    T sum = tid < 32 ? last_warp_sum(shared, B < 64 ? B : 64) : T(0);
    deliver<F>(sum, out);
}

template <typename T, finish F> __device__ void unrolled_any(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    uint64_t i = uint64_t(blockIdx.x) * (2 * blockDim.x) + threadIdx.x;

    shared[threadIdx.x] = load(input, i, n) + load(input, i + blockDim.x, n);
    deliver<F>(tree_sum(shared), out);
}

#define UNROLLED(TYPE, FINISH, SUFFIX)                                                                                 \
    RUNG_KERNEL(unrolled_##TYPE##_##SUFFIX##_32, (unrolled<TYPE, FINISH, 32>), TYPE)                                   \
    RUNG_KERNEL(unrolled_##TYPE##_##SUFFIX##_64, (unrolled<TYPE, FINISH, 64>), TYPE)                                   \
    RUNG_KERNEL(unrolled_##TYPE##_##SUFFIX##_128, (unrolled<TYPE, FINISH, 128>), TYPE)                                 \
    RUNG_KERNEL(unrolled_##TYPE##_##SUFFIX##_256, (unrolled<TYPE, FINISH, 256>), TYPE)                                 \
    RUNG_KERNEL(unrolled_##TYPE##_##SUFFIX##_512, (unrolled<TYPE, FINISH, 512>), TYPE)                                 \
    RUNG_KERNEL(unrolled_##TYPE##_##SUFFIX##_1024, (unrolled<TYPE, FINISH, 1024>), TYPE)                               \
    RUNG_KERNEL(unrolled_##TYPE##_##SUFFIX##_any, (unrolled_any<TYPE, FINISH>), TYPE)
#define UNROLLED_FINISHES(TYPE)                                                                                        \
    UNROLLED(TYPE, STORE, store)                                                                                       \
    UNROLLED(TYPE, ATOMIC, atomic)                                                                                     \
    UNROLLED(TYPE, LAST_BLOCK, last)

UNROLLED_FINISHES(i32)
UNROLLED_FINISHES(f32)
UNROLLED_FINISHES(f64)
