/* Exact sums of rows of a few tiles in few instructions, of data whose exponents do not lie far apart, as those of most data do
 * not.
 *
 * Overview. The sum of a lane's terms is kept in two numbers of f64. The upper one takes from each term what is a multiple of a
 * unit, as a slice does (many_sums.cuh); the lower one adds what is left. The unit follows from the largest exponent, and nothing
 * else has to be known before. Afterwards the smallest exponent says whether both sums were exact. If not, or where something is
 * not finite, the same elements are taken once more, in the general way.
 *
 * Bounds of a tile. Of 2^B terms, each less than 2^(top + 1) and a multiple of 2^bottom, with u = top + B - 49: the upper sum is
 * less than 2^50 units 2^u and a rounding each, so that it stays within 2^51 units of 1.5 * 2^52 units, where f64 has just whole
 * units. What is left of a term is at most half a unit; the sum of these is a multiple of 2^bottom of at most 2^(B + u - 1),
 * hence exact in f64 if B + u - 1 - bottom is at most 53.
 *
 * Bounds of 2^R tiles, each with a unit of its own. The sum of their upper sums is less than 2^(top + 1 + B + R), and each of its
 * additions rounds away at most 2^-53 of that, which the lower one gets too. So that is at most 2^(top + B + 2 R - 52) +
 * 2^(B + u - 1 + R), which is at most 2^(B + u + R + max(R, B)), and a multiple of 2^bottom. Lanes are added up as integers, in
 * units of 2^bottom.
 *
 * Products of f64 have more digits than two numbers hold. What is left of one is rounded, and so are sums of that: by at most 2^-53 of
 * what the lower sum of n terms may come to, n 2^(u - 1), at each of less than 2 n steps. So the sum is known but for 2^(2 B + u - 52), which
 * is some 2^-80 of it: a result is that of the exact sum if all numbers so near are rounded alike, and nearly all are (Abraham Ziv, Fast
 * evaluation of elementary mathematical functions with correctly rounded last bit, 1991). Of tiles, with u that of
 * the largest element, B + u + R + max(R, B) stands for B + u; and integers leave out what is below 2^-105 of all that there may be.
 *
 * Halves. Elements of 16 bits have so few digits that f32 does for most data what f64 does above, in a third of the time. With 24
 * digits instead of 53, u = top + B - 20, and the lower sum is exact if B + u - 1 - bottom is at most 24. That is of a lane's
 * elements; f64 holds the sums of all lanes. Their exponents are found two at a time, as they lie in memory. */
#pragma once

#include "finish.cuh"
#include "many.cuh"

namespace {

/* Warps whose data did not suit leave these ways, unless so many tasks suited before. */
constexpr int PATIENCE = 4;

/* Of what is stored: digits; of halves also places after the point, and exponents of the lowest bit and of the first power of two that
 * is beyond all numbers. */
template <class Stored> struct Reading;
template <> struct Reading<double> { static constexpr int DIGITS = 53; };
template <> struct Reading<float> { static constexpr int DIGITS = 24; };
template <int AFTER_POINT> struct Reading<Half<AFTER_POINT>> {
    static constexpr int PLACES = AFTER_POINT, DIGITS = PLACES + 1, LOWEST = PLACES == 7 ? -133 : -24,
                         HIGHEST = PLACES == 7 ? 128 : 16;
};

/* Numbers of f64 whose exponents are at most so large have all digits, and so have those by which they are found to be near. */
constexpr int USUAL_EXPONENTS = 900;

/* What exponents say of terms. */
struct Reach {
    int top, bottom;
};

/* A sum in two parts. */
struct Parted {
    double upper, lower;

