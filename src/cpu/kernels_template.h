/* The kernels, once per instruction set. A file cpu/kernels_NAME.c is compiled with that set's flags, refuses to
 * compile without them, and before including this header defines:
 *
 *   KERNELS         the table to define, such as rd_kernels_avx2
 *   KERNELS_DEVICE  its device name, such as "cpu:avx2"
 *
 *   window_open(w, level, e, negative)
 *       sets w->level and prepares so many slices for terms below 2^(e + 1) in magnitude, most of them negative or not;
 *       false if exponents do not reach that far
 *   add_block(w, x, n, slices, single, absolute)
 *       always inline; adds to so many slices n elements, n a multiple of RD_LANES: doubles or (single) floats, or
 *       their absolute values; true if that was exact, otherwise `w` is as it was. No NaN or infinity passes as exact
 *   window_flush(w)
 *       brings the slices home to w->sum; the window stays open, holding zero
 *   multiply_exactly(x, y, n, product, error)
 *       product[i] + error[i] = x[i] * y[i], n a multiple of RD_LANES, product and error aligned to 64 bytes; false if
 *       one of these might not hold, or a product is not finite
 *   brief(x, n, single, absolute, high, low)
 *       optional, with HAS_BRIEF: always inline; brief_f64 and brief_f32 of cpu/kernels.h, of doubles or (single) floats, more
 *       than FEW of them
 *
 * Everything else is here, in plain C that the compiler vectorises for the set.
 */
#include "core/environment.h"
#include "cpu/kernels.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Slices are brought home after this many elements, before lanes could run out of room (the bounds are at
 * window_open). */
enum { HELD_MAX = 1 << 18 };

/* A window that failed within so few elements is worth another slice; bins are kept for so many before windows are
 * tried. */
enum { PATIENCE = 16 * RD_BLOCK, BINS_PATIENCE = 64 * RD_BLOCK };

#ifndef READ_AHEAD
#define READ_AHEAD(at) (void)(at)
#endif

/* ---------------------------------------------------------------------------------------------------------------------
 * Vectors, as GCC and Clang have them, of the width of the set
 * ------------------------------------------------------------------------------------------------------------------ */

/* LEAST, GREATEST: of exponent fields in 64-bit words, where a set has them of halves of words. WIDEN: floats to doubles,
 * which GCC's __builtin_convertvector does piece by piece. */
#if defined(__AVX512F__)
#define VECTOR_BYTES   64
#define LEAST(a, b)    (words) _mm512_min_epu32((__m512i)(a), (__m512i)(b))
#define GREATEST(a, b) (words) _mm512_max_epu32((__m512i)(a), (__m512i)(b))
#define WIDEN(floats)  (doubles) _mm512_cvtps_pd((__m256)(floats))
#elif defined(__AVX2__)
#define VECTOR_BYTES   32
#define LEAST(a, b)    (words) _mm256_min_epu32((__m256i)(a), (__m256i)(b))
#define GREATEST(a, b) (words) _mm256_max_epu32((__m256i)(a), (__m256i)(b))
#define WIDEN(floats)  (doubles) _mm256_cvtps_pd((__m128)(floats))
#else
#define VECTOR_BYTES   16
#define LEAST(a, b)    ((b) ^ (((a) ^ (b)) & (words)((halves)(a) < (halves)(b))))
#define GREATEST(a, b) ((b) ^ (((a) ^ (b)) & (words)((halves)(a) > (halves)(b))))
#define WIDEN(floats)  __builtin_convertvector(floats, doubles)
#endif
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(VECTOR_BYTES / 2))); /* as many */
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t halves __attribute__((vector_size(VECTOR_BYTES)));

/* ---------------------------------------------------------------------------------------------------------------------
 * Bins: what no window holds is added up by sign and exponent, in integers. A finite double is
 * significand * 2^(field - 1075) with an exponent field of at least 1, of which subnormals have 0 in their bits.
 * ------------------------------------------------------------------------------------------------------------------ */

/* The exponent field of infinities and NaNs; the bit of significands that doubles do not store. */
enum { SPECIAL = 0x7ff };
#define HIDDEN_BIT ((uint64_t)1 << 52)

/* Clearing bins and emptying them takes as long as adding so many elements, so many products one by one. Bins of elements are
 * emptied fast where vectors have shifts by a count for each lane. */
#ifdef __AVX2__
enum { ELEMENTS_WORTH = 256 };
#else
enum { ELEMENTS_WORTH = RD_BLOCK };
#endif
enum { PRODUCTS_WORTH = 512 };

/* Products below 2^(53 + 53 + 3) of which bins hold so many. */
enum { BINS_FULL = 1 << 19 };

_Static_assert(RD_BLOCK <= 1 << 10, "the significands of a block add up to less than 2^64");

static uint64_t bits_at(const double *x) {
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    return bits;
}

/* A bin of elements has passed 2^64. */
static __attribute__((noinline)) void carry_from_bin(struct rd_sum *sum, size_t bin) {
    rd_i128 carry = (rd_i128)1 << 64;
    rd_sum_add(sum, bin > SPECIAL ? -carry : carry, (int)(bin & SPECIAL) - 1075);
}

/* The sum of a block's subnormal numbers in units of the smallest one, from their bins, in which each has a hidden bit too
 * many: so a single one is found at once, and of more the sum is formed again. */
static __attribute__((noinline)) int64_t sum_subnormals(uint64_t plus, uint64_t minus, const double *x, size_t n,
                                                        bool absolute) {
    int64_t sum = 0;
    if (plus < 2 * HIDDEN_BIT && minus < 2 * HIDDEN_BIT)
        return (int64_t)(plus & (HIDDEN_BIT - 1)) - (int64_t)(minus & (HIDDEN_BIT - 1));
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = bits_at(&x[i]), magnitude = bits << 1 >> 1;
        int64_t value = magnitude < HIDDEN_BIT ? (int64_t)magnitude : 0;
        sum += bits >> 63 && !absolute ? -value : value;
    }
    return sum;
}

/* Adds doubles, or their absolute values, to the bins; false if some are not finite, which are left out. Every term goes the
 * same short way, as if it were a normal number. What was not shows in bins that are otherwise empty. */
ALWAYS_INLINE bool enter_elements(struct rd_bins *bins, struct rd_sum *sum, const double *x, size_t n, bool absolute) {
    uint64_t *bin = bins->elements, *negative = bin + 2048;
    for (size_t i = 0; i < n; i += 8) {
        READ_AHEAD((const char *)(x + i));
#pragma GCC unroll 8
        for (size_t j = 0; j < 8; j++) {
            uint64_t bits = bits_at(&x[i + j]), at = absolute ? bits >> 52 & SPECIAL : bits >> 52;
            if (__builtin_expect(__builtin_add_overflow(bin[at], (bits & (HIDDEN_BIT - 1)) | HIDDEN_BIT, &bin[at]), 0))
                carry_from_bin(sum, at);
        }
    }
    if (bin[0] | negative[0])
        rd_sum_add(sum, sum_subnormals(bin[0], negative[0], x, n, absolute), -1074);
    bool finite = !(bin[SPECIAL] | negative[SPECIAL]);
    bin[0] = negative[0] = bin[SPECIAL] = negative[SPECIAL] = 0;
    return finite;
}

static bool add_to_bins(struct rd_scratch *s, const double *x, size_t n, bool absolute) {
    struct rd_bins *bins = s->bins;
    if (!s->elements_ready)
        memset(bins->elements, 0, sizeof bins->elements);
    s->elements_ready = true;
    return absolute ? enter_elements(bins, s->terms.sum, x, n, true) : enter_elements(bins, s->terms.sum, x, n, false);
}

/* The sum of 32 bins of elements in units of the first one. Halves of words, shifted, add up to less than 2^64. */
static rd_i128 sum_bins(const uint64_t *bin) {
    uint64_t low = 0, high = 0;
    for (uint64_t i = 0; i < 32; i++) { /* as wide as the bins, or compilers use no vectors */
        low += (bin[i] & 0xffffffff) << i;
        high += bin[i] >> 32 << i;
    }
    return ((rd_i128)high << 32) + low;
}

