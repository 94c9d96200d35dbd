/* Exact sums of segments that follow each other: see many_spans.cuh.
 *
 * Of each tile a warp adds up all elements from its beginning on: what comes before each two vectors waits in shared memory. As these
 * sums are exact, a segment's is the difference of two of them, that before its end and that before its beginning, and takes a lane
 * a few additions. Of a segment that began in an earlier tile the latter is what it has so far, with the other sign. Of a tile in which no
 * segment ends lanes keep what they have.
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
 * Squares have more digits than two numbers hold, and their exponents lie twice as far apart. What is left of one may be rounded, and so are
 * sums of that: the lower sums of a tile of 2^W elements, in lanes 2^(W - 5), come to at most 2^(W + u - 1). At most 2.25 * 2^W additions in
 * lanes round at most 2^(W - 5 + u - 54) each, and five rounds of sums over lanes, and some more, 2^(W + u - 54) each: less than
 * 2^(2 W + u - 57) together. What is open, or in lanes, gets some roundings more with each tile, less than eight of at most 2^(L + u - 54) with
 * those of sums over lanes. A segment's sum is the
 * difference of two; if it has n elements it lies in n / 2^W + 2 tiles at most. So it is known but for (n / 2^W + 4) times
 * 2^(2 W + u - 57) + 2^(L + u - 51), as a rule some 2^-70 of the largest square, which nearly always decides (many_quick.cuh). Where all squares
 * of the run are multiples of what sums of two numbers hold, it is exact. A short segment that is not decided, as of numbers that are small
 * beside others of the tile, is added up by itself.
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

/* What elements come to, in numbers of f64: an upper and a lower one of their sum, and of that of their squares. */
template <class State> struct alignas(16) SpanTotals {
    static constexpr int ELEMENTS = State::ELEMENTS ? 2 : 0, PRODUCTS = State::PRODUCTS ? 2 : 0,
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
    __device__ __forceinline__ SpanTotals from_lane_beside(unsigned by) const {
        SpanTotals other;
#pragma unroll
        for (int n = 0; n < NUMBERS; n++)
            other.number[n] = __shfl_xor_sync(ALL, number[n], by);
        return other;
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
    typedef SpanRing<Stored, RD_CUDA_SPAN_TILES(Way::SUMS)> Ring;
    static constexpr unsigned VECTORS = Ring::VECTORS, EACH = Ring::EACH, TILE = Ring::TILE, PAIRS = VECTORS / 2,
                              OF_PAIR = 2 * EACH;
    static constexpr int EACH_LOG = log2_of(EACH), TILE_LOG = log2_of(TILE), SUMS = Way::SUMS,
                         PRODUCTS_AT = Totals::ELEMENTS;

    /* Whether what comes before parts of a lane's elements is left where it takes no registers: without what comes before the lane, which is
     * then in place of what comes before its first part. */
    static constexpr bool LEAVES = Totals::NUMBERS > 3;

    /* Where sums of elements begin, and upper ones of products, for their units; what the latter are off for each tile. Keys of elements other
     * than zero that these suit, from one, less one, and before another: at first none; of the smallest, less one, with which sums of products
     * are exact, and of the largest of a tile for which a smaller unit would do. */
    struct OfElements {
        Real elements;
    };
    struct OfProducts {
        double products, off;
        unsigned exact_key, low_key;
    };
    struct NoElements {};
    struct NoProducts {};
    struct Begun : std::conditional<State::ELEMENTS, OfElements, NoElements>::type,
                   std::conditional<State::PRODUCTS, OfProducts, NoProducts>::type {
        unsigned from_key, to_key;
    };

    /* Of a warp: what comes before each two vectors of a lane's, and before the next tile; and before the segment that is open, or, with the
     * other sign, what has come of it in tiles before. Where lanes keep sums, these are in place of what comes before their first two vectors. */
    struct Room {
        Totals before[PAIRS * 32], all, open;
        Begun units;
    };

    const rd_cuda_many &many;
    Room &room;
    Ring ring;
    const int log;     /* a run has less than 2^log elements */
    Keys run;          /* of the run so far */
    bool fresh, exact; /* no tile of the run was left yet; its sums of products are exact so far */
    bool inside, kept; /* the tile has but elements of the segment that is open; lanes keep sums of such */

    __device__ __forceinline__ SpanSums(const rd_cuda_many &m, Room &of_warp)
        : many(m), room(of_warp), ring(m), log(max(m.span_log2, m.cut_log2) + 1), fresh(true), exact(true),
          inside(false), kept(false) {
        if (lane_index() == 0)
            room.units.to_key = 0;
    }
    static __device__ __forceinline__ Stored padding() {
        return Stored(-0.0);
    }
    __device__ __forceinline__ void reset() {
        run.reset();
        fresh = true;
        kept = false;
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
            const double begin = room.units.products;
            Parted sum = {begin, 0};
#pragma unroll
            for (unsigned i = 0; i < EACH; i++) {
                const double own = which >> i & 1 ? (double)x[i] : 0;
                Way::add_product(sum, own, own);
            }
            to.number[PRODUCTS_AT] += sum.upper - begin;
            to.number[PRODUCTS_AT + 1] += sum.lower;
        }
    }

    __device__ __forceinline__ bool take(bool is_inside, unsigned) {
        inside = is_inside;
        if (!inside && kept)
            gather();
#pragma unroll 1
        for (bool again = true;; again = false) {
            if (add_up(again && fresh))
                return true;
            if (!again || !find_units())
                return false;
        }
    }
    /* What lanes keep, to what is open. */
    __device__ __forceinline__ void gather() {
        Totals all = room.before[lane_index()];
#pragma unroll
        for (unsigned by = 16; by > 0; by /= 2)
            all.add(all.from_lane_beside(by));
        if (lane_index() == 0)
            room.open = room.open.minus(all);
        __syncwarp();
        kept = false;
    }
    /* Adds up a tile that has come. False if the units do not suit it: then sums mean nothing; or if the tile has small elements alone, and
     * `lower` ones may be found. */
    __device__ __forceinline__ bool add_up(bool lower) {
        const unsigned lane = lane_index();
        Keys keys;
        Totals before[PAIRS], all = Totals::zero();
        keys.reset();
        if constexpr (LEAVES) {
#pragma unroll 1
            for (unsigned p = 0; p < PAIRS; p++) {
                Vector<Stored> vector[2][1];
#pragma unroll
                for (unsigned v = 0; v < 2; v++)
                    ring.look(lane, 2 * p + v, vector[v]);
                if (!inside)
                    room.before[p * 32 + lane] = all;
#pragma unroll
                for (unsigned v = 0; v < 2; v++) {
                    T x[EACH];
                    Way::unpack(vector[v], x);
                    keys.note(vector[v], x);
                    add_some(x, ~0u, all);
                }
            }
        } else {
            Vector<Stored> vector[VECTORS][1];
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
                add_some(x, ~0u, all);
            }
        }
        run.widen(keys);
        bool suits = __all_sync(ALL, lies_within(keys));
        if constexpr (State::PRODUCTS) {
            suits = suits && (!lower || __any_sync(ALL, keys.most - 1 >= room.units.low_key));
            exact = !__any_sync(ALL, run.has_less(room.units.exact_key));
        }
        if (inside) {
            if (suits && kept)
                all.add(room.before[lane]);
            if (suits)
                room.before[lane] = all;
            kept = kept || suits;
            return suits;
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
    /* The unit of what begins so. */
    static __device__ __forceinline__ int unit_of(double start) {
        return (int)(__double_as_longlong(start) >> 52) - (52 + 1023);
    }
    /* The same for sums of squares, for which there is one as a rule; within a run it only grows, so that what it says of sums holds for those
     * before, too. */
    __device__ __forceinline__ bool find_unit_of_products(const typename State::Range &range, Begun &units,
                                                          Totals &open, Suited &suited) {
        const int least = range.most ? Way::unit_for(Way::reach_of(SUMS - 1, range, range).top, log) : -USUAL_EXPONENTS;
        if (!Way::has_unit_of_doubt(least))
            return false;
        const int wanted = min(least + 2 * RD_CUDA_SPAN_ROOM, Units<double>::MOST),
                  unit = fresh ? wanted : max(wanted, unit_of(units.products));
        suited = {(unit - log + 48) >> 1, (unit + log - 53) >> 1};
        units.off = Way::power(2 * TILE_LOG + unit - 57) + Way::power(log + unit - 51);
        const double start = units.products = Units<double>::start(unit), own = open.number[PRODUCTS_AT],
                     more = open.number[PRODUCTS_AT + 1], upper = (start + own) - start,
                     upper_more = (start + more) - start;
        open.number[PRODUCTS_AT] = upper + upper_more;
        open.number[PRODUCTS_AT + 1] = (own - upper) + (more - upper_more);
        return true;
    }
    /* The key of an exponent, less one; of such as are less than all, 0. */
    static __device__ __forceinline__ unsigned key_below(int exponent) {
        typedef Exponents<typename std::conditional<Way::NARROW, Stored, T>::type> In;
        const int field = min(exponent + In::ADDED, 2 * In::ADDED + 1);
        return field > 1 ? ((unsigned)field << In::SHIFT) - 1 : 0;
    }
    /* Finds units for all that came of the run, and has what is open in them. False if there are none. */
    __device__ __forceinline__ bool find_units() {
        typedef Exponents<typename std::conditional<Way::NARROW, Stored, T>::type> In;
        constexpr int PLACES = State::DIGITS - 1;
        if (kept)
            gather();
        const typename State::Range range = run.range();
        Suited suited = {In::ADDED, -In::ADDED - PLACES};
        Begun units = room.units;
        Totals open = room.open;
        if (!range.finite())
            return false;
        if constexpr (State::ELEMENTS)
            if (!find_unit(range, units, open, suited))
                return false;
        units.from_key = key_below(suited.bottom + PLACES);
        if constexpr (State::PRODUCTS) {
            Suited squares;
            if (!find_unit_of_products(range, units, open, squares))
                return false;
            units.exact_key = key_below(squares.bottom + PLACES);
            units.low_key = key_below(squares.top - RD_CUDA_SPAN_ROOM - (State::WIDE ? 2 : 6));
            suited.top = min(suited.top, squares.top);
        }
        units.to_key = (unsigned)min(suited.top + 1 + In::ADDED, 2 * In::ADDED + 1) << In::SHIFT;
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
        if (!inside && n < Totals::NUMBERS)
            room.open.number[n] -= room.all.number[n];
        fresh = false;
    }

    /* The same as rows have it. */
    struct Whole {
        Parted sum[SUMS];
        double doubt; /* what that of products may be off */

        __device__ __forceinline__ Whole(const Totals &of, double off) : doubt(off) {
            if constexpr (State::ELEMENTS)
                sum[0] = {of.number[0], of.number[1]};
            if constexpr (State::PRODUCTS)
                sum[SUMS - 1] = {of.number[PRODUCTS_AT], of.number[PRODUCTS_AT + 1]};
        }
        /* Of squares: that all elements are. */
        __device__ __forceinline__ bool is_zero() const {
            return doubt == 0 && sum[SUMS - 1].upper == -sum[SUMS - 1].lower;
        }
    };
    /* What that of so many elements may be off. */
    __device__ __forceinline__ double doubt_of(unsigned count) const {
        double doubt = 0;
        if constexpr (State::PRODUCTS)
            if (!exact && count != 0)
                doubt = room.units.off * __fma_rn((double)count, 1.0 / TILE, 4.0);
        return doubt;
    }

    /* Whether a segment has -0 alone, so that its sum is. */
    static __device__ __noinline__ bool is_negative_zero(const Stored *from, u64 count) {
        bool negative = !State::ABSOLUTE && count != 0;
        for (u64 i = 0; i < count && negative; i++)
            negative = State::differs(as_element(from[i])) == 0;
        return negative;
    }

    /* The squares of few elements, added up one after another: exactly in the upper number, but for what the lower one rounds away. False if
     * the result is not known then. */
    static __device__ __forceinline__ bool add_by_itself(const rd_cuda_call &call, const Stored *from, unsigned count,
                                                         Whole &whole, u64 &bits) {
        Parted &sum = whole.sum[SUMS - 1];
        bool any = false;
        sum = {0, 0};
#pragma unroll 1
        for (unsigned i = 0; i < count; i++) {
            const double own = (double)as_element(from[i]), square = own * own;
            sum.add(square);
            sum.lower += __fma_rn(own, own, -square);
            any = any || own != 0;
        }
        /* Twice as many roundings of the lower number, which is at most so many times 2^-53 of the upper one. */
        whole.doubt = sum.upper * ((double)count * (double)count * 0x1p-103);
        bits = 0;
        return !any || (sum.upper > 0x1p-900 && State::round_parted(call, whole.sum, whole.doubt, count, bits));
    }

    /* Leaves the piece that a span has of a segment; whoever is last delivers it. Of what pieces may be off the largest is kept, as an
     * exponent: in place of where a NaN lies, of which there are none. By one lane. */
    static __device__ __noinline__ void leave_any(const rd_cuda_many &many, unsigned shift, const Whole whole,
                                                  unsigned flags, u64 segment) {
        const u64 from = bound_of(many, many.begins, segment), to = bound_of(many, many.begins, segment + 1),
                  first = (from + shift) >> many.span_log2, last = (to + shift - 1) >> many.span_log2,
                  pieces = last - first + 1;
        typename State::Merged merged;
        State::hold_all(whole.sum, nullptr, true, merged);
        merged.notes.flags = (merged.notes.flags & ~(unsigned)State::OTHER_CAME) | flags;
        merged.notes.nan_below = (u64)__double_as_longlong(whole.doubt) >> 52;
        u64 *words = reinterpret_cast<u64 *>(many.table) +
                     RD_CUDA_CUT_SPANS_AT(many.limit, many.piece_log2, many.table_words, many.piece_words) +
                     first * many.table_words;
        typename State::Met met = State::meet(merged, {words, pieces}, 1);
        if (!met.last)
            return;
        const int exponent = (int)met.kept.notes.nan_below - 1022;
        const double doubt = met.kept.notes.nan_below ? (double)pieces * Way::power(exponent) : 0;
        met.kept.notes.nan_below = 0;
        if (!(doubt == 0 ? State::round(many, many, met.kept, source_of(many, segment), segment)
                         : round_doubtful(many, met.kept, doubt, to - from, segment)))
            Spans<SpanSums>::put_off_long(many, segment, to - from);
    }
    /* A sum of products that is known but for `doubt`. False if its result is not. */
    static __device__ __noinline__ bool round_doubtful(const rd_cuda_many &many, const typename State::Merged &kept,
                                                       double doubt, u64 count, u64 segment) {
        rd_cuda_call own = many.call;
        u64 bits;
        own.count = count;
        if (count < own.minimum || kept.notes.flags & State::FAILED || !State::round_digits(kept, own, doubt, bits))
            return false;
        State::store(many.call, (i64)segment, bits);
        tell(many, segment, REDUCT_OK, 0);
        return true;
    }
    /* Results that take more time, of lanes that have one. */
    static __device__ __noinline__ void deliver_slowly(const rd_cuda_many &many, Whole whole, const Stored *from,
                                                       unsigned count, bool mine, u64 result) {
        if constexpr (State::PRODUCTS)
            if (mine && whole.doubt != 0 && count >= many.call.minimum) {
                u64 bits;
                if (count <= RD_CUDA_SPAN_ALONE_MOST && add_by_itself(many.call, from, count, whole, bits)) {
                    State::store(many.call, (i64)result, bits);
                    tell(many, result, REDUCT_OK, 0);
                } else {
                    Spans<SpanSums>::put_off(many, result, 1);
                }
                mine = false;
            }
        __syncwarp();
        typename State::Merged merged;
        State::hold_all(whole.sum, nullptr, mine, merged);
        if (mine && !State::round(many, many, merged, source_of(many, result), result))
            Spans<SpanSums>::put_off(many, result, 1);
    }
    __device__ __forceinline__ void deliver(bool mine, const Totals &totals, u64 from, unsigned count,
                                            u64 result) const {
        const Whole whole(totals, doubt_of(count));
        u64 bits;
        bool quick = mine && count >= many.call.minimum;
        if (quick && whole.is_zero())
            bits =
                State::PRODUCTS ? 0 : (u64)is_negative_zero(ring.x + from, count) << (8 * many.call.result_bytes - 1);
        else
            quick = quick && State::round_parted(many.call, whole.sum, whole.doubt, count, bits);
        if (quick) {
            State::store(many.call, (i64)result, bits);
            tell(many, result, REDUCT_OK, 0);
            mine = false;
        }
        __syncwarp();
        if (__any_sync(ALL, mine))
            deliver_slowly(many, whole, ring.x + from, count, mine, result);
    }

    struct Piece {
        Totals totals;
        double doubt;
        u64 from;
        unsigned count;
    };
    __device__ __forceinline__ Piece piece_of(const Totals &totals, u64 from, unsigned count) const {
        return {totals, doubt_of(count), from, count};
    }
    static __device__ __noinline__ void leave_pieces(const rd_cuda_many &many, unsigned shift, const Piece (&pieces)[2],
                                                     unsigned which, u64 before, u64 last) {
        const Stored *x = static_cast<const Stored *>(many.call.x);
#pragma unroll 1
        for (unsigned p = 0; p < 2; p++)
            if (which >> p & 1) {
                const Piece &piece = pieces[p];
                const Whole whole(piece.totals, piece.doubt);
                const bool nothing =
                    !State::PRODUCTS && whole.is_zero() && is_negative_zero(x + piece.from, piece.count);
                leave_any(many, shift, whole, nothing ? 0u : (unsigned)State::OTHER_CAME, p ? last : before);
            }
    }
    /* Has the segment put off by whoever comes last. */
    static __device__ __forceinline__ void leave_none(const rd_cuda_many &many, unsigned shift, u64 segment) {
        leave_any(many, shift, Whole(Totals::zero(), 0), State::FAILED, segment);
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
