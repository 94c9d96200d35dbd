/* Products: one tree for every device.
 *
 * A product of floats is formed from significands alone, in binary64, each multiplication correctly rounded to 53 bits;
 * exponents are added as integers and signs by parity, so nothing over- or underflows before the end. Which significands
 * meet is defined by the number of factors alone:
 *
 *   - the factors are cut into blocks of 4096 in their order;
 *   - in a block, lane l = 0 ... 63 multiplies factors l, l + 64, l + 128 and so on, in this order;
 *   - then lane l is multiplied by lane l + 32 for l < 32, by lane l + 16 for l < 16, and so on down to lane 0;
 *   - then the products of blocks are combined as an aligned binary tree: at each level the pairs (2k, 2k + 1), an
 *     unpaired last one passing up as it is.
 *
 * A multiplication by 1 does not round, so whatever is missing is 1: the lanes of a block that is not full, NaNs that
 * are ignored, and zeros, infinities and NaNs, which are kept apart because they decide the result by themselves. Scaling
 * by powers of two does not change how a significand is rounded, so a device may bring lanes back to [1, 2) after each
 * multiplication or after 64 of them, and gets the same bits.
 *
 * What a device delivers are the products of whole aligned subtrees (struct rd_factor, rd_product_push); the elements
 * before the first and after the last of them go through rd_product_add. The order must be that of the data.
 *
 * Products of integers are exact in up to 256 bits; beyond, only that and their sign are known.
 */
#ifndef RD_PRODUCT_H
#define RD_PRODUCT_H

#include "core/tables.h"
#include "arithmetic/big.h"

/* Blocks of one level more than there are bits to count them would be more elements than can be counted. */
enum { RD_PRODUCT_LANES = 64, RD_PRODUCT_BLOCK = 4096, RD_PRODUCT_LEVELS = 64 - 12 };

/* The product of some factors that stand together in the tree. */
struct rd_factor {
    double significand; /* in [1, 2) */
    int64_t exponent;   /* significand * 2^exponent is the product of the factors that are finite and not zero, */
    bool negative;      /* with this sign, which the others have a part in, but NaNs have not */
    bool zero, infinite;
};

struct rd_product {
    bool negative;                 /* an odd number of factors was */
    bool zero, infinite;           /* there was such a factor */
    uint64_t count;                /* factors so far, NaNs included */
    rd_i128 exponent;              /* the sum of all exponents */
    double lane[RD_PRODUCT_LANES]; /* of the block that is not full yet, in [1, 2) */
    double
        subtree[RD_PRODUCT_LEVELS]; /* at level k the product of 2^k blocks, in [1, 2), if bit k of the number of full
                                          blocks is set; otherwise 0 */
};

/* No factors: 1. All functions here multiply, so they run within rd_environment_enter(). */
RD_SHARED void rd_product_init(struct rd_product *product);

/* Multiplies by elements of a floating-point type one by one, of any value and from any place in the tree on. NaNs count as 1;
 * returns how many there were. */
RD_SHARED uint64_t rd_product_add(struct rd_product *product, reduct_type element, const void *x, uint64_t count);

/* Multiplies the lanes of one block, normal numbers, together: factor->significand; their exponents and signs are added
 * to those of `factor`. The lanes are used up. */
RD_SHARED void rd_product_close(double lane[RD_PRODUCT_LANES], struct rd_factor *factor);

/* Multiplies by the product of the 2^level blocks that follow; the count so far must be a multiple of as many. A last
 * block that is not full may be pushed with what is missing as 1, where nothing comes after it. */
RD_SHARED void rd_product_push(struct rd_product *product, const struct rd_factor *factor, unsigned level);

/* The product of the factors so far as one factor; their count must be 2^level blocks. */
RD_SHARED struct rd_factor rd_product_factor(const struct rd_product *product, unsigned level);

/* The count that `product` must have a multiple of, so that appending `other` gives the tree of a single pass: the
 * largest subtree of `other`, 1 where there is none. */
RD_SHARED uint64_t rd_product_alignment(const struct rd_product *other);

/* Appends the factors of `other`, another object; `product` must be empty or aligned for it. */
RD_SHARED void rd_product_append(struct rd_product *product, const struct rd_product *other);

/* The product of the factors that are finite and not zero, in 53 bits: its magnitude. The lanes are used up. */
RD_SHARED void rd_product_value(struct rd_product *product, struct rd_big *value);

/* ---------------------------------------------------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------------------------------------------------ */

/* An exact product. Zero wins over everything: it is not negative and has not overflowed. */
struct rd_whole {
    uint64_t magnitude[4]; /* modulo 2^256; zero where that is not wanted after an overflow */
    bool negative;
    bool overflow; /* the magnitude is 2^256 or more */
};

RD_LOCAL inline bool rd_whole_is_zero(const struct rd_whole *w) {
    return !w->overflow && !(w->magnitude[0] | w->magnitude[1] | w->magnitude[2] | w->magnitude[3]);
}

/* a * b into a. `wrap`: the words matter even after an overflow. */
RD_SHARED void rd_whole_multiply(struct rd_whole *a, const struct rd_whole *b, bool wrap);

#endif
