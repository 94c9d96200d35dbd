/* Many results of one launch: rows, columns, any axes, segments. What a warp does is here; what becomes of elements is a state's:
 *
 *   Stored, Element    what an element is in memory, and what it is taken as
 *   Shared             what a block shares
 *   MASKED             launches have a mask, and take a struct rd_cuda_masked
 *   take(x, y, tile)   a tile enters: COUNT elements of each lane, and where they are (TileAt)
 *   take_alone(x, from, to, mine, kept)  the same as reset(), take() and merge() for a round of one tile, in less time; false if that cannot be
 *   merge(from, to, mine, kept)  adds up lanes that are from, 2 * from, ... to / 2 apart, and keeps the sum in the one lane that will
 *                      finish it
 *   reset()            holds nothing again
 *   leave_out(n)       so many elements of a lane were masked out, and came as padding; of states that are MASKED
 *   finish_all(...)    by all lanes, each with what it has kept
 *
 * Every lane of a warp has the same number of tiles, and calls all of these together with the others. */
#pragma once

#include "block.cuh"
#include "divide.cuh"
#include "elements.cuh"
#include "many.h"

namespace {

/* As what elements are added. */
__device__ __forceinline__ float as_element(float x) {
    return x;
}
__device__ __forceinline__ double as_element(double x) {
    return x;
}
template <int PLACES> __device__ __forceinline__ float as_element(Half<PLACES> x) {
    return (float)x;
}

template <class T, int N> __device__ __forceinline__ void copy_elements(const T (&from)[N], T (&to)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i] = from[i];
}

__device__ __forceinline__ u64 warp_max_words(u64 value) {
#pragma unroll
    for (int offset = 16; offset; offset /= 2)
        value = max(value, (u64)__shfl_xor_sync(ALL, value, offset));
    return value;
}

/* Of launches that have a mask. */
__device__ __forceinline__ const rd_cuda_masked &masked_of(const rd_cuda_many &many) {
    return reinterpret_cast<const rd_cuda_masked &>(many);
}

/* Whether the data chose another way than this launch's (many.h). By all threads, after they have waited. */
__device__ __forceinline__ bool is_passed_over(const rd_cuda_many &many) {
    return many.chosen && __ldcg(reinterpret_cast<const u64 *>(many.chosen)) != many.way;
}

/* What an entry of the mask says. */
__device__ __forceinline__ bool counts(const rd_cuda_masked &masked, i64 entry) {
    return masked.bits ? masked.mask[entry >> 3] >> (entry & 7) & 1 : masked.mask[entry] != 0;
}

/* Elements of a lane that were masked out, of parts that must know how many: nothing at all where there is no mask. */
template <bool MASKED> struct LeftOut {
    static constexpr int OWN_WORDS = 0;
    __device__ __forceinline__ void leave_out(unsigned) {
    }
    __device__ __forceinline__ u64 left_out() const {
        return 0;
    }
    __device__ __forceinline__ void merge_left_out(const LeftOut &) {
    }
    __device__ __forceinline__ void left_out_from_lane(const LeftOut &, int) {
    }
    __device__ __forceinline__ void get_left_out(const u64 *) {
    }
};
template <> struct LeftOut<true> {
    static constexpr int OWN_WORDS = 1;
    u64 elements = 0;
    __device__ __forceinline__ void leave_out(u64 more) {
        elements += more;
    }
    __device__ __forceinline__ u64 left_out() const {
        return elements;
    }
    __device__ __forceinline__ void merge_left_out(const LeftOut &other) {
        elements += other.elements;
    }
    __device__ __forceinline__ void left_out_from_lane(const LeftOut &own, int by) {
        elements = __shfl_xor_sync(ALL, own.elements, by);
    }
    __device__ __forceinline__ void get_left_out(const u64 *word) {
        elements = __ldcg(word);
    }
};

/* Which part of which result is a lane's. */
struct Lane {
    unsigned lanes, slots; /* of a result; results at a time */
    unsigned slot, place;  /* which of them, and which of its lanes */
    int from, to;          /* distances of the lanes of a result */

    __device__ __forceinline__ explicit Lane(const rd_cuda_many &many) {
        const unsigned lane = lane_index();
        lanes = many.lanes;
        slots = 32 / lanes;
        slot = many.across ? lane & (slots - 1) : lane / lanes;
        place = many.across ? lane / slots : lane & (lanes - 1);
        from = many.across ? (int)slots : 1;
        to = from * (int)lanes;
    }
};

