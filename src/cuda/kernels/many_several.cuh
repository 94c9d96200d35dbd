/* Several reductions of floats to many results each, which read the elements once: rows, columns, any axes, segments.
 *
 * A tile that is in registers enters exact sums (many_sums.cuh), and is compared with the least and the greatest element that the
 * lane has seen. NaNs are left out of both, and noted; counts follow from their number. So what a lane holds serves all
 * operators and all policies. When a result's elements have entered, each answer is rounded from it in turn.
 *
 * Whether extremes are looked for, and for where they are, the launch says; squares are added by kernels of moments alone. */
#pragma once

#include "extremes.cuh"
#include "many_slots.cuh"
#include "many_sums.cuh"
#include "range.cuh"
#include "several.h"

namespace {

static_assert(sizeof(rd_cuda_together) <= 4096, "parameters of kernels have no more room on older devices");

__device__ __forceinline__ const rd_cuda_together &together_of(const rd_cuda_many &many) {
    return reinterpret_cast<const rd_cuda_together &>(many);
}

/* The least and the greatest element: keys of which the smaller is better, those of the greatest being complemented, and the first
 * places where they are. Without an element the key is MASK, which is that of no number. No place takes more than 32 bits:
 * several.c sees to it. */
template <class T> struct ManyEnds {
    typedef Order<T> O;
    typedef typename O::Key Key;
    static constexpr bool SHORT = sizeof(Key) == 4;
    Key key[2];
    unsigned place[2];

    __device__ __forceinline__ void reset() {
        key[0] = key[1] = O::MASK;
        place[0] = place[1] = UINT32_MAX;
    }

    /* Pieces of a result meet in one word for each end; without places where keys are long. A word is complemented, so that zero is
     * nothing. */
    __device__ __forceinline__ void leave(u64 *word) const {
#pragma unroll
        for (int e = 0; e < 2; e++)
            if (key[e] != O::MASK)
                atomicMax(word + e, SHORT ? ~((u64)key[e] << 32 | place[e]) : ~(u64)key[e]);
    }
    __device__ __forceinline__ void fetch(u64 *word) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const u64 best = ~__ldcg(word + e);
            key[e] = (Key)(SHORT ? best >> 32 : best);
            place[e] = (unsigned)best;
            word[e] = 0;
        }
    }

    /* The best over the lanes of a result, which all lanes then have. */
    __device__ __forceinline__ void merge(int from, int to, bool places) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const Key best = least_of_lanes(key[e], from, to);
            if (places)
                place[e] = least_of_lanes(key[e] == best ? place[e] : UINT32_MAX, from, to);
            key[e] = best;
        }
    }

    /* Those of other elements, which may come before. */
    __device__ __forceinline__ void join(const ManyEnds &other) {
#pragma unroll
        for (int e = 0; e < 2; e++)
            if (other.key[e] < key[e] || (other.key[e] == key[e] && other.place[e] < place[e])) {
                key[e] = other.key[e];
                place[e] = other.place[e];
            }
    }

    __device__ __forceinline__ void offer(int end, Key better, unsigned where) {
        if (better < key[end]) {
            key[end] = better;
            place[end] = where;
        }
    }

    /* The first of a lane's elements that is equal, to the last bit. */
    template <int PER_VECTOR, int N>
    static __device__ __forceinline__ unsigned place_of(const T (&x)[N], u64 first, const Places &places, T sought) {
        int at = 0;
#pragma unroll
        for (int i = N - 1; i >= 0; i--)
            at = O::bits(x[i]) == O::bits(sought) ? i : at;
        return (unsigned)(first + places.of<PER_VECTOR>(at));
    }

    /* Elements of a lane, all of which are there and numbers; places count from element number `first`. */
    template <int PER_VECTOR, int N>
    __device__ __forceinline__ void take(const T (&x)[N], u64 first, const Places &places, bool with_places) {
        if constexpr (SHORT)
            take_short<PER_VECTOR>(x, first, places, with_places);
        else
            take_long<PER_VECTOR>(x, first, places);
    }
    template <int PER_VECTOR, int N>
    __device__ __forceinline__ void take_short(const T (&x)[N], u64 first, const Places &places, bool with_places) {
        T best[2][2]; /* of the greatest the opposite */
#pragma unroll
        for (int i = 0; i < N; i++) {
            best[0][i % 2] = i < 2 ? x[i] : min_or_nan(best[0][i % 2], x[i]);
            best[1][i % 2] = i < 2 ? -x[i] : min_or_nan(best[1][i % 2], -x[i]);
        }
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const T found = min_or_nan(best[e][0], best[e][1]);
            const Key better = O::key(found, false);
            if (better < key[e])
                offer(e, better, with_places ? place_of<PER_VECTOR>(x, first, places, e == 0 ? found : -found) : 0);
        }
    }
    /* Of f64 the upper halves of keys are compared first. */
    template <int PER_VECTOR, int N>
    __device__ __forceinline__ void take_long(const T (&x)[N], u64 first, const Places &places) {
        unsigned least = UINT32_MAX, greatest = 0;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const unsigned upper = O::upper_key((unsigned)((u64)O::bits(x[i]) >> 32), false);
            least = smaller(least, upper);
            greatest = larger(greatest, upper);
        }
        if (least > (unsigned)((u64)key[0] >> 32) && ~greatest > (unsigned)((u64)key[1] >> 32))
            return;
