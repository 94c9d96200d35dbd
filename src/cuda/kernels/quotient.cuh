/* The quotient of two exact sums, rounded once: what a weighted mean is. */
#pragma once

#include "finish.cuh"

namespace {

/* A magnitude of W words, least significant first, times 2^exponent, with its first bit set; it is not zero. */
template <int W> __device__ __forceinline__ void normalise(u64 (&word)[W], int &exponent) {
#pragma unroll
    for (int moves = 0; moves < W - 1; moves++)
        if (word[W - 1] == 0) {
#pragma unroll
            for (int i = W - 1; i > 0; i--)
                word[i] = word[i - 1];
            word[0] = 0;
            exponent -= 64;
        }
    const int zeros = __clzll((i64)word[W - 1]);
    shift_words(word, zeros);
    exponent -= zeros;
}

/* Whether a - b is at least 0; then it is left in a. */
template <int W> __device__ __forceinline__ bool take_off(u64 (&a)[W], const u64 (&b)[W], bool anyway) {
    u64 difference[W];
    bool borrow = false;
#pragma unroll
    for (int i = 0; i < W; i++) {
        difference[i] = a[i] - b[i] - borrow;
        borrow = a[i] < b[i] || (a[i] == b[i] && borrow);
    }
    const bool fits = anyway || !borrow;
#pragma unroll
    for (int i = 0; i < W; i++)
        a[i] = fits ? difference[i] : a[i];
    return fits;
}

template <int W> __device__ __forceinline__ bool is_zero(const u64 (&word)[W]) {
    u64 any = 0;
#pragma unroll
    for (int i = 0; i < W; i++)
        any |= word[i];
    return any == 0;
}

/* The quotient of two integers of W words in two's complement, each times 2^exponent, rounded to a float result, as
 * rd_finish_quotient() has it. `other`: some product was other than -0. A quotient of 64 bits, one by one, and whether anything is left
 * are all that rounding needs. */
template <int W>
__device__ __forceinline__ u64 round_quotient(u64 (&over)[W], int over_exponent, u64 (&under)[W], int under_exponent,
                                              const rd_cuda_call &call, bool other) {
    const struct rd_type type = result_type(call);
    const bool over_negative = take_magnitude(over), under_negative = take_magnitude(under);
    const u64 sign_bit = (u64)1 << (8 * call.result_bytes - 1), infinity = (u64)(2 * call.result_max_exponent + 1)
                                                                           << (call.result_precision - 1);
    if (is_zero(over) && is_zero(under))
        return rd_nan_bits(&type);
    if (is_zero(over)) /* its sign is that of a sum that is zero; integers have one zero */
        return call.is_float && other == under_negative ? sign_bit : 0;
    if (is_zero(under))
        return infinity | (over_negative ? sign_bit : 0);
    normalise(over, over_exponent);
    normalise(under, under_exponent);
    u64 quotient = 0;
    bool beyond = false; /* a bit above the words */
    int left = 64;       /* bits to come: the first one that is set is the quotient's first, one of two */
#pragma unroll 1
    while (left) {
        const bool bit = take_off(over, under, beyond);
        quotient = quotient << 1 | bit;
        if (quotient)
            left--;
        else
            over_exponent--;
        beyond = over[W - 1] >> 63;
        shift_words(over, 1);
    }
    const Leading leading = {{0, 0, quotient}, over_exponent - under_exponent - 63 - 128, beyond || !is_zero(over)};
    return round_leading(leading, over_negative != under_negative ? sign_bit : 0, call);
}

} // namespace
