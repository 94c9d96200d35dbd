/* Products: the tree over blocks, single elements, and integers. */
#include "arithmetic/product.h"

#include "arithmetic/element.h"

#include <string.h>

#if !defined(__CUDACC__) && __FLT_EVAL_METHOD__ != 0
#error "products need double arithmetic in double precision: compile with -msse2 -mfpmath=sse or the like"
#endif

#define FRACTION (((uint64_t)1 << 52) - 1)
#define ONE      ((uint64_t)1023 << 52) /* bits of 1.0 */

RD_SHARED void rd_product_init(struct rd_product *product) {
    memset(product, 0, sizeof *product);
    for (int l = 0; l < RD_PRODUCT_LANES; l++)
        product->lane[l] = 1;
}

/* Of a number that is not zero. */
RD_LOCAL int leading_zeros64(uint64_t x) {
#ifdef __CUDA_ARCH__
    return __clzll((long long)x);
#else
    return __builtin_clzll(x);
#endif
}

RD_LOCAL uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

RD_LOCAL double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The significand of a normal number, without its sign; its exponent is added. */
RD_LOCAL double take_exponent(double x, int64_t *exponent) {
    uint64_t bits = bits_of(x);
    *exponent += (int64_t)(bits >> 52 & 0x7ff) - 1023;
    return from_bits((bits & FRACTION) | ONE);
}

/* a * b for significands, brought back to [1, 2). */
RD_LOCAL double multiply(double a, double b, int64_t *exponent) {
    return take_exponent(a * b, exponent);
}

/* The significand of a subnormal number that is not zero, by its fraction; its exponent is added. */
RD_LOCAL double take_subnormal(uint64_t fraction, int64_t *exponent) {
    int zeros = leading_zeros64(fraction); /* 12 where only the hidden bit is missing */
    *exponent += -1022 - (zeros - 11);
    return from_bits((fraction << (zeros - 11) & FRACTION) | ONE);
}

/* Multiplies one lane by one finite or infinite number. */
RD_LOCAL void add_number(struct rd_product *product, double *lane, double x, int64_t *exponent) {
    uint64_t bits = bits_of(x), fraction = bits & FRACTION;
    unsigned field = (unsigned)(bits >> 52) & 0x7ff;
    product->negative ^= bits >> 63;
    if (field == 0x7ff) {
        product->infinite = true;
    } else if (field) {
        *exponent += (int)field - 1023;
        *lane = multiply(*lane, from_bits(fraction | ONE), exponent);
    } else if (fraction) {
        *lane = multiply(*lane, take_subnormal(fraction, exponent), exponent);
    } else {
        product->zero = true;
    }
}

/* A subtree of a level below is complete: combines it with its neighbour to the left while there is one. */
RD_LOCAL void carry(struct rd_product *product, double subtree, unsigned level, int64_t *exponent) {
    for (; product->subtree[level] != 0; level++) {
        subtree = multiply(product->subtree[level], subtree, exponent);
        product->subtree[level] = 0;
    }
    product->subtree[level] = subtree;
}

RD_SHARED void rd_product_close(double lane[RD_PRODUCT_LANES], struct rd_factor *factor) {
    for (int l = 0; l < RD_PRODUCT_LANES; l++) {
        factor->negative ^= bits_of(lane[l]) >> 63;
        lane[l] = take_exponent(lane[l], &factor->exponent);
    }
    for (int half = RD_PRODUCT_LANES / 2; half; half /= 2) /* 64 significands in all: below 2^64 */
        for (int l = 0; l < half; l++)
            lane[l] *= lane[l + half];
    factor->significand = take_exponent(lane[0], &factor->exponent);
}

/* The block is full: its product goes into the tree. */
RD_LOCAL void end_block(struct rd_product *product) {
    struct rd_factor block = {1, 0, false, false, false};
    rd_product_close(product->lane, &block);
    carry(product, block.significand, 0, &block.exponent);
    product->exponent += block.exponent;
    for (int l = 0; l < RD_PRODUCT_LANES; l++)
        product->lane[l] = 1;
}

