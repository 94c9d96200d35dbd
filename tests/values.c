#include "values.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Pseudo-random numbers
 * ------------------------------------------------------------------------------------------------------------------ */

struct rng rng_of(uint64_t seed) {
    return (struct rng){seed};
}

uint64_t rng_next(struct rng *rng) {
    uint64_t z = rng->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t rng_below(struct rng *rng, uint64_t bound) {
    return bound ? rng_next(rng) % bound : 0;
}

double rng_unit(struct rng *rng) {
    return ldexp((double)(rng_next(rng) >> 11), -53);
}

static double rng_sign(struct rng *rng) {
    return rng_next(rng) & 1 ? -1 : 1;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Elements
 * ------------------------------------------------------------------------------------------------------------------ */

uint64_t values_bits(const struct test_type *type, const void *array, size_t index) {
    const char *at = (const char *)array + index * type->size;
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (type->size) {
    case 1:
        return memcpy(&b1, at, 1), b1;
    case 2:
        return memcpy(&b2, at, 2), b2;
    case 4:
        return memcpy(&b4, at, 4), b4;
    default:
        return memcpy(&b8, at, 8), b8;
    }
}

void values_put_bits(const struct test_type *type, void *array, size_t index, uint64_t bits) {
    char *at = (char *)array + index * type->size;
    switch (type->size) {
    case 1:
        memcpy(at, &(uint8_t){(uint8_t)bits}, 1);
        break;
    case 2:
        memcpy(at, &(uint16_t){(uint16_t)bits}, 2);
        break;
    case 4:
        memcpy(at, &(uint32_t){(uint32_t)bits}, 4);
        break;
    default:
        memcpy(at, &bits, 8);
    }
}

static uint64_t sign_bit(const struct test_type *type) {
    return (uint64_t)1 << (8 * type->size - 1);
}

uint64_t values_infinity(const struct test_type *type) {
    return (uint64_t)(2 * type->max_exponent + 1) << (type->precision - 1);
}

double values_max(const struct test_type *type) {
    return ldexp(2 - ldexp(1, 1 - type->precision), type->max_exponent);
}

/* The exponent of the smallest positive number. */
static int unit_exponent(const struct test_type *type) {
    return 2 - type->max_exponent - type->precision;
}

double values_tiny(const struct test_type *type) {
    return ldexp(1, unit_exponent(type));
}

static uint64_t float_bits(const struct test_type *type, double value) {
    const uint64_t sign = signbit(value) ? sign_bit(type) : 0;
    double magnitude = fabs(value);
    if (isnan(value))
        return sign | values_infinity(type) | 1;
    if (magnitude > values_max(type))
        magnitude = values_max(type);
    if (magnitude == 0)
        return sign;
    int exponent;
    frexp(magnitude, &exponent); /* magnitude in [2^(exponent - 1), 2^exponent) */
    int spacing = exponent - type->precision;
    if (spacing < unit_exponent(type))
        spacing = unit_exponent(type);
    const uint64_t significand = (uint64_t)ldexp(magnitude, -spacing);
    return sign | (((uint64_t)(spacing - unit_exponent(type)) << (type->precision - 1)) + significand);
}

double values_get(const struct test_type *type, const void *array, size_t index) {
    const uint64_t bits = values_bits(type, array, index), magnitude = bits & (sign_bit(type) - 1);
    const uint64_t hidden = (uint64_t)1 << (type->precision - 1), field = magnitude / hidden,
                   fraction = magnitude % hidden;
    const double value =
        magnitude > values_infinity(type) ? (double)NAN
        : magnitude == values_infinity(type)
            ? (double)INFINITY
            : ldexp((double)(field ? fraction + hidden : fraction), unit_exponent(type) + (field ? (int)field - 1 : 0));
    return bits & sign_bit(type) ? -value : value;
}

void values_put(const struct test_type *type, void *array, size_t index, double value) {
    values_put_bits(type, array, index, type->class == FLOAT ? float_bits(type, value) : (uint64_t)(int64_t)value);
}

uint64_t values_nan(struct rng *rng, const struct test_type *type) {
    const uint64_t fraction = ((uint64_t)1 << (type->precision - 1)) - 1;
    uint64_t payload = (rng_next(rng) & fraction) >> rng_below(rng, (uint64_t)type->precision);
    if (rng_next(rng) & 1)
        payload |= fraction ^ fraction >> 1; /* quiet */
    return (rng_next(rng) & 1 ? sign_bit(type) : 0) | values_infinity(type) | (payload ? payload : 1);
}

static void swap_elements(const struct test_type *type, void *array, size_t i, size_t j) {
    const uint64_t a = values_bits(type, array, i), b = values_bits(type, array, j);
    values_put_bits(type, array, i, b);
    values_put_bits(type, array, j, a);
}

void values_shuffle(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = count; i > 1; i--) {
        const size_t j = rng_below(rng, i);
        swap_elements(type, x, i - 1, j);
        if (y)
            swap_elements(type, y, i - 1, j);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Independent draws, floating point
 * ------------------------------------------------------------------------------------------------------------------ */

static double draw_uniform(struct rng *rng, const struct test_type *type) {
    (void)type;
    return rng_unit(rng);
}

/* Twelve uniform numbers make a normal one, near enough. */
static double draw_normal(struct rng *rng, const struct test_type *type) {
    (void)type;
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_unit(rng);
    return sum;
}

/* Exponents spread evenly over `binades`, around 1, as far as the type goes. */
static double draw_binades(struct rng *rng, const struct test_type *type, int binades) {
    const int most = 2 * type->max_exponent;
    const int span = binades < most ? binades : most;
    return rng_sign(rng) * ldexp(1 + rng_unit(rng), (int)rng_below(rng, (uint64_t)span) - span / 2);
}

static double draw_30_binades(struct rng *rng, const struct test_type *type) {
    return draw_binades(rng, type, 30);
}

static double draw_60_binades(struct rng *rng, const struct test_type *type) {
    return draw_binades(rng, type, 60);
}

static double draw_300_binades(struct rng *rng, const struct test_type *type) {
    return draw_binades(rng, type, 300);
}

static double draw_denormal(struct rng *rng, const struct test_type *type) {
    const double most = ldexp(1, type->precision - 1);
    return rng_sign(rng) * floor(rng_unit(rng) * most) * values_tiny(type);
}

/* Just below, at and just above powers of two that are few enough to share a window's edge. */
static double draw_edge(struct rng *rng, const struct test_type *type) {
    const double ulp = ldexp(1, 1 - type->precision);
    const double near[] = {1 - ulp / 2, 1, 1 + ulp, 2 - ulp};
    return rng_sign(rng) * ldexp(near[rng_below(rng, 4)], (int)rng_below(rng, 8) * 7 % 12);
}

static double draw_largest_significand(struct rng *rng, const struct test_type *type) {
    (void)rng;
    return 2 - ldexp(1, 1 - type->precision);
}

static double draw_small_integer(struct rng *rng, const struct test_type *type) {
    (void)type;
    return (double)rng_below(rng, 201) - 100;
}

static double draw_negative_mean(struct rng *rng, const struct test_type *type) {
    return draw_normal(rng, type) - 1000;
}

/* Large mean, deviations of a few last places: where a one-pass variance in doubles is all noise. */
static double draw_offset(struct rng *rng, const struct test_type *type) {
    const double ulp = ldexp(1, 1 - type->precision);
    return ldexp(1 + ulp * (double)rng_below(rng, 5), type->max_exponent / 2);
}

static double draw_sparse(struct rng *rng, const struct test_type *type) {
    return rng_below(rng, 50) ? 0 : draw_30_binades(rng, type);
}

static double draw_mixed_zeros(struct rng *rng, const struct test_type *type) {
    (void)type;
    return rng_next(rng) & 1 ? 0.0 : -0.0;
}

static double draw_plus_zero(struct rng *rng, const struct test_type *type) {
    (void)rng, (void)type;
    return 0.0;
}

static double draw_minus_zero(struct rng *rng, const struct test_type *type) {
    (void)rng, (void)type;
    return -0.0;
}

/* Normal data with, now and then, something enormous or minute. */
static double draw_outliers(struct rng *rng, const struct test_type *type) {
    const double value = draw_normal(rng, type);
    const int far = type->max_exponent - 8;
    return rng_below(rng, 100) ? value : ldexp(value, rng_next(rng) & 1 ? far : -far);
}

/* One leading value and many whose last bits end where a second, third or fourth slice would. */
static double draw_slices(struct rng *rng, const struct test_type *type) {
    static const int depth[] = {0,  1,  20, 23, 24, 25, 40,  41,  42,  43,  46, 47,
                                52, 53, 54, 82, 83, 84, 104, 106, 124, 125, 126};
    const int below = depth[rng_below(rng, sizeof depth / sizeof *depth)];
    if (below >= 2 * type->max_exponent - type->precision)
        return 1;
    return rng_sign(rng) * ldexp(1 + (rng_next(rng) & 1 ? ldexp(1, 1 - type->precision) : 0), -below);
}

#define FILL_DRAWN(name)                                                                                               \
    static void fill_##name(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {           \
        for (size_t i = 0; i < count; i++) {                                                                           \
            values_put(type, x, i, draw_##name(rng, type));                                                            \
            if (y)                                                                                                     \
                values_put(type, y, i, draw_##name(rng, type));                                                        \
        }                                                                                                              \
    }
FILL_DRAWN(uniform)
FILL_DRAWN(normal)
FILL_DRAWN(30_binades)
FILL_DRAWN(60_binades)
FILL_DRAWN(300_binades)
FILL_DRAWN(denormal)
FILL_DRAWN(edge)
FILL_DRAWN(largest_significand)
FILL_DRAWN(small_integer)
FILL_DRAWN(negative_mean)
FILL_DRAWN(offset)
FILL_DRAWN(sparse)
FILL_DRAWN(mixed_zeros)
FILL_DRAWN(plus_zero)
FILL_DRAWN(minus_zero)
FILL_DRAWN(outliers)
FILL_DRAWN(slices)

/* Any bits; any bits that are not infinite or NaN. */
static uint64_t raw_bits(struct rng *rng, const struct test_type *type, bool finite) {
    for (;;) {
        const uint64_t bits = rng_next(rng) & (sign_bit(type) | (sign_bit(type) - 1));
        if (!finite || type->class != FLOAT || (bits & values_infinity(type)) != values_infinity(type))
            return bits;
    }
}

static void fill_raw(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values_put_bits(type, x, i, raw_bits(rng, type, true));
        if (y)
            values_put_bits(type, y, i, raw_bits(rng, type, true));
    }
}

static void fill_anything(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values_put_bits(type, x, i, raw_bits(rng, type, false));
        if (y)
            values_put_bits(type, y, i, raw_bits(rng, type, false));
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Arrays with a plan, floating point
 * ------------------------------------------------------------------------------------------------------------------ */

static void put_pair(const struct test_type *type, void *x, void *y, size_t i, double a, double b) {
    values_put(type, x, i, a);
    if (y)
        values_put(type, y, i, b);
}

/* Fills from `first` on with pairs whose terms and products cancel, and a zero where one is left. */
static void fill_cancelling(struct rng *rng, const struct test_type *type, void *x, void *y, size_t first, size_t count,
                            int binades) {
    for (; first + 1 < count; first += 2) {
        const double a = draw_binades(rng, type, binades), b = draw_binades(rng, type, binades);
        put_pair(type, x, y, first, a, b);
        put_pair(type, x, y, first + 1, -a, b);
    }
    if (first < count)
        put_pair(type, x, y, first, 0.0, 1.0);
}

/* Everything cancels but one denormal. */
static void fill_cancel(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    if (count) {
        const double left = (double)(1 + rng_below(rng, 5)) * values_tiny(type);
        put_pair(type, x, y, 0, rng_sign(rng) * left, 1.0);
    }
    fill_cancelling(rng, type, x, y, 1, count, 300);
    values_shuffle(rng, type, x, y, count);
}

static void fill_cancel_to_zero(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_cancelling(rng, type, x, y, 0, count, 40);
    values_shuffle(rng, type, x, y, count);
}

static void fill_equal(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const double a = draw_30_binades(rng, type), b = draw_30_binades(rng, type);
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, a, b);
}

/* A sum halfway between two neighbours of some floating-point type, or the smallest possible step off it: an integer
 * of exactly that type's precision in pieces that this type holds, one half in one or two pieces, and +-tiny or
 * nothing; the rest cancels. The dot with ones is the same tie. */
static void fill_ties(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    static const int precisions[] = {53, 24, 11, 8};
    const int precision = precisions[rng_below(rng, 4)];
    const int scale = type->max_exponent >= 127 ? (int)rng_below(rng, 20) : -precision - 1 + type->max_exponent;
    const double sign = rng_sign(rng);
    uint64_t integer = (uint64_t)1 << (precision - 1);
    integer |= rng_next(rng) & (integer - 1);
    size_t i = 0;
    for (int low = 0; low < precision && i < count; low += 8)
        put_pair(type, x, y, i++, sign * ldexp((double)(integer >> low & 255), low + scale), 1);
    const bool whole = rng_next(rng) & 1;
    if (i < count)
        put_pair(type, x, y, i++, sign * ldexp(whole ? 0.5 : 0.25, scale), 1);
    if (i < count && !whole)
        put_pair(type, x, y, i++, sign * ldexp(0.25, scale), 1);
    if (i < count)
        put_pair(type, x, y, i++, ((double)rng_below(rng, 3) - 1) * values_tiny(type), 1);
    fill_cancelling(rng, type, x, y, i, count, 20);
    values_shuffle(rng, type, x, y, count);
}

/* A sum of squares, and a dot with itself, halfway between two neighbours of some type, or just above: m^2 has exactly
 * that type's precision and is odd or even; 2 * 0.5^2 is the half. */
static void fill_square_ties(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    static const struct {
        int precision;
        uint64_t least, most;
    } roots[] = {{8, 12, 15}, {11, 32, 45}, {24, 2897, 4095}, {53, 67108864, 94906265}};
    const size_t which = rng_below(rng, type->precision >= 53 ? 4 : 3);
    const double m = (double)(roots[which].least + rng_below(rng, roots[which].most - roots[which].least + 1));
    const double values[] = {m, 0.5, 0.5, rng_next(rng) & 1 ? values_tiny(type) : 0};
    for (size_t i = 0; i < count; i++) {
        const double value = i < 4 ? values[i] : 0;
        put_pair(type, x, y, i, value, value);
    }
    values_shuffle(rng, type, x, y, count);
}

/* What moves a tie off: nothing, the least that there is, or 2^exponent or somewhat less. */
static double draw_speck(struct rng *rng, const struct test_type *type, int exponent) {
    switch (rng_below(rng, 4)) {
    case 0:
        return 0;
    case 1:
        return values_tiny(type);
    default:
        return ldexp(1, exponent - (int)rng_below(rng, 30));
    }
}

/* {3c, 4c}: the root of the sum of squares is exactly 5c. With c odd and 5c one bit wider than a type, the root is a
 * tie; a speck moves it off. */
static void fill_root_ties(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    static const int precisions[] = {53, 24, 11, 8};
    int precision = precisions[rng_below(rng, 4)];
    if (precision > type->precision)
        precision = type->precision;
    /* 5c in (2^p, 2^p * 5 / 3), so that 3c and 4c (as 4 * c) fit p bits. */
    const uint64_t most = ((uint64_t)1 << precision) / 3, least = ((uint64_t)1 << precision) / 5 + 1;
    const double c = (double)((least + rng_below(rng, most - least)) | 1);
    const double values[] = {3 * c, 4 * c, draw_speck(rng, type, precision - 33)};
    for (size_t i = 0; i < count; i++) {
        const double value = i < 3 ? values[i] : 0;
        put_pair(type, x, y, i, value, value);
    }
    values_shuffle(rng, type, x, y, count);
}

/* A mean that is a tie, or just above one: M and M + 1 in turn, some of them folded to make room for a speck. With a
 * count that is no power of two, only the remainder of the division knows. */
static void fill_mean_ties(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    static const int precisions[] = {53, 24, 11, 8};
    int precision = precisions[rng_below(rng, 4)];
    if (precision > type->precision)
        precision = type->precision;
    const uint64_t top = (uint64_t)1 << (precision - 1);
    const double m = (double)(top | (rng_next(rng) & (top - 1))), sign = rng_sign(rng);
    const double speck = draw_speck(rng, type, precision - 60); /* what a quotient of so many bits misses */
    const double folded[] = {2 * m, 2 * (m + 1), 0, speck};
    for (size_t i = 0; i < count; i++) {
        double value = i < 4 ? folded[i] : m + (double)(i % 2);
        if (i == 2 && count % 2) /* an odd count leaves one m without its m + 1: half of that goes here */
            value = 0.5;
        put_pair(type, x, y, i, sign * value, 1);
    }
    values_shuffle(rng, type, x, y, count);
}

/* +-T, with one bit more than some narrower type: root mean square and deviation of the population are T, a tie, or,
 * with +-specks in the room that folding four of them into one 2T makes, just above it. */
static void fill_rms_ties(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    static const int precisions[] = {24, 11, 8};
    int precision = precisions[rng_below(rng, 3)];
    if (precision >= type->precision)
        precision = 11 < type->precision ? 11 : 8;
    const uint64_t top = (uint64_t)1 << precision;
    const double t = (double)(top | (rng_next(rng) & (top - 1)) | 1);
    const double speck = draw_speck(rng, type, precision - 33); /* its square is what a root of 66 bits misses */
    const double folded[] = {2 * t, -2 * t, speck, -speck, 0, 0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const double value = i < 8 && count >= 8 ? folded[i] : i % 2 ? -t : t;
        put_pair(type, x, y, i, value, value);
    }
    values_shuffle(rng, type, x, y, count);
}

/* Half of them a, half of them b: the deviation of the population is |a - b| / 2, often a tie. */
static void fill_two_points(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const double a = ldexp(1, (int)rng_below(rng, 2) + type->precision - 1), b = -(double)rng_below(rng, 4);
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, i % 2 ? a : b, i % 2 ? b : a);
    values_shuffle(rng, type, x, y, count);
}

/* The scale jumps by up to hundreds of binades at random places. */
static void fill_jumps(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    int scale = 0;
    size_t next = rng_below(rng, count + 1);
    for (size_t i = 0; i < count; i++) {
        if (i >= next) {
            scale = (int)rng_below(rng, (uint64_t)(2 * type->max_exponent - 8)) - type->max_exponent + 4;
            next = i + 1 + rng_below(rng, 700);
        }
        put_pair(type, x, y, i, ldexp(draw_normal(rng, type), scale), ldexp(draw_normal(rng, type), -scale / 2));
    }
}

/* Nearly all of one exponent and full of ones, and in every block something far above and far below, so that no window
 * holds it: what sorts terms by exponent gets all of them in one place. What is far above cancels in the end. */
static void fill_full_bins(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const int far = type->max_exponent / 2;
    const double full = draw_largest_significand(rng, type); /* exponent 0, the last of its sixteen */
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, i % 300 == 11 ? ldexp(full, -far) : full, full);
    for (size_t i = 7; i + 300 < count; i += 600) {
        put_pair(type, x, y, i, ldexp(full, far), full);
        put_pair(type, x, y, i + 300, -ldexp(full, far), full);
    }
}

/* One value far above the rest, at any place. */
static void fill_one_outlier(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_normal(rng, type, x, y, count);
    if (count)
        values_put(type, x, rng_below(rng, count),
                   rng_sign(rng) * ldexp(1, type->max_exponent - (int)rng_below(rng, 3)));
}

static void fill_one_speck(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_normal(rng, type, x, y, count);
    if (count)
        values_put(type, x, rng_below(rng, count), rng_sign(rng) * values_tiny(type));
}

/* Factors whose product stays within `binades` of 2^`around` as it grows, however many there are. */
static void fill_factors(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count, int binades,
                         int around) {
    double grown = 0; /* the product's binary logarithm */
    for (size_t i = 0; i < count; i++) {
        const double significand = 1 + rng_unit(rng);
        const double aim = around - grown + (rng_unit(rng) - 0.5) * 2 * binades;
        const int lowest = 1 - type->max_exponent - type->precision, highest = type->max_exponent;
        int exponent = (int)(aim < lowest ? lowest : aim > highest ? highest : aim);
        const double drawn = rng_sign(rng) * ldexp(significand, exponent);
        put_pair(type, x, y, i, drawn, draw_normal(rng, type));
        const double value = values_get(type, x, i); /* as the type holds it */
        if (value == 0)
            put_pair(type, x, y, i, 1, 1);
        else
            grown += log2(fabs(value));
    }
}

static void fill_balanced_factors(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_factors(rng, type, x, y, count, 8, 0);
}

/* Over the whole range, subnormals included; the product is close to one of its ends. */
static void fill_far_factors(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const int ends[] = {0, type->max_exponent, 1 - type->max_exponent, 2 - type->max_exponent - type->precision};
    fill_factors(rng, type, x, y, count, type->max_exponent, ends[rng_below(rng, 4)]);
    for (size_t i = 0; i < 2 && i < count; i++) { /* back into range, where chance has left it */
        const size_t at = rng_below(rng, count);
        values_put(type, x, at, rng_sign(rng) * (1 + rng_unit(rng)));
    }
}

/* Partial sums overflow, the total does not. */
static void fill_partial_overflow(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, (i & 1 ? -1 : 1) * values_max(type) * (i < 2 * (count / 2) ? 1 : ldexp(1, -20)), 1);
    if (count > 2)
        put_pair(type, x, y, count - 1, draw_normal(rng, type), 1);
    values_shuffle(rng, type, x, y, count);
}