static void empty_elements(const struct rd_bins *bins, struct rd_sum *sum) {
    for (int first = 0; first < 2048; first += 32) {
        rd_i128 total = sum_bins(&bins->elements[first]) - sum_bins(&bins->elements[2048 + first]);
        if (total)
            rd_sum_add(sum, total, first - 1075);
    }
}

static uint64_t take_significand(uint64_t bits, uint64_t *exponent) {
    uint64_t field = bits >> 52 & SPECIAL;
    *exponent = field + !field;
    return (bits & (HIDDEN_BIT - 1)) | (field ? HIDDEN_BIT : 0);
}

/* Adds products of finite doubles to the bins. `square`: y is x. The first loop is for vectors. */
ALWAYS_INLINE void enter_products(struct rd_bins *bins, const double *x, const double *y, size_t n, bool square) {
    rd_u128 *bin = bins->products;
    for (size_t i = 0; i < n; i += RD_LANES) {
        uint64_t a[RD_LANES], b[RD_LANES], at[RD_LANES];
        for (size_t j = 0; j < RD_LANES; j++) {
            uint64_t of_x = bits_at(&x[i + j]), of_y = bits_at(&y[i + j]), exponent, other;
            a[j] = take_significand(of_x, &exponent);
            if (square) {
                a[j] <<= exponent & 1;
                at[j] = exponent >> 1;
            } else {
                b[j] = take_significand(of_y, &other);
                exponent += other;
                a[j] <<= exponent & 3;
                at[j] = exponent >> 2 | (of_x ^ of_y) >> 63 << 10;
            }
        }
        for (size_t j = 0; j < RD_LANES; j++)
            bin[at[j]] += (rd_u128)a[j] * (square ? a[j] : b[j]);
    }
}

static void empty_products(const struct rd_bins *bins, struct rd_sum *sum) {
    const rd_u128 *plus = bins->products, *minus = plus + 1024;
    for (int first = 0; first < 1024; first += 8) {
        rd_i128 low = 0, high = 0;
        for (int i = first + 7; i >= first; i--) {
            low = 16 * low + (uint64_t)plus[i] - (uint64_t)minus[i];
            high = 16 * high + (uint64_t)(plus[i] >> 64) - (uint64_t)(minus[i] >> 64);
        }
        if (low)
            rd_sum_add(sum, low, 4 * first - 2150);
        if (high)
            rd_sum_add(sum, high, 4 * first - 2150 + 64);
    }
}

/* Adds products of finite doubles, whatever their exponents. */
static __attribute__((noinline)) void add_far_products(struct rd_scratch *s, struct rd_sum *sum, const double *x,
                                                       const double *y, size_t n) {
    struct rd_bins *bins = s->bins;
    if (!bins || (!s->products_ready && n < PRODUCTS_WORTH)) {
        for (size_t i = 0; i < n; i++)
            rd_sum_add_product(sum, x[i], y[i]);
        return;
    }
    if (s->products_ready && bins->entered > BINS_FULL - RD_BLOCK) {
        empty_products(bins, sum);
        s->products_ready = false;
    }
    if (!s->products_ready) {
        memset(bins->products, 0, sizeof bins->products);
        bins->entered = 0;
        s->products_ready = true;
    }
    if (x == y)
        enter_products(bins, x, x, n, true);
    else
        enter_products(bins, x, y, n, false);
    bins->entered += n;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------------------------------------------------------ */

static void window_close(struct rd_window *w) {
    if (w->level != RD_CLOSED && w->level != RD_BINNED)
        window_flush(w);
    w->level = RD_CLOSED;
}

/* This block and those to come go into bins. */
static void window_give_up(struct rd_window *w, size_t n) {
    window_close(w);
    w->level = RD_BINNED;
    w->added = n;
}

/* Constants for every parameter, so that each variant is compiled by itself. */
static bool window_block(struct rd_window *w, const void *x, size_t n, bool single, bool absolute) {
#define VARIANTS(slices)                                                                                               \
    (single     ? absolute ? add_block(w, x, n, slices, true, true) : add_block(w, x, n, slices, true, false)          \
         : absolute ? add_block(w, x, n, slices, false, true)                                                          \
                : add_block(w, x, n, slices, false, false))
    return w->level == 1 ? VARIANTS(1) : w->level == 2 ? VARIANTS(2) : VARIANTS(3);
#undef VARIANTS
}

/* Adds a block if the window is open and can hold it. */
ALWAYS_INLINE bool window_try(struct rd_window *w, const void *x, size_t n, bool single, bool absolute) {
    if (w->level == RD_CLOSED || w->level == RD_BINNED || !window_block(w, x, n, single, absolute))
        return false;
    w->added += n;
    w->held += n;
    if (w->held > HELD_MAX - RD_SPAN) {
        window_flush(w);
        w->held = 0;
    }
    return true;
}

/* The largest exponent field of finite doubles, and whether most are negative. */
static int largest_exponent(const double *x, size_t n, bool *negative) {
    uint64_t largest = 0, negatives = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        uint64_t magnitude = bits << 1;
        largest = magnitude > largest ? magnitude : largest;
        negatives += bits >> 63;
    }
    *negative = negatives > n / 2;
    return (int)(largest >> 53);
}

/* Opens a closed window for terms as large as those of a first block, so that whole spans can be tried. */
static __attribute__((noinline)) void window_start(struct rd_window *w, const double *x, size_t n, bool absolute) {
    bool negative;
    int field = largest_exponent(x, n, &negative);
    if (field != SPECIAL && window_open(w, w->lowest, (field ? field : 1) - 1023, negative && !absolute))
        w->added = w->held = 0;
}

/* Adds a block of finite doubles that the window could not hold to another that can. If there is none, false: this block and
 * those to come go into bins. */
static __attribute__((noinline)) bool window_retry(struct rd_window *w, const double *x, size_t n) {
    bool failed_early = w->level != RD_CLOSED && w->level != RD_BINNED && w->added < PATIENCE;
    int level = failed_early ? w->level + 1 : w->lowest;
    window_close(w);
    bool negative;
    int field = largest_exponent(x, n, &negative);
    for (; level <= RD_SLICES; level++) {
        if (!window_open(w, level, (field ? field : 1) - 1023, negative))
            break;
        if (window_block(w, x, n, false, false)) {
            w->added = w->held = n;
            return true;
        }
    }
    window_give_up(w, n);
    return false;
}

static bool window_add(struct rd_window *w, const double *x, size_t n) {
    return window_try(w, x, n, false, false) || window_retry(w, x, n);
}

/* Whether a block goes into bins, as those before it, without looking for a window first. */
static bool stays_binned(struct rd_window *w, size_t n) {
    bool stays = w->level == RD_BINNED && w->added < BINS_PATIENCE;
    w->added += stays ? n : 0;
    return stays;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Cleaning: what is not finite is counted and replaced by -0, which adds nothing
 * ------------------------------------------------------------------------------------------------------------------ */

struct specials {
    uint64_t nans, plus, minus;
};

static void count_specials(struct rd_partial *partial, struct specials found) {
    bool ignore = partial->reduction.nan == REDUCT_NAN_IGNORE;
    *(ignore ? &partial->ignored : &partial->nans) += found.nans;
    partial->plus_infinities += found.plus;
    partial->minus_infinities += found.minus;
}

static void widen(const float *x, size_t n, double *wide) {
    for (size_t i = 0; i < n; i++)
        wide[i] = x[i];
}

/* Cleans doubles from x to clean, which may be the same. */
static void clean(struct rd_partial *partial, const double *x, size_t n, bool absolute, double *cleaned) {
    const uint64_t infinity = (uint64_t)0x7ff << 52, sign = (uint64_t)1 << 63;
    struct specials found = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= absolute ? ~sign : ~(uint64_t)0;
        uint64_t magnitude = bits & ~sign;
        found.nans += magnitude > infinity;
        found.plus += bits == infinity;
        found.minus += bits == (infinity | sign);
        bits = magnitude >= infinity ? sign : bits;
        memcpy(&cleaned[i], &bits, sizeof bits);
    }
    count_specials(partial, found);
}

