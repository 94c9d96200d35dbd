/* Exact sums of floats, of their squares and products, in one pass.
 *
 * Overview. A thread adds terms to running sums in f64, the slices of a window: slice k starts at 1.5 * 2^52 of its
 * units, so that while it stays in its binade every addition rounds to whole units and is otherwise exact. What an
 * addition rounds off, which is again exact, goes on to slice k + 1, whose unit is 2^STEP times smaller. Nothing is
 * rounded off in a slice whose unit divides all terms; so with L slices, whose last unit is at most the lowest bit of any
 * term of a tile, the tile is added exactly, and the last of them takes one plain addition.
 *
 * Phases.
 *   1. A warp loads a tile into registers, finds its largest and smallest exponent other than zero's, and moves the
 *      window if the largest is beyond it.
 *   2. From the smallest exponent follows how many slices the tile needs: 1, 2 or 3. It is added with as many.
 *   3. A tile that 3 slices cannot hold goes into bins: integers by exponent, in shared memory.
 *   4. At the end slices, by then integers, are added up over the warp, the block and, where blocks meet in the workspace,
 *      the grid.
 *   5. The last block rounds, once.
 *
 * Bounds. |term| < 2^(unit + HEAD + 1), and at most ADDS_MAX = 2^10 additions before a thread's slices are emptied into
 * integers, keep slice 0 within 2^51 units of its start. What is rounded off is at most half a unit, 2^(STEP - 1) of the
 * next: as many additions keep the others within 2^51 units too.
 *
 * Products of f32 are exact in f64. Those of f64 are two terms, the rounded product and its error, which fused
 * multiply-add gives exactly unless the product is near the ends of f64's range; such tiles are added in integers.
 *
 * Where f64 arithmetic is slow, the slices of a window are integers instead (IntegerWindow); all else is the same.
 *
 * Elements of 16 bits are widened as they are loaded, and are f32 from there on. They have so few significant bits that slices are of
 * f32, too (FloatWindow), which is fast on all devices. One kernel serves f16 and bf16.
 *
 * Sources: S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation", 2008 (extraction of high parts);
 * T. J. Dekker, "A floating-point technique for extending the available precision", 1971 (errors of products). */
#pragma once

#include "bins.cuh"
#include "brief.cuh"
#include "delivery.cuh"
#include "meeting.cuh"
#include "windows.cuh"

