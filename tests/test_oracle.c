/* Tests of the oracle itself, so that all other tests can lean on it: against MPFR (mpfr_sum, mpfr_div, mpfr_sqrt, each
 * correctly rounded, with mpfr_subnormalize), which shares neither code nor method with it, and against answers worked
 * out by hand.
 *
 * From the survival list: "Oracles, independent of our code: MPFR (mpfr_sum and friends) and GMP".
 */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

/* Enough for any sum of products of doubles, times counts. */
enum { EXACT_BITS = 4600, MOST = 70 };

/* Limits MPFR to the exponents of a floating-point type; `ternary` says how x was rounded so far. */
static void limit_to(const struct test_type *type, mpfr_t x, int ternary) {
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(3 - type->max_exponent - type->precision);
    mpfr_set_emax(type->max_exponent + 1);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
}

/* The exact sum of the x, of the x^2, or of the x * y. */
static void exact_sum(mpfr_t sum, const struct test_type *type, const void *x, const void *y, size_t count) {
    mpfr_t terms[MOST];
    mpfr_ptr pointers[MOST] = {0};
    for (size_t i = 0; i < count; i++) {
        const double a = values_get(type, x, i), b = y ? values_get(type, y, i) : 1;
        mpfr_init2(terms[i], 106);
        mpfr_set_d(terms[i], a, MPFR_RNDN);
        assert_int_equal(mpfr_mul_d(terms[i], terms[i], b, MPFR_RNDN), 0);
        pointers[i] = terms[i];
    }
    assert_int_equal(mpfr_sum(sum, pointers, count, MPFR_RNDN), 0);
    for (size_t i = 0; i < count; i++)
        mpfr_clear(terms[i]);
}

/* The variance to far more bits than it takes; exact wherever it has finitely many. */
static void variance_of(mpfr_t variance, const mpfr_t sum, const mpfr_t squares, size_t count, size_t divisor) {
    mpfr_t square;
    mpfr_init2(square, 2 * EXACT_BITS);
    mpfr_set_prec(variance, 2 * EXACT_BITS);
    assert_int_equal(mpfr_sqr(square, sum, MPFR_RNDN), 0);
    assert_int_equal(mpfr_mul_ui(variance, squares, count, MPFR_RNDN), 0);
    assert_int_equal(mpfr_sub(variance, variance, square, MPFR_RNDN), 0);
    mpfr_div_ui(variance, variance, count, MPFR_RNDN);
    mpfr_div_ui(variance, variance, divisor, MPFR_RNDN);
    mpfr_clear(square);
}

/* One operator by MPFR alone, into x, which has the precision of the result type; returns the ternary value. */
static int by_mpfr(mpfr_t result, reduct_operator op, const struct test_type *type, const void *x, const void *y,
                   size_t count) {
    mpfr_t sum, squares, variance;
    mpfr_inits2(EXACT_BITS, sum, squares, variance, (mpfr_ptr)0);
    int ternary = 0;
    exact_sum(sum, type, x, oracle_inputs(op) == 2 ? y : NULL, count);
    exact_sum(squares, type, x, x, count);
    switch (op) {
    case REDUCT_SUM:
    case REDUCT_DOT:
        ternary = mpfr_set(result, sum, MPFR_RNDN);
        break;
    case REDUCT_WEIGHTED_MEAN:
        exact_sum(squares, type, y, NULL, count);
        ternary = mpfr_div(result, sum, squares, MPFR_RNDN);
        break;
    case REDUCT_MEAN:
        ternary = mpfr_div_ui(result, sum, count, MPFR_RNDN);
        break;
    case REDUCT_SUMSQ:
        ternary = mpfr_set(result, squares, MPFR_RNDN);
        break;
    case REDUCT_NORM2:
        ternary = mpfr_sqrt(result, squares, MPFR_RNDN);
        break;
    case REDUCT_RMS:
        mpfr_set_prec(variance, 2 * EXACT_BITS);
        mpfr_div_ui(variance, squares, count, MPFR_RNDN);
        ternary = mpfr_sqrt(result, variance, MPFR_RNDN);
        break;
    case REDUCT_VAR:
        variance_of(variance, sum, squares, count, count - 1);
        ternary = mpfr_set(result, variance, MPFR_RNDN);
        break;
    case REDUCT_STD:
        variance_of(variance, sum, squares, count, count);
        ternary = mpfr_sqrt(result, variance, MPFR_RNDN);
        break;
    default:
        test_fail("operator %d is not for MPFR", (int)op);
    }
    mpfr_clears(sum, squares, variance, (mpfr_ptr)0);
    return ternary;
}