static bool all_finite(const double *x, size_t n) {
    bool negative;
    return largest_exponent(x, n, &negative) != SPECIAL;
}

/* Cleans pairs whose product is not finite because a factor is not. A pair with a NaN element may be ignored; a NaN
 * that comes of 0 * infinity is a NaN term whatever the policy. Rare enough to be done one pair at a time. */
static void clean_pairs(struct rd_partial *partial, double *x, double *y, size_t n) {
    struct specials found = {0, 0, 0};
    if (all_finite(x, n) && all_finite(y, n))
        return;
    for (size_t i = 0; i < n; i++) {
        double term = x[i] * y[i];
        bool finite = x[i] - x[i] == 0 && y[i] - y[i] == 0;
        if (finite)
            continue;
        if (x[i] != x[i] || y[i] != y[i])
            found.nans++;
        else if (term != term)
            partial->nans++;
        else if (term > 0)
            found.plus++;
        else
            found.minus++;
        x[i] = -0.0;
        y[i] = 0.0;
    }
    count_specials(partial, found);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Blocks of elements: n is a multiple of RD_LANES, at most RD_BLOCK
 * ------------------------------------------------------------------------------------------------------------------ */

/* Adds finite doubles, or their absolute values, to the bins or, where these do not pay, one by one. */
static void add_far_elements(struct rd_scratch *s, const double *x, size_t n) {
    if (s->bins && (s->elements_ready || n >= ELEMENTS_WORTH))
        add_to_bins(s, x, n, false);
    else
        for (size_t i = 0; i < n; i++)
            rd_sum_add_double(s->terms.sum, x[i], 0);
}

/* Adds elements or absolute values that the window of terms does not hold. Returns as add_elements(). */
static __attribute__((noinline)) const double *add_elements_again(struct rd_scratch *s, const void *x, size_t n,
                                                                  bool single, bool absolute) {
    const double *wide = x;
    if (single) {
        widen(x, n, s->clean[0]);
        wide = s->clean[0];
    }
    bool added = s->elements_ready && stays_binned(&s->terms, n);
    if (added && add_to_bins(s, wide, n, absolute))
        return wide;
    clean(s->partial, wide, n, absolute, s->clean[0]);
    if (!added && !window_retry(&s->terms, s->clean[0], n))
        add_far_elements(s, s->clean[0], n);
    return s->clean[0];
}

/* Adds elements or absolute values to the window of terms. Returns finite doubles of the same squares: x itself, a copy, or
 * null for floats that are as they were. */
ALWAYS_INLINE const double *add_elements(struct rd_scratch *s, const void *x, size_t n, bool single, bool absolute) {
    if (window_try(&s->terms, x, n, single, absolute))
        return single ? NULL : x;
    return add_elements_again(s, x, n, single, absolute);
}

/* Copies of pairs that are finite, or that add nothing. Squares stay pairs of the same. */
static void take_finite(struct rd_scratch *s, const double **x, const double **y, size_t n) {
    bool square = *x == *y;
    if (*x != s->clean[0])
        memcpy(s->clean[0], *x, n * sizeof **x);
    memcpy(s->clean[1], *y, n * sizeof **y);
    clean_pairs(s->partial, s->clean[0], s->clean[1], n);
    *x = s->clean[0];
    *y = s->clean[square ? 0 : 1];
}

/* Adds rounding errors of products that no window holds while one does hold the products: hardly ever. */
static __attribute__((noinline)) void add_far_errors(struct rd_sum *sum, const double *error, size_t n) {
    for (size_t i = 0; i < n; i++)
        rd_sum_add_double(sum, error[i], 0);
}

/* Adds the products of doubles to a window, their rounding errors to another; or the exact products to bins. */
static void add_products_f64(struct rd_scratch *s, struct rd_window *w, const double *x, const double *y, size_t n) {
    if (stays_binned(w, n)) {
        if (!all_finite(x, n) || (x != y && !all_finite(y, n)))
            take_finite(s, &x, &y, n);
        add_far_products(s, w->sum, x, y, n);
        return;
    }
    bool exact = multiply_exactly(x, y, n, s->product[0], s->product[1]);
    if (!exact) {
        take_finite(s, &x, &y, n);
        exact = multiply_exactly(x, y, n, s->product[0], s->product[1]);
    }
    if (!exact)
        window_give_up(w, n);
    if (!exact || !window_add(w, s->product[0], n))
        add_far_products(s, w->sum, x, y, n);
    else if (!window_add(&s->errors, s->product[1], n)) {
        add_far_errors(s->errors.sum, s->product[1], n);
        window_give_up(w, n);
    }
}

/* Adds the products of floats that have been widened, exact as doubles, to a window or to bins: to those of elements, which is
 * faster, where there are no elements to be added as well. */
static void add_widened_products(struct rd_scratch *s, struct rd_window *w, const double *x, const double *y,
                                 size_t n) {
    for (size_t i = 0; i < n; i++)
        s->product[0][i] = x[i] * y[i];
    if (!stays_binned(w, n) && window_add(w, s->product[0], n))
        return;
    if (w == &s->terms)
        add_far_elements(s, s->product[0], n);
    else
        add_far_products(s, w->sum, x, y, n);
}

/* Adds the products of floats, exact as doubles, to a window. */
static void add_products_f32(struct rd_scratch *s, struct rd_window *w, const float *x, const float *y, size_t n) {
    if (w->level != RD_BINNED) {
        for (size_t i = 0; i < n; i++)
            s->product[0][i] = (double)x[i] * (double)y[i];
        if (window_try(w, s->product[0], n, false, false))
            return;
    }
    widen(x, n, s->clean[0]);
    widen(y, n, s->clean[1]);
    clean_pairs(s->partial, s->clean[0], s->clean[1], n);
    add_widened_products(s, w, s->clean[0], s->clean[x == y ? 0 : 1], n);
}

static void block_f64(struct rd_scratch *s, enum rd_transform transform, const double *x, const double *y, size_t n) {
    switch (transform) {
    case RD_IDENTITY:
        add_elements(s, x, n, false, false);
        break;
    case RD_ABSOLUTE:
        add_elements(s, x, n, false, true);
        break;
    case RD_SQUARE:
        add_products_f64(s, &s->terms, x, x, n);
        break;
    case RD_PRODUCT:
        add_products_f64(s, &s->terms, x, y, n);
        break;
    case RD_MOMENTS:
        x = add_elements(s, x, n, false, false);
        add_products_f64(s, &s->squares, x, x, n);
        break;
    }
}

static void block_f32(struct rd_scratch *s, enum rd_transform transform, const float *x, const float *y, size_t n) {
    const double *finite;
    switch (transform) {
    case RD_IDENTITY:
        add_elements(s, x, n, true, false);
        break;
    case RD_ABSOLUTE:
        add_elements(s, x, n, true, true);
        break;
    case RD_SQUARE:
        add_products_f32(s, &s->terms, x, x, n);
        break;
    case RD_PRODUCT:
        add_products_f32(s, &s->terms, x, y, n);
        break;
    case RD_MOMENTS:
        finite = add_elements(s, x, n, true, false);
        if (!finite) {
            add_products_f32(s, &s->squares, x, x, n);
            break;
        }
        add_widened_products(s, &s->squares, finite, finite, n);
        break;
    }
}

static const double *as_doubles_f64(const struct rd_scratch *s, const double *x) {
    (void)s;
    return x;
}

static const double *as_doubles_f32(const struct rd_scratch *s, const float *x) {
    widen(x, RD_BLOCK, s->clean[0]);
    return s->clean[0];
}

/* Spans while they fit the window, whole blocks where not, then the rest of the data filled up with zeros to whole
 * lanes. */
#define ADD(name, T)                                                                                                   \
    static void add_##name(struct rd_scratch *s, enum rd_transform transform, const T *x, const T *y, size_t count) {  \
        const bool absolute = transform == RD_ABSOLUTE, direct = absolute || transform == RD_IDENTITY;                 \
        size_t done = 0;                                                                                               \
        if (direct && count >= RD_SPAN && s->terms.level == RD_CLOSED)                                                 \
            window_start(&s->terms, as_doubles_##name(s, x), RD_BLOCK, absolute);                                      \
        for (; direct && count - done >= RD_SPAN; done += RD_SPAN)                                                     \
            if (!window_try(&s->terms, x + done, RD_SPAN, sizeof(T) == 4, absolute))                                   \
                for (size_t i = 0; i < RD_SPAN; i += RD_BLOCK)                                                         \
                    block_##name(s, transform, x + done + i, NULL, RD_BLOCK);                                          \
        for (; count - done >= RD_BLOCK; done += RD_BLOCK)                                                             \
            block_##name(s, transform, x + done, y ? y + done : NULL, RD_BLOCK);                                       \
        size_t rest = count - done, filled = (rest + RD_LANES - 1) / RD_LANES * RD_LANES;                              \
        if (!rest)                                                                                                     \
            return;                                                                                                    \
        T *tail[2] = {(void *)s->tail[0], (void *)s->tail[1]};                                                         \
        for (int i = 0; i < (y ? 2 : 1); i++) {                                                                        \
            memcpy(tail[i], (i ? y : x) + done, rest * sizeof(T));                                                     \
            memset(tail[i] + rest, 0, (filled - rest) * sizeof(T));                                                    \
        }                                                                                                              \
        block_##name(s, transform, tail[0], y ? tail[1] : NULL, filled);                                               \
    }
ADD(f64, double)
ADD(f32, float)

static void finish(struct rd_scratch *s) {
    window_close(&s->terms);
    window_close(&s->squares);
    window_close(&s->errors);
    if (s->elements_ready)
        empty_elements(s->bins, s->terms.sum);
    if (s->products_ready)
        empty_products(s->bins, s->errors.sum); /* which is that of products */
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Few elements: sums in two doubles, without scratch memory
 * ------------------------------------------------------------------------------------------------------------------ */

/* a + b, rounded, and its error, of numbers or vectors (O. Moller, 1965; D. E. Knuth, "The Art of Computer Programming", volume
 * 2). */
#define ADD_TWO(T, a, b, sum, error)                                                                                   \
    do {                                                                                                               \
        const T sum_ = (a) + (b), part_ = sum_ - (a);                                                                  \
        (error) = ((a) - (sum_ - part_)) + ((b)-part_);                                                                \
        (sum) = sum_;                                                                                                  \
    } while (0)

/* A sum as high + low. What that could not hold, or NaNs where something was not finite, left bits in `lost`. */
struct pair {
    double high, low;
    uint64_t lost;
};

ALWAYS_INLINE void add_low(struct pair *pair, double term) {
    double rest;
    ADD_TWO(double, pair->low, term, pair->low, rest);
    pair->lost |= bits_at(&rest) << 1;
}

ALWAYS_INLINE void add_high(struct pair *pair, double term) {
    double error;
    ADD_TWO(double, pair->high, term, pair->high, error);
    add_low(pair, error);
}

/* The same, a pair for each lane. */
struct pairs {
    doubles high, low;
    words lost;
};

ALWAYS_INLINE void add_lows(struct pairs *pairs, doubles terms) {
    doubles rest;
    ADD_TWO(doubles, pairs->low, terms, pairs->low, rest);
    pairs->lost |= (words)rest << 1;
}

ALWAYS_INLINE void add_highs(struct pairs *pairs, doubles terms) {
    doubles error;
    ADD_TWO(doubles, pairs->high, terms, pairs->high, error);
    add_lows(pairs, error);
}

ALWAYS_INLINE double load_term(const void *x, size_t i, bool single, bool absolute) {
    double term = single ? (double)((const float *)x)[i] : ((const double *)x)[i];
    return absolute ? __builtin_fabs(term) : term;
}

ALWAYS_INLINE doubles load_terms(const void *x, size_t i, bool single, bool absolute) {
    doubles terms;
    floats narrow;
    if (single) {
        memcpy(&narrow, (const float *)x + i, sizeof narrow);
        terms = WIDEN(narrow);
    } else {
        memcpy(&terms, (const double *)x + i, sizeof terms);
    }
    return absolute ? (doubles)((words)terms << 1 >> 1) : terms;
}

/* The sum of elements: of many in VECTORS_OF_PAIRS vectors of pairs, which then meet in one; of what is left one by one. */
enum { VECTORS_OF_PAIRS = 4, IN_VECTOR = VECTOR_BYTES / 8, FEW = 15 };

ALWAYS_INLINE bool sum_in_pairs(const void *x, size_t n, bool single, bool absolute, double *high, double *low) {
    struct pair sum = {0, 0, 0};
    size_t i = 0;
    if (n > FEW) {
        struct pairs lanes[VECTORS_OF_PAIRS] = {{{0}, {0}, {0}}};
        for (; n - i >= VECTORS_OF_PAIRS * IN_VECTOR; i += VECTORS_OF_PAIRS * IN_VECTOR)
#pragma GCC unroll 4
            for (size_t j = 0; j < VECTORS_OF_PAIRS; j++)
                add_highs(&lanes[j], load_terms(x, i + j * IN_VECTOR, single, absolute));
        for (size_t j = 1; j < VECTORS_OF_PAIRS; j++) {
            add_highs(&lanes[0], lanes[j].high);
            add_lows(&lanes[0], lanes[j].low);
            lanes[0].lost |= lanes[j].lost;
        }
        for (size_t l = 0; l < IN_VECTOR; l++) {
            add_high(&sum, lanes[0].high[l]);
            add_low(&sum, lanes[0].low[l]);
            sum.lost |= lanes[0].lost[l];
        }
    }
    for (; i < n; i++)
        add_high(&sum, load_term(x, i, single, absolute));
    *high = sum.high;
    *low = sum.low;
    return !sum.lost;
}

#ifndef HAS_BRIEF
#define brief sum_in_pairs
#endif
#define BRIEF(single, absolute)                                                                                        \
    (n > FEW ? brief(x, n, single, absolute, high, low) : sum_in_pairs(x, n, single, absolute, high, low))

static bool brief_f64(const double *x, size_t n, bool absolute, double *high, double *low) {
    return absolute ? BRIEF(false, true) : BRIEF(false, false);
}

static bool brief_f32(const float *x, size_t n, bool absolute, double *high, double *low) {
    return absolute ? BRIEF(true, true) : BRIEF(true, false);
}

/* The same of what may be nothing but zeros, as the errors of products of short numbers are. */
static bool sum_or_zero(const double *x, size_t n, double *high, double *low) {
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= bits_at(&x[i]) << 1;
    *high = *low = 0;
    return !all || brief_f64(x, n, false, high, low);
}

static bool brief_squares_f64(const double *x, size_t n, double part[4]) {
    _Alignas(64) double element[RD_FEW], product[RD_FEW], error[RD_FEW];
    size_t filled = (n + RD_LANES - 1) / RD_LANES * RD_LANES;
    memcpy(element, x, n * sizeof *x);
    memset(element + n, 0, (filled - n) * sizeof *x);
    return multiply_exactly(element, element, filled, product, error) && sum_or_zero(product, n, &part[0], &part[1]) &&
           sum_or_zero(error, n, &part[2], &part[3]);
}

static bool brief_squares_f32(const float *x, size_t n, double part[4]) {
    double product[RD_FEW];
    for (size_t i = 0; i < n; i++)
        product[i] = (double)x[i] * (double)x[i];
    part[2] = part[3] = 0;
    return sum_or_zero(product, n, &part[0], &part[1]);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sums over at most 2^15 elements fit these: PIECE terms of N bits in N + 15. */
enum { PIECE = 1 << 15 };

/* Terms that, PIECE of them at a time, fit a machine integer SUM: `term` in the words of x[i] and y[i]. */
#define NARROW_SUM(SUM, term)                                                                                          \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t end = count - done < PIECE ? count : done + PIECE;                                                  \
            SUM piece = 0;                                                                                             \
            for (size_t i = done; i < end; i++)                                                                        \
                piece += (SUM)(term);                                                                                  \
            total += piece;                                                                                            \
        }                                                                                                              \
    } while (0)

/* 64-bit terms, in halves; `bias` has been added to make them unsigned. */
#define WIDE_SUM(term, bias)                                                                                           \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t end = count - done < PIECE ? count : done + PIECE;                                                  \
            uint64_t low = 0, high = 0;                                                                                \
            for (size_t i = done; i < end; i++) {                                                                      \
                uint64_t v = (uint64_t)(term) + (bias);                                                                \
                low += v & 0xffffffff;                                                                                 \
                high += v >> 32;                                                                                       \
            }                                                                                                          \
            total += (rd_i128)low + ((rd_i128)high << 32) - (rd_i128)(bias) * (rd_i128)(end - done);                   \
        }                                                                                                              \
    } while (0)