/* Where a lane's elements are, counted from a tile's first: number `first`; so far apart are those of a vector's room; and so far
 * the first ones of two such. */
struct Places {
    unsigned first, within, above;

    template <int PER_VECTOR> __device__ __forceinline__ u64 of(int i) const {
        return first + (unsigned)(i / PER_VECTOR) * above + (unsigned)(i % PER_VECTOR) * within;
    }
};
template <int PER_VECTOR> __device__ __forceinline__ Places places_of(const rd_cuda_many &many, const Lane &lane) {
    const unsigned above = PER_VECTOR * lane.lanes;
    return many.vectors ? Places{lane.place * PER_VECTOR, 1, above} : Places{lane.place, lane.lanes, above};
}

/* Where a tile's first element is among its result's; and bit i: element i of the lane's is not there, or masked out, and came as
 * padding. States that need no bits take the first alone. */
struct TileAt {
    u64 first;
    unsigned missing;

    __device__ __forceinline__ operator u64() const {
        return first;
    }
};

/* A value of which the compiler does not know where it comes from: it would keep multiples of it in registers, for loops to come. */
__device__ __forceinline__ i64 hidden(i64 value) {
    i64 same;
    asm volatile("mov.b64 %0, %1;" : "=l"(same) : "l"(value));
    return same;
}

/* A result's elements: where the first lies, how many there are, and where the result goes. */
struct Elements {
    i64 at[2];
    u64 count;
    i64 result;
    bool none; /* a segment that is none */
};

__device__ __forceinline__ u64 bound_of(const rd_cuda_many &many, const void *bounds, u64 at) {
    if (many.index_bytes == 8)
        return static_cast<const u64 *>(bounds)[at];
    const unsigned bound = static_cast<const unsigned *>(bounds)[at];
    return many.index_signed ? (u64)(i64)(int)bound : bound;
}