/* The total is the overflow threshold of this type, or one step of the smallest size to either side. */
static void fill_overflow_edge(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const double sign = rng_sign(rng);
    const double values[] = {sign * values_max(type), sign * ldexp(1, type->max_exponent - type->precision),
                             ((double)rng_below(rng, 3) - 1) * values_tiny(type)};
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, i < 3 ? values[i] : 0, 1);
    values_shuffle(rng, type, x, y, count);
}

static void fill_overflow(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, values_max(type) * (0.5 + 0.5 * rng_unit(rng)), 1 + rng_unit(rng));
}

/* Products and squares that over- and underflow; the largest ones cancel. */
static void fill_product_range(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const int top = type->max_exponent - 1, bottom = 1 - type->max_exponent;
    for (size_t i = 0; i < count; i++) {
        const bool large = i % 4 < 2;
        const int ex = large ? top - (int)(i / 4 % 20) : bottom + (int)(i / 4 % (uint64_t)type->precision);
        const int ey = large ? top - (int)(i / 4 % 3) : bottom + (int)(i / 4 % 40);
        const double a = ldexp(1 + ldexp((double)(i / 4 % 16), -4), ex), b = ldexp(1.75, ey);
        put_pair(type, x, y, i, i % 2 ? -a : a, b);
    }
    if (count % 4 == 1 || count % 4 == 3)
        put_pair(type, x, y, count - 1, rng_sign(rng) * ldexp(1.25, bottom), ldexp(1.5, bottom));
    values_shuffle(rng, type, x, y, count);
}

