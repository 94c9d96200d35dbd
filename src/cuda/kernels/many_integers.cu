/* Sums of integers, of their magnitudes, squares and products, many results; by their size, as whether they are signed is known
 * when the kernel runs. A lane adds up a tile in as many bits as it takes, and tiles in 128 bits, or 192 for products of 64. */
#include "integer_results.cuh"
#include "many_slots.cuh"
#include "quotient.cuh"

namespace {

/* A sum of elements or magnitudes, and one of squares or products, in two's complement. */
template <bool MASKED> struct Sums : LeftOut<MASKED> {
    static constexpr int WORDS = RD_CUDA_SLOT_INTEGER_SUM + LeftOut<MASKED>::OWN_WORDS;
    static constexpr PartsAdd ADDS = ALWAYS;
    static constexpr int DIGITS_OF_SUM = RD_CUDA_DIGITS_OF_SUM, DIGITS = RD_CUDA_SLOT_INTEGER_SUM;
    __int128 sum;
    u64 product[3];

    static __device__ __forceinline__ Sums none() {
        Sums none;
        none.sum = 0;
        none.product[0] = none.product[1] = none.product[2] = 0;
        return none;
    }
    __device__ __forceinline__ void add_product(u64 low, u64 middle, u64 high) {
        const unsigned __int128 lower = (unsigned __int128)product[0] + low,
                                upper = (lower >> 64) + product[1] + (unsigned __int128)middle;
        product[0] = (u64)lower;
        product[1] = (u64)upper;
        product[2] += high + (u64)(upper >> 64);
    }
    __device__ __forceinline__ void merge(const Sums &other, const rd_cuda_many &) {
        sum += other.sum;
        this->merge_left_out(other);
        add_product(other.product[0], other.product[1], other.product[2]);
    }
    __device__ __forceinline__ Sums from_lane(int by) const {
        const u64 low = __shfl_xor_sync(ALL, (u64)sum, by), high = __shfl_xor_sync(ALL, (u64)(sum >> 64), by);
        Sums other;
        other.sum = of_words(low, high);
        other.left_out_from_lane(*this, by);
#pragma unroll
        for (int w = 0; w < 3; w++)
            other.product[w] = __shfl_xor_sync(ALL, product[w], by);
        return other;
    }
    static __device__ __forceinline__ __int128 of_words(u64 low, u64 high) {
        return (__int128)((unsigned __int128)high << 64 | low);
    }

    /* As digits, of which the highest has the sign: the second one, of a sum of usual size. Words hold those of 2^31 parts. */
    __device__ __forceinline__ void add_to(u64 *word, const rd_cuda_many &) const {
        const u64 low = (u64)sum, high = (u64)(sum >> 64);
        if (sum == (__int128)(i64)low)
            add_digits<2>(word, low, 0);
        else
            add_digits<4>(word, low, high);
        if (product[0] | product[1] | product[2]) {
            add_digit(word + DIGITS_OF_SUM, product[0] & UINT32_MAX);
            add_digit(word + DIGITS_OF_SUM + 1, product[0] >> 32);
            add_digits<4>(word + DIGITS_OF_SUM + 2, product[1], product[2]);
        }
        if (this->left_out())
            atomicAdd(word + DIGITS, this->left_out());
    }
    static __device__ __forceinline__ void add_digit(u64 *word, u64 digit) {
        if (digit)
            atomicAdd(word, digit);
    }
    template <int N> static __device__ __forceinline__ void add_digits(u64 *word, u64 low, u64 high) {
        add_digit(word, low & UINT32_MAX);
        if (N == 2) {
            add_digit(word + 1, (u64)((i64)low >> 32));
            return;
        }
        add_digit(word + 1, low >> 32);
        add_digit(word + 2, high & UINT32_MAX);
        add_digit(word + 3, (u64)((i64)high >> 32));
    }
    static __device__ __forceinline__ Sums sum_of(const u64 *word, const rd_cuda_many &) {
        Sums sums = none();
        for (int d = DIGITS_OF_SUM - 1; d >= 0; d--)
            sums.sum = (__int128)((unsigned __int128)sums.sum << 32) + (i64)__ldcg(word + d);
        for (int d = DIGITS - 1; d >= DIGITS_OF_SUM; d--) {
            sums.product[2] = sums.product[2] << 32 | sums.product[1] >> 32;
            sums.product[1] = sums.product[1] << 32 | sums.product[0] >> 32;
            sums.product[0] <<= 32;
            const i64 digit = (i64)__ldcg(word + d), sign = digit >> 63;
            sums.add_product((u64)digit, (u64)sign, (u64)sign);
        }
        sums.get_left_out(word + DIGITS);
        return sums;
    }
};

/* An integer that holds an element of either sign, and one that holds what a lane's tile of squares comes to. */
template <int BYTES>
using Value =
    typename std::conditional<BYTES == 8, __int128, typename std::conditional<BYTES == 4, i64, int>::type>::type;

/* WEIGHTED: sums of the second array too, by which those of the products are divided. */
template <int BYTES, bool TWO, bool WITH_MASK = false, bool WEIGHTED = false> struct IntegerState {
    typedef Raw<BYTES> Stored;
    typedef Word<BYTES> Element;
    typedef Sums<WITH_MASK> Kept;
    typedef JoinedParts<Kept> Shared;
    static constexpr bool PAIRS = TWO, MASKED = WITH_MASK;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(BYTES);
    static constexpr Element SIGN = (Element)1 << (8 * BYTES - 1);

    const rd_cuda_many &many;
    const bool terms, products;
    Kept sums;

    static __device__ __forceinline__ Element padding() {
        return 0;
    }
    static __device__ __forceinline__ Element other_padding() {
        return 0;
    }
    static __device__ __forceinline__ void open(Shared &) {
    }
    __device__ __forceinline__ explicit IntegerState(const rd_cuda_many &m, Shared &)
        : many(m), terms(!TWO && m.call.transform != RD_SQUARE),
          products(TWO || m.call.transform == RD_SQUARE || m.call.transform == RD_MOMENTS) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        sums = Kept::none();
    }
    __device__ __forceinline__ void leave_out(unsigned elements) {
        sums.leave_out(elements);
    }

