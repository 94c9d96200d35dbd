/* Sums of integers as a thread keeps them: in 64-bit words that stand for 32 bits each, least significant first. A term that is wider
 * is added in pieces; nothing can overflow before 2^31 terms. Bytes are added four at a time by dot-product instructions. */
#pragma once

#include "limbs.cuh"
#include "tiles.cuh"

namespace {

/* Words that a sum of terms takes, before its carries. */
template <class T> constexpr int TERM_WORDS = sizeof(T) == 8 ? 2 : 1;
template <class T> constexpr int PRODUCT_WORDS = sizeof(T) == 8 ? 4 : sizeof(T) == 4 ? 2 : 1;

/* A term of up to 64 bits, in as many words as the sum has. */
template <int WORDS, class V> __device__ __forceinline__ void add_value(i64 *word, V value) {
    if constexpr (WORDS == 1) {
        word[0] += (i64)value;
    } else {
        word[0] += (i64)(value & 0xffffffff);
        word[1] += (i64)(value >> 32);
    }
}

template <class T> __device__ __forceinline__ void add_magnitude(i64 *word, T x) {
    if constexpr (sizeof(T) == 8)
        add_value<2>(word, x < 0 ? 0 - (u64)x : (u64)x);
    else
        word[0] += x < 0 ? -(i64)x : (i64)x;
}

template <class T> __device__ __forceinline__ void add_product(i64 *word, T x, T y) {
    if constexpr (sizeof(T) == 8) {
        u64 low = (u64)x * (u64)y;
        word[0] += (i64)(low & 0xffffffff);
        word[1] += (i64)(low >> 32);
        if constexpr (IS_SIGNED<T>) {
            i64 high = __mul64hi(x, y);
            word[2] += high & 0xffffffff;
            word[3] += high >> 32;
        } else {
            u64 high = __umul64hi(x, y);
            word[2] += (i64)(high & 0xffffffff);
            word[3] += (i64)(high >> 32);
        }
    } else if constexpr (sizeof(T) == 4 && IS_SIGNED<T>) {
        add_value<2>(word, (i64)x * y);
    } else if constexpr (sizeof(T) == 4) {
        add_value<2>(word, (u64)x * y);
    } else {
        word[0] += (i64)x * (i64)y;
    }
}

/* One term; `terms` and `products` are the sums that the transform has. */
template <class T, int TRANSFORM> __device__ __forceinline__ void add_one(i64 *terms, i64 *products, T x, T y) {
    if constexpr (TRANSFORM == RD_IDENTITY || TRANSFORM == RD_MOMENTS)
        add_value<TERM_WORDS<T>>(terms, x);
    if constexpr (TRANSFORM == RD_ABSOLUTE)
        add_magnitude(terms, x);
    if constexpr (TRANSFORM == RD_SQUARE || TRANSFORM == RD_MOMENTS)
        add_product(products, x, x);
    if constexpr (TRANSFORM == RD_TIMES)
        add_product(products, x, y);
}

/* Four bytes: their sum, or that of their products with four others. */
template <class T> __device__ __forceinline__ int dot_bytes(unsigned x, unsigned y, int sum) {
    return IS_SIGNED<T> ? __dp4a((int)x, (int)y, sum) : (int)__dp4a(x, y, (unsigned)sum);
}

/* A vector: of bytes by words, of others one by one. */
template <class T, int TRANSFORM>
__device__ __forceinline__ void add_vector(i64 *terms, i64 *products, const Vector<T> &x, const Vector<T> &y) {
    if constexpr (sizeof(T) == 1) {
        int sum = 0, product = 0;
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const unsigned a = IS_TRUTH<T> ? truths(x.word[w]) : x.word[w];
            if constexpr (TRANSFORM == RD_IDENTITY || TRANSFORM == RD_MOMENTS)
                sum = dot_bytes<T>(a, 0x01010101, sum);
            if constexpr (TRANSFORM == RD_ABSOLUTE)
                sum = dot_bytes<uint8_t>(__vabs4(a), 0x01010101, sum);
            if constexpr (TRANSFORM == RD_SQUARE || TRANSFORM == RD_MOMENTS)
                product = dot_bytes<T>(a, a, product);
            if constexpr (TRANSFORM == RD_TIMES)
                product = dot_bytes<T>(a, IS_TRUTH<T> ? truths(y.word[w]) : y.word[w], product);
        }
        terms[0] += sum;
        products[0] += product;
    } else if constexpr (sizeof(T) == 2 && TRANSFORM == RD_IDENTITY) {
        int sum = 0; /* eight halves */
#pragma unroll
        for (int w = 0; w < 4; w++)
            sum = IS_SIGNED<T> ? __dp2a_lo((int)x.word[w], 0x0101, sum)
                               : (int)__dp2a_lo(x.word[w], 0x0101u, (unsigned)sum);
        terms[0] += sum;
    } else {
#pragma unroll
        for (int i = 0; i < 16 / (int)sizeof(T); i++)
            add_one<T, TRANSFORM>(terms, products, x.element[i], y.element[i]);
    }
}

/* Passes carries on; the last word takes the sign. */
template <int WORDS> __device__ void carry(const i64 *word, i64 *carried) {
    i64 above = 0;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        /* Halves apart, as word + carry may not fit. */
        i64 low = (word[i] & 0xffffffff) + (above & 0xffffffff);
        carried[i] = low & 0xffffffff;
        above = (word[i] >> 32) + (above >> 32) + (low >> 32);
    }
    carried[WORDS] = above;
}

/* The sum of words, of which lane w has word FROM + w. */
template <int FROM, int WORDS, int W> __device__ __forceinline__ void gather_words(u64 (&sum)[W], i64 word) {
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        add_at(sum, __shfl_sync(ALL, word, FROM + w), 32 * w);
}

/* Sums over the block, of which thread w gets number w. */
template <int WORDS> __device__ __forceinline__ i64 block_add(const i64 (&word)[WORDS], i64 (&of_warps)[WORDS][WARPS]) {
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const i64 sum = warp_add(word[w]);
        if (lane_index() == 0)
            of_warps[w][warp_index()] = sum;
    }
    __syncthreads();
    i64 sum = 0;
    if (threadIdx.x < WORDS)
        for (int w = 0; w < WARPS; w++)
            sum += of_warps[threadIdx.x][w];
    return sum;
}

} // namespace