    /* Adds a number; the lower part gets what the upper one rounds away. (Donald E. Knuth, The Art of Computer Programming,
     * volume 2, 1969: section 4.2.2, theorem B.) */
    __device__ __forceinline__ void add(double more) {
        const double sum = upper + more, own = sum - more;
        lower += (upper - own) + (more - (sum - own));
        upper = sum;
    }
};

/* Where results stand after a task of rows: RETRY and UNSUITED ones are reduced in the general way; of the latter more will
 * follow. */
enum RowsOutcome { ROWS_DONE, ROWS_RETRY, ROWS_UNSUITED };

/* What else is kept of a row beside its sums, of states that have such a thing (State::Beside): here, nothing. */
struct NothingBeside {
    __device__ __forceinline__ void reset() {
    }
    /* A lane's elements, of the `left` vectors that a row has from element number `first` on, which its lanes share out in turn.
     * What they come to means nothing if sums do not suit. */
    template <class T, int N>
    __device__ __forceinline__ void take(const rd_cuda_many &, const Lane &, const T (&)[N], unsigned, unsigned) {
    }
    /* Over the lanes of a row. */
    __device__ __forceinline__ void merge(const rd_cuda_many &, const Lane &) {
    }
    /* In the end, by a lane that has a result. */
    __device__ __forceinline__ void find_in_row(const rd_cuda_many &, bool, u64) {
    }
    /* What many_close.cuh asks for: of a vector, whose first element is number `first` of its row; of both; what another lane has. */
    template <class T, int N> __device__ __forceinline__ void take_vector(const T (&)[N], bool, unsigned) {
    }
    __device__ __forceinline__ void join(const NothingBeside &) {
    }
    __device__ __forceinline__ NothingBeside of_lane(int) const {
        return {};
    }
    struct Rows {};
    static __device__ __forceinline__ void open_rows(Rows &) {
    }
    __device__ __forceinline__ void close_rows(const Rows &) {
    }
    /* As take(), of EACH columns that lie side by side: N / EACH rows so far apart, from number `first` on; those that begin before
     * `left` are there. */
    template <int EACH, class T, int N>
    static __device__ __forceinline__ void take_columns(const rd_cuda_many &, NothingBeside (&)[EACH], Rows (&)[EACH],
                                                        const T (&)[N], unsigned, int, int) {
    }
};

/* The numbers in which terms are added: f64, or f32. Units for which 1.5 * 2^(DIGITS - 1) units are a normal number, and twice as much
 * finite. */
template <class Real> struct Units;
template <> struct Units<double> {
    static constexpr int DIGITS = 53, LEAST = -1070, MOST = 960;
    static __device__ __forceinline__ double start(int unit) {
        return __longlong_as_double(((i64)(52 + unit + 1023) << 52) | (i64)1 << 51);
    }
};
template <> struct Units<float> {
    static constexpr int DIGITS = 24, LEAST = -149, MOST = 103;
    static __device__ __forceinline__ float start(int unit) {
        return __uint_as_float(((unsigned)(23 + unit + 127) << 23) | 1u << 22);
    }
};

/* A sum of f32 in two parts. */
struct NarrowParted {
    float upper, lower;
};

/* Two halves of a word, the lower first. */
template <int PLACES> __device__ __forceinline__ void unpack_pair(unsigned word, float (&to)[2]) {
    if constexpr (PLACES == 7) {
        to[0] = __uint_as_float(word << 16);
        to[1] = __uint_as_float(word & 0xffff0000);
    } else {
        asm("cvt.f32.f16 %0, %1;" : "=f"(to[0]) : "h"((unsigned short)word));
        asm("cvt.f32.f16 %0, %1;" : "=f"(to[1]) : "h"((unsigned short)(word >> 16)));
    }
}
template <int PLACES>
__device__ __forceinline__ void unpack_vector(const Vector<Half<PLACES>> &vector, float (&to)[8]) {
#pragma unroll
    for (int w = 0; w < 4; w++) {
        float pair[2];
        unpack_pair<PLACES>(vector.word[w], pair);
        to[2 * w] = pair[0];
        to[2 * w + 1] = pair[1];
    }
}

/* What is done with a state's terms. */
template <class State> struct Quick {
    typedef typename State::Stored Stored;
    typedef typename State::Beside Beside;
    static constexpr bool HAS_BESIDE = !std::is_same<Beside, NothingBeside>::value;
    typedef typename State::T T;
    typedef typename State::Range Range;
    /* Terms are added in f32. */
    static constexpr bool NARROW = IS_HALF<Stored> && State::ELEMENTS && !State::PRODUCTS;
    typedef typename std::conditional<NARROW, float, double>::type Real;
    typedef typename std::conditional<NARROW, NarrowParted, Parted>::type Inner;
    /* Elements of a lane at a time: narrow sums leave room in registers, and time for memory only if more is on its way. */
    static constexpr int TWICE = NARROW ? 2 : 1, COUNT = TWICE * State::COUNT, PER_VECTOR = 16 / sizeof(Stored),
                         VECTORS = COUNT / PER_VECTOR, SUMS = (int)State::ELEMENTS + (int)State::PRODUCTS,
                         OTHERS = State::PAIRS ? COUNT : 1;

    /* -----------------------------------------------------------------------------------------------------------------
     * Terms
     * -------------------------------------------------------------------------------------------------------------- */

    /* Keys of a lane's elements: the largest, and the smallest but zero, less one. */
    struct OneByOne {
        unsigned most, least;

        __device__ __forceinline__ void reset() {
            most = 0;
            least = 0xffffffff;
        }
        template <int N> __device__ __forceinline__ void note(const T (&x)[N]) {
#pragma unroll
            for (int i = 0; i < N; i++) {
                const unsigned key = State::key_of(x[i]);
                most = max(most, key);
                least = min(least, key - 1);
            }
        }
        template <int N>
        __device__ __forceinline__ void note(const Vector<Stored> (&)[N], const T (&x)[N * PER_VECTOR]) {
            note(x);
        }
        __device__ __forceinline__ void widen(const OneByOne &other) {
            most = max(most, other.most);
            least = min(least, other.least);
        }
        /* Whether a smallest key, less one, is less. */
        __device__ __forceinline__ bool has_less(unsigned key) const {
            return least < key;
        }
        /* Over the warp. */
        __device__ __forceinline__ Range range() const {
            return {warp_max(most), warp_min(least), most};
        }
    };

    /* The same of halves as they lie in memory: their bits but the sign. Newer devices compare two at a time. */
    struct InPairs {
        unsigned most, least;

        __device__ __forceinline__ void reset() {
            most = 0;
            least = 0xffffffff;
        }
        __device__ __forceinline__ void note(unsigned word) {
            const unsigned pair = word & 0x7fff7fff;
#if __CUDA_ARCH__ >= 900
            most = __vmaxu2(most, pair);
            least = __viaddmin_u16x2(pair, 0xffffffff, least);
#else
            most = max(most, max(pair & 0xffff, pair >> 16));
            least = min(least, min((pair & 0xffff) - 1, (pair >> 16) - 1));
#endif
        }
        template <int N> __device__ __forceinline__ void note(const Vector<Stored> (&vector)[N]) {
#pragma unroll
            for (int i = 0; i < 4 * N; i++)
                note(vector[i / 4].word[i % 4]);
        }
        template <int N>
        __device__ __forceinline__ void note(const Vector<Stored> (&vector)[N], const T (&)[N * PER_VECTOR]) {
            note(vector);
        }
        __device__ __forceinline__ void widen(const InPairs &other) {
#if __CUDA_ARCH__ >= 900
            most = __vmaxu2(most, other.most);
            least = __vminu2(least, other.least);
#else
            most = max(most, other.most);
            least = min(least, other.least);
#endif
        }
        /* Whether a smallest key, less one, is less. */
        __device__ __forceinline__ bool has_less(unsigned key) const {
#if __CUDA_ARCH__ >= 900
            const unsigned pair = key << 16 | key;
            return __vminu2(least, pair) != pair;
#else
            return least < key;
#endif
        }
        static __device__ __forceinline__ unsigned key_of_half(unsigned bits) {
            float pair[2];
            unpack_pair<Reading<Stored>::PLACES>(bits, pair);
            return __float_as_uint(pair[0]);
        }
        /* Over the warp. */
        __device__ __forceinline__ Range range() const {
#if __CUDA_ARCH__ >= 900
            const unsigned own = max(most & 0xffff, most >> 16), own_least = min(least & 0xffff, least >> 16);
#else
            const unsigned own = most, own_least = least;
#endif
            const unsigned all = warp_max(own), all_least = warp_min(own_least);
            return {key_of_half(all), all_least < 0x7fff ? key_of_half(all_least + 1) - 1 : 0xffffffff,
                    key_of_half(own)};
        }
    };
    typedef typename std::conditional<NARROW, InPairs, OneByOne>::type Keys;

    /* The lowest bit of elements. */
    static __device__ __forceinline__ int bottom_of(const Range &x) {
        const int bottom = x.smallest() - (State::DIGITS - 1);
        if constexpr (NARROW)
            return max(bottom, Reading<Stored>::LOWEST);
        else
            return bottom;
    }
    /* Of sum number k. */
    static __device__ __forceinline__ Reach reach_of(int k, const Range &x, const Range &y) {
        if (State::ELEMENTS && k == 0)
            return {x.largest(), bottom_of(x)};
        return {x.largest() + y.largest() + 1, x.smallest() + y.smallest() - 2 * (State::DIGITS - 1)};
    }
    static __device__ __forceinline__ int unit_for(int top, int log) {
        return top + log - (Units<Real>::DIGITS - 4);
    }
    /* Whether there is such a unit. */
    static __device__ __forceinline__ bool has_unit(int unit) {
        return unit >= Units<Real>::LEAST && unit <= Units<Real>::MOST;
    }
    static __device__ __forceinline__ Real start(int unit) {
        return Units<Real>::start(unit);
    }
    /* The least exponent of elements for which the following holds; far below all where it holds for any. */
    static __device__ __forceinline__ int least_exact(int unit, int log) {
        const int bottom = log + unit - 1 - Units<Real>::DIGITS;
        return bottom <= Reading<Stored>::LOWEST ? -(1 << 20) : bottom + State::DIGITS - 1;
    }
    /* Whether what such a unit leaves was exact. */
    static __device__ __forceinline__ bool was_exact(int bottom, int unit, int log) {
        return log + unit - 1 - bottom <= Units<Real>::DIGITS;
    }

    /* Of products that may be off: far above the least numbers, so that what results are found by has all digits. */
    static __device__ __forceinline__ bool has_unit_of_doubt(int unit) {
        return unit >= -USUAL_EXPONENTS && unit <= Units<double>::MOST;
    }
    static constexpr bool DOUBTS = State::DOUBTS;

    static __device__ __forceinline__ Real element(T x) {
        if constexpr (NARROW)
            return State::ABSOLUTE ? fabsf(x) : x;
        else
            return State::ABSOLUTE ? fabs((double)x) : (double)x;
    }
    static __device__ __forceinline__ Real term(int k, T x, T y) {
        return State::ELEMENTS && k == 0 ? element(x) : (Real)x * (Real)y;
    }
    /* To a sum that begins at start(). */
    static __device__ __forceinline__ void add(Inner &sum, Real term) {
        const Real upper = sum.upper + term;
        sum.lower += term - (upper - sum.upper);
        sum.upper = upper;
    }
    /* A product, which need not be a number. */
    static __device__ __forceinline__ void add_product(Parted &sum, double x, double y) {
        const double upper = __fma_rn(x, y, sum.upper);
        sum.lower += __fma_rn(x, y, -(upper - sum.upper));
        sum.upper = upper;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Loading
     * -------------------------------------------------------------------------------------------------------------- */

    /* A lane's vectors of a row's next `left`, which the lanes of the row share out in turn; padding for those that are not
     * there. */
    template <int N>
    static __device__ __forceinline__ void load_vectors(const Stored *from, const Lane &lane, unsigned left,
                                                        Stored padding, Vector<Stored> (&to)[N]) {
#pragma unroll
        for (int v = 0; v < N; v++) {
#pragma unroll
            for (int i = 0; i < PER_VECTOR; i++)
                to[v].element[i] = padding;
            if (v * lane.lanes + lane.place < left)
                to[v].bits = __ldcs(reinterpret_cast<const uint4 *>(from) + v * lane.lanes);
        }
    }
    template <int N>
    static __device__ __forceinline__ void copy_vectors(const Vector<Stored> (&from)[N], Vector<Stored> *to) {
#pragma unroll
        for (int v = 0; v < N; v++)
            to[v].bits = from[v].bits;
    }
    template <int N> static __device__ __forceinline__ void unpack(const Vector<Stored> (&vector)[N], T *to) {
        if constexpr (NARROW) {
#pragma unroll
            for (int v = 0; v < N; v++) {
                float own[8];
                unpack_vector(vector[v], own);
#pragma unroll
                for (int i = 0; i < 8; i++)
                    to[v * 8 + i] = own[i];
            }
        } else {
#pragma unroll
            for (int i = 0; i < N * PER_VECTOR; i++)
                to[i] = as_element(vector[i / PER_VECTOR].element[i % PER_VECTOR]);
        }
    }

    /* What a lane loads of a tile, as it lies in memory. */
    struct Tile {
        Vector<Stored> x[VECTORS], y[State::PAIRS ? VECTORS : 1];
    };

    /* -----------------------------------------------------------------------------------------------------------------
     * Rows of one tile
     * -------------------------------------------------------------------------------------------------------------- */

    /* A lane's way through the rows of a task, ROWS of which it takes at a time. */
    template <int ROWS> struct Rows {
        static constexpr int EACH = COUNT / ROWS; /* elements of a row */
        const rd_cuda_many &many;
        const Lane &lane;
        u64 first; /* result of the task */
        const Stored *x, *y;

        __device__ __forceinline__ void start(u64 task) {
            first = task * lane.slots * many.batch + lane.slot;
            const i64 within = (i64)lane.place * PER_VECTOR;
            x = static_cast<const Stored *>(many.call.x) + ((i64)first * many.axis[0].stride[0] + within);
            if (State::PAIRS)
                y = static_cast<const Stored *>(many.call.y) + ((i64)first * many.axis[0].stride[1] + within);
        }

        /* Of a row that is there, all that is; otherwise padding. */
        __device__ __forceinline__ void load_row(const Stored *from, unsigned vectors, Stored padding,
                                                 Vector<Stored> *to) const {
            Vector<Stored> vector[EACH / PER_VECTOR];
            load_vectors(from, lane, vectors, padding, vector);
            copy_vectors(vector, to);
        }
        /* The rows of rounds from `round` on. */
        __device__ __forceinline__ void load(unsigned round, Tile &to) const {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const i64 row = (i64)(round + r) * lane.slots;
                const bool there = round + r < many.batch && first + (u64)row < many.results;
                const unsigned vectors = there ? (unsigned)many.call.count / PER_VECTOR : 0;
                load_row(x + row * many.axis[0].stride[0], vectors, Stored(-0.0), to.x + r * (EACH / PER_VECTOR));
                if constexpr (State::PAIRS)
                    load_row(y + row * many.axis[0].stride[1], vectors, Stored(0.0), to.y + r * (EACH / PER_VECTOR));
            }
        }
    };

    /* Takes a lane's share of ROWS rows; leaves the sums of a row in the lane that will finish it. */
    template <int ROWS>
    static __device__ __forceinline__ RowsOutcome take_rows(const rd_cuda_many &many, const Tile &tile, int log,
                                                            const Lane &lane, unsigned round, bool mine,
                                                            Parted (&kept)[SUMS], double &doubt, Beside &kept_beside) {
        constexpr int EACH = COUNT / ROWS;
        T x[COUNT], y[OTHERS];
        Keys keys, others;
        unpack(tile.x, x);
        keys.reset();
        keys.note(tile.x, x);
        const Range of_x = keys.range();
        Range of_y = of_x;
        if constexpr (State::PAIRS) {
            unpack(tile.y, y);
            others.reset();
            others.note(tile.y, y);
            of_y = others.range();
        }
        if (of_x.most == 0 || of_y.most == 0)
            return ROWS_RETRY;
        bool suits = of_x.finite() && of_y.finite(), zero = false;
        double off = 0;
        Parted sum[SUMS][ROWS];
        /* Lanes are added in f64, narrow sums or not. */
        static_assert(!NARROW || EACH <= 1 << State::COUNT_BITS, "so many terms are a lane's");
        log = NARROW ? State::COUNT_BITS : log;
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            const Reach reach = reach_of(k, of_x, of_y);
            const int unit = unit_for(reach.top, log);
            const bool exact = was_exact(reach.bottom, unit, log), may_doubt = DOUBTS && k == SUMS - 1;
            suits = suits && (may_doubt ? has_unit_of_doubt(unit) : has_unit(unit) && exact);
            if (may_doubt && suits && !exact)
                off = power(2 * log + unit - 52);
            const Real begin = start(unit);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                Inner parts[2] = {{begin, 0}, {begin, 0}};
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    const T a = x[r * EACH + i], b = State::PAIRS ? y[r * EACH + (State::PAIRS ? i : 0)] : a;
                    if constexpr (DOUBTS) {
                        if (k == SUMS - 1)
                            add_product(parts[i % 2], a, b);
                        else
                            add(parts[i % 2], element(a));
                    } else {
                        add(parts[i % 2], term(k, a, b));
                    }
                }
                sum[k][r] = {(double)((parts[0].upper - begin) + (parts[1].upper - begin)),
                             (double)(parts[0].lower + parts[1].lower)};
            }
        }
        if (!suits)
            return ROWS_UNSUITED;