#pragma unroll
        for (int i = 0; i < N; i++)
            offer_both(O::key(x[i], false), (unsigned)(first + places.of<PER_VECTOR>(i)));
    }
    __device__ __forceinline__ void offer_both(Key own, unsigned where) {
        offer(0, own, where);
        offer(1, ~own & O::MASK, where);
    }
};

/* Both extremes beside the sums of rows that are loaded as vectors, and of columns (many_quick.cuh, many_ringed.cuh). Elements are S in
 * memory, and taken as T.
 *
 * Of floats whose comparison is one instruction, places are those of vectors of a row, or of rows of a column that were taken together:
 * each has a few elements, of which the first that is equal is looked for in the end, once for each result. What is found means nothing
 * unless all elements are numbers. */
template <class S, class T> struct EndsBeside {
    typedef ManyEnds<T> Ends;
    typedef Order<T> O;
    static constexpr int PER_VECTOR = 16 / sizeof(S);
    T best[2]; /* of the greatest the opposite */
    unsigned place[2];

    __device__ __forceinline__ void reset() {
        best[0] = best[1] = __uint_as_float(0x7f800000);
        place[0] = place[1] = UINT32_MAX;
    }
    static __device__ __forceinline__ bool same(T a, T b) {
        return O::bits(a) == O::bits(b);
    }

    /* A lane's elements, of the `left` vectors that a row has from element number `first` on. */
    template <int N>
    __device__ __forceinline__ void take(const rd_cuda_many &many, const Lane &lane, const T (&x)[N], unsigned first,
                                         unsigned left) {
        constexpr int VECTORS = N / PER_VECTOR;
        if (!together_of(many).ends || lane.place >= left)
            return;
        T of[2][VECTORS];
#pragma unroll
        for (int i = 0; i < N; i++) {
            T(&least)[VECTORS] = of[0], (&opposite)[VECTORS] = of[1];
            const int v = i / PER_VECTOR;
            least[v] = i % PER_VECTOR ? min_or_nan(least[v], x[i]) : x[i];
            opposite[v] = i % PER_VECTOR ? min_or_nan(opposite[v], -x[i]) : -x[i];
        }
        if ((VECTORS - 1) * lane.lanes + lane.place >= left)
#pragma unroll
            for (int v = 1; v < VECTORS; v++)
                if (v * lane.lanes + lane.place >= left) {
                    of[0][v] = of[0][0];
                    of[1][v] = of[1][0];
                }
#pragma unroll
        for (int e = 0; e < 2; e++) {
            T found = of[e][0];
#pragma unroll
            for (int v = 1; v < VECTORS; v++)
                found = min_or_nan(found, of[e][v]);
            const T better = min_or_nan(best[e], found);
            if (same(better, best[e]))
                continue;
            unsigned vector = 0;
#pragma unroll
            for (int v = VECTORS - 1; v > 0; v--)
                vector = same(of[e][v], found) && !same(of[e][0], found) ? v : vector;
            best[e] = better;
            place[e] = first + (vector * lane.lanes + lane.place) * PER_VECTOR;
        }
    }
    /* A vector, if it is there, whose first element is number `first` of its row, which stands for all of them. */
    template <int N> __device__ __forceinline__ void take_vector(const T (&x)[N], bool there, unsigned first) {
        reset();
        if (there) {
            best[0] = x[0];
            best[1] = -x[0];
#pragma unroll
            for (int i = 1; i < N; i++) {
                best[0] = min_or_nan(best[0], x[i]);
                best[1] = min_or_nan(best[1], -x[i]);
            }
            place[0] = place[1] = first;
        }
    }
    /* Of both: of extremes that are equal the first. */
    __device__ __forceinline__ void join(const EndsBeside &other) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const T better = min_or_nan(best[e], other.best[e]);
            const unsigned own = same(better, best[e]) ? place[e] : UINT32_MAX;
            place[e] = smaller(own, same(better, other.best[e]) ? other.place[e] : UINT32_MAX);
            best[e] = better;
        }
    }
    __device__ __forceinline__ EndsBeside of_lane(int by) const {
        EndsBeside other;
#pragma unroll
        for (int e = 0; e < 2; e++) {
            other.best[e] = __shfl_xor_sync(ALL, best[e], by);
            other.place[e] = __shfl_xor_sync(ALL, place[e], by);
        }
        return other;
    }
    /* Places of a column while its rows come. They change seldom, so that they lie where they take no registers. */
    struct Rows {
        volatile unsigned of[2];
    };
    static __device__ __forceinline__ void open_rows(Rows &rows) {
        rows.of[0] = rows.of[1] = UINT32_MAX;
    }
    __device__ __forceinline__ void close_rows(const Rows &rows) {
        place[0] = rows.of[0];
        place[1] = rows.of[1];
    }
    /* The same of EACH columns side by side: N / EACH rows so far apart, of which those are there that begin before `left`. The first is
     * number `first`, which stands for all of them. */
    template <int EACH, int N>
    static __device__ __forceinline__ void take_columns(const rd_cuda_many &many, EndsBeside (&to)[EACH],
                                                        Rows (&rows)[EACH], const T (&x)[N], unsigned first, int apart,
                                                        int left) {
        if (!together_of(many).ends || left <= 0)
            return;
        T there[N];
        copy_elements(x, there);
        if ((N / EACH - 1) * apart >= left)
#pragma unroll
            for (int i = EACH; i < N; i++)
                there[i] = i / EACH * apart < left ? x[i] : x[i % EACH];
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            T least = there[c], opposite = -least;
#pragma unroll
            for (int i = c + EACH; i < N; i += EACH) {
                least = min_or_nan(least, there[i]);
                opposite = min_or_nan(opposite, -there[i]);
            }
            to[c].offer(0, least, rows[c], first);
            to[c].offer(1, opposite, rows[c], first);
        }
    }
    __device__ __forceinline__ void offer(int end, T found, Rows &rows, unsigned where) {
        const T better = min_or_nan(best[end], found);
        if (!same(better, best[end]))
            rows.of[end] = where;
        best[end] = better;
    }

    /* Over the lanes of a row. */
    __device__ __forceinline__ void merge(const rd_cuda_many &many, const Lane &lane) {
        if (!together_of(many).ends)
            return;
        Ends all = ends();
        all.merge(lane.from, lane.to, together_of(many).places);
        set(all);
    }
    __device__ __forceinline__ Ends ends() const {
        return {{O::key(best[0], false), O::key(best[1], false)}, {place[0], place[1]}};
    }
    __device__ __forceinline__ void set(const Ends &all) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            best[e] = __uint_as_float(O::element(all.key[e], false));
            place[e] = all.place[e];
        }
    }

    static __device__ __forceinline__ const S *elements_of(const rd_cuda_many &many, u64 result) {
        return static_cast<const S *>(many.call.x) + (i64)result * many.axis[0].stride[0];
    }
    __device__ __forceinline__ bool is_at(int end, S x) const {
        const T own = as_element(x);
        return same(end ? -own : own, best[end]);
    }
    /* Where in their vectors the extremes of a row are. By a lane that has a result. */
    __device__ __forceinline__ void find_in_row(const rd_cuda_many &many, bool mine, u64 result) {
        if (!together_of(many).places || !mine)
            return;
        Vector<S> vector[2];
#pragma unroll
        for (int e = 0; e < 2; e++)
            vector[e].bits = __ldcs(reinterpret_cast<const uint4 *>(elements_of(many, result) + place[e]));
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int at = 0;
#pragma unroll
            for (int i = PER_VECTOR - 1; i >= 0; i--)
                at = is_at(e, vector[e].element[i]) ? i : at;
            place[e] += at;
        }
    }
    /* The same among so many rows of a column, so far apart. */
    template <int ROWS>
    __device__ __forceinline__ void find_in_column(const rd_cuda_many &many, u64 result, unsigned apart) {
        if (together_of(many).places)
#pragma unroll
            for (int e = 0; e < 2; e++)
                place[e] = row_of<ROWS>(many, e, place[e], result, apart);
    }
    /* The first of these rows where an extreme is: from one on that may be that itself. */
    template <int ROWS>
    __device__ __forceinline__ unsigned row_of(const rd_cuda_many &many, int end, unsigned first, u64 result,
                                               unsigned apart) const {
        const S *column = elements_of(many, result);
        unsigned at = first;
#pragma unroll
        for (int r = ROWS - 1; r >= 0; r--) {
            const u64 row = (u64)first + r * apart;
            if (row < many.call.count && is_at(end, __ldcs(column + (i64)row * many.step[0])))
                at = (unsigned)row;
        }
        return at;
    }
    /* Takes what another lane has of a column. Rows of both lie between each other, so that of equal elements the rows themselves tell
     * which came first. */
    template <int ROWS>
    __device__ __forceinline__ void join_column(const rd_cuda_many &many, const EndsBeside &other, u64 result,
                                                unsigned apart) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const T better = min_or_nan(best[e], other.best[e]);
            if (!same(better, best[e]))
                place[e] = other.place[e];
            else if (same(better, other.best[e]) && together_of(many).places)
                place[e] = smaller(row_of<ROWS>(many, e, place[e], result, apart),
                                   row_of<ROWS>(many, e, other.place[e], result, apart));
            best[e] = better;
        }
    }
};

