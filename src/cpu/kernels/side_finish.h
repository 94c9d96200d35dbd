/* Part of template.h: results of sums side by side (side.h), all lanes at once. Sums, and means of them, are rounded from
 * what lanes hold, which is exact. Roots, variances and what is made of several sums are computed as pairs of doubles with a
 * bound of their error, and rounded where all that lies within the bound rounds alike: A. Ziv, "Fast evaluation of
 * elementary mathematical functions with correctly rounded last bit", 1991. What does not is left to the ordinary way.
 * Arithmetic of pairs: T. J. Dekker, "A floating-point technique for extending the available precision", 1971. */

/* SIDE_FMA(a, b, c): a * b + c rounded once; GCC makes single operations of a loop of these. */
#if defined(__AVX512F__)
#define SIDE_FMA(a, b, c) (side_vector) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define SIDE_SQRT(a)      (side_vector) _mm512_sqrt_pd((__m512d)(a))
#elif defined(__AVX2__)
#define SIDE_FMA(a, b, c) (side_vector) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#define SIDE_SQRT(a)      (side_vector) _mm256_sqrt_pd((__m256d)(a))
#else
ALWAYS_INLINE side_vector side_fma(side_vector a, side_vector b, side_vector c) {
    for (size_t l = 0; l < SIDE_LANES; l++)
        c[l] = __builtin_fma(a[l], b[l], c[l]);
    return c;
}
ALWAYS_INLINE side_vector side_sqrt(side_vector a) {
    for (size_t l = 0; l < SIDE_LANES; l++)
        a[l] = __builtin_sqrt(a[l]);
    return a;
}
#define SIDE_FMA(a, b, c) side_fma(a, b, c)
#define SIDE_SQRT(a)      side_sqrt(a)
#endif

/* high + low rounded to odd: a double that rounds to a float as the sum does. S. Boldo, G. Melquiond, "Emulation of a FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", 2008. */
ALWAYS_INLINE side_vector add_to_odd(side_vector high, side_vector low) {
    side_vector error, sum = side_add(high, low, &error);
    const side_bits bits = (side_bits)sum, off = (error != 0) & ((bits & 1) == 0), away = (error > 0) ^ (sum > 0);
    return (side_vector)(bits + (off & (1 | away))); /* towards the error: one more, or one less */
}

ALWAYS_INLINE void store_rounded(side_vector value, bool single, void *to) {
    if (single) {
        side_floats narrow = __builtin_convertvector(value, side_floats);
        memcpy(to, &narrow, sizeof narrow);
    } else {
        memcpy(to, &value, sizeof value);
    }
}

/* high + low, or high alone, rounded once, to doubles or (single) floats at `to`. The sign of a zero is that of high, of
 * which each term had a part. Where the result is not 0 something is about to overflow, or is not finite. */
ALWAYS_INLINE side_bits round_pairs(side_vector high, side_vector low, bool alone, bool single, void *to) {
    const side_bits magnitude = (side_bits)high & INT64_MAX, zero = (high == 0) & (low == 0);
    const side_bits sum = (side_bits)(single ? add_to_odd(high, low) : high + low);
    store_rounded(alone ? high : (side_vector)((zero & (side_bits)high) | (~zero & sum)), single, to);
    return magnitude >= (int64_t)0x7e70000000000000;
}

static bool has_any(side_bits lanes) {
    int64_t some = 0;
    for (size_t l = 0; l < SIDE_LANES; l++)
        some |= lanes[l];
    return some;
}

/* Puts a quotient and what is left of it for high + low: (high + low) / n, where what is left is so small that only its
 * sign and its size beside the quotient's last bit matter. The remainder of a division is exact where nothing under- or
 * overflows. Where the result is not 0 that is not so, or what is left is off by as much as may change how the two are
 * rounded; it is not where it is exact, as in a tie. */
ALWAYS_INLINE side_bits divide_pairs(side_vector *high, side_vector *low, side_vector n, bool single) {
    const side_bits sign = (side_bits){0} + INT64_MIN, zero = (*high == 0) & (*low == 0);
    side_vector error, lost;
    *low = (side_vector)((zero & (side_bits)*high) | (~zero & (side_bits)*low)); /* the sum takes its sign */
    const side_bits large = ((side_bits)*high & ~sign) >= (int64_t)(1023 + 1000) << 52;
    const side_vector sum = side_add(*high, *low, &error), quotient = sum / n;
    const side_vector left = side_add(SIDE_FMA(-quotient, n, sum), error, &lost), rest = left / n;
    const side_bits exact = (lost == 0) & (SIDE_FMA(-rest, n, left) == 0), size = (side_bits)quotient & ~sign;
    const side_vector margin = (side_vector)((side_bits)rest & ~sign & ~exact) * 0x1p-50;
    const side_bits usual = (size > (int64_t)(1023 - 900) << 52) & (size < (int64_t)(1023 + 900) << 52);
    const side_bits none = sum == 0;
    side_bits odd = large | ~((none & (error == 0)) | (~none & usual));
    if (!single)
        odd |= quotient + (rest + margin) != quotient + (rest - margin);
    *high = quotient;
    *low = rest;
    return odd;
}

