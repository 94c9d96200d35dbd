#include "oracle.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* ---------------------------------------------------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------------------------------------------------ */

/* The types, written down here independently of the library's table. */
struct format {
    reduct_type type;
    int bits;
    int exponent_bits; /* floating point: width of the exponent field; integers: 0 */
    bool is_signed;
};

static const struct format formats[] = {
    {REDUCT_F64, 64, 11, true},  {REDUCT_F32, 32, 8, true},    {REDUCT_F16, 16, 5, true},   {REDUCT_BF16, 16, 8, true},
    {REDUCT_I8, 8, 0, true},     {REDUCT_I16, 16, 0, true},    {REDUCT_I32, 32, 0, true},   {REDUCT_I64, 64, 0, true},
    {REDUCT_U8, 8, 0, false},    {REDUCT_U16, 16, 0, false},   {REDUCT_U32, 32, 0, false},  {REDUCT_U64, 64, 0, false},
    {REDUCT_I128, 128, 0, true}, {REDUCT_U128, 128, 0, false}, {REDUCT_I256, 256, 0, true}, {REDUCT_BOOL, 8, 0, false},
};

static const struct format *format_of(reduct_type type) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].type == type)
            return &formats[i];
    abort();
}

static bool is_float(const struct format *format) {
    return format->exponent_bits != 0;
}

/* Significand bits, the hidden one included. */
static int precision_of(const struct format *format) {
    return format->bits - format->exponent_bits;
}

/* Exponent of the largest finite power of two. */
static int max_exponent_of(const struct format *format) {
    return (1 << (format->exponent_bits - 1)) - 1;
}

/* Exponent of the smallest positive number: -1074 for f64; integers come in ones. */
static int unit_of(const struct format *format) {
    return is_float(format) ? 2 - max_exponent_of(format) - precision_of(format) : 0;
}

size_t oracle_type_size(reduct_type type) {
    return (size_t)format_of(type)->bits / 8;
}

static uint64_t load_bits(const struct format *format, const void *array, uint64_t index) {
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    const size_t size = (size_t)format->bits / 8;
    const char *at = (const char *)array + index * size;
    switch (size) {
    case 1:
        return memcpy(&b1, at, 1), b1;
    case 2:
        return memcpy(&b2, at, 2), b2;
    case 4:
        return memcpy(&b4, at, 4), b4;
    default:
        return memcpy(&b8, at, 8), b8;
    }
}

static void store_bits(const struct format *format, uint64_t bits, void *result) {
    const uint8_t b1 = (uint8_t)bits;
    const uint16_t b2 = (uint16_t)bits;
    const uint32_t b4 = (uint32_t)bits;
    switch (format->bits) {
    case 8:
        memcpy(result, &b1, 1);
        break;
    case 16:
        memcpy(result, &b2, 2);
        break;
    case 32:
        memcpy(result, &b4, 4);
        break;
    default:
        memcpy(result, &bits, 8);
    }
}

static struct oracle_number decode_integer(const struct format *format, uint64_t bits) {
    const uint64_t mask = format->bits == 64 ? UINT64_MAX : ((uint64_t)1 << format->bits) - 1;
    struct oracle_number number = {.kind = ORACLE_FINITE};
    number.negative = format->is_signed && (bits >> (format->bits - 1)) & 1;
    number.significand = number.negative ? (0 - bits) & mask : bits;
    number.magnitude = number.significand;
    return number;
}

static struct oracle_number decode_float(const struct format *format, uint64_t bits) {
    const int fraction_bits = precision_of(format) - 1;
    const uint64_t sign = (uint64_t)1 << (format->bits - 1), hidden = (uint64_t)1 << fraction_bits;
    const uint64_t fraction = bits & (hidden - 1);
    struct oracle_number number = {.kind = ORACLE_FINITE};
    number.negative = (bits & sign) != 0;
    number.magnitude = bits & (sign - 1);
    const unsigned field = (unsigned)(number.magnitude >> fraction_bits);
    if (field == (1U << format->exponent_bits) - 1) {
        number.kind = fraction ? ORACLE_NAN : ORACLE_INFINITE;
    } else if (field == 0) {
        number.significand = fraction;
    } else {
        number.significand = hidden | fraction;
        number.exponent = field - 1;
    }
    return number;
}

static struct oracle_number decode(const struct format *format, const void *array, uint64_t index) {
    uint64_t bits = load_bits(format, array, index);
    if (format->type == REDUCT_BOOL)
        bits = bits != 0;
    return is_float(format) ? decode_float(format, bits) : decode_integer(format, bits);
}