/* |x| of a signed integer as the unsigned one of its width, so that the most negative value fits. Without a branch
 * or a choice, which compilers fail to vectorise here. */
#define ABSOLUTE(U, v) ((U)(((U)(v) ^ (U) - (U)((v) < 0)) + (U)((v) < 0)))
#define SIGN_BIT       ((uint64_t)1 << 63)

/* One element type: how its terms and its products are summed. */
#define INTEGER(name, T, U, SUM_TERMS, SUM_MAGNITUDES, SUM_PRODUCTS)                                                   \
    static rd_i128 sum_##name(const T *x, size_t count) {                                                              \
        rd_i128 total = 0;                                                                                             \
        SUM_TERMS;                                                                                                     \
        return total;                                                                                                  \
    }                                                                                                                  \
    static rd_i128 magnitude_##name(const T *x, size_t count) {                                                        \
        rd_i128 total = 0;                                                                                             \
        SUM_MAGNITUDES;                                                                                                \
        return total;                                                                                                  \
    }                                                                                                                  \
    static void products_##name(struct rd_sum *sum, const T *x, const T *y, size_t count) {                            \
        rd_i128 total = 0;                                                                                             \
        SUM_PRODUCTS;                                                                                                  \
        rd_sum_add(sum, total, 0);                                                                                     \
    }                                                                                                                  \
    static void add_##name(struct rd_partial *partial, enum rd_transform transform, const void *x, const void *y,      \
                           size_t count) {                                                                             \
        if (transform == RD_IDENTITY || transform == RD_MOMENTS)                                                       \
            rd_sum_add(&partial->sum, sum_##name(x, count), 0);                                                        \
        if (transform == RD_ABSOLUTE)                                                                                  \
            rd_sum_add(&partial->sum, magnitude_##name(x, count), 0);                                                  \
        if (transform == RD_SQUARE || transform == RD_PRODUCT)                                                         \
            products_##name(&partial->sum, x, transform == RD_SQUARE ? x : y, count);                                  \
        if (transform == RD_MOMENTS)                                                                                   \
            products_##name(&partial->squares, x, x, count);                                                           \
    }

/* Products of 64-bit elements: sums modulo 2^128, and what they carry beyond; a negative product, read as an unsigned
 * one, is 2^128 too large. */
#define WIDE_PRODUCTS(P, sign)                                                                                         \
    do {                                                                                                               \
        rd_u128 low = 0;                                                                                               \
        int64_t carries = 0;                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                                           \
            P product = (P)x[i] * (P)y[i];                                                                             \
            carries += __builtin_add_overflow(low, (rd_u128)product, &low);                                            \
            carries += (sign);                                                                                         \
        }                                                                                                              \
        rd_sum_add(sum, (rd_i128)(uint64_t)low, 0);                                                                    \
        rd_sum_add(sum, (rd_i128)(uint64_t)(low >> 64), 64);                                                           \
        rd_sum_add(sum, carries, 128);                                                                                 \
    } while (0)

/* Bytes, flipped to make them unsigned, four at a time: the even and the odd ones of a word as two 16-bit sums,
 * which go to two 32-bit sums. Compilers widen bytes one step at a time, at half the speed. */
#define BYTE_SUM(flip)                                                                                                 \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t length = count - done < PIECE ? count - done : PIECE, fours = length / 4;                           \
            const unsigned char *byte = (const unsigned char *)x + done;                                               \
            uint32_t low = 0, high = 0;                                                                                \
            for (size_t i = 0; i < fours; i++) {                                                                       \
                uint32_t four;                                                                                         \
                memcpy(&four, byte + 4 * i, sizeof four);                                                              \
                four ^= (flip)*0x01010101u;                                                                            \
                uint32_t pairs = (four & 0x00ff00ff) + (four >> 8 & 0x00ff00ff);                                       \
                low += pairs & 0xffff;                                                                                 \
                high += pairs >> 16;                                                                                   \
            }                                                                                                          \
            for (size_t i = 4 * fours; i < length; i++)                                                                \
                low += (uint32_t)(byte[i] ^ (flip));                                                                   \
            total += (rd_i128)low + high - (rd_i128)(flip) * (rd_i128)length;                                          \
        }                                                                                                              \
    } while (0)