/* The bits of a value that a type holds. */
static uint64_t bits_of(const struct test_type *type, const mpfr_t value) {
    unsigned char bytes[8] = {0};
    if (mpfr_inf_p(value))
        return values_infinity(type) | (mpfr_signbit(value) ? (uint64_t)1 << (8 * type->size - 1) : 0);
    values_put(type, bytes, 0, mpfr_get_d(value, MPFR_RNDN));
    return values_bits(type, bytes, 0);
}

/* One array, every operator that rounds, every floating-point result. MPFR's zeros carry no sign that means anything
 * here; the sign of zero has known answers below. */
static void compare_one(const struct test_type *type, const char *name, const void *x, const void *y, size_t count,
                        struct oracle *single, struct oracle *pairs) {
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_DOT, REDUCT_MEAN, REDUCT_SUMSQ,        REDUCT_NORM2,
                                          REDUCT_RMS, REDUCT_VAR, REDUCT_STD,  REDUCT_WEIGHTED_MEAN};
    oracle_read(single, type->type, x, NULL, count);
    oracle_read(pairs, type->type, x, y, count);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t r = 0; r < test_type_count; r++) {
            const struct test_type *result = &test_types[r];
            if (result->class != FLOAT)
                continue;
            reduct_reduction reduction = test_reduction(ops[o], type->type, result->type);
            reduction.flags = ops[o] == REDUCT_STD ? REDUCT_POPULATION : 0;
            const struct oracle_result got = oracle_expect(oracle_inputs(ops[o]) == 2 ? pairs : single, &reduction);
            const bool divides_by_zero = ops[o] == REDUCT_WEIGHTED_MEAN && mpz_sgn(pairs->weights) == 0;
            if (count < (ops[o] == REDUCT_VAR ? 2U : 1U) || divides_by_zero)
                continue;
            mpfr_t value;
            mpfr_init2(value, result->precision);
            limit_to(result, value, by_mpfr(value, ops[o], type, x, y, count));
            uint64_t want = bits_of(result, value), have = values_bits(result, got.bytes, 0);
            const uint64_t sign = (uint64_t)1 << (8 * result->size - 1);
            if (!(want & ~sign) && !(have & ~sign))
                want = have = 0;
            if (got.status != REDUCT_OK || want != have)
                test_fail("%s of %zu %s %s as %s: oracle 0x%llx, MPFR 0x%llx", reduct_operator_name(ops[o]), count,
                          name, type->name, result->name, (unsigned long long)have, (unsigned long long)want);
            mpfr_clear(value);
        }
}