#pragma unroll 1
        for (int by = lane.from; by < lane.to; by *= 2)
#pragma unroll
            for (int k = 0; k < SUMS; k++)
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    sum[k][r].upper += __shfl_xor_sync(ALL, sum[k][r].upper, by);
                    sum[k][r].lower += __shfl_xor_sync(ALL, sum[k][r].lower, by);
                }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            T row[EACH];
            Beside beside;
#pragma unroll
            for (int i = 0; i < EACH; i++)
                row[i] = x[r * EACH + i];
            beside.reset();
            beside.take(many, lane, row, 0, (unsigned)many.call.count / PER_VECTOR);
            beside.merge(many, lane);
            if (lane.place == round + r) {
#pragma unroll
                for (int k = 0; k < SUMS; k++)
                    kept[k] = sum[k][r];
                doubt = off;
                kept_beside = beside;
                zero = mine && kept[0].upper == -kept[0].lower;
            }
        }
        return __any_sync(ALL, zero) ? ROWS_RETRY : ROWS_DONE;
    }

    /* Tasks from `task` on, `step` apart, up to one that is to be reduced in the general way, which it returns. */
    template <int ROWS>
    static __device__ __forceinline__ u64 reduce_rows(const rd_cuda_many &many, typename State::Shared &shared,
                                                      const Lane &lane, u64 task, u64 step, int &patience) {
        const int log = 32 - __clz((int)many.call.count - 1);
        Rows<ROWS> rows = {many, lane, 0, nullptr, nullptr};
        Tile now;
        if (task < many.tasks) {
            rows.start(task);
            rows.load(0, now);
        }
        while (task < many.tasks) {
            const u64 own = rows.first + lane.place * lane.slots;
            const bool mine = lane.place < many.batch && own < many.results;
            Parted kept[SUMS] = {};
            double doubt = 0;
            Beside beside;
            beside.reset();
            RowsOutcome outcome = ROWS_DONE;
#pragma unroll 1
            for (unsigned round = 0; round < many.batch; round += ROWS) {
                Tile next;
                if (round + ROWS < many.batch) {
                    rows.load(round + ROWS, next);
                } else if (task + step < many.tasks) {
                    rows.start(task + step);
                    rows.load(0, next);
                }
                if (outcome == ROWS_DONE)
                    outcome = take_rows<ROWS>(many, now, log, lane, round, mine, kept, doubt, beside);
                copy_vectors(next.x, now.x);
                copy_vectors(next.y, now.y);
            }
            if (outcome == ROWS_DONE) {
                beside.find_in_row(many, mine, own);
                if (!State::finish_parted(many, shared, kept, doubt, beside, mine, own))
                    outcome = ROWS_UNSUITED;
            }
            if (outcome != ROWS_DONE) {
                patience -= outcome == ROWS_UNSUITED ? PATIENCE : 0;
                return task;
            }
            patience = min(patience + 1, 2 * PATIENCE);
            task += step;
        }
        return task;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Rows of several tiles
     * -------------------------------------------------------------------------------------------------------------- */

    /* A lane's way through the tiles of tasks. */
    struct Tiles {
        const rd_cuda_many &many;
        const Lane &lane;
        const unsigned vectors, of_tile, tiles; /* of a row; of a tile, over the lanes of a row; tiles of a row */
        const u64 step;                         /* between tasks */
        u64 task, base;                         /* and its first result */
        unsigned round, tile;
        const Stored *row[2]; /* where the lane's part of the round begins */

        __device__ __forceinline__ Tiles(const rd_cuda_many &m, const Lane &l, u64 first_task, u64 to_next)
            : many(m), lane(l), vectors((unsigned)m.call.count / PER_VECTOR), of_tile(VECTORS * l.lanes),
              tiles((vectors + of_tile - 1) / of_tile), step(to_next), row() {
            start(first_task);
        }
        __device__ __forceinline__ u64 base_of(u64 of_task) const {
            return of_task * lane.slots * many.batch;
        }
        __device__ __forceinline__ void start(u64 at) {
            task = at;
            base = base_of(task);
            round = tile = 0;
            const i64 first = (i64)(base + lane.slot), within = (i64)lane.place * PER_VECTOR;
            row[0] = static_cast<const Stored *>(many.call.x) + (first * many.axis[0].stride[0] + within);
            if (State::PAIRS)
                row[1] = static_cast<const Stored *>(many.call.y) + (first * many.axis[0].stride[1] + within);
        }
        __device__ __forceinline__ void advance() {
            if (++tile < tiles)
                return;
            tile = 0;
            round++;
            const i64 rows = (i64)lane.slots;
            row[0] += rows * many.axis[0].stride[0];
            if (State::PAIRS)
                row[1] += rows * many.axis[0].stride[1];
            if (round >= many.batch)
                start(min(task + step, (u64)many.tasks - 1));
        }
        /* One input; what is not there as padding. */
        __device__ __forceinline__ void load_input(int input, Stored padding, Vector<Stored> (&to)[VECTORS]) const {
            const unsigned first = tile * of_tile;
            const Stored *from = row[input] + (u64)first * PER_VECTOR;
            const unsigned left = base + round * lane.slots + lane.slot < many.results ? vectors - first : 0;
            load_vectors(from, lane, left, padding, to);
        }
        /* Loads the next tile; after the last one of all, those of the last task again. */
        __device__ __forceinline__ void load(Tile &to) {
            load_input(0, Stored(-0.0), to.x);
            if constexpr (State::PAIRS)
                load_input(1, Stored(0.0), to.y);
            advance();
        }
    };

    /* A lane's part of a row. */
    struct Sums {
        Keys x, y;
        Parted sum[SUMS];
        Beside beside;

        __device__ __forceinline__ void reset() {
            x.reset();
            y.reset();
            beside.reset();
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                sum[k] = {0, 0};
        }

        /* Adds elements, or products, of a tile. */
        static __device__ __forceinline__ void add_tile(int k, const T (&x)[COUNT], const T (&y)[OTHERS], int top,
                                                        Parted &sum) {
            const double begin = start(tile_unit(top));
            const bool elements = State::ELEMENTS && k == 0;
            Parted half[2] = {{begin, 0}, {begin, 0}};
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                if (elements)
                    add(half[i % 2], element(x[i]));
                else
                    add_product(half[i % 2], (double)x[i], (double)(State::PAIRS ? y[State::PAIRS ? i : 0] : x[i]));
            }
            sum.add((half[0].upper - begin) + (half[1].upper - begin));
            sum.lower += half[0].lower + half[1].lower;
        }

        /* From element number `first` of the row on, which then has `left` vectors. */
        __device__ __forceinline__ void take(const rd_cuda_many &many, const Lane &lane, const Tile &tile,
                                             unsigned first, unsigned left) {
            T a[COUNT], b[OTHERS];
            Keys of_a;
            unpack(tile.x, a);
            of_a.reset();
            of_a.note(a);
            x.widen(of_a);
            Keys of_b = of_a;
            if constexpr (State::PAIRS) {
                unpack(tile.y, b);
                of_b.reset();
                of_b.note(b);
                y.widen(of_b);
            }
            const Range range = {of_a.most, 0, 0}, other = {of_b.most, 0, 0};
#pragma unroll
            for (int k = 0; k < SUMS; k++)
                add_tile(k, a, b, reach_of(k, range, other).top, sum[k]);
            beside.take(many, lane, a, first, left);
        }
    };

    /* One that there is; for data that cannot have it, sums mean nothing, and their exponents say so at the end. */
    static __device__ __forceinline__ int tile_unit(int top) {
        return min(max(unit_for(top, State::COUNT_BITS), -1070), 960);
    }
    /* Whether all of 2^r tiles was exact. */
    static __device__ __forceinline__ bool tiles_were_exact(const Reach &reach, int r) {
        constexpr int B = State::COUNT_BITS;
        const int unit = max(unit_for(reach.top, B), -1070);
        return unit <= 960 && B + unit + r + max(r, B) - reach.bottom <= 53;
    }

    static __device__ __forceinline__ double power(int exponent) {
        return __longlong_as_double(exponent >= -1022 ? (i64)(exponent + 1023) << 52 : (i64)1 << (exponent + 1074));
    }

    /* Parts, and sums of them, in units of 2^bottom, of which there are less than 2^105. */
    static __device__ __forceinline__ __int128 as_integer(double part, int bottom) {
        const u64 bits = (u64)__double_as_longlong(part);
        const int field = (int)(bits >> 52) & 0x7ff, shift = max(field, 1) - 1075 - bottom;
        const u64 digits = (bits & (((u64)1 << 52) - 1)) | (u64)(field != 0) << 52;
        const __int128 value =
            (__int128)(shift >= 0 ? (unsigned __int128)digits << min(shift, 127) : digits >> min(-shift, 63));
        return part < 0 ? -value : value;
    }
    static __device__ __forceinline__ Parted as_parted(__int128 value, int bottom) {
        constexpr int LOW = 53;
        return {(double)(i64)(value >> LOW) * power(bottom + LOW),
                (double)((i64)value & (((i64)1 << LOW) - 1)) * power(bottom)};
    }
    /* Over the lanes of a row. */
    static __device__ __forceinline__ __int128 merge_lanes(__int128 value, const Lane &lane) {
#pragma unroll 1
        for (int by = lane.from; by < lane.to; by *= 2) {
            const u64 upper = (u64)__shfl_xor_sync(ALL, (i64)(value >> 64), by),
                      lower = (u64)__shfl_xor_sync(ALL, (i64)value, by);
            value = (__int128)((unsigned __int128)value + ((unsigned __int128)upper << 64 | lower));
        }
        return value;
    }

    /* The sums of a row, in the lane that will finish it. */
    static __device__ __forceinline__ RowsOutcome end_row(const rd_cuda_many &many, Sums &sums, int log, int log_tiles,
                                                          const Lane &lane, unsigned round, bool mine,
                                                          Parted (&kept)[SUMS], double &doubt, Beside &beside) {
        constexpr int B = State::COUNT_BITS, MOST = 105; /* digits of integers */
        const Range of_x = sums.x.range(), of_y = State::PAIRS ? sums.y.range() : of_x;
        if (of_x.most == 0 || of_y.most == 0)
            return ROWS_RETRY;
        bool suits = of_x.finite() && of_y.finite(), zero = false, exact = true;
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            const Reach reach = reach_of(k, of_x, of_y);
            exact = tiles_were_exact(reach, log_tiles) && reach.top + 1 + log - reach.bottom <= MOST;
            suits = suits && (DOUBTS && k == SUMS - 1 ? has_unit_of_doubt(unit_for(reach.top, B)) : exact);
        }
        if (!suits)
            return ROWS_UNSUITED;
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            const Reach reach = reach_of(k, of_x, of_y);
            int bottom = reach.bottom;
            if (DOUBTS && k == SUMS - 1 && !exact) {
                const int off = 2 * (B + log_tiles) + unit_for(reach.top, B) + max(log_tiles, B) - 52;
                bottom = max(bottom, reach.top + 1 + log - MOST);
                if (lane.place == round)
                    doubt = power(max(off, bottom + 1) + 6); /* of 32 lanes, twice */
            }
            const __int128 value =
                merge_lanes(as_integer(sums.sum[k].upper, bottom) + as_integer(sums.sum[k].lower, bottom), lane);
            if (lane.place == round)
                kept[k] = as_parted(value, bottom);
            zero = zero || (k == 0 && mine && lane.place == round && value == 0);
        }
        sums.beside.merge(many, lane);
        if (lane.place == round)
            beside = sums.beside;
        return __any_sync(ALL, zero) ? ROWS_RETRY : ROWS_DONE;
    }

    /* A function of its own, so that the loops around it have the registers. */
    static __device__ __noinline__ bool finish_task(const rd_cuda_many &many, typename State::Shared &shared,
                                                    const Parted (&kept)[SUMS], double doubt, Beside beside, bool mine,
                                                    u64 own) {
        beside.find_in_row(many, mine, own);
        return State::finish_parted(many, shared, kept, doubt, beside, mine, own);
    }

    /* Waits for what was loaded. (What the compiler does not know to have come when a loop begins, it waits for at each turn, and
     * with it for all that is loaded there.) */
    static __device__ __forceinline__ void settle(Vector<Stored> (&vector)[VECTORS], unsigned zero) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            vector[v].bits.x ^= zero;
            vector[v].bits.y ^= zero;
            vector[v].bits.z ^= zero;
            vector[v].bits.w ^= zero;
        }
    }

    /* As reduce_rows(), of rows of several tiles. */
    static __device__ __forceinline__ u64 reduce_tiles(const rd_cuda_many &many, typename State::Shared &shared,
                                                       const Lane &lane, u64 task, u64 step, int &patience) {
        static_assert(!NARROW, "sums of several tiles are of f64");
        Tiles tiles(many, lane, task, step);
        const int log = 32 - __clz((int)many.call.count - 1), log_tiles = 32 - __clz((int)tiles.tiles - 1);
        Tile next;
        tiles.load(next);
        settle(next.x, many.lanes >> 31);
        if constexpr (State::PAIRS)
            settle(next.y, many.lanes >> 31);
#pragma unroll 1
        for (; task < many.tasks; task += step) {
            const u64 own = tiles.base_of(task) + lane.slot + lane.place * lane.slots;
            const bool mine = lane.place < many.batch && own < many.results;
            Parted kept[SUMS] = {};
            double doubt = 0;
            Beside beside;
            beside.reset();
#pragma unroll 1
            for (unsigned round = 0; round < many.batch; round++) {
                Sums sums;
                sums.reset();
                /* While one tile is added, the next one is on its way. */
#pragma unroll 1
                for (unsigned at = 0; at < tiles.tiles; at++) {
                    const Tile now = next;
                    tiles.load(next);
                    sums.take(many, lane, now, at * tiles.of_tile * PER_VECTOR, tiles.vectors - at * tiles.of_tile);
                }
                const RowsOutcome outcome = end_row(many, sums, log, log_tiles, lane, round, mine, kept, doubt, beside);
                if (outcome != ROWS_DONE) {
                    patience -= outcome == ROWS_UNSUITED ? PATIENCE : 0;
                    return task;
                }
            }
            if (!finish_task(many, shared, kept, doubt, beside, mine, own)) {
                patience -= PATIENCE;
                return task;
            }
            patience = min(patience + 1, 2 * PATIENCE);
        }
        return task;
    }
};

