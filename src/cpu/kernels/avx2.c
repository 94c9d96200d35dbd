/* Kernels for AVX2 with FMA and F16C (x86-64-v3: Intel since 2013, AMD since 2015). */
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "compile this file with -mavx2 -mfma -mf16c"
#endif

#define KERNELS          rd_kernels_avx2
#define KERNELS_DEVICE   "cpu:avx2"
#define SIDE_BYTES       32
#define SIDE_MINUS(a, b) ((a) - (b))

#include "cpu/kernels/flags.h"

#include "cpu/kernels/elements.h"

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

static inline __attribute__((always_inline)) __m256d round_quietly(__m256d x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* One block in `slices` slices, a constant. The rest is formed by a fused multiply-add because AMD's processors have units for
 * these beside those for additions, which are busy. */
static inline __attribute__((always_inline)) bool add_block(struct rd_window *w, const void *x, size_t n, int slices,
                                                            reduct_type element, bool absolute) {
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
    FOR_AHEAD(i, ahead, n, LANES, size_of(element), w->after) {
#pragma GCC unroll 4
        for (size_t j = 0; j < VECTORS; j++, at += 4 * size_of(element)) {
            if (j * 4 * size_of(element) % 64 == 0)
                READ_AHEAD(at, ahead);
            __m256d rest = (__m256d)load_doubles(at, element);
            if (absolute)
                rest = _mm256_andnot_pd(sign, rest);
#pragma GCC unroll 3
            for (int k = 0; k < slices - 1; k++) {
                __m256d high = round_quietly(_mm256_mul_pd(rest, factor[k]));
                rest = _mm256_fmsub_pd(rest, factor[k], high);
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

/* As in avx512.c: the fused multiply-add gives the error of a product, the flags tell where it cannot. */
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

/* Sums of few elements in two slices, in one pass, on trust that a sample shows how large they are: terms below 2^BRIEF_HEAD
 * whole units, of which RD_BRIEF add up to less than 2^53, and their rests. Flags prove that all was exact. */
enum { BRIEF_HEAD = 40 };

_Static_assert((int64_t)RD_BRIEF << BRIEF_HEAD < (int64_t)1 << 53, "the sum of the first slice is a double");

/* Up to four elements, and zeros. */
static inline __attribute__((always_inline)) __m256d load_brief(const void *x, size_t i, size_t n,
                                                                reduct_type element) {
    const int left = n - i < 4 ? (int)(n - i) : 4;
    const __m128i mask = _mm_cmpgt_epi32(_mm_set1_epi32(left), _mm_set_epi32(3, 2, 1, 0));
    if (element == REDUCT_F64)
        return _mm256_maskload_pd((const double *)x + i, _mm256_cvtepi32_epi64(mask));
    if (element == REDUCT_F32)
        return _mm256_cvtps_pd(_mm_maskload_ps((const float *)x + i, mask));
    uint16_t few[4] = {0};
    memcpy(few, (const uint16_t *)x + i, (size_t)left * sizeof *few);
    return (__m256d)load_doubles(few, element);
}

/* The largest exponent field of a few elements from all over the array. */
static inline __attribute__((always_inline)) int sample_exponent(const void *x, size_t n, reduct_type element) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d largest = _mm256_setzero_pd();
    for (size_t k = 0; k <= 4; k++)
        largest = _mm256_max_pd(largest, _mm256_andnot_pd(sign, load_brief(x, k * (n - 1) / 4, n, element)));
    __m128d half = _mm_max_pd(_mm256_castpd256_pd128(largest), _mm256_extractf128_pd(largest, 1));
    half = _mm_max_pd(half, _mm_unpackhi_pd(half, half));
    return (int)(_mm_cvtsi128_si64(_mm_castpd_si128(half)) >> 52);
}

#define HAS_BRIEF
static inline __attribute__((always_inline)) bool brief(const void *x, size_t n, reduct_type element, bool absolute,
                                                        double *high, double *low) {
    const int scale = BRIEF_HEAD - (sample_exponent(x, n, element) - 1023 + 1);
    if (scale > 1022 || scale < -1022)
        return false;
    const __m256d sign = _mm256_set1_pd(-0.0), factor = _mm256_set1_pd(power_of_two(scale));
    __m256d S[VECTORS], T[VECTORS];
    for (int j = 0; j < VECTORS; j++) {
        S[j] = T[j] = _mm256_setzero_pd();
        BARRIER(T[j]);
    }
    size_t i = 0;
#define ADD_BRIEF(term)                                                                                                \
    do {                                                                                                               \
        __m256d rest = absolute ? _mm256_andnot_pd(sign, term) : (term);                                               \
        __m256d whole = round_quietly(_mm256_mul_pd(rest, factor));                                                    \
        S[j] = _mm256_add_pd(S[j], whole);                                                                             \
        T[j] = _mm256_add_pd(T[j], _mm256_fmsub_pd(rest, factor, whole));                                              \
    } while (0)
    for (; n - i >= LANES; i += LANES)
#pragma GCC unroll 4
        for (size_t j = 0; j < VECTORS; j++)
            ADD_BRIEF((__m256d)load_doubles((const char *)x + (i + 4 * j) * size_of(element), element));
#pragma GCC unroll 4
    for (size_t j = 0; j < VECTORS; j++)
        if (i + 4 * j < n)
            ADD_BRIEF(load_brief(x, i + 4 * j, n, element));
#undef ADD_BRIEF
    *high = across(_mm256_add_pd(_mm256_add_pd(S[0], S[1]), _mm256_add_pd(S[2], S[3]))) * power_of_two(-scale);
    *low = across(_mm256_add_pd(_mm256_add_pd(T[0], T[1]), _mm256_add_pd(T[2], T[3]))) * power_of_two(-scale);
    BARRIER(*high);
    BARRIER(*low);
    return flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT) &&
           *high == *high; /* quiet NaNs raise none */
}

/* Sums close by: see cpu/kernels/close.h. */
#define HAS_CLOSE
#define close_fused(a, b, c) (doubles) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#define close_quietly        close_fused
#define close_rest(a, b, c)  (doubles) _mm256_fmsub_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#define close_flags_clear()  flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT)

/* Trials: see cpu/kernels/trial.h. Slices as in sums of few elements. */
#define HAS_TRIALS
#define TRIAL_READ_AHEAD(at) _mm_prefetch((at), _MM_HINT_T0)
enum { TRIAL_VECTORS = 4 };

static bool trial_open(int e, struct trial_slices *c) {
    int scale = BRIEF_HEAD - (e + 1);
    if (scale < -1022)
        return false;
    scale = scale > 1022 ? 1022 : scale;
    *c = (struct trial_slices){0, power_of_two(scale), power_of_two(-scale)};
    return true;
}

#define trial_split(S, T, v, factor)                                                                                   \
    do {                                                                                                               \
        const __m256d whole_ = round_quietly(_mm256_mul_pd((__m256d)(v), (__m256d)(factor)));                          \
        *(T) += (doubles)_mm256_fmsub_pd((__m256d)(v), (__m256d)(factor), whole_);                                     \
        *(S) += (doubles)whole_;                                                                                       \
    } while (0)

static inline __attribute__((always_inline)) __m256d turn(const __m256d v[4]) {
    __m256d a = _mm256_add_pd(_mm256_unpacklo_pd(v[0], v[1]), _mm256_unpackhi_pd(v[0], v[1])),
            b = _mm256_add_pd(_mm256_unpacklo_pd(v[2], v[3]), _mm256_unpackhi_pd(v[2], v[3]));
    return _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
}
#define trial_turn(v) (doubles) turn((const __m256d *)(v))

#include "cpu/kernels/template.h"
