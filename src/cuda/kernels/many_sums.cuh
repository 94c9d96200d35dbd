/* Exact sums of floats, of their squares and products, for many results: the state of a lane (many.cuh).
 *
 * Overview. A state is a window: K running sums in f64, slices, of which slice k holds whole multiples of its unit. Units are
 * those of a grid, 2^(LOWEST + 42 * m), the same for all results and all data; so states of lanes, and pieces of a result, are
 * added as integers, slice by slice, in any order. Where K slices reach over the whole grid, as for sums of f32, there are no
 * data that do not fit. Elsewhere the first tile decides where on the grid the window lies, and results that do not fit it
 * are reduced once more, alone, in limbs.
 *
 * A tile's exponents say which slices its terms reach. Each slice takes from each term what is a multiple of its unit, by adding
 * it to a number so large that the sum is rounded there, and leaves the rest to the next one; the last takes what is left as it
 * is. (S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation", 2008.) Terms that lie so close together that f64
 * holds the sum of a lane's tile exactly are added up first.
 *
 * Bounds. A slice takes less than 2^41 units of a term, or of what the slice above leaves; ADDS_MAX of them are less than 2^50,
 * and so is what the uppermost slice may hold before: all remain within 2^51 units of 1.5 * 2^52, where f64 has just whole
 * units. Before there are more, carry() leaves each slice but the uppermost less than one unit of the slice above. */
#pragma once

#include "exact.cuh"
#include "many_quick.cuh"
#include "quotient.cuh"

namespace {

constexpr int GRID_STEP = RD_CUDA_GRID_STEP, ADDS_MAX = 480;

/* The lowest unit, and how many there are: up to the highest for which 1.5 * 2^52 units are a finite number. */
template <class T, bool SQUARES> struct GridOf;
template <> struct GridOf<float, false> { static constexpr int LOWEST = RD_CUDA_LOWEST_F32, COUNT = RD_CUDA_GRID_F32; };
template <> struct GridOf<float, true> {
    static constexpr int LOWEST = RD_CUDA_LOWEST_F32_SQUARES, COUNT = RD_CUDA_GRID_F32_SQUARES;
};
template <bool SQUARES> struct GridOf<double, SQUARES> {
    static constexpr int LOWEST = RD_CUDA_LOWEST_F64, COUNT = RD_CUDA_GRID_F64;
};
static_assert(RD_CUDA_LOWEST_F32 + GRID_STEP * RD_CUDA_GRID_F32 >= 128, "the grid of f32 holds every element");
static_assert(RD_CUDA_LOWEST_F32_SQUARES + GRID_STEP * RD_CUDA_GRID_F32_SQUARES >= 256, "and of every square");
static_assert(RD_CUDA_LOWEST_F64 + GRID_STEP * (RD_CUDA_GRID_F64 - 1) <= 1023 - 52, "slices of f64 begin at numbers");

/* What merged states of a warp hold until they are rounded, by lane: slices that are not used are not written. */
template <int K> struct Waiting {
    i64 sum[K][32];
    int base[32];
    signed char low[32], high[32];
};

/* One of them: what its slices hold, in units: less than 2^51 of each of 32 lanes. */
template <int K> struct Held {
    i64 sum[K];
    int base, low, high; /* where on the grid sum[0] lies; the slices that are used, if low <= high */
};

template <int K, class Grid> struct Slices {
    static constexpr bool COMPLETE = K == Grid::COUNT; /* all data fit */
    double slice[K];
    int base;      /* of slice 0 on the grid; -1: not yet chosen */
    int low, high; /* slices that are used */
    int adds;

    static __device__ __forceinline__ int unit_of(int on_grid) {
        return Grid::LOWEST + GRID_STEP * on_grid;
    }
    static __device__ __forceinline__ i64 start_bits(int on_grid) {
        return ((i64)(52 + unit_of(on_grid) + 1023) << 52) | (i64)1 << 51;
    }
    static __device__ __forceinline__ double start(int on_grid) {
        return __longlong_as_double(start_bits(on_grid));
    }

    __device__ __forceinline__ void open_at(int at) {
        base = at;
#pragma unroll
        for (int k = 0; k < K; k++)
            slice[k] = start(at + k);
    }
    __device__ __forceinline__ void reset() {
        base = -1;
        low = K;
        high = -1;
        adds = 0;
        if constexpr (K == Grid::COUNT)
            open_at(0);
    }

    /* The window moved over the grid, so that slices `first` to `last` of that are in it, too, if only such are left behind as are not
     * used. By value: the slices of others would not stay in registers. */
    static __device__ __noinline__ Slices moved(Slices window, int first, int last) {
        const bool used = window.low <= window.high;
        const int lowest = used ? min(last, window.base + window.low) : last,
                  highest = used ? max(first, window.base + window.high) : first;
        if (highest - lowest >= K)
            return window;
#pragma unroll 1
        while (lowest < window.base) {
#pragma unroll
            for (int k = K - 1; k > 0; k--)
                window.slice[k] = window.slice[k - 1];
            window.slice[0] = start(--window.base);
            window.low++;
            window.high++;
        }
#pragma unroll 1
        while (highest >= window.base + K) {
#pragma unroll
            for (int k = 0; k < K - 1; k++)
                window.slice[k] = window.slice[k + 1];
            window.slice[K - 1] = start(window.base++ + K);
            window.low--;
            window.high--;
        }
        return window;
    }

    /* Where on the grid the slices lie that terms of less than 2^(top + 1) reach which are multiples of 2^bottom. */
    static __device__ __forceinline__ void place(int top, int bottom, int &first, int &last) {
        first = max(top - (GRID_STEP - 2) - Grid::LOWEST + (GRID_STEP - 1), 0) / GRID_STEP;
        last = min((bottom - Grid::LOWEST) / GRID_STEP, first);
    }

    /* Opens the window for such terms, or moves it, as far as it can be; for terms that need nearly all of it. */
    __device__ __forceinline__ void make_room(int top, int bottom) {
        int first, last;
        place(top, bottom, first, last);
        if (bottom < Grid::LOWEST || first >= Grid::COUNT)
            return;
        if (base < 0) /* a slice is left for larger terms to come, unless smaller ones need it */
            open_at(min(max(first + 1 - K + (last > first + 1 - K), 0), Grid::COUNT - K));
        else if (last < base || first >= base + K)
            *this = moved(*this, first, last);
    }

    /* The same slices in the window. False if it does not have them. The same for all lanes, as are the arguments. */
    __device__ __forceinline__ bool reach(int top, int bottom, int &first, int &last) {
        place(top, bottom, first, last);
        if constexpr (K < Grid::COUNT) {
            if (bottom < Grid::LOWEST || first >= Grid::COUNT)
                return false;
            if (base < 0) /* one slice is left for larger terms to come */
                open_at(min(max(first + 2 - K, 0), Grid::COUNT - K));
            first -= base;
            last -= base;
        }
        return last >= 0 && first < K;
    }

    /* What is more than a unit of the slice above goes there. False if the uppermost slice holds too much. */
    __device__ __forceinline__ bool carry() {
        bool fits = true;
#pragma unroll
        for (int k = 0; k < K; k++)
            if (k >= low && k <= high) {
                const double begin = start(base + k);
                double held = slice[k] - begin;
                if (k + 1 < K) {
                    const double sum = slice[k + 1] + held;
                    held -= sum - slice[k + 1];
                    slice[k + 1] = sum;
                    slice[k] = begin + held;
                } else {
                    fits = fabs(held) <= ldexp_of(unit_of(base + k) + 50);
                }
            }
        high = min(high + 1, K - 1);
        adds = 1;
        return __all_sync(ALL, fits);
    }
    static __device__ __forceinline__ double ldexp_of(int exponent) {
        return __longlong_as_double((i64)(exponent + 1023) << 52);
    }

    /* Adds one term to a window over the whole grid: what a slice cannot take of it goes on, as does all of what is less than half its
     * unit, so that no slice need be chosen. */
    __device__ __forceinline__ bool add_one(double term, int top, int bottom) {
        int first, last;
        reach(top, bottom, first, last);
        if (++adds > ADDS_MAX && !carry())
            return false;
        low = min(low, last);
        high = max(high, first);
#pragma unroll
        for (int k = K - 1; k > 0; k--) {
            const double sum = slice[k] + term;
            term -= sum - slice[k];
            slice[k] = sum;
        }
        slice[0] += term;
        return true;
    }

    /* Adds terms, of which nothing remains. False if they do not fit. */
    template <int N> __device__ __forceinline__ bool add(double (&term)[N], int top, int bottom) {
        int first, last;
        if (!reach(top, bottom, first, last))
            return false;
        if (adds + N > ADDS_MAX && !carry())
            return false;
        adds += N;
        low = min(low, last);
        high = max(high, first);
#pragma unroll
        for (int k = K - 1; k >= 0; k--) {
            if (k <= first && k > last) {
#pragma unroll
                for (int i = 0; i < N; i++) {
                    const double sum = slice[k] + term[i];
                    term[i] -= sum - slice[k];
                    slice[k] = sum;
                }
            } else if (k == last) {
#pragma unroll
                for (int i = 0; i < N; i++)
                    slice[k] += term[i];
            }
        }
        return true;
    }

    /* To integers, added up over the lanes of a result. */
    __device__ __forceinline__ void merge(int from, int to, bool mine, Waiting<K> &waiting) {
        const int lane = lane_index();
        if (mine) {
            waiting.base[lane] = base;
            waiting.low[lane] = (signed char)low;
            waiting.high[lane] = (signed char)high;
        }
#pragma unroll
        for (int k = 0; k < K; k++)
            if (k >= low && k <= high) {
                i64 sum = __double_as_longlong(slice[k]) - start_bits(base + k);
#pragma unroll 1
                for (int by = from; by < to; by *= 2)
                    sum += __shfl_xor_sync(ALL, sum, by);
                if (mine)
                    waiting.sum[k][lane] = sum;
            }
    }

    static __device__ __forceinline__ void take_back(const Waiting<K> &waiting, Held<K> &held) {
        const int lane = lane_index();
        held.base = waiting.base[lane];
        held.low = waiting.low[lane];
        held.high = waiting.high[lane];
#pragma unroll
        for (int k = 0; k < K; k++)
            held.sum[k] = k >= held.low && k <= held.high ? waiting.sum[k][lane] : 0;
    }
};

/* Sums of elements and sums of products: of a weighted mean those of the weights, the second array, and of elements times weights. */
template <int TRANSFORM> constexpr bool HAS_TWO_SUMS = TRANSFORM == RD_MOMENTS || TRANSFORM == RD_WEIGHTED;

/* Whether a sum of nothing but -0 is -0. */
template <int TRANSFORM>
constexpr bool HAS_SIGNED_ZERO = TRANSFORM == RD_IDENTITY || TRANSFORM == RD_TIMES || TRANSFORM == RD_WEIGHTED;

/* Slices of windows: as a rule so many that elements over 60 binades fit, and their products, with one slice for larger ones to come and
 * one that is not full, as far as there is room: what does not fit takes a thousand times as long. */
template <class T, int TRANSFORM, bool SQUARES>
constexpr int KEPT_SLICES = SQUARES                   ? sizeof(T) == 8 && !HAS_TWO_SUMS<TRANSFORM> ? 8 : 7
                            : HAS_TWO_SUMS<TRANSFORM> ? 5
                            : sizeof(T) == 8          ? 5
                                                      : RD_CUDA_GRID_F32;
/* 64-bit words that hold them. */
template <int SLICES> constexpr int SLICE_WORDS = (GRID_STEP * (SLICES - 1) + 64 + 63) / 64;
struct NoGrid {
    static constexpr int LOWEST = 0, COUNT = 1;
};

/* Room for one result at a time that is reduced alone. */
struct AloneRoom {
    Block block;
    FinishRoom room;
    rd_cuda_call call;
    rd_cuda_outcome outcome;
    unsigned taken; /* by a warp */

