// What every rung shares: the element types, shared memory, the ways out of a block, and the macro that makes kernels.
//
// A rung is a device function that reduces what its block is responsible for to one number, held by thread 0, and hands
// it to deliver(). How the blocks' numbers become one is the finish, which is independent of the rung:
//
//   STORE        each block stores its sum; the host adds them, or another launch does (finishes host, second-launch,
//                recursive)
//   ATOMIC       each block adds its sum to the result, which somebody must have cleared before the launch
//   LAST_BLOCK   each block stores its sum and takes a ticket; whoever draws the last one adds up all of them
//
// "Elsewhere" in a rung's file names Harris's kernel ("Optimizing Parallel Reduction in CUDA", 2007) and those of the
// tutorials A to E, which docs/ladder/names.md lists.
//
// Every rung takes any n, from 0 up, indexed in 64 bits, and any block of 32 to 1024 threads in one dimension. Arrays
// begin at multiples of 256 bytes, as the allocator gives them.
#pragma once

#include <stdint.h>

#include "shuffle.cuh"

// i32 is added as unsigned: the sum modulo 2^32, which cannot overflow.
using i32 = unsigned int;
using f32 = float;
using f64 = double;

enum finish { STORE, ATOMIC, LAST_BLOCK };

template <typename T> struct outlet {
    T *partials;      // STORE, LAST_BLOCK: one per block
    T *result;        // ATOMIC, LAST_BLOCK
    unsigned *ticket; // LAST_BLOCK: how many blocks are done; zero before and after every launch
};

// Shared memory whose size the launch decides: blockDim.x elements for the rungs that use it.
template <typename T> __device__ T *shared_memory() {
    extern __shared__ __align__(128) unsigned char dynamic_shared[];
    return reinterpret_cast<T *>(dynamic_shared);
}

// An element, or the identity of addition where there is none: what lets n be any number.
template <typename T> __device__ T load(const T *input, uint64_t i, uint64_t n) {
    return i < n ? input[i] : T(0);
}

// Where this thread stands in the grid: 64 bits, since 2^32 elements are only 16 GiB of f32.
__device__ inline uint64_t global_thread() {
    return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline uint64_t grid_threads() {
    return uint64_t(gridDim.x) * blockDim.x;
}

// True in every thread of the block that is last of `count` to get here, false in all others.
//
// Thread 0 has stored its block's sum. The fence makes that visible to the device before the ticket is: whoever draws
// the last ticket then sees every sum. atomicInc wraps to zero after count - 1, so nothing has to be cleared. No
// block waits for another, so this is safe however many blocks fit on the device at once.
__device__ inline bool is_last_block(unsigned *ticket, unsigned count) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(ticket, count - 1) == count - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

// The sum of many numbers by one block, held by thread 0. Read through L2 (__ldcg): L1 may hold what was there before.
template <typename T> __device__ T sum_by_block(const T *values, uint64_t count) {
    T sum = 0;
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x)
        sum += __ldcg(&values[i]);
    return block_sum(sum);
}

// The way out of block number `block` of `blocks` that leave a sum. Every thread of the block calls this; `sum` matters in
// thread 0 alone.
template <finish F, typename T>
__device__ void deliver_as(unsigned block, unsigned blocks, T sum, const outlet<T> &out) {
    if constexpr (F == ATOMIC) {
        if (threadIdx.x == 0)
            atomicAdd(out.result, sum);
    } else {
        if (threadIdx.x == 0)
            out.partials[block] = sum;
        if constexpr (F == LAST_BLOCK) {
            if (!is_last_block(out.ticket, blocks))
                return;
            // Always in the same order, whichever block is last: the same bits on every run.
            T total = sum_by_block(out.partials, blocks);
            if (threadIdx.x == 0)
                *out.result = total;
        }
    }
}

// The same where every block of the grid leaves one.
template <finish F, typename T> __device__ void deliver(T sum, const outlet<T> &out) {
    deliver_as<F>(blockIdx.x, gridDim.x, sum, out);
}

// The kernels of a rung, for each type and way out: halving_f32_store, halving_f32_atomic, halving_f32_last and so on.
// 1024 threads must fit, which leaves each 64 registers.
#define RUNG_KERNEL(NAME, FUNCTION, TYPE)                                                                              \
    extern "C" __global__ void __launch_bounds__(1024) NAME(TYPE *input, uint64_t n, outlet<TYPE> out) {               \
        FUNCTION(input, n, out);                                                                                       \
    }
#define RUNG_FINISHES(NAME, TYPE)                                                                                      \
    RUNG_KERNEL(NAME##_##TYPE##_store, (NAME<TYPE, STORE>), TYPE)                                                      \
    RUNG_KERNEL(NAME##_##TYPE##_atomic, (NAME<TYPE, ATOMIC>), TYPE)                                                    \
    RUNG_KERNEL(NAME##_##TYPE##_last, (NAME<TYPE, LAST_BLOCK>), TYPE)
#define RUNG(NAME)                                                                                                     \
    RUNG_FINISHES(NAME, i32)                                                                                           \
    RUNG_FINISHES(NAME, f32)                                                                                           \
    RUNG_FINISHES(NAME, f64)