namespace {

constexpr int NO_UNIT = -30000; /* fits 16 bits */

/* What is added: transforms of the elements. */
template <int TRANSFORM> constexpr bool TAKES_PAIRS = TRANSFORM == RD_TIMES;
template <int TRANSFORM>
constexpr bool TAKES_PRODUCTS = TRANSFORM == RD_SQUARE || TRANSFORM == RD_TIMES || TRANSFORM == RD_MOMENTS;
template <int TRANSFORM> constexpr bool TAKES_ELEMENTS = !TAKES_PRODUCTS<TRANSFORM> || TRANSFORM == RD_MOMENTS;

/* ---------------------------------------------------------------------------------------------------------------------
 * Single terms
 * ------------------------------------------------------------------------------------------------------------------ */

__device__ __forceinline__ bool is_nan(double x) {
    return x != x;
}
__device__ __forceinline__ bool is_infinite(double x) {
    return fabs(x) == __longlong_as_double(0x7ff0000000000000);
}
__device__ __forceinline__ bool is_negative(double x) {
    return __double_as_longlong(x) < 0;
}

/* Whether a term is anything but -0. */
__device__ __forceinline__ bool is_other(double x, double y) {
    return (x != 0 && y != 0) || is_negative(x) == is_negative(y);
}

/* What a term that is not finite, or a NaN element, does; y is 1 where there are no pairs. Returns whether the term is
 * finite, to be added. */
template <int TRANSFORM> __device__ bool admit(Block &block, const rd_cuda_call &call, double x, double y, u64 index) {
    if (!is_nan(x) && !is_nan(y) && !is_infinite(x) && !is_infinite(y))
        return true;
    rd_cuda_partial &p = block.partial;
    raise_flag(block.used);
    if (is_nan(x) || is_nan(y)) {
        count(call.nan == REDUCT_NAN_IGNORE ? p.ignored : p.nans, 1);
        if (call.nan == REDUCT_NAN_ERROR)
            note_nan(block, index);
    } else if (x == 0 || y == 0) {
        count(p.nans, 1);
    } else {
        bool negative = TRANSFORM != RD_ABSOLUTE && TRANSFORM != RD_SQUARE && is_negative(x) != is_negative(y);
        count(negative ? p.minus_infinities : p.plus_infinities, 1);
    }
    return false;
}

/* Adds the product of two finite numbers straight to limbs. */
template <class T> __device__ void deposit_product(int64_t *limb, T x, T y) {
    const Parts a(x), b(y);
    const u64 low = a.significand * b.significand, high = __umul64hi(a.significand, b.significand);
    const i64 sign = a.negative != b.negative ? -1 : 1;
    const int exponent = a.exponent + b.exponent;
    deposit(limb, 2 * FIRST<T>, sign * (i64)(low & 0xffffffff), exponent);
    deposit(limb, 2 * FIRST<T>, sign * (i64)(low >> 32), exponent + 32);
    deposit(limb, 2 * FIRST<T>, sign * (i64)high, exponent + 64);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums: a warp's windows and a block's bins for one transform
 * ------------------------------------------------------------------------------------------------------------------ */

/* A tile of f32 whose elements were of 16 bits, eight to a vector, and have their places. */
template <int V> struct WidenedTile : Tile<float, V> {
    static __device__ __forceinline__ u64 place(unsigned i) {
        return Tile<AnyHalf, V / 2>::place(i);
    }
};

template <class T, int TRANSFORM, class WINDOW, bool WIDENED> struct Sums {
    typedef WINDOW Window;
    static constexpr bool WIDE = sizeof(T) == 8, INTEGERS = std::is_same<Window, IntegerWindow>::value,
                          FLOATS = std::is_same<Window, FloatWindow>::value;
    static constexpr int STEP = Window::STEP, HEAD = Window::HEAD, ERRORS_BELOW = Window::ERRORS_BELOW;
    static constexpr bool ELEMENTS = TAKES_ELEMENTS<TRANSFORM>, PRODUCTS = TAKES_PRODUCTS<TRANSFORM>,
                          ERRORS = PRODUCTS && WIDE, PAIRS = TAKES_PAIRS<TRANSFORM>;
    static constexpr unsigned FINISHES = FINISHES_OF<TRANSFORM, RD_ADD>;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_EXACT_SUM, TRANSFORM);
    static constexpr int WINDOWS = ELEMENTS + PRODUCTS + ERRORS;
    static constexpr int SUMS = WINDOWS * SLICES; /* of slices */
    typedef typename std::conditional<WIDENED, WidenedTile<VECTORS>, Tile<T, VECTORS>>::type Part;
    typedef typename std::conditional<WIDE, DoubleBins, FloatBins>::type ElementBins;
    static constexpr int LOWEST_BIN =
        WIDE ? -1075 : -150; /* exponent of what 1 in the lowest bin of elements is worth */
    static constexpr int COUNT = Part::COUNT;

    /* Sums of slices travel over lanes, warps and blocks in pieces: the 22 lowest bits of an integer, the 22 next, and the
     * rest with its sign. */
    static constexpr int PIECES = 3, PIECE_BITS = 22;
    static constexpr int UNITS = ELEMENTS + PRODUCTS; /* windows whose unit is their own */

    static __device__ __forceinline__ int piece_of(i64 value, int piece) {
        const int mask = (1 << PIECE_BITS) - 1;
        return piece < PIECES - 1 ? (int)(value >> (PIECE_BITS * piece)) & mask : (int)(value >> (PIECE_BITS * piece));
    }

    /* Frames that a warp found to be in use. */
    struct Found {
        int lowest, highest;
        unsigned blocks; /* that have added to them */
    };

    struct Shared {
        Block block;
        union {
            struct {
                i64 units[WINDOWS][SLICES][THREADS];
                ElementBins element_bins;
                typename std::conditional<PRODUCTS, DoubleBins, char>::type product_bins;
            };
            FinishRoom room;
        };
        int of_warp[WARPS][SUMS][PIECES]; /* sums, and the units of their windows */
        int unit[UNITS][WARPS];
        unsigned binned;
        /* In the last block: how many blocks have a frame; whether their sums are still to be gathered; whether the result
         * is delivered. */
        unsigned present[UNITS];
        bool scattered, delivered;
        Found found[UNITS][WARPS];
    };

    Shared &shared;
    const rd_cuda_call &call;
    Window elements, products, errors;
    int element_unit, product_unit; /* of slice 0, over the warp; NO_UNIT while closed */
    int adds, empties, binned;      /* empties stays 0 until slices are emptied for the first time */
    bool other;                     /* a term other than -0 was seen by the warp */
    bool leaves;                    /* the block leaves something in slots, besides, which the last one has to see */

    __device__ Sums(Shared &memory, const rd_cuda_call &c)
        : shared(memory), call(c), element_unit(NO_UNIT), product_unit(NO_UNIT), adds(0), empties(0), binned(0),
          other(false), leaves(false) {
        elements.open(0);
        products.open(0);
        errors.open(0);
    }

    /* Clears shared memory. By the whole block, before the first tile. */
    __device__ __forceinline__ void open() {
#pragma unroll
        for (int w = 0; w < WINDOWS; w++)
#pragma unroll
            for (int k = 0; k < SLICES; k++)
                shared.units[w][k][threadIdx.x] = 0;
        if constexpr (ELEMENTS)
            shared.element_bins.clear();
        if constexpr (PRODUCTS)
            shared.product_bins.clear();
        if (threadIdx.x == 0)
            shared.binned = 0;
        open_block(shared.block);
    }

    __device__ i64 *units(int window) {
        return &shared.units[window][0][threadIdx.x];
    }

    /* Slices into integers. */
    __device__ __forceinline__ void empty() {
        if (ELEMENTS && element_unit != NO_UNIT)
            elements.empty(element_unit, units(0));
        if (PRODUCTS && product_unit != NO_UNIT) {
            products.empty(product_unit, units(ELEMENTS));
            if (ERRORS)
                errors.empty(product_unit - ERRORS_BELOW, units(ELEMENTS + PRODUCTS));
        }
        adds = 0;
    }

    /* A window of the whole warp into the block's limbs. Called seldom, hence not inlined; it takes what it needs by
     * value, since an object whose address is taken cannot stay in registers. */
    typedef typename Window::Slice Slice;
    static __device__ __noinline__ void bring_home(Shared &shared, int window, Slice slice0, Slice slice1, Slice slice2,
                                                   int unit) {
        Window held = {{slice0, slice1, slice2}};
        i64 *units = &shared.units[window][0][threadIdx.x];
        held.empty(unit, units);
        for (int k = 0; k < SLICES; k++) {
            i64 sum = units[k * THREADS];
            units[k * THREADS] = 0;
            i64 low = warp_add(sum & 0xffffffff), high = warp_add(sum >> 32);
            if (lane_index() == 0) {
                deposit(limb_of(shared.block, window), first_of(window), low, unit - STEP * k);
                deposit(limb_of(shared.block, window), first_of(window), high, unit - STEP * k + 32);
                raise_flag(shared.block.used);
            }
        }
    }

    __device__ __forceinline__ void bring_home(int window, const Window &held, int unit) {
        bring_home(shared, window, held.slice[0], held.slice[1], held.slice[2], unit);
    }

    __device__ __forceinline__ void flush_elements() {
        if (element_unit != NO_UNIT)
            bring_home(0, elements, element_unit);
        element_unit = NO_UNIT;
    }

    __device__ __forceinline__ void flush_products() {
        if (product_unit != NO_UNIT) {
            bring_home(ELEMENTS, products, product_unit);
            if (ERRORS)
                bring_home(ELEMENTS + PRODUCTS, errors, product_unit - ERRORS_BELOW);
        }
        product_unit = NO_UNIT;
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * Tiles
     * -------------------------------------------------------------------------------------------------------------- */

    /* Exponents of a tile, over the warp. */
    typedef FloatRange<T> Range;

    static __device__ __forceinline__ Range range_of(const Part &tile) {
        Range range = Range::none();
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
#pragma unroll
            for (int i = 0; i < 4; i += WIDE ? 2 : 1) {
                const unsigned *word = tile.vector[v].word;
                range.take(Range::key_of(word[WIDE ? i + 1 : i], WIDE ? word[i] : 0));
            }
        return range.over_warp();
    }

    /* The exponent of the lowest bit that elements of a range may have. */
    __device__ __forceinline__ int lowest_of(const Range &range) const {
        if constexpr (WIDENED) /* f16 has none below 2^-24 */
            return call.of_f16 ? max(range.smallest() - 10, -24) : range.smallest() - 7;
        else
            return range.smallest() - (PRECISION<T> - 1);
    }

    static __device__ __forceinline__ T element(const Part &tile, int i) {
        const T x = tile.get(i);
        return TRANSFORM == RD_ABSOLUTE ? fabs(x) : x;
    }

    template <int L> __device__ __forceinline__ void add_elements(const Part &x) {
        if constexpr (FLOATS) {
#pragma unroll
            for (int from = 0; from < COUNT; from += Window::BATCH) {
                typename Window::template Batch<L> batch(element_unit);
#pragma unroll
                for (int i = from; i < from + Window::BATCH; i++)
                    batch.template add<0>(element(x, i));
                batch.keep(elements);
            }
        } else {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                if constexpr (INTEGERS) {
                    const Parts term(x.get(i));
                    int shift = term.exponent - (element_unit - STEP * (L - 1));
                    elements.template add<L>(term.significand, max(shift, 0),
                                             TRANSFORM != RD_ABSOLUTE && term.negative);
                } else {
                    elements.template add<L>(element(x, i));
                }
            }
        }
    }

    template <int L> __device__ __forceinline__ void add_products(const Part &x, const Part &y) {
        if constexpr (FLOATS) {
#pragma unroll
            for (int from = 0; from < COUNT; from += Window::BATCH) {
                typename Window::template Batch<L> batch(product_unit);
#pragma unroll
                for (int i = from; i < from + Window::BATCH; i++)
                    batch.add_product(x.get(i), PAIRS ? y.get(i) : x.get(i));
                batch.keep(products);
            }
        } else {
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                if constexpr (INTEGERS) {
                    const Parts a(x.get(i)), b(PAIRS ? y.get(i) : x.get(i));
                    int shift = max(a.exponent + b.exponent - (product_unit - STEP * (L - 1)), 0);
                    bool negative = a.negative != b.negative;
                    if constexpr (ERRORS)
                        Window::template add_wide<L>(products, errors, (unsigned __int128)a.significand * b.significand,
                                                     shift, negative);
                    else
                        products.template add<L>(a.significand * b.significand, shift, negative);
                } else {
                    const double a = (double)x.get(i), b = PAIRS ? (double)y.get(i) : a;
                    if constexpr (ERRORS) {
                        const double product = a * b;
                        products.template add<L>(product);
                        errors.template add<L>(__fma_rn(a, b, -product));
                    } else {
                        products.template add_product<L>(a, b);
                    }
                }
            }
        }
    }

