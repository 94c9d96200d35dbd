// 16 bytes per load, several loads under way: what the rung `vector-loads` teaches, used again by `one-launch`.
#pragma once

#include <stdint.h>
#include <string.h>

#include "rung.cuh"

// Loads that a thread has under way at once. Memory answers after hundreds of cycles; what keeps it busy is the number
// of bytes that have been asked for: threads x loads x 16.
constexpr unsigned LOADS = 4;

// The elements of a 16-byte vector.
template <typename T> struct pack {
    static constexpr unsigned COUNT = 16 / sizeof(T);
    T value[COUNT];
};

// Read once and never again: __ldcs asks the caches to give it up first.
template <typename T> __device__ pack<T> load_pack(const uint4 *vector) {
    uint4 bits = __ldcs(vector);
    pack<T> elements;
    memcpy(&elements, &bits, sizeof bits);
    return elements;
}

// This thread's share of the sum of all elements; `input` is aligned to 16 bytes. The block takes tiles of LOADS
// vectors per thread, and steps over the tiles of the other blocks. Vectors beyond the end count as zeros, so that the
// last tile needs no loop of its own.
template <typename T> __device__ T sum_vectors(const T *input, uint64_t n) {
    const uint4 *vectors = reinterpret_cast<const uint4 *>(input);
    uint64_t count = n / pack<T>::COUNT, tile = uint64_t(blockDim.x) * LOADS;
    T sum[LOADS] = {};

    for (uint64_t i = blockIdx.x * tile + threadIdx.x; i < count; i += gridDim.x * tile) {
        pack<T> loaded[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++) {
            uint64_t at = i + k * blockDim.x;
            loaded[k] = at < count ? load_pack<T>(&vectors[at]) : pack<T>{};
        }
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
            for (T x : loaded[k].value)
                sum[k] += x;
    }

    uint64_t rest = count * pack<T>::COUNT + global_thread(); // the last elements, which fill no vector
    if (rest < n)
        sum[0] += input[rest];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