static void oracle_agrees_with_mpfr(void **state) {
    (void)state;
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_BF16};
    struct rng rng = rng_of(test_seed());
    struct oracle single, pairs;
    double x[MOST], y[MOST]; /* room for any type */
    oracle_init(&single);
    oracle_init(&pairs);
    for (size_t t = 0; t < 4; t++)
        for (size_t d = 0; d < distribution_count; d++)
            for (uint64_t round = test_scaled(12, 2); round-- > 0;) {
                const struct test_type *type = test_type(types[t]);
                const size_t count = rng_below(&rng, MOST) + 1;
                if (!distribution_suits(&distributions[d], type))
                    continue;
                distributions[d].fill(&rng, type, x, y, count);
                oracle_read(&single, type->type, x, NULL, count);
                oracle_read(&pairs, type->type, x, y, count);
                if (single.nans || single.positive_infinities || single.negative_infinities || pairs.nans ||
                    pairs.nan_terms || pairs.positive_infinities || pairs.negative_infinities)
                    continue; /* these have no rounding to compare */
                compare_one(type, distributions[d].name, x, y, count, &single, &pairs);
            }
    oracle_clear(&single);
    oracle_clear(&pairs);
    mpfr_free_cache();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Products: the written tree in MPFR's arithmetic of 53 bits, which has exponents enough for anything
 * ------------------------------------------------------------------------------------------------------------------ */

enum { LANES = 64, BLOCK = 4096, PRODUCT_MOST = 5 * BLOCK + 77 };

/* One block, of 1 to BLOCK factors. */
static void block_by_mpfr(mpfr_t product, const double *x, size_t count) {
    mpfr_t lane[LANES];
    for (size_t l = 0; l < LANES; l++) {
        mpfr_init2(lane[l], 53);
        mpfr_set_d(lane[l], l < count ? x[l] : 1, MPFR_RNDN);
        for (size_t i = l + LANES; i < count; i += LANES)
            mpfr_mul_d(lane[l], lane[l], x[i], MPFR_RNDN);
    }
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            mpfr_mul(lane[l], lane[l], lane[l + half], MPFR_RNDN);
    mpfr_set(product, lane[0], MPFR_RNDN);
    for (size_t l = 0; l < LANES; l++)
        mpfr_clear(lane[l]);
}

/* The aligned tree from above: the left subtree takes the largest power of two of blocks that leaves something over. */
static void tree_by_mpfr(mpfr_t product, const double *x, size_t count) {
    if (count <= BLOCK) {
        block_by_mpfr(product, x, count);
        return;
    }
    size_t left = BLOCK;
    while (2 * left < count)
        left *= 2;
    mpfr_t rest;
    mpfr_init2(rest, 53);
    tree_by_mpfr(product, x, left);
    tree_by_mpfr(rest, x + left, count - left);
    mpfr_mul(product, product, rest, MPFR_RNDN);
    mpfr_clear(rest);
}

static void compare_product(const struct test_type *type, const char *name, const void *x, size_t count,
                            struct oracle *oracle) {
    static double wide[PRODUCT_MOST];
    for (size_t i = 0; i < count; i++)
        wide[i] = values_get(type, x, i);
    mpfr_t product, rounded;
    mpfr_init2(product, 53);
    tree_by_mpfr(product, wide, count);
    for (size_t r = 0; r < test_type_count; r++) {
        if (test_types[r].class != FLOAT)
            continue;
        const reduct_reduction reduction = test_reduction(REDUCT_PRODUCT, type->type, test_types[r].type);
        const struct oracle_result got = oracle_expect(oracle, &reduction);
        mpfr_init2(rounded, test_types[r].precision);
        limit_to(&test_types[r], rounded, mpfr_set(rounded, product, MPFR_RNDN));
        uint64_t want = bits_of(&test_types[r], rounded), have = values_bits(&test_types[r], got.bytes, 0);
        if (mpfr_zero_p(rounded)) /* values_put() cuts, so that a sign may be lost */
            want = mpfr_signbit(rounded) ? (uint64_t)1 << (8 * test_types[r].size - 1) : 0;
        if (got.status != REDUCT_OK || want != have)
            test_fail("product of %zu %s %s as %s: oracle 0x%llx, MPFR 0x%llx", count, name, type->name,
                      test_types[r].name, (unsigned long long)have, (unsigned long long)want);
        mpfr_clear(rounded);
    }
    mpfr_clear(product);
}

