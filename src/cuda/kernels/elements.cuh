/* Element types for which CUDA C has none, so that kernels are written once for all: numbers of 16 bits, and truth values. */
#pragma once

#include <stdint.h>
#include <type_traits>

/* An element's bits, with zeros above. */
template <int BYTES> using Word = typename std::conditional<BYTES == 8, unsigned long long, unsigned>::type;

/* A floating-point number of 16 bits, with so many places after the point: 10 of f16, 7 of bf16. */
template <int PLACES> struct Half {
    static constexpr unsigned INFINITE = 0x7fff & ~((1u << PLACES) - 1), ONE = INFINITE / 2 & INFINITE;
    uint16_t bits;

    Half() = default;
    /* Of 0, -0 and 1 alone. */
    __device__ __forceinline__ explicit Half(double value)
        : bits((uint16_t)((value == 1 ? ONE : 0) | (__double_as_longlong(value) < 0 ? 0x8000 : 0))) {
    }

    __device__ __forceinline__ operator float() const {
        if (PLACES == 7)
            return __uint_as_float((unsigned)bits << 16);
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};
typedef Half<10> F16;
typedef Half<7> BF16;

template <int PLACES> __device__ __forceinline__ Half<PLACES> __ldcs(const Half<PLACES> *from) {
    Half<PLACES> half;
    half.bits = __ldcs(&from->bits);
    return half;
}

/* A byte that counts as 1 where it is not 0. */
struct Truth {
    uint8_t byte;

    Truth() = default;
    __device__ __forceinline__ constexpr Truth(int value) : byte((uint8_t)value) {
    }
    __device__ __forceinline__ constexpr operator unsigned() const {
        return byte != 0;
    }
};

__device__ __forceinline__ Truth __ldcs(const Truth *from) {
    return Truth(__ldcs(&from->byte));
}

/* Four of them as bytes that are 0 or 1. */
__device__ __forceinline__ unsigned truths(unsigned word) {
    return (((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word) >> 7 & 0x01010101;
}

/* Either kind of them, where a kernel is told at run time which it reads: their bits. */
typedef uint16_t AnyHalf;

template <class T> constexpr bool IS_HALF = false;
template <int PLACES> constexpr bool IS_HALF<Half<PLACES>> = true;
template <class T> constexpr bool IS_TRUTH = false;
template <> constexpr bool IS_TRUTH<Truth> = true;

template <class T> constexpr bool IS_FLOAT = (T)0.5 != (T)0;
template <int PLACES> constexpr bool IS_FLOAT<Half<PLACES>> = true;
template <> constexpr bool IS_FLOAT<Truth> = false;
template <class T> constexpr bool IS_SIGNED = (T)-1 < (T)0;
template <int PLACES> constexpr bool IS_SIGNED<Half<PLACES>> = true;
template <> constexpr bool IS_SIGNED<Truth> = false;
