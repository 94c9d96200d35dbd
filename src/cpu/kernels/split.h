/* Part of template.h: numbers as pairs of integers, for sums of groups.
 *
 * Adding 1.5 * 2^52 units to a number rounds it to a multiple of the unit, and the bits of the sum are those of the 1.5 * 2^52
 * units plus the number of units. What rounding left is cut once more by a smaller unit; if anything is left after that, the
 * number does not fit. */
typedef int64_t split_bits __attribute__((vector_size(VECTOR_BYTES)));

/* Two vectors as pairs of their lanes. */
#if VECTOR_BYTES == 64
#define PAIRS_LOW(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif VECTOR_BYTES == 32
#define PAIRS_LOW(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
#define PAIRS_LOW(a, b)  __builtin_shufflevector(a, b, 0, 2)
#define PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 1, 3)
#endif

ALWAYS_INLINE doubles term_of(const void *x, const void *y, enum rd_transform transform, reduct_type element) {
    doubles term = load_doubles(x, element);
    if (transform == RD_ABSOLUTE)
        term = (doubles)((split_bits)term & INT64_MAX);
    if (transform == RD_SQUARE)
        term *= term;
    if (transform == RD_TIMES)
        term *= load_doubles(y, element);
    return term;
}

/* What is known of the terms so far: all rests together, the largest absolute value, whether any is -0. */
struct split_state {
    doubles magic[2], largest;
    split_bits rests, minus_zeros;
};

ALWAYS_INLINE void split_vector(struct split_state *state, doubles term, int64_t (*pair)[2]) {
    const doubles size = (doubles)((split_bits)term & INT64_MAX);
    doubles high = term + state->magic[0], rest = term - (high - state->magic[0]), low = rest + state->magic[1];
    /* Of a number that does not fit they mean nothing: then there is a rest. */
    const split_bits first = (split_bits)((words)high - (words)state->magic[0]),
                     second = (split_bits)((words)low - (words)state->magic[1]), larger = size > state->largest;
    rest -= low - state->magic[1];
    state->rests |= (split_bits)rest;
    state->largest = (doubles)((larger & (split_bits)size) | (~larger & (split_bits)state->largest));
    state->minus_zeros |= (split_bits)term == INT64_MIN;
    const split_bits front = PAIRS_LOW(first, second), back = PAIRS_HIGH(first, second);
    memcpy(pair, &front, sizeof front);
    memcpy(pair + IN_VECTOR / 2, &back, sizeof back);
}

/* NaNs and infinities leave a rest that is NaN. */
ALWAYS_INLINE unsigned split_floats(const struct rd_slices *slices, enum rd_transform transform, reduct_type element,
                                    const void *x, const void *y, size_t count, int64_t (*pair)[2]) {
    struct split_state state = {.magic = {(doubles){0} + slices->magic[0], (doubles){0} + slices->magic[1]},
                                .largest = {0}};
    const char *at_x = x, *at_y = y;
    const size_t step = IN_VECTOR * size_of(element);
    size_t i = 0;
    for (; i + IN_VECTOR <= count; i += IN_VECTOR, at_x += step) {
        split_vector(&state, term_of(at_x, at_y, transform, element), pair + i);
        if (transform == RD_TIMES) /* of others it is null */
            at_y += step;
    }
    if (i < count) {
        _Alignas(64) char last[2][64] = {{0}};
        memcpy(last[0], at_x, (count - i) * size_of(element));
        if (transform == RD_TIMES)
            memcpy(last[1], at_y, (count - i) * size_of(element));
        split_vector(&state, term_of(last[0], last[1], transform, element), pair + i);
    }
    bool odd = false, minus_zero = false;
    for (int l = 0; l < IN_VECTOR; l++) {
        odd |= (uint64_t)state.rests[l] << 1 != 0 || !(state.largest[l] < slices->limit);
        minus_zero |= state.minus_zeros[l] != 0;
    }
    return (odd ? RD_SPLIT_ODD : 0) | (minus_zero ? RD_SPLIT_MINUS_ZERO : 0);
}