    __device__ __forceinline__ void open() {
        if (threadIdx.x == 0)
            taken = 0;
        __syncthreads();
    }
};

/* FOR_ALL: notes serve all policies, and sums of elements and of squares alike (many_several.cu). */
template <class S, int TRANSFORM, bool WITH_MASK = false, bool FOR_ALL = false> struct SumState {
    typedef S Stored;
    typedef decltype(as_element(S())) Element;
    typedef Element T;
    typedef NothingBeside Beside; /* many_quick.cuh */
    static constexpr bool WEIGHTED = TRANSFORM == RD_WEIGHTED, WIDE = sizeof(T) == 8,
                          ELEMENTS = TAKES_ELEMENTS<TRANSFORM>, PRODUCTS = TAKES_PRODUCTS<TRANSFORM> || WEIGHTED,
                          PAIRS = TAKES_PAIRS<TRANSFORM> || WEIGHTED, MASKED = WITH_MASK,
                          SIGNED_ZERO = HAS_SIGNED_ZERO<TRANSFORM> || FOR_ALL, ABSOLUTE = TRANSFORM == RD_ABSOLUTE;
    static constexpr unsigned FINISHES = FINISHES_OF<TRANSFORM, RD_ADD>;
    /* Sums of f64 itself, as a rule, hold a lane's elements exactly. */
    static constexpr bool QUICK = ELEMENTS && !PRODUCTS && !WIDE && !MASKED && !FOR_ALL;
    /* Sums of products may be known but for a bound (many_quick.cuh), as products of f64 have more digits than two numbers hold. */
    static constexpr bool DOUBTS = WIDE && PRODUCTS;
    /* Results of f64 that are more than a sum are rounded quickly. */
    static constexpr bool TO_DOUBLE = WIDE || PRODUCTS;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(sizeof(S)), COUNT_BITS = COUNT == 32 ? 5 : COUNT == 16 ? 4 : 3;
    /* Significant bits of what is stored, hence of its products. */
    static constexpr int DIGITS = Reading<S>::DIGITS;
    typedef typename std::conditional<ELEMENTS, GridOf<T, false>, NoGrid>::type ElementGrid;
    typedef typename std::conditional<PRODUCTS, GridOf<T, true>, NoGrid>::type ProductGrid;
    static constexpr int KE = ELEMENTS ? KEPT_SLICES<T, TRANSFORM, false> : 1,
                         KP = PRODUCTS ? KEPT_SLICES<T, TRANSFORM, true> : 1;

    /* What a lane has that is not in slices; of most data nothing. */
    struct Notes {
        u64 ignored,
            nan_below; /* NaNs that do not count, and what is masked out; ~index of the first NaN, where that is an error */
        unsigned flags;
    };
    /* Those of tables; and EXACT: the sum is a double, and waits in shared memory. */
    enum {
        NAN_CAME = RD_CUDA_NAN_CAME,
        PLUS_CAME = RD_CUDA_PLUS_CAME,
        MINUS_CAME = RD_CUDA_MINUS_CAME,
        OTHER_CAME = RD_CUDA_OTHER_CAME,
        FAILED = RD_CUDA_FAILED,
        EXACT = 32
    };

    /* The slices wait in shared memory, where there is room; the sum too, where it is known without any. */
    struct Kept {
        Notes notes;
    };
    struct Merged {
        Held<KE> elements;
        Held<KP> products;
        Notes notes;
    };

    struct Shared {
        Waiting<KE> elements[ELEMENTS ? WARPS : 1];
        Waiting<KP> products[PRODUCTS ? WARPS : 1];
        double exact[QUICK ? WARPS : 1][32];
        Notes notes[WARPS][32]; /* of pieces that are joined */
        AloneRoom alone;
    };

    const rd_cuda_many &many;
    Shared &shared;
    Slices<KE, ElementGrid> elements;
    Slices<KP, ProductGrid> products;
    Notes notes;
    unsigned signs; /* bits of elements that are not those of -0 */

    static __device__ __forceinline__ Element padding() {
        return (Element)-0.0;
    }
    static __device__ __forceinline__ Element other_padding() {
        return 0;
    }
    static __device__ __forceinline__ void open(Shared &shared) {
        shared.alone.open();
    }

    __device__ __forceinline__ explicit SumState(const rd_cuda_many &m, Shared &of_block) : many(m), shared(of_block) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        notes = {};
        signs = 0;
        if constexpr (ELEMENTS)
            elements.reset();
        if constexpr (PRODUCTS)
            products.reset();
    }
    __device__ __forceinline__ void leave_out(unsigned elements) {
        notes.ignored += elements;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Tiles
     * -------------------------------------------------------------------------------------------------------------- */

    /* Exponents of a tile, over the warp: of its largest element; of its smallest other than zero, and of that one's lowest bit.
     * Keys are as in exact.cuh. */
    struct Range {
        unsigned most, least, own; /* `own`: the most of this lane alone */

        static __device__ __forceinline__ int exponent(unsigned key) {
            return max((int)(key >> (WIDE ? 20 : 23)), 1) - BIAS<T>;
        }
        __device__ __forceinline__ int largest() const {
            return exponent(most);
        }
        __device__ __forceinline__ int smallest() const {
            return exponent(least + 1);
        }
        __device__ __forceinline__ bool finite() const {
            return most < (WIDE ? 0x7ff00000u : 0x7f800000u);
        }
    };

    static __device__ __forceinline__ unsigned key_of(float x) {
        return __float_as_uint(x) & 0x7fffffff;
    }
    static __device__ __forceinline__ unsigned key_of(double x) {
        const u64 bits = (u64)__double_as_longlong(x);
        return ((unsigned)(bits >> 32) & 0x7fffffff) | ((unsigned)bits != 0);
    }
    template <int N> static __device__ __forceinline__ Range range_of(const T (&x)[N]) {
        unsigned most = 0, least = 0xffffffff;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const unsigned key = key_of(x[i]);
            most = max(most, key);
            least = min(least, key - 1); /* zero is beyond all others */
        }
        return {warp_max(most), warp_min(least), most};
    }
    /* Bits in which a number is not -0. */
    static __device__ __forceinline__ unsigned differs(float x) {
        return __float_as_uint(x) ^ 0x80000000;
    }
    static __device__ __forceinline__ unsigned differs(double x) {
        const u64 bits = (u64)__double_as_longlong(x);
        return ((unsigned)(bits >> 32) ^ 0x80000000) | (unsigned)bits;
    }