/* Products at one edge of the range: where they overflow, underflow, lose their rounding errors or vanish. Nearly
 * cancelling pairs, so that the last places show. */
static void fill_product_edge(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const int top = type->max_exponent, bottom = 1 - top, precision = type->precision;
    const int edges[] = {top - 1, top, top + 1, bottom + precision, bottom, bottom - precision + 1};
    const int edge = edges[rng_below(rng, sizeof edges / sizeof *edges)] + (int)rng_below(rng, 5) - 2;
    const int ex = edge / 2 + (y ? (int)rng_below(rng, (uint64_t)top / 4) : 0), ey = edge - ex;
    const double ulp = ldexp(1, 1 - precision), base = rng_next(rng) & 1 ? 1 : 2 - 16 * ulp;
    for (size_t i = 0; i < count; i++) {
        const double a = ldexp(base + ulp * (double)rng_below(rng, 16), ex);
        const double b = ldexp(base + ulp * (double)rng_below(rng, 16), ey);
        put_pair(type, x, y, i, i % 2 ? -a : a, b);
    }
}

static void fill_increasing(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const double step = 1 + rng_unit(rng);
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, (double)i * step - 100, (double)(count - i));
}

static void fill_decreasing(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const double step = 1 + rng_unit(rng);
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, 100 - (double)i * step, (double)i);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * NaN, infinities, zeros
 * ------------------------------------------------------------------------------------------------------------------ */

