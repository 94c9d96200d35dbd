/* The difference of two floats of one type, rounded once to another: what a range is. */
#pragma once

#include "finish.cuh"

namespace {

/* A float of a type that is known by the bits of its infinity: its magnitude is significand * 2^exponent. */
struct FloatParts {
    u64 significand;
    int exponent;
    bool negative, infinite;

    __device__ __forceinline__ FloatParts(u64 bits, u64 infinity) {
        const int places = 63 - __clzll((i64)(infinity & (0 - infinity))), field = (int)((bits & infinity) >> places);
        significand = (bits & (((u64)1 << places) - 1)) | (u64)(field != 0) << places;
        exponent = max(field, 1) - (int)(infinity >> places) / 2 - places;
        negative = bits >> (64 - __clzll((i64)infinity)) & 1;
        infinite = (bits & infinity) == infinity;
    }
};

/* The greatest less the least, neither of which is a NaN, as a result of the call; of one infinity twice NaN, as IEEE 754 subtracts. The
 * exact difference is cut 64 bits below the larger significand, and its last bit says whether there is more. */
__device__ __forceinline__ u64 range_of_floats(const rd_cuda_call &call, u64 infinity, u64 least, u64 greatest) {
    const FloatParts low(least, infinity), high(greatest, infinity);
    const struct rd_type type = result_type(call);
    if (low.infinite || high.infinite)
        return least == greatest ? rd_nan_bits(&type)
                                 : (u64)(2 * call.result_max_exponent + 1) << (call.result_precision - 1);
    const bool swapped =
        high.exponent == low.exponent ? high.significand < low.significand : high.exponent < low.exponent;
    const FloatParts large = swapped ? low : high, small = swapped ? high : low;
    const int apart = large.exponent - small.exponent, beyond = min(max(apart - 64, 0), 64);
    const unsigned __int128 above = (unsigned __int128)large.significand << 64,
                            below = apart < 128 ? (unsigned __int128)small.significand << 64 >> apart : 0;
    const bool more = beyond == 64 ? small.significand != 0 : (small.significand & (((u64)1 << beyond) - 1)) != 0;
    const unsigned __int128 difference = low.negative != high.negative ? above + below : above - below - more;
    u64 word[3] = {(u64)difference | more, (u64)(difference >> 64), 0};
    return round_words<1u << RD_VALUE>(word, large.exponent - 64, call, false);
}

} // namespace
