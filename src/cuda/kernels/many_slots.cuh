/* What reductions of many results other than exact sums of floats share: elements by their bits, so that one kernel serves all
 * types of a size; where pieces of a result meet; and delivery.
 *
 * A piece leaves a part in a slot of its result's table. A warp that has the last one of a result reads all slots. Parts are
 * merged in no particular order, so that merging must not depend on it. A part has
 *
 *   WORDS           what it takes in a slot
 *   none()          the part of no elements
 *   put, get        to and from words
 *   merge(other, many)
 *   from_lane(by)   that of the lane at this distance */
#pragma once

#include "delivery.cuh"
#include "many.cuh"

template <int BYTES> struct BitsOf;
template <> struct BitsOf<1> { typedef uint8_t Bits; };
template <> struct BitsOf<2> { typedef uint16_t Bits; };
template <> struct BitsOf<4> { typedef unsigned Bits; };
template <> struct BitsOf<8> { typedef u64 Bits; };

/* In memory. */
template <int BYTES> struct Raw { typename BitsOf<BYTES>::Bits bits; };

template <int BYTES> __device__ __forceinline__ Raw<BYTES> __ldcs(const Raw<BYTES> *from) {
    return {__ldcs(&from->bits)};
}

template <int BYTES> __device__ __forceinline__ Word<BYTES> as_element(Raw<BYTES> x) {
    return x.bits;
}

namespace {

/* A truth value is 1 where its byte is not 0. */
template <class W> __device__ __forceinline__ W truth_of(const rd_cuda_many &many, W bits) {
    return many.is_truth && bits ? 1 : bits;
}

/* An element, or none where a tile is not full. */
template <int BYTES> struct Item {
    Word<BYTES> bits;
    bool there;

    Item() = default;
    __device__ __forceinline__ Item(Word<BYTES> b) : bits(b), there(true) {
    }
    static __device__ __forceinline__ Item none() {
        Item item;
        item.bits = 0;
        item.there = false;
        return item;
    }
};

/* Small ones have room for both in a word. */
struct SmallItem {
    unsigned word;

    SmallItem() = default;
    __device__ __forceinline__ SmallItem(unsigned bits) : word(bits) {
    }
};
constexpr unsigned NOT_THERE = 0x80000000;

template <int BYTES> using ItemOf = typename std::conditional<BYTES <= 2, SmallItem, Item<BYTES>>::type;

template <int BYTES> __device__ __forceinline__ ItemOf<BYTES> no_item() {
    if constexpr (BYTES <= 2)
        return NOT_THERE;
    else
        return Item<BYTES>::none();
}
template <int BYTES> __device__ __forceinline__ bool is_there(const Item<BYTES> &item) {
    return item.there;
}
__device__ __forceinline__ bool is_there(const SmallItem &item) {
    return item.word != NOT_THERE;
}
template <int BYTES> __device__ __forceinline__ Word<BYTES> bits_in(const rd_cuda_many &, const Item<BYTES> &item) {
    return item.bits;
}
__device__ __forceinline__ unsigned bits_in(const rd_cuda_many &many, const SmallItem &item) {
    return truth_of(many, item.word);
}

/* A state's memory in common, of those that need none. */
struct NoneShared {};

/* Adds up a part over the lanes of a result. */
template <class Part>
__device__ __forceinline__ void merge_lanes(const rd_cuda_many &many, Part &part, int from, int to) {
#pragma unroll 1
    for (int by = from; by < to; by *= 2)
        part.merge(part.from_lane(by), many);
}

template <class Part> struct Met {
    Part part;
    bool last;
};

/* Leaves a lane's part of a result, if it has one. Whether this was the last: then the part is that of all, and the table zero
 * again. By all lanes. */
template <class Part> __device__ __noinline__ Met<Part> meet_in_slots(const rd_cuda_many &many, Part part, u64 result) {
    u64 *table = reinterpret_cast<u64 *>(many.table);
    bool last = false;
    if (result < many.results) {
        u64 *own = table + result * many.table_words;
        const u64 slot = atomicAdd(own + RD_CUDA_SLOTS_TAKEN, (u64)1);
        part.put(own + RD_CUDA_SLOTS_EXTRA + slot * Part::WORDS);
        __threadfence();
        last = atomicAdd(own + RD_CUDA_SLOTS_FILLED, (u64)1) + 1 == many.pieces;
        __threadfence();
    }
    for (unsigned left = __ballot_sync(ALL, last); left; left &= left - 1) {
        const int lane = __ffs((int)left) - 1;
        u64 *own = table + __shfl_sync(ALL, result, lane) * many.table_words;
        Part all = Part::none();
        for (u64 slot = lane_index(); slot < many.pieces; slot += 32) {
            u64 *words = own + RD_CUDA_SLOTS_EXTRA + slot * Part::WORDS;
            all.merge(Part::get(words), many);
            for (int w = 0; w < Part::WORDS; w++)
                words[w] = 0;
        }
        if (lane_index() < RD_CUDA_SLOTS_EXTRA)
            own[lane_index()] = 0;
        merge_lanes(many, all, 1, 32);
        if (lane_index() == lane)
            part = all;
    }
    return {part, last};
}

/* The end of a state: its finish(many, kept, result) for each result that is complete. By all lanes. */
template <class State>
__device__ __forceinline__ void finish_in_slots(const rd_cuda_many &many, const typename State::Kept &kept,
                                                u64 result) {
    typename State::Kept all = kept;
    bool mine = result < many.results;
    if (many.pieces > 1) {
        const Met<typename State::Kept> met = meet_in_slots(many, kept, result);
        all = met.part;
        mine = met.last;
    }
    if (mine)
        State::finish(many, all, result);
}

/* By lanes that have a result. Of a failure the bits are those of NaN, or zero. */
__device__ __forceinline__ void put_result(const rd_cuda_many &many, const Elements &source, u64 result,
                                           unsigned status, uint64_t (&word)[4], u64 nan_index) {
    const rd_cuda_call &call = many.call;
    if (status != REDUCT_OK) {
        const struct rd_type type = result_type(call);
        word[0] = call.result_class == RD_FLOAT ? rd_nan_bits(&type) : 0;
        word[1] = word[2] = word[3] = 0;
    }
    store_result(static_cast<unsigned char *>(call.result) + source.result * call.result_bytes, word,
                 call.result_bytes);
    tell(many, result, status, nan_index);
}

/* What elements come to, before what is particular to a family; `counted` is how many of them count. */
__device__ __forceinline__ unsigned status_of(const rd_cuda_many &many, const Elements &source, u64 counted,
                                              u64 nan_index) {
    if (source.none)
        return REDUCT_ERROR_ARGUMENT;
    if (many.call.nan == REDUCT_NAN_ERROR && nan_index != UINT64_MAX && source.count >= many.call.minimum)
        return REDUCT_ERROR_NAN;
    return counted < many.call.minimum ? REDUCT_ERROR_EMPTY : REDUCT_OK;
}

} // namespace
