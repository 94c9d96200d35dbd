/* Part of template.h: exact sums of many short results side by side. Each lane of a vector sums another one. Beside template.h's
 * parameters a set defines:
 *
 *   SIDE_BYTES          of a vector
 *   SIDE_MINUS(a, b)    a - b of vectors; where multiply-adds have units of their own, by one of these
 *
 * A lane holds its sum as high + low. An addition to high leaves a rounding error, which is added to low; what that addition leaves must
 * be nothing, or the lane is lost, and its elements are reduced in another way. So no bound on the elements has to be known: data
 * whose exponents differ by up to some fifty fit, and an infinity or a NaN loses its lane. The error of an addition: D. E. Knuth, The Art
 * of Computer Programming, volume 2, section 4.2.2. */
typedef double side_vector __attribute__((vector_size(SIDE_BYTES)));
typedef int64_t side_bits __attribute__((vector_size(SIDE_BYTES)));

enum { SIDE_LANES = SIDE_BYTES / 8, SIDE_GROUP = 4, SIDE_STEP = SIDE_LANES * SIDE_GROUP };
_Static_assert(RD_SIDE % SIDE_STEP == 0, "groups make up a row");

/* a + b rounded; what is missing goes to `error`. */
static inline __attribute__((always_inline)) side_vector side_add(side_vector a, side_vector b, side_vector *error) {
    side_vector sum = a + b, part = SIDE_MINUS(sum, a);
    *error = SIDE_MINUS(a, sum - part) + SIDE_MINUS(b, part);
    return sum;
}

/* RD_SIDE elements in each of `rows` rows, `step` elements from one to the next. */
#define SIDE_ADDER(name, T, LOAD)                                                                                      \
    static void add_side_##name(struct rd_side *side, const void *from, ptrdiff_t step, size_t rows, bool absolute) {  \
        const side_bits magnitude = (side_bits){0} + INT64_MAX, all = (side_bits){0} - 1;                              \
        const side_bits mask = absolute ? magnitude : all;                                                             \
        for (size_t at = 0; at < RD_SIDE; at += SIDE_STEP) {                                                           \
            side_vector high[SIDE_GROUP], low[SIDE_GROUP];                                                             \
            side_bits lost[SIDE_GROUP];                                                                                \
            const T *x = (const T *)from + at;                                                                         \
            memcpy(high, side->high + at, sizeof high);                                                                \
            memcpy(low, side->low + at, sizeof low);                                                                   \
            memcpy(lost, side->lost + at, sizeof lost);                                                                \
            for (size_t row = 0; row < rows; row++, x += step) {                                                       \
                _Pragma("GCC unroll 4") for (int j = 0; j < SIDE_GROUP; j++) {                                         \
                    side_vector v = (side_vector)((side_bits)LOAD(x + j * SIDE_LANES) & mask), error, rest;            \
                    high[j] = side_add(high[j], v, &error);                                                            \
                    low[j] = side_add(low[j], error, &rest);                                                           \
                    lost[j] |= (side_bits)rest; /* +0 where nothing is lost */                                         \
                }                                                                                                      \
            }                                                                                                          \
            memcpy(side->high + at, high, sizeof high);                                                                \
            memcpy(side->low + at, low, sizeof low);                                                                   \
            memcpy(side->lost + at, lost, sizeof lost);                                                                \
        }                                                                                                              \
    }

typedef double side_doubles __attribute__((vector_size(SIDE_BYTES), aligned(8), may_alias));
typedef float side_floats __attribute__((vector_size(SIDE_BYTES / 2), aligned(4), may_alias));
#define LOAD_DOUBLES(at) (*(const side_doubles *)(at))
#define LOAD_FLOATS(at)  (side_vector) WIDEN(*(const side_floats *)(at))
SIDE_ADDER(f64, double, LOAD_DOUBLES)
SIDE_ADDER(f32, float, LOAD_FLOATS)

