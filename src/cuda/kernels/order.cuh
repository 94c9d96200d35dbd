/* Elements as unsigned keys of which the smallest is best, by what is known of their type when a kernel runs. */
#pragma once

#include "elements.cuh"
#include "grid.cuh"
#include "least.cuh"

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
    Key worst;                        /* bits of an element that is no better than any other, and no NaN */

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
        if (is_float)
            worst = !flip ? (Key)infinity : absolute ? 0 : (Key)infinity | SIGN;
        else if (flip)
            worst = is_signed ? SIGN : 0;
        else
            worst = is_signed ? SIGN - 1 : negates ? SIGN : MASK;
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
    /* The smallest key of a tile, and whether it may hold a NaN; of bits as kernels have them, such as truth values. */
    template <int N> __device__ __forceinline__ Key least(const Key (&bits)[N], bool &suspect) const {
        suspect = false;
        if (BYTES == 4 && is_float)
            return least_float(bits, suspect);
        Key least = MASK, greatest = 0;
        if (!is_float && !absolute) {
#pragma unroll
            for (int i = 0; i < N; i++)
                least = min(least, bits[i] ^ when_positive);
            return least;
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            const Key own = key(bits[i]);
            least = min(least, own);
            greatest = max(greatest, own);
        }
        suspect = is_float && (is_nan(least) || is_nan(greatest));
        return least;
    }

    /* Of floats of four bytes, by the instruction for them: the greatest as the least of opposites. */
    template <int N> __device__ __forceinline__ Key least_float(const Key (&bits)[N], bool &suspect) const {
        const unsigned kept = absolute ? ~(unsigned)SIGN : 0xffffffff, turned = (unsigned)(flip & SIGN);
        float part[4];
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float x = __uint_as_float(((unsigned)bits[i] & kept) ^ turned);
            part[i % 4] = i < 4 ? x : min_or_nan(part[i % 4], x);
        }
        const float least = min_or_nan(min_or_nan(part[0], part[1]), min_or_nan(part[2], part[3]));
        suspect = least != least;
        const unsigned found = __float_as_uint(least); /* keys of opposites are each other's complements */
        return found ^ ((unsigned)((int)found >> 31) | 0x80000000);
    }

    /* Of launches that want both: extends the least and the greatest key to those of a tile. If the tile may hold
     * a NaN, leaves them as they are and returns true. */
    template <int N> __device__ __forceinline__ bool widen(const Key (&bits)[N], Key &least, Key &greatest) const {
        Key low = MASK, high = 0;
        if (BYTES == 4 && is_float) {
            bool suspect;
            Key opposite[N];
            low = least_float(bits, suspect);
            if (suspect)
                return true;
#pragma unroll
            for (int i = 0; i < N; i++)
                opposite[i] = bits[i] ^ SIGN;
            high = ~least_float(opposite, suspect);
        } else {
#pragma unroll
            for (int i = 0; i < N; i++) {
                const Key own = key(bits[i]);
                low = min(low, own);
                high = max(high, own);
            }
            if (is_float && (is_nan(low) || is_nan(high)))
                return true;
        }
        least = min(least, low);
        greatest = max(greatest, high);
        return false;
    }

    /* The first of a tile's elements, from number `from` on, that has a key; some has. */
    template <int N> __device__ __forceinline__ int first_with(const Key (&bits)[N], Key key, int from) const {
        const Key sought = element(key);
        int first = 0;
        if (absolute) { /* elements of either sign have the key */
#pragma unroll
            for (int i = N - 1; i >= 0; i--)
                first = i >= from && this->key(bits[i]) == key ? i : first;
        } else {
#pragma unroll
            for (int i = N - 1; i >= 0; i--)
                first = i >= from && bits[i] == sought ? i : first;
        }
        return first;
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