static void products_agree_with_mpfr(void **state) {
    (void)state;
    static const char *const names[] = {"balanced_factors", "far_factors", "normal", "denormal", "300_binades"};
    static double x[PRODUCT_MOST];
    struct rng rng = rng_of(test_seed() + 1);
    struct oracle oracle;
    oracle_init(&oracle);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    for (uint64_t round = test_scaled(300, 30); round-- > 0;) {
        static const reduct_type types[] = {REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_BF16};
        const struct test_type *type = test_type(types[rng_below(&rng, 4)]);
        const char *name = names[rng_below(&rng, 5)];
        const size_t count = 1 + rng_below(&rng, rng_next(&rng) & 1 ? 200 : PRODUCT_MOST);
        distribution_named(name)->fill(&rng, type, x, NULL, count);
        oracle_read(&oracle, type->type, x, NULL, count);
        if (!oracle.product.zero)
            compare_product(type, name, x, count, &oracle);
    }
    oracle_clear(&oracle);
    mpfr_free_cache();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Answers worked out by hand
 * ------------------------------------------------------------------------------------------------------------------ */

struct known {
    reduct_operator op;
    reduct_type result;
    reduct_nan nan;
    uint32_t flags;
    reduct_status status;
    uint64_t bits;
};

static void check_known(reduct_type element, const void *x, const void *y, size_t count, const struct known *known,
                        size_t known_count) {
    struct oracle oracle;
    oracle_init(&oracle);
    for (size_t i = 0; i < known_count; i++) {
        reduct_reduction reduction = test_reduction(known[i].op, element, known[i].result);
        reduction.nan = known[i].nan;
        reduction.flags = known[i].flags;
        oracle_read(&oracle, element, x, oracle_inputs(known[i].op) == 2 ? y : NULL, count);
        const struct oracle_result got = oracle_expect(&oracle, &reduction);
        const struct test_type *type = test_type(reduction.result);
        if (got.status != known[i].status ||
            (got.status == REDUCT_OK && values_bits(type, got.bytes, 0) != known[i].bits))
            test_fail("known answer %zu: status %d, 0x%llx instead of 0x%llx", i, (int)got.status,
                      (unsigned long long)values_bits(type, got.bytes, 0), (unsigned long long)known[i].bits);
    }
    oracle_clear(&oracle);
}
#define CHECK_KNOWN(element, x, y, ...)                                                                                \
    check_known((element), (x), (y), sizeof(x) / sizeof *(x), (const struct known[]){__VA_ARGS__},                     \
                sizeof((const struct known[]){__VA_ARGS__}) / sizeof(struct known))

static void known_floats(void **state) {
    (void)state;
    const double values[] = {1, 2, 4}, weights[] = {3, -1, 4};
    CHECK_KNOWN(REDUCT_F64, values, weights, {REDUCT_WEIGHTED_MEAN, 0, 0, 0, REDUCT_OK, 0x4006aaaaaaaaaaab},
                {REDUCT_WEIGHTED_MEAN, REDUCT_F32, 0, 0, REDUCT_OK, 0x40355555},
                {REDUCT_PTP, 0, 0, 0, REDUCT_OK, 0x4008000000000000},
                {REDUCT_PTP, REDUCT_BF16, 0, 0, REDUCT_OK, 0x4040},
                {REDUCT_MINMAX, 0, 0, 0, REDUCT_OK, 0x3ff0000000000000});

    const double half_ulp[] = {1, 0x1p-53}, above[] = {1, 0x1p-53, 0x1p-1074}, odd[] = {1 + 0x1p-52, 0x1p-53};
    CHECK_KNOWN(REDUCT_F64, half_ulp, NULL, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0x3ff0000000000000});
    CHECK_KNOWN(REDUCT_F64, above, NULL, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0x3ff0000000000001});
    CHECK_KNOWN(REDUCT_F64, odd, NULL, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0x3ff0000000000002},
                {REDUCT_SUM, REDUCT_F32, 0, 0, REDUCT_OK, 0x3f800000});

    const double pair[] = {3, -4};
    CHECK_KNOWN(
        REDUCT_F64, pair, pair, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0xbff0000000000000},
        {REDUCT_MEAN, REDUCT_F16, 0, 0, REDUCT_OK, 0xb800}, {REDUCT_SUMSQ, REDUCT_BF16, 0, 0, REDUCT_OK, 0x41c8},
        {REDUCT_NORM1, REDUCT_F32, 0, 0, REDUCT_OK, 0x40e00000}, {REDUCT_NORM2, REDUCT_F16, 0, 0, REDUCT_OK, 0x4500},
        {REDUCT_DOT, 0, 0, 0, REDUCT_OK, 0x4039000000000000}, {REDUCT_VAR, 0, 0, 0, REDUCT_OK, 0x4038800000000000},
        {REDUCT_VAR, 0, 0, REDUCT_POPULATION, REDUCT_OK, 0x4028800000000000},
        {REDUCT_STD, 0, 0, REDUCT_POPULATION, REDUCT_OK, 0x400c000000000000},
        {REDUCT_NORMINF, 0, 0, 0, REDUCT_OK, 0x4010000000000000}, {REDUCT_MIN, 0, 0, 0, REDUCT_OK, 0xc010000000000000},
        {REDUCT_ARGMIN, 0, 0, 0, REDUCT_OK, 1}, {REDUCT_ARGMAX, 0, 0, 0, REDUCT_OK, 0});

    /* To f16: 65520 is the threshold to infinity, 2^-25 the one to zero, ties to even at both. */
    const float top[] = {65504, 15.99609375F}, threshold[] = {65504, 16}, low[] = {0x1p-25F},
                lowest[] = {0x1.000002p-25F};
    CHECK_KNOWN(REDUCT_F32, top, NULL, {REDUCT_SUM, REDUCT_F16, 0, 0, REDUCT_OK, 0x7bff});
    CHECK_KNOWN(REDUCT_F32, threshold, NULL, {REDUCT_SUM, REDUCT_F16, 0, 0, REDUCT_OK, 0x7c00});
    CHECK_KNOWN(REDUCT_F32, low, NULL, {REDUCT_SUM, REDUCT_F16, 0, 0, REDUCT_OK, 0});
    CHECK_KNOWN(REDUCT_F32, lowest, NULL, {REDUCT_SUM, REDUCT_F16, 0, 0, REDUCT_OK, 1});
}

