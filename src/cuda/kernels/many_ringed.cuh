/* Exact sums of long rows, and of columns, of elements and of their squares: lanes copy elements to shared memory ahead (compute
 * capability 9.0 and later).
 *
 * Overview. Each lane of a warp orders its vectors some stages ahead, and waits for its own alone: so many loads are on their way
 * that memory is busy while others are added, and they take no registers. A row is a warp's, 128 columns are a block's. Element i
 * of each vector goes to part i of the lane's sums: of a row all are one result's, of columns each is a column's. A part is a sum in
 * two numbers of f64 (many_quick.cuh), of which the upper one takes multiples of a unit. The unit follows from the largest exponent
 * of the first stage, with room for larger ones to come. In the end exponents tell whether all sums were exact. If not, or where
 * something is not finite, the same elements are taken in the general way; as a rule the first stage tells.
 *
 * Bounds. Let a result, or a piece of one, have at most 2^B terms, each less than 2^(top + 1) and a multiple of 2^bottom, and u >= top + B - 49. Sums
 * of upper parts are less than 2^50 units 2^u and what carry() moves there, so that all stay within 2^51 units of 1.5 * 2^52 units,
 * where f64 has just whole units. What is left of a term is at most half a unit, as is what carry() leaves; before the next one
 * less than 2^ADDS of them come. So a lower part is at most 2^(ADDS + u), as is the sum of all those of a result that carry() has
 * left, and a multiple of 2^bottom: exact in f64 if ADDS + u - bottom is at most 53.
 *
 * Squares. Their exponents lie twice as far apart, and they have twice as many digits, so that of a long row some are as a rule too
 * small for that. These go to parts of their own, whose unit follows from the largest that can come there. What all parts hold are
 * two numbers once more, as a rule, or three. So that few are too small, units of squares have room for fewer of the largest than there
 * are terms: up to 2^SLACK fewer, but for more than come between two carries; with each of these, and in the end, it is looked
 * at what all came to.
 *
 * Halves. Parts are sums in two numbers of f32, u >= top + ADDS - 20, of 2^ADDS terms each; lower ones are exact if ADDS + u - 1 - bottom
 * is at most 24. Elements with a lower bit than that, which are less than half a unit, go to the lower part of f64 themselves. Before
 * more than 2^ADDS come, carry() moves both numbers to f64, where they are added as they are: of 2^B terms upper ones are at most
 * 2^(B + 22 - ADDS) units 2^u, which f64 holds while B is at most 31, lower ones 2^(B + u - 1), which is exact if B + u - 1 - bottom is
 * at most 53. */
#pragma once

#include "many_sums.cuh"

#if __CUDA_ARCH__ >= 900
namespace {

/* What a warp has ordered and not yet taken. A lane takes what it has ordered itself. */
struct LaneRing {
    static constexpr int STAGES = RD_CUDA_STAGES, VECTORS = RD_CUDA_STAGE_VECTORS, STAGE_BYTES = VECTORS * 32 * 16;
    static_assert((STAGES & (STAGES - 1)) == 0, "places are masked");
    unsigned char *own;      /* the lane's first vector */
    unsigned ordered, taken; /* where the next stage goes to, and comes from */

    __device__ __forceinline__ LaneRing() : own(memory_of(warp_index()) + lane_index() * 16), ordered(0), taken(0) {
    }
    static __device__ __forceinline__ unsigned char *memory_of(int warp) {
        return ring_memory + warp * (STAGES * STAGE_BYTES);
    }
    static __device__ __forceinline__ void advance(unsigned &stage) {
        stage = (stage + STAGE_BYTES) & (STAGES * STAGE_BYTES - 1);
    }

