/* The oracle's products: the tree that docs/numerics.md describes, followed word for word. Significands are integers of 53
 * bits, multiplied in 128 and rounded by looking at what falls off; the products of blocks are kept in a list and
 * combined level by level at the end. */
#include "oracle_product.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 unsigned_wide;

enum { BLOCK = 4096, PRECISION = 53 };

static const struct oracle_factor one = {(uint64_t)1 << (PRECISION - 1), 1 - PRECISION};

/* The product of two factors, rounded to 53 bits, ties to even. */
static struct oracle_factor multiply(struct oracle_factor a, struct oracle_factor b) {
    const unsigned_wide exact = (unsigned_wide)a.significand * b.significand; /* 105 or 106 bits */
    const int drop = exact >> (2 * PRECISION - 1) ? PRECISION : PRECISION - 1;
    const unsigned_wide rest = exact & (((unsigned_wide)1 << drop) - 1), half = (unsigned_wide)1 << (drop - 1);
    struct oracle_factor product = {(uint64_t)(exact >> drop), a.exponent + b.exponent + drop};
    if (rest > half || (rest == half && product.significand & 1))
        product.significand++;
    if (product.significand >> PRECISION) {
        product.significand >>= 1;
        product.exponent++;
    }
    return product;
}

void oracle_product_start(struct oracle_product *product) {
    product->count = product->blocks = 0;
    product->negative = product->zero = product->infinite = product->huge = false;
    for (int l = 0; l < ORACLE_LANES; l++)
        product->lane[l] = one;
    mpz_set_ui(product->magnitude, 1);
}

void oracle_product_init(struct oracle_product *product) {
    memset(product, 0, sizeof *product);
    mpz_init(product->magnitude);
    oracle_product_start(product);
}

void oracle_product_clear(struct oracle_product *product) {
    mpz_clear(product->magnitude);
    free(product->block);
}

/* The lanes of a block together. */
static struct oracle_factor block_product(const struct oracle_product *product) {
    struct oracle_factor lane[ORACLE_LANES];
    memcpy(lane, product->lane, sizeof lane);
    for (int half = ORACLE_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] = multiply(lane[l], lane[l + half]);
    return lane[0];
}

static void end_block(struct oracle_product *product) {
    if (product->blocks == product->room) {
        product->room = product->room ? 2 * product->room : 64;
        product->block = realloc(product->block, product->room * sizeof *product->block);
        if (!product->block)
            abort();
    }
    product->block[product->blocks++] = block_product(product);
    for (int l = 0; l < ORACLE_LANES; l++)
        product->lane[l] = one;
}

void oracle_product_read(struct oracle_product *product, const struct oracle_factor *factor, bool negative,
                         enum oracle_special special) {
    struct oracle_factor *lane = &product->lane[product->count % ORACLE_LANES];
    product->negative ^= negative;
    product->zero |= special == ORACLE_SPECIAL_ZERO;
    product->infinite |= special == ORACLE_SPECIAL_INFINITY;
    if (special == ORACLE_SPECIAL_NONE) {
        struct oracle_factor wide = *factor;
        for (; !(wide.significand >> (PRECISION - 1)); wide.significand <<= 1)
            wide.exponent--;
        *lane = multiply(*lane, wide);
    }
    if (++product->count % BLOCK == 0)
        end_block(product);
}

struct oracle_factor oracle_product_value(const struct oracle_product *product) {
    size_t left = product->blocks + (product->count % BLOCK != 0);
    if (!left)
        return one;
    struct oracle_factor *level = malloc(left * sizeof *level);
    if (!level)
        abort();
    if (product->blocks)
        memcpy(level, product->block, product->blocks * sizeof *level);
    if (product->count % BLOCK)
        level[product->blocks] = block_product(product);
    for (; left > 1; left = (left + 1) / 2)
        for (size_t k = 0; 2 * k < left; k++)
            level[k] = 2 * k + 1 < left ? multiply(level[2 * k], level[2 * k + 1]) : level[2 * k];
    const struct oracle_factor value = level[0];
    free(level);
    return value;
}

static void cut(struct oracle_product *product) {
    if (mpz_sizeinbase(product->magnitude, 2) > 256)
        product->huge = true;
    mpz_fdiv_r_2exp(product->magnitude, product->magnitude, 256);
}

void oracle_product_read_integer(struct oracle_product *product, uint64_t magnitude, bool negative) {
    product->negative ^= negative;
    product->zero |= magnitude == 0;
    mpz_mul_ui(product->magnitude, product->magnitude, magnitude);
    cut(product);
}

void oracle_product_square(struct oracle_product *product) {
    product->negative = false;
    mpz_mul(product->magnitude, product->magnitude, product->magnitude);
    cut(product);
}
