/* Exact sums of segments that follow each other: see many_spans.cuh.
 *
 * Of each tile a warp adds up all elements from its beginning on: what comes before each two vectors waits in shared memory. As these
 * sums are exact, a segment's is the difference of two of them, that before its end and that before its beginning, and takes a lane
 * a few additions. Of a segment that began in an earlier tile the latter is what it has so far, with the other sign.
 *
 * A segment of more elements than a span has is cut: each span leaves its piece in a table, and who
 * comes last has the sum. So the segments of a span are its share of one that began before it, those that end, and the beginning of
 * one. Segments are put off where exponents lie too far apart, or something is not finite.
 *
 * Bounds. Sums are in two numbers, as those of rows (many_quick.cuh): the upper takes multiples of a unit, 2^u, the lower what is
 * left. A run has less than 2^L elements, so that with u >= top + L - 49 the upper numbers are less than 2^50 units and a rounding
 * each, and the lower ones at most 2^(L + u - 1), which is exact if L + u - 1 - bottom is at most 53, of the run's elements. Then so
 * are all sums of elements that follow each other, and what differences of sums come to. Of elements of 16 bits those of a vector are
 * added first, in f32, with bounds as in many_quick.cuh; f64 holds the sums of these. The unit is kept from tile to tile, and from
 * run to run; a tile that it does not suit is taken once more, with one for all of the run so far. */
#pragma once

#include "many_spans.cuh"

