/* Part of template.h: fast sums. Lane j takes elements j, j + lanes, j + 2 lanes ..., the lanes are added pairwise: the same for
 * every instruction set, hence the same bits. */

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

/* Halves as floats. What is left of a vector is done one by one. */
#define TO_FLOATS(name, element)                                                                                       \
    static void to_floats_##name(const void *x, size_t count, float *to) {                                             \
        const char *at = x;                                                                                            \
        size_t i = 0;                                                                                                  \
        for (; i + IN_VECTOR <= count; i += IN_VECTOR) {                                                               \
            floats v = load_floats(at + i * size_of(element), element);                                                \
            memcpy(to + i, &v, sizeof v);                                                                              \
        }                                                                                                              \
        for (; i < count; i++)                                                                                         \
            to[i] = (float)rd_element_value(element, x, i);                                                            \
    }
TO_FLOATS(f16, REDUCT_F16)
TO_FLOATS(bf16, REDUCT_BF16)
