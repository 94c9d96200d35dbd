/* Kernels for AVX-512 (F, DQ, BW, VL: every processor with AVX-512 since 2017). */
#if !defined(__AVX512F__) || !defined(__AVX512DQ__) || !defined(__AVX512BW__) || !defined(__AVX512VL__)
#error "compile this file with -mavx512f -mavx512dq -mavx512bw -mavx512vl"
#endif

#define KERNELS          rd_kernels_avx512
#define KERNELS_DEVICE   "cpu:avx512"
#define SIDE_BYTES       64
#define SIDE_MINUS(a, b) ((side_vector)_mm512_fmsub_pd((__m512d)(a), one(), (__m512d)(b)))

#include "cpu/kernels/flags.h"

#include "cpu/kernels/elements.h"

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

/* What a sum is multiplied by where it is formed as a fused multiply-add, x * 1 + y, which rounds once as x + y does. AMD's
 * processors have units for additions beside those for multiply-adds, and a sum that uses both is twice as fast; Intel's do
 * not care. The compiler must not know that it is 1. */
static inline __attribute__((always_inline)) __m512d one(void) {
    __m512d value = _mm512_set1_pd(1);
    __asm__("" : "+v"(value));
    return value;
}

/* Adds the high part of v to a slice; returns the rest. */
static inline __attribute__((always_inline)) __m512d split(__m512d *slice, __m512d v, __m512d times) {
    const __m512d sum = _mm512_fmadd_round_pd(v, times, *slice, QUIETLY),
                  rest = _mm512_fmsub_pd(v, times, _mm512_sub_pd(sum, *slice));
    *slice = sum;
    return rest;
}

/* a * b rounded; what is missing goes to `error`. */
static inline __attribute__((always_inline)) __m512d multiply_quietly(__m512d a, __m512d b, __m512d *error) {
    const __m512d product = _mm512_mul_round_pd(a, b, QUIETLY);
    *error = _mm512_fmsub_pd(a, b, product);
    return product;
}

/* x - x is invalid for an infinity, which may have come in without a flag, and NaN for a NaN; else all is exact where no flag was raised. */
static inline __attribute__((always_inline)) bool were_exact(__m512d differences) {
    BARRIER(differences);
    return flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT) &&
           !_mm512_cmp_pd_mask(differences, differences, _CMP_UNORD_Q);
}

/* Adds f32, a multiple of RD_LANES, to as many sums in half vectors. */
#define HAS_HALVES
enum { HALVES = 2 * VECTORS };
static inline __attribute__((always_inline)) void add_to_halves(__m256d S[HALVES], const float *x, size_t n,
                                                                bool absolute) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d times = _mm256_set1_pd(1); /* as one() */
    BARRIER(times);
    for (size_t i = 0; i < n; i += RD_LANES)
#pragma GCC unroll 8
        for (size_t j = 0; j < HALVES; j++) {
            const __m256d term = _mm256_cvtps_pd(_mm_loadu_ps(x + i + 4 * j));
            S[j] = _mm256_fmadd_pd(absolute ? _mm256_andnot_pd(sign, term) : term, times, S[j]);
        }
}

/* What such sums come to, in the lower half. */
static inline __attribute__((always_inline)) doubles sum_in_halves(const float *x, size_t n, bool absolute) {
    __m256d S[HALVES];
    for (int j = 0; j < HALVES; j++) {
        S[j] = _mm256_setzero_pd();
        BARRIER(S[j]);
    }
    add_to_halves(S, x, n, absolute);
    for (int j = HALVES / 2; j > 0; j /= 2)
        for (int k = 0; k < j; k++)
            S[k] = _mm256_add_pd(S[k], S[k + j]);
    return (doubles)_mm512_zextpd256_pd512(S[0]);
}

/* A block of f32 in one slice. */
static inline __attribute__((always_inline)) bool add_floats_in_halves(struct rd_window *w, const float *x, size_t n,
                                                                       bool absolute) {
    __m256d S[HALVES], nan = _mm256_setzero_pd();
    for (int j = 0; j < HALVES; j++) {
        S[j] = _mm256_load_pd(&w->lane[0][4 * j]);
        BARRIER(S[j]);
    }
    add_to_halves(S, x, n, absolute);
    for (int j = 0; j < HALVES; j++) {
        nan = _mm256_or_pd(nan, _mm256_sub_pd(S[j], S[j]));
        BARRIER(S[j]);
    }
    if (!were_exact(_mm512_zextpd256_pd512(nan)))
        return false;
    for (int j = 0; j < HALVES; j++)
        _mm256_store_pd(&w->lane[0][4 * j], S[j]);
    return true;
}