    /* Slices of a window at `unit` for terms whose lowest bit is `lowest`; more than MOST if there are too few. */
    template <int MOST> static __device__ __forceinline__ int slices_for(int unit, int lowest) {
        int below = unit - lowest;
        if constexpr (MOST > SLICES)
            return below <= (MOST - 2) * STEP ? MOST - 1 : below <= (MOST - 1) * STEP ? MOST : MOST + 1;
        else
            return below <= 0 ? 1 : below <= STEP ? 2 : below <= 2 * STEP ? 3 : SLICES + 1;
    }

    /* By as many threads, counted from 0. */
    static __device__ __noinline__ void flush_bins(Shared &shared, int thread, int threads) {
        rd_cuda_partial &p = shared.block.partial;
        if constexpr (ELEMENTS)
            shared.element_bins.flush(p.limb[0], FIRST<T>, LOWEST_BIN, thread, threads);
        if constexpr (PRODUCTS)
            shared.product_bins.flush(p.limb[TRANSFORM == RD_MOMENTS], 2 * FIRST<T>, -1075, thread, threads);
        raise_flag(shared.block.used);
    }

    /* Counts `terms` per lane into the bins before they go there. */
    __device__ __forceinline__ void reserve_bins(int terms) {
        constexpr int MOST = ELEMENTS && !WIDE && !PRODUCTS ? FLOAT_BIN_ADDS : DOUBLE_BIN_ADDS;
        if (binned + 32 * terms > MOST) {
            flush_bins(shared, lane_index(), 32);
            binned = 0;
        }
        binned += 32 * terms;
        raise_flag(shared.binned);
    }

    __device__ __forceinline__ void put_elements_in_bins(const Part &x) {
        reserve_bins(COUNT);
        bin_elements(shared, x);
    }
    __device__ __forceinline__ void put_products_in_bins(const Part &x, const Part &y) {
        reserve_bins(COUNT * (1 + ERRORS));
        bin_products(shared, x, PAIRS ? y : x);
    }

