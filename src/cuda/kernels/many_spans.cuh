/* Exact sums of segments that follow each other: warps share out the array, not its segments (compute capability 9.0 and later).
 *
 * Overview. A span of the array is a warp's, with all segments that begin there: it finds the first by a search over the offsets,
 * and reads on beyond its span's end until the last of them ends. So memory is read as it lies, however long segments are, and a
 * lane has as many elements as any other. Of each tile the warp adds up all elements from its beginning on: what comes before each
 * vector waits in shared memory. As these sums are exact, a segment's is the difference of two of them, that before its end and
 * that before its beginning, and takes a lane a few additions. Of a segment that began in an earlier tile the latter is what it has
 * so far, with the other sign.
 *
 * A segment of more elements than a span has is cut: each span leaves its piece in a table, and who
 * comes last has the sum. So the segments of a span are its share of one that began before it, those that end, and the beginning of
 * one. Where exponents lie too far apart, or something is not finite, segments are put off: entered in a list, for a launch that
 * takes such (many.h), and where many were, all that follow. Offsets that do not ascend are seen by a warp, as each is looked at by one at least, whatever searches find: the
 * ranges of neighbouring spans meet. Then that launch takes all segments.
 *
 * Bounds. Sums are in two numbers, as those of rows (many_quick.cuh): the upper takes multiples of a unit, 2^u, the lower what is
 * left. A run has less than 2^L elements, so that with u >= top + L - 49 the upper numbers are less than 2^50 units and a rounding
 * each, and the lower ones at most 2^(L + u - 1), which is exact if L + u - 1 - bottom is at most 53, of the run's elements. Then so
 * are all sums of elements that follow each other, and what differences of sums come to. Of elements of 16 bits those of a vector are
 * added first, in f32, with bounds as in many_quick.cuh; f64 holds the sums of these. The unit is kept from tile to tile, and from
 * run to run; a tile that it does not suit is taken once more, with one for all of the run so far. */
#pragma once

#include "many_ringed.cuh"

