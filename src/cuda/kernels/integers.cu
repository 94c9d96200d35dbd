/* Exact sums of integers, of their magnitudes, squares and products, and both moments in one pass.
 *
 * Overview. A thread keeps 64-bit sums that stand for 32 bits each, least significant first: a term that is wider is
 * added in pieces. Nothing can overflow before 2^31 terms per thread. At the end carries are passed on, so that warps,
 * blocks and the grid can add words without more ado. Bytes are added four at a time by dot-product instructions. */
#include "reduce.cuh"
#include "limbs.cuh"

namespace {

/* Words that a sum of terms takes, before its carries. */
template <class T> constexpr int TERM_WORDS = sizeof(T) == 8 ? 2 : 1;
template <class T> constexpr int PRODUCT_WORDS = sizeof(T) == 8 ? 4 : sizeof(T) == 4 ? 2 : 1;

template <class T> constexpr bool IS_SIGNED = (T)-1 < (T)0;
template <> constexpr bool IS_SIGNED<Truth> = false;

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
    if constexpr (TRANSFORM == RD_PRODUCT)
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
            if constexpr (TRANSFORM == RD_PRODUCT)
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

/* Finishes a sum, or both moments, of which lane w has word w: those of the squares follow. There is always a result but of
 * too few elements and where an integer does not fit. By a warp. */
template <int TRANSFORM, int T_WORDS, int P_WORDS>
__device__ __forceinline__ void finish_words(const rd_cuda_call &call, i64 word) {
    constexpr unsigned FINISHES = FINISHES_OF<TRANSFORM, RD_ADD>;
    constexpr int W = T_WORDS + P_WORDS <= 4 ? 3 : 4;
    uint64_t result[4];
    uint32_t status = REDUCT_OK;
    u64 bits = 0;
    if constexpr (TRANSFORM == RD_MOMENTS) {
        u64 sum[3] = {}, squares[4] = {};
        gather_words<0, T_WORDS>(sum, word);
        gather_words<T_WORDS, P_WORDS>(squares, word);
        if (call.count < call.minimum)
            status = REDUCT_ERROR_EMPTY;
        else
            round_moments<FINISHES>(sum, 0, squares, 0, call, bits);
        result[0] = bits;
    } else {
        u64 sum[W] = {};
        gather_words<0, T_WORDS + P_WORDS>(sum, word);
        if (call.count < call.minimum)
            status = REDUCT_ERROR_EMPTY;
        else if (call.result_class == RD_FLOAT)
            result[0] = round_words<FINISHES>(sum, 0, call, false);
        else if (!to_result(sum, call, result) && !call.wrap)
            status = REDUCT_ERROR_OVERFLOW;
    }
    if (lane_index() != 0)
        return;
    if (status == REDUCT_OK)
        store_result(call.result, result, call.result_bytes);
    tell_outcome(call, status, UINT64_MAX);
}

template <class T, int TRANSFORM> struct IntegerSum {
    static constexpr bool HAS_TERMS = TRANSFORM == RD_IDENTITY || TRANSFORM == RD_ABSOLUTE || TRANSFORM == RD_MOMENTS,
                          HAS_PRODUCTS = TRANSFORM == RD_SQUARE || TRANSFORM == RD_PRODUCT || TRANSFORM == RD_MOMENTS;
    static constexpr int T_WORDS = HAS_TERMS ? TERM_WORDS<T> + 1 : 0, P_WORDS = HAS_PRODUCTS ? PRODUCT_WORDS<T> + 1 : 0,
                         WORDS = T_WORDS + P_WORDS;
    typedef T Element;
    typedef RingOf<RD_INTEGER_SUM, TRANSFORM> Ring;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_INTEGER_SUM, TRANSFORM);
    static constexpr bool PAIRS = TRANSFORM == RD_PRODUCT, CLAIMS = true, COUNTS = false, STRAYS_LAST = false;
    typedef Tile<T, VECTORS> Part;

    /* The sums of a block's warps; in the last block those of the grid's besides. */
    struct OfWarps {
        i64 sum[2][WORDS][WARPS];
    };

