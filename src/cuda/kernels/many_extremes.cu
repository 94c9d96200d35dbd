/* Extremes, many results: the least and greatest element or magnitude, and where the first of them is.
 *
 * Elements become unsigned keys of which the smallest is best, as in extremes.cu, by what is known of their type when the kernel
 * runs. A lane finds the best key of a tile, which seldom beats what it has seen before; only then, and where there may be a NaN,
 * does it look at elements one by one. Ties keep the earlier one. */
#include "many_slots.cuh"
#include "order.cuh"

namespace {

template <int BYTES> __device__ __forceinline__ Order<BYTES> order_of(const rd_cuda_many &many) {
    return Order<BYTES>(many.call, many.is_signed, many.infinity);
}

/* What was found: smaller keys are better, then smaller indices; and the first NaN that counts. Indices are UINT64_MAX if there
 * is none. */
template <int BYTES> struct Found {
    typedef Word<BYTES> Key;
    static constexpr int WORDS = RD_CUDA_SLOT_EXTREME;
    Key key;
    u64 index, nan_index;

    static __device__ __forceinline__ Found none() {
        return {Order<BYTES>::MASK, UINT64_MAX, UINT64_MAX};
    }
    __device__ __forceinline__ void merge(const Found &other, const rd_cuda_many &) {
        if (other.key < key || (other.key == key && other.index < index)) {
            key = other.key;
            index = other.index;
        }
        nan_index = min(nan_index, other.nan_index);
    }
    __device__ __forceinline__ Found from_lane(int by) const {
        return {__shfl_xor_sync(ALL, key, by), __shfl_xor_sync(ALL, index, by), __shfl_xor_sync(ALL, nan_index, by)};
    }
    __device__ __forceinline__ void put(u64 *word) const {
        word[0] = key;
        word[1] = index;
        word[2] = nan_index;
    }
    static __device__ __forceinline__ Found get(const u64 *word) {
        return {(Key)__ldcg(word), __ldcg(word + 1), __ldcg(word + 2)};
    }
};

template <int BYTES, bool WITH_MASK = false> struct ExtremeState {
    typedef Raw<BYTES> Stored;
    typedef ItemOf<BYTES> Element;
    typedef Word<BYTES> Key;
    typedef Found<BYTES> Kept;
    typedef NoneShared Shared;
    static constexpr bool PAIRS = false, MASKED = WITH_MASK;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(BYTES), PER_VECTOR = 16 / BYTES;

    const rd_cuda_many &many;
    const Order<BYTES> order;
    Found<BYTES> found;

    static __device__ __forceinline__ Element padding() {
        return no_item<BYTES>();
    }
    static __device__ __forceinline__ void open(Shared &) {
    }
    __device__ __forceinline__ explicit ExtremeState(const rd_cuda_many &m, Shared &)
        : many(m), order(order_of<BYTES>(m)) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        found = Found<BYTES>::none();
    }
    __device__ __forceinline__ void leave_out(unsigned) {
    }

    template <int N> __device__ __forceinline__ void take(const Element (&x)[COUNT], const Element (&)[N], u64 first) {
        Key least = Order<BYTES>::MASK;
        bool nan = false;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Key key = order.key(bits_in(many, x[i]));
            const bool there = is_there(x[i]);
            nan = nan || (there && order.is_nan(key));
            least = min(least, there ? key : Order<BYTES>::MASK);
        }
        if (nan || least < found.key || found.index == UINT64_MAX)
            take_each(x, first);
    }

    __device__ __forceinline__ void take_each(const Element (&x)[COUNT], u64 first) {
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Key key = order.key(bits_in(many, x[i]));
            const u64 index = first + places.of<PER_VECTOR>(i);
            if (is_there(x[i]) && order.is_nan(key)) {
                if (many.call.nan != REDUCT_NAN_IGNORE)
                    found.nan_index = min(found.nan_index, index);
            } else if (is_there(x[i]) && (key < found.key || found.index == UINT64_MAX)) {
                found.key = key;
                found.index = index;
            }
        }
    }

    __device__ __forceinline__ bool take_alone(const Element (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        merge_lanes(many, found, from, to);
        if (mine)
            kept = found;
    }

    static __device__ __forceinline__ void finish(const rd_cuda_many &many, const Kept &kept, u64 result) {
        const rd_cuda_call &call = many.call;
        const Elements source = source_of(many, result);
        const bool none = kept.index == UINT64_MAX, nan = kept.nan_index != UINT64_MAX;
        uint64_t word[4] = {0, 0, 0, 0};
        if (call.finish == RD_INDEX) {
            word[0] = nan ? kept.nan_index : kept.index;
        } else if (nan) {
            const struct rd_type type = result_type(call);
            word[0] = rd_nan_bits(&type);
        } else if (!none) {
            word[0] = order_of<BYTES>(many).element(kept.key);
        }
        put_result(many, source, result, status_of(many, source, none && !nan ? 0 : source.count, kept.nan_index), word,
                   kept.nan_index);
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &, Kept &kept, u64 result) {
        finish_in_slots<ExtremeState>(many, kept, result);
    }
};

} // namespace

#define KERNELS(BYTES)                                                                                                 \
    RD_CUDA_MANY_KERNEL(many_extreme_##BYTES, RD_CUDA_RESIDENT_MANY, ExtremeState<BYTES>)                              \
    RD_CUDA_MASKED_KERNEL(masked_extreme_##BYTES, RD_CUDA_RESIDENT_MANY, ExtremeState<BYTES, true>)

KERNELS(1)
KERNELS(2)
KERNELS(4)
KERNELS(8)
