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
 *   from_lane(by)   that of the lane at this distance
 *
 * Where words of a part can be added by themselves, in whatever order, all pieces of a result share one slot instead: the last
 * one then need not read them all. For that a part says
 *
 *   MAY_ADD         whether it can be so; if not, nothing of this is needed
 *   adds(many)      whether it is so here
 *   add_to(words, many)  to those of the slot, which are zero when nothing has been added
 *   sum_of(words, many) */
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

/* A state's memory in common, of those that need none. */
struct NoneShared {};

/* Adds up a part over the lanes of a result. */
template <class Part>
__device__ __forceinline__ void merge_lanes(const rd_cuda_many &many, Part &part, int from, int to) {
#pragma unroll 1
    for (int by = from; by < to; by *= 2)
        part.merge(part.from_lane(by), many);
}

/* The least of the lanes' of a result. */
template <class T> __device__ __forceinline__ T least_of_lanes(T value, int from, int to) {
    if (sizeof(T) == 4 && to == 32 * from)
        return warp_min((unsigned)value);
#pragma unroll 1
    for (int by = from; by < to; by *= 2)
        value = min(value, __shfl_xor_sync(ALL, value, by));
    return value;
}

/* No result has more elements than 31 bits count. */
__device__ __forceinline__ bool counts_are_short(const rd_cuda_many &many) {
    return (many.begins ? many.limit : many.call.count) >> 31 == 0;
}

template <class Part> struct Met {
    Part part;
    bool last;
};

/* The same as meet_in_slots(), of parts that are added. */
template <class Part>
__device__ __forceinline__ Met<Part> meet_in_words(const rd_cuda_many &many, const Part &part, u64 result,
                                                   const Meeting &meeting) {
    if (result >= many.results)
        return {part, false};
    u64 *own = meeting.words, *words = own + RD_CUDA_SLOTS_EXTRA;
    part.add_to(words, many);
    __threadfence();
    if (atomicAdd(own + RD_CUDA_SLOTS_FILLED, (u64)1) + 1 != meeting.pieces)
        return {part, false};
    __threadfence();
    const Part all = Part::sum_of(words, many);
    own[RD_CUDA_SLOTS_FILLED] = 0;
    for (int w = 0; w < Part::WORDS; w++)
        words[w] = 0;
    return {all, true};
}

/* Leaves a lane's part of a result, if it has one. Whether this was the last: then the part is that of all, and the table zero
 * again. By all lanes. */
template <class Part>
__device__ __noinline__ Met<Part> meet_in_slots(const rd_cuda_many &many, Part part, u64 result, Meeting meeting) {
    bool last = false;
    if constexpr (Part::MAY_ADD)
        if (Part::adds(many))
            return meet_in_words(many, part, result, meeting);
    if (result < many.results) {
        u64 *own = meeting.words;
        const u64 slot = atomicAdd(own + RD_CUDA_SLOTS_TAKEN, (u64)1);
        part.put(own + RD_CUDA_SLOTS_EXTRA + slot * Part::WORDS);
        __threadfence();
        last = atomicAdd(own + RD_CUDA_SLOTS_FILLED, (u64)1) + 1 == meeting.pieces;
        __threadfence();
    }
    for (unsigned left = __ballot_sync(ALL, last); left; left &= left - 1) {
        const int lane = __ffs((int)left) - 1;
        u64 *own = reinterpret_cast<u64 *>(__shfl_sync(ALL, reinterpret_cast<u64>(meeting.words), lane));
        Part all = Part::none();
        for (u64 slot = lane_index(); slot < meeting.pieces; slot += 32)
            all.merge(Part::get(own + RD_CUDA_SLOTS_EXTRA + slot * Part::WORDS), many);
        __syncwarp();
        for (u64 w = lane_index(); w < RD_CUDA_SLOTS_EXTRA + meeting.pieces * Part::WORDS; w += 32)
            own[w] = 0;
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
    const Meeting meeting = many.pieces > 1 ? meeting_of(many, result) : Meeting{nullptr, 1};
    if (meeting.pieces > 1) {
        const Met<typename State::Kept> met = meet_in_slots(many, kept, result, meeting);
        all = met.part;
        mine = met.last;
    }
    if (mine)
        State::finish(many, all, result);
}

/* By lanes that have a result. Of a failure the bits are those of NaN, or zero. */
__device__ __forceinline__ void put_result(const Answer &answer, const Elements &source, u64 result, unsigned status,
                                           uint64_t (&word)[4], u64 nan_index) {
    const rd_cuda_call &call = answer.call;
    if (status != REDUCT_OK) {
        const struct rd_type type = result_type(call);
        word[0] = call.result_class == RD_FLOAT ? rd_nan_bits(&type) : 0;
        word[1] = word[2] = word[3] = 0;
    }
    store_result(static_cast<unsigned char *>(call.result) + source.result * call.result_bytes, word,
                 call.result_bytes);
    tell(answer, result, status, nan_index);
}

/* What elements come to, before what is particular to a family; `counted` is how many of them count. */
__device__ __forceinline__ unsigned status_of(const Answer &answer, const Elements &source, u64 counted,
                                              u64 nan_index) {
    if (source.none)
        return REDUCT_ERROR_ARGUMENT;
    if (answer.call.nan == REDUCT_NAN_ERROR && nan_index != UINT64_MAX && source.count >= answer.call.minimum)
        return REDUCT_ERROR_NAN;
    return counted < answer.call.minimum ? REDUCT_ERROR_EMPTY : REDUCT_OK;
}

} // namespace