    static __device__ __forceinline__ void copy(unsigned char *to, const void *from) {
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"l"((u64)__cvta_generic_to_shared(to)),
                     "l"(from)
                     : "memory");
    }
    /* A lane's vectors of a stage, so many bytes apart. Vector v is there if `left` is more than v * each, otherwise it is padding. */
    __device__ __forceinline__ void order(const void *from, i64 apart, int left, int each, uint4 padding) {
        const unsigned char *at = static_cast<const unsigned char *>(from);
        unsigned char *to = own + ordered;
        if (left > (VECTORS - 1) * each) {
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                copy(to + v * 32 * 16, at + v * apart);
        } else {
#pragma unroll 1
            for (int v = 0; v < VECTORS; v++) {
                if (left > v * each)
                    copy(to + v * 32 * 16, at + v * apart);
                else
                    *reinterpret_cast<uint4 *>(to + v * 32 * 16) = padding;
            }
        }
    }
    /* Every stage ends so, whether anything was ordered or not. */
    __device__ __forceinline__ void end_order() {
        end_group();
        advance(ordered);
    }
    static __device__ __forceinline__ void end_group() {
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

    /* Until the next stage is there, when PENDING later ones may be on their way. */
    template <int PENDING> static __device__ __forceinline__ void await() {
        asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
    }
    /* Some of its vectors, from one on. */
    template <class Stored, int N> __device__ __forceinline__ void look(int first, Vector<Stored> (&to)[N]) const {
#pragma unroll
        for (int v = 0; v < N; v++)
            to[v].bits = *reinterpret_cast<const uint4 *>(own + taken + (first + v) * 32 * 16);
    }
    /* Makes room. */
    __device__ __forceinline__ void leave() {
        advance(taken);
    }

    /* Nothing is on its way any more. */
    static __device__ __forceinline__ void drain() {
        asm volatile("cp.async.wait_all;" ::: "memory");
    }
};

/* A number of f64 and what rounding it left. (Donald E. Knuth, The Art of Computer Programming, volume 2, 1969: section 4.2.2,
 * theorem B.) */
__device__ __forceinline__ Parted sum_of_two(double a, double b) {
    Parted sum = {a, 0};
    sum.add(b);
    return sum;
}

/* Adds another sum, of smaller terms; what two numbers do not hold goes to a third. False if that does not hold it. */
__device__ __forceinline__ bool join(Parted &sum, double &rest, const Parted &smaller) {
    const Parted of_sum = sum_of_two(sum.upper, sum.lower), of_smaller = sum_of_two(smaller.upper, smaller.lower),
                 upper = sum_of_two(of_sum.upper, of_smaller.upper), lower = sum_of_two(of_sum.lower, upper.lower),
                 all = sum_of_two(lower.upper, of_smaller.lower), left = sum_of_two(lower.lower, all.lower);
    sum = {upper.upper, all.upper};
    rest = left.upper;
    return left.lower == 0;
}

/* What sums have that take all elements alike. */
struct NoSmall {
    bool came;
};

/* A lane's sums in f64: of columns one for each element of a vector, of rows one or a few. */
template <class State, bool COLUMNS> struct WideSums {
    typedef typename State::Stored Stored;
    typedef typename State::T T;
    typedef typename State::Range Range;
    typedef Quick<State> Way;
    static constexpr int VECTORS = LaneRing::VECTORS, EACH = 16 / sizeof(Stored), COUNT = VECTORS * EACH,
                         SUMS = Way::SUMS, PARTS = COLUMNS || !State::PRODUCTS ? EACH : 2;
    /* Vectors at a time: of columns with so much to keep fewer. */
    static constexpr int AT_ONCE = COLUMNS && SUMS == 2 && !std::is_same<typename State::Beside, NothingBeside>::value
                                       ? VECTORS / 2
                                       : VECTORS,
                         TAKEN = AT_ONCE * EACH;
    static constexpr int ROOM = State::PRODUCTS ? RD_CUDA_RINGED_ROOM_SQUARES : RD_CUDA_RINGED_ROOM;
    static constexpr int ADDS = 7, CARRY = (PARTS << ADDS) / COUNT - 1; /* stages between two carries */
    static constexpr int SLACK = 6;
    static_assert(32 * WARPS <= 1 << (ADDS + 1) && 32 * PARTS <= 1 << (ADDS + 1),
                  "that is as many lower parts of half a unit as a column has, and a row");
    /* Squares of halves have so few digits that none is too small. */
    static constexpr bool HAS_SMALL = State::PRODUCTS && sizeof(Stored) == 4;
    typename Way::Keys keys;
    Parted part[SUMS][PARTS];
    int unit[SUMS], log; /* results have at most 2^log terms */

    int least;          /* exponent of the least elements that are not small */
    unsigned small_key; /* small ones have a key, less one, of less */

    /* What is kept of small elements: few come, so that it lies where it takes no registers. (A variable of its own, since a function
     * takes its address: what it was part of would lie there too.) */
    struct Kept {
        static constexpr int PARTS = COLUMNS ? EACH : 1;
        Parted part[SUMS][PARTS];
        int unit[SUMS];
        bool came;

        __device__ __forceinline__ Parted held(int k, int i) const {
            return came ? Parted{part[k][i].upper - Way::start(unit[k]), part[k][i].lower} : Parted{0, 0};
        }
    };
    typedef typename std::conditional<HAS_SMALL, Kept, NoSmall>::type Small;

    /* Of sum number k: exponents of the largest term, and of the lowest bit of the smallest, of elements with such exponents. */
    static __device__ __forceinline__ int top_of(int k, int largest) {
        return State::ELEMENTS && k == 0 ? largest : 2 * largest + 1;
    }
    static __device__ __forceinline__ int bottom_of(int k, int smallest) {
        const int bottom = smallest - (State::DIGITS - 1);
        return State::ELEMENTS && k == 0 ? bottom : 2 * bottom;
    }
    /* So many terms of the largest there may be. No square is negative, so that what has come is looked at instead: as a rule it is far
     * less than as many of the largest would be. */
    __device__ __forceinline__ int log_for(int k) const {
        return State::ELEMENTS && k == 0 ? log : max(log - SLACK, min(log, ADDS + 2));
    }
    __device__ __forceinline__ int unit_for(int k, int largest) const {
        return top_of(k, largest) + log_for(k) - 49;
    }
    static __device__ __forceinline__ bool is_exact(int k, int smallest, int of_unit) {
        return ADDS + of_unit - bottom_of(k, smallest) <= 53;
    }

    /* By the range of first stages. */
    __device__ __forceinline__ void open(const Range &range, Small &small) {
        small.came = false;
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            unit[k] = unit_for(k, range.largest() + ROOM);
#pragma unroll
            for (int i = 0; i < PARTS; i++)
                part[k][i] = {Way::start(unit[k]), 0};
        }
        if constexpr (HAS_SMALL) {
            /* The last sum is of squares, and those of fewer elements are exact. */
            least = max((ADDS + unit[SUMS - 1] - 53 + 2 * (State::DIGITS - 1) + 1) >> 1, -126);
            small_key = least > -126 ? ((unsigned)(least + 127) << 23) - 1 : 0;
        }
    }
    /* Before the first small element comes. */
    __device__ __forceinline__ void open_small(Small &small) const {
        small.came = true;
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            small.unit[k] = small_unit(k);
#pragma unroll
            for (int i = 0; i < Kept::PARTS; i++)
                small.part[k][i] = {Way::start(small.unit[k]), 0};
        }
    }
    __device__ __forceinline__ int small_unit(int k) const {
        return top_of(k, least - 1) + log - 49;
    }
    __device__ __forceinline__ void note(const Vector<Stored> (&vector)[VECTORS]) {
        T x[COUNT];
        Way::unpack(vector, x);
        keys.note(x);
    }
    static __device__ __forceinline__ void add(int k, Parted &to, T x) {
        if (State::ELEMENTS && k == 0) {
            Way::add(to, State::ABSOLUTE ? fabs((double)x) : (double)x);
        } else {
            const double a = x, upper = __fma_rn(a, a, to.upper);
            to.lower += __fma_rn(a, a, -(upper - to.upper));
            to.upper = upper;
        }
    }
    template <class Also>
    __device__ __forceinline__ void take(Vector<Stored> (&vector)[AT_ONCE], Small &small, const Also &also) {
        T x[TAKEN];
        Way::unpack(vector, x);
        also(x);
        if constexpr (HAS_SMALL) {
            typename Way::Keys own;
            own.reset();
            own.note(x);
            keys.widen(own);
            if (own.has_less(small_key))
                take_small(x, small);
        } else {
            keys.note(x);
        }
#pragma unroll
        for (int i = 0; i < TAKEN; i++)
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                add(k, part[k][i % PARTS], x[i]);
    }
    /* Takes out elements whose squares are too small. */
    __device__ __forceinline__ void take_small(T (&x)[TAKEN], Small &small) const {
        T all[TAKEN];
        unsigned which = 0;
#pragma unroll
        for (int i = 0; i < TAKEN; i++) {
            const bool is_small = State::key_of(x[i]) - 1 < small_key;
            all[i] = x[i];
            which |= (unsigned)is_small << i;
            x[i] = is_small ? State::padding() : x[i];
        }
        if (!small.came)
            open_small(small);
        add_small(small, all, which);
    }
    static __device__ __noinline__ void add_small(Small &to, const T (&x)[TAKEN], unsigned which) {
#pragma unroll 1
        for (; which; which &= which - 1) {
            const int i = __ffs((int)which) - 1;
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                add(k, to.part[k][i % Kept::PARTS], x[i]);
        }
        static_assert(TAKEN <= 1 << ADDS, "carried each time");
#pragma unroll
        for (int k = 0; k < SUMS; k++)
            carry(to.part[k], Way::start(to.unit[k]));
    }
    /* Leaves at most half a unit in lower parts. */
    template <int N> static __device__ __forceinline__ void carry(Parted (&of)[N], double begin) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const double units = (begin + of[i].lower) - begin;
            of[i].upper += units;
            of[i].lower -= units;
        }
    }
    __device__ __forceinline__ void carry() {
#pragma unroll
        for (int k = 0; k < SUMS; k++)
            carry(part[k], Way::start(unit[k]));
    }
    /* Whether upper parts of squares, of which there may be more than units have room for, are small enough for what comes before the next
     * carry: that is less than 2^(ADDS + 50 - log_for) units, at most 2^48. */
    __device__ __forceinline__ bool has_room() const {
        bool has_room = true;
        if constexpr (State::PRODUCTS) {
            const double most = Way::start(unit[SUMS - 1]) + Way::power(unit[SUMS - 1] + 50);
#pragma unroll
            for (int i = 0; i < PARTS; i++)
                has_room = has_room && part[SUMS - 1][i].upper <= most;
        }
        return has_room;
    }
    /* More than this upper parts of squares must not come to, so that f64 adds them up exactly: as none is negative, no sum of some of them
     * is more. */
    __device__ __forceinline__ double most_of_squares() const {
        return Way::power(unit[SUMS - 1] + 53);
    }
    /* Whether all of a range was exact. */
    __device__ __forceinline__ RowsOutcome check(const Range &range) const {
        if (range.most == 0)
            return ROWS_RETRY;
        bool suits = range.finite();
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            int least_unit = unit[k];
            if constexpr (HAS_SMALL)
                least_unit = range.smallest() < least ? small_unit(k) : unit[k];
            suits = suits && unit_for(k, range.largest()) <= unit[k] && is_exact(k, range.smallest(), least_unit);
        }
        return suits ? ROWS_DONE : ROWS_UNSUITED;
    }
    /* Whether exponents are looked at after so many stages and a carry. */
    static __device__ __forceinline__ bool checks(unsigned) {
        return true;
    }
    __device__ __forceinline__ Parted held(int k, int i) const {
        return {part[k][i].upper - Way::start(unit[k]), part[k][i].lower};
    }
};

