/* Part of template.h: products of floats (arithmetic/product.h).
 *
 * Exponents are taken off as integers, and what remains, in [1, 2) with its sign, is multiplied on. Wherever they are
 * taken the exponent fields' extremes are noted: 0 or 0x7ff among them mean that something was not a normal number. */

/* A row of 64 lanes is so many vectors, and so many rows of f32, and of what is narrower, can be multiplied as they are, from a lane in [1, 2)
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

static bool multiply_f64(const void *x, size_t after, struct rd_factor *factor) {
    const size_t ahead = bytes_ahead(after);
    doubles product[ROW];
    struct taken taken = {{0}, (words){0} + 1, (words){0} + 1};
    const char *at = x;
    for (int j = 0; j < ROW; j++)
        product[j] = (doubles){0} + 1;
    for (int row = 0; row < ROWS; row++)
#pragma GCC unroll 32
        for (int j = 0; j < ROW; j++, at += VECTOR_BYTES) {
            doubles element;
            memcpy(&element, at, sizeof element);
            if (j * VECTOR_BYTES % 64 == 0)
                READ_AHEAD(at, ahead);
            take_exponents(&taken, &element);
            product[j] *= element; /* below 2^64 after all rows */
        }
    return close_block(&taken, product, RD_PRODUCT_BLOCK, factor);
}

ALWAYS_INLINE bool multiply_narrow(const void *x, size_t after, reduct_type element, struct rd_factor *factor) {
    const size_t bytes = size_of(element), ahead = bytes_ahead(after);
    doubles product[ROW];
    struct taken taken = {{0}, (words){0} + 1, (words){0} + 1};
    const char *at = x;
    for (int j = 0; j < ROW; j++)
        product[j] = (doubles){0} + 1;
    for (int row = 0; row < ROWS; row += RAW_ROWS, at += (RAW_ROWS - 1) * RD_PRODUCT_LANES * bytes)
#pragma GCC unroll 32
        for (size_t j = 0; j < ROW; j++, at += IN_VECTOR * bytes) {
#pragma GCC unroll 4
            for (size_t raw = 0; raw < RAW_ROWS; raw++) {
                if (j * IN_VECTOR * bytes % 64 == 0)
                    READ_AHEAD(at + raw * RD_PRODUCT_LANES * bytes, ahead);
                product[j] *= load_doubles(at + raw * RD_PRODUCT_LANES * bytes, element);
            }
            take_exponents(&taken, &product[j]);
        }
    return close_block(&taken, product, RD_PRODUCT_BLOCK / RAW_ROWS, factor);
}

#define MULTIPLY_NARROW(name, element)                                                                                 \
    static bool multiply_##name(const void *x, size_t after, struct rd_factor *factor) {                               \
        return multiply_narrow(x, after, element, factor);                                                             \
    }
MULTIPLY_NARROW(f32, REDUCT_F32)
MULTIPLY_NARROW(f16, REDUCT_F16)
MULTIPLY_NARROW(bf16, REDUCT_BF16)