/* Rows of `count` elements, `step` elements from one to the next, or their absolute values, each as 2 * SIDE_LANES doubles of the same
 * sum; `lost` as in rd_side. What a vector has beyond the row is filled up with -0, which adds nothing. */
#define SIDE_FOLDER(name, T, LOAD)                                                                                     \
    static void fold_side_##name(const void *from, ptrdiff_t step, size_t rows, size_t count, bool absolute,           \
                                 double *to, int64_t *lost) {                                                          \
        const side_bits magnitude = (side_bits){0} + INT64_MAX, all = (side_bits){0} - 1;                              \
        const side_bits mask = absolute ? magnitude : all;                                                             \
        const T *x = from;                                                                                             \
        for (size_t row = 0; row < rows; row++, x += step, to += 2 * SIDE_LANES) {                                     \
            side_vector high = -(side_vector){0}, low = {0}, error, rest;                                              \
            side_bits all_lost = {0};                                                                                  \
            size_t i = 0;                                                                                              \
            for (; i + SIDE_LANES <= count; i += SIDE_LANES) {                                                         \
                high = side_add(high, (side_vector)((side_bits)LOAD(x + i) & mask), &error);                           \
                low = side_add(low, error, &rest);                                                                     \
                all_lost |= (side_bits)rest;                                                                           \
            }                                                                                                          \
            if (i < count) {                                                                                           \
                T last[SIDE_LANES];                                                                                    \
                for (size_t l = 0; l < SIDE_LANES; l++)                                                                \
                    last[l] = i + l < count ? x[i + l] : (T)-0.0;                                                      \
                high = side_add(high, (side_vector)((side_bits)LOAD(last) & mask), &error);                            \
                low = side_add(low, error, &rest);                                                                     \
                all_lost |= (side_bits)rest;                                                                           \
            }                                                                                                          \
            *(side_vector *)to = high;                                                                                 \
            *(side_bits *)(to + SIDE_LANES) = (side_bits)low | ((low == 0) & INT64_MIN); /* zeros as -0, too */        \
            for (size_t l = 0; l < SIDE_LANES; l++)                                                                    \
                lost[row] |= all_lost[l];                                                                              \
        }                                                                                                              \
    }
SIDE_FOLDER(f64, double, LOAD_DOUBLES)
SIDE_FOLDER(f32, float, LOAD_FLOATS)

/* high + low, or high alone, rounded once, to doubles or (single) floats at `to`. The sign of a zero is that of high, of which each term had a part. Where the
 * result is not 0 something is about to overflow, or is not finite. To floats by way of rounding to odd: S. Boldo, G. Melquiond, "Emulation
 * of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008. */
ALWAYS_INLINE side_bits round_pairs(side_vector high, side_vector low, bool alone, bool single, void *to) {
    const side_bits magnitude = (side_bits)high & INT64_MAX, zero = (high == 0) & (low == 0);
    side_vector sum = high + low, error;
    side_bits bits = (side_bits)sum;
    if (single && !alone) {
        sum = side_add(high, low, &error);
        side_bits off = (error != 0) & ((bits & 1) == 0), away = (error > 0) ^ (sum > 0);
        bits += off & (1 | away); /* towards the error: one more, or one less */
    }
    bits = alone ? (side_bits)high : (zero & (side_bits)high) | (~zero & bits);
    if (single) {
        side_floats narrow = __builtin_convertvector((side_vector)bits, side_floats);
        memcpy(to, &narrow, sizeof narrow);
    } else {
        memcpy(to, &bits, sizeof bits);
    }
    return magnitude >= (int64_t)0x7e70000000000000;
}

static bool has_any(side_bits lanes) {
    int64_t some = 0;
    for (size_t l = 0; l < SIDE_LANES; l++)
        some |= lanes[l];
    return some;
}

