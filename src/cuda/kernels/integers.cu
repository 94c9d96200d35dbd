/* Exact sums of integers, of their magnitudes, squares and products, and both moments in one pass: as integers.cuh keeps them. At the
 * end carries are passed on, so that warps, blocks and the grid can add words without more ado. */
#include "reduce.cuh"
#include "integers.cuh"

namespace {

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
                          HAS_PRODUCTS = TRANSFORM == RD_SQUARE || TRANSFORM == RD_TIMES || TRANSFORM == RD_MOMENTS;
    static constexpr int T_WORDS = HAS_TERMS ? TERM_WORDS<T> + 1 : 0, P_WORDS = HAS_PRODUCTS ? PRODUCT_WORDS<T> + 1 : 0,
                         WORDS = T_WORDS + P_WORDS;
    typedef T Element;
    typedef RingOf<RD_INTEGER_SUM, TRANSFORM> Ring;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_INTEGER_SUM, TRANSFORM);
    static constexpr bool PAIRS = TRANSFORM == RD_TIMES, CLAIMS = true, COUNTS = false, STRAYS_LAST = false;
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
        if (threadIdx.x == 0)
            block.partial.counted = call.count; /* for ranks that add partial results up (ranks.h) */
        hand_over(call, block.partial);
    }
};

} // namespace

#define KERNEL(NAME, TYPE, TRANSFORM)                                                                                  \
    RD_CUDA_KERNEL(NAME, RD_CUDA_RESIDENT_INTEGERS, reduce<IntegerSum<TYPE, TRANSFORM>>)
#define KERNELS(name, TYPE)                                                                                            \
    KERNEL(integer_identity_##name, TYPE, RD_IDENTITY)                                                                 \
    KERNEL(integer_square_##name, TYPE, RD_SQUARE)                                                                     \
    KERNEL(integer_times_##name, TYPE, RD_TIMES)                                                                       \
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