/* Of f64 places are those of elements from the beginning. */
template <> struct EndsBeside<double, double> {
    typedef ManyEnds<double> Ends;
    static constexpr int PER_VECTOR = 2;
    Ends all;

    __device__ __forceinline__ void reset() {
        all.reset();
    }
    template <int N>
    __device__ __forceinline__ void take(const rd_cuda_many &many, const Lane &lane, const double (&x)[N],
                                         unsigned first, unsigned left) {
        if (!together_of(many).ends || lane.place >= left)
            return;
        double there[N];
        copy_elements(x, there);
        if ((N / PER_VECTOR - 1) * lane.lanes + lane.place >= left)
#pragma unroll
            for (int i = PER_VECTOR; i < N; i++)
                there[i] = i / PER_VECTOR * lane.lanes + lane.place < left ? x[i] : x[i % PER_VECTOR];
        const Places places = {lane.place * PER_VECTOR, 1, PER_VECTOR * lane.lanes};
        all.take<PER_VECTOR>(there, first, places, together_of(many).places);
    }
    __device__ __forceinline__ void merge(const rd_cuda_many &many, const Lane &lane) {
        if (together_of(many).ends)
            all.merge(lane.from, lane.to, together_of(many).places);
    }
    __device__ __forceinline__ const Ends &ends() const {
        return all;
    }
    __device__ __forceinline__ void find_in_row(const rd_cuda_many &, bool, u64) {
    }
};