#if __CUDA_ARCH__ >= 900
namespace {

/* Exponents as keys have them (many_quick.cuh): where, and what is added to them. */
template <class Stored> struct Exponents { static constexpr int SHIFT = 23, ADDED = 127; };
template <> struct Exponents<double> { static constexpr int SHIFT = 20, ADDED = 1023; };
template <int PLACES> struct Exponents<Half<PLACES>> {
    static constexpr int SHIFT = PLACES, ADDED = Reading<Half<PLACES>>::HIGHEST - 1;
};

template <class State> struct SpanSums {
    typedef typename State::Stored Stored;
    typedef typename State::T T;
    typedef SpanRing<Stored> Ring;
    typedef Quick<State> Way;
    typedef typename Way::Keys Keys;
    typedef typename Way::Real Real;
    typedef typename Way::Inner Inner;
    typedef Parted Open; /* what comes before the segment, or, with the other sign, what has come of it in tiles before */
    static constexpr bool CUTS = true, TAKES_OPEN = false;
    static constexpr unsigned VECTORS = Ring::VECTORS, EACH = Ring::EACH, TILE = Ring::TILE, PAIRS = VECTORS / 2,
                              OF_PAIR = 2 * EACH;
    static constexpr int EACH_LOG = log2_of(EACH);

    /* Of a warp: what comes before each two vectors of a lane's, and before the next tile. */
    struct Room {
        Parted before[PAIRS * 32], all;
    };

    const rd_cuda_many &many;
    Room &room;
    Ring ring;
    const int log;             /* a run has less than 2^log elements */
    Keys run;                  /* of the run so far */
    Real begin;                /* of sums, for the unit */
    unsigned from_key, to_key; /* less one, and beyond: keys of elements other than zero that it suits; at first none */

    __device__ __forceinline__ SpanSums(const rd_cuda_many &m, Room &of_warp)
        : many(m), room(of_warp), ring(m), log(max(m.span_log2, m.cut_log2) + 1), begin(Way::start(0)), from_key(0),
          to_key(0) {
    }
    static __device__ __forceinline__ Stored padding() {
        return Stored(-0.0);
    }
    static __device__ __forceinline__ Open nothing() {
        return {0, 0};
    }
    __device__ __forceinline__ void reset() {
        run.reset();
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Tiles
     * -------------------------------------------------------------------------------------------------------------- */

    __device__ __forceinline__ bool take(Open &open) {
        bool suits = add_up();
        for (bool again = true; !suits && again && find_unit(open); again = false)
            suits = add_up();
        return suits;
    }
    /* Adds up a tile that has come. False if the unit does not suit it: then sums mean nothing. */
    __device__ __forceinline__ bool add_up() {
        const unsigned lane = lane_index();
        Keys keys;
        Parted before[PAIRS], all = {0, 0};
        keys.reset();
#pragma unroll
        for (unsigned v = 0; v < VECTORS; v++) {
            Vector<Stored> vector[1];
            T x[EACH];
            Inner sum = {begin, 0};
            ring.look(lane, v, vector);
            Way::unpack(vector, x);
            keys.note(vector, x);
            if (v % 2 == 0)
                before[v / 2] = all;
#pragma unroll
            for (unsigned i = 0; i < EACH; i++)
                Way::add(sum, Way::term(0, x[i], x[i]));
            all.upper += (double)(sum.upper - begin);
            all.lower += (double)sum.lower;
        }
        const Parted own = all;
#pragma unroll
        for (unsigned by = 1; by < 32; by *= 2) {
            const double upper = __shfl_up_sync(ALL, all.upper, by), lower = __shfl_up_sync(ALL, all.lower, by);
            if (lane >= by) {
                all.upper += upper;
                all.lower += lower;
            }
        }
        if (lane == 31)
            room.all = all;
        all = difference(all, own);
#pragma unroll
        for (unsigned p = 0; p < PAIRS; p++)
            room.before[p * 32 + lane] = {all.upper + before[p].upper, all.lower + before[p].lower};
        run.widen(keys);
        const bool suits = __all_sync(ALL, lies_within(keys));
        __syncwarp(); /* all see the room */
        return suits;
    }
    static __device__ __forceinline__ Parted difference(const Parted &a, const Parted &b) {
        return {a.upper - b.upper, a.lower - b.lower};
    }

    __device__ __forceinline__ bool lies_within(const Keys &keys) const {
        const unsigned most = Way::NARROW ? max(keys.most & 0xffff, keys.most >> 16) : keys.most,
                       least = Way::NARROW ? min(keys.least & 0xffff, keys.least >> 16) : keys.least;
        return most < to_key && least >= from_key;
    }

    /* Finds a unit for all that came of the run, with room for larger elements to come, and has what is open in it. False if there is
     * none. */
    __device__ __forceinline__ bool find_unit(Parted &open) {
        typedef Exponents<Stored> In;
        constexpr int PLACES = State::DIGITS - 1, SPARE = Units<Real>::DIGITS;
        const typename State::Range range = run.range();
        const Reach reach = Way::reach_of(0, range, range);
        const int terms = Way::NARROW ? EACH_LOG : log, least = Way::unit_for(reach.top, terms),
                  most = SPARE + 1 + reach.bottom - terms, unit = min(least + RD_CUDA_SPAN_ROOM, most);
        if (!range.finite() || unit < least || !Way::has_unit(unit))
            return false;
        /* The same, solved for exponents: of the largest element, and of the lowest bit of the smallest. */
        const int top = reach.top + (unit - least), bottom = unit - 1 + terms - SPARE;
        begin = Way::start(unit);
        to_key = (unsigned)min(top + 1 + In::ADDED, 2 * In::ADDED + 1) << In::SHIFT;
        from_key = bottom > 1 - In::ADDED - PLACES ? ((unsigned)(bottom + PLACES + In::ADDED) << In::SHIFT) - 1 : 0;
        const double start = Units<double>::start(unit), upper = (start + open.upper) - start,
                     more = (start + open.lower) - start;
        open = {upper + more, (open.upper - upper) + (open.lower - more)};
        return true;
    }

    /* The sum of so many elements of the tile. (Without branches, after which lanes might not meet again.) */
    __device__ __forceinline__ Parted sum_before(unsigned count) const {
        const unsigned pair = min(count / OF_PAIR, TILE / OF_PAIR - 1), left = count - pair * OF_PAIR,
                       lane = pair / PAIRS, first = pair % PAIRS;
        Parted sum = room.before[first * 32 + lane];
#pragma unroll
        for (unsigned k = 0; k < 2; k++) {
            Vector<Stored> vector[1];
            T x[EACH];
            Inner part = {begin, 0};
            ring.look(lane, first * 2 + k, vector);
            Way::unpack(vector, x);
#pragma unroll
            for (unsigned i = 0; i < EACH; i++)
                Way::add(part, k * EACH + i < left ? Way::term(0, x[i], x[i]) : Real(0));
            sum.upper += (double)(part.upper - begin);
            sum.lower += (double)part.lower;
        }
        return sum;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Segments
     * -------------------------------------------------------------------------------------------------------------- */

    __device__ __forceinline__ Open open_at(unsigned count) const {
        return sum_before(count);
    }
    __device__ __forceinline__ Parted reduce(const SpanPart &part, Open &open) const {
        const Parted own = sum_before(part.ends ? (unsigned)part.end : 0);
        const double upper = __shfl_up_sync(ALL, own.upper, 1), lower = __shfl_up_sync(ALL, own.lower, 1);
        const Parted sum = difference(own, part.first ? open : Parted{upper, lower});
        open = from_lane(own, (int)part.after - 1);
        return sum;
    }
    __device__ __forceinline__ void leave(Open &open) const {
        open = difference(open, room.all);
    }

    static __device__ __forceinline__ Parted from_lane(const Parted &sum, int lane) {
        return {__shfl_sync(ALL, sum.upper, lane), __shfl_sync(ALL, sum.lower, lane)};
    }

    /* Whether a segment whose sum is zero has -0 alone. */
    __device__ __noinline__ bool is_negative_zero(u64 from, u64 count) const {
        bool negative = !State::ABSOLUTE && count != 0;
        for (u64 i = 0; i < count && negative; i++)
            negative = State::differs(as_element(ring.x[from + i])) == 0;
        return negative;
    }

    /* Results that take more time, of lanes that have one. */
    static __device__ __noinline__ void deliver_slowly(const rd_cuda_many &many, Parted sum, bool mine, u64 result) {
        typename State::Merged merged;
        State::hold_all(&sum, nullptr, mine, merged);
        if (mine && !State::round(many, many, merged, source_of(many, result), result))
            Spans<SpanSums>::put_off(many, result, 1);
    }
    __device__ __forceinline__ void deliver(bool mine, const Parted &sum, u64 from, unsigned count, u64 result) const {
        u64 bits;
        bool quick = mine && count >= many.call.minimum;
        if (quick && sum.upper == -sum.lower)
            bits = (u64)is_negative_zero(from, count) << (8 * many.call.result_bytes - 1);
        else
            quick = quick && State::round_parted(many.call, &sum, count, bits);
        if (quick) {
            State::store(many.call, (i64)result, bits);
            tell(many, result, REDUCT_OK, 0);
            mine = false;
        }
        __syncwarp();
        if (__any_sync(ALL, mine))
            deliver_slowly(many, sum, mine, result);
    }

    /* Leaves the piece that a span has of a segment; whoever is last delivers it. By one lane. */
    static __device__ __noinline__ void leave_any(const rd_cuda_many &many, unsigned shift, Parted sum, unsigned flags,
                                                  u64 segment) {
        const u64 from = bound_of(many, many.begins, segment), to = bound_of(many, many.begins, segment + 1),
                  first = (from + shift) >> many.span_log2, last = (to + shift - 1) >> many.span_log2;
        typename State::Merged merged;
        State::hold_all(&sum, nullptr, true, merged);
        merged.notes.flags = (merged.notes.flags & ~(unsigned)State::OTHER_CAME) | flags;
        u64 *words = reinterpret_cast<u64 *>(many.table) +
                     RD_CUDA_CUT_SPANS_AT(many.limit, many.piece_log2, many.table_words, many.piece_words) +
                     first * many.table_words;
        const typename State::Met met = State::meet(merged, {words, last - first + 1}, 1);
        if (met.last && !State::round(many, many, met.kept, source_of(many, segment), segment))
            Spans<SpanSums>::put_off_long(many, segment, to - from);
    }
    __device__ __forceinline__ void leave_piece(const Parted &sum, u64 from, unsigned count, u64 segment) const {
        const bool nothing = sum.upper == -sum.lower && is_negative_zero(from, count);
        leave_any(many, ring.shift, sum, nothing ? 0u : (unsigned)State::OTHER_CAME, segment);
    }
    /* Has the segment put off by whoever comes last. */
    __device__ __forceinline__ void leave_none(u64 segment) const {
        leave_any(many, ring.shift, {0, 0}, State::FAILED, segment);
    }
};

} // namespace

/* The kernels of an element type. */
#define RD_CUDA_SPANS_SUMS(TYPE)                                                                                       \
    RD_CUDA_SPANS(identity, SpanSums<SumState<TYPE, RD_IDENTITY>>)                                                     \
    RD_CUDA_SPANS(absolute, SpanSums<SumState<TYPE, RD_ABSOLUTE>>)
#endif
