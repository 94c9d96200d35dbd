/* Weighted means: the division of one exact sum by another, digit by digit against GMP, and what sums that are zero or infinite
 * give.
 *
 * From the survival list: "Cancellation", "Values".
 */
#include <math.h>
#include <string.h>

#include "arithmetic/big.h"
#include "support.h"
#include "values.h"

/* ---------------------------------------------------------------------------------------------------------------------
 * Quotients
 * ------------------------------------------------------------------------------------------------------------------ */

/* Digits for which estimates of a quotient's digit are wrong more often than for any others. */
static uint32_t any_digit(struct rng *rng) {
    static const uint32_t special[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
    const uint64_t which = rng_below(rng, 12);
    return which < 8 ? special[which] : (uint32_t)rng_next(rng);
}

static void fill_big(struct rng *rng, struct rd_big *big, mpz_t value, size_t most) {
    big->length = 1 + (int)rng_below(rng, rng_below(rng, 3) ? 6 : most);
    big->exponent = (int)rng_below(rng, 2000) - 1000;
    big->sticky = false;
    for (int i = 0; i < big->length; i++)
        big->digit[i] = any_digit(rng);
    if (!big->digit[big->length - 1])
        big->digit[big->length - 1] = 1;
    mpz_import(value, (size_t)big->length, -1, sizeof *big->digit, 0, 0, big->digit);
}

/* The quotient's digits are those of the exact one, cut off, of at least 65 bits; what was cut off is sticky. */
static void check_quotient(struct rd_big *a, struct rd_big *b, const mpz_t dividend, const mpz_t divisor) {
    const int exponent = a->exponent - b->exponent;
    mpz_t wanted, rest, got;
    mpz_inits(wanted, rest, got, NULL);
    rd_big_quotient(a, b);
    mpz_import(got, (size_t)a->length, -1, sizeof *a->digit, 0, 0, a->digit);
    const long scale = exponent - a->exponent; /* the quotient is got * 2^-scale in units of the exact one's */
    mpz_set(wanted, dividend);
    mpz_set(rest, divisor);
    mpz_mul_2exp(scale > 0 ? wanted : rest, scale > 0 ? wanted : rest, (mp_bitcnt_t)(scale > 0 ? scale : -scale));
    mpz_fdiv_qr(wanted, rest, wanted, rest);
    if (mpz_cmp(wanted, got) != 0 || a->sticky != (mpz_sgn(rest) != 0) || mpz_sizeinbase(got, 2) < 65) {
        gmp_printf("%Zx / %Zx\n  gives %Zx, sticky %d\n  not   %Zx, rest %Zx\n", dividend, divisor, got, a->sticky,
                   wanted, rest);
        test_fail("a wrong quotient");
    }
    mpz_clears(wanted, rest, got, NULL);
}

static void quotients(void **state) {
    (void)state;
    static struct rd_big a, b;
    struct rng rng = rng_of(test_seed());
    mpz_t dividend, divisor;
    mpz_inits(dividend, divisor, NULL);
    for (uint64_t round = test_scaled(200000, 10000); round-- > 0;) {
        fill_big(&rng, &b, divisor, 67);
        fill_big(&rng, &a, dividend, 136);
        if (rng_below(&rng, 4) == 0) { /* exact, or nearly so */
            mpz_mul_ui(dividend, divisor, rng_next(&rng) | 1);
            mpz_add_ui(dividend, dividend, rng_below(&rng, 2));
            size_t length;
            mpz_export(a.digit, &length, -1, sizeof *a.digit, 0, 0, dividend);
            a.length = (int)length;
        }
        check_quotient(&a, &b, dividend, divisor);
    }
    mpz_clears(dividend, divisor, NULL);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Means
 * ------------------------------------------------------------------------------------------------------------------ */

static const char *devices[TEST_MAX_DEVICES];
static size_t device_count;

/* These devices, all policies and result types against the oracle, through plans. */
static void check_mean_on(size_t first, size_t beyond, struct oracle *oracle, reduct_type element, const void *x,
                          const void *weights, size_t count) {
    oracle_read(oracle, element, x, weights, count);
    for (size_t r = 0; r < test_type_count; r++)
        for (int nan = REDUCT_NAN_PROPAGATE; nan <= REDUCT_NAN_ERROR; nan++)
            for (size_t d = first; d < beyond; d++) {
                if (!oracle_has_result(REDUCT_WEIGHTED_MEAN, element, test_types[r].type))
                    continue;
                reduct_reduction mean = test_reduction(REDUCT_WEIGHTED_MEAN, element, test_types[r].type);
                mean.nan = (reduct_nan)nan;
                const struct oracle_result expected = oracle_expect(oracle, &mean);
                const struct test_outcome got = test_run(&mean, devices[d], 1, x, weights, count);
                test_check(&got, &expected, &mean, "%zu pairs on %s", count, devices[d]);
            }
}

static void check_mean(struct oracle *oracle, reduct_type element, const void *x, const void *weights, size_t count) {
    check_mean_on(0, device_count, oracle, element, x, weights, count);
}

/* Every choice of three values and three weights among what is special (some of them where little is to be tested), on the devices in
 * turns: they differ in how they add, and what special sums give is one code. */
static void specials(void **state) {
    (void)state;
    const double special[] = {0.0, -0.0, 1, -1, 3, (double)INFINITY, -(double)INFINITY, (double)NAN};
    _Static_assert(sizeof special == 8 * sizeof *special, "three bits choose one");
    struct rng rng = rng_of(test_seed() + 2);
    struct oracle oracle;
    size_t turn = 0;
    oracle_init(&oracle);
    for (unsigned choice = 0; choice < 1U << 18; choice++) {
        double x[3], weights[3];
        float narrow[2][3];
        for (unsigned i = 0; i < 3; i++) {
            x[i] = special[choice >> 6 * i & 7];
            weights[i] = special[choice >> (6 * i + 3) & 7];
            narrow[0][i] = (float)x[i];
            narrow[1][i] = (float)weights[i];
        }
        if (choice % 64 > choice / 64 % 64 || choice / 64 % 64 > choice / 4096) /* the same pairs in another order */
            continue;
        if (test_scale() < 1 && rng_unit(&rng) >= test_scale())
            continue;
        const size_t device = turn++ % device_count;
        check_mean_on(device, device + 1, &oracle, REDUCT_F64, x, weights, 3);
        if (choice % 3 == 0)
            check_mean_on(device, device + 1, &oracle, REDUCT_F32, narrow[0], narrow[1], 3);
    }
    oracle_clear(&oracle);
}

/* Weights and products that cancel to few bits, or to nothing, at all exponents. */
static void cancelling(void **state) {
    (void)state;
    enum { MOST = 5000 };
    static double x[MOST], weights[MOST];
    static const size_t counts[] = {2, 3, 7, 40, 65, 1000, 1025, MOST};
    struct rng rng = rng_of(test_seed() + 1);
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(300, 30); round-- > 0;) {
        const size_t count = counts[rng_below(&rng, sizeof counts / sizeof *counts)];
        const int range = rng_below(&rng, 3) ? 60 : 500;
        for (size_t i = 0; i < count; i++) {
            x[i] = ldexp(rng_unit(&rng) - 0.5, (int)rng_below(&rng, (uint64_t)range));
            weights[i] = i % 2 && rng_below(&rng, 8)
                             ? -weights[i - 1]
                             : ldexp(rng_unit(&rng) - 0.5, (int)rng_below(&rng, (uint64_t)range));
            if (i % 2 && rng_below(&rng, 2))
                x[i] = x[i - 1];
        }
        weights[count - 1] = rng_below(&rng, 3) ? weights[count - 1] : 0;
        if (rng_below(&rng, 3) == 0)
            values_put_bits(test_type(REDUCT_F64), rng_below(&rng, 2) ? x : weights, rng_below(&rng, count),
                            values_nan(&rng, test_type(REDUCT_F64)));
        if (rng_below(&rng, 3) == 0)
            x[rng_below(&rng, count)] = (double)INFINITY;
        check_mean(&oracle, REDUCT_F64, x, weights, count);
    }
    oracle_clear(&oracle);
}

/* Integers whose sums have one zero: 0 / -3 is 0, 0 / 0 NaN, 5 / 0 an infinity. */
static void integers(void **state) {
    (void)state;
    static const int64_t x[] = {0, 5, -5, INT64_MIN, INT64_MAX}, weights[] = {-3, 3, 0, INT64_MIN, INT64_MAX};
    struct oracle oracle;
    oracle_init(&oracle);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 5; k++) {
                const int64_t values[2] = {x[i], x[j]}, by[2] = {weights[k], weights[(k + j) % 5]};
                check_mean(&oracle, REDUCT_I64, values, by, 2);
                check_mean(&oracle, REDUCT_I64, values, by, 1);
            }
    const int64_t zero = 0, minus = -3;
    double mean = 77;
    test_status(reduct_weighted_mean_i64(&zero, &minus, 1, &mean), REDUCT_OK);
    assert_true(mean == 0 && !signbit(mean));
    test_status(reduct_weighted_mean_i64(NULL, NULL, 0, &mean), REDUCT_ERROR_EMPTY);
    oracle_clear(&oracle);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(quotients), cmocka_unit_test(specials),
                                       cmocka_unit_test(cancelling), cmocka_unit_test(integers)};
    device_count = test_devices(devices);
    return cmocka_run_group_tests_name("weighted", tests, NULL, NULL);
}