/* One block in `slices` slices, a constant: S takes the high part of a term, T the high part of the rest, and so on. */
static inline __attribute__((always_inline)) bool add_block(struct rd_window *w, const void *x, size_t n, int slices,
                                                            reduct_type element, bool absolute) {
    __m512d S[RD_SLICES][VECTORS];
    if (element == REDUCT_F32 && slices == 1 && rd_does_halves())
        return add_floats_in_halves(w, x, n, absolute);
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++) {
            S[k][j] = _mm512_load_pd(&w->lane[k][8 * j]);
            BARRIER(S[k][j]);
        }
    const char *at = x;
    const __m512d times = one();
    FOR_AHEAD(i, ahead, n, RD_LANES, size_of(element), w->after) {
#pragma GCC unroll 4
        for (size_t j = 0; j < VECTORS; j++, at += 8 * size_of(element)) {
            if ((j + 1) * 8 * size_of(element) % 64 == 0)
                READ_AHEAD(at, ahead);
            __m512d rest = (__m512d)load_doubles(at, element);
            if (absolute)
                rest = _mm512_abs_pd(rest);
#pragma GCC unroll 3
            for (int k = 0; k < slices - 1; k++)
                rest = split(&S[k][j], rest, times);
            S[slices - 1][j] = _mm512_add_pd(S[slices - 1][j], rest);
        }
    }
    __m512d nan = _mm512_setzero_pd();
    for (int j = 0; j < VECTORS; j++)
        nan = _mm512_or_pd(nan, _mm512_sub_pd(S[0][j], S[0][j]));
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++)
            BARRIER(S[k][j]);
    if (!were_exact(nan))
        return false;
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < VECTORS; j++)
            _mm512_store_pd(&w->lane[k][8 * j], S[k][j]);
    return true;
}

/* Products take two slices, and what rounding leaves of those of doubles two more: all are formed without going through memory. */
#define HAS_PRODUCT_BLOCK
static inline __attribute__((always_inline)) bool add_product_block(struct rd_window *w, struct rd_window *errors,
                                                                    const void *x, const void *y, size_t n,
                                                                    reduct_type element, bool square) {
    struct rd_window *const windows[2] = {w, errors};
    const int used = element == REDUCT_F64 ? 2 : 1;
    const size_t bytes = size_of(element);
    const char *of_x = x, *of_y = y;
    const __m512d times = one();
    __m512d S[2][2][VECTORS], nan = _mm512_setzero_pd();
    for (int t = 0; t < used; t++)
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < VECTORS; j++) {
                S[t][k][j] = _mm512_load_pd(&windows[t]->lane[k][8 * j]);
                BARRIER(S[t][k][j]);
            }
    FOR_AHEAD(i, ahead, n, RD_LANES, bytes, w->after) {
#pragma GCC unroll 4
        for (size_t j = 0; j < VECTORS; j++, of_x += 8 * bytes, of_y += 8 * bytes) {
            if ((j + 1) * 8 * bytes % 64 == 0) {
                READ_AHEAD(of_x, ahead);
                if (!square)
                    READ_AHEAD(of_y, ahead);
            }
            const __m512d a = (__m512d)load_doubles(of_x, element),
                          b = square ? a : (__m512d)load_doubles(of_y, element);
            __m512d part[2];
            part[0] = multiply_quietly(a, b, &part[1]);
#pragma GCC unroll 2
            for (int t = 0; t < used; t++)
                S[t][1][j] = _mm512_add_pd(S[t][1][j], split(&S[t][0][j], part[t], times));
        }
    }
    for (int t = 0; t < used; t++)
        for (int j = 0; j < VECTORS; j++)
            nan = _mm512_or_pd(nan, _mm512_sub_pd(S[t][0][j], S[t][0][j]));
    for (int t = 0; t < used; t++)
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < VECTORS; j++)
                BARRIER(S[t][k][j]);
    if (!were_exact(nan))
        return false;
    for (int t = 0; t < used; t++)
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < VECTORS; j++)
                _mm512_store_pd(&windows[t]->lane[k][8 * j], S[t][k][j]);
    return true;
}

/* The sum of a slice's lanes, without what they started from; false if it is not exact. */
static bool sum_lanes(const struct rd_window *w, int k, double *total) {
    __m512d magic = _mm512_set1_pd(w->magic[k]), lane[VECTORS];
    for (int j = 0; j < VECTORS; j++) {
        lane[j] = _mm512_load_pd(&w->lane[k][8 * j]);
        BARRIER(lane[j]);
        lane[j] = _mm512_sub_pd(lane[j], magic);
    }
    __m512d all = _mm512_add_pd(_mm512_add_pd(lane[0], lane[1]), _mm512_add_pd(lane[2], lane[3]));
    *total = _mm512_reduce_add_pd(all);
    BARRIER(*total);
    return flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT);
}

