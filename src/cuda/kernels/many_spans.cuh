/* Segments that follow each other: warps share out the array, not its segments (compute capability 9.0 and later).
 *
 * Overview. A span of the array is a warp's, with all segments that begin there: it finds the first by a search over the offsets,
 * and reads on beyond its span's end until the last of them ends. So memory is read as it lies, however long segments are, and a
 * lane has as many elements as any other. What becomes of a tile that has come is a way's (many_spans_sums.cuh,
 * many_spans_extremes.cu):
 *
 *   Stored           what an element is in memory
 *   Room             what a warp shares
 *   ring             a SpanRing
 *   TAKES_ROWS       there may be no offsets: segments are rows, one after another
 *   TAKES_OPEN       reduce() is called for tiles, too, in which no segment ends
 *   CUTS             segments of more elements than a span has are cut: each span that one lies in leaves a piece, or none
 *   padding()        what comes in place of elements outside the array
 *   reset()          a run begins
 *   take(inside, n)  a tile has come, n elements after the segment that is open began; or, inside, but elements of that one, which did not begin
 *                    here. False if it does not suit, then its segments are put off
 *   open(n)          the first segment begins after n elements of the first tile
 *   reduce(part)     what lanes' segments come to that end in the tile; the next one, of which some may have come, is open then
 *   deliver(mine, value, from, count, segment)
 *   piece_of(value, from, count)
 *                    what is left where the segment is cut
 *   leave_pieces()   the run ends
 *   leave()          the tile is left
 *
 * What is put off is entered in a list, for a launch that takes such (many.h); where that was much, all that follows is. So are long
 * segments, where they are not cut. Offsets that do not ascend are seen by a warp, as each is looked at by one at least, whatever searches find: the
 * ranges of neighbouring spans meet. Then that launch takes all segments. */
#pragma once

#include "many_ringed.cuh"