    __device__ __forceinline__ void note(bool fits) {
        notes.flags |= fits ? 0u : (unsigned)FAILED;
    }

    template <int N> static __device__ __forceinline__ double tree_sum(const double *term) {
        if constexpr (N == 1)
            return term[0];
        else
            return tree_sum<N / 2>(term) + tree_sum<N / 2>(term + N / 2);
    }

    /* Terms of less than 2^(top + 1), multiples of 2^bottom. */
    template <class Window>
    __device__ __forceinline__ void add(Window &window, double (&term)[COUNT], int top, int bottom) {
        if (top + 1 + COUNT_BITS - bottom <= 53) {
            double sum[1] = {tree_sum<COUNT>(term)};
            if constexpr (Window::COMPLETE)
                note(window.add_one(sum[0], top + COUNT_BITS, bottom));
            else
                note(window.add(sum, top + COUNT_BITS, bottom));
        } else {
            note(window.add(term, top, bottom));
        }
    }

    __device__ __forceinline__ void add_elements(const T (&x)[COUNT], const Range &range) {
        double term[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            term[i] = TRANSFORM == RD_ABSOLUTE ? fabs((double)x[i]) : (double)x[i];
        add(elements, term, range.largest(), range.smallest() - (DIGITS - 1));
    }

    /* Products of f64 are two terms: the rounded one, and its error, which is exact where no bit lies below the grid. */
    template <int N>
    __device__ __forceinline__ void add_products(const T (&x)[COUNT], const T (&y)[N], const Range &of_x,
                                                 const Range &of_y) {
        const int top = of_x.largest() + of_y.largest() + 1, least = of_x.smallest() + of_y.smallest();
        double term[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            term[i] = (double)x[i] * (double)(N == 1 ? x[i] : y[N == 1 ? 0 : i]);
        if constexpr (WIDE) {
            if (top >= 1020 || least - 104 < -1074) {
                note(false);
                return;
            }
            if constexpr (HAS_TWO_SUMS<TRANSFORM>) /* other products have a slice more */
                products.make_room(top, least - 104);
            double error[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                error[i] = __fma_rn(x[i], N == 1 ? x[i] : y[N == 1 ? 0 : i], -term[i]);
            note(products.add(term, top, least - 52));
            if (!(notes.flags & FAILED))
                note(products.add(error, top - 53, least - 104));
        } else {
            add(products, term, top, least - 2 * (DIGITS - 1));
        }
    }

    /* Notes what is not finite, and takes it out. Rare. (A function that is called would cost registers all the time.) */
    template <int N> __device__ __forceinline__ void take_out(T (&x)[COUNT], T (&y)[N], u64 first) {
        constexpr int PER_VECTOR = 16 / sizeof(S);
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const double a = x[i], b = PAIRS ? (double)y[N == 1 ? 0 : i] : 1.0;
            const bool nan = is_nan(a) || is_nan(b);
            if (!nan && !is_infinite(a) && !is_infinite(b))
                continue;
            x[i] = padding();
            if constexpr (PAIRS)
                y[i] = other_padding();
            if (nan && (FOR_ALL || many.call.nan == REDUCT_NAN_IGNORE)) {
                notes.ignored++;
                if constexpr (FOR_ALL)
                    notes.nan_below = max(notes.nan_below, (u64) ~(first + places.of<PER_VECTOR>(i)));
            } else if (nan || a == 0 || b == 0 || (WEIGHTED && is_infinite(b))) {
                notes.flags |= NAN_CAME;
                if (nan && many.call.nan == REDUCT_NAN_ERROR)
                    notes.nan_below = max(notes.nan_below, (u64) ~(first + places.of<PER_VECTOR>(i)));
            } else {
                const bool negative =
                    TRANSFORM != RD_ABSOLUTE && (PAIRS || !PRODUCTS || FOR_ALL) && is_negative(a) != is_negative(b);
                notes.flags |= negative ? MINUS_CAME : PLUS_CAME;
            }
        }
    }

    /* Whether anything but -0 came: most lanes have a number other than zero. */
    __device__ __forceinline__ void note_signs(const T (&x)[COUNT], const Range &range) {
        if (range.own) {
            signs = 1;
        } else {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                signs |= differs(x[i]);
        }
    }

    /* A result whose elements are one tile, and lie so close together that f64 holds all sums of them exactly. */
    __device__ __forceinline__ bool take_alone(const T (&x)[COUNT], int from, int to, bool mine, Kept &kept) {
        if constexpr (!QUICK) {
            return false;
        } else {
            const Range range = range_of(x);
            if (!range.finite() || range.most == 0 ||
                range.largest() + 1 + COUNT_BITS + 5 - (range.smallest() - (DIGITS - 1)) > 53)
                return false;
            double term[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                term[i] = TRANSFORM == RD_ABSOLUTE ? fabs((double)x[i]) : (double)x[i];
            double sum = tree_sum<COUNT>(term);
            signs = 0;
            if (SIGNED_ZERO)
                note_signs(x, range);
#pragma unroll 1
            for (int by = from; by < to; by *= 2)
                sum += __shfl_xor_sync(ALL, sum, by);
            if (SIGNED_ZERO && __any_sync(ALL, sum == 0))
#pragma unroll 1
                for (int by = from; by < to; by *= 2)
                    signs |= __shfl_xor_sync(ALL, signs, by);
            if (mine) {
                shared.exact[warp_index()][lane_index()] = sum;
                kept.notes = {0, 0, (unsigned)EXACT | (signs ? (unsigned)OTHER_CAME : 0u)};
            }
            signs = 0;
            return true;
        }
    }

    /* A tile enters. By all lanes. */
    template <int N> __device__ __forceinline__ void take(T (&x)[COUNT], T (&y)[N], u64 first) {
        take(x, y, first, [](const Range &) {});
    }

    /* The same, and what else is done with a tile, of which the range is known. */
    template <int N, class Also>
    __device__ __forceinline__ void take(T (&x)[COUNT], T (&y)[N], u64 first, const Also &also) {
        const bool failed = notes.flags & FAILED; /* so it is in all lanes */
        if (failed && !FOR_ALL)
            return;
        Range of_x = range_of(x), of_y = PAIRS ? range_of(y) : of_x;
        also(of_x);
        if (!of_x.finite() || !of_y.finite()) {
            take_out(x, y, first);
            of_x = range_of(x);
            of_y = PAIRS ? range_of(y) : of_x;
        }
        if constexpr (PAIRS) {
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                signs |= is_other(x[i], y[i]);
        } else if constexpr (SIGNED_ZERO) {
            note_signs(x, of_x);
        }
        if constexpr (WEIGHTED)
            if (of_y.most != 0)
                add_elements(y, of_y);
        if (of_x.most == 0 || of_y.most == 0 || (FOR_ALL && failed))
            return;
        if constexpr (ELEMENTS && !WEIGHTED)
            add_elements(x, of_x);
        if constexpr (PRODUCTS)
            add_products(x, y, of_x, of_y);
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * From lanes to results
     * -------------------------------------------------------------------------------------------------------------- */

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        if (many.pieces > 1) { /* so that the sums of all pieces fit words */
            note(!ELEMENTS || elements.low > elements.high || elements.carry());
            note(!PRODUCTS || products.low > products.high || products.carry());
        }
        if constexpr (ELEMENTS)
            elements.merge(from, to, mine, shared.elements[warp_index()]);
        if constexpr (PRODUCTS)
            products.merge(from, to, mine, shared.products[warp_index()]);
        notes.flags |= signs ? OTHER_CAME : 0;
        const bool noted = __any_sync(ALL, notes.flags & ~OTHER_CAME || notes.ignored != 0);
#pragma unroll 1
        for (int by = from; by < to; by *= 2) {
            if (SIGNED_ZERO || noted)
                notes.flags |= __shfl_xor_sync(ALL, notes.flags, by);
            if (noted) {
                notes.ignored += __shfl_xor_sync(ALL, notes.ignored, by);
                notes.nan_below = max(notes.nan_below, (u64)__shfl_xor_sync(ALL, notes.nan_below, by));
            }
        }
        if (mine)
            kept.notes = notes;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Pieces
     * -------------------------------------------------------------------------------------------------------------- */

    static constexpr int PRODUCT_WORDS = ELEMENTS ? ElementGrid::COUNT : 0, /* where those of products begin */
        GRID_WORDS = PRODUCT_WORDS + (PRODUCTS ? ProductGrid::COUNT : 0);

    /* Of the uppermost slice, in which 32 lanes may hold 2^55 units, what is more than 2^46 goes to the word above; others hold no
     * more. So words hold the sums of 2^16 pieces. False if there is no word above. */
    template <int K, class Grid> static __device__ __forceinline__ bool leave(u64 *words, const Held<K> &held) {
        bool fits = true;
#pragma unroll
        for (int k = 0; k < K; k++) {
            i64 sum = held.sum[k];
            if (K < Grid::COUNT && k == K - 1 && (sum + ((i64)1 << 46)) >> 47 != 0) {
                fits = held.base + K < Grid::COUNT;
                if (fits)
                    atomicAdd(words + held.base + K, (u64)(sum >> GRID_STEP));
                sum &= ((i64)1 << GRID_STEP) - 1;
            }
            if (sum)
                atomicAdd(words + held.base + k, (u64)sum);
        }
        return fits;
    }

    /* Adds to what is held, of which slices that are not used are zero. False if it lies elsewhere on the grid. */
    template <int K> static __device__ __forceinline__ bool join(Held<K> &held, const Held<K> &other) {
        const bool adds = other.low <= other.high, fits = !adds || held.low > held.high || held.base == other.base;
        held.base = adds && fits ? other.base : held.base;
        held.low = adds && fits ? min(held.low, other.low) : held.low;
        held.high = adds && fits ? max(held.high, other.high) : held.high;
#pragma unroll
        for (int k = 0; k < K; k++)
            held.sum[k] += fits ? other.sum[k] : 0;
        return fits;
    }

    /* What all pieces left; false if that spans more slices than there are. Leaves zero. */
    template <int K, class Grid> static __device__ bool fetch(u64 *words, Held<K> &held) {
        static_assert(Grid::COUNT <= 64, "a bit for each slice");
        u64 used = 0; /* a bit for each, for all to be loaded at once: one after another they would be waited for */
#pragma unroll
        for (int m = 0; m < Grid::COUNT; m++)
            used |= (u64)(__ldcg(words + m) != 0) << m;
        const int low = used ? __ffsll((i64)used) - 1 : Grid::COUNT, high = 63 - __clzll((i64)used);
        held.base = min(low, Grid::COUNT - K);
        held.low = low - held.base;
        held.high = high - held.base;
#pragma unroll
        for (int k = 0; k < K; k++)
            held.sum[k] = (i64)__ldcg(words + held.base + k);
        for (int m = low; m <= high; m++)
            words[m] = 0;
        return high - held.base < K;
    }

    /* Adds a piece, or several, to what others left. Returns whether it is the last of its result, and then holds all. By one lane. */
    struct Met {
        Merged kept;
        bool last;
    };
    static __device__ __noinline__ Met meet(Merged kept, const Meeting meeting, u64 pieces) {
        u64 *words = meeting.words, *extra = words + GRID_WORDS;
        if (!(kept.notes.flags & FAILED)) {
            bool all = true;
            if constexpr (ELEMENTS)
                all = leave<KE, ElementGrid>(words, kept.elements);
            if constexpr (PRODUCTS)
                all = leave<KP, ProductGrid>(words + PRODUCT_WORDS, kept.products) && all;
            if (!all)
                kept.notes.flags |= FAILED;
        }
        if (kept.notes.ignored)
            atomicAdd(extra + RD_CUDA_TABLE_NANS, kept.notes.ignored);
        if (kept.notes.flags)
            atomicOr(extra + RD_CUDA_TABLE_FLAGS, (u64)kept.notes.flags);
        if (kept.notes.nan_below)
            atomicMax(extra + RD_CUDA_TABLE_NAN_BELOW, kept.notes.nan_below);
        __threadfence();
        if (atomicAdd(extra + RD_CUDA_TABLE_CAME, pieces) + pieces != meeting.pieces)
            return {kept, false};
        __threadfence();
        bool fits = true;
        if constexpr (ELEMENTS)
            fits = fetch<KE, ElementGrid>(words, kept.elements);
        if constexpr (PRODUCTS)
            fits = fetch<KP, ProductGrid>(words + PRODUCT_WORDS, kept.products) && fits;
        kept.notes.ignored = __ldcg(extra + RD_CUDA_TABLE_NANS);
        kept.notes.flags = (unsigned)__ldcg(extra + RD_CUDA_TABLE_FLAGS) | (fits ? 0u : (unsigned)FAILED);
        kept.notes.nan_below = __ldcg(extra + RD_CUDA_TABLE_NAN_BELOW);
        for (int i = 0; i < RD_CUDA_TABLE_EXTRA; i++)
            extra[i] = 0;
        return {kept, true};
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Rounding
     * -------------------------------------------------------------------------------------------------------------- */

    /* Rounds a number of 64 digits times 2^exponent, of which the lowest also tells of what follows it; false if the result is none of
     * the usual. */
    static __device__ __forceinline__ bool round_leading(u64 leading, int exponent, bool negative,
                                                         const rd_cuda_call &call, u64 &bits) {
        if (call.result_bytes == 4) {
            const unsigned rounded = __float_as_uint((float)leading); /* 2^63 to 2^64 */
            const int field = (int)(rounded >> 23) + exponent;
            bits = (rounded + ((unsigned)exponent << 23)) | (unsigned)negative << 31;
            return field > 0 && field < 255;
        }
        if (call.result_bytes == 8) {
            const u64 rounded = (u64)__double_as_longlong((double)leading);
            const int field = (int)(rounded >> 52) + exponent;
            bits = (rounded + ((u64)(i64)exponent << 52)) | (u64)negative << 63;
            return field > 0 && field < 2047;
        }
        const int cut = 64 - call.result_precision, last = call.result_precision - 1; /* the implicit bit's place */
        const u64 half = (u64)1 << (cut - 1),
                  rounded = (leading >> cut) + (leading & half && leading & (3 * half - 1)); /* a tie to even */
        const int field = exponent + 63 + call.result_max_exponent + (int)(rounded >> (last + 1));
        bits = (u64)(unsigned)field << last | (rounded & (((u64)1 << last) - 1)) | (u64)negative << 15;
        return field > 0 && field <= 2 * call.result_max_exponent;
    }

    /* One or two slices that are next to each other; false if the result is none of the usual. */
    template <int K>
    static __device__ __forceinline__ bool round_short(const Held<K> &held, int lowest, const rd_cuda_call &call,
                                                       u64 &bits) {
        if (held.high - held.low > 1 || call.finish != RD_VALUE)
            return false;
        i64 lower = 0, upper = 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            lower = k == held.low ? held.sum[k] : lower;
            upper = k == held.low + 1 ? held.sum[k] : upper;
        }
        const __int128 sum = ((__int128)upper << GRID_STEP) + lower;
        const bool negative = sum < 0;
        const unsigned __int128 magnitude = negative ? -(unsigned __int128)sum : (unsigned __int128)sum;
        const u64 high = (u64)(magnitude >> 64), low = (u64)magnitude;
        const int zeros = high ? __clzll((i64)high) : 64 + __clzll((i64)low);
        const unsigned __int128 shifted = magnitude << (zeros & 127);
        const u64 leading = (u64)(shifted >> 64) | ((u64)shifted != 0);
        const int exponent =
            lowest + GRID_STEP * (held.base + held.low) + 64 - zeros; /* of the leading word's lowest bit */
        return magnitude != 0 && round_leading(leading, exponent, negative, call, bits);
    }

    /* The first 128 digits of what slices hold; the lowest also tells of those that follow. */
    struct Digits {
        u64 high, low; /* zero, or the highest bit is set */
        int exponent;  /* of the lowest of `high` */
        bool negative;

        template <int K> __device__ __forceinline__ Digits(const Held<K> &held, int lowest) {
            constexpr int W = SLICE_WORDS<K>;
            u64 word[W] = {};
            to_words(word, held);
            negative = (i64)word[W - 1] < 0;
            u64 carry = negative, first = 0, second = 0, third = 0, below = 0, rest = 0;
            int top = 0;
#pragma unroll
            for (int w = 0; w < W; w++) {
                word[w] = (negative ? ~word[w] : word[w]) + carry;
                carry = carry && word[w] == 0;
                if (w >= 3)
                    below |= word[w >= 3 ? w - 3 : 0];
                if (word[w]) {
                    first = word[w];
                    second = w >= 1 ? word[w >= 1 ? w - 1 : 0] : 0;
                    third = w >= 2 ? word[w >= 2 ? w - 2 : 0] : 0;
                    rest = below;
                    top = w;
                }
            }
            const int zeros = first ? __clzll((i64)first) : 0;
            high = first << zeros | (zeros ? second >> (64 - zeros) : 0);
            low = second << zeros | (zeros ? third >> (64 - zeros) : 0);
            low |= (third << zeros | rest) != 0;
            exponent = lowest + GRID_STEP * max(held.base, 0) + 64 * top - zeros;
        }

        /* As two numbers, of which the second takes digits 54 to 106, the lowest as above. False if they, or their products, might not
         * be usual ones. */
        __device__ __forceinline__ bool to_parts(Parted &parted) const {
            const u64 rest = high << 53 | low >> 11, after = (rest >> 11) | ((rest & 0x7ff) != 0 || (low & 0x7ff) != 0);
            const double scale = __longlong_as_double((i64)(exponent + 1023 + 11) << 52),
                         sign = negative ? -scale : scale;
            parted.upper = (double)(high >> 11) * sign;
            parted.lower = (double)after * (sign * 0x1p-53);
            return high != 0 && abs(exponent) < 400;
        }
    };

    template <int AS> static __device__ __forceinline__ Digits value_digits(const Merged &kept) {
        if constexpr (TAKES_PRODUCTS<AS>)
            return Digits(kept.products, ProductGrid::LOWEST);
        else
            return Digits(kept.elements, ElementGrid::LOWEST);
    }

    /* A result of many slices, or one that is not the sum itself, or of products that may be off by `doubt`, in little time; false if it takes
     * more. A function of its own, so that
     * it takes no registers from those that others hold. */
    template <int AS = TRANSFORM>
    static __device__ __noinline__ bool round_digits(const Merged kept, const rd_cuda_call &call, double doubt,
                                                     u64 &bits) {
        if (call.finish == RD_VALUE && doubt == 0) {
            const Digits digits = value_digits<AS>(kept);
            return digits.high &&
                   round_leading(digits.high | (digits.low != 0), digits.exponent, digits.negative, call, bits);
        }
        constexpr bool OF_PRODUCTS = TAKES_PRODUCTS<AS>, OF_ELEMENTS = !OF_PRODUCTS || HAS_TWO_SUMS<AS>;
        Parted parted[SUMS];
        bool fits = true;
        if constexpr (OF_ELEMENTS)
            fits = Digits(kept.elements, ElementGrid::LOWEST).to_parts(parted[0]);
        if constexpr (OF_PRODUCTS)
            fits = Digits(kept.products, ProductGrid::LOWEST).to_parts(parted[SUMS - 1]) && fits;
        /* Digits after the last of these are told of by that. */
        if (call.result_bytes == 8)
            doubt += fabs(sum_of<AS>(parted).upper) * 0x1p-104;
        return fits && round_parted<AS>(call, parted, doubt, call.count, bits);
    }

    template <int W, int K> static __device__ __forceinline__ void to_words(u64 (&word)[W], const Held<K> &held) {
        static_assert(GRID_STEP * (K - 1) + 64 <= 64 * W, "words hold all slices");
#pragma unroll
        for (int k = 0; k < K; k++)
            add_at(word, (__int128)held.sum[k], GRID_STEP * k);
    }

    /* A result of numbers alone, `call` being its own. False if words do not hold what it is made of. AS, here and below: the
     * transform that it is a result of, of states from which results of several follow. */
    template <int AS = TRANSFORM>
    static __device__ __noinline__ bool round_all(const Merged kept, const rd_cuda_call &call, u64 &bits) {
        constexpr unsigned FINISHES = FINISHES_OF<AS, RD_ADD>;
        if constexpr (AS == RD_MOMENTS) {
            u64 sum[SLICE_WORDS<KE>] = {}, squares[SLICE_WORDS<KP>] = {};
            const int bottom = ElementGrid::LOWEST + GRID_STEP * max(kept.elements.base, 0),
                      bottom_of_squares = ProductGrid::LOWEST + GRID_STEP * max(kept.products.base, 0);
            to_words(sum, kept.elements);
            to_words(squares, kept.products);
            return round_moments<FINISHES>(sum, bottom, squares, bottom_of_squares, call, bits);
        } else if constexpr (WEIGHTED) {
            u64 weights[SLICE_WORDS<KP>] = {}, sum[SLICE_WORDS<KP>] = {};
            to_words(weights, kept.elements);
            to_words(sum, kept.products);
            bits = round_quotient(sum, ProductGrid::LOWEST + GRID_STEP * max(kept.products.base, 0), weights,
                                  ElementGrid::LOWEST + GRID_STEP * max(kept.elements.base, 0), call,
                                  (kept.notes.flags & OTHER_CAME) != 0);
            return true;
        } else {
            constexpr bool OF_PRODUCTS = TAKES_PRODUCTS<AS>;
            constexpr int K = OF_PRODUCTS ? KP : KE, W = SLICE_WORDS<K> < 3 ? 3 : SLICE_WORDS<K>;
            u64 word[W] = {};
            int bottom;
            if constexpr (OF_PRODUCTS) {
                to_words(word, kept.products);
                bottom = ProductGrid::LOWEST + GRID_STEP * max(kept.products.base, 0);
            } else {
                to_words(word, kept.elements);
                bottom = ElementGrid::LOWEST + GRID_STEP * max(kept.elements.base, 0);
            }
            const bool negative_zero = HAS_SIGNED_ZERO<AS> && !(kept.notes.flags & OTHER_CAME) && call.count != 0;
            bits = round_words<FINISHES>(word, bottom, call, negative_zero);
            return true;
        }
    }

    static __device__ __forceinline__ u64 nan_bits(const rd_cuda_call &call) {
        return ((u64)(2 * call.result_max_exponent + 1) << (call.result_precision - 1)) |
               (u64)1 << (call.result_precision - 2);
    }

    /* What infinities and NaNs come to; false if there are none. */
    template <int AS = TRANSFORM>
    static __device__ __forceinline__ bool round_special(const Notes &notes, const rd_cuda_call &call, u64 &bits) {
        const unsigned flags = notes.flags & (NAN_CAME | PLUS_CAME | MINUS_CAME);
        const u64 infinity = (u64)(2 * call.result_max_exponent + 1) << (call.result_precision - 1);
        const bool nan = AS == RD_MOMENTS || flags & NAN_CAME || (flags & PLUS_CAME && flags & MINUS_CAME);
        bits = nan ? nan_bits(call) : infinity | (u64)(flags == MINUS_CAME) << (8 * call.result_bytes - 1);
        return flags != 0;
    }

    static __device__ __forceinline__ void store(const rd_cuda_call &call, i64 at, u64 bits) {
        if (call.result_bytes == 8)
            static_cast<u64 *>(call.result)[at] = bits;
        else if (call.result_bytes == 4)
            static_cast<unsigned *>(call.result)[at] = (unsigned)bits;
        else
            static_cast<unsigned short *>(call.result)[at] = (unsigned short)bits;
    }

    /* A sum that is a double to a float: rounded once. False if something else is wanted. */
    static __device__ __forceinline__ bool round_exact(const rd_cuda_many &many, double sum, const Notes &notes,
                                                       u64 result) {
        const rd_cuda_call &call = many.call;
        if (call.finish != RD_VALUE || call.result_bytes < 4 || sum == 0 || many.begins)
            return false;
        const i64 at = many.kept_axes == 1 ? (i64)result * many.axis[0].result_stride : source_of(many, result).result;
        store(call, at, call.result_bytes == 4 ? __float_as_uint((float)sum) : (u64)__double_as_longlong(sum));
        tell(many, result, REDUCT_OK, 0);
        return true;
    }

    /* One result, by one lane. False if it is to be reduced alone. */
    template <int AS = TRANSFORM>
    static __device__ __forceinline__ bool round(const rd_cuda_many &many, const Answer &answer, const Merged &kept,
                                                 const Elements &source, u64 result) {
        const rd_cuda_call &all = answer.call;
        const u64 count = source.count - kept.notes.ignored;
        u64 bits;
        unsigned status = REDUCT_OK;
        if (source.none)
            status = REDUCT_ERROR_ARGUMENT;
        else if (source.count < all.minimum)
            status = REDUCT_ERROR_EMPTY;
        else if (kept.notes.flags & FAILED)
            return false;
        else if (MASKED && all.nan == REDUCT_NAN_ERROR && count < all.minimum) /* what is masked out is not there */
            status = REDUCT_ERROR_EMPTY;
        else if (all.nan == REDUCT_NAN_ERROR && kept.notes.nan_below)
            status = REDUCT_ERROR_NAN;
        else if (count < all.minimum)
            status = REDUCT_ERROR_EMPTY;
        if (WEIGHTED && status == REDUCT_OK && kept.notes.flags & (PLUS_CAME | MINUS_CAME))
            return false; /* the sign is that of the weights' sum, too, without which infinities came */
        if (status != REDUCT_OK) {
            bits = nan_bits(all);
        } else if (!round_special<AS>(kept.notes, all, bits)) {
            bool rounded = false;
            if constexpr (!HAS_TWO_SUMS<AS> && TAKES_PRODUCTS<AS>)
                rounded = round_short(kept.products, ProductGrid::LOWEST, all, bits);
            else if constexpr (!HAS_TWO_SUMS<AS>)
                rounded = round_short(kept.elements, ElementGrid::LOWEST, all, bits);
            if (!rounded) {
                rd_cuda_call own = all;
                own.count = count;
                if constexpr (AS != RD_WEIGHTED)
                    if (own.finish == RD_VALUE || own.result_bytes < 8 || TO_DOUBLE)
                        rounded = round_digits<AS>(kept, own, 0, bits);
                if (!rounded && !round_all<AS>(kept, own, bits))
                    return false;
            }
        }
        if (!WEIGHTED || status == REDUCT_OK || !many.keeps)
            store(all, source.result, bits);
        tell(answer, result, status, ~kept.notes.nan_below);
        return true;
    }

    /* One result by one warp, in limbs: slower, and right for all data. */
    static __device__ __noinline__ void reduce_alone(const rd_cuda_many &many, const Answer answer, AloneRoom &shared,
                                                     const Elements source, u64 result) {
        if (lane_index() == 0)
            while (atomicCAS(&shared.taken, 0u, 1u) != 0) {
            }
        __syncwarp();
        __threadfence_block();
        u64 *words = reinterpret_cast<u64 *>(&shared.block);
        for (int i = lane_index(); i < (int)(sizeof(Block) / sizeof(u64)); i += 32)
            words[i] = 0;
        if (lane_index() == 0) {
            shared.call = answer.call;
            shared.call.count = source.count;
            shared.call.partial = nullptr;
            shared.call.result =
                static_cast<unsigned char *>(answer.call.result) + source.result * answer.call.result_bytes;
            shared.call.outcome = &shared.outcome;
            if (!WEIGHTED || !many.keeps)
                store(answer.call, source.result, nan_bits(answer.call));
        }
        __syncwarp();
        i64 entry = 0;
        if constexpr (MASKED)
            entry = entry_of(many, source, result);
        for (u64 i = lane_index(); i < source.count; i += 32)
            deposit_one(many, answer, shared, source, entry, i);
        __syncwarp();
        if (lane_index() == 0)
            shared.block.partial.nan_index = ~shared.block.nan_below;
        __syncwarp();
        constexpr bool squares = PRODUCTS && !ELEMENTS;
        finish<TRANSFORM == RD_MOMENTS ? FLOAT_MOMENTS
               : WEIGHTED              ? FLOAT_QUOTIENTS
                                       : FLOAT_SUMS,
               FINISHES>(shared.call, shared.block.partial, shared.room, squares ? 2 * FIRST<T> : FIRST<T>,
                         2 * FIRST<T>);
        __syncwarp();
        if (lane_index() == 0) {
            tell(answer, result, shared.outcome.status, shared.outcome.index);
            __threadfence_block();
            atomicExch(&shared.taken, 0u);
        }
    }

    static __device__ void deposit_one(const rd_cuda_many &many, const Answer &answer, AloneRoom &shared,
                                       const Elements &source, i64 entry, u64 i) {
        i64 at[2] = {source.at[0], source.at[1]};
        u64 left = i;
        if (many.begins) {
            at[0] += (i64)i;
            at[1] += (i64)i;
            entry += (i64)i;
        } else {
#pragma unroll 1
            for (int k = many.reduced_axes - 1; k >= 0; k--) {
                const rd_cuda_axis &axis = many.axis[many.kept_axes + k];
                const u64 above = left / axis.length, place = left - above * axis.length;
                at[0] += (i64)place * axis.stride[0];
                at[1] += (i64)place * axis.stride[1];
                if constexpr (MASKED)
                    entry += (i64)place * masked_of(many).stride[many.kept_axes + k];
                left = above;
            }
        }
        if constexpr (MASKED)
            if (!counts(masked_of(many), entry)) {
                atomicAdd(reinterpret_cast<u64 *>(&shared.call.count), ~(u64)0); /* one less */
                return;
            }
        const T x = as_element(__ldcs(static_cast<const S *>(many.call.x) + at[0]));
        const T y = PAIRS ? as_element(__ldcs(static_cast<const S *>(many.call.y) + at[1])) : x;
        /* A NaN makes the result one itself, or does not count. */
        if (!is_nan(x) && !is_nan(y) && is_other(x, PAIRS ? y : (T)1))
            raise_flag(shared.block.partial.nonzero);
        /* An infinite weight is as infinity times zero: both sums are infinite. */
        const double factor = WEIGHTED && is_infinite(y) && !is_nan(x) ? 0 : x;
        const bool finite = admit<TRANSFORM>(shared.block, answer.call, factor, PAIRS ? (double)y : 1.0, i);
        if (!finite && !(WEIGHTED && is_infinite(x) && !is_nan(y) && !is_infinite(y))) /* whose weight counts */
            return;
        if constexpr (ELEMENTS) {
            const Parts part(WEIGHTED ? y : x);
            const bool negative = TRANSFORM != RD_ABSOLUTE && part.negative;
            deposit(shared.block.partial.limb[0], FIRST<T>, negative ? -(i64)part.significand : (i64)part.significand,
                    part.exponent);
        }
        if constexpr (PRODUCTS)
            if (finite)
                deposit_product(shared.block.partial.limb[HAS_TWO_SUMS<TRANSFORM>], x, y);
    }

    /* A sum that is a double, as slices would hold it: of one digit. */
    static __device__ __forceinline__ void hold_exact(double sum, Merged &merged) {
        const int field = (int)((u64)__double_as_longlong(sum) >> 52) & 0x7ff;
        /* The lowest slice of which the sum is a multiple, and which holds it: a unit is less than its lowest bit. */
        const int lowest = field - 1075, at = (max(lowest, ElementGrid::LOWEST) - ElementGrid::LOWEST) / GRID_STEP;
        double scaled = sum * __longlong_as_double((i64)(1023 - (ElementGrid::LOWEST + GRID_STEP * at)) << 52);
        merged.elements.base = 0;
        merged.elements.low = at;
        merged.elements.high = at + 1;
        const i64 upper = (i64)(scaled * 0x1p-42);
#pragma unroll
        for (int k = 0; k < KE; k++)
            merged.elements.sum[k] = k == at ? (i64)(scaled - (double)upper * 0x1p42) : k == at + 1 ? upper : 0;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Sums in two parts, each of which is exact (many_quick.cuh)
     * -------------------------------------------------------------------------------------------------------------- */

    /* A number that is not zero as a float of 32 bits, given a nearby one of 64: rounded as both would be if that lies, in units of
     * its last place, farther than `off` from where rounding changes; of the number itself `off` is 0. */
    static __device__ __forceinline__ bool round_near(double value, unsigned off, u64 &bits) {
        const u64 of_value = (u64)__double_as_longlong(value);
        const unsigned below = (unsigned)of_value & 0x1fffffff, half = 0x10000000;
        const double magnitude = fabs(value);
        bits = __float_as_uint((float)value);
        return off == 0 ||
               (magnitude >= 0x1p-126 && magnitude < 0x1p127 && off < half / 2 && below - (half - off) > 2 * off);
    }

    /* Rounds a number to a result of 16 bits. Given a nearby one, as round_near() does for f32; of the number itself `off` is 0. */
    static __device__ __forceinline__ bool round_to_half(double value, unsigned off, const rd_cuda_call &call,
                                                         u64 &bits) {
        const u64 all = (u64)__double_as_longlong(value), magnitude = all & ~((u64)1 << 63);
        const int cut = 53 - call.result_precision, field = (int)(magnitude >> 52) - 1023 + call.result_max_exponent;
        const u64 half = (u64)1 << (cut - 1), below = magnitude & (2 * half - 1),
                  rounded = (magnitude + (half - 1) + (magnitude >> cut & 1)) >> cut;
        bits = (all >> 63) << 15 | (rounded - ((u64)(1023 - call.result_max_exponent) << (call.result_precision - 1)));
        return field > 0 && field < 2 * call.result_max_exponent &&
               (off == 0 || (off < half / 2 && below - (half - off) > 2 * off));
    }

    /* sum + rest, which is not zero; f64 rounds it to the former. */
    struct Rounded {
        double sum, rest;

        __device__ __forceinline__ explicit Rounded(const Parted &parted) {
            sum = parted.upper + parted.lower;
            const double lower = sum - parted.upper, upper = sum - lower;
            rest = (parted.upper - upper) + (parted.lower - lower);
        }
        /* The sum with a last bit that tells of the rest, for a second rounding. */
        __device__ __forceinline__ double odd() const {
            i64 bits = __double_as_longlong(sum);
            if (rest != 0 && !(bits & 1))
                bits += (rest > 0) == (sum > 0) ? 1 : -1;
            return __longlong_as_double(bits);
        }
        __device__ __forceinline__ unsigned to_float() const {
            return __float_as_uint((float)odd());
        }
    };

    /* A number that is known but for `off`: value + rest, of which f64 rounds the sum to the value, or nearly so. */
    struct Near {
        double value, rest, off;

        /* Over a count. Often there is nothing to round, as of sums of few numbers, which often lie just between two results. */
        __device__ __forceinline__ Near over(double count) const {
            const double share = value / count, left = __fma_rn(-share, count, value), lower = (left + rest) / count;
            const bool is_exact = left == 0 && __fma_rn(-lower, count, rest) == 0;
            return {share, lower, off / count + (is_exact ? 0 : fabs(share) * 0x1p-100)};
        }
        __device__ __forceinline__ Near root() const {
            const double near = sqrt(value);
            return {near, (__fma_rn(-near, near, value) + rest) / (2 * near), off / near + near * 0x1p-98};
        }
        /* Whether all numbers that this may be are rounded alike to f64. */
        __device__ __forceinline__ bool round(u64 &bits) const {
            const double sum = value + rest, left = (value - sum) + rest;
            bits = (u64)__double_as_longlong(sum);
            const int field = (int)(bits >> 52) & 0x7ff;
            /* Half of what the next number is off, which below a power of two is as near again. */
            const int half = field - 53 - ((bits & (((u64)1 << 52) - 1)) == 0);
            return abs(field - 1023) < USUAL_EXPONENTS &&
                   (off == 0 || fabs(left) + off < __longlong_as_double((i64)half << 52));
        }
    };

    /* The variance times the count, of a sum and the sum of squares, of which the latter may be off. False if most of its digits
     * cancel. Each step here rounds at most some 2^-102 of the squares away. */
    static __device__ __forceinline__ bool spread_of(const Rounded &sum, const Rounded &squares, double doubt,
                                                     double count, Near &spread) {
        const double square = sum.sum * sum.sum, rest = __fma_rn(sum.sum, sum.sum, -square) + 2 * sum.sum * sum.rest,
                     share = square / count, share_rest = (__fma_rn(-share, count, square) + rest) / count,
                     difference = squares.sum - share, taken = difference - squares.sum,
                     lost = (squares.sum - (difference - taken)) - (share + taken),
                     lower = (lost + squares.rest) - share_rest;
        spread.value = difference + lower;
        spread.rest = (difference - spread.value) + lower;
        spread.off = doubt + squares.sum * 0x1p-98;
        return spread.value > squares.sum * 0x1p-40;
    }

    /* The sum that a result is of; of two, the first. */
    template <int AS> static __device__ __forceinline__ const Parted &sum_of(const Parted *parted) {
        return parted[TAKES_PRODUCTS<AS> && !HAS_TWO_SUMS<AS> ? SUMS - 1 : 0];
    }

    /* Results of 64 bits in little time, as round_parted() has others; false if it takes more. */
    template <int AS>
    static __device__ __forceinline__ bool round_parted_to_double(const rd_cuda_call &call, const Parted *parted,
                                                                  double doubt, u64 elements, u64 &bits) {
        const double count = (double)elements;
        const Rounded sum(sum_of<AS>(parted));
        Near near = {sum.sum, sum.rest, doubt};
        if constexpr (AS == RD_MOMENTS) {
            if (!spread_of(sum, Rounded(parted[SUMS - 1]), doubt, count, near))
                return false;
            near = near.over(call.population ? count : count - 1);
            if (call.finish == RD_DEVIATION)
                near = near.root();
        } else {
            if (call.finish == RD_MEAN || call.finish == RD_ROOT_MEAN)
                near = near.over(count);
            if (call.finish == RD_ROOT || call.finish == RD_ROOT_MEAN)
                near = near.root();
        }
        return near.round(bits);
    }

    /* What a result of fewer digits than f64 has is rounded from: it lies within `off` units in the last place of the value, or is it, if that is
     * 0. */
    struct Rough {
        double value;
        unsigned off;
    };
    /* What a number may be off, in such units, or more; so many where that is far too many. */
    static __device__ __forceinline__ unsigned units_off(double doubt, double value) {
        return doubt == 0 ? 0 : 1 + (unsigned)fmin(doubt * 0x1p53 / fabs(value), 0x1p31);
    }
    template <int AS>
    static __device__ __forceinline__ bool find_rough(const rd_cuda_call &call, const Parted *parted, double doubt,
                                                      u64 elements, Rough &rough) {
        const double count = (double)elements;
        const Rounded sum(sum_of<AS>(parted));
        if constexpr (AS == RD_MOMENTS) {
            Near spread;
            if (!spread_of(sum, Rounded(parted[SUMS - 1]), doubt, count, spread))
                return false;
            const double value = spread.value / (call.population ? count : count - 1);
            rough = {call.finish == RD_DEVIATION ? sqrt(value) : value, 64 + units_off(doubt, spread.value)};
        } else if (call.finish == RD_VALUE && doubt == 0) {
            rough = {sum.odd(), 0};
        } else {
            double value = sum.sum;
            if (call.finish == RD_MEAN || call.finish == RD_ROOT_MEAN)
                value /= count;
            /* Means that are numbers often lie just between two results. */
            const bool is_mean =
                call.finish == RD_MEAN && doubt == 0 && sum.rest == 0 && __fma_rn(value, count, -sum.sum) == 0;
            if (call.finish == RD_ROOT || call.finish == RD_ROOT_MEAN)
                value = sqrt(value);
            rough = {value, is_mean ? 0 : 16 + units_off(doubt, sum.sum)};
        }
        return true;
    }

    /* A result in little time; false if it takes more. The sum of products may be off by `doubt`. */
    template <int AS = TRANSFORM>
    static __device__ __forceinline__ bool round_parted(const rd_cuda_call &call, const Parted *parted, double doubt,
                                                        u64 elements, u64 &bits) {
        if (TO_DOUBLE && call.result_bytes == 8 && (call.finish != RD_VALUE || doubt != 0))
            return round_parted_to_double<AS>(call, parted, doubt, elements, bits);
        if (call.result_bytes == 8) {
            bits = (u64)__double_as_longlong(Rounded(sum_of<AS>(parted)).sum);
            return call.finish == RD_VALUE;
        }
        Rough rough;
        if (!find_rough<AS>(call, parted, doubt, elements, rough))
            return false;
        if (IS_HALF<S> && call.result_bytes == 2)
            return round_to_half(rough.value, rough.off, call, bits);
        return call.result_bytes == 4 && round_near(rough.value, rough.off, bits);
    }

    /* Adds a part to slices. */
    template <int K, class Grid> static __device__ __forceinline__ bool hold_part(double part, Held<K> &held) {
        const u64 bits = (u64)__double_as_longlong(part);
        const int field = (int)(bits >> 52) & 0x7ff;
        u64 digits = (bits & (((u64)1 << 52) - 1)) | (u64)(field != 0) << 52;
        if (digits == 0)
            return true;
        const int zeros = 63 - __clzll((i64)(digits & (0 - digits))),
                  exponent = max(field, 1) - 1075 + zeros - Grid::LOWEST, at = exponent / GRID_STEP - held.base;
        digits >>= zeros;
        /* Digits of the magnitude, all of one sign: of a negative number in two's complement the highest would not be zero, and might
         * lie above the slices. */
        const unsigned __int128 value = (unsigned __int128)digits << exponent % GRID_STEP;
        const i64 mask = ((i64)1 << GRID_STEP) - 1, sign = part < 0 ? -1 : 1,
                  digit[3] = {sign * ((i64)value & mask), sign * ((i64)(value >> GRID_STEP) & mask),
                              sign * (i64)(value >> 2 * GRID_STEP)};
        bool fits = at >= 0;
#pragma unroll
        for (int i = 0; i < 3; i++) {
#pragma unroll
            for (int k = 0; k < K; k++)
                held.sum[k] += k == at + i ? digit[i] : 0;
            fits = fits && (at + i < K || digit[i] == 0);
        }
        return fits;
    }
    template <int K, class Grid>
    static __device__ __forceinline__ bool hold_parts(const Parted &parted, double rest, Held<K> &held) {
        /* The least part has the lowest bit, unless it is zero. */
        const double lowest = rest != 0 ? rest : parted.lower != 0 ? parted.lower : parted.upper;
        const u64 bits = (u64)__double_as_longlong(lowest);
        const int field = max((int)(bits >> 52) & 0x7ff, 1), exponent = max(field - 1075 - Grid::LOWEST, 0);
        held.base = min(exponent / GRID_STEP, Grid::COUNT - K);
        held.low = 0;
        held.high = K - 1;
#pragma unroll
        for (int k = 0; k < K; k++)
            held.sum[k] = 0;
        return hold_part<K, Grid>(parted.upper, held) && hold_part<K, Grid>(parted.lower, held) &&
               hold_part<K, Grid>(rest, held);
    }

    static constexpr int SUMS = (int)ELEMENTS + (int)PRODUCTS;

    /* The parts of a lane that has a result, in slices; `rest` has a third number of each, or is null. */
    static __device__ __forceinline__ void hold_all(const Parted *parted, const double *rest, bool mine,
                                                    Merged &merged) {
        merged.notes = {0, 0, OTHER_CAME};
        bool fits = true;
        if constexpr (ELEMENTS)
            fits = !mine || hold_parts<KE, ElementGrid>(parted[0], rest ? rest[0] : 0, merged.elements);
        if constexpr (PRODUCTS)
            fits =
                (!mine || hold_parts<KP, ProductGrid>(parted[SUMS - 1], rest ? rest[SUMS - 1] : 0, merged.products)) &&
                fits;
        if (!fits)
            merged.notes.flags |= FAILED;
    }

    /* What round_parted() cannot. By all lanes, of which some have a result. */
    static __device__ __noinline__ void finish_held(const rd_cuda_many &many, Shared &shared, const Parted *parted,
                                                    const double *rest, const Beside &, bool mine, u64 result) {
        Merged merged;
        hold_all(parted, rest, mine, merged);
        finish_merged(many, shared, merged, mine, result);
    }

    /* By all lanes, of which some have a result: all of its elements, of which some is not zero. False if some sum is off by so much
     * that its result is not known. */
    static __device__ __forceinline__ bool finish_parted(const rd_cuda_many &many, Shared &shared,
                                                         const Parted (&parted)[SUMS], double doubt,
                                                         const Beside &beside, bool mine, u64 result) {
        u64 bits;
        if (mine && round_parted(many.call, parted, doubt, many.call.count, bits)) {
            store(many.call, (i64)result * many.axis[0].result_stride, bits);
            tell(many, result, REDUCT_OK, 0);
            mine = false;
        }
        if (DOUBTS && __any_sync(ALL, mine && doubt != 0))
            return false;
        if (__any_sync(ALL, mine))
            finish_held(many, shared, parted, nullptr, beside, mine, result);
        return true;
    }

    /* By all lanes, of which some have so many pieces of a result as one. */
    static __device__ __forceinline__ void finish_pieces(const rd_cuda_many &many, Shared &shared, const Parted *parted,
                                                         const double *rest, const Beside &, u64 pieces, bool mine,
                                                         u64 result) {
        Merged merged;
        hold_all(parted, rest, mine, merged);
        finish_met(many, shared, merged, pieces, mine, result);
    }

    /* The same, in slices. */
    static __device__ __forceinline__ void finish_met(const rd_cuda_many &many, Shared &shared, Merged &merged,
                                                      u64 pieces, bool mine, u64 result) {
        const Meeting meeting = many.pieces > 1 ? meeting_of(many, result) : Meeting{nullptr, 1};
        if (meeting.pieces > 1 && mine) {
            const Met met = meet(merged, meeting, pieces);
            merged = met.kept;
            mine = met.last;
        }
        finish_merged(many, shared, merged, mine, result);
    }

    static __device__ __forceinline__ void finish_merged(const rd_cuda_many &many, Shared &shared, const Merged &merged,
                                                         bool mine, u64 result) {
        const bool alone = mine && !round(many, many, merged, source_of(many, result), result);
        for (unsigned left = __ballot_sync(ALL, alone); left; left &= left - 1) {
            const u64 own = __shfl_sync(ALL, result, __ffs((int)left) - 1);
            reduce_alone(many, many, shared.alone, source_of(many, own), own);
        }
        __syncwarp();
    }

    /* What slices of a lane's result hold. */
    static __device__ __forceinline__ void take_back(const Shared &shared, const Kept &kept, Merged &merged) {
        merged.notes = kept.notes;
        if constexpr (ELEMENTS)
            Slices<KE, ElementGrid>::take_back(shared.elements[warp_index()], merged.elements);
        if constexpr (PRODUCTS)
            Slices<KP, ProductGrid>::take_back(shared.products[warp_index()], merged.products);
    }

    /* What a block's warps have of this lane's result, added up. Sums that lie elsewhere on the grid than the first go to the table
     * by themselves. */
    struct Joined {
        Merged all;
        bool left; /* some did */
    };
    static __device__ __noinline__ Joined join_all(const Shared &shared, u64 *words) {
        Joined joined = {};
        Notes &notes = joined.all.notes;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const Notes &own = shared.notes[w][lane_index()];
            notes.ignored += own.ignored;
            notes.nan_below = max(notes.nan_below, own.nan_below);
            notes.flags |= own.flags;
        }
        bool fits = true;
        if constexpr (ELEMENTS)
            fits = join_sums<KE, ElementGrid>(shared.elements, words, joined.all.elements, joined.left);
        if constexpr (PRODUCTS)
            fits =
                join_sums<KP, ProductGrid>(shared.products, words + PRODUCT_WORDS, joined.all.products, joined.left) &&
                fits;
        if (!fits)
            notes.flags |= FAILED;
        return joined;
    }
    template <int K, class Grid>
    static __device__ __forceinline__ bool join_sums(const Waiting<K> (&waiting)[WARPS], u64 *words, Held<K> &all,
                                                     bool &left) {
        bool fits = true;
        all.base = 0;
        all.low = K;
        all.high = -1;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            Held<K> own;
            Slices<K, Grid>::take_back(waiting[w], own);
            if (!join(all, own)) {
                left = true;
                fits = leave<K, Grid>(words, own) && fits;
            }
        }
        return fits;
    }

    /* Pieces of a block's warps. By all threads: a result's lane is the same in all warps. */
    static __device__ __forceinline__ void finish_joined(const rd_cuda_many &many, Shared &shared, const Kept &kept,
                                                         u64 result) {
        const bool mine = result < many.results;
        if (mine)
            shared.notes[warp_index()][lane_index()] = kept.notes;
        __syncthreads();
        if (warp_index() == 0) {
            const Meeting meeting = meeting_of(many, mine ? result : 0);
            Joined joined;
            bool last = mine;
            if (mine)
                joined = join_all(shared, meeting.words);
            if (mine && (meeting.pieces > 1 || joined.left)) {
                const Met met = meet(joined.all, meeting, 1);
                joined.all = met.kept;
                last = met.last;
            }
            finish_merged(many, shared, joined.all, last, result);
        }
        __syncthreads(); /* before the next task */
    }

    /* By all lanes, of which some have a result. */
    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &shared, Kept &kept,
                                                      u64 result) {
        if (many.joined) {
            finish_joined(many, shared, kept, result);
            return;
        }
        bool mine = result < many.results;
        Merged merged;
        merged.notes = kept.notes;
        __syncwarp();
        if (mine) {
            if (QUICK && kept.notes.flags & EXACT) {
                if (round_exact(many, shared.exact[warp_index()][lane_index()], kept.notes, result))
                    mine = false;
                else
                    hold_exact(shared.exact[warp_index()][lane_index()], merged);
            } else {
                take_back(shared, kept, merged);
            }
        }
        finish_met(many, shared, merged, 1, mine, result);
    }
};

} // namespace

/* The kernels of an element type. */
#define RD_CUDA_MANY_SUM(NAME, ...)                                                                                    \
    RD_CUDA_MANY_KERNEL(many_##NAME, RD_CUDA_RESIDENT_MANY, SumState<__VA_ARGS__>)                                     \
    RD_CUDA_MASKED_KERNEL(masked_##NAME, RD_CUDA_RESIDENT_MANY, SumState<__VA_ARGS__, true>)
#define RD_CUDA_ROWS_SUM(WAY, TILED, NAME, ...)                                                                        \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        WAY##_##NAME(const __grid_constant__ rd_cuda_many many) {                                                      \
        reduce_many_rows<SumState<__VA_ARGS__>, TILED>(many);                                                          \
    }
#define RD_CUDA_MANY_SUMS(TYPE)                                                                                        \
    RD_CUDA_ROWS_SUM(many_rows, false, identity, TYPE, RD_IDENTITY)                                                    \
    RD_CUDA_ROWS_SUM(many_rows, false, absolute, TYPE, RD_ABSOLUTE)                                                    \
    RD_CUDA_MANY_SUM(identity, TYPE, RD_IDENTITY)                                                                      \
    RD_CUDA_MANY_SUM(absolute, TYPE, RD_ABSOLUTE)                                                                      \
    RD_CUDA_MANY_SUM(square, TYPE, RD_SQUARE)                                                                          \
    RD_CUDA_MANY_SUM(times, TYPE, RD_TIMES)                                                                            \
    RD_CUDA_MANY_SUM(moments, TYPE, RD_MOMENTS)                                                                        \
    RD_CUDA_MANY_SUM(weighted, TYPE, RD_WEIGHTED)

/* What is quicker so where rows are several tiles: sums of f64, and of products. */
#define RD_CUDA_MANY_WIDE_ROWS(TYPE)                                                                                   \
    RD_CUDA_ROWS_SUM(many_tiles, true, identity, TYPE, RD_IDENTITY)                                                    \
    RD_CUDA_ROWS_SUM(many_tiles, true, absolute, TYPE, RD_ABSOLUTE)
#define RD_CUDA_MANY_PRODUCT_ROWS(TYPE)                                                                                \
    RD_CUDA_ROWS_SUM(many_rows, false, square, TYPE, RD_SQUARE)                                                        \
    RD_CUDA_ROWS_SUM(many_rows, false, times, TYPE, RD_TIMES)                                                          \
    RD_CUDA_ROWS_SUM(many_rows, false, moments, TYPE, RD_MOMENTS)                                                      \
    RD_CUDA_ROWS_SUM(many_tiles, true, square, TYPE, RD_SQUARE)                                                        \
    RD_CUDA_ROWS_SUM(many_tiles, true, times, TYPE, RD_TIMES)                                                          \
    RD_CUDA_ROWS_SUM(many_tiles, true, moments, TYPE, RD_MOMENTS)
