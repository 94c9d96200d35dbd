/* Kernels for AVX2 with FMA (x86-64-v3: Intel since 2013, AMD since 2015). */
#if !defined(__AVX2__) || !defined(__FMA__)
#error "compile this file with -mavx2 -mfma"
#endif

#define KERNELS          rd_kernels_avx2
#define KERNELS_DEVICE   "cpu:avx2"
#define SIDE_BYTES       32
#define SIDE_MINUS(a, b) ((a) - (b))

#include "cpu/flags.h"

/* AVX2 has no additions that leave the flags alone, but a rounding to integers that does. So terms are scaled until the
 * unit of the first slice is 1: hi = round(x * 2^s), S += hi, and the rest x * 2^s - hi, below 1/2, goes on to the next
 * slice, scaled again. Terms below 2^HEAD keep S exact, below 2^53, for the 2^14 additions between flushes. */
enum { VECTORS = 4, LANES = 4 * VECTORS, HEAD = 38, STEP = 39 };

static bool window_open(struct rd_window *w, int level, int e, bool negative) {
    (void)negative;
    int scale = level > 1 ? HEAD - (e + 1) : 0;
    if (scale > 1022)
        scale = 1022;
    if (scale < -1022)
        return false;
    for (int k = 0, sum = 0; k < level; k++) {
        int step = k == 0 ? scale : k < level - 1 ? STEP : 0; /* the last slice must be exact: it needs no unit */
        sum += step;
        w->factor[k] = power_of_two(step);
        w->scale[k] = -sum;
        w->magic[k] = 0;
        memset(w->lane[k], 0, sizeof w->lane[k]);
    }
    w->level = level;
    return true;
}

/* One block in `slices` slices, a constant. */
static inline __attribute__((always_inline)) bool add_block(struct rd_window *w, const void *x, size_t n, int slices,
                                                            bool single, bool absolute) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d S[RD_SLICES][VECTORS], factor[RD_SLICES];
    for (int k = 0; k < slices; k++) {
        factor[k] = _mm256_set1_pd(w->factor[k]);
        for (int j = 0; j < VECTORS; j++) {
            S[k][j] = _mm256_load_pd(&w->lane[k][4 * j]);
            BARRIER(S[k][j]);
        }
    }
    const char *at = x;
    for (size_t i = 0; i < n; i += LANES) {
#pragma GCC unroll 4
        for (int j = 0; j < VECTORS; j++, at += single ? 16 : 32) {
            if (j % (single ? 4 : 2) == 0)
                READ_AHEAD(at);
            __m256d rest =
                single ? _mm256_cvtps_pd(_mm_loadu_ps((const float *)at)) : _mm256_loadu_pd((const double *)at);
            if (absolute)
                rest = _mm256_andnot_pd(sign, rest);
#pragma GCC unroll 3
            for (int k = 0; k < slices - 1; k++) {
                rest = _mm256_mul_pd(rest, factor[k]);
                __m256d high = _mm256_round_pd(rest, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
                rest = _mm256_sub_pd(rest, high);
                S[k][j] = _mm256_add_pd(S[k][j], high);
            }
            S[slices - 1][j] = _mm256_add_pd(S[slices - 1][j], rest);
        }
    }
    /* x - x is invalid for an infinity, which may have come in without a flag, and NaN for a NaN. */
    __m256d nan = _mm256_setzero_pd();
    for (int j = 0; j < VECTORS; j++)
        nan = _mm256_or_pd(nan, _mm256_sub_pd(S[0][j], S[0][j]));
    BARRIER(nan);
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++)
            BARRIER(S[k][j]);
    if (!flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT) ||
        _mm256_movemask_pd(_mm256_cmp_pd(nan, nan, _CMP_UNORD_Q)))
        return false;
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++)
            _mm256_store_pd(&w->lane[k][4 * j], S[k][j]);
    return true;
}

/* The sum of the numbers in a vector. */
static inline double across(__m256d v) {
    __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

/* The sum of a slice's lanes; false if it is not exact. They started from zero. */
static bool sum_lanes(const struct rd_window *w, int k, double *total) {
    __m256d lane[VECTORS];
    for (int j = 0; j < VECTORS; j++) {
        lane[j] = _mm256_load_pd(&w->lane[k][4 * j]);
        BARRIER(lane[j]);
    }
    *total = across(_mm256_add_pd(_mm256_add_pd(lane[0], lane[1]), _mm256_add_pd(lane[2], lane[3])));
    BARRIER(*total);
    return flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT);
}

static void window_flush(struct rd_window *w) {
    flush_lanes(w, 4, sum_lanes);
}

/* As in kernels_avx512.c: the fused multiply-add gives the error of a product, the flags tell where it cannot. */
static bool multiply_exactly(const double *x, const double *y, size_t n, double *product, double *error) {
    __m256d nan = _mm256_setzero_pd();
    BARRIER(nan);
    for (size_t i = 0; i < n; i += 4) {
        __m256d a = _mm256_loadu_pd(x + i), b = _mm256_loadu_pd(y + i), p = _mm256_mul_pd(a, b);
        _mm256_store_pd(product + i, p);
        _mm256_store_pd(error + i, _mm256_fmsub_pd(a, b, p));
        nan = _mm256_or_pd(nan, _mm256_sub_pd(p, p));
    }
    BARRIER(nan);
    bool exact = flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW);
    _mm_setcsr(RD_MXCSR_DEFAULT);
    return exact && !_mm256_movemask_pd(_mm256_cmp_pd(nan, nan, _CMP_UNORD_Q));
}

#include "cpu/kernels_template.h"