/* A lane's sums of halves: of columns one for each element of a vector, of rows one. */
template <class State, bool COLUMNS> struct NarrowSums {
    typedef typename State::Stored Stored;
    typedef typename State::Range Range;
    typedef Quick<State> Way;
    static constexpr int BIAS_OF_HALF = Reading<Stored>::HIGHEST - 1, ROOM = RD_CUDA_RINGED_ROOM_HALVES;
    static constexpr bool HAS_SMALL = false; /* but what take_small() does */
    typedef NoSmall Small;
    static constexpr int VECTORS = LaneRing::VECTORS, EACH = 16 / sizeof(Stored), ADDS = 3, PARTS = COLUMNS ? EACH : 1,
                         CHAINS = COLUMNS ? EACH : 4, CARRY = (CHAINS << ADDS) / (VECTORS * EACH), CHECK = 32;
    static_assert(CARRY > 0 && CHECK % CARRY == 0, "carries and checks are of whole stages");
    static constexpr int AT_ONCE = VECTORS; /* vectors at a time */
    typename Way::Keys keys;
    NarrowParted chain[CHAINS];
    Parted part[PARTS];
    float begin;
    int unit, log;
    unsigned small; /* f32 cannot take elements with a key, less one, of less */

    __device__ __forceinline__ void open(const Range &range, Small &) {
        unit = Way::unit_for(min(range.largest() + ROOM, Reading<Stored>::HIGHEST - 1), ADDS);
        begin = Way::start(unit);
        const int least = Way::least_exact(unit, ADDS) + BIAS_OF_HALF;
        small = least > 1 ? ((unsigned)least << Reading<Stored>::PLACES) - 1 : 0;
#pragma unroll
        for (int i = 0; i < PARTS; i++)
            part[i] = {0, 0};
        start();
    }
    __device__ __forceinline__ void start() {
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            chain[i] = {begin, 0};
    }
    __device__ __forceinline__ void note(const Vector<Stored> (&vector)[VECTORS]) {
        keys.note(vector);
    }
    template <class Also>
    __device__ __forceinline__ void take(Vector<Stored> (&vector)[VECTORS], Small &, const Also &) {
        typename Way::Keys own;
        own.reset();
        own.note(vector);
        keys.widen(own);
        if (own.has_less(small))
            take_small(vector);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            float x[EACH];
            unpack_vector(vector[v], x);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                Way::add(chain[i % CHAINS], Way::element(x[i]));
        }
    }
    /* Elements that are too small for f32. Rare. */
    __device__ __forceinline__ void take_small(Vector<Stored> (&vector)[VECTORS]) {
#pragma unroll
        for (int i = 0; i < VECTORS * EACH; i++) {
            unsigned &word = vector[i / EACH].word[i % EACH / 2];
            const unsigned half = word >> i % 2 * 16 & 0xffff;
            if ((half & 0x7fff) - 1 < small) {
                float x[2];
                unpack_pair<Reading<Stored>::PLACES>(half, x);
                part[i % PARTS].lower += (double)Way::element(x[0]);
                word &= i % 2 ? 0xffff : 0xffff0000;
            }
        }
    }
    /* Sums of upper parts are exact in f32 too. */
    __device__ __forceinline__ void carry() {
        constexpr int OF_PART = CHAINS / PARTS;
        static_assert(OF_PART <= 4, "so many times 2^21 units, and what is rounded, are less than 2^24");
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            float upper = 0;
#pragma unroll
            for (int i = 0; i < OF_PART; i++) {
                upper += chain[p * OF_PART + i].upper - begin;
                part[p].lower += (double)chain[p * OF_PART + i].lower;
            }
            part[p].upper += (double)upper;
        }
        start();
    }
    __device__ __forceinline__ RowsOutcome check(const Range &range) const {
        if (range.most == 0)
            return ROWS_RETRY;
        return range.finite() && Way::has_unit(unit) && Way::unit_for(range.largest(), ADDS) <= unit &&
                       log + unit - 1 - Way::bottom_of(range) <= Units<double>::DIGITS
                   ? ROWS_DONE
                   : ROWS_UNSUITED;
    }
    static __device__ __forceinline__ bool checks(unsigned stages) {
        return stages % CHECK == 0;
    }
    __device__ __forceinline__ bool has_room() const {
        return true;
    }
    __device__ __forceinline__ Parted held(int, int i) const {
        return part[i];
    }
};

