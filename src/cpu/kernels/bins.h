/* Part of template.h: what no window holds is added up by sign and exponent, in integers. A finite double is
 * significand * 2^(field - 1075) with an exponent field of at least 1, of which subnormals have 0 in their bits. */

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
ALWAYS_INLINE bool enter_elements(struct rd_bins *bins, struct rd_sum *sum, const double *x, size_t n, size_t after,
                                  bool absolute) {
    uint64_t *bin = bins->elements, *negative = bin + 2048;
    FOR_AHEAD(i, ahead, n, 8, sizeof *x, after) {
        READ_AHEAD(x + i, ahead);
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
    const size_t after = s->terms.after;
    return absolute ? enter_elements(bins, s->terms.sum, x, n, after, true)
                    : enter_elements(bins, s->terms.sum, x, n, after, false);
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