    /* What follows is rare: functions of their own keep the common path short, and take tiles by value so that those can
     * stay in registers. */
    static __device__ __noinline__ void bin_elements(Shared &shared, Part x) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            bin_term(shared.element_bins, (T)element(x, i));
    }

    static __device__ __noinline__ void bin_products(Shared &shared, Part x, Part y) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            double a = (double)x.get(i), b = PAIRS ? (double)y.get(i) : a;
            double product = a * b;
            bin_term(shared.product_bins, product);
            if (ERRORS)
                bin_term(shared.product_bins, __fma_rn(a, b, -product));
        }
    }

    static __device__ __noinline__ void deposit_products(Shared &shared, Part x, Part y) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            deposit_product(shared.block.partial.limb[TRANSFORM == RD_MOMENTS], x.get(i), PAIRS ? y.get(i) : x.get(i));
        raise_flag(shared.block.used);
    }

    /* Notes what is not finite; returns which elements those are, as bits. */
    static __device__ __noinline__ unsigned note_others(Shared &shared, const rd_cuda_call &call, Part x, Part y,
                                                        u64 index) {
        static_assert(COUNT <= 32, "a word has bits for all");
        unsigned found = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (!admit<TRANSFORM>(shared.block, call, (double)x.get(i), PAIRS ? (double)y.get(i) : 1.0,
                                  index + Part::place(i)))
                found |= 1u << i;
        return found;
    }

    /* Makes them terms that add nothing. In place: tiles that come back from a function would be copied on every way. */
    static __device__ __forceinline__ void take_out(Part &x, Part &y, unsigned found) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            bool out = found >> i & 1;
            x.set(i, out ? (T)-0.0 : x.get(i));
            if (PAIRS)
                y.set(i, out ? (T)0.0 : y.get(i));
        }
    }

    static __device__ __noinline__ bool has_other(Part x, Part y) {
        bool found = false;
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            found = found || is_other((double)x.get(i), PAIRS ? (double)y.get(i) : 1.0);
        return __any_sync(ALL, found);
    }

    /* The largest exponent of an element beyond which a window would reach the end of its slices' range. */
    static __device__ constexpr int largest_exponent() {
        if constexpr (FLOATS)
            return Window::LARGEST;
        else
            return !WIDE ? 127 : INTEGERS ? 1023 : 1000;
    }

    __device__ __forceinline__ void take_elements(const Part &x, const Range &range) {
        constexpr int LIMIT = largest_exponent(), LEAST = Window::template unit_min<T>(false);
        int largest = range.largest(), lowest = lowest_of(range);
        if (largest > LIMIT) {
            put_elements_in_bins(x);
            return;
        }
        int slices = slices_for<SLICES>(element_unit, lowest);
        if (element_unit == NO_UNIT || largest > element_unit + HEAD ||
            (slices > SLICES && largest + 4 < element_unit + Window::START_ELEMENTS)) {
            flush_elements();
            element_unit = max(largest - Window::START_ELEMENTS, LEAST);
            elements.open(element_unit);
            slices = slices_for<SLICES>(element_unit, lowest);
        }
        if (slices == 1)
            add_elements<WIDE && INTEGERS ? 2 : 1>(x); /* 53 bits do not fit 1 */
        else if (slices == 2)
            add_elements<2>(x);
        else if (slices == 3)
            add_elements<3>(x);
        else
            put_elements_in_bins(x);
    }

    /* The index is of the thread's first element. */
    __device__ __forceinline__ void take_products(const Part &x, const Part &y, const Range &of_x, const Range &of_y,
                                                  u64 index) {
        int largest = of_x.largest() + of_y.largest() + 1, smallest = of_x.smallest() + of_y.smallest();
        bool extreme = ERRORS && (largest > 1000 || smallest < -960); /* the error of a product may be lost */
        if (!INTEGERS && extreme) {
            deposit_products(shared, x, PAIRS ? y : x);
            return;
        }
        if (FLOATS && largest > largest_exponent()) {
            put_products_in_bins(x, y);
            return;
        }
        constexpr bool LONG = INTEGERS && ERRORS; /* slices of both windows hold a whole product */
        constexpr int MOST = LONG ? 2 * SLICES : SLICES;
        const int lowest = WIDE && !LONG ? smallest - (PRECISION<T> - 1) : lowest_of(of_x) + lowest_of(of_y);
        int slices = slices_for<MOST>(product_unit, lowest);
        constexpr int LEAST = Window::template unit_min<T>(true);
        if (product_unit == NO_UNIT || largest > product_unit + HEAD ||
            (slices > MOST && largest + 6 < product_unit + Window::START_PRODUCTS)) {
            flush_products();
            product_unit = max(largest - Window::START_PRODUCTS, LEAST);
            products.open(product_unit);
            if (ERRORS)
                errors.open(product_unit - ERRORS_BELOW);
            slices = slices_for<MOST>(product_unit, lowest);
        }
        if (slices <= MOST - 1)
            add_products<MOST - 1>(x, y);
        else if (slices == MOST)
            add_products<MOST>(x, y);
        else if (INTEGERS && extreme)
            deposit_products(shared, x, PAIRS ? y : x);
        else
            put_products_in_bins(x, y);
    }

    /* -0 adds nothing, not even the sign of a zero sum; and as pairs -0 * +0. */
    static __device__ __forceinline__ uint4 padding() {
        const unsigned sign = 0x80000000;
        return WIDE ? make_uint4(0, sign, 0, sign) : make_uint4(sign, sign, sign, sign);
    }

    /* Phases 1 to 3 for one tile; the index is of the thread's first element. */
    __device__ __forceinline__ void take(Part &x, Part &y, u64 index) {
        take(x, y, index, [](const Range &) {});
    }

    /* The same; see(range) is called when the range of the tile's elements is known, before any is taken out. */
    template <class See> __device__ __forceinline__ void take(Part &x, Part &y, u64 index, See see) {
        take<false>(x, y, Range(), Range(), index, see);
    }

    /* The same; KNOWN: with the tiles' ranges. */
    template <bool KNOWN, class See>
    __device__ __forceinline__ void take(Part &x, Part &y, Range of_x, Range of_y, u64 index, See see) {
        for (bool first = true;; first = false) {
            if (!KNOWN || !first) {
                of_x = range_of(x);
                of_y = PAIRS ? range_of(y) : of_x;
            }
            if (first)
                see(of_x);
            if (of_x.finite() && of_y.finite())
                break;
            take_out(x, y, note_others(shared, call, x, PAIRS ? y : x, index));
        }
        if (!other)
            other = (!PAIRS && of_x.most != 0) || has_other(x, PAIRS ? y : x);
        if (of_x.most == 0 || of_y.most == 0)
            return; /* zeros add nothing */
        if constexpr (ELEMENTS)
            take_elements(x, of_x);
        if constexpr (PRODUCTS)
            take_products(x, y, of_x, of_y, index);
        adds += COUNT;
        if (adds > Window::ADDS_MAX - COUNT) {
            empty();
            if (++empties == Window::EMPTIES_MAX) {
                if (ELEMENTS)
                    flush_elements();
                if (PRODUCTS)
                    flush_products();
                empties = 1;
            }
        }
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * The end
     * -------------------------------------------------------------------------------------------------------------- */

    static __device__ int64_t *limb_of(Block &block, int window) {
        return block.partial.limb[TRANSFORM == RD_MOMENTS && window > 0];
    }
    static __device__ int first_of(int window) {
        return ELEMENTS && window == 0 ? FIRST<T> : 2 * FIRST<T>;
    }

    /* Units of windows differ from warp to warp and from block to block, as a rule by little. Sums are brought to that of a
     * frame, the next multiple of 2^FRAME_BITS below, unless that shifts them by more than SHIFT_MAX bits. */
    static constexpr int FRAME_BITS = RD_CUDA_FRAME_BITS, SHIFT_MAX = 10;
    static constexpr int FIRST_FRAME = -(RD_CUDA_FRAMES / 2) * (1 << FRAME_BITS); /* its unit */
    static constexpr int SPREAD = NO_UNIT + 1;
    static_assert(Window::template unit_min<T>(true) > FIRST_FRAME && 2 * 1024 < -FIRST_FRAME + HEAD,
                  "units have frames");

    static __device__ __forceinline__ int frame_of(int unit) {
        return (unit - FIRST_FRAME) >> FRAME_BITS;
    }
    static __device__ __forceinline__ int unit_of_frame(int frame) {
        return FIRST_FRAME + (frame << FRAME_BITS);
    }

    /* The unit that all lanes' sums can be brought to; NO_UNIT if none has one; SPREAD if they lie too far apart. */
    static __device__ __forceinline__ int common_unit(int own) {
        const unsigned above = own == NO_UNIT ? 0 : own - FIRST_FRAME, highest = warp_max(above),
                       lowest = (warp_min(above - 1) + 1) & ~((1u << FRAME_BITS) - 1);
        return highest == 0 ? NO_UNIT : highest - lowest > SHIFT_MAX ? SPREAD : (int)lowest + FIRST_FRAME;
    }

    /* What brings a sum to a lower unit: nothing where there is none, or where units lie too far apart. */
    static __device__ __forceinline__ int factor_to(int common, int own) {
        return own == NO_UNIT || common == SPREAD ? 0 : 1 << (own - common);
    }

    /* Of a sum of slices: its window, whose unit it has, and how many bits below that 1 in it is. */
    static __device__ __forceinline__ constexpr int window_of(int sum) {
        return sum / SLICES;
    }
    static __device__ __forceinline__ constexpr int unit_of(int sum) {
        return ERRORS && window_of(sum) == WINDOWS - 1 ? ELEMENTS : window_of(sum);
    }
    static __device__ __forceinline__ constexpr int below_unit(int sum) {
        return STEP * (sum % SLICES) + (ERRORS && window_of(sum) == WINDOWS - 1 ? ERRORS_BELOW : 0);
    }

    /* A sum of slices, or a piece of one, into limbs. */
    static __device__ __noinline__ void scatter(Block &block, int sum, int piece, i64 value, int unit) {
        if (value == 0)
            return;
        deposit(limb_of(block, window_of(sum)), first_of(window_of(sum)), value,
                unit - below_unit(sum) + PIECE_BITS * piece);
        raise_flag(block.used);
    }

    /* Phase 4 over lanes, of what each has in pieces: by every warp. */
    __device__ __forceinline__ void share(int sum, const int (&piece)[PIECES]) {
#pragma unroll
        for (int p = 0; p < PIECES; p++) {
            int total = warp_add_words(piece[p]);
            if (lane_index() == 0)
                shared.of_warp[warp_index()][sum][p] = total;
        }
    }

    /* Of what a block's threads have seen. */
    __device__ __forceinline__ void add_lanes() {
#pragma unroll
        for (int sum = 0; sum < SUMS; sum++) {
            const int w = window_of(sum), k = sum % SLICES,
                      unit = unit_of(sum) == 0 && ELEMENTS ? element_unit : product_unit;
            const Window &window = w == 0 && ELEMENTS ? elements : w == ELEMENTS ? products : errors;
            i64 value = window.held(unit - (below_unit(sum) - STEP * k), k) + units(w)[k * THREADS];
            if (unit == NO_UNIT)
                value = 0;
            share(sum, {piece_of(value, 0), piece_of(value, 1), piece_of(value, 2)});
        }
        if (lane_index() == 0) {
            if (other)
                raise_flag(shared.block.partial.nonzero);
            if (ELEMENTS)
                shared.unit[0][warp_index()] = element_unit;
            if (PRODUCTS)
                shared.unit[ELEMENTS][warp_index()] = product_unit;
        }
        __syncthreads();
    }

    /* What a block or the grid comes to, in warp 0: lane PIECES * i + p has piece p of sum i. What has units that lie too far
     * apart is in limbs. */
    struct Totals {
        int unit[2];
        i64 piece;

        /* The sum of three pieces, in the first one's lane. */
        __device__ __forceinline__ __int128 join() const {
            const i64 middle = __shfl_down_sync(ALL, piece, 1), high = __shfl_down_sync(ALL, piece, 2);
            return piece + (__int128)middle * (1 << PIECE_BITS) + (__int128)high * ((i64)1 << 2 * PIECE_BITS);
        }
    };
    static_assert(PIECES * SUMS <= 32, "a lane for each piece");

    static __device__ __forceinline__ __int128 get(__int128 joined, int sum) {
        const u64 low = __shfl_sync(ALL, (u64)joined, PIECES * sum);
        const i64 high = __shfl_sync(ALL, (i64)(joined >> 64), PIECES * sum);
        return (__int128)high << 64 | low;
    }

    /* Phase 4 over the warps. By warp 0. */
    __device__ __forceinline__ Totals add_warps() {
        const int piece = lane_index() % PIECES, sum = min(lane_index() / PIECES, SUMS - 1);
        int common[2] = {NO_UNIT, NO_UNIT}, factor = 0; /* in lane u * WARPS + w, of unit u of warp w */
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            const int own = shared.unit[u][lane_index() % WARPS];
            common[u] = common_unit(own);
            factor = u == 0 || lane_index() >= WARPS ? factor_to(common[u], own) : factor;
        }
        if (common[0] == SPREAD || common[1] == SPREAD)
            scatter_warps(shared, common[0], common[1]);
        i64 total = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            total += (i64)shared.of_warp[w][sum][piece] * __shfl_sync(ALL, factor, unit_of(sum) * WARPS + w);
        return {{common[0], common[1]}, total};
    }

    static __device__ __noinline__ void scatter_warps(Shared &shared, int common0, int common1) {
        const int piece = lane_index() % PIECES, sum = lane_index() / PIECES;
        for (int w = 0; w < WARPS && sum < SUMS; w++) {
            int own = shared.unit[unit_of(sum)][w];
            if ((unit_of(sum) == 0 ? common0 : common1) == SPREAD && own != NO_UNIT)
                scatter(shared.block, sum, piece, shared.of_warp[w][sum][piece], own);
        }
        __syncwarp();
    }

    /* Words of frames: a sum of pieces, and above it how many blocks have added to it. */
    static constexpr int COUNT_AT = 64 - TICKET_BITS;
    static_assert(((u64)THREADS << (PIECE_BITS + SHIFT_MAX)) * RD_CUDA_BLOCKS <= (u64)1 << (COUNT_AT - 1),
                  "words have room for all pieces");

    static __device__ __forceinline__ u64 as_word(i64 value) {
        return ((u64)1 << COUNT_AT) + (u64)value;
    }
    static __device__ __forceinline__ i64 value_of(u64 word) {
        return (i64)(word << TICKET_BITS) >> TICKET_BITS;
    }
    static __device__ __forceinline__ unsigned count_of(u64 word) {
        return (unsigned)((word - (u64)value_of(word)) >> COUNT_AT);
    }
    static __device__ __forceinline__ u64 *frame_word(rd_cuda_workspace *workspace, int frame, int word) {
        return reinterpret_cast<u64 *>(&workspace->frame[frame][word]);
    }

    /* The first word for a unit's sums. */
    static __device__ __forceinline__ constexpr int column_of(int u) {
        return PIECES * SLICES * u;
    }

    /* Fields of tickets: blocks that saw a term other than -0; blocks without a frame, of both units. */
    static constexpr int TICKET_OTHER = TICKET_OWN, TICKET_ABSENT = TICKET_OWN + 1;

    /* Phase 4 over the grid: adds the block's totals to those of other blocks, in the words of its frame. As words count
     * blocks, nobody has to wait until all has arrived before taking a ticket, and the last block as a rule has the grid's
     * totals in what its own additions return: it would take three ways to memory and back to write sums, take a ticket and
     * read those of all blocks. Integers may be added in any order. By warp 0. */
    __device__ __forceinline__ void meet(Totals &totals) {
        Block &block = shared.block;
        rd_cuda_workspace *workspace = call.workspace;
        const int sum = lane_index() / PIECES, u = sum < SUMS ? unit_of(sum) : 0, unit = totals.unit[u];
        const bool there = sum < SUMS && unit > SPREAD;
        u64 *word = frame_word(workspace, there ? frame_of(unit) : 0, lane_index());
        const bool used = block.used;
        if (used)
            publish(block, workspace);
        if (used || leaves)
            __threadfence();
        u64 met = there ? atomicAdd(word, as_word(totals.piece)) + as_word(totals.piece) : 0;
        u64 tickets = 0;
        if (lane_index() == 0) {
            const u64 ticket = ticket_if(true, 0) | ticket_if(used, TICKET_USED) |
                               ticket_if(block.partial.nonzero, TICKET_OTHER) |
                               ticket_if(totals.unit[0] <= SPREAD, TICKET_ABSENT) |
                               ticket_if(totals.unit[1] <= SPREAD, TICKET_ABSENT + 1);
            tickets = atomicAdd(reinterpret_cast<u64 *>(&workspace->ticket), ticket) + ticket;
        }
        tickets = __shfl_sync(ALL, tickets, 0);
        if (ticket_count(tickets) == gridDim.x) {
            const unsigned present = gridDim.x - ticket_count(tickets, TICKET_ABSENT + u);
            if (there && count_of(met) != present)
                met = read_word(word); /* what came a little later */
            const bool scattered = __any_sync(ALL, sum < SUMS && count_of(met) != present);
            if (there && !scattered) {
                totals.piece = value_of(met);
                *word = 0;
            }
            if (lane_index() == 0) {
                block.last = true;
                block.any_used = ticket_count(tickets, TICKET_USED);
                block.partial.nonzero = ticket_count(tickets, TICKET_OTHER) != 0;
                shared.scattered = scattered;
                for (int i = 0; i < UNITS; i++)
                    shared.present[i] = gridDim.x - ticket_count(tickets, TICKET_ABSENT + i);
                workspace->ticket = workspace->claimed = 0;
            }
            if (ticket_count(tickets, TICKET_USED) || leaves)
                __threadfence();
        }
    }

    /* What blocks left in a frame for a unit, in the lanes of its sums. By a warp, when the first of its words is complete;
     * others may not be yet. */
    static __device__ i64 take_frame(rd_cuda_workspace *workspace, int u, int frame) {
        const int sum = lane_index() / PIECES;
        const bool wanted = sum < SUMS && unit_of(sum) == u;
        u64 *word = frame_word(workspace, frame, lane_index());
        const unsigned all = __shfl_sync(ALL, wanted ? count_of(read_word(word)) : 0, column_of(u));
        unsigned blocks = 0, tries = 0;
        i64 value = 0;
        while (wanted && blocks < all) {
            const u64 taken = atomicExch(word, 0);
            value += value_of(taken);
            blocks += count_of(taken);
            stop_after(tries++);
        }
        __syncwarp();
        return value;
    }

    /* Frames in use for a unit. By the whole block, when tickets tell that all blocks have added to them, or are about to. */
    static __device__ Found find_frames(Shared &shared, rd_cuda_workspace *workspace, int u) {
        Found all;
        unsigned tries = 0;
        do {
            stop_after(tries++);
            unsigned lowest = RD_CUDA_FRAMES, above = 0, blocks = 0;
            for (int frame = threadIdx.x; frame < RD_CUDA_FRAMES; frame += THREADS) {
                const unsigned count = count_of(read_word(frame_word(workspace, frame, column_of(u))));
                lowest = count ? min(lowest, (unsigned)frame) : lowest;
                above = count ? frame + 1 : above;
                blocks += count;
            }
            lowest = warp_min(lowest);
            above = warp_max(above);
            blocks = (unsigned)warp_add_words((int)blocks);
            if (lane_index() == 0)
                shared.found[u][warp_index()] = {(int)lowest, (int)above - 1, blocks};
            __syncthreads();
            all = shared.found[u][0];
            for (int w = 1; w < WARPS; w++) {
                const Found &found = shared.found[u][w];
                all = {min(all.lowest, found.lowest), max(all.highest, found.highest), all.blocks + found.blocks};
            }
            __syncthreads();
        } while (all.blocks != shared.present[u]);
        return all;
    }

    /* Totals of which blocks had different frames: those of two frames side by side are added; of more they go into limbs.
     * By the last block; what it returns is for warp 0. */
    static __device__ __noinline__ Totals gather(Shared &shared, rd_cuda_workspace *workspace) {
        Totals totals = {{NO_UNIT, NO_UNIT}, 0};
        for (int u = 0; u < UNITS; u++) {
            const Found found = find_frames(shared, workspace, u);
            const bool apart = found.highest > found.lowest + 1;
            if (!apart && warp_index() == 0 && found.blocks) {
                totals.unit[u] = unit_of_frame(found.lowest);
                for (int frame = found.lowest; frame <= found.highest; frame++)
                    totals.piece += take_frame(workspace, u, frame) * (1 << ((frame - found.lowest) << FRAME_BITS));
            }
            for (int first = found.lowest + warp_index(); apart && first <= found.highest; first += THREADS) {
                const int own = first + WARPS * lane_index();
                const bool any = own <= found.highest && count_of(read_word(frame_word(workspace, own, column_of(u))));
                for (unsigned left = __ballot_sync(ALL, any); left; left &= left - 1) {
                    const int frame = first + WARPS * (__ffs((int)left) - 1);
                    const i64 piece = take_frame(workspace, u, frame);
                    scatter(shared.block, lane_index() / PIECES, lane_index() % PIECES, piece, unit_of_frame(frame));
                }
            }
        }
        __syncthreads();
        return totals;
    }

    /* Totals into limbs. */
    static __device__ __noinline__ void scatter_totals(Shared &shared, const Totals totals) {
        const int sum = lane_index() / PIECES;
        if (sum < SUMS && totals.unit[unit_of(sum)] > SPREAD)
            scatter(shared.block, sum, lane_index() % PIECES, totals.piece, totals.unit[unit_of(sum)]);
        __syncwarp();
    }

    /* Phase 5, by warp 0: the totals are all there is but what is in limbs, if those are `used`. Delivers the result if it
     * can be had from the totals alone; otherwise adds them to the limbs. Returns whether it is delivered. */
    __device__ __forceinline__ bool finish_sums(const Totals &totals, bool used) {
        if (!used && is_short(call) && has_float(call)) {
            const __int128 joined = totals.join();
            bool rounded = true;
            u64 bits;
            if constexpr (TRANSFORM == RD_MOMENTS)
                rounded = round_both(joined, totals, bits);
            else if (SUMS > SLICES || !round_slices(joined, totals.unit[0], bits))
                bits = round_total(joined, totals.unit[0]);
            if (rounded && lane_index() == 0)
                deliver_short(call, bits);
            if (rounded)
                return true;
        }
        scatter_totals(shared, totals);
        return false;
    }

    /* The usual case: the upper slices have the result's bits, and the lowest at most tells on which side of a tie they
     * are; or all three fit, with SPARE bits below for what is small. */
    __device__ __forceinline__ bool round_slices(__int128 joined, int unit, u64 &bits) {
        constexpr int SPARE = FLOATS ? 20 : 0, LOW = FLOATS ? 0 : STEP, SHIFT = 2 * STEP - LOW + SPARE;
        const __int128 highest = get(joined, 0), lowest = get(joined, 2);
        const __int128 upper = (highest << SHIFT) + (get(joined, 1) << (SHIFT - STEP)) + (lowest >> LOW << SPARE);
        const bool fits = (i64)(highest >> (125 - SHIFT)) == (i64)(highest >> 127);
        return round_upper(upper, ((u64)lowest & (((u64)1 << LOW) - 1)) != 0, unit - SHIFT, call, bits) && fits;
    }

    /* Sums FROM to TO - 1, of one unit, in units of the lowest one. */
    template <int FROM, int TO, int W>
    static __device__ __forceinline__ void add_sums(u64 (&word)[W], __int128 joined) {
#pragma unroll
        for (int sum = FROM; sum < TO; sum++)
            add_at(word, get(joined, sum), below_unit(TO - 1) - below_unit(sum));
    }

    __device__ __forceinline__ u64 round_total(__int128 joined, int unit) {
        constexpr int LOWEST = below_unit(SUMS - 1), W = LOWEST + 96 > 192 ? 4 : 3;
        u64 word[W] = {};
        add_sums<0, SUMS>(word, joined);
        bool negative_zero = (TRANSFORM == RD_IDENTITY || PAIRS) && !shared.block.partial.nonzero && call.count != 0;
        return round_words<FINISHES>(word, unit - LOWEST, call, negative_zero);
    }

    /* Of moments. */
    __device__ __forceinline__ bool round_both(__int128 joined, const Totals &totals, u64 &bits) {
        u64 sum[3] = {}, squares[4] = {};
        add_sums<0, SLICES>(sum, joined);
        add_sums<SLICES, SUMS>(squares, joined);
        return round_moments<FINISHES>(sum, totals.unit[0] - below_unit(SLICES - 1), squares,
                                       totals.unit[1] - below_unit(SUMS - 1), call, bits);
    }

    /* Phase 4. True in the last block of the grid: then the totals are those of all blocks, in warp 0, but for what is in limbs,
     * if these are `used`. */
    __device__ __forceinline__ bool bring_together(Totals &totals, bool &used) {
        Block &block = shared.block;
        add_lanes();
        if (shared.binned) {
            flush_bins(shared, threadIdx.x, THREADS);
            __syncthreads();
        }
        if (warp_index() == 0)
            totals = add_warps();
        used = false;
        if (gridDim.x > 1) {
            if (warp_index() == 0)
                meet(totals);
            __syncthreads();
            if (!block.last)
                return false;
            used = collect(block, call.workspace);
            if (shared.scattered)
                totals = gather(shared, call.workspace);
        }
        if (warp_index() == 0) {
            __syncwarp();
            used = used || block.used;
            if (lane_index() == 0 && gridDim.x == 1)
                block.partial.nan_index = ~block.nan_below;
        }
        return true;
    }

    /* Phases 4 and 5. */
    __device__ __forceinline__ void end() {
        Totals totals;
        bool used;
        if (!bring_together(totals, used))
            return;
        if (warp_index() == 0) {
            bool delivered = finish_sums(totals, used);
            if (lane_index() == 0)
                shared.delivered = delivered;
        }
        __syncthreads();
        constexpr bool squares = TRANSFORM == RD_SQUARE || TRANSFORM == RD_TIMES;
        if (call.partial && threadIdx.x == 0)
            shared.block.partial.counted = call.count; /* for ranks that add partial results up (ranks.h) */
        if (!shared.delivered)
            deliver<TRANSFORM == RD_MOMENTS ? FLOAT_MOMENTS : FLOAT_SUMS, FINISHES>(
                call, shared.block, shared.room, squares ? 2 * FIRST<T> : FIRST<T>, 2 * FIRST<T>);
    }
};

