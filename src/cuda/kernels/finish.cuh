/* Finishing on the device: the library's own exact arithmetic, compiled for the GPU, so that a result is rounded by the
 * same lines wherever it was formed. Run by one warp of the last block; one thread does the work, over the limbs that
 * are in use. */
#pragma once

#include "grid.cuh"

#include <math.h>
#include <string.h>

#pragma nv_diag_suppress 177 /* not every kernel needs every function */
#include "arithmetic/limbs.c"
#include "arithmetic/big.c"
#include "arithmetic/product.c"
#include "arithmetic/finish.c"
#pragma nv_diag_default 177

namespace {

/* Shared memory for it. */
struct FinishRoom {
    struct rd_sum sum, squares;
    struct rd_finish_room big;
};

/* The finishes, as bits, that operators of a transform and a combination have: a kernel has the code for its own only, since
 * that of all would be most of the kernel. */
template <int TRANSFORM, int COMBINE>
constexpr unsigned FINISHES_OF = 0
#define REDUCT_OPERATOR(id, name, number, inputs, transform, combine, finish, minimum, text)                           \
    | (TRANSFORM == RD_##transform && COMBINE == RD_##combine ? 1u << RD_##finish : 0)
#include <reduct/operators.def>
    ;

/* The finish that a call asks for, of those that there are. */
template <unsigned FINISHES> __device__ __forceinline__ enum rd_finish finish_of(const rd_cuda_call &call) {
    static_assert(FINISHES != 0, "some operator has this kernel");
    constexpr unsigned LOWEST = FINISHES & -FINISHES, REST = FINISHES - LOWEST;
    constexpr enum rd_finish FIRST_OF = (enum rd_finish)(LOWEST > 1 ? 31 - __builtin_clz(LOWEST) : 0);
    if constexpr (REST == 0)
        return FIRST_OF;
    else
        return call.finish == FIRST_OF ? FIRST_OF : finish_of<REST>(call);
}

/* The limbs in use, as a sum of few digits. By a whole warp. */
__device__ void narrow(struct rd_sum &sum, const int64_t *limb, int first) {
    int lowest = RD_LIMBS, highest = -1;
    for (int i = threadIdx.x & 31; i < RD_LIMBS; i += 32)
        if (limb[i]) {
            lowest = min(lowest, i);
            highest = max(highest, i);
        }
    for (int offset = 16; offset; offset /= 2) {
        lowest = min(lowest, __shfl_xor_sync(0xffffffff, lowest, offset));
        highest = max(highest, __shfl_xor_sync(0xffffffff, highest, offset));
    }
    if (highest < 0)
        lowest = highest = 0;
    int length = min(highest - lowest + 3, RD_LIMBS - lowest); /* carries reach two limbs further */
    for (int i = threadIdx.x & 31; i < length; i += 32)
        sum.limb[i] = limb[lowest + i];
    sum.first = first + lowest;
    sum.length = length;
    sum.pending = 0;
}

__device__ __forceinline__ struct rd_type result_type(const rd_cuda_call &call) {
    struct rd_type type = {};
    type.kind = (enum rd_class)call.result_class;
    type.bytes = call.result_bytes;
    type.precision = call.result_precision;
    type.max_exponent = call.result_max_exponent;
    return type;
}

__device__ void store_result(void *result, const uint64_t *word, int bytes) {
    switch (bytes) {
    case 1:
        *static_cast<uint8_t *>(result) = (uint8_t)word[0];
        break;
    case 2:
        *static_cast<uint16_t *>(result) = (uint16_t)word[0];
        break;
    case 4:
        *static_cast<uint32_t *>(result) = (uint32_t)word[0];
        break;
    default:
        for (int i = 0; i < bytes / 8; i++)
            static_cast<uint64_t *>(result)[i] = word[i];
    }
}

/* The same of at most 8 bytes. */
__device__ __forceinline__ void store_word(void *result, u64 word, int bytes) {
    if (bytes == 8)
        *static_cast<u64 *>(result) = word;
    else if (bytes == 4)
        *static_cast<uint32_t *>(result) = (uint32_t)word;
    else if (bytes == 2)
        *static_cast<uint16_t *>(result) = (uint16_t)word;
    else
        *static_cast<uint8_t *>(result) = (uint8_t)word;
}

/* What became of a result; the index is that of the first NaN where that is an error. */
__device__ __forceinline__ void tell_outcome(const rd_cuda_call &call, uint32_t status, u64 nan_index) {
    if (!call.outcome)
        return;
    call.outcome->index = status == REDUCT_ERROR_NAN ? nan_index : UINT64_MAX;
    call.outcome->reserved = 0;
    call.outcome->status = status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Short cuts, in registers, for results that nothing stands in the way of: all terms were numbers, and the caller wants no
 * partial result. Values are those of the general way, below.
 * ------------------------------------------------------------------------------------------------------------------ */

__device__ __forceinline__ bool is_short(const rd_cuda_call &call) {
    return !call.partial & (call.count >= call.minimum);
}

__device__ __forceinline__ bool has_float(const rd_cuda_call &call) {
    return call.result_class == RD_FLOAT;
}

__device__ __forceinline__ void deliver_short(const rd_cuda_call &call, uint64_t bits) {
    if (call.result_bytes == 8)
        *static_cast<uint64_t *>(call.result) = bits;
    else if (call.result_bytes == 4)
        *static_cast<uint32_t *>(call.result) = (uint32_t)bits;
    else
        store_result(call.result, &bits, call.result_bytes);
    tell_outcome(call, REDUCT_OK, UINT64_MAX);
}

/* The leading bits of a positive number, times 2^exponent: words, least significant first, of which the last begins with
 * a 1, and whether anything is lost below. */
struct Leading {
    u64 word[3];
    int exponent;
    bool below;

    /* Shifts left by fewer than 64 bits. */
    __device__ __forceinline__ void shift(int bits) {
        if (bits == 0)
            return;
#pragma unroll
        for (int i = 2; i > 0; i--)
            word[i] = word[i] << bits | word[i - 1] >> (64 - bits);
        word[0] <<= bits;
        exponent -= bits;
    }

    /* By a number other than zero. The quotient has 128 bits, or 127. */
    __device__ __forceinline__ void divide(u64 divisor) {
        const int zeros = __clzll((i64)divisor);
        divisor <<= zeros;
        below = below || word[0] & 1;
        word[0] = word[0] >> 1 | word[1] << 63;
        word[1] = word[1] >> 1 | word[2] << 63;
        word[2] >>= 1; /* so that every quotient fits a word */
        exponent += 1 + zeros;
#pragma unroll
        for (int i = 1; i >= 0; i--) {
            unsigned __int128 dividend = (unsigned __int128)word[i + 1] << 64 | word[i];
            word[i + 1] = (u64)(dividend / divisor);
            word[i] = (u64)dividend - word[i + 1] * divisor;
        }
        below = below || word[0] != 0;
        word[0] = 0;
        exponent -= 64;
        shift(__clzll((i64)word[2]));
    }

    __device__ __forceinline__ void root() {
        /* The exponent of the upper two words becomes even. */
        bool rest;
        unsigned __int128 radicand = (unsigned __int128)word[2] << 64 | word[1];
        below = below || word[0] != 0 || (exponent & 1 && word[1] & 1);
        word[2] = root_of_words(radicand >> (exponent & 1), &rest);
        word[1] = word[0] = 0;
        below = below || rest;
        exponent = (exponent + 64 + (exponent & 1)) / 2 - 128;
    }
};

/* Rounds to a floating-point result, whose sign is given. */
__device__ __forceinline__ u64 round_leading(const Leading &leading, u64 sign, const rd_cuda_call &call) {
    const u64 below = leading.word[1] | leading.word[0] | leading.below;
    const int exponent = leading.exponent + 128; /* of the lowest of the leading 64 bits */
    int precision = call.result_precision, lowest = 2 - call.result_max_exponent - precision;
    int place = max(exponent + 64 - precision, lowest), cut = place - exponent;
    if (place + precision - 1 > call.result_max_exponent)
        return sign | (u64)(2 * call.result_max_exponent + 1) << (precision - 1);
    u64 significand = cut < 64 ? leading.word[2] >> cut : 0, half = cut <= 64 ? (u64)1 << (cut - 1) : 0,
        rest = cut <= 64 ? leading.word[2] & (2 * half - 1) : 0; /* beyond: less than half of the smallest subnormal */
    significand += rest > half || (half && rest == half && (below || significand & 1));
    return sign | (((u64)(place - lowest) << (precision - 1)) + significand);
}

/* A double as a floating-point result; NaN as the one there is. */
__device__ __forceinline__ u64 float_bits(const rd_cuda_call &call, double value) {
    if (call.result_bytes == 4)
        return value != value ? 0x7fc00000 : __float_as_uint((float)value);
    const u64 bits = (u64)__double_as_longlong(value), magnitude = bits << 1 >> 1;
    if (call.result_bytes == 8)
        return value != value ? 0x7ff8000000000000 : bits;
    const int places = call.result_precision - 1;
    const u64 sign = bits >> 63 << (8 * call.result_bytes - 1), infinite = (u64)(2 * call.result_max_exponent + 1)
                                                                           << places;
    if (value != value)
        return infinite | (u64)1 << (places - 1);
    if (magnitude < (u64)1 << 52) /* too small for any, as is what follows from it */
        return sign;
    if (magnitude >= (u64)0x7ff << 52)
        return sign | infinite;
    return round_leading({{0, 0, bits << 11 | (u64)1 << 63}, (int)(magnitude >> 52) - 1075 - 11 - 128, false}, sign,
                         call);
}

/* Rounds an integer, to which a positive part of 1 is to be added if there is `more`, times 2^exponent, to a floating-point
 * result. Few steps, which do not wait for each other, for what is usual; false where that is not enough: if another finish
 * is asked for, if the integer has less than 64 bits, or if the result may be subnormal or infinite. */
__device__ __forceinline__ bool round_upper(__int128 integer, bool more, int exponent, const rd_cuda_call &call,
                                            u64 &bits) {
    const u64 flip = (u64)(integer >> 127);
    const bool carry = flip && !more; /* otherwise what is more takes the magnitude below the next integer */
    const u64 low = ((u64)integer ^ flip) + carry, high = ((u64)(integer >> 64) ^ flip) + (carry && low == 0);
    /* The leading 63 bits; and whether any is below. */
    const int shift = 64 - __clzll((i64)high), cut = 63 - call.result_precision;
    const u64 upper = high << (63 - shift) << 1 | low >> shift, rest = low << (63 - shift) << 1 | (upper & 1) | more;
    const u64 leading = upper >> 1 | (rest != 0), odd = leading >> cut & 1, half = (u64)1 << (cut - 1);
    const int field = exponent + shift + 63 + call.result_max_exponent;
    bits = (flip & 1) << (8 * call.result_bytes - 1) |
           (((u64)(field - 1) << (call.result_precision - 1)) + ((leading + (half - 1) + odd) >> cut));
    return (high != 0) & (field > 0) & (field < 2 * call.result_max_exponent) & (call.finish == RD_VALUE);
}

/* A mean, a root or the root of a mean; the variance, or its root, that n * squares - sum^2 stands for; rounded. A function of
 * its own, to keep the way of sums short. */
template <unsigned FINISHES>
__device__ __noinline__ u64 finish_leading(Leading leading, u64 sign, const rd_cuda_call &call) {
    const enum rd_finish finish = finish_of<FINISHES>(call);
    if (finish != RD_ROOT)
        leading.divide(call.count);
    if (finish == RD_VARIANCE || finish == RD_DEVIATION)
        leading.divide(call.population ? call.count : call.count - 1);
    if (finish == RD_ROOT || finish == RD_ROOT_MEAN || finish == RD_DEVIATION)
        leading.root();
    return round_leading(leading, sign, call);
}

/* Makes an integer of W words, least significant first, in two's complement its magnitude; returns whether it is negative. */
template <int W> __device__ __forceinline__ bool take_magnitude(u64 (&word)[W]) {
    const bool negative = (i64)word[W - 1] < 0;
    bool carry = negative;
#pragma unroll
    for (int i = 0; i < W; i++) {
        word[i] = (negative ? ~word[i] : word[i]) + carry;
        carry = carry && word[i] == 0;
    }
    return negative;
}

/* The finish of a sum, an integer of W words, least significant first, in two's complement, times 2^exponent, rounded to a
 * floating-point result; zero as the one that is asked for. */
template <unsigned FINISHES, int W>
__device__ __forceinline__ u64 round_words(u64 (&word)[W], int exponent, const rd_cuda_call &call, bool negative_zero) {
    const bool negative = take_magnitude(word);
#pragma unroll
    for (int i = 0; i < W - 1; i++)
        if (word[W - 1] == 0) {
#pragma unroll
            for (int j = W - 1; j > 0; j--)
                word[j] = word[j - 1];
            word[0] = 0;
            exponent -= 64;
        }
    u64 sign = (u64)(negative || (word[W - 1] == 0 && negative_zero)) << (8 * call.result_bytes - 1);
    if (word[W - 1] == 0)
        return sign;
    Leading leading = {{word[W - 3], word[W - 2], word[W - 1]}, exponent + 64 * (W - 3), false};
    const int zeros = __clzll((i64)word[W - 1]);
    leading.shift(zeros);
    if constexpr (W > 3) {
        leading.word[0] |= zeros ? word[W - 4] >> (64 - zeros) : 0;
        leading.below = word[W - 4] << zeros != 0;
#pragma unroll
        for (int i = 0; i < W - 4; i++)
            leading.below = leading.below || word[i] != 0;
    }
    if constexpr (FINISHES != 1u << RD_VALUE)
        if (call.finish != RD_VALUE)
            return finish_leading<FINISHES & ~(1u << RD_VALUE)>(leading, sign, call);
    return round_leading(leading, sign, call);
}

/* Shifts an integer of W words left, by fewer than 256 bits. */
template <int W> __device__ __forceinline__ void shift_words(u64 (&word)[W], int bits) {
#pragma unroll
    for (int k = 1; k <= 3; k++)
        if (bits >= 64 * k) {
#pragma unroll
            for (int i = W - 1; i > 0; i--)
                word[i] = word[i - 1];
            word[0] = 0;
        }
    bits %= 64;
#pragma unroll
    for (int i = W - 1; i >= 0; i--)
        word[i] = word[i] << bits | (i > 0 && bits ? word[i > 0 ? i - 1 : 0] >> (64 - bits) : 0);
}

/* The variance, or its root, from the sum of the elements and that of their squares, integers in two's complement times
 * 2^exponent: n * squares - sum^2, over n and n - 1, rounded to a floating-point result. False where exponents lie too far
 * apart for few words. */
template <unsigned FINISHES, int E, int S>
__device__ __forceinline__ bool round_moments(u64 (&sum)[E], int sum_exponent, const u64 (&squares)[S],
                                              int squares_exponent, const rd_cuda_call &call, u64 &bits) {
    constexpr int W = (2 * E > S + 1 ? 2 * E : S + 1) + 2;
    take_magnitude(sum);
    u64 scaled[W] = {}, squared[W] = {};
    unsigned __int128 term = 0;
#pragma unroll
    for (int i = 0; i < S; i++) {
        term = (unsigned __int128)squares[i] * call.count + (u64)(term >> 64);
        scaled[i] = (u64)term;
    }
    scaled[S] = (u64)(term >> 64);
#pragma unroll
    for (int i = 0; i < E; i++) {
        term = 0;
#pragma unroll
        for (int j = 0; j < E; j++) {
            term = (unsigned __int128)sum[i] * sum[j] + squared[i + j] + (u64)(term >> 64);
            squared[i + j] = (u64)term;
        }
        squared[i + E] = (u64)(term >> 64);
    }
    const int above = 2 * sum_exponent - squares_exponent;
    if (above > 64 * (W - 2 * E) || above < -64 * (W - S - 1))
        return false;
    shift_words(scaled, max(-above, 0));
    shift_words(squared, max(above, 0));
    bool borrow = false;
#pragma unroll
    for (int i = 0; i < W; i++) {
        const u64 difference = scaled[i] - squared[i];
        const bool beyond = scaled[i] < squared[i] || (difference == 0 && borrow);
        scaled[i] = difference - borrow;
        borrow = beyond;
    }
    bits = round_words<FINISHES>(scaled, min(2 * sum_exponent, squares_exponent), call, false);
    return true;
}

/* An integer of W words in two's complement as a result; false if it does not fit. */
template <int W>
__device__ __forceinline__ bool to_result(const u64 (&sum)[W], const rd_cuda_call &call, uint64_t (&result)[4]) {
    const bool negative = (i64)sum[W - 1] < 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        result[i] = i < W ? sum[i < W ? i : 0] : negative ? UINT64_MAX : 0;
    return all_bits(result, call.result_precision, negative) && (call.result_class == RD_SIGNED || !negative);
}

/* What results come from. */
enum Source { EXTREMES, FAST_SUMS, FLOAT_SUMS, FLOAT_MOMENTS, FLOAT_QUOTIENTS };

/* The result's bits. */
template <Source SOURCE>
__device__ u64 finish_bits(const rd_cuda_call &call, const rd_cuda_partial &partial, struct rd_total &total) {
    const struct rd_type type = result_type(call);
    const bool nan = partial.nan_index != UINT64_MAX;
    if constexpr (SOURCE == FAST_SUMS)
        return rd_finish_fast(&total, &type);
    else if constexpr (SOURCE == FLOAT_SUMS)
        return rd_finish_float(&total, &type);
    else if constexpr (SOURCE == FLOAT_MOMENTS)
        return rd_finish_moments(&total, &type);
    else if constexpr (SOURCE == FLOAT_QUOTIENTS)
        return rd_finish_quotient(&total, &type);
    else if (call.finish == RD_INDEX)
        return nan ? partial.nan_index : partial.index;
    else
        return nan ? rd_nan_bits(&type) : partial.found ? partial.extreme : 0;
}

/* Writes the result and what became of it. By a whole warp. */
template <Source SOURCE, unsigned FINISHES>
__device__ __noinline__ void finish(const rd_cuda_call &call, const rd_cuda_partial &partial, FinishRoom &room,
                                    int first_of_terms, int first_of_squares) {
    struct rd_total total = {};
    if constexpr (SOURCE == FLOAT_SUMS || SOURCE == FLOAT_MOMENTS || SOURCE == FLOAT_QUOTIENTS)
        narrow(room.sum, partial.limb[0], first_of_terms);
    if constexpr (SOURCE == FLOAT_MOMENTS || SOURCE == FLOAT_QUOTIENTS)
        narrow(room.squares, partial.limb[1], first_of_squares);
    __syncwarp();
    if ((threadIdx.x & 31) != 0)
        return;
    total.transform = (enum rd_transform)call.transform;
    total.finish = finish_of<FINISHES>(call);
    total.population = call.population;
    total.is_float = call.is_float;
    total.nonzero = partial.nonzero;
    total.count = call.count - partial.ignored;
    total.nans = partial.nans;
    total.plus_infinities = partial.plus_infinities;
    total.minus_infinities = partial.minus_infinities;
    total.sum = &room.sum;
    total.squares = &room.squares;
    total.room = &room.big;
    total.high = partial.high;
    total.low = partial.low;

    uint32_t status = REDUCT_OK;
    if (call.nan == REDUCT_NAN_ERROR && partial.nan_index != UINT64_MAX && call.count >= call.minimum)
        status = REDUCT_ERROR_NAN;
    else if (total.count < call.minimum)
        status = REDUCT_ERROR_EMPTY;
    if (status == REDUCT_OK) {
        const uint64_t bits = finish_bits<SOURCE>(call, partial, total);
        store_result(call.result, &bits, call.result_bytes);
    }
    tell_outcome(call, status, partial.nan_index);
}

} // namespace
