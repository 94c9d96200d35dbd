/* Products, many results: of floats by the tree that arithmetic/product.h defines, and of integers in 256 bits.
 *
 * Floats. A warp multiplies the elements of one result at a time, as in products.cu: a thread has two columns of each block of the
 * tree, and lane k holds the product of the last 2^k blocks that wait for their neighbour. It keeps the products of as many
 * results as it has lanes, which these then round side by side.
 *
 * Integers. Their order does not matter, so that they come by tiles and meet as sums do. */
#include "many_slots.cuh"
#include "whole.cuh"

namespace {

/* ---------------------------------------------------------------------------------------------------------------------
 * Floats
 * ------------------------------------------------------------------------------------------------------------------ */

/* Where element `at` of a result lies, seen from its first. */
__device__ __forceinline__ i64 offset_of(const rd_cuda_many &many, u64 at) {
    if (many.reduced_axes < 2)
        return (i64)at * many.step[0];
    i64 offset = 0;
#pragma unroll 1
    for (int k = many.reduced_axes - 1; k >= 0; k--) {
        const rd_cuda_axis &axis = many.axis[many.kept_axes + k];
        const u64 above = at / axis.length;
        offset += (i64)(at - above * axis.length) * axis.stride[0];
        at = above;
    }
    return offset;
}

/* The same of the mask's entries. */
__device__ __forceinline__ i64 entry_offset_of(const rd_cuda_many &many, u64 at) {
    const rd_cuda_masked &masked = masked_of(many);
    if (many.reduced_axes < 2)
        return (i64)at * masked.step;
    i64 offset = 0;
#pragma unroll 1
    for (int k = many.kept_axes + many.reduced_axes - 1; k >= many.kept_axes; k--) {
        const u64 above = at / many.axis[k].length;
        offset += (i64)(at - above * many.axis[k].length) * masked.stride[k];
        at = above;
    }
    return offset;
}

/* A result's product: the significand, in [1, 2), and the exponent of what is finite and not zero; signs by parity. */
struct Product {
    double significand;
    i64 exponent;
    u64 nans, nan_index;
    bool negative, zero, infinite;
};

/* A warp's, while it multiplies: each lane has a part of all but the significand. */
struct Factors {
    int64_t exponent;
    u64 nans, nan_index;
    unsigned negatives, zero, infinite;

    __device__ __forceinline__ void take(double &column, double x, u64 index) {
        const u64 bits = bits_of(x), fraction = bits & FRACTION;
        const int field = (int)(bits >> 52) & 0x7ff;
        if (x != x) {
            nans++;
            nan_index = min(nan_index, index);
            return;
        }
        negatives ^= (unsigned)(bits >> 63);
        if (field == 0x7ff) {
            infinite = 1;
        } else if (field) {
            exponent += field - 1023;
            column *= from_bits(fraction | ONE);
        } else if (fraction) {
            column *= take_subnormal(fraction, &exponent);
        } else {
            zero = 1;
        }
    }

    /* Where the mask counts, if there is one. */
    template <class S, bool MASKED>
    __device__ __forceinline__ void take_at(const rd_cuda_many &many, const S *x, i64 entry, double &column, u64 at) {
        if constexpr (MASKED)
            if (!counts(masked_of(many), entry + entry_offset_of(many, at)))
                return;
        take(column, as_element(__ldcs(x + offset_of(many, at))), at);
    }

    /* The product of a block's elements, from number `first` on; what is missing is 1. `entry`: as in multiply(). */
    template <class S, bool MASKED>
    __device__ __forceinline__ double multiply_block(const rd_cuda_many &many, const S *x, i64 entry, u64 first,
                                                     u64 count) {
        double low = 1, high = 1;
        const u64 end = min(count, first + RD_PRODUCT_BLOCK);
#pragma unroll 1
        for (u64 at = first + lane_index(); at < end; at += RD_PRODUCT_LANES) {
            take_at<S, MASKED>(many, x, entry, low, at);
            if (at + 32 < end)
                take_at<S, MASKED>(many, x, entry, high, at + 32);
        }
        double product = take_exponent(low, &exponent) * take_exponent(high, &exponent);
#pragma unroll
        for (int distance = 16; distance; distance /= 2)
            product *= __shfl_xor_sync(ALL, product, distance);
        return scale(product);
    }

    /* Brings what all lanes have to [1, 2); the first one takes the exponent. */
    __device__ __forceinline__ double scale(double product) {
        int64_t shift = 0;
        product = take_exponent(product, &shift);
        exponent += lane_index() == 0 ? shift : 0;
        return product;
    }

