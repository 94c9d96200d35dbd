/* Fast mode keeps the error bound that the header states, for every operator that adds, against the exact value. That
 * it does not depend on threads, device or environment is tested with those.
 */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

/* The absolute error is at most FACTOR * u * (sum of absolute terms). */
enum { MOST = 100000, BITS = 5000, FACTOR = 80 };

/* value = integer * 2^exponent / divisor */
static void set_scaled(mpfr_t value, const mpz_t integer, long exponent, uint64_t divisor) {
    mpfr_set_z_2exp(value, integer, exponent, MPFR_RNDN);
    mpfr_div_ui(value, value, divisor, MPFR_RNDN);
}

/* The exact value of a reduction and what its error may be, in units of u. */
static void exact_and_scale(const struct oracle *oracle, reduct_operator op, mpfr_t exact, mpfr_t scale) {
    const uint64_t divisor = op == REDUCT_MEAN || op == REDUCT_RMS ? oracle->elements : 1;
    switch (op) {
    case REDUCT_SUM:
    case REDUCT_DOT:
    case REDUCT_MEAN:
        set_scaled(exact, oracle->sum, oracle->unit, divisor);
        set_scaled(scale, oracle->absolute, oracle->unit, divisor);
        break;
    case REDUCT_NORM1:
        set_scaled(exact, oracle->absolute, oracle->unit, divisor);
        mpfr_set(scale, exact, MPFR_RNDN);
        break;
    default:
        set_scaled(exact, oracle->squares, 2L * oracle->unit, divisor);
        if (op != REDUCT_SUMSQ)
            mpfr_sqrt(exact, exact, MPFR_RNDN);
        mpfr_set(scale, exact, MPFR_RNDN);
    }
}

static void check_bound(const struct oracle *oracle, const reduct_reduction *reduction, double got, double u,
                        const char *name) {
    mpfr_t exact, scale;
    mpfr_inits2(BITS, exact, scale, (mpfr_ptr)0);
    exact_and_scale(oracle, reduction->op, exact, scale);
    mpfr_sub_d(exact, exact, got, MPFR_RNDN);
    mpfr_abs(exact, exact, MPFR_RNDN);
    mpfr_mul_d(scale, scale, FACTOR * u, MPFR_RNDN);
    if (!isfinite(got) || mpfr_cmp(exact, scale) > 0)
        test_fail("fast %s of %llu %s %s: error %g, allowed %g", reduct_operator_name(reduction->op),
                  (unsigned long long)oracle->elements, name, reduct_type_name(reduction->element),
                  mpfr_get_d(exact, MPFR_RNDN), mpfr_get_d(scale, MPFR_RNDN));
    mpfr_clears(exact, scale, (mpfr_ptr)0);
}

static double run_fast(reduct_reduction *reduction, const char *device, const void *x, const void *y, size_t count) {
    reduction->mode = REDUCT_FAST;
    reduction->result = REDUCT_F64;
    const struct test_outcome outcome = test_run(reduction, device, 0, x, y, count);
    if (outcome.status != REDUCT_OK)
        test_fail("fast %s: %s", reduct_operator_name(reduction->op), outcome.error.message);
    double value;
    memcpy(&value, outcome.bytes, sizeof value);
    return value;
}

static void within_bound(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM,   REDUCT_MEAN,  REDUCT_DOT, REDUCT_NORM1,
                                          REDUCT_SUMSQ, REDUCT_NORM2, REDUCT_RMS};
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32};
    static double x[MOST], y[MOST];
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct rng rng = rng_of(test_seed());
    struct oracle single, pairs;
    oracle_init(&single);
    oracle_init(&pairs);
    for (size_t d = 0; d < distribution_count; d++)
        for (size_t t = 0; t < 2; t++)
            for (uint64_t round = test_scaled(12, 2); round-- > 0;) {
                const struct test_type *type = test_type(types[t]);
                if (!distributions[d].tame || !distributions[d].floats ||
                    strcmp(distributions[d].name, "denormal") == 0)
                    continue; /* products of denormals underflow, which no bound in terms of u covers */
                const size_t count = 1 + rng_below(&rng, rng_below(&rng, 4) ? 3000 : MOST - 1);
                distributions[d].fill(&rng, type, x, y, count);
                oracle_read(&single, type->type, x, NULL, count);
                oracle_read(&pairs, type->type, x, y, count);
                for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
                    reduct_reduction reduction = {.op = ops[o], .element = type->type};
                    const bool two = ops[o] == REDUCT_DOT;
                    const double got =
                        run_fast(&reduction, devices[rng_below(&rng, device_count)], x, two ? y : NULL, count);
                    check_bound(two ? &pairs : &single, &reduction, got, ldexp(1, -type->precision),
                                distributions[d].name);
                }
            }
    oracle_clear(&single);
    oracle_clear(&pairs);
    mpfr_free_cache();
}

