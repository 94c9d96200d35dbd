/* Every number of f16 and bf16: alone and in threes, summed and otherwise rounded into every floating-point type, against MPFR
 * within the bounds of each format, mpfr_subnormalize included; and every byte as a bool.
 *
 * As rows of a matrix, so that a plan does all of a format at once, as single calls, and as parts of accumulators. */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { PATTERNS = 1 << 16, ROW = 3, EXACT_BITS = 700 };

static const reduct_type halves[] = {REDUCT_F16, REDUCT_BF16};

/* Rounds x, which is exact but for what `ternary` says, once more: to the exponents of a type whose precision it has. */
static uint64_t bits_by_mpfr(const struct test_type *type, mpfr_t x, int ternary) {
    const uint64_t sign = mpfr_signbit(x) ? (uint64_t)1 << (8 * type->size - 1) : 0;
    unsigned char bytes[8] = {0};
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_set_emin(3 - type->max_exponent - type->precision);
    mpfr_set_emax(type->max_exponent + 1);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    if (mpfr_nan_p(x))
        return values_infinity(type) | (uint64_t)1 << (type->precision - 2);
    if (mpfr_inf_p(x))
        return sign | values_infinity(type);
    values_put(type, bytes, 0, mpfr_get_d(x, MPFR_RNDN));
    return sign | values_bits(type, bytes, 0);
}

/* An operator of a row by MPFR, into `result`; returns the ternary value. Infinities and NaNs take their own course. */
static int by_mpfr(mpfr_t result, reduct_operator op, const struct test_type *type, const void *row, size_t count) {
    mpfr_t sum, term;
    mpfr_inits2(EXACT_BITS, sum, term, (mpfr_ptr)0);
    int ternary;
    mpfr_set_zero(sum, op == REDUCT_SUM || op == REDUCT_MEAN ? -1 : 1);
    for (size_t i = 0; i < count; i++) {
        mpfr_set_d(term, values_get(type, row, i), MPFR_RNDN);
        if (op == REDUCT_NORM1)
            mpfr_abs(term, term, MPFR_RNDN);
        else if (op != REDUCT_SUM && op != REDUCT_MEAN)
            assert_int_equal(mpfr_sqr(term, term, MPFR_RNDN), 0);
        assert_int_equal(mpfr_add(sum, sum, term, MPFR_RNDN), 0);
    }
    if (op == REDUCT_MEAN)
        ternary = mpfr_div_ui(result, sum, count, MPFR_RNDN);
    else if (op == REDUCT_NORM2)
        ternary = mpfr_sqrt(result, sum, MPFR_RNDN);
    else
        ternary = mpfr_set(result, sum, MPFR_RNDN);
    mpfr_clears(sum, term, (mpfr_ptr)0);
    return ternary;
}

struct rows {
    const struct test_type *type;
    size_t count; /* elements of a row */
    uint16_t *elements;
    unsigned char *results;
};

/* All patterns, each with others after it that do not look like it. */
static void make_rows(struct rows *rows) {
    for (size_t r = 0; r < PATTERNS; r++)
        for (size_t i = 0; i < rows->count; i++)
            rows->elements[r * rows->count + i] = (uint16_t)(i == 0   ? r
                                                             : i == 1 ? (r ^ 0x8000) + (r >> 3 & 15)
                                                                      : r * 40503 >> 4);
}

/* Where little is to be tested, one in seven of the results, beginning with that of `first`, is computed once more. */
static void check_rows(const struct rows *rows, reduct_operator op, const struct test_type *result, const char *device,
                       size_t first) {
    const size_t step = test_scale() < 0.1 ? 7 : 1;
    const reduct_reduction reduction = {.op = op, .element = rows->type->type, .result = result->type};
    const reduct_plan_options options = {.reductions = &reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_SHAPE,
                                         .shape = {PATTERNS, rows->count, 1, (int64_t)rows->count, 1, 0},
                                         .device = device,
                                         .threads = 1};
    const void *inputs[2] = {rows->elements, NULL};
    void *results[1] = {rows->results};
    reduct_plan *plan = NULL;
    mpfr_t expected;
    mpfr_init2(expected, result->precision);
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    test_status(reduct_plan_execute(plan, inputs, results, NULL, NULL), REDUCT_OK);
    for (size_t r = first % step; r < PATTERNS; r += step) {
        const int ternary = by_mpfr(expected, op, rows->type, rows->elements + r * rows->count, rows->count);
        const uint64_t want = bits_by_mpfr(result, expected, ternary), got = values_bits(result, rows->results, r);
        if (want != got)
            test_fail("%s of %zu %s from 0x%04zx on as %s on %s: 0x%llx, by MPFR 0x%llx", reduct_operator_name(op),
                      rows->count, rows->type->name, r, result->name, device, (unsigned long long)got,
                      (unsigned long long)want);
    }
    reduct_plan_destroy(plan);
    mpfr_clear(expected);
}

/* One by one into every type, and in rows of three. */
static void every_pattern(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_MEAN, REDUCT_NORM1, REDUCT_SUMSQ, REDUCT_NORM2};
    static const reduct_type results[] = {REDUCT_F16, REDUCT_BF16, REDUCT_F32, REDUCT_F64};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct rows rows = {.elements = test_alloc(PATTERNS * ROW * sizeof(uint16_t)),
                        .results = test_alloc(PATTERNS * sizeof(double))};
    size_t turn = 0;
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    for (size_t h = 0; h < 2; h++)
        for (rows.count = 1; rows.count <= ROW; rows.count += ROW - 1)
            for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
                for (size_t t = 0; t < 4; t++) {
                    if (rows.count == 1 && ops[o] != REDUCT_SUM && ops[o] != REDUCT_SUMSQ)
                        continue;
                    rows.type = test_type(halves[h]);
                    make_rows(&rows);
                    check_rows(&rows, ops[o], test_type(results[t]), devices[turn % device_count], turn);
                    turn++;
                }
    free(rows.elements);
    free(rows.results);
    mpfr_free_cache();
}

