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
 * added first, in f32, with bounds as in many_quick.cuh; f64 holds the sums of these.
 *
 * Squares have twice as many digits, and their exponents lie twice as far apart, so that they take three numbers. What is left of a square is
 * at most half a unit; of that the middle number takes multiples of 2^v, v = u + L - 51, less than 2^50 of them. What is then left the lower one
 * adds, which is exact if L + v - 1 - bottom is at most 53: top and bottom, those of squares, may be 154 - 3 L apart.
 *
 * Units are kept from tile to tile, and from run to run; a tile that they do not suit is taken once more, with units for all of the run so far. */
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

/* What elements come to, in numbers of f64: their sum an upper and a lower one, that of their squares a middle one, too. */
template <class State> struct alignas(State::PRODUCTS ? 8 : 16) SpanTotals {
    static constexpr int ELEMENTS = State::ELEMENTS ? 2 : 0, PRODUCTS = State::PRODUCTS ? 3 : 0,
                         NUMBERS = ELEMENTS + PRODUCTS;
    double number[NUMBERS];

    static __device__ __forceinline__ SpanTotals zero() {
        SpanTotals zero;
#pragma unroll
        for (int n = 0; n < NUMBERS; n++)
            zero.number[n] = 0;
        return zero;
    }
    __device__ __forceinline__ void add(const SpanTotals &other) {
#pragma unroll
        for (int n = 0; n < NUMBERS; n++)
            number[n] += other.number[n];
    }
    __device__ __forceinline__ SpanTotals minus(const SpanTotals &other) const {
        SpanTotals difference;
#pragma unroll
        for (int n = 0; n < NUMBERS; n++)
            difference.number[n] = number[n] - other.number[n];
        return difference;
    }
    __device__ __forceinline__ SpanTotals from_lane_before(unsigned by) const {
        SpanTotals other;
#pragma unroll
        for (int n = 0; n < NUMBERS; n++)
            other.number[n] = __shfl_up_sync(ALL, number[n], by);
        return other;
    }
    /* Elements alone. */
    __device__ __forceinline__ bool is_zero() const {
        return number[0] == -number[1];
    }
};

