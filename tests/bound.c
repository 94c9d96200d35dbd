#include "bound.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

/* Everything is exact in so many bits but for quotients and roots. */
enum { BITS = 5000 };

/* The absolute error is at most FACTOR * u * (sum of absolute terms). */
enum { FACTOR = 140, BLOCK = 4096 };

static bool is_moments(reduct_operator op) {
    return op == REDUCT_VAR || op == REDUCT_STD;
}

static bool is_of_squares(reduct_operator op) {
    return op == REDUCT_SUMSQ || op == REDUCT_NORM2 || op == REDUCT_RMS;
}

static bool is_root(reduct_operator op) {
    return op == REDUCT_NORM2 || op == REDUCT_RMS || op == REDUCT_STD;
}

static bool is_rounded(const reduct_reduction *reduction) {
    const reduct_operator op = reduction->op;
    return test_type(reduction->element)->class == FLOAT &&
           (is_moments(op) || is_of_squares(op) || op == REDUCT_SUM || op == REDUCT_MEAN || op == REDUCT_DOT ||
            op == REDUCT_NORM1);
}

/* Exponent of the smallest positive number. */
static long unit_of(const struct test_type *type) {
    return 2L - type->max_exponent - type->precision;
}

/* The type whose arithmetic it is: deviations from the mean are formed in f64, elements of 16 bits are widened to f32. */
static const struct test_type *arithmetic_of(const reduct_reduction *reduction) {
    const struct test_type *element = test_type(reduction->element);
    return is_moments(reduction->op) ? test_type(REDUCT_F64) : element->size == 2 ? test_type(REDUCT_F32) : element;
}

static void set_scaled(mpfr_t value, const mpz_t integer, long exponent) {
    mpfr_set_z_2exp(value, integer, exponent, MPFR_RNDN);
}

/* The sum of absolute terms; of moments, of the squares. */
static void set_scale(mpfr_t scale, const struct oracle *oracle, reduct_operator op) {
    if (is_of_squares(op) || is_moments(op))
        set_scaled(scale, oracle->squares, 2L * oracle->unit);
    else
        set_scaled(scale, oracle->absolute, oracle->unit);
}

/* Whether a partial sum could overflow: then nothing is promised. A squared deviation is at most four times a square. */
static bool may_overflow(const struct oracle *oracle, const reduct_reduction *reduction) {
    mpfr_t scale;
    mpfr_init2(scale, BITS);
    set_scale(scale, oracle, reduction->op);
    const bool may = mpfr_cmp_ui_2exp(scale, 1, arithmetic_of(reduction)->max_exponent - 2) >= 0;
    mpfr_clear(scale);
    return may;
}

/* What underflows in a product loses less than the smallest positive number. */
static void add_underflow(mpfr_t error, uint64_t count, const struct test_type *type) {
    mpfr_t lost;
    mpfr_init2(lost, BITS);
    mpfr_set_ui_2exp(lost, count, unit_of(type), MPFR_RNDU);
    mpfr_add(error, error, lost, MPFR_RNDU);
    mpfr_clear(lost);
}

/* The sum of the squared deviations, M = Q - S^2 / n, and its error. A mean that is off by e shifts every deviation, so
 * with c in units of u, and e at most c times the root mean square: the error is at most c M + 2 c sqrt(M Q) + c^2 Q.
 * Means of blocks obey the bound of sums; each block and step that joins them adds a few roundings. */
static void set_deviations(const struct oracle *oracle, uint64_t count, uint64_t steps, mpfr_t value, mpfr_t error) {
    const double c = ldexp((double)(FACTOR + 4 * (count / BLOCK + 1 + 2 * steps)), -53);
    mpz_t numerator, square;
    mpfr_t squares, cross;
    mpz_inits(numerator, square, NULL);
    mpfr_inits2(BITS, squares, cross, (mpfr_ptr)0);
    mpz_mul_ui(numerator, oracle->squares, count);
    mpz_mul(square, oracle->sum, oracle->sum);
    mpz_sub(numerator, numerator, square);
    set_scaled(value, numerator, 2L * oracle->unit);
    mpfr_div_ui(value, value, count, MPFR_RNDN);
    set_scaled(squares, oracle->squares, 2L * oracle->unit);
    mpfr_mul(cross, value, squares, MPFR_RNDU);
    mpfr_sqrt(cross, cross, MPFR_RNDU);
    mpfr_mul_ui(error, cross, 2, MPFR_RNDU);
    mpfr_mul_d(squares, squares, c, MPFR_RNDU);
    mpfr_add(error, error, squares, MPFR_RNDU);
    mpfr_add(error, error, value, MPFR_RNDU);
    mpfr_mul_d(error, error, c, MPFR_RNDU);
    mpfr_clears(squares, cross, (mpfr_ptr)0);
    mpz_clears(numerator, square, NULL);
}

