/* What f32 and f64 are made of. */
#pragma once

#include "grid.cuh"

namespace {

/* Widths of the element types, as rd_sum_init() has them. */
template <class T> constexpr int PRECISION = sizeof(T) == 8 ? 53 : 24;
template <class T> constexpr int BIAS = sizeof(T) == 8 ? 1023 : 127;

/* The significand of a finite number, the exponent of its lowest bit, and its sign. */
struct Parts {
    u64 significand;
    int exponent;
    bool negative;

    __device__ __forceinline__ explicit Parts(double x) {
        u64 bits = (u64)__double_as_longlong(x);
        int field = (int)(bits >> 52) & 0x7ff;
        significand = (bits & 0xfffffffffffff) | (u64)(field != 0) << 52;
        exponent = max(field, 1) - 1075;
        negative = bits >> 63;
    }
    __device__ __forceinline__ explicit Parts(float x) {
        unsigned bits = __float_as_uint(x);
        int field = (int)(bits >> 23) & 0xff;
        significand = (bits & 0x7fffff) | (unsigned)(field != 0) << 23;
        exponent = max(field, 1) - 150;
        negative = bits >> 31;
    }
};

/* Exponents of elements: of the largest, and of the smallest other than zero. */
template <class T> struct FloatRange {
    static constexpr bool WIDE = sizeof(T) == 8;
    unsigned most, least; /* keys: the upper word of |x|, its last bit set if the lower word is not zero */

    static __device__ __forceinline__ FloatRange none() {
        return {0, 0xffffffff};
    }

    /* Of an element in words, the lower one of f64 only. */
    static __device__ __forceinline__ unsigned key_of(unsigned upper, unsigned lower) {
        const unsigned key = upper & 0x7fffffff;
        return WIDE ? key | one_if_any(lower) : key;
    }
    static __device__ __forceinline__ unsigned key_of(float x) {
        return key_of(__float_as_uint(x), 0);
    }
    static __device__ __forceinline__ unsigned key_of(double x) {
        const u64 bits = (u64)__double_as_longlong(x);
        return key_of((unsigned)(bits >> 32), (unsigned)bits);
    }

    __device__ __forceinline__ void take(unsigned key) {
        most = max(most, key);
        least = __viaddmin_u32(key, 0xffffffff, least); /* less 1: zero is beyond all others */
    }
    __device__ __forceinline__ FloatRange over_warp() const {
        return {warp_max(most), warp_min(least)};
    }

    static __device__ __forceinline__ int exponent(unsigned key) {
        return max((int)(key >> (WIDE ? 20 : 23)), 1) - BIAS<T>;
    }
    __device__ __forceinline__ int largest() const {
        return exponent(most);
    }
    __device__ __forceinline__ int smallest() const {
        return exponent(least + 1);
    }
    __device__ __forceinline__ bool finite() const {
        return most < (WIDE ? 0x7ff00000u : 0x7f800000u);
    }

    /* One instruction, where compilers see a comparison and a choice. */
    static __device__ __forceinline__ unsigned one_if_any(unsigned word) {
        unsigned one;
        asm("min.u32 %0, %1, 1;" : "=r"(one) : "r"(word));
        return one;
    }
};

} // namespace
