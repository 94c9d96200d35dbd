/* Windows: the running sums of a thread, in slices to which every addition is exact. What they are for, and the bounds that they
 * keep, is in exact.cuh. */
#pragma once

#include "grid.cuh"
#include "parts.cuh"

namespace {

constexpr int SLICES = 3;

/* Where limbs begin: as rd_sum_init() has it. */
template <class T> constexpr int FIRST = sizeof(T) == 8 ? -34 : -5;

/* One thread's part of its warp's window, in f64. `units` are the thread's in shared memory, THREADS apart: what slices
 * held before they were last emptied. */
struct DoubleWindow {
    typedef double Slice;
    /* Bits from a slice's unit to the next one's; from the unit of slice 0 to the largest exponent that it takes; how far
     * below the largest exponent a window opens: HEAD less what it may grow before it must be moved. */
    static constexpr int STEP = 42, HEAD = 40, START_ELEMENTS = 38, START_PRODUCTS = 36;
    static constexpr int ERRORS_BELOW = 53; /* the window of products' errors, below that of the products */
    /* Terms before slices must be emptied; and how often they are before units must be, which then are integers of 2^41
     * times 2^10 additions times 2^11. */
    static constexpr int ADDS_MAX = 1024, EMPTIES_MAX = 1 << 11;

    static_assert(HEAD + 1 + 10 <= 51, "ADDS_MAX terms keep a slice in its binade");
    static_assert(STEP - 1 + 10 <= 51, "so do what was rounded off");

    /* The lowest unit of slice 0 for which the starts of all three, and of errors, are normal numbers. */
    template <class T> static __device__ constexpr int unit_min(bool products) {
        return -1022 - 52 + STEP * (SLICES - 1) + (products && sizeof(T) == 8 ? ERRORS_BELOW : 0);
    }

    Slice slice[SLICES];

    static __device__ __forceinline__ i64 start_bits(int unit, int k) {
        return ((i64)(52 + unit - STEP * k + 1023) << 52) | (i64)1 << 51;
    }

    __device__ __forceinline__ void open(int unit) {
#pragma unroll
        for (int k = 0; k < SLICES; k++)
            slice[k] = __longlong_as_double(start_bits(unit, k));
    }

    /* What a slice holds, in its units: the bits of doubles in one binade differ by their distance in these. */
    __device__ __forceinline__ i64 held(int unit, int k) const {
        return __double_as_longlong(slice[k]) - start_bits(unit, k);
    }

    __device__ __forceinline__ void empty(int unit, i64 *units) {
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            units[k * THREADS] += held(unit, k);
            slice[k] = __longlong_as_double(start_bits(unit, k));
        }
    }

    /* Adds a term over the first L slices, or those from number `FROM` on. */
    template <int L, int FROM = 0> __device__ __forceinline__ void add(double term) {
#pragma unroll
        for (int k = FROM; k < L - 1; k++) {
            double sum = slice[k] + term;
            term -= sum - slice[k];
            slice[k] = sum;
        }
        slice[L - 1] += term;
    }

    /* Adds a product that is exact in f64: so are its sum with a slice, rounded once, and what that rounds off. */
    template <int L> __device__ __forceinline__ void add_product(double a, double b) {
        static_assert(L > 1, "what is rounded off goes on");
        const double sum = __fma_rn(a, b, slice[0]);
        const double rest = __fma_rn(a, b, slice[0] - sum);
        slice[0] = sum;
        add<L, 1>(rest);
    }
};

/* The same in f32, for elements of 16 bits, of which products have at most 22 significant bits. A slice of f32 takes few additions: what
 * it held is kept in an integer after each batch of terms. */
struct FloatWindow {
    typedef int Slice;
    static constexpr int STEP = 19, HEAD = 17, START_ELEMENTS = 16, START_PRODUCTS = 15, BATCH = 16;
    static constexpr int ERRORS_BELOW = 0; /* products are exact */
    /* As those of doubles. Slices are integers of 2^22 for each batch, units of 2^31 for each time that they are emptied. */
    static constexpr int ADDS_MAX = (1 << 9) * BATCH, EMPTIES_MAX = 1 << 20;
    /* The largest exponents of terms for which running sums are finite. */
    static constexpr int LARGEST = 127 - 23 - 1 + START_PRODUCTS;

    static_assert(HEAD + 1 + 4 <= 22 && STEP - 1 + 4 <= 22 && BATCH == 1 << 4,
                  "a batch keeps a running sum in its binade");
    static_assert(START_PRODUCTS <= START_ELEMENTS, "so that the largest holds for both");

    /* The lowest unit of slice 0 for which 1 in slice SLICES - 1 is a number. */
    template <class T> static __device__ constexpr int unit_min(bool) {
        return -149 + STEP * (SLICES - 1);
    }

    Slice slice[SLICES];

    __device__ __forceinline__ void open(int) {
#pragma unroll
        for (int k = 0; k < SLICES; k++)
            slice[k] = 0;
    }

    __device__ __forceinline__ i64 held(int, int k) const {
        return slice[k];
    }