static void known_special_values(void **state) {
    (void)state;
    const double zeros[] = {-0.0, -0.0}, mixed[] = {-0.0, 0.0}, ones[] = {1, 1}, cancel[] = {1, -1};
    CHECK_KNOWN(REDUCT_F64, zeros, ones, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0x8000000000000000},
                {REDUCT_MEAN, REDUCT_BF16, 0, 0, REDUCT_OK, 0x8000},
                {REDUCT_DOT, 0, 0, 0, REDUCT_OK, 0x8000000000000000}, {REDUCT_SUMSQ, 0, 0, 0, REDUCT_OK, 0},
                {REDUCT_NORM1, 0, 0, 0, REDUCT_OK, 0}, {REDUCT_VAR, 0, 0, 0, REDUCT_OK, 0},
                {REDUCT_NORMINF, 0, 0, 0, REDUCT_OK, 0}, {REDUCT_MAX, 0, 0, 0, REDUCT_OK, 0x8000000000000000});
    CHECK_KNOWN(REDUCT_F64, mixed, ones, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0},
                {REDUCT_MIN, 0, 0, 0, REDUCT_OK, 0x8000000000000000}, {REDUCT_MAX, 0, 0, 0, REDUCT_OK, 0},
                {REDUCT_ARGMAX, 0, 0, 0, REDUCT_OK, 1});
    CHECK_KNOWN(REDUCT_F64, cancel, NULL, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0});
    CHECK_KNOWN(REDUCT_F64, zeros, ones, {REDUCT_WEIGHTED_MEAN, 0, 0, 0, REDUCT_OK, 0x8000000000000000},
                {REDUCT_PTP, 0, 0, 0, REDUCT_OK, 0}, {REDUCT_COUNT, 0, 0, 0, REDUCT_OK, 2},
                {REDUCT_COUNT_NONZERO, 0, 0, 0, REDUCT_OK, 0}, {REDUCT_ANY, 0, 0, 0, REDUCT_OK, 0},
                {REDUCT_ALL, 0, 0, 0, REDUCT_OK, 0});
    CHECK_KNOWN(REDUCT_F64, cancel, cancel, {REDUCT_WEIGHTED_MEAN, 0, 0, 0, REDUCT_OK, 0x7ff0000000000000});
    CHECK_KNOWN(REDUCT_F64, ones, cancel, {REDUCT_WEIGHTED_MEAN, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000});
    CHECK_KNOWN(REDUCT_F64, cancel, ones, {REDUCT_WEIGHTED_MEAN, 0, 0, 0, REDUCT_OK, 0});

    const double nan_pair[] = {-(double)NAN, 2}, infinite[] = {(double)INFINITY, -(double)INFINITY}, none[] = {0, 0};
    CHECK_KNOWN(
        REDUCT_F64, nan_pair, ones, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000},
        {REDUCT_MAX, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000}, {REDUCT_MEAN, REDUCT_F32, 0, 0, REDUCT_OK, 0x7fc00000},
        {REDUCT_MEAN, REDUCT_F16, 0, 0, REDUCT_OK, 0x7e00}, {REDUCT_SUM, REDUCT_BF16, 0, 0, REDUCT_OK, 0x7fc0},
        {REDUCT_ARGMAX, 0, 0, 0, REDUCT_OK, 0}, {REDUCT_ARGMAX, 0, REDUCT_NAN_IGNORE, 0, REDUCT_OK, 1},
        {REDUCT_DOT, 0, REDUCT_NAN_IGNORE, 0, REDUCT_OK, 0x4000000000000000},
        {REDUCT_VAR, 0, REDUCT_NAN_IGNORE, 0, REDUCT_ERROR_EMPTY, 0},
        {REDUCT_SUM, 0, REDUCT_NAN_ERROR, 0, REDUCT_ERROR_NAN, 0}, {REDUCT_COUNT, 0, 0, 0, REDUCT_OK, 1},
        {REDUCT_COUNT_NONZERO, 0, 0, 0, REDUCT_OK, 2}, {REDUCT_COUNT_NONZERO, 0, REDUCT_NAN_IGNORE, 0, REDUCT_OK, 1},
        {REDUCT_ALL, 0, 0, 0, REDUCT_OK, 1}, {REDUCT_COUNT, 0, REDUCT_NAN_ERROR, 0, REDUCT_ERROR_NAN, 0},
        {REDUCT_MINMAX, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000}, {REDUCT_PTP, 0, REDUCT_NAN_IGNORE, 0, REDUCT_OK, 0},
        {REDUCT_WEIGHTED_MEAN, 0, REDUCT_NAN_IGNORE, 0, REDUCT_OK, 0x4000000000000000});
    CHECK_KNOWN(
        REDUCT_F64, infinite, none, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000},
        {REDUCT_NORM2, 0, 0, 0, REDUCT_OK, 0x7ff0000000000000}, {REDUCT_STD, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000},
        {REDUCT_DOT, 0, REDUCT_NAN_IGNORE, 0, REDUCT_OK, 0x7ff8000000000000},
        {REDUCT_MIN, 0, 0, 0, REDUCT_OK, 0xfff0000000000000}, {REDUCT_PTP, 0, 0, 0, REDUCT_OK, 0x7ff0000000000000});
    const double over[] = {2, (double)INFINITY}, infinities[] = {(double)INFINITY, (double)INFINITY};
    CHECK_KNOWN(REDUCT_F64, over, cancel, {REDUCT_WEIGHTED_MEAN, 0, 0, 0, REDUCT_OK, 0xfff0000000000000});
    CHECK_KNOWN(REDUCT_F64, ones, over, {REDUCT_WEIGHTED_MEAN, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000});
    CHECK_KNOWN(REDUCT_F64, infinities, NULL, {REDUCT_PTP, 0, 0, 0, REDUCT_OK, 0x7ff8000000000000});
}