/* Products of bytes, widened a block at a time to 16 bits, for which processors have a multiply-and-add-pairs. */
#define BYTE_PRODUCTS                                                                                                  \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += RD_BLOCK) {                                                        \
            size_t length = count - done < RD_BLOCK ? count - done : RD_BLOCK;                                         \
            int16_t a[RD_BLOCK], b[RD_BLOCK];                                                                          \
            int32_t piece = 0;                                                                                         \
            for (size_t i = 0; i < length; i++) {                                                                      \
                a[i] = x[done + i];                                                                                    \
                b[i] = y[done + i];                                                                                    \
            }                                                                                                          \
            for (size_t i = 0; i < length; i++)                                                                        \
                piece += (int32_t)a[i] * b[i];                                                                         \
            total += piece;                                                                                            \
        }                                                                                                              \
    } while (0)

/* Products of 16 bits, in halves of 16 bits, so that the sums fit 32. */
#define HALF_PRODUCTS(P)                                                                                               \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t end = count - done < PIECE ? count : done + PIECE;                                                  \
            uint32_t low = 0;                                                                                          \
            P high = 0;                                                                                                \
            for (size_t i = done; i < end; i++) {                                                                      \
                P product = (P)x[i] * y[i];                                                                            \
                low += (uint32_t)product & 0xffff;                                                                     \
                high += product >> 16;                                                                                 \
            }                                                                                                          \
            total += (rd_i128)low + (rd_i128)high * 65536;                                                             \
        }                                                                                                              \
    } while (0)

INTEGER(i8, int8_t, uint8_t, BYTE_SUM(0x80u), NARROW_SUM(int32_t, ABSOLUTE(uint8_t, x[i])), BYTE_PRODUCTS)
INTEGER(u8, uint8_t, uint8_t, BYTE_SUM(0u), BYTE_SUM(0u), BYTE_PRODUCTS)
INTEGER(i16, int16_t, uint16_t, NARROW_SUM(int32_t, x[i]), NARROW_SUM(int32_t, ABSOLUTE(uint16_t, x[i])),
        HALF_PRODUCTS(int32_t))
INTEGER(u16, uint16_t, uint16_t, NARROW_SUM(uint32_t, x[i]), NARROW_SUM(uint32_t, x[i]), HALF_PRODUCTS(uint32_t))
INTEGER(i32, int32_t, uint32_t, NARROW_SUM(int64_t, x[i]), NARROW_SUM(int64_t, ABSOLUTE(uint32_t, x[i])),
        WIDE_SUM((int64_t)x[i] * y[i], SIGN_BIT))
INTEGER(u32, uint32_t, uint32_t, NARROW_SUM(uint64_t, x[i]), NARROW_SUM(uint64_t, x[i]),
        WIDE_SUM((uint64_t)x[i] * y[i], (uint64_t)0))
INTEGER(i64, int64_t, uint64_t, WIDE_SUM(x[i], SIGN_BIT), WIDE_SUM(ABSOLUTE(uint64_t, x[i]), (uint64_t)0),
        WIDE_PRODUCTS(rd_i128, (int64_t)(product >> 127)))