/* The exact value before any root is taken, and its error. */
static void set_value(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t steps, mpfr_t value,
                      mpfr_t error) {
    const reduct_operator op = reduction->op;
    const uint64_t count = oracle->elements - oracle->nans;
    const struct test_type *arithmetic = arithmetic_of(reduction);
    uint64_t divisor = op == REDUCT_MEAN || op == REDUCT_RMS ? count : 1;
    if (is_moments(op)) {
        set_deviations(oracle, count, steps, value, error);
        divisor = reduction->flags & REDUCT_POPULATION ? count : count - 1;
    } else {
        set_scale(value, oracle, op);
        mpfr_mul_d(error, value, ldexp(FACTOR, -arithmetic->precision), MPFR_RNDU);
        if (op == REDUCT_SUM || op == REDUCT_MEAN || op == REDUCT_DOT)
            set_scaled(value, oracle->sum, oracle->unit);
    }
    if (is_moments(op) || is_of_squares(op) || op == REDUCT_DOT)
        add_underflow(error, count, arithmetic);
    mpfr_div_ui(value, value, divisor, MPFR_RNDN);
    mpfr_div_ui(error, error, divisor, MPFR_RNDU);
}

/* What the last rounding adds, where the bound does not hold it already: a result type that is narrower than the
 * arithmetic, or a quotient that underflows. */
static void widen(const reduct_reduction *reduction, mpfr_t low, mpfr_t high) {
    const struct test_type *result = test_type(reduction->result), *arithmetic = arithmetic_of(reduction);
    const bool narrower = result->precision < arithmetic->precision;
    const bool quotient = reduction->op == REDUCT_MEAN || reduction->op == REDUCT_RMS || is_moments(reduction->op);
    mpfr_t lost, largest;
    mpfr_inits2(BITS, lost, largest, (mpfr_ptr)0);
    mpfr_set_ui(lost, 0, MPFR_RNDN);
    if (narrower) {
        mpfr_abs(lost, low, MPFR_RNDU);
        mpfr_abs(largest, high, MPFR_RNDU);
        mpfr_max(lost, lost, largest, MPFR_RNDU);
        mpfr_mul_2si(lost, lost, -result->precision, MPFR_RNDU);
    }
    if (narrower || quotient)
        add_underflow(lost, 1, result);
    mpfr_sub(low, low, lost, MPFR_RNDD);
    mpfr_add(high, high, lost, MPFR_RNDU);
    mpfr_clears(lost, largest, (mpfr_ptr)0);
}

/* From where the result may be. */
static void set_range(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t steps, mpfr_t low,
                      mpfr_t high) {
    mpfr_t value, error;
    mpfr_inits2(BITS, value, error, (mpfr_ptr)0);
    set_value(oracle, reduction, steps, value, error);
    mpfr_sub(low, value, error, MPFR_RNDD);
    mpfr_add(high, value, error, MPFR_RNDU);
    if (is_root(reduction->op)) {
        if (mpfr_sgn(low) < 0)
            mpfr_set_ui(low, 0, MPFR_RNDN);
        mpfr_sqrt(low, low, MPFR_RNDD);
        mpfr_sqrt(high, high, MPFR_RNDU);
    }
    widen(reduction, low, high);
    mpfr_clears(value, error, (mpfr_ptr)0);
}

/* The result as a number; infinities as such. */
static void set_result(mpfr_t value, const reduct_reduction *reduction, const struct test_outcome *got) {
    const struct oracle_number number = oracle_decode(reduction->result, got->bytes, 0);
    if (number.kind == ORACLE_NAN)
        mpfr_set_nan(value);
    else if (number.kind == ORACLE_INFINITE)
        mpfr_set_inf(value, number.negative ? -1 : 1);
    else
        mpfr_set_ui_2exp(value, number.significand, (long)number.exponent + unit_of(test_type(reduction->result)),
                         MPFR_RNDN);
    if (number.kind == ORACLE_FINITE && number.negative)
        mpfr_neg(value, value, MPFR_RNDN);
}