__device__ __forceinline__ Elements source_of(const rd_cuda_many &many, u64 result) {
    Elements source = {{0, 0}, many.call.count, (i64)result, false};
    if (many.begins) {
        const u64 begin = bound_of(many, many.begins, result),
                  end = many.ends ? bound_of(many, many.ends, result) : bound_of(many, many.begins, result + 1);
        source.none = begin > end || end > many.limit;
        /* Bounds that are no bounds make no address, not even one that nobody reads from. */
        source.at[0] = source.at[1] = source.none ? 0 : (i64)begin;
        source.count = source.none ? 0 : end - begin;
        return source;
    }
    source.result = 0;
#pragma unroll 1
    for (int k = many.kept_axes - 1; k >= 0; k--) {
        const rd_cuda_axis &axis = many.axis[k];
        const u64 above = k ? divide(result, axis.length) : 0;
        const i64 place = (i64)(result - above * axis.length);
        source.at[0] += place * axis.stride[0];
        source.at[1] += place * axis.stride[1];
        source.result += place * axis.result_stride;
        result = above;
    }
    return source;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Long segments (many.h)
 * ------------------------------------------------------------------------------------------------------------------ */

/* Where pieces of a result meet, and how many there are: those that a block has joined are one. */
struct Meeting {
    u64 *words;
    u64 pieces;
};

/* What a warp keeps of its task, in shared memory, where it costs no registers. */
struct OfTask {
    Meeting meeting;
    u64 tasks, longs, pieces; /* of a launch that takes what was put off; `longs` may be of runs */
    bool any, all;            /* something was; tasks are all segments, since offsets do not ascend */
    unsigned put_off;         /* lanes whose results are */
};
__device__ __forceinline__ OfTask &of_task() {
    __shared__ OfTask of_warp[WARPS];
    return of_warp[warp_index()];
}

__device__ __forceinline__ Meeting meeting_of(const rd_cuda_many &many, u64 result) {
    if (many.cutting == RD_CUDA_CUTS_TAKE)
        return of_task().meeting;
    return {reinterpret_cast<u64 *>(many.table) + result * many.table_words,
            many.joined ? many.pieces / WARPS : many.pieces};
}

/* How many were put off before a segment that is cut, and their pieces, in a word. */
struct LongOnes {
    u64 number, pieces;

    __device__ __forceinline__ explicit LongOnes(u64 word)
        : number(word >> RD_CUDA_CUT_SHIFT), pieces(word & (((u64)1 << RD_CUDA_CUT_SHIFT) - 1)) {
    }
};

/* Enters a segment in a list. False if there is no room. By one lane. (As a function that is called it takes no registers where no
 * segment is long.) */
__device__ __noinline__ bool enter(const rd_cuda_many &many, u64 result, u64 count) {
    u64 *words = reinterpret_cast<u64 *>(many.table), *list = reinterpret_cast<u64 *>(many.lists);
    const u64 pieces = count >> many.piece_log2, whole_most = RD_CUDA_CUT_WHOLE(many.limit, many.cut_log2);
    /* Words are looked at first, so that they are not much beyond what there is room for, whatever comes. */
    if (pieces < 2) {
        u64 *taken = words + RD_CUDA_CUT_TAKEN_WHOLE;
        const u64 at = __ldcg(taken) < whole_most ? atomicAdd(taken, (u64)1) : whole_most;
        if (at < whole_most)
            list[at] = result;
        return at < whole_most;
    }
    const u64 long_most = RD_CUDA_CUT_LONG(many.limit, many.piece_log2),
              pieces_most = RD_CUDA_CUT_PIECES(many.limit, many.piece_log2);
    const LongOnes seen(__ldcg(words + RD_CUDA_CUT_TAKEN));
    if (seen.number > long_most || seen.pieces > pieces_most)
        return false;
    const u64 word = atomicAdd(words + RD_CUDA_CUT_TAKEN, (u64)1 << RD_CUDA_CUT_SHIFT | pieces);
    const LongOnes before(word);
    if (before.number < long_most && before.pieces + pieces <= pieces_most) {
        list += whole_most + before.number * RD_CUDA_CUT_LONG_WORDS;
        list[0] = result;
        list[1] = before.pieces;
        return true;
    }
    if (before.number <= long_most && before.pieces <= pieces_most) /* the first, after which there is none */
        words[RD_CUDA_CUT_FULL] = ~word;
    return false;
}

/* What was put off: tasks are pieces, then segments that are not cut; or those of runs. By each warp. */
__device__ __noinline__ void count_put_off(const rd_cuda_many &many) {
    const u64 *words = reinterpret_cast<const u64 *>(many.table);
    const u64 full = __ldcg(words + RD_CUDA_CUT_FULL), whole = __ldcg(words + RD_CUDA_CUT_TAKEN_WHOLE);
    const bool of_runs = many.cutting == RD_CUDA_CUTS_RUNS, unordered = __ldcg(words + RD_CUDA_CUT_UNORDERED) != 0;
    const LongOnes all(of_runs ? __ldcg(words + RD_CUDA_CUT_RUNS) : full ? ~full : __ldcg(words + RD_CUDA_CUT_TAKEN));
    if (lane_index() == 0) {
        OfTask &own = of_task();
        own.longs = all.number;
        own.pieces = all.pieces;
        own.any = all.number || whole || unordered || __ldcg(words + RD_CUDA_CUT_RUNS) != 0;
        own.all = unordered;
        own.tasks = of_runs     ? unordered ? 0 : all.pieces
                    : unordered ? many.results
                                : all.pieces + min(whole, (u64)RD_CUDA_CUT_WHOLE(many.limit, many.cut_log2));
    }
    __syncwarp();
}

/* Of a list's entries, which have their firsts in ascending order, the last that does not begin after `wanted`; each lane looks at a
 * part of those that are left. */
template <int WORDS> __device__ __forceinline__ const u64 *find_entry(const u64 *list, u64 entries, u64 wanted) {
    u64 low = 0;
#pragma unroll 1
    for (u64 left = entries; left > 1;) {
        const u64 step = (left + 31) / 32, at = lane_index() * step;
        const bool before = at < left && __ldcg(list + (low + at) * WORDS + 1) <= wanted;
        const u64 skipped = (u64)(__popc(__ballot_sync(ALL, before)) - 1) * step;
        low += skipped;
        left = min(step, left - skipped);
    }
    return list + low * WORDS;
}

/* Which one a task is: the segment, or the first of several, and where its piece begins. By all lanes. */
struct Piece {
    u64 result, begin, end; /* `end`: the first segment that is not the task's */
};
__device__ __noinline__ Piece find_piece(const rd_cuda_many &many, u64 task, u64 at_a_time) {
    OfTask &own = of_task();
    const u64 *list = reinterpret_cast<const u64 *>(many.lists),
              *longs = list + RD_CUDA_CUT_WHOLE(many.limit, many.cut_log2), pieces = own.pieces;
    const bool all = own.all;
    __syncwarp();
    if (many.cutting == RD_CUDA_CUTS_RUNS) {
        list += RD_CUDA_CUT_RUNS_AT(many.limit, many.cut_log2, many.piece_log2);
        const u64 *run = find_entry<RD_CUDA_CUT_RUN_WORDS>(list, own.longs, task);
        return {__ldcg(run) + (task - __ldcg(run + 1)) * at_a_time, 0, __ldcg(run + 2)};
    }
    if (all || task >= pieces) {
        if (lane_index() == 0)
            own.meeting = {nullptr, 1};
        __syncwarp();
        return {all ? task : __ldcg(list + (task - pieces)), 0, many.results};
    }
    const u64 *one = find_entry<RD_CUDA_CUT_LONG_WORDS>(longs, own.longs, task), result = __ldcg(one),
              first = __ldcg(one + 1), number = (u64)(one - longs) / RD_CUDA_CUT_LONG_WORDS,
              next = number + 1 < own.longs ? __ldcg(one + RD_CUDA_CUT_LONG_WORDS + 1) : pieces;
    if (lane_index() == 0)
        own.meeting = {reinterpret_cast<u64 *>(many.table) + RD_CUDA_CUT_EXTRA + number * many.table_words +
                           first * many.piece_words,
                       next - first};
    __syncwarp();
    return {result, (task - first) << many.piece_log2, many.results};
}

/* The last block of a launch that has taken what was put off leaves the words zero. By all threads. */
__device__ __noinline__ void end_put_off(const rd_cuda_many &many) {
    u64 *words = reinterpret_cast<u64 *>(many.table);
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(words + RD_CUDA_CUT_ENDED, (u64)1) + 1 != gridDim.x)
        return;
    for (int w = 0; w < RD_CUDA_CUT_EXTRA; w++)
        words[w] = 0;
    if (of_task().all) /* pieces may have been left that nobody came for */
        for (u64 w = 0; w < RD_CUDA_CUT_SPANS(many.limit, many.span_log2) * many.table_words; w++)
            words[RD_CUDA_CUT_SPANS_AT(many.limit, many.piece_log2, many.table_words, many.piece_words) + w] = 0;
}