INTEGER(u64, uint64_t, uint64_t, WIDE_SUM(x[i], (uint64_t)0), WIDE_SUM(x[i], (uint64_t)0), WIDE_PRODUCTS(rd_u128, 0))

/* ---------------------------------------------------------------------------------------------------------------------
 * Fast sums: lane j takes elements j, j + lanes, j + 2 lanes ..., the lanes are added pairwise. The same for every
 * instruction set, hence the same bits
 * ------------------------------------------------------------------------------------------------------------------ */

#define FAST_SUM(name, T, LANES, term)                                                                                 \
    static T name(const T *x, const T *y, size_t count) {                                                              \
        (void)y;                                                                                                       \
        _Alignas(64) T lane[LANES];                                                                                    \
        for (int j = 0; j < LANES; j++)                                                                                \
            lane[j] = (T)-0.0; /* the identity: a sum of -0 is -0 */                                                   \
        size_t whole = count / LANES * LANES;                                                                          \
        for (size_t base = 0; base < whole; base += LANES)                                                             \
            for (size_t j = 0; j < LANES; j++) {                                                                       \
                const size_t i = base + j;                                                                             \
                lane[j] += term;                                                                                       \
            }                                                                                                          \
        for (size_t i = whole; i < count; i++)                                                                         \
            lane[i - whole] += term;                                                                                   \
        for (int half = LANES / 2; half; half /= 2)                                                                    \
            for (int j = 0; j < half; j++)                                                                             \
                lane[j] += lane[j + half];                                                                             \
        return lane[0];                                                                                                \
    }

#define FAST(name, T, LANES, absolute)                                                                                 \
    FAST_SUM(fast_sum_##name, T, LANES, x[i])                                                                          \
    FAST_SUM(fast_norm1_##name, T, LANES, absolute(x[i]))                                                              \
    FAST_SUM(fast_dot_##name, T, LANES, x[i] * y[i])                                                                   \
    static double fast_##name(enum rd_transform transform, const T *x, const T *y, size_t count) {                     \
        if (transform == RD_IDENTITY)                                                                                  \
            return (double)fast_sum_##name(x, y, count);                                                               \
        if (transform == RD_ABSOLUTE)                                                                                  \
            return (double)fast_norm1_##name(x, y, count);                                                             \
        return (double)fast_dot_##name(x, transform == RD_SQUARE ? x : y, count);                                      \
    }                                                                                                                  \
    /* Two passes over the cached block, in f64. */                                                                    \
    static double fast_moments_##name(const T *x, size_t count, double *block, double *mean) {                         \
        for (size_t i = 0; i < count; i++)                                                                             \
            block[i] = (double)x[i];                                                                                   \
        double middle = fast_sum_f64(block, NULL, count) / (double)count;                                              \
        for (size_t i = 0; i < count; i++)                                                                             \
            block[i] -= middle;                                                                                        \
        *mean = middle;                                                                                                \
        return fast_dot_f64(block, block, count);                                                                      \
    }
FAST(f64, double, 32, __builtin_fabs)
FAST(f32, float, 64, __builtin_fabsf)

/* ---------------------------------------------------------------------------------------------------------------------
 * Extremes
 * ------------------------------------------------------------------------------------------------------------------ */

/* Of integers: `magnitude` is the absolute value of x[i]. */
#define INTEGER_EXTREMES(name, T, U, magnitude)                                                                        \
    static void extreme_##name(const void *data, size_t count, enum rd_extreme which, struct rd_found *found) {        \
        const T *x = data;                                                                                             \
        T best = x[0];                                                                                                 \
        U largest = 0;                                                                                                 \
        if (which == RD_LARGEST)                                                                                       \
            for (size_t i = 0; i < count; i++) {                                                                       \
                U v = magnitude;                                                                                       \
                largest = v > largest ? v : largest;                                                                   \
            }                                                                                                          \
        else if (which == RD_LOWEST)                                                                                   \
            for (size_t i = 0; i < count; i++)                                                                         \
                best = x[i] < best ? x[i] : best;                                                                      \
        else                                                                                                           \
            for (size_t i = 0; i < count; i++)                                                                         \
                best = x[i] > best ? x[i] : best;                                                                      \
        *found = (struct rd_found){which == RD_LARGEST ? largest : (U)best, false};                                    \
    }
INTEGER_EXTREMES(i8, int8_t, uint8_t, ABSOLUTE(uint8_t, x[i]))
INTEGER_EXTREMES(u8, uint8_t, uint8_t, x[i])
INTEGER_EXTREMES(i16, int16_t, uint16_t, ABSOLUTE(uint16_t, x[i]))
INTEGER_EXTREMES(u16, uint16_t, uint16_t, x[i])
INTEGER_EXTREMES(i32, int32_t, uint32_t, ABSOLUTE(uint32_t, x[i]))
INTEGER_EXTREMES(u32, uint32_t, uint32_t, x[i])
INTEGER_EXTREMES(i64, int64_t, uint64_t, ABSOLUTE(uint64_t, x[i]))
INTEGER_EXTREMES(u64, uint64_t, uint64_t, x[i])

/* Of floats, with the processor's own minimum and maximum, a < b ? a : b and a > b ? a : b. These do not tell zeros apart,
 * so where the answer is a zero its sign is looked for; and they lose NaNs, which are looked for on the way. EITHER_NAN is a
 * mask of the lanes in which one of two vectors is NaN. */
#if defined(__AVX512F__)
/* Masks of their own types, with their own operations: as integers, gcc 12 spills them as bytes and reads them as words. */
typedef __mmask8 nans_f64;
typedef __mmask16 nans_f32;
#define EITHER_NAN_f64(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_UNORD_Q)
#define EITHER_NAN_f32(a, b) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_UNORD_Q)
#define OR_NANS_f64(a, b)    _kor_mask8(a, b)
#define OR_NANS_f32(a, b)    _kor_mask16(a, b)
#define ANY_NAN_f64(mask)    (!_kortestz_mask8_u8(mask, mask))
#define ANY_NAN_f32(mask)    (!_kortestz_mask16_u8(mask, mask))
#define LOWER_f64(a, b)      (vector_f64) _mm512_min_pd((__m512d)(a), (__m512d)(b))
#define HIGHER_f64(a, b)     (vector_f64) _mm512_max_pd((__m512d)(a), (__m512d)(b))
#define LOWER_f32(a, b)      (vector_f32) _mm512_min_ps((__m512)(a), (__m512)(b))
#define HIGHER_f32(a, b)     (vector_f32) _mm512_max_ps((__m512)(a), (__m512)(b))
#elif defined(__AVX2__)
typedef __m256i nans_f64, nans_f32;
#define EITHER_NAN_f64(a, b) _mm256_castpd_si256(_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_UNORD_Q))
#define EITHER_NAN_f32(a, b) _mm256_castps_si256(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_UNORD_Q))
#define OR_NANS_f64(a, b)    _mm256_or_si256(a, b)
#define OR_NANS_f32(a, b)    _mm256_or_si256(a, b)
#define ANY_NAN_f64(mask)    (!_mm256_testz_si256(mask, mask))
#define ANY_NAN_f32(mask)    ANY_NAN_f64(mask)
#define LOWER_f64(a, b)      (vector_f64) _mm256_min_pd((__m256d)(a), (__m256d)(b))
#define HIGHER_f64(a, b)     (vector_f64) _mm256_max_pd((__m256d)(a), (__m256d)(b))
#define LOWER_f32(a, b)      (vector_f32) _mm256_min_ps((__m256)(a), (__m256)(b))
#define HIGHER_f32(a, b)     (vector_f32) _mm256_max_ps((__m256)(a), (__m256)(b))
#else
typedef words nans_f64, nans_f32;
#define EITHER_NAN_f64(a, b) ((words)((a) != (a)) | (words)((b) != (b)))
#define EITHER_NAN_f32(a, b) EITHER_NAN_f64(a, b)
#define OR_NANS_f64(a, b)    ((a) | (b))
#define OR_NANS_f32(a, b)    ((a) | (b))
#define ANY_NAN_f64(mask)    (((mask)[0] | (mask)[1]) != 0)
#define ANY_NAN_f32(mask)    ANY_NAN_f64(mask)
#define CHOOSE(mask, a, b)   ((words)(mask) & (words)(a)) | (~(words)(mask) & (words)(b))
#define LOWER_f64(a, b)      (vector_f64)(CHOOSE((a) < (b), a, b))
#define HIGHER_f64(a, b)     (vector_f64)(CHOOSE((a) > (b), a, b))
#define LOWER_f32(a, b)      (vector_f32)(CHOOSE((a) < (b), a, b))
#define HIGHER_f32(a, b)     (vector_f32)(CHOOSE((a) > (b), a, b))
#endif

