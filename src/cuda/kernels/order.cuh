/* Elements as unsigned keys of which the smallest is best, by what is known of their type when a kernel runs. */
#pragma once

#include "elements.cuh"
#include "grid.cuh"

namespace {

/* The order of the elements that a launch reads. */
template <int BYTES> struct Order {
    typedef Word<BYTES> Key;
    static constexpr Key SIGN = (Key)1 << (8 * BYTES - 1), MASK = SIGN | (SIGN - 1);
    bool is_float, absolute;
    bool negates, is_signed;          /* of integers: their magnitudes count; they do themselves */
    Key flip;                         /* for the greatest: all bits */
    Key when_positive, when_negative; /* what turns bits into keys */
    Key lowest, numbers;              /* the smallest key of a number, and how far the largest is from it */

    __device__ __forceinline__ Order(const rd_cuda_call &call, bool of_signed, u64 infinity)
        : is_float(call.is_float), absolute(call.transform == RD_ABSOLUTE), negates(of_signed && absolute),
          is_signed(of_signed && !absolute), flip(call.combine == RD_GREATEST ? MASK : 0),
          when_positive((is_float || is_signed ? SIGN : 0) ^ flip), when_negative((is_float    ? MASK
                                                                                   : is_signed ? SIGN
                                                                                               : 0) ^
                                                                                  flip),
          lowest(0), numbers(MASK) {
        if (is_float) {
            lowest = ~((Key)infinity | SIGN) & MASK;
            numbers = MASK - 2 * lowest;
        }
    }

    __device__ __forceinline__ Key key(Key bits) const {
        if (absolute) {
            bits = is_float ? bits & ~SIGN : bits;
            bits = negates && bits & SIGN ? (0 - bits) & MASK : bits;
        }
        return bits ^ (bits & SIGN ? when_negative : when_positive);
    }
    __device__ __forceinline__ bool is_nan(Key key) const {
        return key - lowest > numbers;
    }
    /* The bits that a key stands for. */
    __device__ __forceinline__ Key element(Key key) const {
        key ^= flip;
        if (is_float)
            return key & SIGN ? key & ~SIGN : ~key & MASK;
        return is_signed ? key ^ SIGN : key;
    }
};

} // namespace