static void window_flush(struct rd_window *w) {
    flush_lanes(w, 5, sum_lanes);
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

/* Sums of few elements in two slices, in one pass, on trust that a sample shows how large they are: terms below 2^43 units, of
 * which 128, a lane's share, stay in the binade of 1.5 * 2^52 units. Flags prove that all additions are exact. A lane of the
 * first slice that ends in the binade in which it began holds whole units, and its bits count them. The lowest 12 bits of
 * what all lanes count join the second slice, and both are doubles. */
enum { BRIEF_HEAD = 9, BRIEF_LOW = 12 };

_Static_assert(RD_BRIEF / RD_LANES <= 1 << (BRIEF_HEAD - 2), "a lane stays in its binade");

static inline __attribute__((always_inline)) __m512d load_brief(const void *x, size_t i, size_t n,
                                                                reduct_type element) {
    __mmask8 mask = n - i < 8 ? (__mmask8)((1u << (n - i)) - 1) : 0xff;
    const char *at = (const char *)x + i * size_of(element);
    if (element == REDUCT_F64)
        return _mm512_maskz_loadu_pd(mask, at);
    if (element == REDUCT_F32)
        return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask, at));
    __m128i few = _mm_maskz_loadu_epi16(mask, at);
    return (__m512d)load_doubles(&few, element);
}

/* The largest exponent field of a few elements from all over the array. */
static inline __attribute__((always_inline)) int sample_exponent(const void *x, size_t n, reduct_type element) {
    __m512d largest = _mm512_setzero_pd();
    for (size_t k = 0; k < 4; k++)
        largest = _mm512_max_pd(largest, _mm512_abs_pd(load_brief(x, k * (n - 1) / 4, n, element)));
    largest = _mm512_max_pd(largest, _mm512_abs_pd(load_brief(x, (n - 1) & ~(size_t)7, n, element)));
    return (int)(_mm512_reduce_max_epu64(_mm512_castpd_si512(largest)) >> 52);
}

/* Two slices as high + low; false if a lane strayed. */
static inline __attribute__((always_inline)) bool close_brief(const __m512d S[VECTORS], const __m512d T[VECTORS],
                                                              __m512d magic, int unit, double *high, double *low) {
    __m512i units = _mm512_setzero_si512(), strayed = units;
    for (int j = 0; j < VECTORS; j++) {
        __m512i bits = _mm512_castpd_si512(S[j]), start = _mm512_castpd_si512(magic);
        units = _mm512_add_epi64(units, _mm512_sub_epi64(bits, start));
        strayed = _mm512_or_si512(strayed, _mm512_xor_si512(bits, start));
    }
    if (_mm512_test_epi64_mask(strayed, _mm512_set1_epi64((int64_t)((uint64_t)0xfff << 52)))) {
        _mm_setcsr(RD_MXCSR_DEFAULT);
        return false;
    }
    const int64_t count = _mm512_reduce_add_epi64(units), rest = count & ((1 << BRIEF_LOW) - 1);
    *high = (double)(count - rest) * power_of_two(unit);
    *low = _mm512_reduce_add_pd(_mm512_add_pd(_mm512_add_pd(T[0], T[1]), _mm512_add_pd(T[2], T[3]))) +
           (double)rest * power_of_two(unit);
    BARRIER(*high);
    BARRIER(*low);
    return true;
}

#define HAS_BRIEF
static inline __attribute__((always_inline)) bool brief(const void *x, size_t n, reduct_type element, bool absolute,
                                                        double *high, double *low) {
    const int unit = sample_exponent(x, n, element) - 1023 + 1 - (52 - BRIEF_HEAD);
    if (unit < -1022 || unit + 52 > 1022)
        return false;
    const __m512d magic = _mm512_set1_pd(1.5 * power_of_two(52 + unit)), times = one();
    __m512d S[VECTORS], T[VECTORS];
    for (int j = 0; j < VECTORS; j++) {
        S[j] = magic;
        T[j] = _mm512_setzero_pd();
        BARRIER(T[j]);
    }
    size_t i = 0;
#define ADD_BRIEF(term) T[j] = _mm512_add_pd(T[j], split(&S[j], absolute ? _mm512_abs_pd(term) : (term), times))
    for (; n - i >= RD_LANES; i += RD_LANES)
#pragma GCC unroll 4
        for (size_t j = 0; j < VECTORS; j++)
            ADD_BRIEF((__m512d)load_doubles((const char *)x + (i + 8 * j) * size_of(element), element));
#pragma GCC unroll 4
    for (size_t j = 0; j < VECTORS; j++)
        if (i + 8 * j < n)
            ADD_BRIEF(load_brief(x, i + 8 * j, n, element));
#undef ADD_BRIEF
    return close_brief(S, T, magic, unit, high, low) &&
           flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT);
}

