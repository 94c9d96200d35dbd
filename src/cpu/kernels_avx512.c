/* Kernels for AVX-512 (F, DQ, BW, VL: every processor with AVX-512 since 2017). */
#if !defined(__AVX512F__) || !defined(__AVX512DQ__) || !defined(__AVX512BW__) || !defined(__AVX512VL__)
#error "compile this file with -mavx512f -mavx512dq -mavx512bw -mavx512vl"
#endif

#define KERNELS        rd_kernels_avx512
#define KERNELS_DEVICE "cpu:avx512"

#include "cpu/flags.h"

/* Vectors per slice; bits kept above the terms; bits from one slice to the next. With terms below 2^(52 - HEAD) units a
 * slice that started at 1.5 * 2^52 units rounds terms to whole ones; if it grows, to multiples. */
enum { VECTORS = 4, HEAD = 7, STEP = 46 };

_Static_assert(VECTORS * 8 == RD_LANES, "lanes");

/* Additions with embedded rounding raise no flags. */
enum { QUIETLY = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

static bool window_open(struct rd_window *w, int level, int e, bool negative) {
    int unit = e + 1 - (52 - HEAD);
    if (level > 1 && unit + 52 > 1022)
        return false;
    for (int k = 0; k < level; k++, unit -= STEP) {
        bool last = k == level - 1; /* the last slice must be exact: it needs no unit */
        if (unit < -1074)
            unit = -1074;
        w->magic[k] = last ? 0 : (negative && k == 0 ? -1.5 : 1.5) * power_of_two(52 + unit);
        w->scale[k] = 0;
        for (int j = 0; j < RD_LANES; j++)
            w->lane[k][j] = w->magic[k];
    }
    w->level = level;
    return true;
}

/* One block in `slices` slices, a constant: S takes the high part of a term, T the high part of the rest, and so on. */
static inline __attribute__((always_inline)) bool add_block(struct rd_window *w, const void *x, size_t n, int slices,
                                                            bool single, bool absolute) {
    __m512d S[RD_SLICES][VECTORS];
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++) {
            S[k][j] = _mm512_load_pd(&w->lane[k][8 * j]);
            BARRIER(S[k][j]);
        }
    const char *at = x;
    for (size_t i = 0; i < n; i += RD_LANES) {
#pragma GCC unroll 4
        for (int j = 0; j < VECTORS; j++, at += single ? 32 : 64) {
            if (!single || j % 2)
                READ_AHEAD(at);
            __m512d rest = single ? _mm512_cvtps_pd(_mm256_loadu_ps((const float *)at)) : _mm512_loadu_pd(at);
            if (absolute)
                rest = _mm512_abs_pd(rest);
#pragma GCC unroll 3
            for (int k = 0; k < slices - 1; k++) {
                __m512d sum = _mm512_add_round_pd(S[k][j], rest, QUIETLY);
                rest = _mm512_sub_pd(rest, _mm512_sub_pd(sum, S[k][j]));
                S[k][j] = sum;
            }
            S[slices - 1][j] = _mm512_add_pd(S[slices - 1][j], rest);
        }
    }
    /* x - x is invalid for an infinity, which may have come in without a flag, and NaN for a NaN. */
    __m512d nan = _mm512_setzero_pd();
    for (int j = 0; j < VECTORS; j++)
        nan = _mm512_or_pd(nan, _mm512_sub_pd(S[0][j], S[0][j]));
    BARRIER(nan);
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++)
            BARRIER(S[k][j]);
    if (!flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT) ||
        _mm512_cmp_pd_mask(nan, nan, _CMP_UNORD_Q))
        return false;
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++)
            _mm512_store_pd(&w->lane[k][8 * j], S[k][j]);
    return true;
}

static void window_flush(struct rd_window *w) {
    flush_lanes(w, 5);
}

/* The fused multiply-add gives the error of a product exactly, unless that is too small for the format, or the product
 * too large: then a flag tells. Inexact is raised by nearly every product and says nothing. */
static bool multiply_exactly(const double *x, const double *y, size_t n, double *product, double *error) {
    __m512d nan = _mm512_setzero_pd();
    BARRIER(nan);
    for (size_t i = 0; i < n; i += 8) {
        __m512d a = _mm512_loadu_pd(x + i), b = _mm512_loadu_pd(y + i), p = _mm512_mul_pd(a, b);
        _mm512_store_pd(product + i, p);
        _mm512_store_pd(error + i, _mm512_fmsub_pd(a, b, p));
        nan = _mm512_or_pd(nan, _mm512_sub_pd(p, p));
    }
    BARRIER(nan);
    bool exact = flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW);
    _mm_setcsr(RD_MXCSR_DEFAULT);
    return exact && !_mm512_cmp_pd_mask(nan, nan, _CMP_UNORD_Q);
}

#include "cpu/kernels_template.h"