/* Few elements, if that is a way for them. */
template <class T, int TRANSFORM>
__device__ __forceinline__ bool sum_briefly(const rd_cuda_call &call, unsigned char *memory) {
    typedef typename Brief<T>::Shared Shared;
    static_assert(sizeof(Shared) <= sizeof(Block), "any kernel has room for that");
    if (!Brief<T>::takes(call))
        return false;
    wait_for_previous();
    let_next_come(); /* there is room beside one block */
    return Brief<T>::template run<TRANSFORM == RD_ABSOLUTE, FINISHES_OF<TRANSFORM, RD_ADD>>(
        call, *reinterpret_cast<Shared *>(memory));
}

/* The kernel of one element type and transform. */
template <class T, int TRANSFORM, class WINDOW> __device__ __forceinline__ void exact_sum(const rd_cuda_call &call) {
    typedef Sums<T, TRANSFORM, WINDOW, false> Method;
    __shared__ __align__(16) unsigned char memory[sizeof(typename Method::Shared)];
    typename Method::Shared &shared = *reinterpret_cast<typename Method::Shared *>(memory);
    __shared__ RingOf<RD_EXACT_SUM, TRANSFORM> ring;
    Method sums(shared, call);
    const Span<T> span(call.x, call.count, false); /* all that is not in vectors comes in one tile */
    const T *other = static_cast<const T *>(call.y);
    if (threadIdx.x == 0)
        fetch_first_tile<Method::PAIRS, Method::VECTORS>(call, span);
    if constexpr (!Method::PRODUCTS)
        if (sum_briefly<T, TRANSFORM>(call, memory))
            return;
    sums.open();
    wait_for_previous();
    const StrayTile<T> strays(span, Method::PAIRS ? other : nullptr, (T)-0.0);
    for_tiles<Method::PAIRS, T, Method::VECTORS>(call, span, ring, sums, strays);
    let_next_come(); /* measured: earlier takes up to 0.6 us longer */
    sums.end();
}