/* The mask's entry for a result's first element. */
__device__ __forceinline__ i64 entry_of(const rd_cuda_many &many, const Elements &source, u64 result) {
    const rd_cuda_masked &masked = masked_of(many);
    i64 entry = masked.first + (many.begins ? source.at[0] : 0);
#pragma unroll 1
    for (int k = many.kept_axes - 1; k >= 0; k--) {
        const u64 above = k ? divide(result, many.axis[k].length) : 0;
        entry += (i64)(result - above * many.axis[k].length) * masked.stride[k];
        result = above;
    }
    return entry;
}

/* By which rules, and where to, a launch rounds its results: most launches have one such answer. */
struct Answer {
    const rd_cuda_call &call;
    uint64_t *failure;

    __device__ __forceinline__ Answer(const rd_cuda_many &many) : call(many.call), failure(many.failure) {
    }
    __device__ __forceinline__ Answer(const rd_cuda_answer &one) : call(one.call), failure(one.failure) {
    }
};

/* What became of a result; the index is that of a NaN. By one lane. */
__device__ __forceinline__ void tell(const Answer &answer, u64 result, unsigned status, u64 nan_index) {
    if (answer.call.outcome) {
        rd_cuda_outcome &outcome = answer.call.outcome[result];
        outcome.status = status;
        outcome.reserved = 0;
        outcome.index = status == REDUCT_ERROR_NAN ? nan_index : UINT64_MAX;
    }
    if (status != REDUCT_OK && answer.failure)
        atomicMin(reinterpret_cast<u64 *>(answer.failure),
                  (u64)(result << 8 | status | (status == REDUCT_ERROR_ARGUMENT ? 0 : RD_CUDA_FAILURE_LATER)));
}