/* The same of products, and of what rounding leaves of those of doubles. */
#define HAS_BRIEF_PRODUCTS
static inline __attribute__((always_inline)) bool brief_products(const void *x, const void *y, size_t n,
                                                                 reduct_type element, bool square, double part[4]) {
    const int of_x = sample_exponent(x, n, element), of_y = square ? of_x : sample_exponent(y, n, element),
              used = element == REDUCT_F64 ? 2 : 1, unit = of_x + of_y - 2 * 1023 + 2 - (52 - BRIEF_HEAD);
    if (unit - 53 < -1022 || unit + 52 > 1022)
        return false;
    const __m512d magic[2] = {_mm512_set1_pd(1.5 * power_of_two(52 + unit)),
                              _mm512_set1_pd(1.5 * power_of_two(52 + unit - 53))},
                  times = one();
    __m512d S[2][VECTORS], T[2][VECTORS];
    for (int t = 0; t < used; t++)
        for (int j = 0; j < VECTORS; j++) {
            S[t][j] = magic[t];
            T[t][j] = _mm512_setzero_pd();
            BARRIER(T[t][j]);
        }
    size_t i = 0;
#define ADD_BRIEF(load)                                                                                                \
    do {                                                                                                               \
        const __m512d a = load(x), b = square ? a : load(y);                                                           \
        __m512d term[2];                                                                                               \
        term[0] = multiply_quietly(a, b, &term[1]);                                                                    \
        for (int t = 0; t < used; t++)                                                                                 \
            T[t][j] = _mm512_add_pd(T[t][j], split(&S[t][j], term[t], times));                                         \
    } while (0)
#define WHOLE(array) (__m512d) load_doubles((const char *)(array) + (i + 8 * j) * size_of(element), element)
#define PART(array)  load_brief(array, i + 8 * j, n, element)
    for (; n - i >= RD_LANES; i += RD_LANES)
#pragma GCC unroll 4
        for (size_t j = 0; j < VECTORS; j++)
            ADD_BRIEF(WHOLE);
#pragma GCC unroll 4
    for (size_t j = 0; j < VECTORS; j++)
        if (i + 8 * j < n)
            ADD_BRIEF(PART);
#undef PART
#undef WHOLE
#undef ADD_BRIEF
    part[2] = part[3] = 0;
    for (int t = 0; t < used; t++)
        if (!close_brief(S[t], T[t], magic[t], unit - 53 * t, &part[2 * t], &part[2 * t + 1]))
            return false;
    return flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT);
}

/* Sums close by: see cpu/kernels/close.h. */
#define HAS_CLOSE
#define close_fused(a, b, c)   (doubles) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define close_quietly(a, b, c) (doubles) _mm512_fmadd_round_pd((__m512d)(a), (__m512d)(b), (__m512d)(c), QUIETLY)
#define close_rest(a, b, c)    (doubles) _mm512_fmsub_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define close_flags_clear()    flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT)

/* Trials: see cpu/kernels/trial.h. Slices as in windows; what is multiplied by 1 is the same to the processor as there. */
#define HAS_TRIALS
#define HAS_TRIAL_SQUARE
#define TRIAL_READ_AHEAD(at) _mm_prefetch((at), _MM_HINT_T0)
enum { TRIAL_VECTORS = 8 };

static bool trial_open(int e, struct trial_slices *c) {
    int unit = e + 1 - (52 - HEAD);
    if (unit + 52 > 1022)
        return false;
    *c = (struct trial_slices){1.5 * power_of_two(52 + (unit < -1074 ? -1074 : unit)), 1, 1};
    return true;
}

#define trial_split(S, T, v, factor) (*(T) += (doubles)split((__m512d *)(S), (__m512d)(v), (__m512d)(factor)))
#define trial_square(v, error)       (doubles) multiply_quietly((__m512d)(v), (__m512d)(v), (__m512d *)(error))

static inline __attribute__((always_inline)) __m512d add_across(__m512d a, __m512d b) {
    return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
}

static inline __attribute__((always_inline)) __m512d turn(const __m512d v[8]) {
    __m512d pair[4]; /* of rows */
    for (int k = 0; k < 4; k++)
        pair[k] = _mm512_add_pd(_mm512_unpacklo_pd(v[2 * k], v[2 * k + 1]), _mm512_unpackhi_pd(v[2 * k], v[2 * k + 1]));
    return add_across(add_across(pair[0], pair[1]), add_across(pair[2], pair[3]));
}
#define trial_turn(v) (doubles) turn((const __m512d *)(v))

#include "cpu/kernels/template.h"