template <class State> struct Ringed {
    typedef typename State::Stored Stored;
    typedef typename State::Range Range;
    typedef Quick<State> Way;
    static constexpr int VECTORS = LaneRing::VECTORS, EACH = 16 / sizeof(Stored), SUMS = Way::SUMS;
    static_assert(!State::PAIRS && sizeof(Stored) <= 4, "sums of f32, or of halves");
    typedef typename std::conditional<Way::NARROW, NarrowSums<State, false>, WideSums<State, false>>::type RowSums;
    typedef typename std::conditional<Way::NARROW, NarrowSums<State, true>, WideSums<State, true>>::type ColumnSums;
    typedef typename State::Beside Beside;
    static constexpr bool HAS_BESIDE = Way::HAS_BESIDE;
    static_assert(!HAS_BESIDE || !Way::NARROW, "narrow sums have nothing beside them");
    /* Long rows come in pieces. */
    static constexpr bool CUT = sizeof(Stored) == 2 || State::PRODUCTS || HAS_BESIDE;

    /* Of a result. */
    struct Kept {
        Parted sum[SUMS];

        __device__ __forceinline__ void add(const Kept &other) {
#pragma unroll
            for (int k = 0; k < SUMS; k++) {
                sum[k].upper += other.sum[k].upper;
                sum[k].lower += other.sum[k].lower;
            }
        }
    };
    /* The same with what was small. */
    struct Whole : Kept {
        double rest[SUMS]; /* what two numbers do not hold */

        __device__ __forceinline__ Whole() : Kept(), rest() {
        }
        __device__ __forceinline__ explicit Whole(const Kept &kept) : Kept(kept), rest() {
        }
        /* False if three numbers do not hold a sum. */
        __device__ __forceinline__ bool join_all(const Kept &smaller) {
            bool fits = true;
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                fits = join(this->sum[k], rest[k], smaller.sum[k]) && fits;
            return fits;
        }
        /* Whether the first sum is zero, whose sign and rounding the general way knows. */
        __device__ __forceinline__ bool is_zero() const {
            return this->sum[0].upper == -this->sum[0].lower && rest[0] == 0;
        }
        __device__ __forceinline__ bool is_long() const {
            bool is_long = false;
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                is_long = is_long || rest[k] != 0;
            return is_long;
        }
    };

    static __device__ __forceinline__ uint4 padding() {
        const unsigned zero = sizeof(Stored) == 4 ? 0x80000000 : 0x80008000; /* -0 */
        return make_uint4(zero, zero, zero, zero);
    }
    static __device__ __forceinline__ int log_of(u64 count) {
        return count > 1 ? 64 - __clzll((i64)(count - 1)) : 0;
    }

    /* Takes `stages`. order() orders another one, common() makes the range of a warp that of all who share their results, and also() is
     * given elements, and the number of the first of their vectors. */
    template <class Sums, class Order, class Common, class Also>
    static __device__ __forceinline__ RowsOutcome take(LaneRing &ring, unsigned stages, Sums &sums,
                                                       typename Sums::Small &small, Order order, Common common,
                                                       Also also) {
        Vector<Stored> vector[VECTORS];
        sums.keys.reset();
        /* The first stage is looked at twice: with this in the loop compilers keep the sums in memory. */
        ring.template await<LaneRing::STAGES - 2>();
        ring.look(0, vector);
        sums.note(vector);
        const Range first = common(sums.keys.range());
        sums.open(first, small);
        if (sums.check(first) == ROWS_UNSUITED)
            return ROWS_UNSUITED;
#pragma unroll 1
        for (unsigned stage = 0, until_carry = Sums::CARRY; stage < stages; stage++) {
            order();
            ring.template await<LaneRing::STAGES - 1>();
            /* One after another, that registers are free again: compilers would convert all elements first. */
#pragma unroll 1
            for (int v = 0; v < VECTORS; v += Sums::AT_ONCE) {
                Vector<Stored> part[Sums::AT_ONCE];
                ring.look(v, part);
                if (v + Sums::AT_ONCE == VECTORS)
                    ring.leave();
                sums.take(part, small, [&](const auto &x) { also(x, stage * VECTORS + v); });
            }
            if (--until_carry == 0) {
                until_carry = Sums::CARRY;
                sums.carry();
                if (!__all_sync(ALL, sums.has_room()) ||
                    (Sums::checks(stage + 1) && sums.check(sums.keys.range()) == ROWS_UNSUITED))
                    return ROWS_UNSUITED;
            }
        }
        sums.carry();
        return __all_sync(ALL, sums.has_room()) ? ROWS_DONE : ROWS_UNSUITED;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Rows
     * -------------------------------------------------------------------------------------------------------------- */

    /* A task: its first row, the rows that it has, and where the piece of each lies that it takes. */
    struct RowsTask {
        u64 first;
        unsigned rounds;
        u64 begin;
        int vectors;

        __device__ __forceinline__ RowsTask(const rd_cuda_many &many, u64 task) : begin(0) {
            u64 at = task, length = many.call.count;
            if (CUT && many.pieces > 1) {
                const u64 of_piece = (many.results + many.batch - 1) / many.batch, piece = divide(task, of_piece);
                at = task - piece * of_piece;
                begin = piece * many.piece;
                length = min((u64)many.piece, many.call.count - begin);
            }
            first = at * many.batch;
            rounds = task < many.tasks ? (unsigned)min((u64)many.batch, many.results - first) : 0;
            vectors = (int)(length / EACH);
        }
        __device__ __forceinline__ unsigned stages() const {
            return (vectors + VECTORS * 32 - 1) / (VECTORS * 32);
        }
    };

    /* A warp's way through the rows of its tasks: the stage to be ordered next. */
    struct Rows {
        const rd_cuda_many &many;
        int vectors;     /* of a row, or a piece */
        unsigned stages; /* of that */
        const u64 step;  /* between tasks */
        i64 to_next;     /* elements from the last stage of a row to the next row */
        u64 task;
        unsigned rounds, stage; /* rows of the task that are left; the stage of the row */
        const Stored *from;     /* the lane's first vector of the stage */

        __device__ __forceinline__ Rows(const rd_cuda_many &m, u64 first, u64 to_next_task)
            : many(m), step(to_next_task) {
            start(first);
        }
        __device__ __forceinline__ void start(u64 to) {
            const RowsTask own(many, to);
            task = to;
            rounds = own.rounds;
            stage = 0;
            vectors = own.vectors;
            stages = own.stages();
            to_next = many.axis[0].stride[0] - (i64)stages * (VECTORS * 32 * EACH);
            from = static_cast<const Stored *>(many.call.x) +
                   ((i64)own.first * many.axis[0].stride[0] + (i64)own.begin + lane_index() * EACH);
        }
        __device__ __forceinline__ void order(LaneRing &ring) {
            if (rounds) {
                ring.order(from, 32 * 16, vectors - (int)(stage * VECTORS * 32) - lane_index(), 32, padding());
                from += VECTORS * 32 * EACH;
                if (++stage == stages) {
                    stage = 0;
                    from += to_next;
                    if (--rounds == 0)
                        start(task + step);
                }
            }
            ring.end_order();
        }
    };

    /* Over the lanes of a row, in all of them. */
    static __device__ __forceinline__ void merge_lanes(Kept &kept) {
#pragma unroll 1
        for (int by = 1; by < 32; by *= 2) {
            Kept other;
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                other.sum[k] = {__shfl_xor_sync(ALL, kept.sum[k].upper, by),
                                __shfl_xor_sync(ALL, kept.sum[k].lower, by)};
            kept.add(other);
        }
    }
    /* The sums of a row. False if they are too large, or have too many digits. */
    static __device__ __forceinline__ bool merge(const RowSums &sums, const typename RowSums::Small &of_small,
                                                 Whole &row) {
        Kept kept = {};
#pragma unroll
        for (int i = 0; i < RowSums::PARTS; i++) {
            Kept part;
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                part.sum[k] = sums.held(k, i);
            kept.add(part);
        }
        merge_lanes(kept);
        row = Whole(kept);
        if constexpr (State::PRODUCTS)
            if (kept.sum[SUMS - 1].upper > sums.most_of_squares())
                return false;
        if constexpr (RowSums::HAS_SMALL) {
            if (__any_sync(ALL, of_small.came)) {
                Kept small;
#pragma unroll
                for (int k = 0; k < SUMS; k++)
                    small.sum[k] = of_small.held(k, 0);
                merge_lanes(small);
                return row.join_all(small);
            }
        }
        return true;
    }

    /* Functions of their own, so that the loops around them have the registers. */
    static __device__ __noinline__ void finish_rows(const rd_cuda_many &many, typename State::Shared &shared,
                                                    Whole kept, Beside beside, bool mine, u64 own) {
        const bool is_long = RowSums::HAS_SMALL && kept.is_long();
        State::finish_parted(many, shared, kept.sum, 0, beside, mine && !is_long, own);
        if constexpr (RowSums::HAS_SMALL)
            if (__any_sync(ALL, mine && is_long))
                State::finish_held(many, shared, kept.sum, kept.rest, beside, mine && is_long, own);
    }
    static __device__ __noinline__ void finish_pieces(const rd_cuda_many &many, typename State::Shared &shared,
                                                      Whole kept, Beside beside, u64 pieces, bool mine, u64 result) {
        State::finish_pieces(many, shared, kept.sum, kept.rest, beside, pieces, mine, result);
    }

    /* Sums of results, or of so many pieces of them as one. By all lanes, of which some have one. */
    static __device__ __forceinline__ void finish(const rd_cuda_many &many, typename State::Shared &shared,
                                                  const Whole &kept, const Beside &beside, u64 pieces, bool mine,
                                                  u64 result) {
        if (many.pieces == 1)
            finish_rows(many, shared, kept, beside, mine, result);
        else
            finish_pieces(many, shared, kept, beside, pieces, mine, result);
    }

    /* Tasks from `task` on, `step` apart, up to one that is to be reduced in the general way, which it returns. */
    static __device__ __forceinline__ u64 reduce_rows(const rd_cuda_many &many, typename State::Shared &shared,
                                                      u64 task, u64 step, int &patience) {
        const Lane lane(many);
        LaneRing ring;
        Rows rows(many, task, step);
        RowSums sums;
        typename RowSums::Small small;
        sums.log = log_of(CUT && many.pieces > 1 ? many.piece : many.call.count);
#pragma unroll 1
        for (int i = 0; i < LaneRing::STAGES - 1; i++)
            rows.order(ring);
        RowsOutcome outcome = ROWS_DONE;
#pragma unroll 1
        for (; task < many.tasks; task += step) {
            const RowsTask own(many, task);
            const unsigned rounds = own.rounds;
            const bool mine = lane_index() < (int)rounds;
            Whole kept;
            Beside beside;
            beside.reset();
#pragma unroll 1
            for (unsigned round = 0; round < rounds; round++) {
                Beside of_row;
                of_row.reset();
                const auto look = [&](const auto &x, unsigned vector) {
                    const unsigned before = vector * 32;
                    of_row.take(many, lane, x, (unsigned)own.begin + before * EACH, (unsigned)own.vectors - before);
                };
                outcome = take(
                    ring, own.stages(), sums, small, [&] { rows.order(ring); },
                    [](const Range &range) { return range; }, look);
                if (outcome == ROWS_DONE)
                    outcome = sums.check(sums.keys.range());
                if (outcome != ROWS_DONE)
                    break;
                Whole row;
                if (!merge(sums, small, row)) {
                    outcome = ROWS_RETRY;
                    break;
                }
                of_row.merge(many, lane);
                if (lane_index() == (int)round) {
                    kept = row;
                    beside = of_row;
                }
            }
            if (outcome == ROWS_DONE && __any_sync(ALL, mine && kept.is_zero()))
                outcome = ROWS_RETRY;
            if (outcome != ROWS_DONE)
                break;
            beside.find_in_row(many, mine, own.first + lane_index());
            if constexpr (CUT)
                finish(many, shared, kept, beside, 1, mine, own.first + lane_index());
            else
                finish_rows(many, shared, kept, beside, mine, own.first + lane_index());
            patience = min(patience + 1, 2 * PATIENCE);
        }
        ring.drain();
        patience -= outcome == ROWS_UNSUITED ? PATIENCE : 0;
        return task;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Columns
     * -------------------------------------------------------------------------------------------------------------- */

    /* How a block shares out the columns of a task, a vector of up to 128 for each lane, and their rows. */
    struct Columns {
        static constexpr unsigned MOST = 32 * EACH;
        unsigned across, places; /* lanes of a warp side by side; that share a column */
        u64 groups, tasks;       /* of columns */

        __device__ __forceinline__ explicit Columns(const rd_cuda_many &many) {
            across = 1;
            while (across < 32 && across * EACH < many.results)
                across *= 2;
            places = 32 / across;
            groups = (many.results + MOST - 1) / MOST;
            tasks = groups * ((many.pieces + many.together - 1) / many.together);
        }
    };

    /* A task: its first column and how many there are, and the pieces of each that it takes as one. */
    struct Task {
        u64 first, piece, pieces;
        unsigned here;

        __device__ __forceinline__ Task(const rd_cuda_many &many, const Columns &columns, u64 number) {
            const u64 above = number / columns.groups;
            first = (number - above * columns.groups) * Columns::MOST;
            here = (unsigned)min((u64)many.results - first, (u64)Columns::MOST);
            piece = above * many.together;
            pieces = min((u64)many.together, many.pieces - piece);
        }
    };

    /* What warps of a block tell each other. */
    struct Told {
        struct {
            unsigned most[WARPS], least[WARPS];
        } first, all; /* keys: of first stages, and of all */
        unsigned outcome[WARPS], retry, small;
        double most_of_squares;
    };

    template <class Ranges> static __device__ __forceinline__ void tell_range(Ranges &of, const Range &range) {
        if (lane_index() == 0) {
            of.most[warp_index()] = range.most;
            of.least[warp_index()] = range.least;
        }
    }
    template <class Ranges> static __device__ __forceinline__ Range common_range(const Ranges &of) {
        Range range = {0, 0xffffffff, 0};
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            range.most = max(range.most, of.most[w]);
            range.least = min(range.least, of.least[w]);
        }
        return range;
    }

    /* What a lane leaves of a column: its sums, and those of what was small. */
    struct Waiting {
        Kept kept[ColumnSums::HAS_SMALL ? 2 : 1];
    };
    static __device__ __forceinline__ Waiting *waiting_of(int warp) {
        return reinterpret_cast<Waiting *>(LaneRing::memory_of(warp));
    }
    /* Over the lanes of a block. */
    static __device__ __forceinline__ Kept sum_of(const Columns &columns, unsigned column, int which) {
        Kept sum = {};
#pragma unroll 1
        for (int warp = 0; warp < WARPS; warp++)
#pragma unroll 1
            for (unsigned place = 0; place < columns.places; place++)
                sum.add(waiting_of(warp)[place * columns.across * EACH + column].kept[which]);
        return sum;
    }

    /* The same of what is beside the sums, which is there first. By the whole block. */
    static __device__ __forceinline__ void join_beside(const rd_cuda_many &many, const Columns &columns,
                                                       const Task &task, const Beside (&of_lane)[EACH],
                                                       Beside &beside) {
        const auto left_by = [](int warp) { return reinterpret_cast<Beside *>(LaneRing::memory_of(warp)); };
        static_assert(32 * EACH * sizeof(Beside) <= LaneRing::STAGES * LaneRing::STAGE_BYTES, "it has room there");
        const u64 result = task.first + threadIdx.x;
        const unsigned apart = WARPS * columns.places;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < EACH; i++)
            left_by(warp_index())[lane_index() * EACH + i] = of_lane[i];
        __syncthreads();
        beside.reset();
        if (threadIdx.x < task.here) {
#pragma unroll 1
            for (int warp = 0; warp < WARPS; warp++)
#pragma unroll 1
                for (unsigned place = 0; place < columns.places; place++)
                    beside.template join_column<ColumnSums::AT_ONCE>(
                        many, left_by(warp)[place * columns.across * EACH + threadIdx.x], result, apart);
            beside.template find_in_column<ColumnSums::AT_ONCE>(many, result, apart);
        }
        __syncthreads();
    }

    /* Leaves the sums of lanes in the memory of their rings. By the whole block, which takes rows in turn. A function of its own, so that
     * the loop has the registers. */
    static __device__ __noinline__ RowsOutcome sum_columns(const rd_cuda_many &many, Told &told, const Columns columns,
                                                           u64 number, Beside &beside) {
        const Task task(many, columns, number);
        const unsigned place = warp_index() * columns.places + lane_index() / columns.across,
                       places = WARPS * columns.places, column = lane_index() % columns.across * EACH;
        const u64 begin = task.piece * many.piece, rows = many.pieces > 1
                                                              ? min(task.pieces * many.piece, many.call.count - begin)
                                                              : (u64)many.call.count;
        const i64 to_next = (i64)places * many.step[0];
        const Stored *from = static_cast<const Stored *>(many.call.x) +
                             ((i64)(begin + place) * many.step[0] + (i64)(task.first + column));
        const int all = column < task.here ? (int)rows - (int)place : 0;
        int left = all;
        LaneRing ring;
        const auto order = [&] {
            ring.order(from, to_next * (i64)sizeof(Stored), left, (int)places, padding());
            from += VECTORS * to_next;
            left -= VECTORS * (int)places;
            ring.end_order();
        };
        const auto common = [&](const Range &range) {
            tell_range(told.first, range);
            __syncthreads();
            told.retry = told.small = 0;
            return common_range(told.first);
        };
        ColumnSums sums;
        typename ColumnSums::Small small;
        Beside of_lane[EACH];
        typename Beside::Rows rows_of[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            of_lane[i].reset();
            Beside::open_rows(rows_of[i]);
        }
        sums.log = log_of(rows);
#pragma unroll 1
        for (int i = 0; i < LaneRing::STAGES - 1; i++)
            order();
        const unsigned of_stage = VECTORS * places;
        const auto look = [&](const auto &x, unsigned vector) {
            const unsigned before = vector * places;
            Beside::template take_columns<EACH>(many, of_lane, rows_of, x, (unsigned)begin + place + before,
                                                (int)places, all - (int)before);
        };
        const RowsOutcome own =
            take(ring, (unsigned)((rows + of_stage - 1) / of_stage), sums, small, order, common, look);
        ring.drain();
#pragma unroll
        for (int i = 0; i < EACH; i++)
            of_lane[i].close_rows(rows_of[i]);
        if constexpr (HAS_BESIDE)
            join_beside(many, columns, task, of_lane, beside);
        Waiting *waiting = waiting_of(warp_index()) + lane_index() * EACH;
        static_assert(32 * EACH * sizeof(Waiting) <= LaneRing::STAGES * LaneRing::STAGE_BYTES &&
                          ColumnSums::PARTS == EACH,
                      "sums have room where stages had");
        __syncwarp(); /* other lanes have what they ordered in its place */
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int k = 0; k < SUMS; k++) {
                waiting[i].kept[0].sum[k] = sums.held(k, i);
                if constexpr (ColumnSums::HAS_SMALL)
                    waiting[i].kept[1].sum[k] = small.held(k, i);
            }
        if constexpr (ColumnSums::HAS_SMALL)
            if (small.came)
                raise_flag(told.small);
        if constexpr (State::PRODUCTS)
            if (threadIdx.x == 0)
                told.most_of_squares = sums.most_of_squares();
        tell_range(told.all, sums.keys.range());
        if (lane_index() == 0)
            told.outcome[warp_index()] = own;
        __syncthreads();
        bool done = true;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            done = done && told.outcome[w] == ROWS_DONE;
        return done ? sums.check(common_range(told.all)) : ROWS_UNSUITED;
    }

    /* Adds up lanes, and delivers. By the whole block, a thread for each column. */
    static __device__ __forceinline__ RowsOutcome finish_columns(const rd_cuda_many &many,
                                                                 typename State::Shared &shared, Told &told,
                                                                 const Columns &columns, const Task &task,
                                                                 const Beside &beside) {
        static_assert(Columns::MOST <= THREADS, "there is a thread for each column");
        const unsigned column = threadIdx.x;
        Whole sum;
        if (column < task.here) {
            sum = Whole(sum_of(columns, column, 0));
            bool fits = !State::PRODUCTS || sum.sum[SUMS - 1].upper <= told.most_of_squares;
            if constexpr (ColumnSums::HAS_SMALL)
                if (told.small)
                    fits = sum.join_all(sum_of(columns, column, 1)) && fits;
            if (!fits || sum.is_zero())
                raise_flag(told.retry);
        }
        __syncthreads();
        if (told.retry)
            return ROWS_RETRY;
        if (warp_index() * 32 < (int)task.here)
            finish(many, shared, sum, beside, task.pieces, column < task.here, task.first + column);
        return ROWS_DONE;
    }

    /* A task in the general way, which has smaller ones: 32 columns, a piece of each. By the whole block. */
    static __device__ __noinline__ void reduce_unsuited_columns(const rd_cuda_many &many,
                                                                typename State::Shared &shared, const Task &task) {
        Walk<State> walk(many);
        const Tasks tasks(many, walk);
        const u64 first = task.first / tasks.at_a_time, groups = min((u64)Columns::MOST / 32, tasks.rounds - first);
#pragma unroll 1
        for (u64 i = warp_index(); i < groups * task.pieces; i += WARPS)
            reduce_task(many, shared, walk, tasks, (task.piece + i / groups) * tasks.rounds + first + i % groups);
    }
};

