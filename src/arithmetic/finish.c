/* From exact sums, and from products, to one rounding.
 *
 * Every finish is a rational number or the square root of one, formed in integers and cut to more leading bits than a
 * significand holds, with a sticky bit for the rest; so one rounding at the end is the rounding of the exact value. */
#include "arithmetic/finish.h"

#include <math.h>
#include <string.h>

/* Leading bits that a quotient keeps: more than the 53 + 2 that rounding needs, and twice as many under a root. */
enum { VALUE_BITS = 66, RADICAND_BITS = 128 };

/* n * sum of squares - (sum)^2, over n^2 or n * (n - 1): the variance as a quotient of integers, cut to so many bits. */
RD_LOCAL void variance(const struct rd_total *total, int bits) {
    struct rd_big *value = &total->room->value, *mean = &total->room->mean, *square = &total->room->square;
    uint64_t n = total->count;
    rd_big_from_sum(value, total->squares);
    rd_big_scale(value, n);
    rd_big_from_sum(mean, total->sum);
    rd_big_square(square, mean);
    rd_big_align(value, square);
    rd_big_subtract(value, square);
    const uint64_t divisor = total->population ? n : n - 1;
    if (n >> 16) {
        rd_big_divide(value, n, bits + 65); /* enough for the other divisor */
        rd_big_divide(value, divisor, bits);
    } else {
        rd_big_divide(value, n * divisor, bits);
    }
}

RD_LOCAL uint64_t infinity_bits(const struct rd_type *type) {
    return (uint64_t)(2 * type->max_exponent + 1) << (type->precision - 1);
}

RD_SHARED uint64_t rd_nan_bits(const struct rd_type *type) {
    return infinity_bits(type) | (uint64_t)1 << (type->precision - 2);
}

RD_LOCAL uint64_t sign_bit(const struct rd_type *type) {
    return (uint64_t)1 << (8 * type->bytes - 1);
}

RD_INLINED uint64_t rd_finish_float(const struct rd_total *total, const struct rd_type *type) {
    const enum rd_finish finish = total->finish;
    struct rd_big *value = &total->room->value;
    if (total->nans || (total->plus_infinities && total->minus_infinities))
        return rd_nan_bits(type);
    if (total->plus_infinities || total->minus_infinities)
        return infinity_bits(type) | (total->minus_infinities ? sign_bit(type) : 0);
    const bool negative = rd_big_from_sum(value, total->sum);
    if (finish == RD_MEAN || finish == RD_ROOT_MEAN)
        rd_big_divide(value, total->count, finish == RD_MEAN ? VALUE_BITS : RADICAND_BITS);
    if (finish == RD_ROOT || finish == RD_ROOT_MEAN)
        rd_big_root(value);
    const uint64_t bits = rd_big_round(value, negative, type); /* of zero +0 */
    bool signed_terms = total->transform == RD_IDENTITY || total->transform == RD_TIMES;
    if (!bits && total->is_float && signed_terms && !total->nonzero && total->count)
        return sign_bit(type);
    return bits;
}

RD_SHARED uint64_t rd_finish_moments(const struct rd_total *total, const struct rd_type *type) {
    struct rd_big *value = &total->room->value;
    if (total->nans || total->plus_infinities || total->minus_infinities)
        return rd_nan_bits(type);
    variance(total, total->finish == RD_VARIANCE ? VALUE_BITS : RADICAND_BITS);
    if (total->finish == RD_DEVIATION)
        rd_big_root(value);
    return rd_big_round(value, false, type);
}

RD_SHARED uint64_t rd_finish_quotient(const struct rd_total *total, const struct rd_type *type) {
    struct rd_big *value = &total->room->value, *divisor = &total->room->mean;
    const bool infinite = total->plus_infinities || total->minus_infinities;
    if (total->nans || (total->plus_infinities && total->minus_infinities))
        return rd_nan_bits(type);
    bool negative = rd_big_from_sum(value, total->squares);
    const bool over_negative = rd_big_from_sum(divisor, total->sum);
    if (!infinite && !value->length && !divisor->length)
        return rd_nan_bits(type);
    if (!infinite && !value->length) /* whose sign is that of a sum that is zero; integers have one zero */
        return total->is_float && (total->nonzero == over_negative) ? sign_bit(type) : 0;
    if (infinite)
        negative = total->minus_infinities;
    if (infinite || !divisor->length) /* a sum of weights that is zero is +0 here: some weight is not zero */
        return infinity_bits(type) | (negative != over_negative ? sign_bit(type) : 0);
    rd_big_quotient(value, divisor);
    return rd_big_round(value, negative != over_negative, type);
}