static void fill_all_nan(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values_put_bits(type, x, i, values_nan(rng, type));
        if (y)
            values_put_bits(type, y, i, values_nan(rng, type));
    }
}

/* Normal data with `special` at `index` of x, or of y. */
static void fill_with(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count, uint64_t special,
                      size_t index) {
    fill_normal(rng, type, x, y, count);
    if (index < count)
        values_put_bits(type, y && rng_next(rng) & 1 ? y : x, index, special);
}

static void fill_nan_first(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_with(rng, type, x, y, count, values_nan(rng, type), 0);
}

static void fill_nan_middle(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_with(rng, type, x, y, count, values_nan(rng, type), count / 2);
}

static void fill_nan_last(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_with(rng, type, x, y, count, values_nan(rng, type), count - 1);
}

/* A few NaNs anywhere, one infinity, zeros: everything at once. */
static void fill_nans_and_infinities(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_sparse(rng, type, x, y, count);
    for (size_t i = 0; i < count / 16 + 1 && count; i++) {
        const uint64_t infinity = values_infinity(type) | (rng_next(rng) & 1 ? sign_bit(type) : 0);
        values_put_bits(type, y && rng_next(rng) & 1 ? y : x, rng_below(rng, count),
                        rng_below(rng, 3) ? values_nan(rng, type) : infinity);
    }
}