/* The tiles of a warp's task, one after another: those of all results of a round, then those of the next round. */
template <class State> struct Walk {
    typedef typename State::Stored Stored;
    typedef typename State::Element Element;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(sizeof(Stored)), PER_VECTOR = 16 / sizeof(Stored);
    static constexpr bool MASKED = State::MASKED;
    static_assert(COUNT <= 32, "a word has a bit for each element of a lane's tile");
    const rd_cuda_many &many;
    const Lane lane;
    u64 first_result, begin; /* of the task: its first result; the first element of its piece */
    u64 end_of_results;      /* which no result of the task is beyond */
    unsigned round;          /* UINT_MAX before the first */
    u64 at, run_end,
        stop;    /* the tile's first element; where elements no longer follow it evenly, and where the round ends: the
                               * same for all lanes */
    u64 end;     /* where this lane's elements end */
    bool alone;  /* the tile is all there is of the round */
    bool simple; /* results are evenly apart, and the elements of each */
    i64 base[2], first[2];       /* where the result's first element lies, and the tile's */
    i64 base_entry, first_entry; /* and those of the mask; not used without one */

    __device__ __forceinline__ explicit Walk(const rd_cuda_many &m) : many(m), lane(m) {
    }

    __device__ __forceinline__ void start(u64 task, u64 rounds, u64 at_a_time) {
        if (many.cutting >= RD_CUDA_CUTS_RUNS) {
            const Piece found = find_piece(many, task, at_a_time);
            first_result = found.result;
            begin = found.begin;
            end_of_results = found.end;
        } else {
            const unsigned pieces = many.joined ? WARPS : 1; /* that follow each other in tasks that do */
            const u64 together = many.pieces > 1 ? task / pieces / rounds : 0, within = task % pieces;
            first_result = (task / pieces - together * rounds) * at_a_time;
            begin = (together * pieces + within) * many.piece;
            end_of_results = many.results;
        }
        round = UINT32_MAX;
        at = run_end = stop = end = 0;
        base[0] = base[1] = first[0] = first[1] = 0;
        base_entry = first_entry = 0;
        alone = false;
        simple = !many.begins && many.kept_axes == 1 && many.reduced_axes < 2 && !many.cutting;
        if (!simple)
            return;
        const u64 count = many.call.count;
        at = run_end = stop = many.pieces > 1 ? min(count, begin + many.piece) : count;
        const i64 result = (i64)result_of(0);
        base[0] = result * many.axis[0].stride[0] + (i64)begin * many.step[0];
        if (State::PAIRS)
            base[1] = result * many.axis[0].stride[1] + (i64)begin * many.step[1];
        if constexpr (MASKED)
            base_entry = masked_of(many).first + result * masked_of(many).stride[0] + (i64)begin * masked_of(many).step;
    }
    __device__ __forceinline__ u64 result_of(unsigned which) const {
        return first_result + which * lane.slots + lane.slot;
    }

    /* To element `at` along axes of which there are several. */
    __device__ __forceinline__ void locate() {
        const rd_cuda_axis *axes = &many.axis[many.kept_axes];
        const u64 length = axes[many.reduced_axes - 1].length;
        u64 run = divide(at, length);
        const u64 within = at - run * length;
        run_end = min(at + (length - within), stop);
        first[0] = base[0] + (i64)within * many.step[0];
        first[1] = base[1] + (i64)within * many.step[1];
        if constexpr (MASKED)
            first_entry = base_entry + (i64)within * masked_of(many).step;
#pragma unroll 1
        for (int k = (int)many.reduced_axes - 2; k >= 0; k--) {
            const u64 above = divide(run, axes[k].length);
            const i64 place = (i64)(run - above * axes[k].length);
            first[0] += place * axes[k].stride[0];
            first[1] += place * axes[k].stride[1];
            if constexpr (MASKED)
                first_entry += place * masked_of(many).stride[many.kept_axes + k];
            run = above;
        }
    }

    /* The usual round: results evenly apart, of which each is one run of elements. */
    __device__ __forceinline__ void begin_simply(unsigned tile) {
        const rd_cuda_axis &axis = many.axis[0];
        end = result_of(round) < many.results ? stop : 0;
        at = begin;
        const i64 offset = (i64)round * lane.slots;
        first[0] = base[0] + offset * axis.stride[0];
        if (State::PAIRS)
            first[1] = base[1] + offset * axis.stride[1];
        if constexpr (MASKED)
            first_entry = base_entry + offset * masked_of(many).stride[0];
        alone = stop <= tile && many.pieces == 1;
    }

    /* Where the elements end that are reduced of a segment: none are, if it is put off. */
    __device__ __forceinline__ u64 last_of_segment(u64 count, u64 result, bool there) {
        if (many.cutting == RD_CUDA_CUTS_TAKE)
            return of_task().meeting.pieces == 1 || count - begin < 2 * many.piece ? count : begin + many.piece;
        const bool is_long = there && many.cutting && count > (u64)1 << many.cut_log2;
        return __any_sync(ALL, is_long) && put_off(count, result, is_long) ? 0 : count;
    }

    /* By all lanes, of which those of some results are long. */
    __device__ __forceinline__ bool put_off(u64 count, u64 result, bool is_long) {
        /* Segments that spans cut are taken by these. */
        const bool cut =
            many.cutting == RD_CUDA_CUTS_RUNS && count > RD_CUDA_SPAN_LONGEST(many.span_log2, many.cut_log2);
        bool entered = is_long && (cut || (lane.place == 0 && enter(many, result, count)));
        entered =
            __shfl_sync(ALL, entered, lane_index() & ~(int)(lane.lanes - 1)); /* lanes of a segment lie side by side */
        const unsigned lanes = __ballot_sync(ALL, entered && lane.place == round);
        if (lane_index() == 0)
            of_task().put_off |= lanes;
        return entered;
    }

    /* To the next tile. False if there is none. */
    __device__ __forceinline__ bool advance() {
        const unsigned tile = COUNT * lane.lanes;
        at += tile;
        if (at < run_end) {
            alone = false;
            first[0] += (i64)tile * many.step[0];
            if (State::PAIRS)
                first[1] += (i64)tile * many.step[1];
            if constexpr (MASKED)
                first_entry += (i64)tile * masked_of(many).step;
            return true;
        }
        at = run_end;
        if (at >= stop) {
            if (++round >= many.batch)
                return false;
            if (simple) {
                begin_simply(tile);
                return true;
            }
            const u64 result = result_of(round);
            const bool there = result < end_of_results;
            const Elements source = source_of(many, there ? result : 0);
            u64 last = many.pieces > 1 ? min(source.count, begin + many.piece) : source.count;
            const bool of_segments = many.begins || many.cutting;
            if (of_segments)
                last = last_of_segment(there ? source.count : 0, result, there);
            stop = of_segments ? warp_max_words(last) : last;
            end = there ? last : 0;
            base[0] = source.at[0];
            base[1] = source.at[1];
            if constexpr (MASKED)
                base_entry = entry_of(many, source, there ? result : 0);
            at = begin;
            run_end = stop;
            if (many.reduced_axes < 2) {
                first[0] = base[0] + (i64)at * many.step[0];
                first[1] = base[1] + (i64)at * many.step[1];
                if constexpr (MASKED)
                    first_entry = base_entry + (i64)at * masked_of(many).step;
            }
        }
        if (many.reduced_axes > 1 && at < stop)
            locate();
        alone = at == 0 && stop <= tile && run_end == stop && many.pieces == 1;
        return true;
    }

    /* A whole tile, aligned. */
    __device__ __forceinline__ void load_vectors(const Stored *from, Stored (&x)[COUNT]) const {
        const uint4 *vectors = reinterpret_cast<const uint4 *>(from) + lane.place;
        Vector<Stored> vector[COUNT / PER_VECTOR];
#pragma unroll
        for (int v = 0; v < COUNT / PER_VECTOR; v++)
            vector[v].bits = __ldcs(vectors + v * lane.lanes);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            x[i] = vector[i / PER_VECTOR].element[i % PER_VECTOR];
    }

    /* Any other: `left` elements are there. */
    __device__ __forceinline__ void load_elements(const Stored *from, i64 stride, unsigned left, Element padding,
                                                  Stored (&x)[COUNT]) const {
        const Places places = places_of<PER_VECTOR>(many, lane);
        const i64 within = hidden((i64)places.within * stride), above = hidden((i64)places.above * stride);
        unsigned place = places.first;
        const Stored *of_vector = from + (i64)place * stride;
#pragma unroll
        for (int v = 0; v < COUNT / PER_VECTOR; v++) {
            const Stored *element = of_vector;
#pragma unroll
            for (int i = 0; i < PER_VECTOR; i++) {
                x[v * PER_VECTOR + i] = place + (unsigned)i * places.within < left ? __ldcs(element) : (Stored)padding;
                element += within;
            }
            of_vector += above;
            place += places.above;
        }
    }

    /* Elements of the tile that are there. */
    __device__ __forceinline__ unsigned left_of_tile() const {
        const u64 until = min(end, run_end);
        return at < until ? (unsigned)min(until - at, (u64)(COUNT * lane.lanes)) : 0;
    }

    /* Bit i: element i of the lane's is beyond the end. */
    __device__ __forceinline__ unsigned read_missing() const {
        const unsigned left = left_of_tile();
        unsigned missing = 0;
        if (left == COUNT * lane.lanes)
            return missing;
        const Places places = places_of<PER_VECTOR>(many, lane);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            missing |= places.of<PER_VECTOR>(i) < left ? 0 : 1u << i;
        return missing;
    }

    /* Bit i: element i of the lane's is masked out. */
    __device__ __forceinline__ unsigned read_mask() const {
        const rd_cuda_masked &masked = masked_of(many);
        const unsigned left = left_of_tile();
        const Places places = places_of<PER_VECTOR>(many, lane);
        unsigned out = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const u64 place = places.of<PER_VECTOR>(i);
            if (place < left && !counts(masked, first_entry + (i64)place * masked.step))
                out |= 1u << i;
        }
        return out;
    }

    /* Segments may begin anywhere; all else does where vectors do, if they may be vectors. */
    __device__ __forceinline__ bool lies_aligned(const Stored *from, const Stored *other) const {
        return !many.begins || ((reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(other)) & 15) == 0;
    }

    /* As they are in memory: whoever converted them would wait for them. */
    template <int N> __device__ __forceinline__ void load(Stored (&x)[COUNT], Stored (&y)[N]) const {
        const unsigned tile = COUNT * lane.lanes, left = left_of_tile();
        const Stored *from = static_cast<const Stored *>(many.call.x) + first[0],
                     *other = State::PAIRS ? static_cast<const Stored *>(many.call.y) + first[1] : from;
        if (many.vectors && __all_sync(ALL, left == tile && lies_aligned(from, other))) {
            load_vectors(from, x);
            if constexpr (State::PAIRS)
                load_vectors(other, y);
        } else {
            load_elements(from, many.step[0], left, State::padding(), x);
            if constexpr (State::PAIRS)
                load_elements(other, many.step[1], left, State::other_padding(), y);
        }
    }
};

