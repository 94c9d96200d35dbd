/* The part of the oracle that multiplies; see oracle.h. */
#ifndef REDUCT_TESTS_ORACLE_PRODUCT_H
#define REDUCT_TESTS_ORACLE_PRODUCT_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORACLE_LANES = 64 };

/* significand * 2^exponent, the significand of 53 bits once it has been read. */
struct oracle_factor {
    uint64_t significand;
    int64_t exponent;
};

enum oracle_special { ORACLE_SPECIAL_NONE, ORACLE_SPECIAL_ZERO, ORACLE_SPECIAL_INFINITY, ORACLE_SPECIAL_NAN };

struct oracle_product {
    uint64_t count; /* factors read, NaNs included */
    bool negative, zero, infinite;
    struct oracle_factor lane[ORACLE_LANES];
    struct oracle_factor *block; /* of the blocks that are full */
    size_t blocks, room;
    mpz_t magnitude; /* of integers, modulo 2^256 */
    bool huge;       /* it was more */
};

void oracle_product_init(struct oracle_product *product);
void oracle_product_clear(struct oracle_product *product);
void oracle_product_start(struct oracle_product *product);

/* One float: what is special has no place in the tree but counts. */
void oracle_product_read(struct oracle_product *product, const struct oracle_factor *factor, bool negative,
                         enum oracle_special special);

/* The product of the factors that are not special: its magnitude. */
struct oracle_factor oracle_product_value(const struct oracle_product *product);

/* One integer; and as if all had been read twice. */
void oracle_product_read_integer(struct oracle_product *product, uint64_t magnitude, bool negative);
void oracle_product_square(struct oracle_product *product);

#endif