/* What several answers follow from. */
template <class S, int TRANSFORM> struct TogetherState {
    typedef SumState<S, TRANSFORM, false, true> Sums;
    typedef S Stored;
    typedef typename Sums::T Element;
    typedef Element T;
    typedef ManyEnds<T> Ends;
    struct Shared : Sums::Shared {
        JoinedParts<Ends> ends;
    };
    typedef typename Sums::Merged Merged;
    typedef typename Sums::Notes Notes;
    typedef typename Ends::O O;
    static constexpr bool MASKED = false;
    static constexpr int COUNT = Sums::COUNT, PER_VECTOR = 16 / sizeof(S);

    /* What many_quick.cuh asks for. */
    typedef typename Sums::Range Range;
    typedef EndsBeside<S, T> Beside;
    static constexpr bool PAIRS = false, ELEMENTS = Sums::ELEMENTS, PRODUCTS = Sums::PRODUCTS, ABSOLUTE = false,
                          DOUBTS = Sums::DOUBTS;
    static constexpr int DIGITS = Sums::DIGITS, COUNT_BITS = Sums::COUNT_BITS;
    static __device__ __forceinline__ unsigned key_of(T x) {
        return Sums::key_of(x);
    }

    struct Kept {
        typename Sums::Kept sums;
        Ends ends;
    };

    const rd_cuda_many &many;
    Sums sums;
    Ends ends;

    static __device__ __forceinline__ Element padding() {
        return Sums::padding();
    }
    static __device__ __forceinline__ void open(Shared &shared) {
        Sums::open(shared);
    }
    __device__ __forceinline__ explicit TogetherState(const rd_cuda_many &m, Shared &shared)
        : many(m), sums(m, shared) {
        ends.reset();
    }
    __device__ __forceinline__ void reset() {
        sums.reset();
        ends.reset();
    }
    __device__ __forceinline__ void leave_out(unsigned) {
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Tiles
     * -------------------------------------------------------------------------------------------------------------- */

    template <int N> __device__ __forceinline__ void take(T (&x)[COUNT], T (&y)[N], const TileAt &tile) {
        sums.take(x, y, tile.first, [&](const typename Sums::Range &range) {
            if (!together_of(many).ends)
                return;
            if (range.finite())
                take_numbers(many, x, tile, ends);
            else
                take_each(many, x, tile, ends);
        });
    }

    __device__ __forceinline__ bool take_alone(const T (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    /* One by one, of which some may be NaN. */
    static __device__ __forceinline__ void take_each(const rd_cuda_many &many, const T (&x)[COUNT], const TileAt &tile,
                                                     Ends &ends) {
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (!(tile.missing >> i & 1) && !O::is_nan(x[i]))
                ends.offer_both(O::key(x[i], false), (unsigned)(tile.first + places.of<PER_VECTOR>(i)));
    }

    /* Numbers alone. Where the lane's first element is not there, none is; in place of others that are not there it comes once
     * more. */
    static __device__ __forceinline__ void take_numbers(const rd_cuda_many &many, const T (&x)[COUNT],
                                                        const TileAt &tile, Ends &ends) {
        if (tile.missing & 1)
            return;
        T there[COUNT];
        copy_elements(x, there);
        if (tile.missing)
#pragma unroll
            for (int i = 1; i < COUNT; i++)
                there[i] = tile.missing >> i & 1 ? x[0] : x[i];
        ends.template take<PER_VECTOR>(there, tile.first, places_of<PER_VECTOR>(many, Lane(many)),
                                       together_of(many).places);
    }

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        sums.merge(from, to, mine, kept.sums);
        if (together_of(many).ends)
            ends.merge(from, to, together_of(many).places);
        if (mine)
            kept.ends = ends;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Answers
     * -------------------------------------------------------------------------------------------------------------- */

    /* What was noted, as a launch of one answer has it. */
    template <int AS> static __device__ __forceinline__ Notes notes_for(const rd_cuda_call &call, const Notes &all) {
        Notes notes = all;
        if (call.nan != REDUCT_NAN_IGNORE) {
            notes.ignored = 0;
            notes.flags |= all.ignored ? (unsigned)RD_CUDA_NAN_CAME : 0u;
        }
        if (call.nan != REDUCT_NAN_ERROR)
            notes.nan_below = 0;
        if (AS == RD_SQUARE && notes.flags & RD_CUDA_MINUS_CAME)
            notes.flags = (notes.flags & ~(unsigned)RD_CUDA_MINUS_CAME) | RD_CUDA_PLUS_CAME;
        return notes;
    }

    /* Where the results of an answer go. */
    static __device__ __forceinline__ Elements source_for(const rd_cuda_many &many, unsigned which, u64 result) {
        Elements source = source_of(many, result);
        if (together_of(many).dense >> which & 1)
            source.result = (i64)result;
        return source;
    }

    /* A sum, or what is made of sums. By all lanes, of which some have a result. */
    template <int AS>
    static __device__ __forceinline__ void answer_sum(const rd_cuda_many &many, Shared &shared, unsigned which,
                                                      const Merged &merged, const Elements &source, bool mine,
                                                      u64 result) {
        const Answer answer(together_of(many).answer[which]);
        bool alone = false;
        if (mine) {
            Merged own = merged;
            own.notes = notes_for<AS>(answer.call, merged.notes);
            alone = !Sums::template round<AS>(many, answer, own, source, result);
        }
        for (unsigned left = __ballot_sync(ALL, alone); left; left &= left - 1) {
            const u64 own = __shfl_sync(ALL, result, __ffs((int)left) - 1);
            SumState<S, AS>::reduce_alone(many, answer, shared.alone, source_for(many, which, own), own);
        }
        __syncwarp();
    }

    /* An extreme's bits, as the result has them. */
    static __device__ __forceinline__ uint64_t value_of(const rd_cuda_call &call, const Ends &ends, int end) {
        return narrow_element(call, element_of<T>(ends.key[end], end));
    }

    /* Both extremes, or how far they are apart. */
    static __device__ __forceinline__ void answer_ends(const rd_cuda_many &many, const Answer &answer,
                                                       const Elements &source, const Ends &ends, u64 nan_index,
                                                       u64 result) {
        const rd_cuda_call &call = answer.call;
        const struct rd_type type = result_type(call);
        const bool nan = nan_index != UINT64_MAX, none = ends.key[0] == O::MASK && !nan;
        const unsigned status = status_of(answer, source, none ? 0 : source.count, nan_index);
        Elements to = source;
        u64 word = 0;
        if (status != REDUCT_OK && many.keeps) {
            tell(answer, result, status, nan_index);
            return;
        }
        if (call.finish != RD_RANGE) { /* the greatest, behind where the other goes */
            to.result = 2 * to.result + 1;
            word = nan ? rd_nan_bits(&type) : value_of(call, ends, 1);
            put_word(answer, to, result, status, word, nan_index);
            to.result--;
            word = nan ? rd_nan_bits(&type) : value_of(call, ends, 0);
        } else if (nan) {
            word = rd_nan_bits(&type);
        } else if (!none) {
            const u64 infinity = (u64)(sizeof(T) == 8 ? 0x7ff : 0xff) << (PRECISION<T> - 1);
            word = range_of_floats(call, infinity, element_of<T>(ends.key[0], 0), element_of<T>(ends.key[1], 1));
        }
        put_word(answer, to, result, status, word, nan_index);
    }

    /* Whatever is no sum. By a lane that has a result. */
    static __device__ __forceinline__ void answer_other(const rd_cuda_many &many, const Answer &answer,
                                                        const Elements &source, const Ends &ends, const Notes &notes,
                                                        u64 result) {
        const rd_cuda_call &call = answer.call;
        const bool nan = notes.ignored && call.nan != REDUCT_NAN_IGNORE;
        const u64 nan_index = nan ? ~notes.nan_below : UINT64_MAX;
        u64 word = 0;
        if (call.combine == RD_BOTH) {
            answer_ends(many, answer, source, ends, nan_index, result);
        } else if (call.combine == RD_ADD) {
            const u64 fails = call.nan == REDUCT_NAN_ERROR ? nan_index : UINT64_MAX;
            word = source.count - notes.ignored;
            put_word(answer, source, result, status_of(answer, source, source.count, fails), word, fails);
        } else {
            const int end = call.combine == RD_GREATEST;
            const struct rd_type type = result_type(call);
            const bool none = ends.key[end] == O::MASK && !nan;
            if (call.finish == RD_INDEX)
                word = nan ? nan_index : ends.place[end];
            else if (!none)
                word = nan ? rd_nan_bits(&type) : value_of(call, ends, end);
            put_word(answer, source, result, status_of(answer, source, none ? 0 : source.count, nan_index), word,
                     nan_index);
        }
    }

    /* By all lanes, each with the answers of which bits are set. A function of its own, so that the loops before it have the
     * registers. */
    static __device__ __noinline__ void answer_all(const rd_cuda_many &many, Shared &shared, const Merged merged,
                                                   const Ends ends, unsigned wanted, u64 result) {
        const rd_cuda_together &all = together_of(many);
        const Elements source = source_of(many, wanted ? result : 0);
#pragma unroll 1
        for (unsigned a = 0; a < all.answers; a++) {
            const rd_cuda_call &call = all.answer[a].call;
            const bool mine = wanted >> a & 1;
            Elements to = source;
            if (all.dense >> a & 1)
                to.result = (i64)result;
            if (call.combine != RD_ADD || call.transform == RD_PRESENT) {
                if (mine)
                    answer_other(many, all.answer[a], to, ends, merged.notes, result);
            } else if (call.transform == RD_IDENTITY) {
                answer_sum<RD_IDENTITY>(many, shared, a, merged, to, mine, result);
            } else if constexpr (TRANSFORM == RD_MOMENTS) {
                if (call.transform == RD_SQUARE)
                    answer_sum<RD_SQUARE>(many, shared, a, merged, to, mine, result);
                else
                    answer_sum<RD_MOMENTS>(many, shared, a, merged, to, mine, result);
            }
        }
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Rows in few instructions (many_quick.cuh)
     * -------------------------------------------------------------------------------------------------------------- */

    template <int AS>
    static __device__ __forceinline__ bool answer_parted(const Answer &answer, const Parted *parted, double doubt,
                                                         const Elements &source, u64 result) {
        u64 bits;
        if (!Sums::template round_parted<AS>(answer.call, parted, doubt, answer.call.count, bits))
            return false;
        Sums::store(answer.call, source.result, bits);
        tell(answer, result, REDUCT_OK, 0);
        return true;
    }

    /* Those of a lane's answers that can be had in little time, for one result; bits of the others. */
    static __device__ __forceinline__ unsigned answer_quickly(const rd_cuda_many &many, const Parted *parted,
                                                              double doubt, const Ends &ends, u64 result) {
        const rd_cuda_together &all = together_of(many);
        const i64 place = (i64)result * many.axis[0].result_stride;
        unsigned left = 0;
#pragma unroll 1
        for (unsigned a = 0; a < all.answers; a++) {
            const rd_cuda_call &call = all.answer[a].call;
            const Elements source = {{0, 0}, many.call.count, all.dense >> a & 1 ? (i64)result : place, false};
            bool done = false;
            if (call.combine != RD_ADD || call.transform == RD_PRESENT) {
                answer_other(many, all.answer[a], source, ends, {0, 0, 0}, result);
                done = true;
            } else if (call.transform == RD_IDENTITY) {
                done = answer_parted<RD_IDENTITY>(all.answer[a], parted, 0, source, result);
            } else if constexpr (PRODUCTS) {
                done = call.transform == RD_SQUARE
                           ? answer_parted<RD_SQUARE>(all.answer[a], parted, doubt, source, result)
                           : answer_parted<RD_MOMENTS>(all.answer[a], parted, doubt, source, result);
            }
            left |= done ? 0 : 1u << a;
        }
        return left;
    }

    /* A row's answers, by a lane that has it, of sums that are known but for a bound (many_close.cuh), and of extremes, which may be element numbers
     * themselves. False if one is not known. */
    template <class KnownSums>
    static __device__ __forceinline__ bool answer_known(const rd_cuda_many &many, const KnownSums &sums,
                                                        const Beside &beside, u64 result) {
        const rd_cuda_together &all = together_of(many);
        const i64 place = (i64)result * many.axis[0].result_stride;
        bool known = true;
#pragma unroll 1
        for (unsigned a = 0; a < all.answers; a++) {
            const rd_cuda_call &call = all.answer[a].call;
            const i64 to = all.dense >> a & 1 ? (i64)result : place;
            const bool is_end = call.combine == RD_LEAST || call.combine == RD_GREATEST,
                       greatest = call.combine == RD_GREATEST;
            if (call.combine == RD_ADD && call.transform != RD_PRESENT) {
                unsigned bits;
                if (!sums.round(many, call, bits)) {
                    known = false;
                    continue;
                }
                static_cast<unsigned *>(call.result)[to] = bits;
            } else if (is_end && call.finish == RD_INDEX && call.result_bytes == 8) {
                static_cast<u64 *>(call.result)[to] = beside.place[greatest];
            } else if (is_end && call.finish == RD_VALUE && call.result_class == RD_FLOAT && call.result_bytes == 4) {
                static_cast<float *>(call.result)[to] = greatest ? -beside.best[1] : beside.best[0];
            } else {
                answer_other(many, all.answer[a], {{0, 0}, many.call.count, to, false}, beside.ends(), {0, 0, 0},
                             result);
                continue;
            }
            tell(all.answer[a], result, REDUCT_OK, 0);
        }
        return known;
    }

    /* The others. By all lanes. */
    static __device__ __noinline__ void answer_held(const rd_cuda_many &many, Shared &shared, const Parted *parted,
                                                    unsigned left, u64 result) {
        Merged merged;
        Ends none;
        none.reset();
        Sums::hold_all(parted, nullptr, left != 0, merged);
        answer_all(many, shared, merged, none, left, result);
    }

    /* By all lanes, of which some have a result: all of its elements, of which some is not zero. False if the sum of squares is off by so
     * much that some answer is not known. */
    static __device__ __forceinline__ bool finish_parted(const rd_cuda_many &many, Shared &shared,
                                                         const Parted (&parted)[Sums::SUMS], double doubt,
                                                         const Beside &beside, bool mine, u64 result) {
        const unsigned left = mine ? answer_quickly(many, parted, doubt, beside.ends(), result) : 0;
        if (DOUBTS && __any_sync(ALL, left && doubt != 0))
            return false;
        if (__any_sync(ALL, left))
            answer_held(many, shared, parted, left, result);
        return true;
    }

    /* Adds a piece, or several, to what others left. Returns whether it is the last of its result, and then all is there. By one
     * lane. */
    static __device__ __forceinline__ bool meet(const rd_cuda_many &many, Merged &merged, Ends &ends,
                                                const Meeting &meeting, u64 pieces) {
        u64 *word = meeting.words + Sums::GRID_WORDS + RD_CUDA_TABLE_EXTRA;
        if (together_of(many).ends)
            ends.leave(word);
        const typename Sums::Met met = Sums::meet(merged, meeting, pieces);
        merged = met.kept;
        if (met.last && together_of(many).ends)
            ends.fetch(word);
        return met.last;
    }

    /* The same in more time, of sums that have a third number each. */
    static __device__ __noinline__ void finish_held(const rd_cuda_many &many, Shared &shared, const Parted *parted,
                                                    const double *rest, const Beside &beside, bool mine, u64 result) {
        Merged merged;
        Sums::hold_all(parted, rest, mine, merged);
        answer_all(many, shared, merged, beside.ends(), mine ? UINT32_MAX : 0, result);
    }

    /* By all lanes, of which some have so many pieces of a result as one. */
    static __device__ __forceinline__ void finish_pieces(const rd_cuda_many &many, Shared &shared, const Parted *parted,
                                                         const double *rest, const Beside &beside, u64 pieces,
                                                         bool mine, u64 result) {
        Merged merged;
        Ends ends = beside.ends();
        Sums::hold_all(parted, rest, mine, merged);
        mine = mine && meet(many, merged, ends, meeting_of(many, result), pieces);
        answer_all(many, shared, merged, ends, mine ? UINT32_MAX : 0, result);
    }

    /* Pieces of a block's warps, as finish_joined() of sums has them. */
    static __device__ __forceinline__ void finish_joined(const rd_cuda_many &many, Shared &shared, const Kept &kept,
                                                         u64 result) {
        const int lane = lane_index();
        bool mine = result < many.results;
        if (mine) {
            shared.notes[warp_index()][lane] = kept.sums.notes;
            shared.ends.of(warp_index(), lane) = kept.ends;
        }
        __syncthreads();
        if (warp_index() == 0) {
            const Meeting meeting = meeting_of(many, mine ? result : 0);
            typename Sums::Joined joined;
            Ends ends = kept.ends;
            if (mine) {
                joined = Sums::join_all(shared, meeting.words);
#pragma unroll 1
                for (int w = 1; w < WARPS; w++)
                    ends.join(shared.ends.of(w, lane));
                if (meeting.pieces > 1 || joined.left)
                    mine = meet(many, joined.all, ends, meeting, 1);
            }
            answer_all(many, shared, joined.all, ends, mine ? UINT32_MAX : 0, result);
        }
        __syncthreads(); /* before the next task */
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &shared, Kept &kept,
                                                      u64 result) {
        if (many.joined) {
            finish_joined(many, shared, kept, result);
            return;
        }
        bool mine = result < many.results;
        Merged merged;
        __syncwarp();
        if (mine)
            Sums::take_back(shared, kept.sums, merged);
        const Meeting meeting = many.pieces > 1 ? meeting_of(many, result) : Meeting{nullptr, 1};
        if (meeting.pieces > 1 && mine)
            mine = meet(many, merged, kept.ends, meeting, 1);
        answer_all(many, shared, merged, kept.ends, mine ? UINT32_MAX : 0, result);
    }
};

} // namespace
