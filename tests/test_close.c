/* Sums that are close, and the answers that are made of them: what kernels say of how far a sum is from the truth, and every result that is
 * decided by less than the exact sum, or is not.
 *
 * From the survival list: "Values", "Same bits", and ends of ranges: sums next to a tie, zero, terms beyond what a sample shows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/features.h"
#include "cpu/kernels.h"
#include "core/environment.h"
#include "support.h"
#include "values.h"

enum { MOST = 3 * RD_CLOSE + 77 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Data
 * ------------------------------------------------------------------------------------------------------------------ */

/* As they are, all of them, are put into elements of a type, which cuts them to what it holds. */
typedef double number(struct rng *rng, size_t i);

static double uniform(struct rng *rng, size_t i) {
    (void)i;
    return rng_unit(rng) - 0.5;
}
static double spread(struct rng *rng, size_t i) {
    (void)i;
    return ldexp(rng_unit(rng) - 0.5, (int)rng_below(rng, 20) - 10);
}
/* Sums of these are ties of results with few bits. */
static double whole(struct rng *rng, size_t i) {
    (void)i;
    return (double)rng_below(rng, 200) - 60;
}
static double ones(struct rng *rng, size_t i) {
    (void)rng, (void)i;
    return 1;
}
/* No variance at all, of squares that are rounded. */
static double tenths(struct rng *rng, size_t i) {
    (void)rng, (void)i;
    return 0.1;
}
/* The mean is zero, exactly, of pairs that follow each other. */
static double mirrored(struct rng *rng, size_t i) {
    static double last;
    last = i % 2 ? -last : rng_unit(rng);
    return last;
}
/* Variances cancel. */
static double far(struct rng *rng, size_t i) {
    (void)i;
    return 1000 + rng_unit(rng);
}
/* Beyond what a sample shows, which does not look there. */
static double surprise(struct rng *rng, size_t i) {
    return i == 1234 || i == 1235 ? ldexp(rng_unit(rng) + 1, 7 + (int)rng_below(rng, 10)) : rng_unit(rng) - 0.5;
}
static double hardly_any(struct rng *rng, size_t i) {
    return i % 911 ? 0 : rng_unit(rng);
}
static double none(struct rng *rng, size_t i) {
    (void)rng, (void)i;
    return -0.0;
}
static double tiny(struct rng *rng, size_t i) {
    (void)i;
    return ldexp(rng_unit(rng), -1020);
}
static double huge(struct rng *rng, size_t i) {
    (void)i;
    return ldexp(rng_unit(rng) - 0.5, 1000);
}
static double odd(struct rng *rng, size_t i) {
    return i == 4321 ? (rng_below(rng, 2) ? NAN : INFINITY) : rng_unit(rng);
}