/* What gives back the number itself, but for NaNs; by name, and in accumulators that are merged, saved and loaded. */
static void itself(void **state) {
    (void)state;
    for (size_t h = 0; h < 2; h++) {
        const struct test_type *type = test_type(halves[h]);
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = type->type};
        const reduct_accumulator_options options = {.reduction = &sum, .threads = 1};
        reduct_accumulator *one = NULL, *none = NULL;
        test_status(reduct_accumulator_create(&options, &one, NULL), REDUCT_OK);
        test_status(reduct_accumulator_create(&options, &none, NULL), REDUCT_OK);
        for (unsigned bits = 0; bits < PATTERNS; bits++) {
            const uint16_t x = (uint16_t)bits;
            const bool nan = (bits & 0x7fff) > values_infinity(type);
            const uint16_t expected = nan ? (uint16_t)(values_infinity(type) | 1U << (type->precision - 2)) : x;
            uint16_t total = 0, least = 0, greatest = 0, mean = 0, product = 0, merged = 0;
            const bool f16 = type->type == REDUCT_F16;
            test_status((f16 ? reduct_sum_f16 : reduct_sum_bf16)(&x, 1, &total), REDUCT_OK);
            test_status((f16 ? reduct_min_f16 : reduct_min_bf16)(&x, 1, &least), REDUCT_OK);
            test_status((f16 ? reduct_max_f16 : reduct_max_bf16)(&x, 1, &greatest), REDUCT_OK);
            test_status((f16 ? reduct_mean_f16 : reduct_mean_bf16)(&x, 1, &mean), REDUCT_OK);
            test_status((f16 ? reduct_product_f16 : reduct_product_bf16)(&x, 1, &product), REDUCT_OK);
            reduct_accumulator_reset(one);
            test_status(reduct_accumulator_add(one, &x, NULL, 1, NULL), REDUCT_OK);
            test_status(reduct_accumulator_merge(one, none, NULL), REDUCT_OK);
            test_status(reduct_accumulator_result(one, REDUCT_DEFAULT, &merged, NULL), REDUCT_OK);
            if (total != expected || least != expected || greatest != expected || mean != expected ||
                product != expected || merged != expected)
                test_fail("%s 0x%04x: sum %04x, min %04x, max %04x, mean %04x, product %04x, merged %04x", type->name,
                          bits, total, least, greatest, mean, product, merged);
        }
        reduct_accumulator_destroy(one);
        reduct_accumulator_destroy(none);
    }
}

/* Every byte but 0 is true, and counts as 1. */
static void every_byte(void **state) {
    (void)state;
    uint8_t bytes[256];
    uint64_t count = 0, place = 0, pairs = 0;
    double mean = 0;
    uint8_t all = 7, any = 7;
    for (unsigned i = 0; i < 256; i++) {
        bytes[i] = (uint8_t)i;
        test_status(reduct_max_bool(&bytes[i], 1, &any), REDUCT_OK);
        assert_int_equal(any, i != 0);
    }
    test_status(reduct_sum_bool(bytes, 256, &count), REDUCT_OK);
    test_status(reduct_mean_bool(bytes, 256, &mean), REDUCT_OK);
    test_status(reduct_min_bool(bytes, 256, &all), REDUCT_OK);
    test_status(reduct_argmax_bool(bytes, 256, &place), REDUCT_OK);
    test_status(reduct_dot_bool(bytes, bytes + 1, 255, &pairs), REDUCT_OK);
    assert_true(count == 255 && mean == 255.0 / 256 && all == 0 && place == 1 && pairs == 254);
    test_status(reduct_min_bool(bytes + 1, 255, &all), REDUCT_OK);
    test_status(reduct_argmin_bool(bytes + 1, 255, &place), REDUCT_OK);
    test_status(reduct_product_bool(bytes + 1, 255, &count), REDUCT_OK);
    assert_true(all == 1 && place == 0 && count == 1);
}

/* A sum of bool is an integer, and its extremes are bool: other results are refused. */
static void refused(void **state) {
    (void)state;
    static const struct {
        reduct_operator op;
        reduct_type result;
    } cases[] = {{REDUCT_SUM, REDUCT_BOOL}, {REDUCT_MAX, REDUCT_U8},      {REDUCT_MAX, REDUCT_F64},
                 {REDUCT_MEAN, REDUCT_U64}, {REDUCT_PRODUCT, REDUCT_F64}, {REDUCT_ARGMAX, REDUCT_BOOL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reduct_reduction reduction = {.op = cases[i].op, .element = REDUCT_BOOL, .result = cases[i].result};
        test_status(reduct_reduction_resolve(&reduction, NULL), REDUCT_ERROR_UNSUPPORTED);
    }
    reduct_reduction other = {.op = REDUCT_MAX, .element = REDUCT_U8, .result = REDUCT_BOOL};
    test_status(reduct_reduction_resolve(&other, NULL), REDUCT_ERROR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern),
        cmocka_unit_test(itself),
        cmocka_unit_test(every_byte),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("halves", tests, NULL, NULL);
}
