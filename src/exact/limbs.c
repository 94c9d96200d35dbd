/* Adding to exact sums. */
#include "exact/limbs.h"

#include <string.h>

/* Limbs grow by less than 2^33 per addition; normalising after 2^29 of them keeps each below 2^62. */
enum { PENDING_MAX = 1 << 29 };

void rd_sum_init(struct rd_sum *sum, reduct_type element, bool products) {
    const struct rd_type *type = rd_type(element);
    int first = 0, last; /* limbs that single terms reach */
    if (type->class == RD_FLOAT) {
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

void rd_sum_normalise(struct rd_sum *sum) {
    int64_t carry = 0;
    for (int i = 0; i < sum->length - 1; i++) {
        int64_t v = sum->limb[i] + carry;
        sum->limb[i] = v & 0xffffffff;
        carry = v >> 32;
    }
    sum->limb[sum->length - 1] += carry;
    sum->pending = 0;
}

/* Adds value * 2^bit, bit counted from the lowest one of the layout; the pieces beyond the last limb are zero or, for a
 * negative value, are the sign that the last limb holds. */
static void add_at(struct rd_sum *sum, uint64_t value, int bit) {
    int i = bit >> 5, shift = bit & 31;
    rd_u128 wide = (rd_u128)value << shift;
    for (; wide; wide >>= 32, i++)
        sum->limb[i] += (int64_t)((uint64_t)wide & 0xffffffff);
}

static void subtract_at(struct rd_sum *sum, uint64_t value, int bit) {
    int i = bit >> 5, shift = bit & 31;
    rd_u128 wide = (rd_u128)value << shift;
    for (; wide; wide >>= 32, i++)
        sum->limb[i] -= (int64_t)((uint64_t)wide & 0xffffffff);
}

void rd_sum_add(struct rd_sum *sum, rd_i128 value, int exponent) {
    int bit = exponent - 32 * sum->first;
    rd_u128 magnitude = value < 0 ? -(rd_u128)value : (rd_u128)value;
    if (bit < 0) {
        magnitude = -bit < 128 ? magnitude >> -bit : 0;
        bit = 0;
    }
    void (*step)(struct rd_sum *, uint64_t, int) = value < 0 ? subtract_at : add_at;
    step(sum, (uint64_t)magnitude, bit);
    step(sum, (uint64_t)(magnitude >> 64), bit + 64);
    if (++sum->pending >= PENDING_MAX)
        rd_sum_normalise(sum);
}

/* The significand of a finite x, with its sign; *exponent is that of its lowest bit. */
static int64_t decode(double x, int *exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int field = (int)(bits >> 52) & 0x7ff;
    int64_t significand = (int64_t)(bits & 0xfffffffffffff);
    if (field)
        significand |= (int64_t)1 << 52;
    *exponent = (field ? field : 1) - 1075;
    return bits >> 63 ? -significand : significand;
}

void rd_sum_add_double(struct rd_sum *sum, double x, int exponent) {
    int own;
    int64_t significand = decode(x, &own);
    rd_sum_add(sum, significand, own + exponent);
}

void rd_sum_add_product(struct rd_sum *sum, double x, double y) {
    int ex, ey;
    rd_i128 product = (rd_i128)decode(x, &ex) * decode(y, &ey);
    rd_sum_add(sum, product, ex + ey);
}

void rd_sum_merge(struct rd_sum *sum, const struct rd_sum *other) {
    struct rd_sum copy = *other; /* also where other == sum */
    rd_sum_normalise(&copy);
    rd_sum_normalise(sum);
    for (int i = 0; i < sum->length; i++)
        sum->limb[i] += copy.limb[i];
    rd_sum_normalise(sum);
}