#define SPLITTER(name, element)                                                                                        \
    static unsigned split_##name(const struct rd_slices *slices, enum rd_transform transform, const void *x,           \
                                 const void *y, size_t count, int64_t(*pair)[2]) {                                     \
        switch ((int)transform) {                                                                                      \
        case RD_ABSOLUTE:                                                                                              \
            return split_floats(slices, RD_ABSOLUTE, element, x, y, count, pair);                                      \
        case RD_SQUARE:                                                                                                \
            return split_floats(slices, RD_SQUARE, element, x, y, count, pair);                                        \
        case RD_TIMES:                                                                                                 \
            return split_floats(slices, RD_TIMES, element, x, y, count, pair);                                         \
        default:                                                                                                       \
            return split_floats(slices, RD_IDENTITY, element, x, y, count, pair);                                      \
        }                                                                                                              \
    }
SPLITTER(f64, REDUCT_F64)
SPLITTER(f32, REDUCT_F32)
SPLITTER(f16, REDUCT_F16)
SPLITTER(bf16, REDUCT_BF16)

#define PUT_PAIRS(W, value)                                                                                            \
    for (size_t i = 0; i < count; i++) {                                                                               \
        W v = (value);                                                                                                 \
        pair[i][0] = (int64_t)(v >> 32);                                                                               \
        pair[i][1] = (int64_t)((uint64_t)v & 0xffffffff);                                                              \
    }                                                                                                                  \
    break

/* W: the 64-bit integer of the same sign; READ: of an element; SIZE: of its absolute value. */
#define INTEGER_SPLITTER(name, T, W, READ, SIZE)                                                                       \
    static unsigned split_##name(const struct rd_slices *slices, enum rd_transform transform, const void *of_x,        \
                                 const void *of_y, size_t count, int64_t(*pair)[2]) {                                  \
        const T *x = of_x, *y = of_y;                                                                                  \
        (void)slices;                                                                                                  \
        switch ((int)transform) {                                                                                      \
        case RD_ABSOLUTE:                                                                                              \
            PUT_PAIRS(uint64_t, SIZE(x[i]));                                                                           \
        case RD_SQUARE:                                                                                                \
            PUT_PAIRS(uint64_t, (uint64_t)(W)READ(x[i]) * (uint64_t)(W)READ(x[i]));                                    \
        case RD_TIMES:                                                                                                 \
            PUT_PAIRS(W, (W)((uint64_t)(W)READ(x[i]) * (uint64_t)(W)READ(y[i])));                                      \
        default:                                                                                                       \
            PUT_PAIRS(W, (W)READ(x[i]));                                                                               \
        }                                                                                                              \
        return 0;                                                                                                      \
    }
#define AS_IT_IS(v) (v)
#define AS_TRUTH(v) ((v) != 0)
#define SIZE_8(v)   ABSOLUTE(uint8_t, v)
#define SIZE_16(v)  ABSOLUTE(uint16_t, v)
#define SIZE_32(v)  ABSOLUTE(uint32_t, v)
#define SIZE_64(v)  ABSOLUTE(uint64_t, v)
INTEGER_SPLITTER(i8, int8_t, int64_t, AS_IT_IS, SIZE_8)
INTEGER_SPLITTER(i16, int16_t, int64_t, AS_IT_IS, SIZE_16)
INTEGER_SPLITTER(i32, int32_t, int64_t, AS_IT_IS, SIZE_32)
INTEGER_SPLITTER(i64, int64_t, int64_t, AS_IT_IS, SIZE_64)
INTEGER_SPLITTER(u8, uint8_t, uint64_t, AS_IT_IS, AS_IT_IS)
INTEGER_SPLITTER(u16, uint16_t, uint64_t, AS_IT_IS, AS_IT_IS)
INTEGER_SPLITTER(u32, uint32_t, uint64_t, AS_IT_IS, AS_IT_IS)
INTEGER_SPLITTER(u64, uint64_t, uint64_t, AS_IT_IS, AS_IT_IS)
INTEGER_SPLITTER(bool, uint8_t, uint64_t, AS_TRUTH, AS_TRUTH)

static uint32_t greatest_number(const uint32_t *x, size_t count) {
    uint32_t greatest = 0;
    for (size_t i = 0; i < count; i++)
        greatest = x[i] > greatest ? x[i] : greatest;
    return greatest;
}

static uint64_t narrow_numbers(const uint64_t *x, size_t count, uint32_t *to) {
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) {
        any |= x[i];
        to[i] = (uint32_t)x[i];
    }
    return any >> 32 ? UINT64_MAX : greatest_number(to, count);
}
