/* Non-negative numbers of any size. Everything here runs once per reduction, over the digits in use. */
#include "arithmetic/big.h"

#include <string.h>

/* Of a digit that is not zero. */
RD_LOCAL int leading_zeros(uint32_t digit) {
#ifdef __CUDA_ARCH__
    return __clz((int)digit);
#else
    return __builtin_clz(digit);
#endif
}

RD_LOCAL void trim(struct rd_big *a) {
    while (a->length && !a->digit[a->length - 1])
        a->length--;
}

/* Bits in use: 0 for zero. */
RD_LOCAL int bit_length(const struct rd_big *a) {
    return a->length ? 32 * a->length - leading_zeros(a->digit[a->length - 1]) : 0;
}

/* Bits [low, low + 64), those outside the number being zero. */
RD_LOCAL uint64_t bits_at(const struct rd_big *a, int low) {
    int first = low >= 0 ? low / 32 : -((31 - low) / 32);
    rd_u128 window = 0;
    for (int i = first + 2; i >= first; i--)
        window = window << 32 | (i >= 0 && i < a->length ? a->digit[i] : 0);
    return (uint64_t)(window >> (low - 32 * first));
}

/* True if any bit below `bit` is set, or lost. */
RD_LOCAL bool any_below(const struct rd_big *a, int bit) {
    if (bit <= 0)
        return a->sticky;
    int whole = bit >> 5 < a->length ? bit >> 5 : a->length;
    for (int i = 0; i < whole; i++)
        if (a->digit[i])
            return true;
    return a->sticky || (whole < a->length && a->digit[whole] & (((uint32_t)1 << (bit & 31)) - 1));
}

/* Keeps `keep` leading bits: shifts right, what falls off being sticky, or left. The exponent comes out even where
 * asked. */
RD_LOCAL void keep_bits(struct rd_big *a, int keep, bool even) {
    int shift = bit_length(a) - keep; /* > 0: to the right */
    if (even && (a->exponent + shift) & 1)
        shift--;
    uint64_t word[6];
    int words = (bit_length(a) - shift + 63) / 64;
    for (int i = 0; i < words; i++)
        word[i] = bits_at(a, shift + 64 * i);
    a->sticky = any_below(a, shift);
    a->exponent += shift;
    for (int i = 0; i < words; i++) {
        a->digit[2 * i] = (uint32_t)word[i];
        a->digit[2 * i + 1] = (uint32_t)(word[i] >> 32);
    }
    a->length = 2 * words;
    trim(a);
}

RD_SHARED bool rd_big_from_sum(struct rd_big *big, struct rd_sum *sum) {
    rd_sum_normalise(sum);
    bool negative = sum->limb[sum->length - 1] < 0;
    int top = sum->length - 1, low = 0, high = top; /* digits in use: the rest are zeros, or the sign */
    while (low < top && !sum->limb[low])
        low++;
    while (high > low && sum->limb[high] == (negative ? high == top ? -1 : (int64_t)0xffffffff : 0))
        high--;
    big->exponent = 32 * (sum->first + low);
    big->sticky = false;
    big->length = high - low + 2;
    uint64_t borrow = negative; /* two's complement negation, digit by digit; of zeros below it leaves zeros */
    for (int i = 0; i < big->length; i++) {
        int64_t limb = low + i < top ? sum->limb[low + i] : sum->limb[top] >> (low + i == top ? 0 : 32);
        uint64_t digit = (uint32_t)limb;
        if (negative) {
            digit = (uint32_t)~digit + borrow;
            borrow = digit >> 32;
        }
        big->digit[i] = (uint32_t)digit;
    }
    trim(big);
    return negative;
}

RD_SHARED void rd_big_align_to(struct rd_big *a, int exponent) {
    int shift = (a->exponent - exponent) / 32;
    if (shift <= 0 || !a->length)
        return;
    for (int i = a->length - 1; i >= 0; i--)
        a->digit[i + shift] = a->digit[i];
    for (int i = 0; i < shift; i++)
        a->digit[i] = 0;
    a->length += shift;
    a->exponent = exponent;
}

RD_SHARED void rd_big_align(struct rd_big *a, struct rd_big *b) {
    int lowest = a->exponent < b->exponent ? a->exponent : b->exponent;
    rd_big_align_to(a, lowest);
    rd_big_align_to(b, lowest);
}

/* From the last digit down: each is taken out, and its product added to what the digits above it have left. */
RD_SHARED void rd_big_scale(struct rd_big *a, rd_u128 b) {
    int length = a->length, factors = b >> 32 ? 4 : 1;
    for (int i = 0; i < factors; i++)
        a->digit[length + i] = 0;
    a->length += factors;
    for (int i = length - 1; i >= 0; i--) {
        uint64_t digit = a->digit[i], carry = 0;
        a->digit[i] = 0;
        for (int j = i; j < a->length && (j < i + factors || carry); j++) {
            uint32_t factor = j < i + factors ? (uint32_t)(b >> (32 * (j - i))) : 0;
            uint64_t v = digit * factor + a->digit[j] + carry;
            a->digit[j] = (uint32_t)v;
            carry = v >> 32;
        }
    }
    trim(a);
}