#if __CUDA_ARCH__ >= 900
namespace {

constexpr int log2_of(int power) {
    return power < 2 ? 0 : 1 + log2_of(power / 2);
}

/* Tiles that a warp has ordered and not yet left. */
template <class Stored, int TILES> struct SpanRing {
    static constexpr unsigned VECTORS = 8, EACH = 16 / sizeof(Stored), TILE = 32 * VECTORS * EACH,
                              TILE_BYTES = TILE * sizeof(Stored);
    static constexpr int COUNT = TILES, RING_BYTES = TILES * TILE_BYTES;
    static_assert(RING_BYTES * WARPS == RD_CUDA_SPAN_RING_BYTES(TILES), "many.c asks for so much");

    const rd_cuda_many &many;
    const Stored *const x;
    unsigned char *const memory;
    const unsigned shift;    /* places count from the last address before x that vectors may have */
    unsigned ordered, taken; /* where the next tile goes to, and comes from */

    __device__ __forceinline__ explicit SpanRing(const rd_cuda_many &m)
        : many(m), x(static_cast<const Stored *>(m.call.x)), memory(ring_memory + warp_index() * RING_BYTES),
          shift((unsigned)(reinterpret_cast<uintptr_t>(m.call.x) & 15) / (unsigned)sizeof(Stored)), ordered(0),
          taken(0) {
    }

    static __device__ __forceinline__ void advance(unsigned &place) {
        place = place + TILE_BYTES < RING_BYTES ? place + TILE_BYTES : 0;
    }

    /* Where a lane's vector lies: as a line of the cache, which are copied as such, but in an order by which lanes that take the same one
     * of theirs do not meet in a bank of shared memory. */
    static __device__ __forceinline__ unsigned place_of(unsigned lane, unsigned v) {
        return 16 * (lane * VECTORS + (v ^ lane % VECTORS));
    }
    /* Orders the tile of such a place; elements outside the array come as padding. */
    __device__ __forceinline__ void order(u64 at, Stored padding) {
        const unsigned lane = lane_index(), v = lane % VECTORS;
        unsigned char *to = memory + ordered;
        if (at < shift || at + TILE - shift > many.limit) {
            order_some(many, shift, to, at, padding);
            return;
        }
        /* place_of(r * 4 + lane / 8, v): r changes one bit, and adds multiples of lines. */
        const unsigned even = place_of(lane / VECTORS, v), odd = place_of(lane / VECTORS + 4, v) - 4 * 128;
        const Stored *from = x + (at + lane * EACH - shift);
#pragma unroll
        for (unsigned r = 0; r < VECTORS; r++)
            LaneRing::copy(to + (r % 2 ? odd : even) + r * (4 * 128), from + r * (32 * EACH));
    }
    static __device__ __noinline__ void order_some(const rd_cuda_many &many, unsigned shift, unsigned char *to,
                                                   u64 tile_at, Stored padding) {
        const Stored *x = static_cast<const Stored *>(many.call.x);
        const unsigned lane = lane_index();
#pragma unroll 1
        for (unsigned r = 0; r < VECTORS; r++) {
            const u64 at = tile_at + (r * 32 + lane) * EACH - shift; /* far beyond the end if before the beginning */
            unsigned char *place = to + place_of(r * 4 + lane / VECTORS, lane % VECTORS);
            if (at < many.limit && many.limit - at >= EACH) {
                LaneRing::copy(place, x + at);
            } else {
                Vector<Stored> vector;
#pragma unroll
                for (unsigned i = 0; i < EACH; i++)
                    vector.element[i] = at + i < many.limit ? x[at + i] : padding;
                *reinterpret_cast<uint4 *>(place) = vector.bits;
            }
        }
    }
    __device__ __forceinline__ void end_order() {
        LaneRing::end_group();
        advance(ordered);
    }
    __device__ __forceinline__ void look(unsigned lane, unsigned v, Vector<Stored> (&vector)[1]) const {
        vector[0].bits = *reinterpret_cast<const uint4 *>(memory + taken + place_of(lane, v));
    }
};

/* A lane's segment in a tile: its beginning, which may lie before the tile, and its end there, in elements from the tile's first; whether
 * it ends there, whether it is the first of those that do, and whether it is the next one after them; and the lane of that, or 32. */
struct SpanPart {
    int begin, end;
    bool ends, first, next;
    unsigned after;
};

template <class Way> struct Spans {
    typedef typename Way::Ring Ring;
    static constexpr unsigned TILE = Ring::TILE;
    static constexpr int TILES = Ring::COUNT;

    const rd_cuda_many &many;
    Way way;

    /* A warp's share: segments that begin in the span, and one before them of which a piece lies there. */
    struct Span {
        u64 begin, end;   /* where those are that begin in it */
        u64 first, last;  /* number of the first, and of the first after them */
        bool takes, cuts; /* a piece of number first - 1; of the last only a piece */
        u64 from, to;     /* where the elements lie */
    };
    /* Of a warp. The span lies here, since it is seldom looked at, and would take registers. */
    struct Room {
        typename Way::Room of_way;
        Span span;
    };
    static_assert(RD_CUDA_RESIDENT_MANY * (WARPS * (sizeof(Room) + Ring::RING_BYTES) + 1024) <= 228 << 10,
                  "a multiprocessor's shared memory, of which each block takes 1 KiB more, has room for those that are "
                  "to be there at once");
    Room &room;
    const volatile Span &span;

    __device__ __forceinline__ Spans(const rd_cuda_many &m, Room &of_warp)
        : many(m), way(m, of_warp.of_way), room(of_warp), span(of_warp.span) {
    }

    /* Where a segment begins. Rows are segments whose offsets are known. */
    static __device__ __forceinline__ u64 offset_of(const rd_cuda_many &many, u64 segment) {
        return Way::TAKES_ROWS && !many.begins ? segment * many.call.count : bound_of(many, many.begins, segment);
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * What is put off
     * -------------------------------------------------------------------------------------------------------------- */

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
    /* Enters a long one in its list. By one lane. */
    static __device__ __noinline__ void put_off_long(const rd_cuda_many &many, u64 segment, u64 count) {
        if (!enter(many, segment, count))
            refuse(many);
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Spans
     * -------------------------------------------------------------------------------------------------------------- */

    __device__ __forceinline__ u64 spans() const {
        return max((many.limit + way.ring.shift + (((u64)1 << many.span_log2) - 1)) >> many.span_log2, (u64)1);
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
                is_before[i] = left[i] && at < left[i] && offset_of(many, before[i] + at) < place[i];
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const u64 skipped = (u64)__popc(__ballot_sync(ALL, is_before[i])) * step[i];
                before[i] += skipped;
                left[i] = left[i] ? min(step[i] - 1, left[i] - skipped) : 0;
            }
        }
    }

    /* False if there is nothing, or offsets do not ascend. */
    __device__ __forceinline__ bool find_span(u64 number, u64 count, Span &span) const {
        const u64 place[2] = {number ? (number << many.span_log2) - way.ring.shift : 0,
                              ((number + 1) << many.span_log2) - way.ring.shift},
                  longest = RD_CUDA_SPAN_LONGEST(many.span_log2, many.cut_log2);
        u64 before[2];
        find(place, before);
        span.begin = place[0];
        span.end = number + 1 < count ? place[1] : ~(u64)0;
        span.first = number ? before[0] : 0;
        span.last = number + 1 < count ? before[1] : many.results;
        span.takes = span.cuts = false;
        span.from = span.to = offset_of(many, span.first);
        if (Way::CUTS && number && span.first) {
            const u64 from = offset_of(many, span.first - 1);
            span.takes = from <= span.to && span.to <= many.limit && span.to - from > longest && span.to > place[0];
            span.from = span.takes ? place[0] : span.from;
            span.to = min(span.to, span.end);
        }
        if (span.first < span.last) {
            const u64 from = offset_of(many, span.last - 1), to = offset_of(many, span.last);
            if (span.from > from || from > to || to > many.limit) {
                refuse(many);
                return false;
            }
            const bool is_long = to - from > longest;
            span.cuts = Way::CUTS && is_long;
            span.to = span.cuts ? min(to, place[1]) : to;
            if (is_long && !Way::CUTS) {
                if (lane_index() == 0)
                    put_off_long(many, span.last - 1, to - from);
                span.last--;
                span.to = from;
            }
        }
        return span.first < span.last || span.takes;
    }
    static __device__ __forceinline__ bool is_piece(const volatile Span &span, u64 segment) {
        return Way::CUTS && (segment < span.first || (span.cuts && segment + 1 == span.last));
    }

    /* Where a segment ends, or its piece, counted from a place that is not after it; far beyond all if there is none. */
    __device__ __forceinline__ unsigned end_of(u64 segment, u64 place) const {
        if (segment >= span.last)
            return UINT32_MAX;
        const u64 from = offset_of(many, segment), to = offset_of(many, segment + 1);
        if (from > to || to > many.limit || (segment >= span.first && (from < span.begin || from >= span.end))) {
            refuse(many);
            return (unsigned)(span.to + way.ring.shift - place);
        }
        return (unsigned)((is_piece(span, segment) ? min(to, (u64)span.to) : to) + way.ring.shift - place);
    }

    /* Segments from number `segment` on, whose first, or piece, begins at such a place. Returns the first that is left, and then puts
     * off those of a tile that does not suit, or all where `hasty`. */
    __device__ __forceinline__ u64 reduce_run(u64 first, u64 from, bool hasty) {
        const unsigned lane = lane_index();
        const u64 place = (from + way.ring.shift) / TILE * TILE;
        const unsigned length = (unsigned)(span.to + way.ring.shift - place),
                       covered = max((length + TILE - 1) / TILE, 1u) * TILE;
#pragma unroll
        for (unsigned t = 0; t < TILES - 1; t++) {
            if (t * TILE < covered)
                way.ring.order(place + t * TILE, Way::padding());
            way.ring.end_order();
        }
        u64 segment = first + lane;
        unsigned end = end_of(segment, place), next_end = end_of(segment + 32, place),
                 start = (unsigned)(from + way.ring.shift - place),
                 delivered = 0; /* of the 32 segments that lanes have */
        /* Of the segment before the span's, and of the last of them; bits say which there are. They wait until the run ends: calls among the
         * tiles would take registers from all that is done there. */
        typename Way::Piece pieces[2];
        unsigned has_pieces = 0;
        u64 left = 0;
        bool suits = true;
        way.reset();
#pragma unroll 1
        for (unsigned at = 0; at < covered; at += TILE) {
            if (at + (TILES - 1) * TILE < covered)
                way.ring.order(place + at + (TILES - 1) * TILE, Way::padding());
            way.ring.end_order();
            LaneRing::await<TILES - 1>();
            __syncwarp(); /* lanes take what others have ordered */
            const bool inside = at != 0 && !__any_sync(ALL, lane >= delivered && end <= at + TILE);
            const unsigned before = !inside ? 0 : at - (delivered ? __shfl_sync(ALL, end, delivered - 1) : start);
            if (!way.take(inside, before)) {
                suits = false;
                left = put_off_tile(many, span, way.ring.shift, segment - lane + delivered,
                                    hasty ? ~(u64)0 : place + at + TILE - way.ring.shift);
                break;
            }
            if (hidden((i64)at) == 0) /* or else compilers make code of its own for the first tile */
                way.open(start);
            while (!inside) {
                const bool ends = lane >= delivered && end <= at + TILE;
                const unsigned all = __ballot_sync(ALL, ends), after = all ? 32 - __clz((int)all) : delivered;
                if (!all && !Way::TAKES_OPEN)
                    break;
                const unsigned previous = __shfl_up_sync(ALL, end, 1), begin = lane ? previous : start;
                const SpanPart part = {
                    (int)(begin - at), (int)(min(end, at + TILE) - at), ends, lane == delivered, lane == after, after};
                const auto value = way.reduce(part);
                const bool piece = ends && is_piece(span, segment);
                const u64 from_here = place + begin - way.ring.shift;
                way.deliver(ends && !piece, value, from_here, end - begin, segment);
                if constexpr (Way::CUTS)
                    if (piece) {
                        pieces[segment >= span.first] = way.piece_of(value, from_here, end - begin);
                        has_pieces |= segment >= span.first ? 2 : 1;
                    }
                __syncwarp();
                delivered = after;
                if (delivered < 32)
                    break;
                start = __shfl_sync(ALL, end, 31);
                segment += 32;
                end = next_end;
                next_end = end_of(segment + 32, place);
                delivered = 0;
            }
            way.leave();
            Ring::advance(way.ring.taken);
            __syncwarp(); /* before others order to where this was */
        }
        LaneRing::drain();
        way.ring.taken = way.ring.ordered;
        __syncwarp();
        if constexpr (Way::CUTS) {
            if (has_pieces)
                Way::leave_pieces(many, way.ring.shift, pieces, has_pieces, span.first - 1, span.last - 1);
            __syncwarp();
        }
        return suits ? (u64)span.last : left;
    }

    /* Puts off segments from `first` on that begin before such a place, as far as there are lanes; returns the first that is left. A cut
     * segment is put off by whoever has the last piece. */
    static __device__ __noinline__ u64 put_off_tile(const rd_cuda_many &many, const volatile Span &span, unsigned shift,
                                                    u64 first, u64 before) {
        const u64 segment = first + lane_index();
        const bool begins = segment < span.last && offset_of(many, segment) < before;
        const unsigned all = __ballot_sync(ALL, begins);
        const u64 left = before == ~(u64)0 ? span.last : first + max(__popc(all), 1);
        if constexpr (Way::CUTS)
            if (begins && is_piece(span, segment))
                Way::leave_none(many, shift, segment);
        const u64 from = max(first, (u64)span.first), to = left - (span.cuts && left == span.last);
        if (lane_index() == 0 && from < to)
            put_off(many, from, to - from);
        if constexpr (Way::CUTS)
            if (lane_index() == 0 && span.cuts && left == span.last && left > first + 32)
                Way::leave_none(many, shift, left - 1);
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
        Span own;
        if (!find_span(number, count, own))
            return;
        if (lane_index() == 0)
            room.span = own;
        __syncwarp(); /* all see it */
        u64 segment = own.first - own.takes, from = own.from;
        if (__any_sync(ALL, do_not_suit(many))) { /* the word changes, and lanes must agree */
            put_off_tile(many, span, way.ring.shift, segment, ~(u64)0);
            return;
        }
#pragma unroll 1
        for (int runs = 0; segment < span.last; runs++) {
            if (from > span.to) {
                refuse(many);
                return;
            }
            segment = reduce_run(segment, from, runs >= RD_CUDA_SPAN_PATIENCE);
            from = segment < span.last ? offset_of(many, segment) : 0;
        }
    }
};

template <class Way> __device__ __forceinline__ void reduce_spans(const rd_cuda_many &many) {
    __shared__ typename Spans<Way>::Room room[WARPS];
    wait_for_previous();
    let_next_come();
    if (is_passed_over(many))
        return;
    Spans<Way> spans(many, room[warp_index()]);
    const unsigned count = (unsigned)spans.spans(), step = gridDim.x * WARPS;
#pragma unroll 1
    for (unsigned span = blockIdx.x * WARPS + warp_index(); span < count; span += step)
        spans.reduce(span, count);
}

} // namespace

#define RD_CUDA_SPANS(NAME, ...)                                                                                       \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        many_spans_##NAME(const __grid_constant__ rd_cuda_many many) {                                                 \
        reduce_spans<__VA_ARGS__>(many);                                                                               \
    }
#endif