/* Elements that are masked out come to nothing; of a mask as read_mask() has it. */
template <class State, int COUNT, int OTHERS>
__device__ __forceinline__ void mask_out(State &state, unsigned out, typename State::Element (&x)[COUNT],
                                         typename State::Element (&y)[OTHERS]) {
    state.leave_out(__popc(out));
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (out >> i & 1) {
            x[i] = State::padding();
            if constexpr (State::PAIRS)
                y[i] = State::other_padding();
        }
}

/* What tasks are, for all warps of a launch. */
struct Tasks {
    u64 at_a_time, rounds; /* results of a task; tasks of a piece */

    template <class State>
    __device__ __forceinline__ Tasks(const rd_cuda_many &many, const Walk<State> &walk)
        : at_a_time((u64)walk.lane.slots * many.batch), rounds((many.results + at_a_time - 1) / at_a_time) {
    }
};

/* Tasks of a launch that takes turns that were left open (many.h), of which each is several. */
struct OpenTasks {
    const rd_cuda_many &many;
    u64 turns;     /* that were listed, or ~0 if the list had no room */
    unsigned each; /* tasks of a turn */

    __device__ __forceinline__ explicit OpenTasks(const rd_cuda_many &m) : many(m), turns(~(u64)0), each(m.open_tasks) {
        if (!many.open)
            return;
        const u64 all = (many.tasks + each - 1) / each, taken = __ldcg(reinterpret_cast<u64 *>(many.open));
        if (taken <= RD_CUDA_OPEN_MOST(all))
            turns = taken;
    }
    __device__ __forceinline__ u64 count() const {
        return turns == ~(u64)0 ? many.tasks : turns * each;
    }
    /* There need not be such a task. */
    __device__ __forceinline__ u64 number(u64 task) const {
        return turns == ~(u64)0 ? task
                                : __ldcg(reinterpret_cast<const u64 *>(many.lists) + task / each) * each + task % each;
    }
    /* The last block leaves the words zero. By all threads. */
    __device__ __forceinline__ void end() const {
        u64 *words = reinterpret_cast<u64 *>(many.open);
        __syncthreads();
        if (threadIdx.x != 0 || atomicAdd(words + RD_CUDA_OPEN_ENDED, (u64)1) + 1 != gridDim.x)
            return;
        words[RD_CUDA_OPEN_TURNS] = words[RD_CUDA_OPEN_ENDED] = 0;
    }
};

