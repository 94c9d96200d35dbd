/* The oracle: what a reduction must give, bit for bit, worked out with GMP and none of the library's code.
 *
 * It reads an array once, slowly and plainly: every number is taken apart into integers, the sums are integers in units
 * of the smallest positive number of the element type (2^-1074 for f64), extremes are found by comparing one by one.
 * A result is a ratio of integers, or the root of one, rounded once. test_oracle.c checks it against MPFR.
 *
 * From the survival list: "Oracles, independent of our code".
 */
#ifndef REDUCT_TESTS_ORACLE_H
#define REDUCT_TESTS_ORACLE_H

#include <gmp.h>
#include <reduct/reduct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle_product.h"

/* One number taken apart. Finite: (negative ? -1 : 1) * significand * 2^exponent units. */
struct oracle_number {
    enum { ORACLE_FINITE, ORACLE_INFINITE, ORACLE_NAN } kind;
    bool negative;
    uint64_t magnitude; /* the bits without the sign; orders numbers of one sign and type */
    uint64_t significand;
    unsigned exponent;
};

/* Everything that any reduction of one array (or pair of arrays) could need. */
struct oracle {
    reduct_type element;
    uint64_t elements; /* read, NaNs included */
    uint64_t nans;     /* elements, or pairs with an element, that are NaN */
    uint64_t first_nan;
    uint64_t nan_terms; /* 0 * infinity */
    uint64_t positive_infinities, negative_infinities;
    uint64_t not_negative_zero; /* terms other than -0 */
    int unit;                   /* sum and absolute are in units of 2^unit, squares in units of 2^(2 * unit) */
    mpz_t sum, absolute, squares;
    mpz_t weights; /* only for pairs: the sum of the second array, in units of 2^(unit / 2) */
    uint64_t positive_weights, negative_weights,
        not_negative_zero_weights;        /* of these the infinities, and those other than -0 */
    uint64_t zeros;                       /* elements; only for single arrays */
    uint64_t and_bits, or_bits, xor_bits; /* of all elements' bits; only for single arrays */
    struct oracle_product product;        /* only for single arrays */
    /* Of the elements that are not NaN, if any; only for single arrays. */
    struct oracle_number least, greatest, largest;
    uint64_t least_index, greatest_index;
    bool pairs;
    void *bins;
};

/* What a call must give. `bytes` beyond `size` are what they were: ORACLE_UNTOUCHED. */
enum { ORACLE_UNTOUCHED = 0xA5, ORACLE_RESULT_BYTES = 32 };
struct oracle_result {
    reduct_status status;
    uint64_t index; /* of the first NaN, for REDUCT_ERROR_NAN */
    size_t size;
    unsigned char bytes[ORACLE_RESULT_BYTES];
};

void oracle_init(struct oracle *oracle);
void oracle_clear(struct oracle *oracle);

/* Forgets what was read; then reads `count` elements of `x`, or the pairs of `x` and `y` where `y` is not null. */
void oracle_read(struct oracle *oracle, reduct_type element, const void *x, const void *y, uint64_t count);

/* Reads more of the same array or pair of arrays. */
void oracle_read_more(struct oracle *oracle, const void *x, const void *y, uint64_t count);

/* As if all that was read had been read 2^doublings times over; not for the product of floats, which depends on order. */
void oracle_repeat(struct oracle *oracle, unsigned doublings);

/* What `reduction` (its result type resolved, its mode exact) gives for what was read. A dot and a weighted mean need pairs, all
 * others a single array. */
struct oracle_result oracle_expect(const struct oracle *oracle, const reduct_reduction *reduction);

/* The result type that REDUCT_DEFAULT stands for, and whether the operator has a result type: the tables of the public header,
 * written out once more. Where the operator means nothing for such elements the default is REDUCT_DEFAULT. */
reduct_type oracle_default_result(reduct_operator op, reduct_type element);
bool oracle_has_result(reduct_operator op, reduct_type element, reduct_type result);
bool oracle_has(reduct_operator op, reduct_type element);

/* Arrays that an operator reads; bytes of a result. */
unsigned oracle_inputs(reduct_operator op);
size_t oracle_result_size(const reduct_reduction *reduction);

/* The pieces, for tests of their own. */
struct oracle_number oracle_decode(reduct_type type, const void *array, uint64_t index);
/* (negative ? -1 : 1) * 2^exponent * numerator / denominator, or with `root` the square root of that, rounded to a
 * floating-point type, ties to even; the bits of the result. */
uint64_t oracle_round(reduct_type type, bool negative, const mpz_t numerator, const mpz_t denominator, long exponent,
                      bool root);
size_t oracle_type_size(reduct_type type);

/* `size` bytes in hex, most significant first, into `text` (2 * size + 3 characters). Returns `text`. */
char *oracle_hex(char *text, const void *bytes, size_t size);

#endif