static const struct {
    const char *name;
    number *of;
} kinds[] = {{"uniform", uniform}, {"spread", spread},     {"whole", whole},
             {"ones", ones},       {"tenths", tenths},     {"mirrored", mirrored},
             {"far", far},         {"surprise", surprise}, {"hardly any", hardly_any},
             {"none", none},       {"tiny", tiny},         {"huge", huge},
             {"odd", odd}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void fill(struct rng *rng, const struct test_type *type, int kind, void *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        values_put(type, x, i, kinds[kind].of(rng, i));
}

static const reduct_type elements[] = {REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_BF16};

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------------ */

/* Twice a sum of the oracle's and what a kernel found are compared as integers of the unit's 2^-1200. */
static void put(mpz_t to, double value) {
    int exponent;
    const double significand = frexp(value, &exponent);
    mpz_set_d(to, ldexp(significand, 53));
    mpz_mul_2exp(to, to, (mp_bitcnt_t)(exponent - 53 + 2300));
}

static bool lies_within(const struct rd_close *found, int unit, const mpz_t truth, int truth_unit) {
    mpz_t sum, part, slack;
    mpz_inits(sum, part, slack, NULL);
    put(sum, found->rest);
    mpz_set_si(part, found->units);
    mpz_mul_2exp(part, part, (mp_bitcnt_t)(unit + 2300));
    mpz_add(sum, sum, part);
    mpz_mul_2exp(part, truth, (mp_bitcnt_t)(truth_unit + 2300));
    mpz_sub(sum, sum, part);
    put(slack, found->slack);
    const bool within = mpz_cmpabs(sum, slack) <= 0;
    mpz_clears(sum, part, slack, NULL);
    return within;
}

static void check_kernel(const struct rd_kernels *kernels, const struct test_type *type, bool coarse, int kind,
                         size_t count, struct rng *rng) {
    static const enum rd_transform transforms[] = {RD_TIMES, RD_SQUARE, RD_MOMENTS};
    struct oracle oracle, alone;
    const int unit[2] = {(int)rng_below(rng, 30) - 50, (int)rng_below(rng, 30) - 50};
    void *x = test_alloc(count * type->size), *y = test_alloc(count * type->size);
    fill(rng, type, kind, x, count);
    fill(rng, type, kind, y, count);
    oracle_init(&oracle);
    oracle_init(&alone);
    oracle_read(&oracle, type->type, x, y, count);
    oracle_read(&alone, type->type, x, NULL, count);
    for (size_t t = 0; t < sizeof transforms / sizeof *transforms; t++) {
        const bool pairs = transforms[t] == RD_TIMES, moments = transforms[t] == RD_MOMENTS;
        struct rd_close found[2];
        rd_environment caller = rd_environment_enter();
        const bool held = kernels->close[type->type](transforms[t], coarse, x, pairs ? y : NULL, count, unit, found);
        rd_environment_leave(caller);
        if (!held)
            continue;
        if ((pairs && oracle.nans + oracle.nan_terms) || alone.nans || alone.positive_infinities)
            test_fail("%s: %s %s: took what is not finite", kernels->name, type->name, kinds[kind].name);
        const bool within = pairs     ? lies_within(&found[0], unit[0], oracle.sum, oracle.unit)
                            : moments ? lies_within(&found[0], unit[0], alone.sum, alone.unit) &&
                                            lies_within(&found[1], unit[1], alone.squares, 2 * alone.unit)
                                      : lies_within(&found[0], unit[0], alone.squares, 2 * alone.unit);
        if (!within)
            test_fail("%s: %s %s, %zu elements, transform %d, units 2^%d and 2^%d, coarse %d: further from the truth "
                      "than it says",
                      kernels->name, type->name, kinds[kind].name, count, (int)transforms[t], unit[0], unit[1], coarse);
    }
    oracle_clear(&oracle);
    oracle_clear(&alone);
    free(x);
    free(y);
}

static void kernels_say_how_far(void **state) {
    (void)state;
    static const size_t counts[] = {1, 31, 32, 33, 1000, RD_CLOSE / 4, RD_CLOSE - 5, RD_CLOSE};
    const char *devices[TEST_MAX_DEVICES];
    struct rng rng = rng_of(test_seed());
    const size_t found = test_devices(devices);
    for (size_t d = 0; d < found; d++) {
        const struct rd_kernels *kernels = strncmp(devices[d], "cpu:", 4) ? NULL : rd_kernels_find(devices[d] + 4);
        for (size_t e = 0; kernels && e < sizeof elements / sizeof *elements; e++)
            for (int kind = 0; kernels->close[elements[e]] && kind < KINDS; kind++)
                for (int coarse = 0; coarse <= (elements[e] != REDUCT_F64); coarse++) {
                    const size_t count = counts[rng_below(&rng, test_scale() < 0.5 ? 6 : 8)];
                    check_kernel(kernels, test_type(elements[e]), coarse, kind, count, &rng);
                }
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------------------------------------------------------ */

struct operators {
    size_t count;
    reduct_operator op[6];
};
static const struct operators of_products = {
    6, {REDUCT_DOT, REDUCT_SUMSQ, REDUCT_NORM2, REDUCT_RMS, REDUCT_VAR, REDUCT_STD}};
static const struct operators of_elements = {3, {REDUCT_SUM, REDUCT_MEAN, REDUCT_NORM1}};

/* All results of one pair of arrays, on every device. */
static void check_results(const char *const *devices, size_t device_count, const struct operators *operators,
                          const struct test_type *type, const void *x, const void *y, size_t count, const char *name) {
    static const reduct_type results[] = {REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_BF16};
    static const reduct_nan policies[] = {REDUCT_NAN_PROPAGATE, REDUCT_NAN_IGNORE, REDUCT_NAN_ERROR};
    struct oracle pairs, alone;
    oracle_init(&pairs);
    oracle_init(&alone);
    oracle_read(&pairs, type->type, x, y, count);
    oracle_read(&alone, type->type, x, NULL, count);
    for (size_t o = 0; o < operators->count; o++)
        for (size_t r = 0; r < sizeof results / sizeof *results; r++) {
            const bool two = oracle_inputs(operators->op[o]) == 2;
            reduct_reduction reduction = test_reduction(operators->op[o], type->type, results[r]);
            reduction.nan = policies[(o + r) % 3];
            reduction.flags = operators->op[o] == REDUCT_VAR && r % 2 ? REDUCT_POPULATION : 0;
            const struct oracle_result expected = oracle_expect(two ? &pairs : &alone, &reduction);
            for (size_t d = 0; d < device_count; d++) {
                const unsigned threads = 1 + (unsigned)((d + r) % 3);
                const struct test_outcome got = test_run(&reduction, devices[d], threads, x, two ? y : NULL, count);
                test_check(&got, &expected, &reduction, "%s %s, %zu elements, %s, %u threads", type->name, name, count,
                           devices[d], threads);
            }
        }
    oracle_clear(&pairs);
    oracle_clear(&alone);
}

static void answers_are_rounded_once(void **state) {
    (void)state;
    const char *devices[TEST_MAX_DEVICES];
    const size_t found = test_devices(devices);
    struct rng rng = rng_of(test_seed() + 1);
    for (size_t e = 0; e < sizeof elements / sizeof *elements; e++) {
        const struct test_type *type = test_type(elements[e]);
        for (int kind = 0; kind < KINDS; kind++) {
            static const size_t counts[] = {RD_FEW + 1, RD_BRIEF, RD_BRIEF + 1, RD_CLOSE / 4 + 3, RD_CLOSE + 32, MOST};
            const size_t count = counts[kinds[kind].of == surprise ? 3 : rng_below(&rng, test_scale() < 0.5 ? 4 : 6)];
            void *x = test_alloc(count * type->size), *y = test_alloc(count * type->size);
            fill(&rng, type, kind, x, count);
            fill(&rng, type, (int)rng_below(&rng, 3) ? kind : 0, y, count);
            check_results(devices, found, &of_products, type, x, y, count, kinds[kind].name);
            free(x);
            free(y);
        }
    }
}

/* Sums of f32 are formed in half vectors on some processors. */
static void halves_of_vectors_give_the_same(void **state) {
    (void)state;
    static const size_t counts[] = {100, RD_BRIEF + 1, RD_BRIEF_NARROW, 5 * RD_SPAN + 31, MOST};
    const char *devices[TEST_MAX_DEVICES];
    const size_t found = test_devices(devices);
    const struct test_type *type = test_type(REDUCT_F32);
    struct rng rng = rng_of(test_seed() + 2);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t c = 0; c < 2 * sizeof counts / sizeof *counts; c++) {
            const bool halves = c % 2;
            const size_t count = counts[c / 2];
            float *x = test_alloc(count * sizeof *x);
            rd_assume_halves(halves);
            fill(&rng, type, kind, x, count);
            check_results(devices, found, &of_elements, type, x, NULL, count, kinds[kind].name);
            free(x);
        }
}

/* Sums that are a tie of the result, or next to one by less than any bound can tell. */
static void ties_are_told(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static const double nudges[] = {0, 0x1p-200, -0x1p-200, 0x1p-60, -0x1p-60};
    const char *devices[TEST_MAX_DEVICES];
    const size_t found = test_devices(devices);
    const struct test_type *type = test_type(REDUCT_F64);
    double *x = test_alloc(COUNT * sizeof *x), *y = test_alloc(COUNT * sizeof *y);
    for (size_t n = 0; n < sizeof nudges / sizeof *nudges; n++)
        for (int digits = 8; digits <= 53; digits += 1) { /* the last of a result, and half of it */
            for (size_t i = 0; i < COUNT; i++)
                x[i] = y[i] = 0;
            for (size_t i = 0; i < 32; i++) /* what a sample sees */
                x[i * (COUNT / 32)] = 1, y[i * (COUNT / 32)] = i % 2 ? 1 : -1;
            x[7] = ldexp(1, 30), y[7] = ldexp(1, -30);
            x[11] = ldexp(1, -digits), y[11] = 1;
            x[13] = nudges[n], y[13] = 1;
            check_results(devices, found, &of_products, type, x, y, COUNT, "a tie");
        }
    free(x);
    free(y);
}

/* The same of variances, of numbers about a mean: 1 + 5 * 2^-8, between two bf16, and a little more. */
static void ties_of_variances_are_told(void **state) {
    (void)state;
    enum { COUNT = 8192, TWOS = 54 };
    static const double means[] = {0, 1000, -1000}, nudges[] = {0, 0x1p-40};
    const char *devices[TEST_MAX_DEVICES];
    const size_t found = test_devices(devices);
    for (size_t e = 0; e < 2; e++)
        for (size_t m = 0; m < (elements[e] == REDUCT_F64 ? 3 : 1); m++)
            for (size_t n = 0; n < 2; n++) {
                const struct test_type *type = test_type(elements[e]);
                void *x = test_alloc(COUNT * type->size);
                for (size_t i = 0; i < COUNT; i++) {
                    const double size = i < 2 ? nudges[n] : i < 2 + TWOS ? 2 : 1;
                    values_put(type, x, COUNT - 1 - i, means[m] + (i % 2 ? -size : size));
                }
                reduct_reduction reduction = test_reduction(REDUCT_VAR, type->type, REDUCT_BF16);
                reduction.flags = REDUCT_POPULATION;
                struct oracle oracle;
                oracle_init(&oracle);
                oracle_read(&oracle, type->type, x, NULL, COUNT);
                const struct oracle_result expected = oracle_expect(&oracle, &reduction);
                assert_int_equal(expected.bytes[0], n ? 0x83 : 0x82); /* or it is no such tie */
                for (size_t d = 0; d < found; d++) {
                    const struct test_outcome got = test_run(&reduction, devices[d], 1, x, NULL, COUNT);
                    test_check(&got, &expected, &reduction, "%s, mean %g, nudge %g, %s", type->name, means[m],
                               nudges[n], devices[d]);
                }
                oracle_clear(&oracle);
                free(x);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_say_how_far),
                                       cmocka_unit_test(answers_are_rounded_once),
                                       cmocka_unit_test(halves_of_vectors_give_the_same),
                                       cmocka_unit_test(ties_are_told), cmocka_unit_test(ties_of_variances_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