/* A task, in the general way. */
template <class State>
__device__ __forceinline__ void reduce_task(const rd_cuda_many &many, typename State::Shared &shared, Walk<State> &walk,
                                            const Tasks &tasks, u64 task) {
    typedef typename State::Stored Stored;
    typedef typename State::Element Element;
    constexpr int COUNT = Walk<State>::COUNT, OTHERS = State::PAIRS ? COUNT : 1;
    typename State::Kept kept;
    State state(many, shared);
    Element x[COUNT], y[OTHERS] = {};
    unsigned out = 0, missing = 0;
    if (many.cutting && lane_index() == 0)
        of_task().put_off = 0;
    walk.start(task, tasks.rounds, tasks.at_a_time);
    /* While one tile enters, the next one is on its way. */
    for (bool more = true; more;) {
        const unsigned round = walk.round;
        const TileAt tile = {walk.at, missing | out};
        const bool alone = walk.alone;
        Stored next[COUNT], next_other[OTHERS] = {};
        unsigned next_out = 0, next_missing = 0;
        more = walk.advance();
        if (more) {
            walk.load(next, next_other);
            next_missing = walk.read_missing();
        }
        if constexpr (State::MASKED)
            if (more)
                next_out = walk.read_mask();
        if (round != UINT32_MAX) {
            const bool mine = walk.lane.place == round;
            if constexpr (State::MASKED)
                mask_out(state, out, x, y);
            if (State::MASKED || !alone || !state.take_alone(x, walk.lane.from, walk.lane.to, mine, kept)) {
                state.take(x, y, tile);
                if (walk.round != round) {
                    state.merge(walk.lane.from, walk.lane.to, mine, kept);
                    state.reset();
                }
            }
        }
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            x[i] = as_element(next[i]);
#pragma unroll
        for (int i = 0; i < OTHERS; i++)
            y[i] = as_element(next_other[i]);
        out = next_out;
        missing = next_missing;
    }
    u64 own = walk.lane.place < many.batch ? walk.result_of(walk.lane.place) : many.results;
    if (many.cutting) {
        __syncwarp();
        own = of_task().put_off >> lane_index() & 1 || own >= walk.end_of_results ? many.results : own;
        __syncwarp();
    }
    State::finish_all(many, shared, kept, own);
}

