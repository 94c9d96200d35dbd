/* What kernels share that look for extremes: elements of one type as keys that order as they do, and the best key with its place. */
#pragma once

#include "elements.cuh"
#include "least.cuh"
#include "meeting.cuh"

namespace {

template <int BYTES> struct Unsigned { typedef unsigned Key; };
template <> struct Unsigned<8> { typedef u64 Key; };

/* The order of one element type. */
template <class T> struct Order {
    typedef typename Unsigned<sizeof(T)>::Key Key;
    static constexpr int BITS = 8 * sizeof(T);
    static constexpr Key SIGN = (Key)1 << (BITS - 1), MASK = SIGN | (SIGN - 1);

    static __device__ __forceinline__ Key bits(T x) {
        if constexpr (IS_FLOAT<T> && sizeof(T) == 8)
            return (Key)__double_as_longlong(x);
        else if constexpr (IS_HALF<T>)
            return x.bits;
        else if constexpr (IS_FLOAT<T>)
            return __float_as_uint(x);
        else
            return (Key)x & MASK;
    }

    /* Ascending keys for ascending elements, or magnitudes. */
    static __device__ __forceinline__ Key key(T x, bool absolute) {
        Key b = bits(x);
        if constexpr (IS_FLOAT<T>) {
            b = absolute ? b & ~SIGN : b;
            return b & SIGN ? ~b & MASK : b | SIGN;
        } else if constexpr (IS_SIGNED<T>) {
            return absolute ? (b & SIGN ? (0 - b) & MASK : b) : b ^ SIGN;
        } else {
            return b;
        }
    }

    /* Back to the bits that the key stands for. */
    static __device__ Key element(Key key, bool absolute) {
        if constexpr (IS_FLOAT<T>)
            return key & SIGN ? key & ~SIGN : ~key & MASK;
        else if constexpr (IS_SIGNED<T>)
            return absolute ? key : key ^ SIGN;
        else
            return key;
    }

    /* The other element of the same magnitude, if that is what counts. */
    static __device__ __forceinline__ Key opposite(Key bits, bool absolute) {
        if constexpr (IS_FLOAT<T>)
            return absolute ? bits | SIGN : bits;
        else
            return IS_SIGNED<T> && absolute ? (0 - bits) & MASK : bits;
    }

    /* The upper half of the key of a float of eight bytes, from the upper half of the bits. */
    static __device__ __forceinline__ unsigned upper_key(unsigned upper, bool absolute) {
        upper = absolute ? upper & 0x7fffffff : upper;
        return upper ^ ((unsigned)((int)upper >> 31) | 0x80000000);
    }
    /* Infinities are suspected too. */
    static __device__ __forceinline__ bool upper_may_be_nan(unsigned least, unsigned greatest) {
        return greatest >= 0xfff00000 || least <= 0x000fffff;
    }

    static __device__ __forceinline__ bool is_nan(T x) {
        return IS_FLOAT<T> && x != x;
    }
    /* Whether keys from `least` to `greatest` are not all numbers. */
    static __device__ __forceinline__ bool has_nan(Key least, Key greatest) {
        constexpr Key INFINITY_BITS = sizeof(T) == 8 ? (Key)0x7ff << (BITS - 12) : (Key)0xff << (BITS - 9);
        return IS_FLOAT<T> && (greatest > (INFINITY_BITS | SIGN) || least < (~(INFINITY_BITS | SIGN) & MASK));
    }
};

template <class K> __device__ __forceinline__ K smaller(K a, K b) {
    return a < b ? a : b;
}
template <class K> __device__ __forceinline__ K larger(K a, K b) {
    return a > b ? a : b;
}

/* The least of all lanes'. */
template <class K> __device__ __forceinline__ K warp_least(K key) {
    if constexpr (sizeof(K) == 4) {
        return warp_min(key);
    } else {
        unsigned upper = warp_min((unsigned)(key >> 32));
        return (K)upper << 32 | warp_min((unsigned)(key >> 32) == upper ? (unsigned)key : 0xffffffff);
    }
}

/* What was found: smaller keys are better, then smaller indices. */
template <class K> struct Best {
    K key;
    u64 index; /* UINT64_MAX: nothing yet */

    __device__ __forceinline__ void take(K key2, u64 index2) {
        if (key2 < key || (key2 == key && index2 < index)) {
            key = key2;
            index = index2;
        }
    }

    /* As words that are not zero: the key by halves, and the index, which is less than 2^63 if there is one. */
    static constexpr int WORDS = sizeof(K) == 8 ? 3 : 2;
    __device__ __forceinline__ void leave(const Block &block, rd_cuda_workspace *workspace) const {
        u64 word[WORDS] = {index ^ TAG, TAG | (unsigned)key};
        word[WORDS - 1] = TAG | (unsigned)((u64)key >> 32 * (WORDS - 2));
        leave_words(block, workspace, word);
    }
    static __device__ __forceinline__ Best from(const u64 (&word)[WORDS]) {
        return {(K)((u64)(unsigned)word[WORDS - 1] << 32 * (WORDS - 2) | (unsigned)word[1]), word[0] ^ TAG};
    }
};

template <class K> __device__ __forceinline__ void merge_lanes(Best<K> &best) {
#pragma unroll
    for (int distance = 16; distance; distance /= 2) {
        K key = __shfl_xor_sync(ALL, best.key, distance);
        u64 index = __shfl_xor_sync(ALL, best.index, distance);
        best.take(key, index);
    }
}

/* Over the block, in all threads. */
template <class K> __device__ __forceinline__ void merge_block(Best<K> &best, Best<K> *of_warps) {
    merge_lanes(best);
    if (lane_index() == 0)
        of_warps[warp_index()] = best;
    __syncthreads();
    best = of_warps[lane_index() & (WARPS - 1)];
    merge_lanes(best);
}

/* The element of a key, that of the greatest complemented (end 1), as kernels of several results took it. */
template <class T> __device__ __forceinline__ u64 element_of(u64 key, int end) {
    typedef Order<T> O;
    return O::element((typename O::Key)(end ? ~key & O::MASK : key), false);
}

/* An element as the result has it: one of 16 bits was widened. */
__device__ __forceinline__ u64 narrow_element(const rd_cuda_call &call, u64 bits) {
    if (call.result_bytes != 2)
        return bits;
    if (call.result_precision == 8)
        return bits >> 16;
    const unsigned sign = (unsigned)bits >> 16 & 0x8000, magnitude = (unsigned)bits & 0x7fffffff;
    const unsigned scaled =
        __float_as_uint(__uint_as_float(magnitude) * 0x1p-112f); /* exact: as Half widens, in reverse */
    return sign | (magnitude >= 0x7f800000 ? F16::INFINITE : scaled >> 13);
}

} // namespace
