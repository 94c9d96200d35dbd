/* What reductions of many results other than exact sums of floats share: elements by their bits, so that one kernel serves all
 * types of a size; where pieces of a result meet; and delivery.
 *
 * A piece leaves a part in a slot of its result's table. A warp that has the last one of a result reads all slots. Parts are
 * merged in no particular order, so that merging must not depend on it. A part has
 *
 *   WORDS           what it takes in a slot
 *   none()          the part of no elements
 *   merge(other, many)
 *   from_lane(by)   that of the lane at this distance
 *   ADDS            whether words of parts can be added by themselves, in whatever order: never, always, or where adds(many) says so
 *
 * Parts that are added share one slot, and the last one need not read them all. They have
 *
 *   add_to(words, many)  to those of the slot, which are zero when nothing has been added
 *   sum_of(words, many)
 *
 * and others
 *
 *   put, get        to and from words */
#pragma once

#include "delivery.cuh"
#include "many.cuh"

template <int BYTES> struct BitsOf;
template <> struct BitsOf<1> { typedef uint8_t Bits; };
template <> struct BitsOf<2> { typedef uint16_t Bits; };
template <> struct BitsOf<4> { typedef unsigned Bits; };
template <> struct BitsOf<8> { typedef u64 Bits; };

/* In memory. */
template <int BYTES> struct Raw {
    typedef typename BitsOf<BYTES>::Bits Bits;
    Bits bits;

    Raw() = default;
    __device__ __forceinline__ constexpr Raw(Word<BYTES> value) : bits((Bits)value) {
    }
};

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

enum PartsAdd { NEVER, SOMETIMES, ALWAYS };

/* A state's memory in common, of those that need none. */
struct NoneShared {};

/* And of those whose pieces a block joins: parts have constructors, which shared memory must not. */
template <class Part> struct JoinedParts {
    static_assert(std::is_trivially_copyable<Part>::value && alignof(Part) <= 16, "bytes hold a part");
    alignas(16) unsigned char part[WARPS][32][sizeof(Part)];
    unsigned complete; /* a bit for each result that is */

    __device__ __forceinline__ Part &of(int warp, int lane) {
        return *reinterpret_cast<Part *>(part[warp][lane]);
    }
};

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

template <class Part> __device__ __forceinline__ bool adds_in_words(const rd_cuda_many &many) {
    if constexpr (Part::ADDS == SOMETIMES)
        return Part::adds(many);
    else
        return Part::ADDS == ALWAYS;
}

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

/* Leaves a lane's part in a slot of its own. Returns whether it was the last. */
template <class Part> __device__ __forceinline__ bool leave_in_slot(const Part &part, const Meeting &meeting) {
    u64 *own = meeting.words;
    const u64 slot = atomicAdd(own + RD_CUDA_SLOTS_TAKEN, (u64)1);
    part.put(own + RD_CUDA_SLOTS_EXTRA + slot * Part::WORDS);
    __threadfence();
    const bool last = atomicAdd(own + RD_CUDA_SLOTS_FILLED, (u64)1) + 1 == meeting.pieces;
    __threadfence();
    return last;
}

/* The part of all, which all lanes then have; the table is zero again. By all lanes, for a result whose last part was left. */
template <class Part> __device__ __forceinline__ Part take_slots(const rd_cuda_many &many, const Meeting &meeting) {
    Part all = Part::none();
    for (u64 slot = lane_index(); slot < meeting.pieces; slot += 32)
        all.merge(Part::get(meeting.words + RD_CUDA_SLOTS_EXTRA + slot * Part::WORDS), many);
    __syncwarp();
    for (u64 w = lane_index(); w < RD_CUDA_SLOTS_EXTRA + meeting.pieces * Part::WORDS; w += 32)
        meeting.words[w] = 0;
    merge_lanes(many, all, 1, 32);
    return all;
}

/* Leaves a lane's part of a result, if it has one. Whether this was the last: then the part is that of all, and the table zero
 * again. By all lanes. */