/* What lies beyond the largest number of the result type by half a unit of its last place becomes infinity. */
static void overflow_ends(const reduct_reduction *reduction, mpfr_t low, mpfr_t high) {
    const struct test_type *result = test_type(reduction->result);
    mpfr_t beyond;
    mpfr_init2(beyond, BITS);
    mpfr_set_ui_2exp(beyond, (2UL << result->precision) - 1, result->max_exponent - result->precision, MPFR_RNDN);
    if (mpfr_cmp(high, beyond) >= 0)
        mpfr_set_inf(high, 1);
    mpfr_neg(beyond, beyond, MPFR_RNDN);
    if (mpfr_cmp(low, beyond) <= 0)
        mpfr_set_inf(low, -1);
    mpfr_clear(beyond);
}

static bool in_range(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t steps,
                     const struct test_outcome *got, char why[BOUND_WHY]) {
    mpfr_t low, high, value;
    mpfr_inits2(BITS, low, high, value, (mpfr_ptr)0);
    set_range(oracle, reduction, steps, low, high);
    overflow_ends(reduction, low, high);
    set_result(value, reduction, got);
    const bool good = !mpfr_nan_p(value) && mpfr_cmp(value, low) >= 0 && mpfr_cmp(value, high) <= 0;
    if (!good)
        mpfr_snprintf(why, BOUND_WHY, "got %.17Rg, expected from %.17RDg to %.17RUg", value, low, high);
    mpfr_clears(low, high, value, (mpfr_ptr)0);
    return good;
}

/* Nothing but the result was written. */
static bool is_kept(const struct test_outcome *got, size_t size) {
    for (size_t i = size; i < ORACLE_RESULT_BYTES; i++)
        if (got->bytes[i] != ORACLE_UNTOUCHED)
            return false;
    return true;
}

static bool is_zero(const struct oracle *oracle, reduct_operator op) {
    return mpz_sgn(is_of_squares(op) || is_moments(op) ? oracle->squares : oracle->absolute) == 0;
}

static bool is_zero_result(const reduct_reduction *reduction, const struct test_outcome *got) {
    const struct oracle_number number = oracle_decode(reduction->result, got->bytes, 0);
    return number.kind == ORACLE_FINITE && number.significand == 0;
}

static bool has_infinities(const struct oracle *oracle) {
    return oracle->positive_infinities || oracle->negative_infinities;
}

bool bound_holds(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t steps,
                 const struct test_outcome *got, char why[BOUND_WHY]) {
    const struct oracle_result expected = oracle_expect(oracle, reduction);
    const bool nan = (oracle->nans && reduction->nan == REDUCT_NAN_PROPAGATE) || oracle->nan_terms;
    const bool rounded = is_rounded(reduction) && expected.status == REDUCT_OK && !nan;
    char got_hex[2 * ORACLE_RESULT_BYTES + 3], expected_hex[2 * ORACLE_RESULT_BYTES + 3];
    if (rounded && got->status == REDUCT_OK && is_kept(got, expected.size)) {
        if (may_overflow(oracle, reduction))
            return true;
        if (!has_infinities(oracle) && !is_zero(oracle, reduction->op))
            return in_range(oracle, reduction, steps, got, why);
        if (is_zero(oracle, reduction->op) && is_zero_result(reduction, got))
            return true; /* of either sign: "as far as the arithmetic shows" it */
    }
    if (test_agrees(got, &expected))
        return true;
    snprintf(why, BOUND_WHY, "got status %d %s, expected %d %s", (int)got->status,
             oracle_hex(got_hex, got->bytes, expected.size ? expected.size : 8), (int)expected.status,
             oracle_hex(expected_hex, expected.bytes, expected.size ? expected.size : 8));
    return false;
}

void bound_check(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t steps,
                 const struct test_outcome *got, const char *format, ...) {
    char why[BOUND_WHY], where[256];
    if (bound_holds(oracle, reduction, steps, got, why))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    test_fail("fast %s of %s as %s (nan %s, flags %u), %s:\n  %s", reduct_operator_name(reduction->op),
              reduct_type_name(reduction->element), reduct_type_name(reduction->result),
              reduct_nan_name(reduction->nan), (unsigned)reduction->flags, where, why);
}