static void fill_plus_infinity(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_with(rng, type, x, y, count, values_infinity(type), rng_below(rng, count));
}

static void fill_minus_infinity(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_with(rng, type, x, y, count, values_infinity(type) | sign_bit(type), rng_below(rng, count));
}

static void fill_both_infinities(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_with(rng, type, x, y, count, values_infinity(type), rng_below(rng, count));
    if (count)
        values_put_bits(type, x, rng_below(rng, count), values_infinity(type) | sign_bit(type));
}

static void fill_all_infinite(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const uint64_t sign = rng_next(rng) & 1 ? sign_bit(type) : 0;
    for (size_t i = 0; i < count; i++) {
        values_put_bits(type, x, i, values_infinity(type) | sign);
        if (y)
            values_put_bits(type, y, i, values_infinity(type));
    }
}

/* 0 * infinity in the dot, and nothing that is NaN. */
static void fill_zero_times_infinity(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    fill_normal(rng, type, x, y, count);
    if (!count)
        return;
    const size_t i = rng_below(rng, count);
    values_put(type, x, i, draw_mixed_zeros(rng, type));
    if (y)
        values_put_bits(type, y, i, values_infinity(type) | (rng_next(rng) & 1 ? sign_bit(type) : 0));
}

/* All -0 but one +0, or NaN, or nothing. The dot of -0 and +1 is -0 as well. */
static void fill_minus_zeros_but_one(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_pair(type, x, y, i, -0.0, 1.0);
    if (!count)
        return;
    const size_t i = rng_below(rng, count);
    if (rng_next(rng) & 1)
        values_put(type, x, i, 0.0);
    else
        values_put_bits(type, x, i, values_nan(rng, type));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t least_integer(const struct test_type *type) {
    return type->class == SIGNED ? sign_bit(type) : 0;
}

static uint64_t greatest_integer(const struct test_type *type) {
    return type->class == SIGNED ? sign_bit(type) - 1 : sign_bit(type) | (sign_bit(type) - 1);
}

static void put_integers(const struct test_type *type, void *x, void *y, size_t i, uint64_t a, uint64_t b) {
    values_put_bits(type, x, i, a);
    if (y)
        values_put_bits(type, y, i, b);
}

static void fill_all_least(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    (void)rng;
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, least_integer(type), least_integer(type));
}