RD_SHARED void rd_big_square(struct rd_big *square, const struct rd_big *a) {
    square->exponent = 2 * a->exponent;
    square->sticky = false;
    square->length = 2 * a->length;
    memset(square->digit, 0, (size_t)square->length * sizeof *square->digit);
    for (int i = 0; i < a->length; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < a->length; j++) {
            uint64_t v = (uint64_t)a->digit[i] * a->digit[j] + square->digit[i + j] + carry;
            square->digit[i + j] = (uint32_t)v;
            carry = v >> 32;
        }
        square->digit[i + a->length] = (uint32_t)carry;
    }
    trim(square);
}

RD_SHARED void rd_big_subtract(struct rd_big *a, const struct rd_big *b) {
    int64_t borrow = 0;
    for (int i = 0; i < a->length; i++) {
        int64_t v = (int64_t)a->digit[i] - (i < b->length ? b->digit[i] : 0) + borrow;
        a->digit[i] = (uint32_t)v;
        borrow = v >> 32;
    }
    trim(a);
}

RD_SHARED void rd_big_divide(struct rd_big *a, uint64_t divisor, int bits) {
    if (!a->length)
        return;
    int divisor_bits = 0;
    for (uint64_t d = divisor; d; d >>= 1)
        divisor_bits++;
    /* With bits + divisor_bits + 1 bits of dividend the quotient has more than `bits`. What is dropped from the
     * dividend is less than one of its last place, so it cannot reach the quotient: it is sticky. */
    keep_bits(a, bits + divisor_bits + 1, false);
    uint64_t remainder = 0;
    for (int i = a->length - 1; i >= 0; i--) {
        if (!(divisor >> 32)) { /* the machine divides by one digit */
            uint64_t dividend = remainder << 32 | a->digit[i];
            a->digit[i] = (uint32_t)(dividend / divisor);
            remainder = dividend % divisor;
            continue;
        }
        uint32_t quotient = 0;
        for (int bit = 31; bit >= 0; bit--) {
            bool carry = remainder >> 63;
            remainder = remainder << 1 | (a->digit[i] >> bit & 1);
            quotient <<= 1;
            if (carry || remainder >= divisor) {
                remainder -= divisor;
                quotient |= 1;
            }
        }
        a->digit[i] = quotient;
    }
    a->sticky = a->sticky || remainder != 0;
    trim(a);
}

/* Gives a number so many digits: zeros below, or without the lowest ones, which are then sticky. */
RD_LOCAL void set_length(struct rd_big *a, int length) {
    int more = length - a->length; /* negative: fewer */
    a->sticky = a->sticky || (more < 0 && any_below(a, -32 * more));
    if (more > 0)
        for (int i = length - 1; i >= 0; i--)
            a->digit[i] = i >= more ? a->digit[i - more] : 0;
    else
        for (int i = 0; i < length; i++)
            a->digit[i] = a->digit[i - more];
    a->length = length;
    a->exponent -= 32 * more;
}

