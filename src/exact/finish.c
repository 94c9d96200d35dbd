/* From exact sums to one rounding.
 *
 * Every finish is a rational number or the square root of one, formed in integers and cut to more leading bits than a
 * significand holds, with a sticky bit for the rest; so one rounding at the end is the rounding of the exact value. */
#include "exact/finish.h"

#include "exact/big.h"

/* Leading bits that a quotient keeps: more than the 53 + 2 that rounding needs, and twice as many under a root. */
enum { VALUE_BITS = 66, RADICAND_BITS = 134 };

/* n * sum of squares - (sum)^2, over n^2 or n * (n - 1): the variance as a quotient of integers. */
static void variance(struct rd_big *value, const struct rd_partial *partial, int bits) {
    rd_u128 n = rd_partial_count(partial);
    struct rd_sum sum = partial->sum;
    struct rd_sum squares = partial->squares;
    struct rd_big mean, square;
    rd_big_from_sum(value, &squares);
    rd_big_scale(value, n);
    rd_big_from_sum(&mean, &sum);
    rd_big_square(&square, &mean);
    rd_big_subtract(value, &square);
    bool population = partial->reduction.flags & REDUCT_POPULATION;
    rd_big_divide(value, population ? n * n : n * (n - 1), bits);
}

uint64_t rd_finish_float(const struct rd_partial *partial, const struct rd_type *type) {
    struct rd_sum sum = partial->sum;
    struct rd_big value;
    bool negative = false;
    enum rd_finish finish = rd_operator(partial->reduction.op)->finish;
    if (finish == RD_VARIANCE || finish == RD_DEVIATION)
        variance(&value, partial, finish == RD_VARIANCE ? VALUE_BITS : RADICAND_BITS);
    else
        negative = rd_big_from_sum(&value, &sum);
    if (finish == RD_MEAN || finish == RD_ROOT_MEAN)
        rd_big_divide(&value, rd_partial_count(partial), finish == RD_MEAN ? VALUE_BITS : RADICAND_BITS);
    if (finish == RD_ROOT || finish == RD_ROOT_MEAN || finish == RD_DEVIATION)
        rd_big_root(&value);
    return rd_big_round(&value, negative, type);
}

/* True if bits [from, 256) all equal `bit`. */
static bool all_bits(const uint64_t word[4], int from, bool bit) {
    uint64_t expected = bit ? UINT64_MAX : 0, difference = 0;
    for (int i = from / 64; i < 4; i++)
        difference |= (word[i] ^ expected) >> (i == from / 64 ? from % 64 : 0);
    return !difference;
}

bool rd_finish_integer(const struct rd_partial *partial, const struct rd_type *type, uint64_t word[4]) {
    struct rd_sum sum = partial->sum;
    struct rd_big value;
    bool negative = rd_big_from_sum(&value, &sum);
    uint64_t carry = negative; /* two's complement again */
    for (int i = 0; i < 8; i++) {
        uint32_t digit = i < value.length ? value.digit[i] : 0;
        uint64_t v = negative ? (uint64_t)(uint32_t)~digit + carry : digit;
        carry = v >> 32;
        word[i / 2] = i & 1 ? word[i / 2] | v << 32 : (uint32_t)v;
    }
    return all_bits(word, type->precision, negative) && (type->class == RD_SIGNED || !negative);
}