    __device__ __forceinline__ void empty(int, i64 *units) {
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            units[k * THREADS] += slice[k];
            slice[k] = 0;
        }
    }

    /* The running sums of a batch over the first L slices. */
    template <int L> struct Batch {
        int start[L];
        float sum[L];

        __device__ __forceinline__ explicit Batch(int unit) {
#pragma unroll
            for (int k = 0; k < L; k++) {
                start[k] = ((23 + unit - STEP * k + 127) << 23) | 1 << 22;
                sum[k] = __int_as_float(start[k]);
            }
        }
        template <int FROM = 0> __device__ __forceinline__ void add(float term) {
#pragma unroll
            for (int k = FROM; k < L - 1; k++) {
                const float more = sum[k] + term;
                term -= more - sum[k];
                sum[k] = more;
            }
            sum[L - 1] += term;
        }
        /* What a product's sum with a slice rounds off has no more significant bits than the product, hence is exact in f32. */
        __device__ __forceinline__ void add_product(float a, float b) {
            static_assert(L > 1, "what is rounded off goes on");
            const float more = __fmaf_rn(a, b, sum[0]), rest = __fmaf_rn(a, b, sum[0] - more);
            sum[0] = more;
            add<1>(rest);
        }
        __device__ __forceinline__ void keep(FloatWindow &window) const {
#pragma unroll
            for (int k = 0; k < L; k++)
                window.slice[k] += __float_as_int(sum[k]) - start[k];
        }
    };
};

/* The same in integers, for devices whose f64 arithmetic is slow: slices are 64-bit integers that stand for 32 bits each,
 * and a term is its significand, shifted to where it belongs in all of them. */
struct IntegerWindow {
    typedef i64 Slice;
    static constexpr int STEP = 32, HEAD = 30, START_ELEMENTS = 26, START_PRODUCTS = 26;
    static constexpr int ERRORS_BELOW = SLICES * STEP; /* products of f64 go on where the slices of a window end */
    static constexpr int ADDS_MAX = 1 << 30, EMPTIES_MAX = 1;

    static_assert(HEAD + 2 <= STEP, "the highest piece of a term has a sign");

    /* The lowest unit of slice 0 for which no slice begins below the limbs. */
    template <class T> static __device__ constexpr int unit_min(bool products) {
        return 32 * FIRST<T> * (products ? 2 : 1) + STEP * (SLICES - 1) +
               (products && sizeof(T) == 8 ? ERRORS_BELOW : 0);
    }

    Slice slice[SLICES];

    __device__ __forceinline__ void open(int) {
#pragma unroll
        for (int k = 0; k < SLICES; k++)
            slice[k] = 0;
    }

    __device__ __forceinline__ i64 held(int, int k) const {
        return slice[k];
    }

    __device__ __forceinline__ void empty(int, i64 *units) {
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            units[k * THREADS] += slice[k];
            slice[k] = 0;
        }
    }

    /* Adds +- significand * 2^shift units of slice L - 1; that is less than 2^(32 * L - 1). */
    template <int L> __device__ __forceinline__ void add(u64 significand, int shift, bool negative) {
        if constexpr (L == 1) {
            int term = (int)((unsigned)significand << shift);
            slice[0] += negative ? -term : term;
        } else if constexpr (L == 2) {
            i64 term = (i64)(significand << shift);
            term = negative ? -term : term;
            slice[1] += (unsigned)term;
            slice[0] += term >> 32;
        } else {
            __int128 term = (__int128)((unsigned __int128)significand << shift);
            term = negative ? -term : term;
            slice[2] += (unsigned)term;
            slice[1] += (unsigned)(u64)(term >> 32);
            slice[0] += (i64)(term >> 64);
        }
    }

    /* The same for a significand of up to 106 bits and L slices of two windows, of which `low` goes on below `high`. */
    template <int L>
    static __device__ __forceinline__ void add_wide(IntegerWindow &high, IntegerWindow &low,
                                                    unsigned __int128 significand, int shift, bool negative) {
        constexpr int PIECES = 5; /* of 106 bits shifted by up to 31 */
        int within = shift & 31, at = shift >> 5;
        unsigned __int128 shifted = significand << within;
        unsigned piece[PIECES];
#pragma unroll
        for (int i = 0; i < 4; i++)
            piece[i] = (unsigned)(u64)(shifted >> (32 * i));
        piece[4] = (unsigned)((u64)(significand >> 97) >> (31 - within));
#pragma unroll
        for (int j = 0; j < L; j++) { /* slice L - 1 - j takes piece j - at */
            unsigned part = 0;
#pragma unroll
            for (int i = 0; i < PIECES; i++)
                if (j - i >= 0 && j - i <= L - 4)
                    part = at == j - i ? piece[i] : part;
            Slice &slice = L - 1 - j < SLICES ? high.slice[L - 1 - j] : low.slice[L - 1 - j - SLICES];
            slice += negative ? -(i64)part : (i64)part;
        }
    }
};

} // namespace