RD_SHARED uint64_t rd_product_add(struct rd_product *product, reduct_type element, const void *x, uint64_t count) {
    uint64_t nans = 0;
    for (uint64_t i = 0; i < count; i++) {
        int64_t exponent = 0;
        double value = rd_element_value(element, x, i);
        if (value == value)
            add_number(product, &product->lane[product->count % RD_PRODUCT_LANES], value, &exponent);
        else
            nans++;
        product->exponent += exponent;
        if (++product->count % RD_PRODUCT_BLOCK == 0)
            end_block(product);
    }
    return nans;
}

RD_SHARED void rd_product_push(struct rd_product *product, const struct rd_factor *factor, unsigned level) {
    int64_t exponent = 0;
    carry(product, factor->significand, level, &exponent);
    product->exponent += (rd_i128)factor->exponent + exponent;
    product->negative ^= factor->negative;
    product->zero |= factor->zero;
    product->infinite |= factor->infinite;
    product->count += (uint64_t)RD_PRODUCT_BLOCK << level;
}

RD_SHARED struct rd_factor rd_product_factor(const struct rd_product *product, unsigned level) {
    struct rd_factor factor;
    factor.significand = product->subtree[level];
    factor.exponent = (int64_t)product->exponent;
    factor.negative = product->negative;
    factor.zero = product->zero;
    factor.infinite = product->infinite;
    return factor;
}

RD_SHARED uint64_t rd_product_alignment(const struct rd_product *other) {
    if (!other->count)
        return 1;
    uint64_t blocks = other->count / RD_PRODUCT_BLOCK;
    unsigned level = blocks ? 63 - (unsigned)leading_zeros64(blocks) : 0;
    return (uint64_t)RD_PRODUCT_BLOCK << level;
}

RD_SHARED void rd_product_append(struct rd_product *product, const struct rd_product *other) {
    int64_t exponent = 0;
    if (!other->count)
        return;
    for (unsigned level = RD_PRODUCT_LEVELS; level-- > 0;) /* the largest first: each finds its place aligned */
        if (other->subtree[level] != 0)
            carry(product, other->subtree[level], level, &exponent);
    memcpy(product->lane, other->lane, sizeof product->lane);
    product->exponent += other->exponent + exponent;
    product->negative ^= other->negative;
    product->zero |= other->zero;
    product->infinite |= other->infinite;
    product->count += other->count;
}

RD_SHARED void rd_product_value(struct rd_product *product, struct rd_big *value) {
    struct rd_factor rest = {1, 0, false, false, false};
    int64_t shift = 0;
    if (product->count % RD_PRODUCT_BLOCK)
        rd_product_close(product->lane, &rest);
    for (unsigned level = 0; level < RD_PRODUCT_LEVELS; level++) /* an unpaired last one passes up */
        if (product->subtree[level] != 0)
            rest.significand = multiply(product->subtree[level], rest.significand, &shift);
    rd_i128 exponent = product->exponent + rest.exponent + shift;
    int far = 1 << 16; /* beyond every format: infinity or zero */
    uint64_t significand = (bits_of(rest.significand) & FRACTION) | (FRACTION + 1);
    value->exponent = (exponent > far ? far : exponent < -far ? -far : (int)exponent) - 52;
    value->sticky = false;
    value->length = 2;
    value->digit[0] = (uint32_t)significand;
    value->digit[1] = (uint32_t)(significand >> 32);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* a * b modulo 2^256 into a; true if that is all of it. */
RD_LOCAL bool multiply_words(uint64_t a[4], const uint64_t b[4]) {
    uint64_t product[8] = {0};
    for (int i = 0; i < 4; i++) {
        uint64_t high = 0;
        for (int j = 0; j < 4; j++) {
            rd_u128 v = (rd_u128)a[i] * b[j] + product[i + j] + high;
            product[i + j] = (uint64_t)v;
            high = (uint64_t)(v >> 64);
        }
        product[i + 4] = high;
    }
    memcpy(a, product, 4 * sizeof *a);
    return !(product[4] | product[5] | product[6] | product[7]);
}

RD_SHARED void rd_whole_multiply(struct rd_whole *a, const struct rd_whole *b, bool wrap) {
    bool zero = rd_whole_is_zero(a) || rd_whole_is_zero(b);
    bool overflow = a->overflow || b->overflow;
    overflow |= !multiply_words(a->magnitude, b->magnitude);
    a->negative = a->negative != b->negative && !zero;
    a->overflow = overflow && !zero;
    if (zero || (overflow && !wrap))
        memset(a->magnitude, 0, sizeof a->magnitude);
}
