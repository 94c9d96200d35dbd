/* Part of template.h: products of integers (arithmetic/product.h). */

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

static void multiply_bool(struct rd_whole *whole, const void *x, size_t count, bool wrap) {
    struct rd_whole all = {.magnitude = {count_true(x, x, count) == count}};
    rd_whole_multiply(whole, &all, wrap);
}