template <class Part>
__device__ __noinline__ Met<Part> meet_in_slots(const rd_cuda_many &many, Part part, u64 result, Meeting meeting) {
    if constexpr (Part::ADDS != NEVER)
        if (adds_in_words<Part>(many))
            return meet_in_words(many, part, result, meeting);
    bool last = false;
    if constexpr (Part::ADDS != ALWAYS) {
        last = result < many.results && leave_in_slot(part, meeting);
        for (unsigned left = __ballot_sync(ALL, last); left; left &= left - 1) {
            const int lane = __ffs((int)left) - 1;
            u64 *words = reinterpret_cast<u64 *>(__shfl_sync(ALL, reinterpret_cast<u64>(meeting.words), lane));
            const Part all = take_slots<Part>(many, {words, meeting.pieces});
            if (lane_index() == lane)
                part = all;
        }
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

/* Adds up what a block's warps have of each result, and delivers those that are complete, or leaves parts in slots: returns a bit for
 * each lane whose result's slots are then still to be taken. By one warp. */
template <class State>
__device__ __forceinline__ unsigned join_parts(const rd_cuda_many &many, JoinedParts<typename State::Kept> &shared,
                                               u64 result) {
    typedef typename State::Kept Part;
    const int lane = lane_index();
    const bool mine = result < many.results;
    const Meeting meeting = meeting_of(many, mine ? result : 0);
    Part all = shared.of(0, lane);
    if (mine)
#pragma unroll
        for (int w = 1; w < WARPS; w++)
            all.merge(shared.of(w, lane), many);
    bool complete = mine;
    if (meeting.pieces > 1) {
        if constexpr (Part::ADDS != ALWAYS)
            if (!adds_in_words<Part>(many))
                return __ballot_sync(ALL, mine && leave_in_slot(all, meeting));
        if constexpr (Part::ADDS != NEVER) {
            const Met<Part> met = meet_in_words(many, all, result, meeting);
            all = met.part;
            complete = met.last;
        }
    }
    if (complete)
        State::finish(many, all, result);
    return 0;
}

/* The same as finish_in_slots() where a block's warps join pieces. By all threads: a result's lane is the same in all warps. */
template <class State>
__device__ __noinline__ void finish_joined_in_slots(const rd_cuda_many &many, JoinedParts<typename State::Kept> &shared,
                                                    const typename State::Kept &kept, u64 result) {
    typedef typename State::Kept Part;
    if (result < many.results)
        shared.of(warp_index(), lane_index()) = kept;
    __syncthreads();
    if (warp_index() == 0) {
        const unsigned complete = join_parts<State>(many, shared, result);
        if (lane_index() == 0)
            shared.complete = complete;
    }
    __syncthreads();
    if constexpr (Part::ADDS != ALWAYS) { /* warps take slots in turn */
        unsigned left = shared.complete;
        for (int turn = 0; left; left &= left - 1, turn = (turn + 1) % WARPS)
            if (turn == warp_index()) {
                const u64 own = __shfl_sync(ALL, result, __ffs((int)left) - 1);
                const Part all = take_slots<Part>(many, meeting_of(many, own));
                if (lane_index() == 0)
                    State::finish(many, all, own);
            }
    }
    __syncthreads(); /* before the next task */
}

/* The end of a state whose pieces a block may join. */
template <class State>
__device__ __forceinline__ void finish_part(const rd_cuda_many &many, JoinedParts<typename State::Kept> &shared,
                                            const typename State::Kept &kept, u64 result) {
    if (many.joined)
        finish_joined_in_slots<State>(many, shared, kept, result);
    else
        finish_in_slots<State>(many, kept, result);
}

/* By lanes that have a result. Of a failure the bits are those of NaN, or zero. One word: of results of at most 8 bytes. */
__device__ __forceinline__ void put_word(const Answer &answer, const Elements &source, u64 result, unsigned status,
                                         u64 word, u64 nan_index) {
    const rd_cuda_call &call = answer.call;
    const struct rd_type type = result_type(call);
    if (status != REDUCT_OK)
        word = call.result_class == RD_FLOAT ? rd_nan_bits(&type) : 0;
    store_word(static_cast<unsigned char *>(call.result) + source.result * call.result_bytes, word, call.result_bytes);
    tell(answer, result, status, nan_index);
}
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