#if __CUDA_ARCH__ >= 900
namespace {

constexpr int log2_of(int power) {
    return power < 2 ? 0 : 1 + log2_of(power / 2);
}

/* Exponents as keys have them (many_quick.cuh): where, and what is added to them. */
template <class Stored> struct Exponents { static constexpr int SHIFT = 23, ADDED = 127; };
template <> struct Exponents<double> { static constexpr int SHIFT = 20, ADDED = 1023; };
template <int PLACES> struct Exponents<Half<PLACES>> {
    static constexpr int SHIFT = PLACES, ADDED = Reading<Half<PLACES>>::HIGHEST - 1;
};

template <class State> struct Spans {
    typedef typename State::Stored Stored;
    typedef typename State::T T;
    typedef Quick<State> Way;
    typedef typename Way::Keys Keys;
    typedef typename Way::Real Real;
    typedef typename Way::Inner Inner;
    static constexpr unsigned VECTORS = 8, EACH = 16 / sizeof(Stored), TILE = 32 * VECTORS * EACH,
                              TILE_BYTES = TILE * sizeof(Stored), PAIRS = VECTORS / 2, OF_PAIR = 2 * EACH;
    static constexpr int TILES = RD_CUDA_SPAN_TILES, RING_BYTES = TILES * TILE_BYTES, EACH_LOG = log2_of(EACH);
    static_assert(RING_BYTES * WARPS == RD_CUDA_SPAN_RING_BYTES, "many.c asks for so much");

    /* Of a warp: what comes before each two vectors of a lane's, and before the next tile. */
    struct Room {
        Parted before[PAIRS * 32], all;
    };

    const rd_cuda_many &many;
    Room &room;
    const Stored *const x;
    unsigned char *const ring;
    const unsigned shift;      /* places count from the last address before x that vectors may have */
    unsigned ordered, taken;   /* where in the ring the next tile goes to, and comes from */
    const int log;             /* a run has less than 2^log elements */
    Keys run;                  /* of the run so far */
    Real begin;                /* of sums, for the unit */
    unsigned from_key, to_key; /* less one, and beyond: keys of elements other than zero that it suits; at first none */

    __device__ __forceinline__ Spans(const rd_cuda_many &m, Room &of_warp)
        : many(m), room(of_warp), x(static_cast<const Stored *>(m.call.x)),
          ring(ring_memory + warp_index() * RING_BYTES),
          shift((unsigned)(reinterpret_cast<uintptr_t>(m.call.x) & 15) / (unsigned)sizeof(Stored)), ordered(0),
          taken(0), log(max(m.span_log2, m.cut_log2) + 1), begin(Way::start(0)), from_key(0), to_key(0) {
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Tiles
     * -------------------------------------------------------------------------------------------------------------- */

    static __device__ __forceinline__ void advance(unsigned &place) {
        place = place + TILE_BYTES < RING_BYTES ? place + TILE_BYTES : 0;
    }

    /* Where a lane's vector lies: as a line of the cache, which are copied as such, but in an order by which lanes that take the same one
     * of theirs do not meet in a bank of shared memory. */
    static __device__ __forceinline__ unsigned place_of(unsigned lane, unsigned v) {
        return 16 * (lane * VECTORS + (v ^ lane % VECTORS));
    }

    /* Orders a tile; elements outside the array come as padding. */
    __device__ __forceinline__ void order(u64 tile) {
        const unsigned lane = lane_index(), v = lane % VECTORS;
        unsigned char *to = ring + ordered;
        if (tile * TILE < shift || (tile + 1) * TILE - shift > many.limit) {
            order_some(to, tile);
            return;
        }
        /* place_of(r * 4 + lane / 8, v): r changes one bit, and adds multiples of lines. */
        const unsigned even = place_of(lane / VECTORS, v), odd = place_of(lane / VECTORS + 4, v) - 4 * 128;
        const Stored *from = x + (tile * TILE + lane * EACH - shift);
#pragma unroll
        for (unsigned r = 0; r < VECTORS; r++)
            LaneRing::copy(to + (r % 2 ? odd : even) + r * (4 * 128), from + r * (32 * EACH));
    }
    __device__ __noinline__ void order_some(unsigned char *to, u64 tile) const {
        const unsigned lane = lane_index();
#pragma unroll 1
        for (unsigned r = 0; r < VECTORS; r++) {
            const u64 at =
                tile * TILE + (r * 32 + lane) * EACH - shift; /* far beyond the end if before the beginning */
            unsigned char *place = to + place_of(r * 4 + lane / VECTORS, lane % VECTORS);
            if (at < many.limit && many.limit - at >= EACH) {
                LaneRing::copy(place, x + at);
            } else {
                Vector<Stored> vector;
#pragma unroll
                for (unsigned i = 0; i < EACH; i++)
                    vector.element[i] = at + i < many.limit ? x[at + i] : Stored(-0.0);
                *reinterpret_cast<uint4 *>(place) = vector.bits;
            }
        }
    }
    __device__ __forceinline__ void end_order() {
        LaneRing::end_group();
        advance(ordered);
    }

    __device__ __forceinline__ void look(unsigned lane, unsigned v, Vector<Stored> (&vector)[1]) const {
        vector[0].bits = *reinterpret_cast<const uint4 *>(ring + taken + place_of(lane, v));
    }

    /* Adds up a tile that has come. False if the unit does not suit it: then sums mean nothing. */
    __device__ __forceinline__ bool take() {
        const unsigned lane = lane_index();
        Keys keys;
        Parted before[PAIRS], all = {0, 0};
        keys.reset();
#pragma unroll
        for (unsigned v = 0; v < VECTORS; v++) {
            Vector<Stored> vector[1];
            T x[EACH];
            Inner sum = {begin, 0};
            look(lane, v, vector);
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
            look(lane, first * 2 + k, vector);
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

    static __device__ __forceinline__ Parted from_lane(const Parted &sum, int lane) {
        return {__shfl_sync(ALL, sum.upper, lane), __shfl_sync(ALL, sum.lower, lane)};
    }

    /* Whether a segment whose sum is zero has -0 alone. */
    __device__ __noinline__ bool is_negative_zero(u64 from, u64 count) const {
        bool negative = !State::ABSOLUTE && count != 0;
        for (u64 i = 0; i < count && negative; i++)
            negative = State::differs(as_element(x[from + i])) == 0;
        return negative;
    }

    /* Has the launch that takes what was put off take all: offsets do not ascend, or more was put off than there is room for, which is
     * then so, too. By any lanes. */
    static __device__ __forceinline__ void refuse(const rd_cuda_many &many) {
        reinterpret_cast<u64 *>(many.table)[RD_CUDA_CUT_UNORDERED] = 1;
    }
    /* Enters segments in a list. By one lane. */
    static __device__ __noinline__ void put_off(const rd_cuda_many &many, u64 first, u64 count) {
        u64 *words = reinterpret_cast<u64 *>(many.table), *list = reinterpret_cast<u64 *>(many.lists);
        const u64 at_a_time = 32 / many.lanes * many.batch, tasks = (count + at_a_time - 1) / at_a_time;
        const LongOnes before(atomicAdd(words + RD_CUDA_CUT_RUNS, (u64)1 << RD_CUDA_CUT_SHIFT | tasks));
        if (before.number >= RD_CUDA_CUT_RUNS_MOST(many.limit, many.span_log2)) { /* never, of such that ascend */
            refuse(many);
            return;
        }
        list += RD_CUDA_CUT_RUNS_AT(many.limit, many.cut_log2, many.piece_log2) + before.number * RD_CUDA_CUT_RUN_WORDS;
        list[0] = first;
        list[1] = before.pieces;
        list[2] = first + count;
    }

    /* Results that take more time, of lanes that have one. */
    static __device__ __noinline__ void deliver_slowly(const rd_cuda_many &many, Parted sum, bool mine, u64 result) {
        typename State::Merged merged;
        State::hold_all(&sum, nullptr, mine, merged);
        if (mine && !State::round(many, many, merged, source_of(many, result), result))
            put_off(many, result, 1);
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
    static __device__ __noinline__ void leave_piece(const rd_cuda_many &many, unsigned shift, Parted sum,
                                                    unsigned flags, u64 segment) {
        const u64 from = bound_of(many, many.begins, segment), to = bound_of(many, many.begins, segment + 1),
                  first = (from + shift) >> many.span_log2, last = (to + shift - 1) >> many.span_log2;
        typename State::Merged merged;
        State::hold_all(&sum, nullptr, true, merged);
        merged.notes.flags = (merged.notes.flags & ~(unsigned)State::OTHER_CAME) | flags;
        u64 *words = reinterpret_cast<u64 *>(many.table) +
                     RD_CUDA_CUT_SPANS_AT(many.limit, many.piece_log2, many.table_words, many.piece_words) +
                     first * many.table_words;
        const typename State::Met met = State::meet(merged, {words, last - first + 1}, 1);
        if (met.last && !State::round(many, many, met.kept, source_of(many, segment), segment) &&
            !enter(many, segment, to - from))
            refuse(many);
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Spans
     * -------------------------------------------------------------------------------------------------------------- */

    __device__ __forceinline__ u64 spans() const {
        return max((many.limit + shift + (((u64)1 << many.span_log2) - 1)) >> many.span_log2, (u64)1);
    }

    /* How many segments begin before either place, if offsets ascend; each lane looks at the end of a part. */
    __device__ __forceinline__ void find(const u64 (&place)[2], u64 (&before)[2]) const {
        u64 left[2] = {many.results, many.results};
        before[0] = before[1] = 0;
#pragma unroll 1
        while (left[0] | left[1]) {
            bool is_before[2];
            u64 step[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                step[i] = (left[i] + 31) / 32;
                const u64 at = lane_index() * step[i] + step[i] - 1;
                is_before[i] = left[i] && at < left[i] && bound_of(many, many.begins, before[i] + at) < place[i];
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const u64 skipped = (u64)__popc(__ballot_sync(ALL, is_before[i])) * step[i];
                before[i] += skipped;
                left[i] = left[i] ? min(step[i] - 1, left[i] - skipped) : 0;
            }
        }
    }

    /* A warp's share: segments that begin in the span, and one before them of which a piece lies there. */
    struct Span {
        u64 begin, end;   /* where those are that begin in it */
        u64 first, last;  /* number of the first, and of the first after them */
        bool takes, cuts; /* a piece of number first - 1; of the last only a piece */
        u64 from, to;     /* where the elements lie */
    };
    /* False if there is nothing, or offsets do not ascend. */
    __device__ __forceinline__ bool find_span(u64 number, u64 count, Span &span) const {
        const u64 place[2] = {number ? (number << many.span_log2) - shift : 0,
                              ((number + 1) << many.span_log2) - shift},
                  longest = RD_CUDA_SPAN_LONGEST(many.span_log2, many.cut_log2);
        u64 before[2];
        find(place, before);
        span.begin = place[0];
        span.end = number + 1 < count ? place[1] : ~(u64)0;
        span.first = number ? before[0] : 0;
        span.last = number + 1 < count ? before[1] : many.results;
        span.takes = span.cuts = false;
        span.from = span.to = bound_of(many, many.begins, span.first);
        if (number && span.first) {
            const u64 from = bound_of(many, many.begins, span.first - 1);
            span.takes = from <= span.to && span.to <= many.limit && span.to - from > longest && span.to > place[0];
            span.from = span.takes ? place[0] : span.from;
            span.to = min(span.to, span.end);
        }
        if (span.first < span.last) {
            const u64 from = bound_of(many, many.begins, span.last - 1), to = bound_of(many, many.begins, span.last);
            if (span.from > from || from > to || to > many.limit) {
                refuse(many);
                return false;
            }
            span.cuts = to - from > longest;
            span.to = span.cuts ? min(to, place[1]) : to;
        }
        return span.first < span.last || span.takes;
    }
    __device__ __forceinline__ bool is_piece(const Span &span, u64 segment) const {
        return segment < span.first || (span.cuts && segment + 1 == span.last);
    }

    /* Where a segment ends, or its piece, counted from a place that is not after it; far beyond all if there is none. */
    __device__ __forceinline__ unsigned end_of(const Span &span, u64 segment, u64 place) const {
        if (segment >= span.last)
            return UINT32_MAX;
        const u64 from = bound_of(many, many.begins, segment), to = bound_of(many, many.begins, segment + 1);
        if (from > to || to > many.limit || (segment >= span.first && (from < span.begin || from >= span.end))) {
            refuse(many);
            return (unsigned)(span.to + shift - place);
        }
        return (unsigned)((is_piece(span, segment) ? min(to, span.to) : to) + shift - place);
    }

    /* Segments from number `segment` on, whose first, or piece, begins at such a place. Returns the first that is left, and then puts
     * off those that a tile has of which the exponents do not suit, or all where `hasty`. */
    __device__ __forceinline__ u64 reduce_run(const Span &span, u64 first, u64 from, bool hasty) {
        const unsigned lane = lane_index();
        const u64 first_tile = (from + shift) / TILE, place = first_tile * TILE;
        const unsigned length = (unsigned)(span.to + shift - place), tiles = max((length + TILE - 1) / TILE, 1u);
#pragma unroll
        for (unsigned t = 0; t < TILES - 1; t++) {
            if (t < tiles)
                order(first_tile + t);
            end_order();
        }
        u64 segment = first + lane;
        unsigned end = end_of(span, segment, place), next_end = end_of(span, segment + 32, place),
                 start = (unsigned)(from + shift - place), delivered = 0; /* of the 32 segments that lanes have */
        u64 left = span.last;
        Parted open = {0, 0}; /* what comes before the segment that is open */
        run.reset();
#pragma unroll 1
        for (unsigned t = 0, at = 0; t < tiles; t++, at += TILE) {
            if (t + TILES - 1 < tiles)
                order(first_tile + (t + TILES - 1));
            end_order();
            LaneRing::await<TILES - 1>();
            __syncwarp(); /* lanes take what others have ordered */
            bool suits = take();
            for (bool again = true; !suits && again && find_unit(open); again = false)
                suits = take();
            if (!suits) {
                left = put_off_tile(span, segment - lane + delivered, hasty ? ~(u64)0 : place + at + TILE - shift);
                break;
            }
            if (t == 0)
                open = sum_before(start);
            for (;;) {
                const bool ends = lane >= delivered && end <= at + TILE;
                const unsigned all = __ballot_sync(ALL, ends);
                if (!all)
                    break;
                const Parted own = sum_before(ends ? end - at : 0);
                const double upper = __shfl_up_sync(ALL, own.upper, 1), lower = __shfl_up_sync(ALL, own.lower, 1);
                const unsigned previous = __shfl_up_sync(ALL, end, 1), own_start = lane ? previous : start;
                const Parted sum = difference(own, lane == delivered ? open : Parted{upper, lower});
                const bool piece = ends && is_piece(span, segment);
                deliver(ends && !piece, sum, place + own_start - shift, end - own_start, segment);
                if (piece)
                    leave_piece(many, shift, sum,
                                sum.upper == -sum.lower && is_negative_zero(place + own_start - shift, end - own_start)
                                    ? 0u
                                    : (unsigned)State::OTHER_CAME,
                                segment);
                __syncwarp();
                const int latest = 31 - __clz((int)all);
                open = from_lane(own, latest);
                delivered = (unsigned)latest + 1;
                if (delivered < 32)
                    break;
                start = __shfl_sync(ALL, end, 31);
                segment += 32;
                end = next_end;
                next_end = end_of(span, segment + 32, place);
                delivered = 0;
            }
            open = difference(open, room.all);
            advance(taken);
            __syncwarp(); /* before others order to where this was */
        }
        LaneRing::drain();
        taken = ordered;
        __syncwarp();
        return left;
    }

    /* Puts off segments from `first` on that begin before such a place, as far as there are lanes; returns the first that is left. A cut
     * segment is put off by whoever has the last piece. */
    __device__ __noinline__ u64 put_off_tile(const Span span, u64 first, u64 before) const {
        const u64 segment = first + lane_index();
        const bool begins = segment < span.last && bound_of(many, many.begins, segment) < before;
        const unsigned all = __ballot_sync(ALL, begins);
        const u64 left = before == ~(u64)0 ? span.last : first + max(__popc(all), 1);
        if (begins && is_piece(span, segment))
            leave_piece(many, shift, {0, 0}, State::FAILED, segment);
        const u64 from = max(first, span.first), to = left - (span.cuts && left == span.last);
        if (lane_index() == 0 && from < to)
            put_off(many, from, to - from);
        if (lane_index() == 0 && span.cuts && left == span.last && left > first + 32)
            leave_piece(many, shift, {0, 0}, State::FAILED, left - 1);
        __syncwarp();
        return left;
    }

    /* Whether so much was put off that there is no use in trying. */
    static __device__ __noinline__ bool do_not_suit(const rd_cuda_many &many) {
        const LongOnes runs(__ldcg(reinterpret_cast<const u64 *>(many.table) + RD_CUDA_CUT_RUNS));
        return runs.number >
               RD_CUDA_SPAN_RUNS_LEAST + RD_CUDA_CUT_SPANS(many.limit, many.span_log2) / RD_CUDA_SPAN_RUNS_PART;
    }

    __device__ __forceinline__ void reduce(u64 number, u64 count) {
        Span span;
        if (!find_span(number, count, span))
            return;
        u64 segment = span.first - span.takes, from = span.from;
        if (__any_sync(ALL, do_not_suit(many))) { /* the word changes, and lanes must agree */
            put_off_tile(span, segment, ~(u64)0);
            return;
        }
#pragma unroll 1
        for (int runs = 0; segment < span.last; runs++) {
            if (from > span.to) {
                refuse(many);
                return;
            }
            segment = reduce_run(span, segment, from, runs >= RD_CUDA_SPAN_PATIENCE);
            from = segment < span.last ? bound_of(many, many.begins, segment) : 0;
        }
    }
};

template <class State> __device__ __forceinline__ void reduce_spans(const rd_cuda_many &many) {
    __shared__ typename Spans<State>::Room room[WARPS];
    wait_for_previous();
    let_next_come();
    Spans<State> spans(many, room[warp_index()]);
    const u64 count = spans.spans();
#pragma unroll 1
    for (u64 span = (u64)blockIdx.x * WARPS + warp_index(); span < count; span += (u64)gridDim.x * WARPS)
        spans.reduce(span, count);
}

} // namespace

/* The kernels of an element type. */
#define RD_CUDA_SPANS_SUM(NAME, ...)                                                                                   \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        many_spans_##NAME(const __grid_constant__ rd_cuda_many many) {                                                 \
        reduce_spans<SumState<__VA_ARGS__>>(many);                                                                     \
    }
#define RD_CUDA_SPANS_SUMS(TYPE)                                                                                       \
    RD_CUDA_SPANS_SUM(identity, TYPE, RD_IDENTITY)                                                                     \
    RD_CUDA_SPANS_SUM(absolute, TYPE, RD_ABSOLUTE)
#endif