static void fill_all_greatest(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    (void)rng;
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, greatest_integer(type), greatest_integer(type));
}

/* Both ends of the range and what is next to them, and 0 and +-1. */
static uint64_t integer_limit(struct rng *rng, const struct test_type *type) {
    const uint64_t limits[] = {
        least_integer(type), least_integer(type) + 1, greatest_integer(type), greatest_integer(type) - 1, 0, 1,
        UINT64_MAX};
    return limits[rng_below(rng, sizeof limits / sizeof *limits)];
}

static void fill_limits(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, integer_limit(rng, type), integer_limit(rng, type));
}

/* The sum is the greatest integer, or one more, or one less, however large the partial sums; likewise at the least. */
static void fill_sum_at_limit(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const uint64_t limit = rng_next(rng) & 1 ? greatest_integer(type) : least_integer(type);
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, 0, 1);
    if (count > 0)
        put_integers(type, x, y, 0, limit, 1);
    if (count > 1)
        put_integers(type, x, y, 1, rng_below(rng, 3) - 1, 1); /* -1 of unsigned types is their greatest */
    for (size_t i = 2; i + 1 < count && type->class == SIGNED; i += 2) {
        const uint64_t value = rng_next(rng);
        const bool least = ((value ^ least_integer(type)) & (sign_bit(type) | (sign_bit(type) - 1))) == 0;
        put_integers(type, x, y, i, least ? 1 : value, 1);
        put_integers(type, x, y, i + 1, least ? UINT64_MAX : 0 - value, 1);
    }
    values_shuffle(rng, type, x, y, count);
}

