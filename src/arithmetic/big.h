/* Non-negative numbers of any size that rounding needs: a run of 32-bit digits times a power of two, and a sticky bit
 * that stands for something lost below. Just the operations that finish a reduction: products, differences, a quotient
 * and a root of as many leading bits as one rounding can see. */
#ifndef RD_BIG_H
#define RD_BIG_H

#include "arithmetic/limbs.h"

/* n * sum of squares, and the square of a sum: 134 digits + 4 of a count, aligned to each other. */
enum { RD_DIGITS = RD_LIMBS + 8 };

struct rd_big {
    int exponent; /* of bit 0 of digit 0 */
    int length;   /* digits in use; the last is not zero */
    bool sticky;  /* the number is larger than the digits say, by less than one of their last place */
    uint32_t digit[RD_DIGITS];
};

/* |sum|; returns true where the sum is negative. The sum is normalised on the way. */
RD_SHARED bool rd_big_from_sum(struct rd_big *big, struct rd_sum *sum);

/* Gives two numbers, neither sticky, the same exponent: the lower one. Exponents must differ by whole digits. */
RD_SHARED void rd_big_align(struct rd_big *a, struct rd_big *b);

/* Gives a number that is not sticky the exponent 0, from which its own differs by whole digits upwards. */
RD_SHARED void rd_big_align_to(struct rd_big *a, int exponent);

/* a * b for a number and a machine word pair, in place. */
RD_SHARED void rd_big_scale(struct rd_big *a, rd_u128 b);

/* a * a. */
RD_SHARED void rd_big_square(struct rd_big *square, const struct rd_big *a);

/* a - b, in place; a >= b, of the same exponent, and neither sticky. */
RD_SHARED void rd_big_subtract(struct rd_big *a, const struct rd_big *b);

/* a / divisor in place: at least `bits` leading bits, the rest as sticky. */
RD_SHARED void rd_big_divide(struct rd_big *a, uint64_t divisor, int bits);

/* a / b in place, neither of them zero or sticky: at least 65 leading bits, the rest as sticky. b is used up. */
RD_SHARED void rd_big_quotient(struct rd_big *a, struct rd_big *b);

/* The square root of a in place: 64 leading bits, the rest as sticky. */
RD_SHARED void rd_big_root(struct rd_big *a);

/* Rounds to nearest, ties to even, into a floating-point type: its bit pattern. Overflow gives infinity. A sticky
 * number must have more bits than the type's significand by two. */
RD_SHARED uint64_t rd_big_round(const struct rd_big *a, bool negative, const struct rd_type *type);

#endif