/* `left` is 0 for lanes that lost nothing and were rounded, and the result is whether it is for all. `count`: what they are divided by,
 * or null. */
ALWAYS_INLINE bool round_lanes(const struct rd_side *side, const double *count, bool single, unsigned char *to,
                               int64_t *left) {
    const size_t bytes = single ? sizeof(float) : sizeof(double);
    side_bits any = {0};
    for (size_t at = 0; at < RD_SIDE; at += SIDE_LANES) {
        side_bits lost = *(const side_bits *)(side->lost + at) != 0;
        side_vector high = *(const side_vector *)(side->high + at), low = *(const side_vector *)(side->low + at);
        if (count)
            lost |= divide_pairs(&high, &low, *(const side_vector *)(count + at), single);
        lost |= round_pairs(high, low, false, single, to + at * bytes);
        any |= lost;
        *(side_bits *)(left + at) = lost;
    }
    return !has_any(any);
}

static bool round_side(const struct rd_side *side, const double *count, bool single, void *to, int64_t *left) {
    return !count   ? single ? round_lanes(side, NULL, true, to, left) : round_lanes(side, NULL, false, to, left)
             : single ? round_lanes(side, count, true, to, left)
                    : round_lanes(side, count, false, to, left);
}

/* Sums as integers become sums of two doubles: the lowest 52 bits, which are not negative, and what is above them, where that is
 * below 2^51 in absolute value. Added to the bits of 2^52 or of 1.5 * 2^52, these are the bits of the two sums. */