/* The same of elements of 16 bits. */
template <int TRANSFORM, class H> struct Widening {
    typedef Sums<float, TRANSFORM, FloatWindow, true> Method;
    typedef typename Method::Part Part;
    typedef typename Method::Range Range;
    static constexpr int VECTORS = Method::VECTORS / RD_CUDA_FEWER_OF_HALVES;
    typedef Tile<AnyHalf, VECTORS> Raw;
    static_assert(RD_CUDA_FEWER_OF_HALVES == 2, "so many vectors of f32 come of one");
    Method sums;

    __device__ __forceinline__ Widening(typename Method::Shared &shared, const rd_cuda_call &call)
        : sums(shared, call) {
    }

    static __device__ __forceinline__ float widen(unsigned bits) {
        H half;
        half.bits = (uint16_t)bits;
        return half;
    }
    static __device__ __forceinline__ Part widen(const Raw &raw) {
        Part wide;
#pragma unroll
        for (int i = 0; i < Raw::COUNT; i++)
            wide.set(i, widen(raw.get(i)));
        return wide;
    }

    /* As range_of() the widened tile, two elements at a time. */
    static __device__ __forceinline__ Range range_of(const Raw &raw) {
        unsigned most = 0, least = 0xffffffff;
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const unsigned keys = raw.vector[v].word[i] & 0x7fff7fff;
                most = __vmaxu2(most, keys);
                least = __viaddmin_u16x2(keys, 0xffffffff, least); /* less 1: zero is beyond all others */
            }
        most = warp_max(max(most & 0xffff, most >> 16));
        least = warp_min(min(least & 0xffff, least >> 16));
        return {__float_as_uint(widen(most)), least == 0xffff ? 0xffffffff : __float_as_uint(widen(least + 1)) - 1};
    }

    static __device__ __forceinline__ uint4 padding() {
        return make_uint4(0x80008000, 0x80008000, 0x80008000, 0x80008000);
    }

    __device__ __forceinline__ void take(const Raw &x, const Raw &y, u64 index) {
        const Range of_x = range_of(x), of_y = Method::PAIRS ? range_of(y) : of_x;
        Part wide = widen(x), other = Method::PAIRS ? widen(y) : wide;
        sums.template take<true>(wide, other, of_x, of_y, index, [](const Range &) {});
    }
};