/* Puts a quotient and what is left of it for high + low: (high + low) / count, where what is left is so small that only its sign and its size
 * beside the quotient's last bit matter. The remainder of a division is exact where nothing under- or overflows. Where the result is not 0
 * that is not so, or what is left is off by as much as may change how the two are rounded; it is not where it is exact, as in a tie. */
ALWAYS_INLINE side_bits divide_pairs(side_vector *high, side_vector *low, double count, bool single) {
    const side_bits sign = (side_bits){0} + INT64_MIN, zero = (*high == 0) & (*low == 0);
    const side_vector n = (side_vector){0} + count;
    side_vector error, lost, remainder, rest_left;
    *low = (side_vector)((zero & (side_bits)*high) | (~zero & (side_bits)*low)); /* the sum takes its sign */
    const side_bits large = ((side_bits)*high & ~sign) >= (int64_t)(1023 + 1000) << 52;
    const side_vector sum = side_add(*high, *low, &error), quotient = sum / n;
    for (size_t l = 0; l < SIDE_LANES; l++)
        remainder[l] = __builtin_fma(-quotient[l], n[l], sum[l]);
    const side_vector left = side_add(remainder, error, &lost), rest = left / n;
    for (size_t l = 0; l < SIDE_LANES; l++)
        rest_left[l] = __builtin_fma(-rest[l], n[l], left[l]);
    const side_bits exact = (lost == 0) & (rest_left == 0), size = (side_bits)quotient & ~sign;
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
 * or 0. */
ALWAYS_INLINE bool round_lanes(const struct rd_side *side, double count, bool single, unsigned char *to,
                               int64_t *left) {
    const size_t bytes = single ? sizeof(float) : sizeof(double);
    side_bits any = {0};
    for (size_t at = 0; at < RD_SIDE; at += SIDE_LANES) {
        side_bits lost = *(const side_bits *)(side->lost + at) != 0;
        side_vector high = *(const side_vector *)(side->high + at), low = *(const side_vector *)(side->low + at);
        if (count != 0)
            lost |= divide_pairs(&high, &low, count, single);
        lost |= round_pairs(high, low, false, single, to + at * bytes);
        any |= lost;
        *(side_bits *)(left + at) = lost;
    }
    return !has_any(any);
}

static bool round_side(const struct rd_side *side, double count, bool single, void *to, int64_t *left) {
    return count == 0 ? single ? round_lanes(side, 0, true, to, left) : round_lanes(side, 0, false, to, left)
           : single ? round_lanes(side, count, true, to, left)
                      : round_lanes(side, count, false, to, left);
}

/* Elements as rows of RD_SIDE doubles: lane l of row i is x[i * step + l * beside]. Both steps are in elements. */
#define SIDE_FETCHERS(name, T)                                                                                         \
    static void fetch_side_##name(const void *from, ptrdiff_t step, ptrdiff_t beside, size_t rows, size_t lanes,       \
                                  double *to) {                                                                        \
        const T *x = from;                                                                                             \
        if (beside == 1 && lanes == RD_SIDE) {                                                                         \
            for (size_t i = 0; i < rows; i++, x += step)                                                               \
                for (size_t l = 0; l < RD_SIDE; l++)                                                                   \
                    to[i * RD_SIDE + l] = x[l];                                                                        \
        } else if (step == 1) {                                                                                        \
            for (size_t l = 0; l < lanes; l++, x += beside)                                                            \
                for (size_t i = 0; i < rows; i++)                                                                      \
                    to[i * RD_SIDE + l] = x[i];                                                                        \
        } else {                                                                                                       \
            for (size_t i = 0; i < rows; i++, x += step)                                                               \
                for (size_t l = 0; l < lanes; l++)                                                                     \
                    to[i * RD_SIDE + l] = x[(ptrdiff_t)l * beside];                                                    \
        }                                                                                                              \
    }
SIDE_FETCHERS(f64, double)
SIDE_FETCHERS(f32, float)