static void hold_side(const int64_t *high, const int64_t *low, int bits, double unit, struct rd_side *side) {
    enum { DIGIT = 52 };
    const double upper_unit = unit * 0x1p52;
    const int64_t of_low = ((int64_t)1 << bits) - 1, of_high = ((int64_t)1 << (DIGIT - bits)) - 1;
    for (size_t at = 0; at < RD_SIDE; at += SIDE_LANES) {
        const side_bits second = *(const side_bits *)(low + at),
                        first = *(const side_bits *)(high + at) + (second >> bits);
        const side_bits lower = (second & of_low) | (first & of_high) << bits, upper = first >> (DIGIT - bits);
        const side_vector lowest = (side_vector)(lower + ((int64_t)(1023 + DIGIT) << DIGIT)),
                          above = (side_vector)(upper + ((int64_t)(2 * (1023 + DIGIT) + 1) << (DIGIT - 1)));
        *(side_vector *)(side->high + at) = (above - 0x1.8p52) * upper_unit;
        *(side_vector *)(side->low + at) = (lowest - 0x1p52) * unit;
        *(side_bits *)(side->lost + at) = (upper + ((int64_t)1 << (DIGIT - 1))) >> DIGIT;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Pairs
 * ------------------------------------------------------------------------------------------------------------------ */

/* high + low, off by at most `off`; |low| is at most half a unit in the last place of high. */
struct side_pair {
    side_vector high, low, off;
};

/* Of each operation the error is below 2^-101 of its operands; four times that is counted. */
#define PAIR_ERROR 0x1p-99

ALWAYS_INLINE side_vector side_magnitude(side_vector a) {
    return (side_vector)((side_bits)a & INT64_MAX);
}

ALWAYS_INLINE struct side_pair exact_pair(side_vector a, side_vector b) {
    struct side_pair pair;
    pair.high = side_add(a, b, &pair.low);
    pair.off = (side_vector){0};
    return pair;
}

/* What a lane of sums holds. */
ALWAYS_INLINE struct side_pair held_pair(const struct rd_side *side, size_t at) {
    return exact_pair(*(const side_vector *)(side->high + at), *(const side_vector *)(side->low + at));
}

ALWAYS_INLINE struct side_pair add_pairs(struct side_pair a, struct side_pair b) {
    side_vector error, high = side_add(a.high, b.high, &error);
    struct side_pair sum = exact_pair(high, error + (a.low + b.low));
    sum.off = a.off + b.off + (side_magnitude(a.high) + side_magnitude(b.high)) * PAIR_ERROR;
    return sum;
}

ALWAYS_INLINE struct side_pair multiply_pairs(struct side_pair a, struct side_pair b) {
    const side_vector high = a.high * b.high, size = side_magnitude(high);
    struct side_pair product = exact_pair(high, SIDE_FMA(a.high, b.high, -high) + (a.high * b.low + a.low * b.high));
    product.off = side_magnitude(a.high) * b.off + side_magnitude(b.high) * a.off + a.off * b.off + size * PAIR_ERROR;
    return product;
}

ALWAYS_INLINE struct side_pair divide_pair(struct side_pair a, side_vector n) {
    const side_vector quotient = a.high / n;
    struct side_pair result = exact_pair(quotient, (SIDE_FMA(-quotient, n, a.high) + a.low) / n);
    result.off = a.off / n + side_magnitude(quotient) * PAIR_ERROR;
    return result;
}

/* Of a positive number. The slope of the root is 1 / (2 root): twice that is counted. */
ALWAYS_INLINE struct side_pair root_pair(struct side_pair a) {
    const side_vector root = SIDE_SQRT(a.high);
    struct side_pair result = exact_pair(root, (SIDE_FMA(-root, root, a.high) + a.low) / (root + root));
    result.off = a.off / root + root * PAIR_ERROR;
    return result;
}

ALWAYS_INLINE side_vector narrowed(side_vector a) {
    return __builtin_convertvector(__builtin_convertvector(a, side_floats), side_vector);
}

/* Stores it rounded; not 0 where that is not certain. `zero`: where it is 0 for sure. What rounds to 0 is +0, but with
 * `signs` not certain. */
ALWAYS_INLINE side_bits round_pair(struct side_pair a, side_bits zero, bool signs, bool single, void *to) {
    const side_vector least = a.low - a.off, most = a.low + a.off;
    const side_vector one = single ? narrowed(add_to_odd(a.high, least)) : a.high + least,
                      other = single ? narrowed(add_to_odd(a.high, most)) : a.high + most;
    const side_bits nothing = one == 0;
    store_rounded((side_vector)((side_bits)one & ~(zero | nothing)), single, to);
    return (~zero & ~(side_bits)(one == other)) | (signs ? nothing : (side_bits){0}); /* NaNs are not equal */
}

/* What lanes number `at` and so on come to; `zero` as above. Not 0 where numbers are too large or too small for pairs. */
ALWAYS_INLINE side_bits finish_pairs(const struct rd_side_finish *how, size_t at, struct side_pair *result,
                                     side_bits *zero) {
    const side_vector n = *(const side_vector *)(how->count + at);
    struct side_pair sum = add_pairs(held_pair(how->products, at), held_pair(how->errors, at));
    side_bits size = (side_bits)sum.high & INT64_MAX, none = sum.high == 0;
    side_bits odd = ~none & ((size < (int64_t)(1023 - 600) << 52) | (size > (int64_t)(1023 + 600) << 52));
    const bool spreads = how->finish == RD_VARIANCE || how->finish == RD_DEVIATION;
    if (spreads) {
        const struct side_pair terms = held_pair(how->terms, at), whole = {n, {0}, {0}};
        struct side_pair square = multiply_pairs(terms, terms);
        square.high = -square.high;
        square.low = -square.low;
        sum = divide_pair(add_pairs(multiply_pairs(whole, sum), square), n * *(const side_vector *)(how->freedom + at));
    } else if (how->finish == RD_MEAN || how->finish == RD_ROOT_MEAN) {
        sum = divide_pair(sum, n);
    }
    if (how->finish == RD_ROOT || how->finish == RD_ROOT_MEAN || how->finish == RD_DEVIATION) {
        odd |= ~none & ~(side_bits)(sum.high > 0);
        sum = root_pair(sum);
    }
    *result = sum;
    *zero = none;
    return odd;
}

ALWAYS_INLINE bool finish_lanes(const struct rd_side_finish *how, bool single, unsigned char *to, int64_t *left) {
    const size_t bytes = single ? sizeof(float) : sizeof(double);
    side_bits any = {0};
    for (size_t at = 0; at < RD_SIDE; at += SIDE_LANES) {
        struct side_pair result;
        side_bits zero, lost = *(const side_bits *)(how->products->lost + at) |
                               *(const side_bits *)(how->errors->lost + at) |
                               *(const side_bits *)(how->terms->lost + at);
        lost = (lost != 0) | finish_pairs(how, at, &result, &zero);
        lost |= round_pair(result, how->signs ? (side_bits){0} : zero, how->signs, single, to + at * bytes);
        any |= lost;
        *(side_bits *)(left + at) = lost;
    }
    return !has_any(any);
}

static bool finish_side(const struct rd_side_finish *how, bool single, void *to, int64_t *left) {
    return single ? finish_lanes(how, true, to, left) : finish_lanes(how, false, to, left);
}