/* Tasks of rows that do not suit, and those after them. A function of its own, so that it takes no registers from the way above. */
template <class State>
__device__ __noinline__ void reduce_rest(const rd_cuda_many &many, typename State::Shared &shared, u64 task, u64 last,
                                         u64 step) {
    Walk<State> walk(many);
    const Tasks tasks(many, walk);
#pragma unroll 1
    for (; task < last; task += step)
        reduce_task(many, shared, walk, tasks, task);
}

/* Long rows that begin at vectors, and are vectors: many.c says which. */
template <class State> __device__ __forceinline__ void reduce_ringed_rows(const rd_cuda_many &many) {
    __shared__ typename State::Shared shared;
    State::open(shared);
    wait_for_previous();
    let_next_come();
    if (is_passed_over(many))
        return;
    const u64 step = (u64)gridDim.x * WARPS;
    int patience = many.ringed ? PATIENCE : 0;
#pragma unroll 1
    for (u64 task = (u64)blockIdx.x * WARPS + warp_index(); task < many.tasks;) {
        if (patience > 0)
            task = Ringed<State>::reduce_rows(many, shared, task, step, patience);
        const u64 next = patience > 0 ? task + step : many.tasks;
        reduce_rest<State>(many, shared, task, min(next, (u64)many.tasks), step);
        task = next;
    }
}