template <class State> struct SpanSums {
    typedef typename State::Stored Stored;
    typedef typename State::T T;
    typedef Quick<State> Way;
    typedef typename Way::Keys Keys;
    typedef typename Way::Real Real;
    typedef typename Way::Inner Inner;
    typedef SpanTotals<State> Totals;
    static constexpr bool CUTS = true, TAKES_OPEN = false, TAKES_ROWS = false;
    typedef SpanRing<Stored, RD_CUDA_SPAN_TILES(State::PRODUCTS)> Ring;
    static constexpr unsigned VECTORS = Ring::VECTORS, EACH = Ring::EACH, TILE = Ring::TILE, PAIRS = VECTORS / 2,
                              OF_PAIR = 2 * EACH;
    static constexpr int EACH_LOG = log2_of(EACH), SUMS = Way::SUMS, PRODUCTS_AT = Totals::ELEMENTS;

    /* Whether what comes before parts of a lane's elements is left where it takes no registers: without what comes before the lane, which is
     * then in place of what comes before its first part. */
    static constexpr bool LEAVES = Totals::NUMBERS > 3;

    /* Where sums begin, for their units: those of elements, and upper and middle numbers of those of products. And keys of elements other than
     * zero that these suit, from one, less one, and before another: at first none. */
    struct Begun {
        Real elements;
        double products[2];
        unsigned from_key, to_key;
    };

    /* Of a warp: what comes before each two vectors of a lane's, and before the next tile; and before the segment that is open, or, with the
     * other sign, what has come of it in tiles before. */
    struct Room {
        Totals before[PAIRS * 32], all, open;
        Begun units;
    };

    const rd_cuda_many &many;
    Room &room;
    Ring ring;
    const int log; /* a run has less than 2^log elements */
    Keys run;      /* of the run so far */

    __device__ __forceinline__ SpanSums(const rd_cuda_many &m, Room &of_warp)
        : many(m), room(of_warp), ring(m), log(max(m.span_log2, m.cut_log2) + 1) {
        if (lane_index() == 0)
            room.units = {Way::start(0), {0, 0}, 0, 0};
    }
    static __device__ __forceinline__ Stored padding() {
        return Stored(-0.0);
    }
    __device__ __forceinline__ void reset() {
        run.reset();
        if (lane_index() < Totals::NUMBERS)
            room.open.number[lane_index()] = 0;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Tiles
     * -------------------------------------------------------------------------------------------------------------- */

    /* Adds the elements of a lane's vector of which bits are set. */
    __device__ __forceinline__ void add_some(const T (&x)[EACH], unsigned which, Totals &to) const {
        if constexpr (State::ELEMENTS) {
            const Real begin = room.units.elements;
            Inner sum = {begin, 0};
#pragma unroll
            for (unsigned i = 0; i < EACH; i++)
                Way::add(sum, which >> i & 1 ? Way::element(x[i]) : Real(0));
            to.number[0] += (double)(sum.upper - begin);
            to.number[1] += (double)sum.lower;
        }
        if constexpr (State::PRODUCTS) {
            const double begin[2] = {room.units.products[0], room.units.products[1]};
            double upper = begin[0], middle = begin[1], lower = 0;
#pragma unroll
            for (unsigned i = 0; i < EACH; i++) {
                const double own = which >> i & 1 ? (double)x[i] : 0, sum = __fma_rn(own, own, upper),
                             left = __fma_rn(own, own, -(sum - upper)), next = middle + left;
                lower += left - (next - middle);
                upper = sum;
                middle = next;
            }
            to.number[PRODUCTS_AT] += upper - begin[0];
            to.number[PRODUCTS_AT + 1] += middle - begin[1];
            to.number[PRODUCTS_AT + 2] += lower;
        }
    }

    __device__ __forceinline__ bool take() {
#pragma unroll 1
        for (bool again = true;; again = false) {
            if (add_up())
                return true;
            if (!again || !find_units())
                return false;
        }
    }
    /* Adds up a tile that has come. False if the units do not suit it: then sums mean nothing. */
    __device__ __forceinline__ bool add_up() {
        const unsigned lane = lane_index();
        Keys keys;
        Totals before[PAIRS], all = Totals::zero();
        Vector<Stored> vector[VECTORS][1];
        keys.reset();
#pragma unroll
        for (unsigned v = 0; v < VECTORS; v++)
            ring.look(lane, v, vector[v]);
#pragma unroll
        for (unsigned v = 0; v < VECTORS; v++) {
            T x[EACH];
            Way::unpack(vector[v], x);
            keys.note(vector[v], x);
            if (v % 2 == 0)
                before[v / 2] = all;
            if (v % 2 == 0 && LEAVES)
                room.before[v / 2 * 32 + lane] = all;
            add_some(x, ~0u, all);
        }
        const Totals own = all;
#pragma unroll
        for (unsigned by = 1; by < 32; by *= 2) {
            const Totals other = all.from_lane_before(by);
            if (lane >= by)
                all.add(other);
        }
        if (lane == 31)
            room.all = all;
        all = all.minus(own);
#pragma unroll
        for (unsigned p = 0; p < (LEAVES ? 1 : PAIRS); p++) {
            Totals sum = all;
            if (!LEAVES)
                sum.add(before[p]);
            room.before[p * 32 + lane] = sum;
        }
        run.widen(keys);
        const bool suits = __all_sync(ALL, lies_within(keys));
        __syncwarp(); /* all see the room */
        return suits;
    }

    __device__ __forceinline__ bool lies_within(const Keys &keys) const {
        const unsigned most = Way::NARROW ? max(keys.most & 0xffff, keys.most >> 16) : keys.most,
                       least = Way::NARROW ? min(keys.least & 0xffff, keys.least >> 16) : keys.least;
        return most < room.units.to_key && least >= room.units.from_key;
    }

    /* What units suit: exponents of the largest element, and of the lowest bit of the smallest. */
    struct Suited {
        int top, bottom;
    };
    /* Finds a unit for sums of elements, with room for larger ones to come. False if there is none. */
    __device__ __forceinline__ bool find_unit(const typename State::Range &range, Begun &units, Totals &open,
                                              Suited &suited) {
        constexpr int SPARE = Units<Real>::DIGITS;
        const Reach reach = Way::reach_of(0, range, range);
        const int terms = Way::NARROW ? EACH_LOG : log, least = Way::unit_for(reach.top, terms),
                  most = SPARE + 1 + reach.bottom - terms, unit = min(least + RD_CUDA_SPAN_ROOM, most);
        if (unit < least || !Way::has_unit(unit))
            return false;
        suited = {reach.top + (unit - least), unit - 1 + terms - SPARE};
        units.elements = Way::start(unit);
        const double start = Units<double>::start(unit), upper = (start + open.number[0]) - start,
                     more = (start + open.number[1]) - start;
        open.number[1] = (open.number[0] - upper) + (open.number[1] - more);
        open.number[0] = upper + more;
        return true;
    }
    /* The same for sums of squares, whose exponents lie twice as far apart. */
    __device__ __forceinline__ bool find_units_of_squares(const typename State::Range &range, Begun &units,
                                                          Totals &open, Suited &suited) {
        const Reach reach = Way::reach_of(SUMS - 1, range, range);
        const int least = reach.top + log - 49, most = reach.bottom + 105 - 2 * log,
                  unit = min(least + 2 * RD_CUDA_SPAN_ROOM, most), lower_unit = unit + log - 51;
        if (unit < least || lower_unit < Units<double>::LEAST || unit > Units<double>::MOST)
            return false;
        suited = {(unit - log + 48) >> 1, (unit + 2 * log - 104) >> 1};
        const double begin[2] = {Units<double>::start(unit), Units<double>::start(lower_unit)};
        units.products[0] = begin[0];
        units.products[1] = begin[1];
        double left[3], upper = 0, middle = 0, lower = 0;
#pragma unroll
        for (int n = 0; n < 3; n++) {
            const double own = open.number[PRODUCTS_AT + n], whole = (begin[0] + own) - begin[0];
            upper += whole;
            left[n] = own - whole;
        }
#pragma unroll
        for (int n = 0; n < 3; n++) {
            const double whole = (begin[1] + left[n]) - begin[1];
            middle += whole;
            lower += left[n] - whole;
        }
        open.number[PRODUCTS_AT] = upper;
        open.number[PRODUCTS_AT + 1] = middle;
        open.number[PRODUCTS_AT + 2] = lower;
        return true;
    }
    /* Finds units for all that came of the run, and has what is open in them. False if there are none. */
    __device__ __forceinline__ bool find_units() {
        typedef Exponents<typename std::conditional<Way::NARROW, Stored, T>::type> In;
        constexpr int PLACES = State::DIGITS - 1;
        const typename State::Range range = run.range();
        Suited suited = {In::ADDED, -In::ADDED - PLACES};
        Begun units = room.units;
        Totals open = room.open;
        if (!range.finite())
            return false;
        if constexpr (State::ELEMENTS)
            if (!find_unit(range, units, open, suited))
                return false;
        if constexpr (State::PRODUCTS) {
            Suited squares;
            if (!find_units_of_squares(range, units, open, squares))
                return false;
            suited = {min(suited.top, squares.top), max(suited.bottom, squares.bottom)};
        }
        units.to_key = (unsigned)min(suited.top + 1 + In::ADDED, 2 * In::ADDED + 1) << In::SHIFT;
        units.from_key = suited.bottom > 1 - In::ADDED - PLACES
                             ? ((unsigned)(suited.bottom + PLACES + In::ADDED) << In::SHIFT) - 1
                             : 0;
        __syncwarp();
        if (lane_index() == 0) {
            room.units = units;
            room.open = open;
        }
        __syncwarp();
        return true;
    }

    /* What so many elements of the tile come to; where offsets do not ascend, anything. (Without branches, after which lanes might not meet
     * again.) */
    __device__ __forceinline__ Totals sum_before(unsigned count) const {
        const unsigned pair = min(count / OF_PAIR, TILE / OF_PAIR - 1), left = min(count - pair * OF_PAIR, OF_PAIR),
                       lane = pair / PAIRS, first = pair % PAIRS, which = (1u << left) - 1;
        Totals sum = room.before[first * 32 + lane];
        if constexpr (LEAVES) {
            const Totals of_lane = room.before[lane];
#pragma unroll
            for (int n = 0; n < Totals::NUMBERS; n++)
                sum.number[n] = of_lane.number[n] + (first ? sum.number[n] : 0);
        }
#pragma unroll
        for (unsigned k = 0; k < 2; k++) {
            Vector<Stored> vector[1];
            T x[EACH];
            ring.look(lane, first * 2 + k, vector);
            Way::unpack(vector, x);
            add_some(x, which >> k * EACH, sum);
        }
        return sum;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Segments
     * -------------------------------------------------------------------------------------------------------------- */

    __device__ __forceinline__ void open(unsigned count) {
        const Totals sum = sum_before(count);
        if (lane_index() == 0)
            room.open = sum;
        __syncwarp();
    }
    __device__ __forceinline__ Totals reduce(const SpanPart &part) {
        const Totals own = sum_before(part.ends ? (unsigned)part.end : 0);
        Totals begin = own.from_lane_before(1);
        if (part.first)
            begin = room.open;
        __syncwarp();
        if (lane_index() + 1 == part.after)
            room.open = own;
        __syncwarp();
        return own.minus(begin);
    }
    __device__ __forceinline__ void leave() {
        const unsigned n = lane_index();
        if (n < Totals::NUMBERS)
            room.open.number[n] -= room.all.number[n];
    }

    /* The same as rows have it. */
    struct Whole {
        Parted sum[SUMS];
        double rest[SUMS]; /* what two numbers do not hold */

        __device__ __forceinline__ explicit Whole(const Totals &of) {
            if constexpr (State::ELEMENTS) {
                sum[0] = {of.number[0], of.number[1]};
                rest[0] = 0;
            }
            if constexpr (State::PRODUCTS) {
                const Parted upper = sum_of_two(of.number[PRODUCTS_AT], of.number[PRODUCTS_AT + 1]),
                             lower = sum_of_two(upper.lower, of.number[PRODUCTS_AT + 2]);
                sum[SUMS - 1] = {upper.upper, lower.upper};
                rest[SUMS - 1] = lower.lower;
            }
        }
        __device__ __forceinline__ bool is_long() const {
            return State::PRODUCTS && rest[SUMS - 1] != 0;
        }
    };

    /* Whether a segment has -0 alone, so that its sum is. */
    static __device__ __noinline__ bool is_negative_zero(const Stored *from, u64 count) {
        bool negative = !State::ABSOLUTE && count != 0;
        for (u64 i = 0; i < count && negative; i++)
            negative = State::differs(as_element(from[i])) == 0;
        return negative;
    }

    /* Results that take more time, of lanes that have one. */
    static __device__ __noinline__ void deliver_slowly(const rd_cuda_many &many, const Whole whole, bool mine,
                                                       u64 result) {
        typename State::Merged merged;
        State::hold_all(whole.sum, whole.rest, mine, merged);
        if (mine && !State::round(many, many, merged, source_of(many, result), result))
            Spans<SpanSums>::put_off(many, result, 1);
    }
    __device__ __forceinline__ void deliver(bool mine, const Totals &totals, u64 from, unsigned count,
                                            u64 result) const {
        const Whole whole(totals);
        u64 bits;
        bool quick = mine && count >= many.call.minimum && !whole.is_long();
        if (!State::PRODUCTS && quick && totals.is_zero())
            bits = (u64)is_negative_zero(ring.x + from, count) << (8 * many.call.result_bytes - 1);
        else
            quick = quick && State::round_parted(many.call, whole.sum, 0, count, bits);
        if (quick) {
            State::store(many.call, (i64)result, bits);
            tell(many, result, REDUCT_OK, 0);
            mine = false;
        }
        __syncwarp();
        if (__any_sync(ALL, mine))
            deliver_slowly(many, whole, mine, result);
    }

    /* Leaves the piece that a span has of a segment; whoever is last delivers it. By one lane. */
    static __device__ __noinline__ void leave_any(const rd_cuda_many &many, unsigned shift, const Whole whole,
                                                  unsigned flags, u64 segment) {
        const u64 from = bound_of(many, many.begins, segment), to = bound_of(many, many.begins, segment + 1),
                  first = (from + shift) >> many.span_log2, last = (to + shift - 1) >> many.span_log2;
        typename State::Merged merged;
        State::hold_all(whole.sum, whole.rest, true, merged);
        merged.notes.flags = (merged.notes.flags & ~(unsigned)State::OTHER_CAME) | flags;
        u64 *words = reinterpret_cast<u64 *>(many.table) +
                     RD_CUDA_CUT_SPANS_AT(many.limit, many.piece_log2, many.table_words, many.piece_words) +
                     first * many.table_words;
        const typename State::Met met = State::meet(merged, {words, last - first + 1}, 1);
        if (met.last && !State::round(many, many, met.kept, source_of(many, segment), segment))
            Spans<SpanSums>::put_off_long(many, segment, to - from);
    }
    __device__ __forceinline__ void leave_piece(const Totals &totals, u64 from, unsigned count, u64 segment) const {
        const bool nothing = !State::PRODUCTS && totals.is_zero() && is_negative_zero(ring.x + from, count);
        leave_any(many, ring.shift, Whole(totals), nothing ? 0u : (unsigned)State::OTHER_CAME, segment);
    }
    /* Has the segment put off by whoever comes last. */
    static __device__ __forceinline__ void leave_none(const rd_cuda_many &many, unsigned shift, u64 segment) {
        leave_any(many, shift, Whole(Totals::zero()), State::FAILED, segment);
    }
};

} // namespace

/* The kernels of an element type. */
#define RD_CUDA_SPANS_SUMS(TYPE)                                                                                       \
    RD_CUDA_SPANS(identity, SpanSums<SumState<TYPE, RD_IDENTITY>>)                                                     \
    RD_CUDA_SPANS(absolute, SpanSums<SumState<TYPE, RD_ABSOLUTE>>)
#define RD_CUDA_SPANS_SQUARES(TYPE)                                                                                    \
    RD_CUDA_SPANS(square, SpanSums<SumState<TYPE, RD_SQUARE>>)                                                         \
    RD_CUDA_SPANS(moments, SpanSums<SumState<TYPE, RD_MOMENTS>>)
#endif