    const rd_cuda_call &call;
    const Span<T> &span;
    Block &block;
    OfWarps &of_warps;
    const T *const other;
    i64 terms[TERM_WORDS<T>], products[PRODUCT_WORDS<T>];

    __device__ __forceinline__ IntegerSum(const rd_cuda_call &c, const Span<T> &s, Block &b, OfWarps &memory)
        : call(c), span(s), block(b), of_warps(memory), other(static_cast<const T *>(c.y)), terms{}, products{} {
    }

    __device__ __forceinline__ void take_stray(u64 at) {
        add_one<T, TRANSFORM>(terms, products, span.x[at], PAIRS ? other[at] : (T)0);
    }

    static __device__ __forceinline__ uint4 padding() {
        return make_uint4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void take(const Part &x, const Part &y, u64) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            add_vector<T, TRANSFORM>(terms, products, x.vector[v], PAIRS ? y.vector[v] : x.vector[v]);
    }

    /* Sums over the block, of which thread w gets number w. */
    static __device__ __forceinline__ i64 block_add(const i64 (&word)[WORDS], i64 (&of_warps)[WORDS][WARPS]) {
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

    __device__ __forceinline__ i64 close() const {
        i64 carried[WORDS];
        if constexpr (HAS_TERMS)
            carry<TERM_WORDS<T>>(terms, carried);
        if constexpr (HAS_PRODUCTS)
            carry<PRODUCT_WORDS<T>>(products, carried + T_WORDS);
        return block_add(carried, of_warps.sum[0]);
    }

    __device__ __forceinline__ void leave(i64 sum) const {
        if (threadIdx.x < WORDS) /* far from 2^63, as its words stand for 32 bits and carries */
            leave_word(call.workspace, threadIdx.x, (u64)sum ^ TAG);
    }

    __device__ __forceinline__ i64 gather() const {
        i64 total[WORDS] = {};
        for_words_left<WORDS>(block, call.workspace, [&](const u64(&word)[WORDS]) {
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                total[w] += (i64)(word[w] ^ TAG);
        });
        return block_add(total, of_warps.sum[1]);
    }

    __device__ __forceinline__ void deliver(i64 sum, bool, FinishRoom &) const {
        if (!call.partial) {
            if (warp_index() == 0)
                finish_words<TRANSFORM, T_WORDS, P_WORDS>(call, sum);
            return;
        }
        if (threadIdx.x < WORDS) {
            bool second = TRANSFORM == RD_MOMENTS && threadIdx.x >= T_WORDS;
            block.partial.limb[second][second ? threadIdx.x - T_WORDS : threadIdx.x] = sum;
        }
        hand_over(call, block.partial);
    }
};

} // namespace

#define KERNEL(NAME, TYPE, TRANSFORM)                                                                                  \
    RD_CUDA_KERNEL(NAME, RD_CUDA_RESIDENT_INTEGERS, reduce<IntegerSum<TYPE, TRANSFORM>>)
#define KERNELS(name, TYPE)                                                                                            \
    KERNEL(integer_identity_##name, TYPE, RD_IDENTITY)                                                                 \
    KERNEL(integer_square_##name, TYPE, RD_SQUARE)                                                                     \
    KERNEL(integer_product_##name, TYPE, RD_PRODUCT)                                                                   \
    KERNEL(integer_moments_##name, TYPE, RD_MOMENTS)

#define SIGNED_KERNELS(name, TYPE)                                                                                     \
    KERNELS(name, TYPE)                                                                                                \
    KERNEL(integer_absolute_##name, TYPE, RD_ABSOLUTE)

SIGNED_KERNELS(i8, int8_t)
SIGNED_KERNELS(i16, int16_t)
SIGNED_KERNELS(i32, int32_t)
SIGNED_KERNELS(i64, i64)
KERNELS(u8, uint8_t) /* their own magnitudes */
KERNELS(u16, uint16_t)
KERNELS(u32, uint32_t)
KERNELS(u64, u64)
KERNELS(bool, Truth)
