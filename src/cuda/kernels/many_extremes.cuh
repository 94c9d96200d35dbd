/* One extreme of each of many results: the least or greatest element or magnitude, and where the first of them is.
 *
 * Elements become unsigned keys of which the smallest is best, as in extremes.cu, by what is known of their type when the kernel
 * runs. A lane finds the best key of a tile, and only if that beats what it has seen before looks for its place, where the index is
 * asked for. Elements are taken one by one where there may be a NaN. Ties keep the earlier one. */
#pragma once

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
    static constexpr PartsAdd ADDS = SOMETIMES;
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
    /* The key and the index are one word if both are short; else the key is a word, without an index, and the next word says that there
     * is one. A word is complemented, so that the best is the greatest, and zero is nothing. */
    static constexpr bool SHORT = sizeof(Key) == 4;
    static __device__ __forceinline__ bool adds(const rd_cuda_many &many) {
        return SHORT ? counts_are_short(many) : many.call.finish != RD_INDEX;
    }
    __device__ __forceinline__ void add_to(u64 *word, const rd_cuda_many &) const {
        if (index != UINT64_MAX) {
            atomicMax(word, SHORT ? ~((u64)key << 32 | index) : ~(u64)key);
            if (!SHORT)
                atomicMax(word + 1, (u64)1);
        }
        if (nan_index != UINT64_MAX)
            atomicMax(word + 2, ~nan_index);
    }
    static __device__ __forceinline__ Found sum_of(const u64 *word, const rd_cuda_many &) {
        const u64 best = ~__ldcg(word);
        Found found = none();
        if (SHORT && best != UINT64_MAX)
            found = {(Key)(best >> 32), best & 0xffffffff, UINT64_MAX};
        else if (!SHORT && __ldcg(word + 1))
            found = {(Key)best, 0, UINT64_MAX};
        found.nan_index = ~__ldcg(word + 2);
        return found;
    }
};

template <int BYTES, bool WITH_MASK = false> struct ExtremeState {
    typedef Raw<BYTES> Stored;
    typedef Word<BYTES> Element;
    typedef Word<BYTES> Key;
    typedef Found<BYTES> Kept;
    typedef JoinedParts<Kept> Shared;
    static constexpr bool PAIRS = false, MASKED = WITH_MASK;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(BYTES), PER_VECTOR = 16 / BYTES;
    static constexpr unsigned NONE_THERE = 0xffffffffu >> (32 - COUNT);

    const rd_cuda_many &many;
    const Order<BYTES> order;
    const bool wants_index; /* else it says no more than that there was an element */
    Found<BYTES> found;

    static __device__ __forceinline__ Element padding() {
        return 0;
    }
    static __device__ __forceinline__ void open(Shared &) {
    }
    __device__ __forceinline__ explicit ExtremeState(const rd_cuda_many &m, Shared &)
        : many(m), order(order_of<BYTES>(m)), wants_index(m.call.finish == RD_INDEX) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        found = Found<BYTES>::none();
    }
    __device__ __forceinline__ void leave_out(unsigned) {
    }

    template <int N>
    __device__ __forceinline__ void take(const Element (&x)[COUNT], const Element (&)[N], const TileAt &tile) {
        Key bits[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            bits[i] = BYTES == 1 ? truth_of(many, x[i]) : x[i];
        if (__any_sync(ALL, tile.missing))
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                bits[i] = tile.missing >> i & 1 ? order.worst : bits[i];
        bool suspect;
        const Key least = order.least(bits, suspect);
        if (tile.missing == NONE_THERE)
            return;
        if (suspect || (tile.missing && least == order.key(order.worst)))
            take_each(x, tile);
        else if (least < found.key || found.index == UINT64_MAX)
            found = {least, wants_index ? tile.first + place_of(bits, least) : 0, found.nan_index};
    }

    /* The first of the lane's elements that has a key: the place in its tile. */
    __device__ __forceinline__ u64 place_of(const Key (&bits)[COUNT], Key key) const {
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
        return places.of<PER_VECTOR>(order.first_with(bits, key, 0));
    }

    /* One by one, where there may be a NaN. */
    __device__ __forceinline__ void take_each(const Element (&x)[COUNT], const TileAt &tile) {
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Key key = order.key(BYTES == 1 ? truth_of(many, x[i]) : x[i]);
            const u64 index = tile.first + places.of<PER_VECTOR>(i);
            if (tile.missing >> i & 1)
                continue;
            if (order.is_nan(key)) {
                if (many.call.nan != REDUCT_NAN_IGNORE)
                    found.nan_index = min(found.nan_index, index);
            } else if (key < found.key || found.index == UINT64_MAX) {
                found.key = key;
                found.index = index;
            }
        }
    }

    __device__ __forceinline__ bool take_alone(const Element (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    /* Where no lane has seen a NaN, and all have a key that says that there was an element, keys alone are compared, and then the
     * places of the best one. */
    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        const Key best = least_of_lanes(found.key, from, to);
        if (__any_sync(ALL, best == Order<BYTES>::MASK || found.nan_index != UINT64_MAX)) {
            merge_lanes(many, found, from, to);
        } else {
            const u64 index = found.key == best ? found.index : UINT64_MAX;
            if (!wants_index)
                found.index = 0;
            else if (counts_are_short(many))
                found.index = least_of_lanes((unsigned)index, from, to);
            else
                found.index = least_of_lanes(index, from, to);
            found.key = best;
        }
        if (mine)
            kept = found;
    }

    static __device__ __forceinline__ void finish(const rd_cuda_many &many, const Kept &kept, u64 result) {
        const rd_cuda_call &call = many.call;
        const Elements source = source_of(many, result);
        const bool none = kept.index == UINT64_MAX, nan = kept.nan_index != UINT64_MAX;
        u64 word = 0;
        if (call.finish == RD_INDEX) {
            word = nan ? kept.nan_index : kept.index;
        } else if (nan) {
            const struct rd_type type = result_type(call);
            word = rd_nan_bits(&type);
        } else if (!none) {
            word = order_of<BYTES>(many).element(kept.key);
        }
        put_word(many, source, result, status_of(many, source, none && !nan ? 0 : source.count, kept.nan_index), word,
                 kept.nan_index);
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &shared, Kept &kept,
                                                      u64 result) {
        finish_part<ExtremeState>(many, shared, kept, result);
    }
};

} // namespace