    /* The product of a result's elements, in all lanes; `entry`: of a mask, for the first of them. */
    template <class S, bool MASKED>
    __device__ __forceinline__ double multiply(const rd_cuda_many &many, const S *x, i64 entry, u64 count) {
        const u64 blocks = count / RD_PRODUCT_BLOCK + (count % RD_PRODUCT_BLOCK != 0);
        double waiting = 1, product = 1; /* lane k: of 2^k blocks, if bit k of their number is set */
#pragma unroll 1
        for (u64 b = 0; b < blocks; b++) {
            product = multiply_block<S, MASKED>(many, x, entry, b * RD_PRODUCT_BLOCK, count);
            int level = 0;
            for (; b >> level & 1; level++)
                product = scale(__shfl_sync(ALL, waiting, level) * product);
            waiting = lane_index() == level ? product : waiting;
        }
        product = 1; /* those that have no neighbour, from the last on */
        for (int level = 0; blocks >> level; level++)
            if (blocks >> level & 1)
                product = scale(__shfl_sync(ALL, waiting, level) * product);
        return product;
    }
};

template <class S, bool MASKED>
__device__ __forceinline__ Product multiply_result(const rd_cuda_many &many, u64 result) {
    const Elements source = source_of(many, result);
    Factors factors = {0, 0, UINT64_MAX, 0, 0, 0};
    Product product;
    const S *x = static_cast<const S *>(many.call.x) + source.at[0];
    i64 entry = 0;
    if constexpr (MASKED)
        entry = entry_of(many, source, result);
    product.significand = factors.multiply<S, MASKED>(many, x, entry, source.count);
    product.exponent = warp_add((i64)factors.exponent);
    product.negative = __popc(__ballot_sync(ALL, factors.negatives & 1)) & 1;
    product.zero = __any_sync(ALL, factors.zero);
    product.infinite = __any_sync(ALL, factors.infinite);
    product.nans = warp_add(factors.nans);
    product.nan_index = ~warp_max_words(~factors.nan_index);
    return product;
}

__device__ __forceinline__ u64 round_product(const rd_cuda_call &call, const Product &product) {
    const struct rd_type type = result_type(call);
    const u64 sign = (u64)product.negative << (8 * call.result_bytes - 1),
              infinity = (u64)(2 * call.result_max_exponent + 1) << (call.result_precision - 1);
    constexpr i64 FAR = 1 << 16; /* beyond every format */
    if ((product.nans && call.nan != REDUCT_NAN_IGNORE) || (product.zero && product.infinite))
        return rd_nan_bits(&type);
    if (product.zero || product.infinite)
        return sign | (product.infinite ? infinity : 0);
    const u64 significand = (bits_of(product.significand) & FRACTION) | (FRACTION + 1);
    const int exponent = (int)max(-FAR, min(FAR, product.exponent));
    const Leading leading = {{0, 0, significand << 11}, exponent - 63 - 128, false};
    return round_leading(leading, sign, call);
}

__device__ __noinline__ void finish_product(const rd_cuda_many &many, const Product product, u64 result) {
    const Elements source = source_of(many, result);
    const u64 ignored = many.call.nan == REDUCT_NAN_IGNORE ? product.nans : 0;
    u64 word = 0;
    const unsigned status = status_of(many, source, source.count - ignored, product.nan_index);
    if (status == REDUCT_OK)
        word = round_product(many.call, product);
    put_word(many, source, result, status, word, product.nan_index);
}

/* Tasks are those of reduce_many() for results that all lanes share, and that are not cut. */
template <class S, bool MASKED> __device__ __forceinline__ void multiply_many(const rd_cuda_many &many) {
    wait_for_previous();
    let_next_come();
    if (is_passed_over(many))
        return;
    const u64 step = (u64)gridDim.x * WARPS;
#pragma unroll 1
    for (u64 task = (u64)blockIdx.x * WARPS + warp_index(); task < many.tasks; task += step) {
        const u64 first = task * many.batch, own = first + lane_index();
        Product kept = {1, 0, 0, UINT64_MAX, false, false, false};
#pragma unroll 1
        for (unsigned i = 0; i < many.batch && first + i < many.results; i++) {
            const Product product = multiply_result<S, MASKED>(many, first + i);
            if (lane_index() == (int)i)
                kept = product;
        }
        if (lane_index() < (int)many.batch && own < many.results)
            finish_product(many, kept, own);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------------------------------------------------ */

struct WholePart {
    static constexpr int WORDS = RD_CUDA_SLOT_INTEGER_PRODUCT;
    static constexpr PartsAdd ADDS = NEVER;
    struct rd_whole whole;

    static __device__ __forceinline__ WholePart none() {
        return {{{1, 0, 0, 0}, false, false}};
    }
    __device__ __forceinline__ void merge(const WholePart &other, const rd_cuda_many &many) {
        rd_whole_multiply(&whole, &other.whole, many.call.wrap);
    }
    __device__ __forceinline__ u64 flags() const {
        return (u64)whole.negative | (u64)whole.overflow << 1;
    }
    __device__ __forceinline__ WholePart from_lane(int by) const {
        const u64 others = __shfl_xor_sync(ALL, flags(), by);
        WholePart other = {{{0, 0, 0, 0}, (others & 1) != 0, (others & 2) != 0}};
        for (int i = 0; i < 4; i++)
            other.whole.magnitude[i] = __shfl_xor_sync(ALL, (u64)whole.magnitude[i], by);
        return other;
    }
    __device__ __forceinline__ void put(u64 *word) const {
        for (int i = 0; i < 4; i++)
            word[i] = whole.magnitude[i];
        word[4] = flags();
    }
    static __device__ __forceinline__ WholePart get(const u64 *word) {
        const u64 flags = __ldcg(word + 4);
        return {
            {{__ldcg(word), __ldcg(word + 1), __ldcg(word + 2), __ldcg(word + 3)}, (flags & 1) != 0, (flags & 2) != 0}};
    }
};

template <int BYTES, bool WITH_MASK = false> struct WholeState {
    typedef Raw<BYTES> Stored;
    typedef Word<BYTES> Element;
    typedef WholePart Kept;
    typedef NoneShared Shared;
    static constexpr bool PAIRS = false, MASKED = WITH_MASK;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(BYTES), TOGETHER = 8 / BYTES; /* whose product fits 64 bits */
    static constexpr Element SIGN = (Element)1 << (8 * BYTES - 1), MASK = SIGN | (SIGN - 1);

    const rd_cuda_many &many;
    Whole product;

    static __device__ __forceinline__ Element padding() {
        return 1;
    }
    static __device__ __forceinline__ void open(Shared &) {
    }
    __device__ __forceinline__ explicit WholeState(const rd_cuda_many &m, Shared &) : many(m) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        product = {{1, 0, 0, 0}, false, false, 0};
    }
    __device__ __forceinline__ void leave_out(unsigned) {
    }

    template <int N> __device__ __forceinline__ void take(const Element (&x)[COUNT], const Element (&)[N], u64) {
#pragma unroll
        for (int i = 0; i < COUNT; i += TOGETHER) {
            u64 magnitude = 1;
#pragma unroll
            for (int j = i; j < i + TOGETHER; j++) {
                const bool negative = many.is_signed && x[j] & SIGN;
                product.negative ^= negative;
                magnitude *= negative ? (0 - x[j]) & MASK : truth_of(many, x[j]);
            }
            product.multiply(magnitude, many.call.wrap);
        }
    }

    __device__ __forceinline__ bool take_alone(const Element (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        WholePart part = {product.value(many.call.wrap)};
        merge_lanes(many, part, from, to);
        if (mine)
            kept = part;
    }

    static __device__ __noinline__ void finish(const rd_cuda_many &many, const Kept kept, u64 result) {
        const Elements source = source_of(many, result);
        const struct rd_type type = result_type(many.call);
        uint64_t word[4] = {0, 0, 0, 0};
        unsigned status = status_of(many, source, source.count, UINT64_MAX);
        if (status == REDUCT_OK && !rd_finish_whole(&kept.whole, &type, word) && !many.call.wrap)
            status = REDUCT_ERROR_OVERFLOW;
        put_result(many, source, result, status, word, UINT64_MAX);
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &, Kept &kept, u64 result) {
        finish_in_slots<WholeState>(many, kept, result);
    }
};

} // namespace

#define FLOATS(name, TYPE)                                                                                             \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_PRODUCTS)                           \
        many_product_##name(const __grid_constant__ rd_cuda_many many) {                                               \
        multiply_many<TYPE, false>(many);                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_PRODUCTS)                           \
        masked_product_##name(const __grid_constant__ rd_cuda_masked masked) {                                         \
        multiply_many<TYPE, true>(masked.many);                                                                        \
    }
#define INTEGERS(BYTES)                                                                                                \
    RD_CUDA_MANY_KERNEL(many_product_##BYTES, RD_CUDA_RESIDENT_MANY, WholeState<BYTES>)                                \
    RD_CUDA_MASKED_KERNEL(masked_product_##BYTES, RD_CUDA_RESIDENT_MANY, WholeState<BYTES, true>)

FLOATS(f64, double)
FLOATS(f32, float)
FLOATS(f16, F16)
FLOATS(bf16, BF16)
INTEGERS(1)
INTEGERS(2)
INTEGERS(4)
INTEGERS(8)