/* True if bits [from, 256) all equal `bit`. */
RD_LOCAL bool all_bits(const uint64_t word[4], int from, bool bit) {
    uint64_t expected = bit ? UINT64_MAX : 0, difference = 0;
    for (int i = from / 64; i < 4; i++)
        difference |= (word[i] ^ expected) >> (i == from / 64 ? from % 64 : 0);
    return !difference;
}

/* A magnitude and a sign to two's complement, in place; true if that fits `type`. */
RD_LOCAL bool to_integer(uint64_t word[4], bool negative, const struct rd_type *type) {
    bool carry = negative;
    for (int i = 0; i < 4 && negative; i++) {
        word[i] = ~word[i] + carry;
        carry = carry && !word[i];
    }
    return all_bits(word, type->precision, negative) && (type->kind == RD_SIGNED || !negative);
}

RD_INLINED bool rd_finish_integer(const struct rd_total *total, const struct rd_type *type, uint64_t word[4]) {
    struct rd_big *value = &total->room->value;
    bool negative = rd_big_from_sum(value, total->sum);
    rd_big_align_to(value, 0);
    for (int i = 0; i < 8; i++) {
        uint64_t digit = i < value->length ? value->digit[i] : 0;
        word[i / 2] = i & 1 ? word[i / 2] | digit << 32 : digit;
    }
    return to_integer(word, negative, type);
}

RD_SHARED bool rd_finish_whole(const struct rd_whole *whole, const struct rd_type *type, uint64_t word[4]) {
    memcpy(word, whole->magnitude, sizeof whole->magnitude);
    return to_integer(word, whole->negative, type) && !whole->overflow;
}

RD_SHARED uint64_t rd_finish_product(struct rd_product *product, uint64_t nans, const struct rd_type *type,
                                     struct rd_big *value) {
    uint64_t sign = product->negative ? sign_bit(type) : 0;
    if (nans || (product->zero && product->infinite))
        return rd_nan_bits(type);
    if (product->zero || product->infinite)
        return sign | (product->infinite ? infinity_bits(type) : 0);
    rd_product_value(product, value);
    return rd_big_round(value, product->negative, type);
}

/* Rounds a double into any floating-point type. */
RD_LOCAL uint64_t round_double(double x, const struct rd_type *type, struct rd_big *value) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bool negative = bits >> 63;
    int field = (int)(bits >> 52) & 0x7ff;
    uint64_t significand = bits & 0xfffffffffffff;
    if (type->precision == 53 && field != 0x7ff)
        return bits;
    if (field == 0x7ff)
        return significand ? rd_nan_bits(type) : infinity_bits(type) | (negative ? sign_bit(type) : 0);
    significand |= (uint64_t)(field != 0) << 52;
    value->exponent = (field ? field : 1) - 1075;
    value->sticky = false;
    value->digit[0] = (uint32_t)significand;
    value->digit[1] = (uint32_t)(significand >> 32);
    value->length = value->digit[1] ? 2 : value->digit[0] != 0;
    return rd_big_round(value, negative, type);
}

/* sqrt() is correctly rounded in IEEE 754, and an instruction wherever that matters. Of nothing +0, where there is a
 * result at all. */
RD_LOCAL double fast_value(enum rd_finish finish, bool population, uint64_t count, double high, double low) {
    double n = (double)count, value = low == 0 || !isfinite(high) ? high : high + low;
    double variance = (isnan(high) ? high : low) / (population ? n : n - 1);
    if (count == 0)
        return 0;
    switch (finish) {
    case RD_MEAN:
        return value / n;
    case RD_ROOT:
        return sqrt(value);
    case RD_ROOT_MEAN:
        return sqrt(value / n);
    case RD_VARIANCE:
        return variance;
    case RD_DEVIATION:
        return sqrt(variance);
    case RD_VALUE:
    case RD_INDEX:
    case RD_RANGE:
    case RD_QUOTIENT:
        break;
    }
    return value;
}

RD_SHARED uint64_t rd_finish_fast(const struct rd_total *total, const struct rd_type *type) {
    double value = fast_value(total->finish, total->population, total->count, total->high, total->low);
    return round_double(value, type, &total->room->value);
}