#define FLOAT_EXTREMES(name, T, U)                                                                                     \
    typedef T vector_##name __attribute__((vector_size(VECTOR_BYTES)));                                                \
    enum { IN_VECTOR_##name = VECTOR_BYTES / sizeof(T) };                                                              \
    static bool has_bits_##name(const unsigned char *x, size_t count, U bits) {                                        \
        U different = 1;                                                                                               \
        for (size_t i = 0; i < count; i++) {                                                                           \
            U v;                                                                                                       \
            memcpy(&v, x + i * sizeof v, sizeof v);                                                                    \
            different &= (U)(v != bits);                                                                               \
        }                                                                                                              \
        return !different;                                                                                             \
    }                                                                                                                  \
    ALWAYS_INLINE vector_##name load_##name(const unsigned char *at, bool absolute) {                                  \
        vector_##name v;                                                                                               \
        memcpy(&v, at, sizeof v);                                                                                      \
        return absolute ? (vector_##name)((words)v & MAGNITUDES_##name) : v;                                           \
    }                                                                                                                  \
    ALWAYS_INLINE void body_##name(const unsigned char *x, size_t count, enum rd_extreme which,                        \
                                   struct rd_found *found) {                                                           \
        const bool absolute = which == RD_LARGEST, least = which == RD_LOWEST;                                         \
        const size_t step = VECTOR_BYTES, end = count * sizeof(T) / step * step, rest = count * sizeof(T) - end;       \
        vector_##name padded, best[4], v[4];                                                                           \
        for (int l = 0; l < IN_VECTOR_##name; l++)                                                                     \
            memcpy((char *)&padded + (size_t)l * sizeof(T), x, sizeof(T));                                             \
        memcpy(&padded, x + end, rest);                                                                                \
        padded = load_##name((const unsigned char *)&padded, absolute);                                                \
        for (int j = 0; j < 4; j++)                                                                                    \
            best[j] = padded;                                                                                          \
        nans_##name nan = EITHER_NAN_##name(padded, padded);                                                           \
        size_t at = 0;                                                                                                 \
        for (; at + 4 * step <= end; at += 4 * step) {                                                                 \
            for (size_t j = 0; j < 4; j++) {                                                                           \
                v[j] = load_##name(x + at + j * step, absolute);                                                       \
                best[j] = least ? LOWER_##name(v[j], best[j]) : HIGHER_##name(v[j], best[j]);                          \
            }                                                                                                          \
            nan = OR_NANS_##name(nan, OR_NANS_##name(EITHER_NAN_##name(v[0], v[1]), EITHER_NAN_##name(v[2], v[3])));   \
        }                                                                                                              \
        for (; at < end; at += step) {                                                                                 \
            v[0] = load_##name(x + at, absolute);                                                                      \
            best[0] = least ? LOWER_##name(v[0], best[0]) : HIGHER_##name(v[0], best[0]);                              \
            nan = OR_NANS_##name(nan, EITHER_NAN_##name(v[0], v[0]));                                                  \
        }                                                                                                              \
        for (int j = 1; j < 4; j++)                                                                                    \
            best[0] = least ? LOWER_##name(best[j], best[0]) : HIGHER_##name(best[j], best[0]);                        \
        T one = best[0][0];                                                                                            \
        for (int l = 1; l < IN_VECTOR_##name; l++)                                                                     \
            one = (least ? best[0][l] < one : best[0][l] > one) ? best[0][l] : one;                                    \
        U bits, minus = (U)((U)1 << (8 * sizeof(T) - 1));                                                              \
        memcpy(&bits, &one, sizeof bits);                                                                              \
        if (one == 0 && !absolute)                                                                                     \
            bits = least ? has_bits_##name(x, count, minus) ? minus : 0 : has_bits_##name(x, count, 0) ? 0 : minus;    \
        *found = (struct rd_found){bits, ANY_NAN_##name(nan)};                                                         \
    }                                                                                                                  \
    static void extreme_##name(const void *x, size_t count, enum rd_extreme which, struct rd_found *found) {           \
        if (which == RD_LARGEST)                                                                                       \
            body_##name(x, count, RD_LARGEST, found);                                                                  \
        else if (which == RD_LOWEST)                                                                                   \
            body_##name(x, count, RD_LOWEST, found);                                                                   \
        else                                                                                                           \
            body_##name(x, count, RD_HIGHEST, found);                                                                  \
    }
#define MAGNITUDES_f64 (((words){0} - 1) >> 1)
#define MAGNITUDES_f32 (MAGNITUDES_f64 & ~((words){0} + ((uint64_t)1 << 31)))
FLOAT_EXTREMES(f64, double, uint64_t)
FLOAT_EXTREMES(f32, float, uint32_t)

/* The index of the first of `count` elements that has these bits: in blocks, so that many are compared at a time. */
#define FIND(U)                                                                                                        \
    do {                                                                                                               \
        const U *element = x;                                                                                          \
        size_t i = 0;                                                                                                  \
        for (U different = 1; i + 64 <= count; i += 64) {                                                              \
            for (size_t j = 0; j < 64; j++)                                                                            \
                different &= (U)(element[i + j] != (U)bits);                                                           \
            if (!different)                                                                                            \
                break;                                                                                                 \
        }                                                                                                              \
        while (i < count && element[i] != (U)bits)                                                                     \
            i++;                                                                                                       \
        return i;                                                                                                      \
    } while (0)

static size_t find(const void *x, size_t count, uint64_t bits, size_t bytes) {
    switch (bytes) {
    case 1:
        FIND(uint8_t);
    case 2:
        FIND(uint16_t);
    case 4:
        FIND(uint32_t);
    default:
        FIND(uint64_t);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Products (arithmetic/product.h)
 *
 * Exponents are taken off as integers, and what remains, in [1, 2) with its sign, is multiplied on. Wherever they are
 * taken the exponent fields' extremes are noted: 0 or 0x7ff among them mean that something was not a normal number.
 * ------------------------------------------------------------------------------------------------------------------ */

/* A row of 64 lanes is so many vectors, and so many rows of floats can be multiplied as they are, from a lane in [1, 2)
 * on, without leaving the range of a normal double: 2^(4 * -149) to 2^(4 * 128 + 1). */
enum { ROW = RD_PRODUCT_LANES * 8 / VECTOR_BYTES, ROWS = RD_PRODUCT_BLOCK / RD_PRODUCT_LANES, RAW_ROWS = 4 };

/* The sums and extremes of the exponent fields taken, lane by lane. */
struct taken {
    words sum, least, greatest;
};

ALWAYS_INLINE void take_exponents(struct taken *taken, doubles *x) {
    const uint64_t exponent = (uint64_t)0x7ff << 52, one = (uint64_t)1023 << 52;
    words bits = (words)*x, field = bits << 1 >> 53;
    taken->sum += field;
    taken->least = LEAST(taken->least, field);
    taken->greatest = GREATEST(taken->greatest, field);
    *x = (doubles)((bits & ~exponent) | one);
}

/* The product of a block from its lanes; `times`: exponents taken. */
static bool close_block(const struct taken *taken, const doubles product[ROW], int times, struct rd_factor *factor) {
    *factor = (struct rd_factor){.exponent = -1023 * (int64_t)times};
    for (size_t l = 0; l < VECTOR_BYTES / 8; l++) {
        if (taken->least[l] == 0 || taken->greatest[l] == 0x7ff)
            return false;
        factor->exponent += (int64_t)taken->sum[l];
    }
    double lane[RD_PRODUCT_LANES];
    memcpy(lane, product, sizeof lane);
    rd_product_close(lane, factor);
    return true;
}

static bool multiply_f64(const double *x, struct rd_factor *factor) {
    doubles product[ROW];
    struct taken taken = {{0}, (words){0} + 1, (words){0} + 1};
    const char *at = (const char *)x;
    for (int j = 0; j < ROW; j++)
        product[j] = (doubles){0} + 1;
    for (int row = 0; row < ROWS; row++)
#pragma GCC unroll 32
        for (int j = 0; j < ROW; j++, at += VECTOR_BYTES) {
            doubles element;
            memcpy(&element, at, sizeof element);
            if (j * VECTOR_BYTES % 64 == 0)
                READ_AHEAD(at);
            take_exponents(&taken, &element);
            product[j] *= element; /* below 2^64 after all rows */
        }
    return close_block(&taken, product, RD_PRODUCT_BLOCK, factor);
}

static bool multiply_f32(const float *x, struct rd_factor *factor) {
    doubles product[ROW];
    struct taken taken = {{0}, (words){0} + 1, (words){0} + 1};
    const char *at = (const char *)x;
    for (int j = 0; j < ROW; j++)
        product[j] = (doubles){0} + 1;
    for (int row = 0; row < ROWS; row += RAW_ROWS, at += (RAW_ROWS - 1) * RD_PRODUCT_LANES * sizeof(float))
#pragma GCC unroll 32
        for (int j = 0; j < ROW; j++, at += VECTOR_BYTES / 2) {
#pragma GCC unroll 4
            for (size_t raw = 0; raw < RAW_ROWS; raw++) {
                floats elements;
                memcpy(&elements, at + raw * RD_PRODUCT_LANES * sizeof(float), sizeof elements);
                if (j * VECTOR_BYTES % 128 == 0)
                    READ_AHEAD(at + raw * RD_PRODUCT_LANES * sizeof(float));
                product[j] *= WIDEN(elements);
            }
            take_exponents(&taken, &product[j]);
        }
    return close_block(&taken, product, RD_PRODUCT_BLOCK / RAW_ROWS, factor);
}

/* Blocks of nothing but 1 and -1, and those after an overflow, only change the sign, unless there is a zero; any other
 * factor can come at most 255 times before an overflow. */
#define MULTIPLY(name, T, U, MAGNITUDE, NEGATIVE)                                                                      \
    static void multiply_##name(struct rd_whole *whole, const void *data, size_t count, bool wrap) {                   \
        const T *x = data;                                                                                             \
        for (size_t done = 0, n; done < count && !rd_whole_is_zero(whole); done += n, x += n) {                        \
            n = count - done < RD_BLOCK ? count - done : RD_BLOCK;                                                     \
            U all = 0, signs = 0, zero = 0;                                                                            \
            for (size_t i = 0; i < n; i++) {                                                                           \
                U magnitude = MAGNITUDE(U, x[i]);                                                                      \
                all |= magnitude;                                                                                      \
                zero |= (U)(magnitude == 0);                                                                           \
                signs ^= (U)NEGATIVE(x[i]);                                                                            \
            }                                                                                                          \
            struct rd_whole block = {.magnitude = {!zero}, .negative = signs && !zero};                                \
            rd_whole_multiply(whole, &block, wrap);                                                                    \
            for (size_t i = 0; i < n && all > 1 && !zero && (wrap || !whole->overflow); i++) {                         \
                struct rd_whole one = {.magnitude = {MAGNITUDE(U, x[i])}};                                             \
                rd_whole_multiply(whole, &one, wrap);                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }
#define ITSELF(U, v)   ((U)(v))
#define IS_NEGATIVE(v) ((v) < 0)
#define NEVER(v)       0
MULTIPLY(i8, int8_t, uint8_t, ABSOLUTE, IS_NEGATIVE)
MULTIPLY(u8, uint8_t, uint8_t, ITSELF, NEVER)
MULTIPLY(i16, int16_t, uint16_t, ABSOLUTE, IS_NEGATIVE)
MULTIPLY(u16, uint16_t, uint16_t, ITSELF, NEVER)
MULTIPLY(i32, int32_t, uint32_t, ABSOLUTE, IS_NEGATIVE)
MULTIPLY(u32, uint32_t, uint32_t, ITSELF, NEVER)
MULTIPLY(i64, int64_t, uint64_t, ABSOLUTE, IS_NEGATIVE)
MULTIPLY(u64, uint64_t, uint64_t, ITSELF, NEVER)

/* ------------------------------------------------------------------------------------------------------------------ */

#define HIDE(array) __asm__ volatile("" ::"r"(array) : "memory")

/* A window must take what it can hold and refuse what it cannot. Emulators exist that never raise a flag. */
static bool self_test(void) {
    static const struct {
        double added;
        bool fits;
    } cases[] = {{0x1p-80, true}, {0x1p-200, false}, {__builtin_inf(), false}, {__builtin_nan(""), false}};
    struct rd_window w;
    struct rd_sum sum;
    w.sum = &sum;
    bool passed = true;
    rd_environment caller = rd_environment_enter();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _Alignas(64) double x[2 * RD_LANES] = {1 + 0x1p-50, [RD_LANES] = cases[i].added}; /* both in the first lane */
        HIDE(x); /* or compilers work it all out beforehand, and no flag is ever raised */
        rd_sum_init(&sum, rd_type(REDUCT_F64), false);
        passed &= window_open(&w, 2, 0, false) && window_block(&w, x, 2 * RD_LANES, false, false) == cases[i].fits;
    }
    _Alignas(64) double factors[RD_LANES] = {0x1.1p0, 0x1p-600}, product[RD_LANES], error[RD_LANES];
    HIDE(factors);
    passed &= !multiply_exactly(factors, factors, RD_LANES, product, error);
    factors[1] = 0;
    HIDE(factors);
    passed &= multiply_exactly(factors, factors, RD_LANES, product, error);
    rd_environment_leave(caller);
    return passed;
}

#define INTEGERS(entry)                                                                                                \
    [REDUCT_I8] = entry##_i8, [REDUCT_I16] = entry##_i16, [REDUCT_I32] = entry##_i32, [REDUCT_I64] = entry##_i64,      \
    [REDUCT_U8] = entry##_u8, [REDUCT_U16] = entry##_u16, [REDUCT_U32] = entry##_u32, [REDUCT_U64] = entry##_u64

#include "cpu/side_template.h"

const struct rd_kernels KERNELS = {
    .name = KERNELS_DEVICE,
    .self_test = self_test,
    .add_f64 = add_f64,
    .add_f32 = add_f32,
    .finish = finish,
    .add_side_f64 = add_side_f64,
    .add_side_f32 = add_side_f32,
    .fold_side_f64 = fold_side_f64,
    .fold_side_f32 = fold_side_f32,
    .side_lanes = SIDE_LANES,
    .round_side = round_side,
    .fetch_f64 = fetch_side_f64,
    .fetch_f32 = fetch_side_f32,
    .multiply = multiply_exactly,
    .brief_f64 = brief_f64,
    .brief_f32 = brief_f32,
    .brief_squares_f64 = brief_squares_f64,
    .brief_squares_f32 = brief_squares_f32,
    .add_integer = {INTEGERS(add)},
    .fast_f64 = fast_f64,
    .fast_f32 = fast_f32,
    .fast_moments_f64 = fast_moments_f64,
    .fast_moments_f32 = fast_moments_f32,
    .multiply_f64 = multiply_f64,
    .multiply_f32 = multiply_f32,
    .multiply_integer = {INTEGERS(multiply)},
    .extreme = {INTEGERS(extreme), [REDUCT_F64] = extreme_f64, [REDUCT_F32] = extreme_f32},
    .find = find,
};