/* A task that does not suit, in the general way. A function of its own, so that it takes no registers from the ways above. */
template <class State>
__device__ __noinline__ void reduce_unsuited(const rd_cuda_many &many, typename State::Shared &shared, u64 task) {
    Walk<State> walk(many);
    reduce_task(many, shared, walk, Tasks(many, walk), task);
}

/* Rows that can be loaded as vectors: many.c says which they are. TILED: of several tiles each, otherwise of one. */
template <class State, bool TILED> __device__ __forceinline__ void reduce_many_rows(const rd_cuda_many &many) {
    typedef Quick<State> Way;
    __shared__ typename State::Shared shared;
    State::open(shared);
    wait_for_previous();
    let_next_come();
    if (is_passed_over(many))
        return;
    const Lane lane(many);
    const u64 step = (u64)gridDim.x * WARPS;
    const bool two = many.call.count <= (u64)(State::COUNT / 2 * many.lanes);
    int patience = many.vectors ? PATIENCE : 0;
#pragma unroll 1
    for (u64 task = (u64)blockIdx.x * WARPS + warp_index(); task < many.tasks; task += step) {
        if (patience > 0) {
            if constexpr (TILED)
                task = Way::reduce_tiles(many, shared, lane, task, step, patience);
            else if constexpr (Way::TWICE == 2)
                task = Way::template reduce_rows<2>(many, shared, lane, task, step, patience);
            else if constexpr (Way::HAS_BESIDE || (State::DOUBTS && State::PAIRS))
                /* Kernels that have both, and so much to keep, put what is loaded into memory, and wait for it. */
                task = Way::template reduce_rows<1>(many, shared, lane, task, step, patience);
            else
                task = two ? Way::template reduce_rows<2>(many, shared, lane, task, step, patience)
                           : Way::template reduce_rows<1>(many, shared, lane, task, step, patience);
            if (task >= many.tasks)
                break;
        }
        reduce_unsuited<State>(many, shared, task);
    }
}

} // namespace
