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
