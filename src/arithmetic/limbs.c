/* Adding to exact sums. */
#include "arithmetic/limbs.h"

#include <string.h>

/* Limbs grow by less than 2^33 per addition; normalising after 2^29 of them keeps each below 2^62. */
enum { PENDING_MAX = 1 << 29 };

RD_SHARED void rd_sum_init(struct rd_sum *sum, const struct rd_type *type, bool products) {
    int first = 0, last; /* limbs that single terms reach */
    if (type->kind == RD_FLOAT) {
        int lowest = 2 - type->max_exponent - type->precision; /* exponent of the smallest subnormal */
        first = -((31 - lowest) / 32);
        last = (type->max_exponent + 1 + 31) / 32;
    } else {
        last = 2;
    }
    if (products) {
        first *= 2;
        last *= 2;
    }
    sum->first = first;
    sum->length = last - first + 2; /* 63 bits for 2^63 terms, and the sign */
    sum->pending = 0;
    memset(sum->limb, 0, (size_t)sum->length * sizeof *sum->limb);
}

RD_SHARED void rd_sum_normalise(struct rd_sum *sum) {
    int64_t carry = 0;
    for (int i = 0; i < sum->length - 1; i++) {
        int64_t v = sum->limb[i] + carry;
        sum->limb[i] = v & 0xffffffff;
        carry = v >> 32;
    }
    sum->limb[sum->length - 1] += carry;
    sum->pending = 0;
}

/* Adds value * 2^bit, or subtracts it, bit counted from the lowest one of the layout. */
RD_LOCAL void add_at(struct rd_sum *sum, uint64_t value, bool negative, int bit) {
    int i = bit >> 5, shift = bit & 31;
    rd_u128 wide = (rd_u128)value << shift;
    for (; wide; wide >>= 32, i++) {
        int64_t digit = (int64_t)((uint64_t)wide & 0xffffffff);
        sum->limb[i] += negative ? -digit : digit;
    }
}

RD_SHARED void rd_sum_add(struct rd_sum *sum, rd_i128 value, int exponent) {
    int bit = exponent - 32 * sum->first;
    rd_u128 magnitude = value < 0 ? -(rd_u128)value : (rd_u128)value;
    if (bit < 0) {
        magnitude = -bit < 128 ? magnitude >> -bit : 0;
        bit = 0;
    }
    add_at(sum, (uint64_t)magnitude, value < 0, bit);
    add_at(sum, (uint64_t)(magnitude >> 64), value < 0, bit + 64);
    if (++sum->pending >= PENDING_MAX)
        rd_sum_normalise(sum);
}

/* The significand of a finite x, with its sign; *exponent is that of its lowest bit. */
RD_LOCAL int64_t decode(double x, int *exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int field = (int)(bits >> 52) & 0x7ff;
    int64_t significand = (int64_t)(bits & 0xfffffffffffff);
    if (field)
        significand |= (int64_t)1 << 52;
    *exponent = (field ? field : 1) - 1075;
    return bits >> 63 ? -significand : significand;
}

RD_SHARED void rd_sum_add_double(struct rd_sum *sum, double x, int exponent) {
    int own;
    int64_t significand = decode(x, &own);
    rd_sum_add(sum, significand, own + exponent);
}

RD_SHARED void rd_sum_add_product(struct rd_sum *sum, double x, double y) {
    int ex, ey;
    rd_i128 product = (rd_i128)decode(x, &ex) * decode(y, &ey);
    rd_sum_add(sum, product, ex + ey);
}

/* Zeros are left alone: threads that merge into one sum would wait for each other's cache lines. */
RD_LOCAL void add_limbs(struct rd_sum *sum, const struct rd_sum *other) {
    int64_t pending = sum->pending + other->pending + 1; /* limbs of two normalised sums grow as by one addition */
    for (int i = 0; i < sum->length; i++)
        if (other->limb[i])
            sum->limb[i] += other->limb[i];
    sum->pending = pending;
}

RD_SHARED void rd_sum_merge(struct rd_sum *sum, const struct rd_sum *other) {
    if (sum->pending + other->pending + 1 < PENDING_MAX) {
        add_limbs(sum, other);
        return;
    }
    struct rd_sum copy = *other; /* also where other == sum */
    rd_sum_normalise(&copy);
    rd_sum_normalise(sum);
    add_limbs(sum, &copy);
}