/* a * 2^bits for less than 32 bits, in one digit more. */
RD_LOCAL void shift_left(struct rd_big *a, int bits) {
    uint64_t carry = 0;
    for (int i = 0; i < a->length; i++) {
        carry |= (uint64_t)a->digit[i] << bits;
        a->digit[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a->digit[a->length++] = (uint32_t)carry;
    a->exponent -= bits;
}

/* a -= b * factor, b of n digits; returns what was borrowed beyond them. */
RD_LOCAL uint64_t subtract_multiple(uint32_t *a, const uint32_t *b, int n, uint64_t factor) {
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        uint64_t product = factor * b[i] + borrow;
        borrow = (product >> 32) + (a[i] < (uint32_t)product);
        a[i] -= (uint32_t)product;
    }
    return borrow;
}

/* One digit of a quotient: a, of n + 1 digits and less than b * 2^32, modulo b, of n digits, at least two, the highest bit set. The
 * digit is estimated from the leading digits, as at most one too large (D. E. Knuth, "The Art of Computer Programming", volume 2,
 * algorithm 4.3.1 D). */
RD_LOCAL uint32_t quotient_digit(uint32_t *a, const uint32_t *b, int n) {
    const uint64_t leading = (uint64_t)a[n] << 32 | a[n - 1];
    uint64_t digit = leading / b[n - 1], rest = leading % b[n - 1];
    while (rest >> 32 == 0 && (digit >> 32 || digit * b[n - 2] > (rest << 32 | a[n - 2]))) {
        digit--;
        rest += b[n - 1];
    }
    const uint64_t borrow = subtract_multiple(a, b, n, digit);
    const bool too_large = a[n] < borrow;
    uint64_t carry = 0;
    for (int i = 0; too_large && i < n; i++) {
        carry += (uint64_t)a[i] + b[i];
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a[n] = 0;
    return (uint32_t)(digit - too_large);
}

RD_SHARED void rd_big_quotient(struct rd_big *a, struct rd_big *b) {
    const int n = b->length, shift = leading_zeros(b->digit[n - 1]), exponent = b->exponent;
    uint32_t quotient[4];
    if (n <= 2) {
        rd_big_divide(a, n == 2 ? (uint64_t)b->digit[1] << 32 | b->digit[0] : b->digit[0], 65);
        a->exponent -= exponent;
        return;
    }
    set_length(a, n + 3); /* the quotient is then at least 2^(32 * (n + 2) - 32 * n) */
    shift_left(a, shift);
    shift_left(b, shift);
    for (int i = 3; i >= 0; i--)
        quotient[i] = quotient_digit(a->digit + i, b->digit, n);
    trim(a);
    a->sticky = a->sticky || a->length;
    a->exponent -= exponent - shift;
    a->length = 4;
    memcpy(a->digit, quotient, sizeof quotient);
    trim(a);
}

#ifndef __CUDA_ARCH__
/* The root of a number of 4 * half bits, the first or second of them set, rounded down, from that of its upper half: the lower
 * half of the root by one division (P. Zimmermann, "Karatsuba Square Root", 1999). */
RD_LOCAL uint64_t extend_root(uint64_t upper, uint64_t radicand, int half) {
    const uint64_t high = radicand >> (2 * half), next = radicand >> half & (((uint64_t)1 << half) - 1);
    const uint64_t root = (upper << half) + ((high - upper * upper) << half | next) / (2 * upper);
    return root - (root >> (2 * half) || root * root > radicand);
}
#endif

/* The root of a number of at least 2^62, rounded down: on a device the machine's, put right; on a host in integers, as
 * arithmetic on doubles would leave its marks in the caller's floating-point environment. */
RD_LOCAL uint32_t root_of_word(uint64_t radicand) {
#ifdef __CUDA_ARCH__
    uint64_t root = (uint64_t)sqrt((double)radicand);
    root -= root > UINT32_MAX || root * root > radicand;
    return (uint32_t)root;
#else
    uint64_t root = 0;
    for (uint64_t bit = 1 << 7; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= radicand >> 48)
            root += bit;
    return (uint32_t)extend_root(extend_root(root, radicand >> 32, 8), radicand, 16);
#endif
}

/* The root of a number of at least 2^126, rounded down, and whether it had to be: the upper half from the upper word, the
 * lower half by one division (P. Zimmermann, "Karatsuba Square Root", 1999). */
RD_LOCAL uint64_t root_of_words(rd_u128 radicand, bool *inexact) {
    const uint64_t high = (uint64_t)(radicand >> 64), low = (uint64_t)radicand, upper = root_of_word(high);
    /* (rest * 2^32 + next digit) / (2 * upper), halved so as to fit a word */
    uint64_t root = (upper << 32) + (((high - upper * upper) << 31) + (low >> 33)) / upper;
    if ((rd_i128)(radicand - (rd_u128)root * root) < 0 || root < upper << 32)
        root--;
    *inexact = (rd_u128)root * root != radicand;
    return root;
}

RD_SHARED void rd_big_root(struct rd_big *a) {
    if (!a->length)
        return;
    keep_bits(a, 127, true);
    rd_u128 radicand = 0;
    for (int i = 3; i >= 0; i--)
        radicand = radicand << 32 | a->digit[i];
    bool inexact;
    uint64_t root = root_of_words(radicand, &inexact);
    a->sticky = a->sticky || inexact;
    a->exponent /= 2;
    a->length = 2;
    a->digit[0] = (uint32_t)root;
    a->digit[1] = (uint32_t)(root >> 32);
}

RD_SHARED uint64_t rd_big_round(const struct rd_big *a, bool negative, const struct rd_type *type) {
    int precision = type->precision;
    uint64_t sign = (uint64_t)negative << (8 * type->bytes - 1);
    uint64_t infinity = (uint64_t)(2 * type->max_exponent + 1) << (precision - 1);
    int length = bit_length(a);
    if (!length)
        return sign;
    int lowest = 2 - type->max_exponent - precision; /* exponent of the last place of subnormals */
    int place = a->exponent + length - precision;    /* exponent of the last place kept */
    if (place < lowest)
        place = lowest;
    if (place + precision - 1 > type->max_exponent)
        return sign | infinity;
    int cut = place - a->exponent; /* bits dropped, negative where there are fewer than the significand holds */
    uint64_t significand = bits_at(a, cut) & (((uint64_t)1 << precision) - 1);
    bool half = cut > 0 && bits_at(a, cut - 1) & 1;
    if (half && (significand & 1 || any_below(a, cut - 1)))
        significand++;
    /* The hidden bit, and a carry out of the significand, both add one to the exponent field. Overflow gives infinity.
     */
    return sign | (((uint64_t)(place - lowest) << (precision - 1)) + significand);
}