template <class State> __device__ __forceinline__ void reduce_many(const rd_cuda_many &many) {
    __shared__ typename State::Shared shared;
    State::open(shared);
    wait_for_previous();
    let_next_come();
    if (is_passed_over(many))
        return;
    Walk<State> walk(many);
    const Tasks tasks(many, walk);
    const bool takes = many.cutting >= RD_CUDA_CUTS_RUNS;
    if (takes)
        count_put_off(many);
    const OpenTasks open(many);
#pragma unroll 1
    for (u64 task = (u64)blockIdx.x * WARPS + warp_index(); task < (takes ? of_task().tasks : open.count());
         task += (u64)gridDim.x * WARPS) {
        const u64 number = open.number(task);
        if (number < many.tasks || takes)
            reduce_task(many, shared, walk, tasks, number);
    }
    if (many.open)
        open.end();
    if (many.cutting == RD_CUDA_CUTS_TAKE && of_task().any)
        end_put_off(many);
}

} // namespace

/* A kernel of a name for a state, which comes last, as its template arguments have commas between them. */
#define RD_CUDA_MANY_KERNEL(NAME, BLOCKS, ...)                                                                         \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, BLOCKS)                                              \
        NAME(const __grid_constant__ rd_cuda_many many) {                                                              \
        reduce_many<__VA_ARGS__>(many);                                                                                \
    }

/* The same for a state that is MASKED. */
#define RD_CUDA_MASKED_KERNEL(NAME, BLOCKS, ...)                                                                       \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, BLOCKS)                                              \
        NAME(const __grid_constant__ rd_cuda_masked masked) {                                                          \
        reduce_many<__VA_ARGS__>(masked.many);                                                                         \
    }