template <class Family, class R>
__device__ __forceinline__ void exact_sum_widened(const rd_cuda_call &call, typename Family::Method::Shared &shared,
                                                  R &ring) {
    constexpr bool PAIRS = Family::Method::PAIRS;
    Family family(shared, call);
    const Span<AnyHalf> span(call.x, call.count, false);
    const AnyHalf *other = static_cast<const AnyHalf *>(call.y);
    if (threadIdx.x == 0)
        fetch_first_tile<PAIRS, Family::VECTORS>(call, span);
    family.sums.open();
    wait_for_previous();
    const StrayTile<AnyHalf> strays(span, PAIRS ? other : nullptr, 0x8000);
    for_tiles<PAIRS, AnyHalf, Family::VECTORS>(call, span, ring, family, strays);
    let_next_come();
    family.sums.end();
}

template <int TRANSFORM> __device__ __forceinline__ void exact_sum_of_halves(const rd_cuda_call &call) {
    typedef typename Widening<TRANSFORM, F16>::Method::Shared Shared;
    __shared__ __align__(16) unsigned char memory[sizeof(Shared)];
    __shared__ RingOf<RD_EXACT_SUM, TRANSFORM, RD_CUDA_FEWER_OF_HALVES> ring;
    Shared &shared = *reinterpret_cast<Shared *>(memory);
    if (call.of_f16)
        exact_sum_widened<Widening<TRANSFORM, F16>>(call, shared, ring);
    else
        exact_sum_widened<Widening<TRANSFORM, BF16>>(call, shared, ring);
}

} // namespace