struct oracle_number oracle_decode(reduct_type type, const void *array, uint64_t index) {
    return decode(format_of(type), array, index);
}

/* Neither is NaN. -0 is less than +0. */
static bool less(const struct oracle_number *a, const struct oracle_number *b) {
    if (a->negative != b->negative)
        return a->negative;
    return a->negative ? a->magnitude > b->magnitude : a->magnitude < b->magnitude;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sums of integers by exponent. A product of two significands has at most 106 bits for floats and 128 for u64, whose
 * sum is therefore kept in two halves: with 2^20 additions between emptyings, no bin overflows. */
enum { BIN_COUNT = 4200, ADDITIONS = 1 << 20 };
struct bins {
    wide low[BIN_COUNT], high[BIN_COUNT];
    unsigned first, last;
};
struct all_bins {
    struct bins sum, absolute, squares, weights;
    unsigned additions;
};

static void bins_add(struct bins *bins, unsigned exponent, bool negative, unsigned_wide value) {
    const wide low = (wide)(uint64_t)value, high = (wide)(value >> 64);
    bins->low[exponent] += negative ? -low : low;
    bins->high[exponent] += negative ? -high : high;
    if (exponent < bins->first)
        bins->first = exponent;
    if (exponent > bins->last)
        bins->last = exponent;
}

static void add_shifted(mpz_t total, wide value, unsigned shift) {
    const unsigned_wide magnitude = value < 0 ? -(unsigned_wide)value : (unsigned_wide)value;
    const uint64_t words[2] = {(uint64_t)magnitude, (uint64_t)(magnitude >> 64)};
    mpz_t term;
    mpz_init(term);
    mpz_import(term, 2, -1, sizeof *words, 0, 0, words);
    mpz_mul_2exp(term, term, shift);
    if (value < 0)
        mpz_sub(total, total, term);
    else
        mpz_add(total, total, term);
    mpz_clear(term);
}

static void bins_empty(struct bins *bins, mpz_t total) {
    for (unsigned e = bins->first; e <= bins->last && e < BIN_COUNT; e++) {
        if (bins->low[e])
            add_shifted(total, bins->low[e], e);
        if (bins->high[e])
            add_shifted(total, bins->high[e], e + 64);
        bins->low[e] = bins->high[e] = 0;
    }
    bins->first = BIN_COUNT;
    bins->last = 0;
}

static void empty_all(struct oracle *oracle) {
    struct all_bins *bins = oracle->bins;
    bins_empty(&bins->sum, oracle->sum);
    bins_empty(&bins->absolute, oracle->absolute);
    bins_empty(&bins->squares, oracle->squares);
    bins_empty(&bins->weights, oracle->weights);
    bins->additions = 0;
}

void oracle_init(struct oracle *oracle) {
    memset(oracle, 0, sizeof *oracle);
    mpz_inits(oracle->sum, oracle->absolute, oracle->squares, oracle->weights, NULL);
    oracle_product_init(&oracle->product);
    oracle->bins = calloc(1, sizeof(struct all_bins));
    if (!oracle->bins)
        abort();
}

void oracle_clear(struct oracle *oracle) {
    mpz_clears(oracle->sum, oracle->absolute, oracle->squares, oracle->weights, NULL);
    oracle_product_clear(&oracle->product);
    free(oracle->bins);
}

static void read_term(struct oracle *oracle, const struct oracle_number *term, unsigned_wide significand) {
    struct all_bins *bins = oracle->bins;
    if (term->kind == ORACLE_INFINITE) {
        *(term->negative ? &oracle->negative_infinities : &oracle->positive_infinities) += 1;
    } else if (significand) {
        bins_add(&bins->sum, term->exponent, term->negative, significand);
        bins_add(&bins->absolute, term->exponent, false, significand);
    }
    if (term->kind == ORACLE_INFINITE || significand || !term->negative)
        oracle->not_negative_zero++;
}

static void read_extremes(struct oracle *oracle, const struct oracle_number *number, uint64_t index) {
    const bool first = oracle->elements == oracle->nans;
    struct oracle_number absolute = *number;
    absolute.negative = false;
    if (first || less(number, &oracle->least)) {
        oracle->least = *number;
        oracle->least_index = index;
    }
    if (first || less(&oracle->greatest, number)) {
        oracle->greatest = *number;
        oracle->greatest_index = index;
    }
    if (first || less(&oracle->largest, &absolute))
        oracle->largest = absolute;
}

static void read_nan(struct oracle *oracle) {
    if (!oracle->nans)
        oracle->first_nan = oracle->elements;
    oracle->nans++;
}

static void read_factor(struct oracle *oracle, const struct oracle_number *x) {
    const struct oracle_factor factor = {x->significand, (int64_t)x->exponent + oracle->unit};
    if (!is_float(format_of(oracle->element)))
        oracle_product_read_integer(&oracle->product, x->significand, x->negative);
    else
        oracle_product_read(&oracle->product, &factor, x->negative && x->kind != ORACLE_NAN,
                            x->kind == ORACLE_NAN        ? ORACLE_SPECIAL_NAN
                            : x->kind == ORACLE_INFINITE ? ORACLE_SPECIAL_INFINITY
                            : x->significand             ? ORACLE_SPECIAL_NONE
                                                         : ORACLE_SPECIAL_ZERO);
}

static void read_one(struct oracle *oracle, const struct oracle_number *x) {
    struct all_bins *bins = oracle->bins;
    read_factor(oracle, x);
    if (x->kind == ORACLE_NAN) {
        read_nan(oracle);
        return;
    }
    oracle->zeros += x->magnitude == 0;
    read_extremes(oracle, x, oracle->elements);
    read_term(oracle, x, x->significand);
    if (x->kind == ORACLE_FINITE && x->significand)
        bins_add(&bins->squares, 2 * x->exponent, false, (unsigned_wide)x->significand * x->significand);
}

static void read_weight(struct oracle *oracle, const struct oracle_number *weight) {
    struct all_bins *bins = oracle->bins;
    if (weight->kind == ORACLE_INFINITE)
        *(weight->negative ? &oracle->negative_weights : &oracle->positive_weights) += 1;
    else if (weight->significand)
        bins_add(&bins->weights, weight->exponent, weight->negative, weight->significand);
    oracle->not_negative_zero_weights += weight->magnitude != 0 || !weight->negative;
}

static void read_bits(struct oracle *oracle, uint64_t bits) {
    oracle->and_bits &= bits;
    oracle->or_bits |= bits;
    oracle->xor_bits ^= bits;
}

static void read_pair(struct oracle *oracle, const struct oracle_number *x, const struct oracle_number *y) {
    if (x->kind == ORACLE_NAN || y->kind == ORACLE_NAN) {
        read_nan(oracle);
        return;
    }
    read_weight(oracle, y);
    struct oracle_number term = {.kind = ORACLE_FINITE, .negative = x->negative != y->negative};
    if (oracle->unit == 0 && (!x->significand || !y->significand))
        term.negative = false; /* integers have one zero */
    if (x->kind == ORACLE_INFINITE || y->kind == ORACLE_INFINITE) {
        if (x->magnitude == 0 || y->magnitude == 0) {
            oracle->nan_terms++;
            return;
        }
        term.kind = ORACLE_INFINITE;
    }
    term.exponent = x->exponent + y->exponent;
    read_term(oracle, &term, (unsigned_wide)x->significand * y->significand);
}

void oracle_read_more(struct oracle *oracle, const void *x, const void *y, uint64_t count) {
    const struct format *format = format_of(oracle->element);
    struct all_bins *bins = oracle->bins;
    for (uint64_t i = 0; i < count; i++) {
        const struct oracle_number a = decode(format, x, i);
        if (y) {
            const struct oracle_number b = decode(format, y, i);
            read_pair(oracle, &a, &b);
        } else {
            read_one(oracle, &a);
            read_bits(oracle, format->type == REDUCT_BOOL ? a.significand : load_bits(format, x, i));
        }
        oracle->elements++;
        if (++bins->additions == ADDITIONS)
            empty_all(oracle);
    }
    empty_all(oracle);
}

void oracle_repeat(struct oracle *oracle, unsigned doublings) {
    mpz_mul_2exp(oracle->sum, oracle->sum, doublings);
    mpz_mul_2exp(oracle->absolute, oracle->absolute, doublings);
    mpz_mul_2exp(oracle->squares, oracle->squares, doublings);
    mpz_mul_2exp(oracle->weights, oracle->weights, doublings);
    oracle->zeros <<= doublings;
    oracle->xor_bits = doublings ? 0 : oracle->xor_bits;
    for (unsigned i = 0; i < doublings; i++)
        oracle_product_square(&oracle->product);
    oracle->elements <<= doublings;
    oracle->nans <<= doublings;
}

void oracle_read(struct oracle *oracle, reduct_type element, const void *x, const void *y, uint64_t count) {
    oracle->element = element;
    oracle->elements = oracle->nans = oracle->nan_terms = oracle->first_nan = 0;
    oracle->positive_infinities = oracle->negative_infinities = oracle->not_negative_zero = 0;
    oracle->positive_weights = oracle->negative_weights = oracle->not_negative_zero_weights = 0;
    oracle->zeros = oracle->or_bits = oracle->xor_bits = 0;
    oracle->and_bits = element == REDUCT_BOOL ? 1 : UINT64_MAX;
    oracle->pairs = y != NULL;
    oracle->unit = unit_of(format_of(element)) * (y ? 2 : 1);
    mpz_set_ui(oracle->sum, 0);
    mpz_set_ui(oracle->absolute, 0);
    mpz_set_ui(oracle->squares, 0);
    mpz_set_ui(oracle->weights, 0);
    oracle_product_start(&oracle->product);
    ((struct all_bins *)oracle->bins)->additions = 0;
    oracle_read_more(oracle, x, y, count);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rounding
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t infinity_of(const struct format *format) {
    return (((uint64_t)1 << format->exponent_bits) - 1) << (precision_of(format) - 1);
}

static uint64_t canonical_nan_of(const struct format *format) {
    return infinity_of(format) | (uint64_t)1 << (precision_of(format) - 2);
}

static uint64_t sign_of(const struct format *format, bool negative) {
    return negative ? (uint64_t)1 << (format->bits - 1) : 0;
}

/* (q + f) * 2^exponent rounded, where q has more bits than the precision, and f is 0 or, with `more`, inside (0, 1). */
static uint64_t round_bits(const struct format *format, const mpz_t q, bool more, long exponent) {
    const int precision = precision_of(format);
    const long top = (long)mpz_sizeinbase(q, 2) - 1 + exponent;
    if (top > max_exponent_of(format))
        return infinity_of(format);
    /* The spacing of the type's numbers where this one lies. */
    const long spacing = top - (precision - 1) > unit_of(format) ? top - (precision - 1) : unit_of(format);
    const mp_bitcnt_t dropped = (mp_bitcnt_t)(spacing - exponent);
    mpz_t kept, rest, half;
    mpz_inits(kept, rest, half, NULL);
    mpz_fdiv_q_2exp(kept, q, dropped);
    mpz_fdiv_r_2exp(rest, q, dropped);
    mpz_setbit(half, dropped - 1);
    const int against_half = mpz_cmp(rest, half);
    if (against_half > 0 || (against_half == 0 && (more || mpz_odd_p(kept))))
        mpz_add_ui(kept, kept, 1);
    uint64_t significand = mpz_get_ui(kept);
    mpz_clears(kept, rest, half, NULL);

    /* Normal numbers have the hidden bit, which the exponent field, one more than the number of spacings above the
     * smallest, stands for; a carry out of the significand lands in that field as well, up to infinity. */
    return ((uint64_t)(spacing - unit_of(format)) << (precision - 1)) + significand;
}

uint64_t oracle_round(reduct_type type, bool negative, const mpz_t numerator, const mpz_t denominator, long exponent,
                      bool root) {
    const struct format *format = format_of(type);
    if (mpz_sgn(numerator) == 0)
        return sign_of(format, negative);

    /* Scale up so that the integer quotient, or its root, has at least 80 bits, more than any precision. */
    const long have = (long)mpz_sizeinbase(numerator, 2) - (long)mpz_sizeinbase(denominator, 2);
    long shift = have < 164 ? 164 - have : 0;
    shift += root && (exponent - shift) % 2 != 0;
    mpz_t q, rest;
    mpz_inits(q, rest, NULL);
    mpz_mul_2exp(q, numerator, (mp_bitcnt_t)shift);
    exponent -= shift;
    mpz_fdiv_qr(q, rest, q, denominator);
    bool more = mpz_sgn(rest) != 0;
    if (root) { /* floor(sqrt(n / d)) = floor(sqrt(floor(n / d))) */
        mpz_sqrtrem(q, rest, q);
        more = more || mpz_sgn(rest) != 0;
        exponent /= 2;
    }
    const uint64_t bits = sign_of(format, negative) | round_bits(format, q, more, exponent);
    mpz_clears(q, rest, NULL);
    return bits;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_integer_type(reduct_type type) {
    return !is_float(format_of(type));
}

reduct_type oracle_default_result(reduct_operator op, reduct_type element) {
    static const reduct_type unsigned_of_size[] = {
        [1] = REDUCT_U8, [2] = REDUCT_U16, [4] = REDUCT_U32, [8] = REDUCT_U64};
    const struct format *format = format_of(element);
    switch (op) {
    case REDUCT_ARGMIN:
    case REDUCT_ARGMAX:
    case REDUCT_COUNT:
    case REDUCT_COUNT_NONZERO:
        return REDUCT_U64;
    case REDUCT_ANY:
    case REDUCT_ALL:
        return REDUCT_BOOL;
    case REDUCT_AND:
    case REDUCT_OR:
    case REDUCT_XOR:
        return is_float(format) ? REDUCT_DEFAULT : element;
    case REDUCT_MIN:
    case REDUCT_MAX:
    case REDUCT_MINMAX:
        return element;
    case REDUCT_NORMINF:
    case REDUCT_PTP:
        return is_float(format) || element == REDUCT_BOOL ? element : unsigned_of_size[format->bits / 8];
    case REDUCT_SUM:
    case REDUCT_DOT:
    case REDUCT_PRODUCT:
        return is_float(format) ? element : format->is_signed ? REDUCT_I64 : REDUCT_U64;
    case REDUCT_SUMSQ:
    case REDUCT_NORM1:
        return is_float(format) ? element : REDUCT_U64;
    default:
        return is_float(format) ? element : REDUCT_F64;
    }
}

bool oracle_has(reduct_operator op, reduct_type element) {
    return oracle_default_result(op, element) != REDUCT_DEFAULT;
}

unsigned oracle_inputs(reduct_operator op) {
    return op == REDUCT_DOT || op == REDUCT_WEIGHTED_MEAN ? 2 : 1;
}

size_t oracle_result_size(const reduct_reduction *reduction) {
    return oracle_type_size(reduction->result) * (reduction->op == REDUCT_MINMAX ? 2 : 1);
}

bool oracle_has_result(reduct_operator op, reduct_type element, reduct_type result) {
    const bool wide_integer = is_integer_type(result) && format_of(result)->bits >= 64;
    if (result == oracle_default_result(op, element))
        return true;
    switch (op) {
    case REDUCT_SUM:
    case REDUCT_DOT:
    case REDUCT_SUMSQ:
    case REDUCT_NORM1:
        return !is_integer_type(result) || (wide_integer && is_integer_type(element));
    case REDUCT_PRODUCT:
        return is_integer_type(element) ? wide_integer : !is_integer_type(result);
    case REDUCT_MEAN:
    case REDUCT_VAR:
    case REDUCT_STD:
    case REDUCT_NORM2:
    case REDUCT_RMS:
    case REDUCT_WEIGHTED_MEAN:
        return !is_integer_type(result);
    case REDUCT_PTP:
        return !is_integer_type(element) && !is_integer_type(result);
    default:
        return false;
    }
}

static struct oracle_result failure(reduct_status status, uint64_t index) {
    struct oracle_result result = {.status = status, .index = index};
    memset(result.bytes, ORACLE_UNTOUCHED, sizeof result.bytes);
    return result;
}

static struct oracle_result success(reduct_type type, uint64_t bits) {
    struct oracle_result result = failure(REDUCT_OK, 0);
    result.size = oracle_type_size(type);
    store_bits(format_of(type), bits, result.bytes);
    return result;
}

/* Two values, one after the other. */
static struct oracle_result both(const struct oracle_result *first, const struct oracle_result *second) {
    struct oracle_result result = *first;
    memcpy(result.bytes + first->size, second->bytes, second->size);
    result.size += second->size;
    return result;
}

/* NaN, as often as the operator gives values. */
static struct oracle_result nan_result(const reduct_reduction *reduction) {
    const struct oracle_result one = success(reduction->result, canonical_nan_of(format_of(reduction->result)));
    return reduction->op == REDUCT_MINMAX ? both(&one, &one) : one;
}

/* An integer into an integer type. */
static struct oracle_result integer_result(const mpz_t value, reduct_type type, bool wrap) {
    const struct format *format = format_of(type);
    const mp_bitcnt_t bits = (mp_bitcnt_t)format->bits;
    struct oracle_result result = failure(REDUCT_OK, 0);
    uint64_t words[4] = {0};
    mpz_t image;
    mpz_init(image);
    /* Values of n-bit two's complement: those for which value == (value mod 2^n), taken as signed or not. */
    mpz_fdiv_r_2exp(image, value, bits);
    mpz_export(words, NULL, -1, sizeof *words, 0, 0, image);
    if (format->is_signed && mpz_tstbit(image, bits - 1)) {
        mpz_t modulus;
        mpz_init(modulus);
        mpz_setbit(modulus, bits);
        mpz_sub(image, image, modulus);
        mpz_clear(modulus);
    }
    if (mpz_cmp(image, value) != 0 && !wrap) {
        result = failure(REDUCT_ERROR_OVERFLOW, 0);
    } else {
        result.size = oracle_type_size(type);
        if (bits <= 64)
            store_bits(format, words[0], result.bytes);
        else
            memcpy(result.bytes, words, result.size);
    }
    mpz_clear(image);
    return result;
}

/* An exact value, 2^exponent * numerator / denominator or its root, into any type. */
static struct oracle_result value_result(const mpz_t numerator, const mpz_t denominator, long exponent, bool root,
                                         bool negative_zero, const reduct_reduction *reduction) {
    if (is_integer_type(reduction->result))
        return integer_result(numerator, reduction->result, (reduction->flags & REDUCT_WRAP) != 0);
    mpz_t magnitude;
    mpz_init(magnitude);
    mpz_abs(magnitude, numerator);
    const bool negative = mpz_sgn(numerator) < 0 || (mpz_sgn(numerator) == 0 && negative_zero);
    const uint64_t bits = oracle_round(reduction->result, negative, magnitude, denominator, exponent, root);
    mpz_clear(magnitude);
    return success(reduction->result, bits);
}

static struct oracle_result number_result(const struct oracle *oracle, const struct oracle_number *number,
                                          reduct_type type) {
    const struct format *format = format_of(type);
    if (!is_float(format_of(oracle->element)))
        return success(type, number->negative ? 0 - number->magnitude : number->magnitude);
    return success(type, sign_of(format, number->negative) | number->magnitude);
}

/* sum, mean, dot */
static struct oracle_result sum_result(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t count) {
    const struct format *format = format_of(reduction->result);
    if (oracle->positive_infinities && oracle->negative_infinities)
        return success(reduction->result, canonical_nan_of(format));
    if (oracle->positive_infinities || oracle->negative_infinities)
        return success(reduction->result, sign_of(format, oracle->negative_infinities != 0) | infinity_of(format));
    mpz_t denominator;
    mpz_init_set_ui(denominator, reduction->op == REDUCT_MEAN ? count : 1);
    const bool negative_zero = count > 0 && oracle->not_negative_zero == 0;
    const struct oracle_result result =
        value_result(oracle->sum, denominator, oracle->unit, false, negative_zero, reduction);
    mpz_clear(denominator);
    return result;
}

/* The sum of the products over that of the weights, each with its infinities and the sign of its zero, as IEEE 754 divides; but
 * integers have no -0. */
static struct oracle_result weighted_mean(const struct oracle *oracle, const reduct_reduction *reduction) {
    const struct format *format = format_of(reduction->result);
    const bool of_floats = is_float(format_of(oracle->element));
    const bool infinite = oracle->positive_infinities || oracle->negative_infinities,
               over_infinite = oracle->positive_weights || oracle->negative_weights;
    const bool nan = (oracle->positive_infinities && oracle->negative_infinities) ||
                     (oracle->positive_weights && oracle->negative_weights);
    const bool zero = !infinite && mpz_sgn(oracle->sum) == 0,
               over_zero = !over_infinite && mpz_sgn(oracle->weights) == 0;
    const bool minus = infinite ? oracle->negative_infinities != 0
                       : zero   ? of_floats && !oracle->not_negative_zero
                                : mpz_sgn(oracle->sum) < 0;
    const bool over_minus = over_infinite ? oracle->negative_weights != 0
                            : over_zero   ? of_floats && !oracle->not_negative_zero_weights
                                          : mpz_sgn(oracle->weights) < 0;
    const uint64_t sign = sign_of(format, minus != over_minus);
    if (nan || (infinite && over_infinite) || (zero && over_zero))
        return success(reduction->result, canonical_nan_of(format));
    if (infinite || over_zero)
        return success(reduction->result, sign | infinity_of(format));
    if (zero || over_infinite)
        return success(reduction->result, of_floats ? sign : 0);
    mpz_t numerator, denominator;
    mpz_inits(numerator, denominator, NULL);
    mpz_abs(numerator, oracle->sum);
    mpz_abs(denominator, oracle->weights);
    const uint64_t bits =
        oracle_round(reduction->result, minus != over_minus, numerator, denominator, oracle->unit / 2, false);
    mpz_clears(numerator, denominator, NULL);
    return success(reduction->result, bits);
}

/* The greatest less the least. */
static struct oracle_result range_result(const struct oracle *oracle, const reduct_reduction *reduction) {
    const struct oracle_number *low = &oracle->least, *high = &oracle->greatest;
    const struct format *format = format_of(reduction->result);
    const bool low_infinite = low->kind == ORACLE_INFINITE, high_infinite = high->kind == ORACLE_INFINITE;
    if (low_infinite && high_infinite && low->negative == high->negative)
        return success(reduction->result, canonical_nan_of(format));
    if (low_infinite || high_infinite)
        return success(reduction->result, infinity_of(format));
    mpz_t range, term, one;
    mpz_inits(range, term, NULL);
    mpz_init_set_ui(one, 1);
    add_shifted(range, high->negative ? -(wide)high->significand : (wide)high->significand, high->exponent);
    add_shifted(term, low->negative ? -(wide)low->significand : (wide)low->significand, low->exponent);
    mpz_sub(range, range, term);
    const struct oracle_result result = value_result(range, one, oracle->unit, false, false, reduction);
    mpz_clears(range, term, one, NULL);
    return result;
}

/* count, count_nonzero, any, all. A NaN that is not ignored is not zero. */
static struct oracle_result count_result(const struct oracle *oracle, const reduct_reduction *reduction) {
    const bool ignored = reduction->nan == REDUCT_NAN_IGNORE;
    const uint64_t numbers = oracle->elements - oracle->nans,
                   nonzero = numbers - oracle->zeros + (ignored ? 0 : oracle->nans);
    switch (reduction->op) {
    case REDUCT_COUNT:
        return success(REDUCT_U64, numbers);
    case REDUCT_COUNT_NONZERO:
        return success(REDUCT_U64, nonzero);
    case REDUCT_ANY:
        return success(REDUCT_BOOL, nonzero != 0);
    default:
        return success(REDUCT_BOOL, oracle->zeros == 0);
    }
}

/* norm1, sumsq, norm2, rms */
static struct oracle_result magnitude_result(const struct oracle *oracle, const reduct_reduction *reduction,
                                             uint64_t count) {
    if (oracle->positive_infinities || oracle->negative_infinities)
        return success(reduction->result, infinity_of(format_of(reduction->result)));
    mpz_t denominator;
    mpz_init_set_ui(denominator, reduction->op == REDUCT_RMS ? count : 1);
    const bool root = reduction->op == REDUCT_NORM2 || reduction->op == REDUCT_RMS;
    const struct oracle_result result =
        reduction->op == REDUCT_NORM1
            ? value_result(oracle->absolute, denominator, oracle->unit, false, false, reduction)
            : value_result(oracle->squares, denominator, 2L * oracle->unit, root, false, reduction);
    mpz_clear(denominator);
    return result;
}

/* var, std: (n * squares - sum^2) / (n * (n - 1)), or / n^2 for a population, or the root of that */
static struct oracle_result variance_result(const struct oracle *oracle, const reduct_reduction *reduction,
                                            uint64_t count) {
    if (oracle->positive_infinities || oracle->negative_infinities)
        return success(reduction->result, canonical_nan_of(format_of(reduction->result)));
    mpz_t numerator, denominator, square;
    mpz_inits(numerator, denominator, square, NULL);
    mpz_mul_ui(numerator, oracle->squares, count);
    mpz_mul(square, oracle->sum, oracle->sum);
    mpz_sub(numerator, numerator, square);
    mpz_set_ui(denominator, count);
    mpz_mul_ui(denominator, denominator, reduction->flags & REDUCT_POPULATION ? count : count - 1);
    const struct oracle_result result =
        value_result(numerator, denominator, 2L * oracle->unit, reduction->op == REDUCT_STD, false, reduction);
    mpz_clears(numerator, denominator, square, NULL);
    return result;
}

static struct oracle_result float_product(const struct oracle_product *product, reduct_type type) {
    const struct format *format = format_of(type);
    const uint64_t sign = sign_of(format, product->negative);
    if (product->zero && product->infinite)
        return success(type, canonical_nan_of(format));
    if (product->zero || product->infinite)
        return success(type, sign | (product->infinite ? infinity_of(format) : 0));
    const struct oracle_factor value = oracle_product_value(product);
    const int64_t far = 9999; /* beyond every type */
    const int64_t exponent = value.exponent > far ? far : value.exponent < -far ? -far : value.exponent;
    mpz_t numerator, denominator;
    mpz_init_set_ui(numerator, value.significand);
    mpz_init_set_ui(denominator, 1);
    const uint64_t bits = oracle_round(type, product->negative, numerator, denominator, (long)exponent, false);
    mpz_clears(numerator, denominator, NULL);
    return success(type, bits);
}

static struct oracle_result integer_product(const struct oracle_product *product, const reduct_reduction *reduction) {
    const bool wrap = (reduction->flags & REDUCT_WRAP) != 0;
    if (product->huge && !product->zero && !wrap)
        return failure(REDUCT_ERROR_OVERFLOW, 0);
    mpz_t value;
    mpz_init_set(value, product->magnitude);
    if (product->negative)
        mpz_neg(value, value);
    const struct oracle_result result = integer_result(value, reduction->result, wrap);
    mpz_clear(value);
    return result;
}

static uint64_t least_count(const reduct_reduction *reduction) {
    switch (reduction->op) {
    case REDUCT_VAR:
    case REDUCT_STD:
        return reduction->flags & REDUCT_POPULATION ? 1 : 2;
    case REDUCT_MEAN:
    case REDUCT_RMS:
    case REDUCT_MIN:
    case REDUCT_MAX:
    case REDUCT_ARGMIN:
    case REDUCT_ARGMAX:
    case REDUCT_MINMAX:
    case REDUCT_PTP:
    case REDUCT_WEIGHTED_MEAN:
        return 1;
    default:
        return 0;
    }
}

/* The result of elements that are not NaN. */
static struct oracle_result finite_result(const struct oracle *oracle, const reduct_reduction *reduction,
                                          uint64_t count) {
    switch (reduction->op) {
    case REDUCT_SUM:
    case REDUCT_MEAN:
    case REDUCT_DOT:
        return sum_result(oracle, reduction, count);
    case REDUCT_SUMSQ:
    case REDUCT_NORM1:
    case REDUCT_NORM2:
    case REDUCT_RMS:
        return magnitude_result(oracle, reduction, count);
    case REDUCT_VAR:
    case REDUCT_STD:
        return variance_result(oracle, reduction, count);
    case REDUCT_NORMINF: {
        const struct oracle_number zero = {.kind = ORACLE_FINITE};
        return number_result(oracle, count ? &oracle->largest : &zero, reduction->result);
    }
    case REDUCT_MIN:
        return number_result(oracle, &oracle->least, reduction->result);
    case REDUCT_MAX:
        return number_result(oracle, &oracle->greatest, reduction->result);
    case REDUCT_ARGMIN:
        return success(REDUCT_U64, oracle->least_index);
    case REDUCT_ARGMAX:
        return success(REDUCT_U64, oracle->greatest_index);
    case REDUCT_PRODUCT:
        return is_float(format_of(oracle->element)) ? float_product(&oracle->product, reduction->result)
                                                    : integer_product(&oracle->product, reduction);
    case REDUCT_COUNT:
    case REDUCT_COUNT_NONZERO:
    case REDUCT_ANY:
    case REDUCT_ALL:
        return count_result(oracle, reduction);
    case REDUCT_AND:
        return success(reduction->result, oracle->and_bits);
    case REDUCT_OR:
        return success(reduction->result, oracle->or_bits);
    case REDUCT_XOR:
        return success(reduction->result, oracle->xor_bits);
    case REDUCT_MINMAX: {
        const struct oracle_result least = number_result(oracle, &oracle->least, reduction->result),
                                   greatest = number_result(oracle, &oracle->greatest, reduction->result);
        return both(&least, &greatest);
    }
    case REDUCT_PTP:
        return range_result(oracle, reduction);
    case REDUCT_WEIGHTED_MEAN:
        return weighted_mean(oracle, reduction);
    }
    abort(); /* an operator that this oracle does not know yet */
}

struct oracle_result oracle_expect(const struct oracle *oracle, const reduct_reduction *reduction) {
    const bool index = reduction->op == REDUCT_ARGMIN || reduction->op == REDUCT_ARGMAX;
    const bool counts = reduction->op == REDUCT_COUNT || reduction->op == REDUCT_COUNT_NONZERO ||
                        reduction->op == REDUCT_ANY || reduction->op == REDUCT_ALL; /* which give no NaN */
    if (oracle->pairs != (oracle_inputs(reduction->op) == 2) ||
        !oracle_has_result(reduction->op, oracle->element, reduction->result))
        abort();
    if (oracle->elements < least_count(reduction))
        return failure(REDUCT_ERROR_EMPTY, 0);
    if (oracle->nans && reduction->nan == REDUCT_NAN_ERROR)
        return failure(REDUCT_ERROR_NAN, oracle->first_nan);
    if (oracle->nans && reduction->nan == REDUCT_NAN_PROPAGATE && !counts)
        return index ? success(REDUCT_U64, oracle->first_nan) : nan_result(reduction);
    if (oracle->elements - oracle->nans < least_count(reduction))
        return failure(REDUCT_ERROR_EMPTY, 0);
    if (oracle->nan_terms)
        return nan_result(reduction);
    return finite_result(oracle, reduction, oracle->elements - oracle->nans);
}

char *oracle_hex(char *text, const void *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    char *at = text;
    *at++ = '0';
    *at++ = 'x';
    for (size_t i = size; i-- > 0;) { /* little-endian machines: the last byte is the most significant */
        *at++ = digits[((const unsigned char *)bytes)[i] >> 4];
        *at++ = digits[((const unsigned char *)bytes)[i] & 15];
    }
    *at = 0;
    return text;
}
