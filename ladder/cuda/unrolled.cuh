// The tree of the rung `unrolled`, used again by `harris-seven`: straight-line code for a block of B threads.
#pragma once

#include "last_warp.cuh"

// The sum of shared[0] to shared[B - 1], held by thread 0; B is a power of two, and every thread has stored its element.
template <unsigned B, typename T> __device__ T unrolled_sum(T *shared) {
    unsigned tid = threadIdx.x;
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
    return tid < 32 ? last_warp_sum(shared, B < 64 ? B : 64) : T(0);
}

// The kernels of a rung for each block size: NAME_f32_store_256 and so on, and NAME_f32_store_any by the template
// NAME_any for other sizes.
#define UNROLLED(NAME, TYPE, FINISH, SUFFIX)                                                                           \
    RUNG_KERNEL(NAME##_##TYPE##_##SUFFIX##_32, (NAME<TYPE, FINISH, 32>), TYPE)                                         \
    RUNG_KERNEL(NAME##_##TYPE##_##SUFFIX##_64, (NAME<TYPE, FINISH, 64>), TYPE)                                         \
    RUNG_KERNEL(NAME##_##TYPE##_##SUFFIX##_128, (NAME<TYPE, FINISH, 128>), TYPE)                                       \
    RUNG_KERNEL(NAME##_##TYPE##_##SUFFIX##_256, (NAME<TYPE, FINISH, 256>), TYPE)                                       \
    RUNG_KERNEL(NAME##_##TYPE##_##SUFFIX##_512, (NAME<TYPE, FINISH, 512>), TYPE)                                       \
    RUNG_KERNEL(NAME##_##TYPE##_##SUFFIX##_1024, (NAME<TYPE, FINISH, 1024>), TYPE)                                     \
    RUNG_KERNEL(NAME##_##TYPE##_##SUFFIX##_any, (NAME##_any<TYPE, FINISH>), TYPE)
#define UNROLLED_FINISHES(NAME, TYPE)                                                                                  \
    UNROLLED(NAME, TYPE, STORE, store)                                                                                 \
    UNROLLED(NAME, TYPE, ATOMIC, atomic)                                                                               \
    UNROLLED(NAME, TYPE, LAST_BLOCK, last)
#define UNROLLED_RUNG(NAME)                                                                                            \
    UNROLLED_FINISHES(NAME, i32)                                                                                       \
    UNROLLED_FINISHES(NAME, f32)                                                                                       \
    UNROLLED_FINISHES(NAME, f64)
