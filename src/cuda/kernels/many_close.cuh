/* Sums of rows of f32 that are known but for a bound, which for nearly all says what they are rounded to, as src/cpu/close.c has those
 * of one array.
 *
 * Overview. Elements, or their products, are added in f64 just as they come, and so are their magnitudes. What f64 rounds away of a sum is
 * then a small part of the sum of magnitudes. Where all numbers so near are rounded alike, that is the result of the exact sum (Abraham
 * Ziv, Fast evaluation of elementary mathematical functions with correctly rounded last bit, 1991). Sums of few digits often lie just
 * between two results; but these f64 holds exactly, as the smallest element tells. Turns of rows of which a result is open after that
 * are reduced in the general way, by a launch that follows: of normal data some of a hundred thousand.
 *
 * Bounds. With u = 2^-53, a sum of which each term takes part in d additions is off by at most d u / (1 - d u) times the sum of magnitudes
 * (Nicholas J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2). All terms are multiples of the lowest bit that
 * the smallest other than zero may have, or of the product of two such. If magnitudes come to less than 2^52 of these, no sum of some
 * terms takes more than 53 digits, and none is rounded.
 *
 * Variances are those of the elements less the first of their row. With S the sum of these differences, Q that of their squares, of n:
 * Q - S^2 / n is n times the variance. Differences are rounded once. So of Q at most (d + 2) u Q is rounded away, and of S at most
 * (d + 1) u times the sum of magnitudes, whose square is at most n Q: S^2 / n is off by 2 (d + 1) u Q at most, and the quotient, its product
 * with S and the last difference by u Q each, all but for terms in u^2. Where several reductions are wanted, sums and squares of the
 * elements themselves follow from S, Q and the first element, c, as S + n c and Q + c (2 S + n c). */
#pragma once

#include "many_sums.cuh"

