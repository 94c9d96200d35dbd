/* Products of integers in 256 bits, of one thread. */
#pragma once

#include "delivery.cuh"

namespace {

/* A thread's product. */
struct Whole {
    u64 word[4];
    bool zero, overflow;
    unsigned negative;

    /* By what is more than 1. */
    __device__ __forceinline__ void multiply_by(u64 factor) {
        u64 above = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u64 low = word[i] * factor, high = __umul64hi(word[i], factor);
            low += above;
            above = high + (low < above);
            word[i] = low;
        }
        overflow = overflow || above != 0;
    }

    __device__ __forceinline__ void multiply(u64 magnitude, bool wrap) {
        zero = zero || magnitude == 0;
        if (magnitude > 1 && (wrap ? (word[0] | word[1] | word[2] | word[3]) != 0 : !overflow))
            multiply_by(magnitude);
    }

    /* By the magnitudes in a vector. */
    template <class T> __device__ __forceinline__ void take(const Vector<T> &x, bool wrap) {
        constexpr int HALF = 8 / (int)sizeof(T);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            u64 magnitude = 1; /* of as many as fit */
#pragma unroll
            for (int i = half * HALF; i < (half + 1) * HALF; i++)
                magnitude *= magnitude_of(x.element[i]);
            multiply(magnitude, wrap);
        }
    }

    template <class T> __device__ __forceinline__ u64 magnitude_of(T x) {
        if constexpr (!IS_TRUTH<T> && (T)-1 < (T)0) {
            negative ^= x < 0;
            return x < 0 ? 0 - (u64)x : (u64)x;
        } else {
            return x;
        }
    }

    __device__ struct rd_whole value(bool wrap) const {
        struct rd_whole whole = {{0, 0, 0, 0}, !zero && (negative & 1), !zero && overflow};
        if (!zero && (!overflow || wrap))
            for (int i = 0; i < 4; i++)
                whole.magnitude[i] = word[i];
        return whole;
    }
};

} // namespace