    __device__ __forceinline__ bool is_negative(Element x) const {
        return many.is_signed && x & SIGN;
    }
    __device__ __forceinline__ Value<BYTES> value_of(Element x) const {
        const Value<BYTES> value = BYTES == 1 ? truth_of(many, x) : x;
        return is_negative(x) ? value - ((Value<BYTES>)SIGN << 1) : value;
    }

    __device__ __forceinline__ void add_terms(const Element (&x)[COUNT]) {
        const bool absolute = many.call.transform == RD_ABSOLUTE;
        Value<BYTES> sum = 0; /* of at most 32 elements */
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Value<BYTES> value = value_of(x[i]);
            sum += absolute && value < 0 ? -value : value;
        }
        sums.sum += sum;
    }

    /* Of small elements, which fit together. */
    template <int N>
    __device__ __forceinline__ void add_small_products(const Element (&x)[COUNT], const Element (&y)[N]) {
        i64 sum = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Value<BYTES> a = value_of(x[i]), b = TWO ? value_of(y[TWO ? i : 0]) : a;
            sum += (i64)a * b;
        }
        add_wide((u64)sum, (u64)(sum >> 63));
    }
    __device__ __forceinline__ void add_wide(u64 low, u64 high) {
        sums.add_product(low, high, (i64)high < 0 && many.is_signed ? UINT64_MAX : 0);
    }

    template <int N> __device__ __forceinline__ void add_products(const Element (&x)[COUNT], const Element (&y)[N]) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Element a = x[i], b = TWO ? y[TWO ? i : 0] : a;
            if constexpr (BYTES == 4) {
                const u64 product = (u64)value_of(a) * (u64)value_of(b);
                add_wide(product, many.is_signed ? (u64)((i64)product >> 63) : 0);
            } else {
                u64 high = __umul64hi(a, b);
                high -= (is_negative(a) ? b : 0) + (is_negative(b) ? a : 0);
                add_wide(a * b, high);
            }
        }
    }

    template <int N> __device__ __forceinline__ void take(const Element (&x)[COUNT], const Element (&y)[N], u64) {
        if constexpr (WEIGHTED)
            add_terms(y);
        if (terms)
            add_terms(x);
        if constexpr (BYTES <= 2) {
            if (products)
                add_small_products(x, y);
        } else if (products) {
            add_products(x, y);
        }
    }

    __device__ __forceinline__ bool take_alone(const Element (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        merge_lanes(many, sums, from, to);
        if (mine)
            kept = sums;
    }

    /* A value that is an integer or a float. */
    static __device__ __forceinline__ unsigned finish_words(const rd_cuda_call &own, const Kept &kept,
                                                            uint64_t (&word)[4]) {
        if constexpr (WEIGHTED) {
            const u64 above = (u64)(kept.sum >> 127);
            u64 weights[4] = {(u64)kept.sum, (u64)(kept.sum >> 64), above, above}, over[4];
            for (int w = 0; w < 4; w++)
                over[w] = w < 3 ? kept.product[w < 3 ? w : 0] : (u64)((i64)kept.product[2] >> 63);
            word[0] = round_quotient(over, 0, weights, 0, own, true);
            return REDUCT_OK;
        } else {
            return finish_integers(own, kept.sum, kept.product, word);
        }
    }

    static __device__ __noinline__ void finish(const rd_cuda_many &many, const Kept kept, u64 result) {
        const Elements source = source_of(many, result);
        uint64_t word[4] = {0, 0, 0, 0};
        const u64 count = source.count - kept.left_out();
        unsigned status = status_of(many, source, count, UINT64_MAX);
        if (status == REDUCT_OK) {
            rd_cuda_call own = many.call;
            own.count = count;
            status = finish_words(own, kept, word);
        }
        put_result(many, source, result, status, word, UINT64_MAX);
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &shared, Kept &kept,
                                                      u64 result) {
        finish_part<IntegerState>(many, shared, kept, result);
    }
};

} // namespace

#define KERNELS(BYTES)                                                                                                 \
    RD_CUDA_MANY_KERNEL(many_integers_##BYTES, RD_CUDA_RESIDENT_MANY, IntegerState<BYTES, false>)                      \
    RD_CUDA_MANY_KERNEL(many_integer_pairs_##BYTES, RD_CUDA_RESIDENT_MANY, IntegerState<BYTES, true>)                  \
    RD_CUDA_MASKED_KERNEL(masked_integers_##BYTES, RD_CUDA_RESIDENT_MANY, IntegerState<BYTES, false, true>)            \
    RD_CUDA_MASKED_KERNEL(masked_integer_pairs_##BYTES, RD_CUDA_RESIDENT_MANY, IntegerState<BYTES, true, true>)        \
    RD_CUDA_MANY_KERNEL(many_integer_weighted_##BYTES, RD_CUDA_RESIDENT_MANY, IntegerState<BYTES, true, false, true>)  \
    RD_CUDA_MASKED_KERNEL(masked_integer_weighted_##BYTES, RD_CUDA_RESIDENT_MANY, IntegerState<BYTES, true, true, true>)

KERNELS(1)
KERNELS(2)
KERNELS(4)
KERNELS(8)