/* 1 and -1, a few others, whose product is close to where some integer type ends, and now and then a zero. */
static void fill_few_factors(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    static const unsigned ends[] = {8, 16, 31, 32, 63, 64, 127, 128, 255, 256};
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, type->class == SIGNED && rng_next(rng) & 1 ? UINT64_MAX : 1, 1);
    const unsigned end = ends[rng_below(rng, sizeof ends / sizeof *ends)];
    const bool powers = rng_next(rng) & 1; /* which meet the end exactly */
    const unsigned most = (unsigned)(8 * type->size - 2);
    for (unsigned left = end - 1 + (unsigned)rng_below(rng, 3); left && count;) {
        const unsigned bits = 1 + (unsigned)rng_below(rng, left < most ? left : most);
        uint64_t factor = (uint64_t)1 << bits;
        if (!powers)
            factor |= rng_next(rng) & (factor - 1);
        put_integers(type, x, y, rng_below(rng, count),
                     type->class == SIGNED && rng_next(rng) & 1 ? 0 - factor : factor, 1);
        left -= bits;
    }
    if (count && rng_below(rng, 8) == 0)
        put_integers(type, x, y, rng_below(rng, count), 0, 1);
}

static void fill_one_limit(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, 0, rng_next(rng));
    if (count)
        values_put_bits(type, x, rng_below(rng, count), integer_limit(rng, type));
}

