// Reductions other than sums, in one launch: what the applications share.
//
// A reduction transforms each element, combines all, and finishes; norm2, say, is square, add, square root. An operator
// is a struct that says how:
//
//   using part = ...;                                        what is combined: any plain struct of 32-bit words
//   static part identity();                                  combine(identity(), a) is a
//   static part term(const T *x, const T *y, uint64_t i);    the transform of element i of one or two arrays
//   static part combine(part a, part b);                     associative; a stands before b
//   using result = ...;
//   static result finish(part total, uint64_t n);
//
// combine need not be commutative where the walk takes elements in order: all trees here combine neighbours, and never
// swap. For a sum that is one order among many; for affine.cu it is the only right one.
#pragma once

#include <stdint.h>
#include <string.h>

#include "../rung.cuh"

// Blocks of whole warps; the host launches no other.
constexpr unsigned THREADS = 256, WARPS = THREADS / 32;

// The value of the lane `d` above, for any struct of words.
template <typename P> __device__ P shuffle_down(P part, unsigned d) {
    static_assert(sizeof(P) % 4 == 0, "a part is made of 32-bit words");
    uint32_t word[sizeof(P) / 4];
    memcpy(word, &part, sizeof part);
#pragma unroll
    for (uint32_t &w : word)
        w = __shfl_down_sync(~0u, w, d);
    memcpy(&part, word, sizeof part);
    return part;
}

// Lanes in order, held by lane 0: first 0 with 1, 2 with 3 and so on; then pairs, then fours.
template <typename OP> __device__ typename OP::part combine_warp(typename OP::part mine) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        typename OP::part next = shuffle_down(mine, d);
        if (lane % (2 * d) == 0)
            mine = OP::combine(mine, next);
    }
    return mine;
}

// Threads in order, held by thread 0.
template <typename OP> __device__ typename OP::part combine_block(typename OP::part mine) {
    __shared__ typename OP::part slots[WARPS];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mine = combine_warp<OP>(mine);
    if (lane == 0)
        slots[warp] = mine;
    __syncthreads();
    if (warp == 0)
        mine = combine_warp<OP>(lane < WARPS ? slots[lane] : OP::identity());
    return mine;
}

// Blocks in order, by the last one to finish (see one_launch.cu); then the result.
template <typename OP>
__device__ void combine_grid(typename OP::part mine, uint64_t n, typename OP::part *partials,
                             typename OP::result *result, unsigned *ticket) {
    mine = combine_block<OP>(mine);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = mine;
    if (!is_last_block(ticket, gridDim.x))
        return;
    unsigned share = (gridDim.x + THREADS - 1) / THREADS; // neighbours to the same thread, for the order
    typename OP::part total = OP::identity();
    for (unsigned i = threadIdx.x * share; i < gridDim.x && i < (threadIdx.x + 1) * share; i++) {
        typename OP::part next;
        const volatile uint32_t *from = reinterpret_cast<const volatile uint32_t *>(&partials[i]);
        uint32_t word[sizeof next / 4]; // past L1, which may hold what was there before
#pragma unroll
        for (unsigned w = 0; w < sizeof next / 4; w++)
            word[w] = from[w];
        memcpy(&next, word, sizeof next);
        total = OP::combine(total, next);
    }
    total = combine_block<OP>(total);
    if (threadIdx.x == 0)
        *result = OP::finish(total, n);
}

// The whole reduction, for operators whose order of elements does not matter.
template <typename OP, typename T>
__device__ void reduce(const T *x, const T *y, uint64_t n, typename OP::part *partials, typename OP::result *result,
                       unsigned *ticket) {
    typename OP::part mine = OP::identity();
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        mine = OP::combine(mine, OP::term(x, y, i));
    combine_grid<OP>(mine, n, partials, result, ticket);
}

// What dot, mean and norm2 have in common: they add.
template <typename T> struct addition {
    using part = T;
    using result = T;
    static __device__ part identity() {
        return 0;
    }
    static __device__ part combine(part a, part b) {
        return a + b;
    }
    static __device__ result finish(part total, uint64_t) {
        return total;
    }
};

// The kernel of an operator on one or two arrays: dot_f32 and so on.
#define APPLICATION(NAME, TYPE)                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        NAME##_##TYPE(const TYPE *x, const TYPE *y, uint64_t n, NAME<TYPE>::part *partials,                            \
                      NAME<TYPE>::result *result, unsigned *ticket) {                                                  \
        reduce<NAME<TYPE>>(x, y, n, partials, result, ticket);                                                         \
    }