static void known_integers(void **state) {
    (void)state;
    const int8_t bytes[] = {-128, -128, 127};
    CHECK_KNOWN(REDUCT_I8, bytes, bytes, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, (uint64_t)-129},
                {REDUCT_NORM1, 0, 0, 0, REDUCT_OK, 383}, {REDUCT_NORMINF, 0, 0, 0, REDUCT_OK, 128},
                {REDUCT_SUMSQ, 0, 0, 0, REDUCT_OK, 48897}, {REDUCT_MIN, 0, 0, 0, REDUCT_OK, 0x80},
                {REDUCT_SUM, REDUCT_U128, 0, 0, REDUCT_ERROR_OVERFLOW, 0},
                {REDUCT_SUM, REDUCT_U64, 0, REDUCT_WRAP, REDUCT_OK, (uint64_t)-129},
                {REDUCT_MEAN, 0, 0, 0, REDUCT_OK, 0xc045800000000000}, {REDUCT_PTP, 0, 0, 0, REDUCT_OK, 255},
                {REDUCT_AND, 0, 0, 0, REDUCT_OK, 0}, {REDUCT_OR, 0, 0, 0, REDUCT_OK, 0xff},
                {REDUCT_XOR, 0, 0, 0, REDUCT_OK, 0x7f}, {REDUCT_COUNT, 0, 0, 0, REDUCT_OK, 3});
    const int64_t limits[] = {INT64_MAX, 1}, least[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX};
    CHECK_KNOWN(REDUCT_I64, limits, limits, {REDUCT_SUM, 0, 0, 0, REDUCT_ERROR_OVERFLOW, 0},
                {REDUCT_SUM, 0, 0, REDUCT_WRAP, REDUCT_OK, 0x8000000000000000},
                {REDUCT_SUM, REDUCT_F64, 0, 0, REDUCT_OK, 0x43e0000000000000},
                {REDUCT_DOT, 0, 0, 0, REDUCT_ERROR_OVERFLOW, 0});
    CHECK_KNOWN(REDUCT_I64, least, NULL, {REDUCT_SUM, 0, 0, 0, REDUCT_OK, 0x8000000000000000},
                {REDUCT_NORMINF, 0, 0, 0, REDUCT_OK, 0x8000000000000000},
                {REDUCT_NORM1, 0, 0, 0, REDUCT_ERROR_OVERFLOW, 0});

    struct oracle oracle;
    oracle_init(&oracle);
    oracle_read(&oracle, REDUCT_I64, limits, least, 2);
    const reduct_reduction dot = test_reduction(REDUCT_DOT, REDUCT_I64, REDUCT_I256);
    const struct oracle_result wide = oracle_expect(&oracle, &dot);
    /* (2^63 - 1) * -2^63 + (-2^63 + 1) = -2^126 + 1 */
    const uint64_t words[4] = {1, 0xc000000000000000, UINT64_MAX, UINT64_MAX};
    assert_int_equal(wide.status, REDUCT_OK);
    assert_memory_equal(wide.bytes, words, sizeof words);
    oracle_clear(&oracle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_floats),
        cmocka_unit_test(known_special_values),
        cmocka_unit_test(known_integers),
        cmocka_unit_test(oracle_agrees_with_mpfr),
        cmocka_unit_test(products_agree_with_mpfr),
    };
    return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