static void fill_equal_integers(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const uint64_t a = rng_next(rng), b = rng_next(rng);
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, a, b);
}

static void fill_monotone_integers(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    const uint64_t start = rng_next(rng), step = rng_next(rng) & 1 ? 1 : UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        put_integers(type, x, y, i, start + i * step, i);
}

/* ------------------------------------------------------------------------------------------------------------------ */

#define FLOATS(name)                                                                                                   \
    { #name, true, false, false, fill_##name }
#define TAME_FLOATS(name)                                                                                              \
    { #name, true, false, true, fill_##name }
#define INTEGERS(name)                                                                                                 \
    { #name, false, true, true, fill_##name }
#define BOTH(name)                                                                                                     \
    { #name, true, true, true, fill_##name }

const struct distribution distributions[] = {
    TAME_FLOATS(uniform),
    TAME_FLOATS(normal),
    TAME_FLOATS(30_binades),
    TAME_FLOATS(60_binades),
    FLOATS(300_binades),
    {"raw", true, true, false, fill_raw},
    FLOATS(anything),
    FLOATS(cancel),
    TAME_FLOATS(cancel_to_zero),
    TAME_FLOATS(denormal),
    BOTH(plus_zero),
    TAME_FLOATS(minus_zero),
    TAME_FLOATS(mixed_zeros),
    FLOATS(minus_zeros_but_one),
    TAME_FLOATS(equal),
    FLOATS(ties),
    TAME_FLOATS(square_ties),
    FLOATS(root_ties),
    TAME_FLOATS(mean_ties),
    TAME_FLOATS(rms_ties),
    FLOATS(two_points),
    FLOATS(full_bins),
    FLOATS(jumps),
    TAME_FLOATS(edge),
    TAME_FLOATS(largest_significand),
    FLOATS(slices),
    FLOATS(outliers),
    FLOATS(one_outlier),
    FLOATS(one_speck),
    FLOATS(offset),
    TAME_FLOATS(sparse),
    TAME_FLOATS(balanced_factors),
    FLOATS(far_factors),
    FLOATS(partial_overflow),
    FLOATS(overflow_edge),
    FLOATS(overflow),
    FLOATS(product_range),
    FLOATS(product_edge),
    BOTH(increasing),
    BOTH(decreasing),
    BOTH(small_integer),
    TAME_FLOATS(negative_mean),
    FLOATS(all_nan),
    FLOATS(nan_first),
    FLOATS(nan_middle),
    FLOATS(nan_last),
    FLOATS(nans_and_infinities),
    FLOATS(plus_infinity),
    FLOATS(minus_infinity),
    FLOATS(both_infinities),
    FLOATS(all_infinite),
    FLOATS(zero_times_infinity),
    INTEGERS(all_least),
    INTEGERS(all_greatest),
    INTEGERS(limits),
    INTEGERS(sum_at_limit),
    INTEGERS(few_factors),
    INTEGERS(one_limit),
    INTEGERS(equal_integers),
    INTEGERS(monotone_integers),
};
const size_t distribution_count = sizeof distributions / sizeof *distributions;

bool distribution_suits(const struct distribution *distribution, const struct test_type *type) {
    return type->class == FLOAT ? distribution->floats : distribution->integers;
}

const struct distribution *distribution_named(const char *name) {
    for (size_t i = 0; i < distribution_count; i++)
        if (strcmp(distributions[i].name, name) == 0)
            return &distributions[i];
    test_fail("no distribution %s", name);
}

reduct_type test_pick_result(struct rng *rng, reduct_operator op, reduct_type element) {
    reduct_type possible[TEST_MAX_TYPES];
    size_t count = 0;
    for (size_t i = 0; i < test_type_count; i++)
        if (oracle_has_result(op, element, test_types[i].type))
            possible[count++] = test_types[i].type;
    return rng_below(rng, 2) ? REDUCT_DEFAULT : possible[rng_below(rng, count)];
}