/* Columns of which each row begins at a vector, and is vectors. */
template <class State> __device__ __forceinline__ void reduce_ringed_columns(const rd_cuda_many &many) {
    typedef Ringed<State> Way;
    __shared__ typename State::Shared shared;
    __shared__ typename Way::Told told;
    State::open(shared);
    wait_for_previous();
    let_next_come();
    if (is_passed_over(many))
        return;
    const typename Way::Columns columns(many);
    int patience = many.ringed ? PATIENCE : 0;
#pragma unroll 1
    for (u64 number = blockIdx.x; number < columns.tasks; number += gridDim.x) {
        const typename Way::Task task(many, columns, number);
        RowsOutcome outcome = ROWS_UNSUITED;
        typename Way::Beside beside;
        if (patience > 0)
            outcome = Way::sum_columns(many, told, columns, number, beside);
        if (outcome == ROWS_DONE)
            outcome = Way::finish_columns(many, shared, told, columns, task, beside);
        if (outcome == ROWS_DONE) {
            patience = min(patience + 1, 2 * PATIENCE);
            continue;
        }
        patience -= outcome == ROWS_UNSUITED ? PATIENCE : 0;
        Way::reduce_unsuited_columns(many, shared, task);
    }
}

} // namespace

/* The kernels of an element type. */
#define RD_CUDA_RINGED(WAY, NAME, TYPE, TRANSFORM)                                                                     \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        many_ringed_##WAY##_##NAME(const __grid_constant__ rd_cuda_many many) {                                        \
        reduce_ringed_##WAY<SumState<TYPE, TRANSFORM>>(many);                                                          \
    }
#define RD_CUDA_RINGED_SUM(NAME, TYPE, TRANSFORM)                                                                      \
    RD_CUDA_RINGED(rows, NAME, TYPE, TRANSFORM)                                                                        \
    RD_CUDA_RINGED(columns, NAME, TYPE, TRANSFORM)
#define RD_CUDA_RINGED_SUMS(TYPE)                                                                                      \
    RD_CUDA_RINGED_SUM(identity, TYPE, RD_IDENTITY)                                                                    \
    RD_CUDA_RINGED_SUM(absolute, TYPE, RD_ABSOLUTE)                                                                    \
    RD_CUDA_RINGED_SUM(square, TYPE, RD_SQUARE)                                                                        \
    RD_CUDA_RINGED_SUM(moments, TYPE, RD_MOMENTS)
#endif
