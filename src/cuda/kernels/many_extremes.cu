/* Extremes, many results: the least and greatest element or magnitude, and where the first of them is (many_extremes.cuh); or both the
 * least and the greatest, and how far apart they are. */
#include "many_extremes.cuh"
#include "range.cuh"

namespace {

/* Keys of the least and of the greatest element, the former above the latter where there is none; and the first NaN that counts. */
template <int BYTES> struct Ends {
    typedef Word<BYTES> Key;
    static constexpr int WORDS = RD_CUDA_SLOT_EXTREME;
    static constexpr PartsAdd ADDS = ALWAYS;
    Key least, greatest;
    u64 nan_index;

    static __device__ __forceinline__ Ends none() {
        return {Order<BYTES>::MASK, 0, UINT64_MAX};
    }
    __device__ __forceinline__ void merge(const Ends &other, const rd_cuda_many &) {
        least = min(least, other.least);
        greatest = max(greatest, other.greatest);
        nan_index = min(nan_index, other.nan_index);
    }
    __device__ __forceinline__ Ends from_lane(int by) const {
        return {__shfl_xor_sync(ALL, least, by), __shfl_xor_sync(ALL, greatest, by),
                __shfl_xor_sync(ALL, nan_index, by)};
    }
    __device__ __forceinline__ void add_to(u64 *word, const rd_cuda_many &) const {
        atomicMax(word, (u64)(Order<BYTES>::MASK ^ least));
        atomicMax(word + 1, (u64)greatest);
        if (nan_index != UINT64_MAX)
            atomicMax(word + 2, ~nan_index);
    }
    static __device__ __forceinline__ Ends sum_of(const u64 *word, const rd_cuda_many &) {
        return {Order<BYTES>::MASK ^ (Key)__ldcg(word), (Key)__ldcg(word + 1), ~__ldcg(word + 2)};
    }
};

template <int BYTES, bool WITH_MASK = false> struct EndsState {
    typedef Raw<BYTES> Stored;
    typedef Word<BYTES> Element;
    typedef Word<BYTES> Key;
    typedef Ends<BYTES> Kept;
    typedef JoinedParts<Kept> Shared;
    static constexpr bool PAIRS = false, MASKED = WITH_MASK;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(BYTES), PER_VECTOR = 16 / BYTES;

    const rd_cuda_many &many;
    const Order<BYTES> order;
    Kept ends;

    static __device__ __forceinline__ Element padding() {
        return 0;
    }
    static __device__ __forceinline__ void open(Shared &) {
    }
    __device__ __forceinline__ explicit EndsState(const rd_cuda_many &m, Shared &)
        : many(m), order(order_of<BYTES>(m)) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        ends = Kept::none();
    }
    __device__ __forceinline__ void leave_out(unsigned) {
    }

    __device__ __forceinline__ Key bits_of(Element x) const {
        return BYTES == 1 ? truth_of(many, x) : x;
    }

    template <int N>
    __device__ __forceinline__ void take(const Element (&x)[COUNT], const Element (&)[N], const TileAt &tile) {
        bool some = true;
        if (!__any_sync(ALL, tile.missing)) {
            Key bits[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                bits[i] = bits_of(x[i]);
            some = order.widen(bits, ends.least, ends.greatest);
        }
        if (some)
            take_each(x, tile);
    }

    /* One by one, where some are missing, or there may be a NaN. */
    __device__ __forceinline__ void take_each(const Element (&x)[COUNT], const TileAt &tile) {
        const bool notes = many.call.nan != REDUCT_NAN_IGNORE;
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Key key = order.key(bits_of(x[i]));
            const bool there = !(tile.missing >> i & 1), nan = order.is_nan(key);
            ends.least = min(ends.least, there && !nan ? key : Order<BYTES>::MASK);
            ends.greatest = max(ends.greatest, there && !nan ? key : (Key)0);
            if (there && nan && notes)
                ends.nan_index = min(ends.nan_index, tile.first + places.of<PER_VECTOR>(i));
        }
    }

    __device__ __forceinline__ bool take_alone(const Element (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        if (__any_sync(ALL, ends.nan_index != UINT64_MAX)) {
            merge_lanes(many, ends, from, to);
        } else {
            ends.least = least_of_lanes(ends.least, from, to);
            ends.greatest = ~least_of_lanes(~ends.greatest, from, to);
        }
        if (mine)
            kept = ends;
    }

    /* What minmax and ptp give: two values, or one. */
    static __device__ __forceinline__ void find_values(const rd_cuda_many &many, const Kept &kept,
                                                       uint64_t (&value)[2]) {
        const rd_cuda_call &call = many.call;
        const Order<BYTES> order = order_of<BYTES>(many);
        const Key least = order.element(kept.least), greatest = order.element(kept.greatest);
        const struct rd_type type = result_type(call);
        value[0] = least;
        value[1] = greatest;
        if (call.is_float && kept.nan_index != UINT64_MAX)
            value[0] = value[1] = rd_nan_bits(&type);
        else if (call.finish == RD_RANGE)
            value[0] = call.is_float ? range_of_floats(call, many.infinity, least, greatest) : greatest - least;
    }

    static __device__ __forceinline__ void finish(const rd_cuda_many &many, const Kept &kept, u64 result) {
        const rd_cuda_call &call = many.call;
        Elements source = source_of(many, result);
        const bool none = kept.least > kept.greatest && kept.nan_index == UINT64_MAX, two = call.finish != RD_RANGE;
        const unsigned status = status_of(many, source, none ? 0 : source.count, kept.nan_index);
        uint64_t value[2];
        if (status != REDUCT_OK && many.keeps) {
            tell(many, result, status, kept.nan_index);
            return;
        }
        find_values(many, kept, value);
        if (two) { /* the greatest, behind where the other goes */
            source.result = 2 * source.result + 1;
            put_word(many, source, result, status, value[1], kept.nan_index);
            source.result--;
        }
        put_word(many, source, result, status, value[0], kept.nan_index);
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &shared, Kept &kept,
                                                      u64 result) {
        finish_part<EndsState>(many, shared, kept, result);
    }
};

} // namespace

#define KERNELS(BYTES)                                                                                                 \
    RD_CUDA_MANY_KERNEL(many_extreme_##BYTES, RD_CUDA_RESIDENT_MANY, ExtremeState<BYTES>)                              \
    RD_CUDA_MASKED_KERNEL(masked_extreme_##BYTES, RD_CUDA_RESIDENT_MANY, ExtremeState<BYTES, true>)                    \
    RD_CUDA_MANY_KERNEL(many_ends_##BYTES, RD_CUDA_RESIDENT_MANY, EndsState<BYTES>)                                    \
    RD_CUDA_MASKED_KERNEL(masked_ends_##BYTES, RD_CUDA_RESIDENT_MANY, EndsState<BYTES, true>)

KERNELS(1)
KERNELS(2)
KERNELS(4)
KERNELS(8)