namespace {

__device__ __forceinline__ double with_upper_half(int bits) {
    return __longlong_as_double((i64)((u64)(unsigned)bits << 32));
}

template <class State> struct Close {
    typedef typename State::Beside Beside;
    static constexpr bool HAS_BESIDE = !std::is_same<Beside, NothingBeside>::value;
    static constexpr bool MOMENTS = State::ELEMENTS && State::PRODUCTS, PAIRS = State::PAIRS,
                          MAGNITUDES = !State::ABSOLUTE && (PAIRS || !State::PRODUCTS); /* are added beside the sum */
    static constexpr int PER_VECTOR = 4, INPUTS = PAIRS ? 2 : 1, LEVELS = RD_CUDA_CLOSE_LEVELS(INPUTS),
                         VECTORS = 1 << LEVELS, NUMBERS = MOMENTS || MAGNITUDES ? 2 : 1;
    static constexpr double FINITE = 0x1p1000; /* sums of magnitudes that are numbers are less */
    static_assert(std::is_same<typename State::Stored, float>::value, "f64 is not so much wider than other types");

    struct Tile {
        Vector<float> of[INPUTS][VECTORS];
    };

    /* What terms come to: their sum, and, where that is not one of magnitudes, such a one; of moments S and Q. And of each input the key of
     * the smallest element other than zero, less one: zero is beyond all others. */
    struct Part {
        double number[NUMBERS];
        unsigned least[INPUTS];
        Beside beside;

        __device__ __forceinline__ double magnitude() const {
            return number[NUMBERS - 1];
        }
        __device__ __forceinline__ void add(const Part &other) {
#pragma unroll
            for (int n = 0; n < NUMBERS; n++)
                number[n] += other.number[n];
#pragma unroll
            for (int i = 0; i < INPUTS; i++)
                least[i] = min(least[i], other.least[i]);
            beside.join(other.beside);
        }
        /* What the lane gives whose number differs in that bit. */
        __device__ __forceinline__ Part of_lane(int by) const {
            Part other;
            other.number[0] = __shfl_xor_sync(ALL, number[0], by);
            if constexpr (MAGNITUDES) /* which need not be known so well: one of the word's halves, and a little more */
                other.number[NUMBERS - 1] =
                    with_upper_half(__shfl_xor_sync(ALL, __double2hiint(number[NUMBERS - 1]) + 1, by));
            else if constexpr (MOMENTS)
                other.number[NUMBERS - 1] = __shfl_xor_sync(ALL, number[NUMBERS - 1], by);
#pragma unroll
            for (int i = 0; i < INPUTS; i++)
                other.least[i] = __shfl_xor_sync(ALL, least[i], by);
            other.beside = beside.of_lane(by);
            return other;
        }
    };

    /* How lanes share out rows. Each loads vectors of one row, or of several that are a step apart, so that a warp's lie one after another in
     * memory where rows do. Of a lane's vectors of a tile 2^LOG follow each other in a row. */
    template <int LOG> struct Rows {
        static constexpr unsigned WITHIN = (1u << LOG) - 1;
        const rd_cuda_many &many;
        const unsigned vectors, lanes_log; /* of a row; the lanes that share it */
        const unsigned slot, place;        /* which row of a step is the lane's, and where in it */
        u64 first;                         /* the lane's first row of the turn */

        __device__ __forceinline__ explicit Rows(const rd_cuda_many &m)
            : many(m), vectors((unsigned)m.call.count / PER_VECTOR), lanes_log(RD_CUDA_CLOSE_LANES_LOG(vectors)),
              slot(lane_index() >> lanes_log), place(lane_index() & ((1u << lanes_log) - 1)), first(0) {
        }
        __device__ __forceinline__ unsigned step() const {
            return 32u >> lanes_log;
        }
        __device__ __forceinline__ unsigned tiles() const {
            return (vectors + 32 * VECTORS - 1) / (32 * VECTORS);
        }
        __device__ __forceinline__ void start(u64 turn) {
            first = turn * RD_CUDA_CLOSE_ROWS(vectors, LEVELS) + slot;
        }
        /* Whether vector number v of the lane's is of a row, if there is such a row. */
        __device__ __forceinline__ bool has(unsigned tile, unsigned v) const {
            return vector_of(tile, v) < vectors;
        }
        /* Its number in the row. */
        __device__ __forceinline__ unsigned vector_of(unsigned tile, unsigned v) const {
            return (tile * VECTORS + (v & WITHIN)) * 32 + place;
        }
        /* (Branches of the whole warp, of which each has its loads and nothing else: otherwise compilers have the first used before the
         * last is ordered.) */
        __device__ __forceinline__ void load_input(const void *x, int input, float padding, unsigned tile,
                                                   Vector<float> (&to)[VECTORS]) const {
            const i64 stride = many.axis[0].stride[input], step_elements = (i64)step() * stride;
            const unsigned rows = first < many.results ? (unsigned)min(many.results - first, (u64)1024) : 0;
            const float *from = static_cast<const float *>(x) +
                                ((i64)first * stride + (i64)((tile * VECTORS * 32 + place) * PER_VECTOR));
            if (__all_sync(ALL, has(tile, WITHIN) && (VECTORS - 1 >> LOG) * step() < rows)) {
#pragma unroll
                for (unsigned v = 0; v < VECTORS; v++) {
                    to[v].bits = __ldcs(reinterpret_cast<const uint4 *>(from) + (i64)((v & WITHIN) * 32));
                    from += (v & WITHIN) == WITHIN ? step_elements : 0;
                }
            } else {
#pragma unroll
                for (unsigned v = 0; v < VECTORS; v++) {
#pragma unroll
                    for (int i = 0; i < PER_VECTOR; i++)
                        to[v].element[i] = padding;
                    if (has(tile, v) && (v >> LOG) * step() < rows)
                        to[v].bits = __ldcs(reinterpret_cast<const uint4 *>(from) + (i64)((v & WITHIN) * 32));
                    from += (v & WITHIN) == WITHIN ? step_elements : 0;
                }
            }
        }
        __device__ __forceinline__ void load(unsigned tile, Tile &to) const {
            load_input(many.call.x, 0, -0.0f, tile, to.of[0]);
            if constexpr (PAIRS)
                load_input(many.call.y, 1, 0.0f, tile, to.of[INPUTS - 1]);
        }
    };

    /* -----------------------------------------------------------------------------------------------------------------
     * Sums
     * -------------------------------------------------------------------------------------------------------------- */

    static __device__ __forceinline__ double tree(const double (&term)[PER_VECTOR]) {
        return (term[0] + term[1]) + (term[2] + term[3]);
    }
    /* Of a vector; of moments, of which some row's are there, of the elements less the pivot. */
    static __device__ __forceinline__ Part part_of(const Tile &tile, int v, bool there, double pivot) {
        Part part;
        double term[PER_VECTOR], size[PER_VECTOR];
#pragma unroll
        for (int n = 0; n < INPUTS; n++) {
            part.least[n] = 0xffffffff;
#pragma unroll
            for (int i = 0; i < PER_VECTOR; i++)
                part.least[n] = __viaddmin_u32(State::key_of(tile.of[n][v].element[i]), 0xffffffff, part.least[n]);
        }
#pragma unroll
        for (int i = 0; i < PER_VECTOR; i++) {
            term[i] = (double)tile.of[0][v].element[i];
            if constexpr (PAIRS)
                term[i] *= (double)tile.of[INPUTS - 1][v].element[i];
            else if constexpr (MOMENTS)
                term[i] = there ? term[i] - pivot : 0;
            size[i] = fabs(term[i]);
        }
        if constexpr (State::PRODUCTS && !PAIRS) {
            double squares = term[0] * term[0];
#pragma unroll
            for (int i = 1; i < PER_VECTOR; i++)
                squares = __fma_rn(term[i], term[i], squares);
            part.number[NUMBERS - 1] = squares;
        }
        if constexpr (State::ABSOLUTE)
            part.number[0] = tree(size);
        else if constexpr (State::ELEMENTS || PAIRS)
            part.number[0] = tree(term);
        if constexpr (MAGNITUDES)
            part.number[NUMBERS - 1] = tree(size);
        return part;
    }

    /* Of two parts of a lane that follow each other at a level: their sum, if they are of one row; else that of the one which the lane keeps,
     * and of what another lane gives. */
    template <int LOG, int LEVEL>
    static __device__ __forceinline__ Part join(const Part &a, const Part &b, const Rows<LOG> &rows) {
        Part all = a;
        if constexpr (LEVEL > LOG) {
            const int by = (int)(1u << rows.lanes_log >> (LEVEL - LOG));
            const bool second = lane_index() & by;
            const Part given = second ? a : b;
            all = second ? b : a;
            all.add(given.of_lane(by));
        } else {
            all.add(b);
        }
        return all;
    }
    /* Of vectors FIRST to FIRST + 2^LEVEL - 1. The pivot is that of the row that comes first, or has begun in a tile before. */
    template <int LOG, unsigned FIRST, int LEVEL>
    static __device__ __forceinline__ Part part_of_vectors(const Tile &tile, const Rows<LOG> &rows, unsigned number,
                                                           double &pivot) {
        if constexpr (LEVEL == 0) {
            if (MOMENTS && (FIRST & Rows<LOG>::WITHIN) == 0 && number == 0)
                pivot = (double)__shfl_sync(ALL, tile.of[0][FIRST].element[0], (int)(lane_index() - rows.place));
            const bool there = rows.has(number, FIRST);
            Part part = part_of(tile, FIRST, !MOMENTS || there, pivot);
            if constexpr (HAS_BESIDE)
                part.beside.take_vector(tile.of[0][FIRST].element, there, rows.vector_of(number, FIRST) * PER_VECTOR);
            return part;
        } else {
            const Part a = part_of_vectors<LOG, FIRST, LEVEL - 1>(tile, rows, number, pivot);
            return join<LOG, LEVEL>(
                a, part_of_vectors<LOG, FIRST + (1u << (LEVEL - 1)), LEVEL - 1>(tile, rows, number, pivot), rows);
        }
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Results
     * -------------------------------------------------------------------------------------------------------------- */

    /* A number that is known but for `off`. Each step adds more than what it rounds away, and than what the ends are rounded by. */
    struct Known {
        double value, off;

        /* Given the inverse, which may be rounded. */
        __device__ __forceinline__ Known over(double count, double inverse) const {
            const double near = value * inverse, share = __fma_rn(__fma_rn(-near, count, value), inverse, near);
            const bool exact = off == 0 && __fma_rn(-share, count, value) == 0;
            return {share, exact ? 0 : off * inverse + fabs(share) * 0x1p-50};
        }
        __device__ __forceinline__ Known root() const {
            const double near = sqrt(value);
            const bool exact = off == 0 && __fma_rn(-near, near, value) == 0;
            if (!exact && !(value > off))
                return {0, __longlong_as_double(0x7ff0000000000000)};
            return {near, exact ? 0 : off / near + near * 0x1p-51};
        }
        /* Whether all numbers that this may be are rounded alike. */
        __device__ __forceinline__ bool round(unsigned &bits) const {
            bits = __float_as_uint((float)(value + off));
            return bits == __float_as_uint((float)(value - off));
        }
    };

    /* A row's sums, from which its results follow. */
    struct Sums {
        double number[NUMBERS];
        double pivot;    /* of moments: the row's first element */
        double unit_off; /* what is rounded away for each addition */
        double lowest; /* 2^52 times the lowest bit of all elements: sums of magnitudes that are less are not rounded */
        bool exact;    /* no sum was */

        __device__ __forceinline__ Sums(const Part &part, unsigned tiles, double first) : pivot(first) {
#pragma unroll
            for (int n = 0; n < NUMBERS; n++)
                number[n] = part.number[n];
            unit_off = (double)(PER_VECTOR + LEVELS + 5 + tiles) * 0x1p-53;
            exact = part.magnitude() < exact_below(part, State::PRODUCTS ? 2 : 1);
            lowest = exact_below(part, 1);
        }
        __device__ __forceinline__ double magnitude() const {
            return number[NUMBERS - 1];
        }

        /* 2^52 times the lowest bits' product, of so many factors. */
        static __device__ __forceinline__ double exact_below(const Part &part, int factors) {
            int field = 0; /* of its exponent */
#pragma unroll
            for (int i = 0; i < factors; i++)
                field += max((int)((part.least[PAIRS ? i : 0] + 1) >> 23), 1) - 150;
            return with_upper_half((field + 52 + 1023) << 20);
        }

        /* The count times the variance. */
        __device__ __forceinline__ Known spread(double count, double inverse) const {
            const Known mean = Known{number[0], 0}.over(count, inverse);
            const double square = number[0] * mean.value, value = magnitude() - square;
            /* Of numbers of few digits it may well be exact, and then just between two results. */
            const bool all_exact = exact && mean.off == 0 && __fma_rn(number[0], mean.value, -square) == 0 &&
                                   (magnitude() - value) - square == 0;
            return {value, all_exact ? 0 : magnitude() * (3 * unit_off + 16 * 0x1p-53)};
        }
        /* Of moments, the sum of the elements themselves; the pivot times the count has no more than 53 digits. */
        __device__ __forceinline__ Known sum(double count) const {
            const double shift = pivot * count, value = number[0] + shift, own = value - shift,
                         rest = (shift - (value - own)) + (number[0] - own), sizes = sqrt(count * magnitude());
            return {value,
                    sizes * 2 < lowest ? 2 * fabs(rest) : sizes * (unit_off + 4 * 0x1p-53) + fabs(value) * 0x1p-51};
        }
        /* And of their squares. */
        __device__ __forceinline__ Known squares(double count) const {
            const double twice = 2 * number[0] + pivot * count, more = pivot * twice, value = magnitude() + more;
            return {value, (magnitude() + 2 * fabs(pivot) * sqrt(count * magnitude())) * (unit_off + 8 * 0x1p-53) +
                               (fabs(more) + fabs(pivot * pivot) * count + fabs(value)) * 0x1p-50};
        }

        /* The bits of a result. False if they do not follow. */
        __device__ __forceinline__ bool round(const rd_cuda_many &many, const rd_cuda_call &call,
                                              unsigned &bits) const {
            const double count = (double)many.call.count, inverse = many.inverse[0];
            Known known;
            if (MOMENTS && (!HAS_BESIDE || call.transform == RD_MOMENTS)) {
                known = spread(count, inverse);
                known = call.population ? known.over(count, inverse) : known.over(count - 1, many.inverse[1]);
                if (call.finish == RD_DEVIATION)
                    known = known.root();
            } else {
                if constexpr (MOMENTS)
                    known = call.transform == RD_SQUARE ? squares(count) : sum(count);
                else
                    known = {number[0], exact ? 0 : magnitude() * (unit_off + 4 * 0x1p-53)};
                if (call.finish == RD_MEAN || call.finish == RD_ROOT_MEAN)
                    known = known.over(count, inverse);
                if (call.finish == RD_ROOT || call.finish == RD_ROOT_MEAN)
                    known = known.root();
            }
            return known.round(bits) && magnitude() < FINITE;
        }
    };

    /* -----------------------------------------------------------------------------------------------------------------
     * Rows
     * -------------------------------------------------------------------------------------------------------------- */

    /* Of several reductions, rows wait until there is one for each lane, as their results take long. */
    struct Waiting {
        Part part[HAS_BESIDE ? 32 : 1];
        u64 row[HAS_BESIDE ? 32 : 1];
    };

    /* Enters turns in which rows are open in a list; lanes that follow each other often have the same. False if there is no room, so that all turns
     * are reduced in the general way. By all lanes. */
    static __device__ __noinline__ bool enter_open(const rd_cuda_many &many, bool open, u64 row, u64 turns) {
        const u64 turn = row / RD_CUDA_CLOSE_ROWS((unsigned)many.call.count / PER_VECTOR, LEVELS),
                  before = __shfl_up_sync(ALL, open ? turn : ~(u64)0, 1);
        bool fits = true;
        if (open && (lane_index() == 0 || before != turn)) {
            const u64 at = atomicAdd(reinterpret_cast<u64 *>(many.open) + RD_CUDA_OPEN_TURNS, (u64)1);
            fits = at < RD_CUDA_OPEN_MOST(turns);
            if (fits)
                many.lists[at] = turn;
        }
        return __all_sync(ALL, fits);
    }

    /* Results of rows that have waited. As enter_open(). */
    static __device__ __noinline__ bool answer_all(const rd_cuda_many &many, Waiting &waiting, unsigned rows,
                                                   unsigned tiles, u64 turns) {
        bool known = true;
        const unsigned lane = lane_index();
        __syncwarp();
        if (lane < rows) {
            Part part = waiting.part[lane];
            const u64 row = waiting.row[lane];
            double pivot = 0;
            if (MOMENTS)
                pivot = (double)static_cast<const float *>(many.call.x)[(i64)row * many.axis[0].stride[0]];
            /* Nothing is told of a row with NaNs, which mean something to extremes, too. */
            known = part.magnitude() < FINITE;
            if (known) {
                part.beside.find_in_row(many, true, row);
                known = State::answer_known(many, Sums(part, tiles, pivot), part.beside, row);
            }
        }
        __syncwarp();
        return __all_sync(ALL, known) || enter_open(many, !known, lane < rows ? waiting.row[lane] : 0, turns);
    }

    /* By all lanes, of which some have a row; so many wait. As enter_open(). */
    static __device__ __forceinline__ bool deliver(const rd_cuda_many &many, Waiting &waiting, unsigned &waits,
                                                   const Part &part, unsigned tiles, bool mine, u64 row, u64 turns) {
        if constexpr (HAS_BESIDE) {
            const unsigned more = __ballot_sync(ALL, mine), at = __popc(more & ((1u << lane_index()) - 1));
            bool fits = true;
            if (waits + __popc(more) > 32) {
                fits = answer_all(many, waiting, waits, tiles, turns);
                waits = 0;
            }
            if (mine) {
                waiting.part[waits + at] = part;
                waiting.row[waits + at] = row;
            }
            waits += __popc(more);
            return fits;
        } else {
            unsigned bits;
            const bool known = Sums(part, tiles, 0).round(many, many.call, bits);
            if (mine && known) {
                static_cast<unsigned *>(many.call.result)[(i64)row * many.axis[0].result_stride] = bits;
                tell(many, row, REDUCT_OK, 0);
            }
            return !__any_sync(ALL, mine && !known) || enter_open(many, mine && !known, row, turns);
        }
    }

    /* Of rows that lanes have 2^LOG vectors of in a tile. FEW: rows are so short that the halves of a tile have no row in common. LONG: rows
     * of several tiles. (Loops and conditions of templates have braces: a compiler left out what came after one that had none.) */
    template <int LOG, bool FEW, bool LONG>
    static __device__ __forceinline__ void reduce(const rd_cuda_many &many, Waiting &waiting, u64 turns) {
        constexpr int EXCHANGED = LEVELS - LOG - FEW;
        Rows<LOG> rows(many);
        const unsigned tiles = LONG ? rows.tiles() : 1, rest = 1u << rows.lanes_log >> EXCHANGED;
        const bool has_row = (rows.place & (rest - 1)) == 0;
        unsigned number = 0; /* of the lane's row, in steps */
#pragma unroll
        for (int k = 0; k < EXCHANGED; k++)
            number |= rows.place & 1u << rows.lanes_log >> (k + 1) ? 1u << k : 0;
        unsigned waits = 0;
#pragma unroll 1
        for (u64 turn = (u64)blockIdx.x * WARPS + warp_index(); turn < turns; turn += (u64)gridDim.x * WARPS) {
            Tile tile;
            double pivot = 0;
            bool fits = true;
            rows.start(turn);
            rows.load(0, tile);
            Part part = part_of_vectors<LOG, 0, LEVELS - FEW>(tile, rows, 0, pivot);
            if constexpr (LONG) {
#pragma unroll 1
                for (unsigned t = 1; t < tiles; t++) {
                    rows.load(t, tile);
                    part.add(part_of_vectors<LOG, 0, LEVELS>(tile, rows, t, pivot));
                }
            }
#pragma unroll
            for (int half = 0; half < 1 + FEW; half++) {
                if constexpr (FEW)
                    if (half)
                        part = part_of_vectors<LOG, VECTORS / 2, LEVELS - FEW>(tile, rows, 0, pivot);
#pragma unroll 1
                for (unsigned by = rest / 2; by > 0; by /= 2)
                    part.add(part.of_lane((int)by));
                const u64 row = rows.first + (u64)((half * (VECTORS / 2) + number) * rows.step());
                fits = deliver(many, waiting, waits, part, tiles, has_row && row < many.results, row, turns) && fits;
            }
            if (!fits)
                return;
        }
        if constexpr (HAS_BESIDE) {
            if (waits)
                answer_all(many, waiting, waits, tiles, turns);
        }
    }
    static __device__ __forceinline__ void reduce_any(const rd_cuda_many &many, Waiting &waiting) {
        const unsigned vectors = (unsigned)many.call.count / PER_VECTOR, of_turn = RD_CUDA_CLOSE_ROWS(vectors, LEVELS);
        const u64 turns = (many.results + of_turn - 1) / of_turn;
        if (vectors > 32 * VECTORS)
            reduce<LEVELS, false, true>(many, waiting, turns);
        else if (vectors > 16 * VECTORS)
            reduce<LEVELS, false, false>(many, waiting, turns);
        else if (LEVELS > 2 && vectors > 64)
            reduce<2, false, false>(many, waiting, turns);
        else if (vectors > 32)
            reduce<1, false, false>(many, waiting, turns);
        else if (LEVELS > 2 && vectors <= 4)
            reduce<0, LEVELS == 3, false>(many, waiting, turns);
        else
            reduce<0, false, false>(many, waiting, turns);
    }
};

template <class State> __device__ __forceinline__ void reduce_close_rows(const rd_cuda_many &many) {
    __shared__ typename Close<State>::Waiting waiting[WARPS];
    wait_for_previous();
    let_next_come();
    if (!is_passed_over(many))
        Close<State>::reduce_any(many, waiting[warp_index()]);
}

} // namespace