/* No bound is stated for variances; they are near the exact ones all the same, also where the mean is large. */
static void variances_are_near(void **state) {
    (void)state;
    static const char *const names[] = {"normal", "uniform", "negative_mean", "increasing"};
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32};
    static double x[MOST];
    struct rng rng = rng_of(test_seed() + 1);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t t = 0; t < 2; t++)
            for (uint64_t round = test_scaled(8, 2); round-- > 0;) {
                const size_t count = 20 + rng_below(&rng, MOST - 20);
                distribution_named(names[n])->fill(&rng, test_type(types[t]), x, NULL, count);
                reduct_reduction reduction = {.op = REDUCT_VAR, .element = types[t], .result = REDUCT_F64};
                const struct test_outcome exact = test_run(&reduction, NULL, 0, x, NULL, count);
                double value;
                memcpy(&value, exact.bytes, sizeof value);
                const double fast = run_fast(&reduction, NULL, x, NULL, count);
                if (fabs(fast / value - 1) > (types[t] == REDUCT_F64 ? 1e-10 : 1e-3))
                    test_fail("fast var of %zu %s: %.17g, exact %.17g", count, names[n], fast, value);
            }
}

/* Special values have the same results in both modes; so do the statuses. */
static void special_values(void **state) {
    (void)state;
    static const char *const names[] = {
        "all_nan",        "nan_first",           "nan_middle",         "nan_last",  "plus_infinity",
        "minus_infinity", "both_infinities",     "all_infinite",       "plus_zero", "minus_zero",
        "mixed_zeros",    "minus_zeros_but_one", "zero_times_infinity"};
    double x[300], y[300];
    struct rng rng = rng_of(test_seed() + 2);
    struct oracle oracle;
    oracle_init(&oracle);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t o = 0; o < test_operator_count; o++)
            for (uint64_t round = test_scaled(40, 4); round-- > 0;) {
                const struct test_type *type = test_type(rng_next(&rng) & 1 ? REDUCT_F64 : REDUCT_F32);
                const struct test_operator *op = &test_operators[o];
                const size_t count = rng_below(&rng, 300);
                distribution_named(names[n])->fill(&rng, type, x, y, count);
                oracle_read(&oracle, type->type, x, op->inputs == 2 ? y : NULL, count);
                reduct_reduction reduction = test_reduction(op->op, type->type, REDUCT_DEFAULT);
                reduction.nan = (reduct_nan)rng_below(&rng, 3);
                const struct oracle_result expected = oracle_expect(&oracle, &reduction);
                unsigned char zero[8] = {0};
                const bool special = expected.status != REDUCT_OK || memcmp(expected.bytes, zero, type->size) == 0 ||
                                     oracle_decode(reduction.result, expected.bytes, 0).kind != ORACLE_FINITE;
                if (!special || type->type == REDUCT_F16)
                    continue;
                reduction.mode = REDUCT_FAST;
                const struct test_outcome got = test_run(&reduction, NULL, 0, x, op->inputs == 2 ? y : NULL, count);
                test_check(&got, &expected, &reduction, "%zu %s in fast mode", count, names[n]);
            }
    oracle_clear(&oracle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_bound),
        cmocka_unit_test(variances_are_near),
        cmocka_unit_test(special_values),
    };
    return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}
