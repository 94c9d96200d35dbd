/* A thread's place in its block, sums over warps, and how a launch follows another.
 *
 * Launches that follow each other in a stream may overlap, if the host allows it: blocks of the next one come as soon as all
 * of this one say so, and wait until this one has ended and all that it wrote can be seen. */
#pragma once

#include "call.h"

typedef unsigned long long u64;
typedef long long i64;

namespace {

constexpr int THREADS = RD_CUDA_THREADS, WARPS = RD_CUDA_WARPS;
constexpr unsigned ALL = 0xffffffff; /* lanes of a warp */

__device__ __forceinline__ int lane_index() {
    return threadIdx.x & 31;
}
__device__ __forceinline__ int warp_index() {
    return threadIdx.x >> 5;
}

/* By all threads of every kernel, before anything in global memory is read or written. */
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* By all threads, after they have waited: otherwise blocks of still later launches could come as well, and take the room on
 * multiprocessors that blocks of this one need. */
__device__ __forceinline__ void let_next_come() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* A kernel of a name, which runs a function. A multiprocessor shall hold so many blocks of it (RD_CUDA_RESIDENT_...): this
 * limits the registers of a thread. The function comes last, as its template arguments have commas between them. */
#define RD_CUDA_KERNEL(NAME, BLOCKS, ...)                                                                              \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, BLOCKS)                                              \
        NAME(const __grid_constant__ rd_cuda_call call) {                                                              \
        __VA_ARGS__(call);                                                                                             \
    }

template <class T> __device__ __forceinline__ T warp_add(T value) {
#pragma unroll
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_xor_sync(ALL, value, offset);
    return value;
}

__device__ __forceinline__ unsigned warp_max(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL, value);
#else
    for (int offset = 16; offset; offset /= 2)
        value = max(value, __shfl_xor_sync(ALL, value, offset));
    return value;
#endif
}

__device__ __forceinline__ unsigned warp_min(unsigned value) {
    return ~warp_max(~value);
}

__device__ __forceinline__ int warp_add_words(int value) {
#if __CUDA_ARCH__ >= 800
    return (int)__reduce_add_sync(ALL, (unsigned)value);
#else
    return warp_add(value);
#endif
}

} // namespace
