/* Products: the bits of the tree that docs/numerics.md describes, however the factors come: in one piece on any number
 * of threads and any device, in pieces, saved and loaded in between, merged where that can be. Whole arrays of all sizes
 * and values are in the matrix too.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { BLOCK = 4096, MOST = 70 * BLOCK, SAVED = 4096, THREADS = 16 };

static const char *devices[TEST_MAX_DEVICES];
static size_t device_count;
static const reduct_type floats[] = {REDUCT_F64, REDUCT_F32};
static const char *const factors[] = {"balanced_factors", "far_factors", "balanced_factors", "nan_middle", "raw",
                                      "sparse",           "all_infinite"};

static int find_devices(void **state) {
    (void)state;
    device_count = test_devices(devices);
    return 0;
}

static const char *any_device(struct rng *rng) {
    return devices[rng_below(rng, device_count)];
}

/* Sizes around what the tree and the sharing out among threads are made of, and others. */
static size_t any_count(struct rng *rng) {
    const size_t step = (size_t)BLOCK << rng_below(rng, 5), multiple = step * rng_below(rng, MOST / step);
    switch (rng_below(rng, 3)) {
    case 0:
        return multiple;
    case 1:
        return multiple + rng_below(rng, 130);
    default:
        return rng_below(rng, MOST);
    }
}

static reduct_reduction any_product(struct rng *rng) {
    static const reduct_type results[] = {REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_BF16};
    reduct_reduction reduction = test_reduction(REDUCT_PRODUCT, floats[rng_below(rng, 2)], results[rng_below(rng, 4)]);
    reduction.mode = rng_next(rng) & 1 ? REDUCT_FAST : REDUCT_EXACT;
    reduction.nan = rng_next(rng) & 1 ? REDUCT_NAN_PROPAGATE : REDUCT_NAN_IGNORE;
    return reduction;
}

static reduct_accumulator *make(const reduct_reduction *reduction, const char *device, unsigned threads) {
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(
                    &(reduct_accumulator_options){.reduction = reduction, .device = device, .threads = threads},
                    &accumulator, NULL),
                REDUCT_OK);
    return accumulator;
}

static const void *from(const void *x, const reduct_reduction *reduction, size_t index) {
    return (const char *)x + index * test_type(reduction->element)->size;
}

static void check_result(const reduct_accumulator *accumulator, struct oracle *oracle,
                         const reduct_reduction *reduction, const void *x, size_t count, const char *name) {
    oracle_read(oracle, reduction->element, x, NULL, count);
    const struct oracle_result expected = oracle_expect(oracle, reduction);
    struct test_outcome got = test_outcome();
    got.status = reduct_accumulator_result(accumulator, reduction->result, got.bytes, &got.error);
    test_check(&got, &expected, reduction, "%zu %s accumulated", count, name);
}

static size_t save(const reduct_accumulator *accumulator, unsigned char bytes[SAVED]) {
    size_t size = SAVED;
    test_status(reduct_accumulator_save(accumulator, bytes, &size, NULL), REDUCT_OK);
    return size;
}

static void assert_same_state(const reduct_accumulator *a, const reduct_accumulator *b) {
    unsigned char bytes_a[SAVED], bytes_b[SAVED];
    const size_t size = save(a, bytes_a);
    assert_int_equal(size, save(b, bytes_b));
    assert_memory_equal(bytes_a, bytes_b, size);
}

static void through_bytes(struct rng *rng, reduct_accumulator **accumulator) {
    unsigned char bytes[SAVED];
    const size_t size = save(*accumulator, bytes);
    reduct_accumulator_destroy(*accumulator);
    *accumulator = NULL;
    test_status(reduct_accumulator_load(bytes, size,
                                        &(reduct_accumulator_options){.device = any_device(rng),
                                                                      .threads = 1 + (unsigned)rng_below(rng, 3)},
                                        accumulator, NULL),
                REDUCT_OK);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void on_threads(void **state) {
    (void)state;
    static double x[MOST];
    struct rng rng = rng_of(test_seed());
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(20, 3); round-- > 0;) {
        const char *name = factors[rng_below(&rng, sizeof factors / sizeof *factors)];
        const reduct_reduction reduction = any_product(&rng);
        const size_t count = MOST - rng_below(&rng, 20 * BLOCK);
        distribution_named(name)->fill(&rng, test_type(reduction.element), x, NULL, count);
        oracle_read(&oracle, reduction.element, x, NULL, count);
        const struct oracle_result expected = oracle_expect(&oracle, &reduction);
        for (unsigned threads = 1; threads <= THREADS; threads++)
            for (size_t d = 0; d < device_count; d++) {
                const struct test_outcome got = test_run(&reduction, devices[d], threads, x, NULL, count);
                test_check(&got, &expected, &reduction, "%zu %s on %s, %u threads", count, name, devices[d], threads);
            }
    }
    oracle_clear(&oracle);
}

static void in_pieces(void **state) {
    (void)state;
    static double x[MOST];
    struct rng rng = rng_of(test_seed() + 1);
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(400, 30); round-- > 0;) {
        const char *name = factors[rng_below(&rng, sizeof factors / sizeof *factors)];
        const reduct_reduction reduction = any_product(&rng);
        const size_t count = any_count(&rng);
        distribution_named(name)->fill(&rng, test_type(reduction.element), x, NULL, count);
        reduct_accumulator *whole = make(&reduction, any_device(&rng), 1);
        reduct_accumulator *pieces = make(&reduction, any_device(&rng), 3);
        test_status(reduct_accumulator_add(whole, x, NULL, count, NULL), REDUCT_OK);
        for (size_t first = 0, step; first < count; first += step) {
            step = 1 + rng_below(&rng, rng_next(&rng) & 1 ? 100000 : 3000);
            step = step < count - first ? step : count - first;
            test_status(reduct_accumulator_add(pieces, from(x, &reduction, first), NULL, step, NULL), REDUCT_OK);
            if (rng_below(&rng, 4) == 0)
                through_bytes(&rng, &pieces);
            if (rng_below(&rng, 50) == 0)
                check_result(pieces, &oracle, &reduction, x, first + step, name);
        }
        check_result(pieces, &oracle, &reduction, x, count, name);
        assert_same_state(whole, pieces);
        reduct_accumulator_destroy(whole);
        reduct_accumulator_destroy(pieces);
    }
    oracle_clear(&oracle);
}

/* Merging gives the bits of a single pass or is refused, and it is refused only where the tree would be another: where
 * the elements before are not a multiple of the largest subtree that follows. */
static void merged(void **state) {
    (void)state;
    static double x[MOST];
    struct rng rng = rng_of(test_seed() + 2);
    uint64_t done = 0, refused = 0;
    for (uint64_t round = test_scaled(1000, 60); round-- > 0;) {
        const reduct_reduction reduction = any_product(&rng);
        const size_t count = any_count(&rng), cut = rng_below(&rng, 4) ? any_count(&rng) : 0;
        const size_t before = cut < count ? cut : count, after = count - before;
        distribution_named("balanced_factors")->fill(&rng, test_type(reduction.element), x, NULL, count);
        reduct_accumulator *whole = make(&reduction, "cpu", 1), *left = make(&reduction, "cpu", 1),
                           *same = make(&reduction, "cpu", 1), *right = make(&reduction, "cpu", 1);
        test_status(reduct_accumulator_add(whole, x, NULL, count, NULL), REDUCT_OK);
        test_status(reduct_accumulator_add(left, x, NULL, before, NULL), REDUCT_OK);
        test_status(reduct_accumulator_add(same, x, NULL, before, NULL), REDUCT_OK);
        test_status(reduct_accumulator_add(right, from(x, &reduction, before), NULL, after, NULL), REDUCT_OK);
        size_t subtree = after ? BLOCK : 1;
        while (2 * subtree <= after / BLOCK * BLOCK)
            subtree *= 2;
        reduct_error error = {0};
        const reduct_status status = reduct_accumulator_merge(left, right, &error);
        assert_int_equal(status, before % subtree ? REDUCT_ERROR_UNSUPPORTED : REDUCT_OK);
        assert_same_state(left, status == REDUCT_OK ? whole : same);
        *(status == REDUCT_OK ? &done : &refused) += 1;
        reduct_accumulator_destroy(whole);
        reduct_accumulator_destroy(left);
        reduct_accumulator_destroy(same);
        reduct_accumulator_destroy(right);
    }
    assert_true(done > 0 && refused > 0);
}

static void merged_with_itself(void **state) {
    (void)state;
    static double x[4 * BLOCK];
    const reduct_reduction reduction = test_reduction(REDUCT_PRODUCT, REDUCT_F64, REDUCT_DEFAULT);
    struct rng rng = rng_of(test_seed() + 3);
    distribution_named("balanced_factors")->fill(&rng, test_type(REDUCT_F64), x, NULL, 2 * BLOCK);
    memcpy(x + 2 * BLOCK, x, 2 * BLOCK * sizeof *x);
    reduct_accumulator *twice = make(&reduction, "cpu", 1), *whole = make(&reduction, "cpu", 1);
    test_status(reduct_accumulator_add(twice, x, NULL, 2 * BLOCK, NULL), REDUCT_OK);
    test_status(reduct_accumulator_merge(twice, twice, NULL), REDUCT_OK);
    test_status(reduct_accumulator_add(whole, x, NULL, 4 * BLOCK, NULL), REDUCT_OK);
    assert_same_state(twice, whole);
    reduct_accumulator_destroy(twice);
    reduct_accumulator_destroy(whole);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void check_bits(double got, double expected) {
    if (memcmp(&got, &expected, sizeof got))
        test_fail("product: %a, not %a", got, expected);
}

#define PRODUCT(expected, ...)                                                                                         \
    do {                                                                                                               \
        const double x_[] = {__VA_ARGS__};                                                                             \
        double product_ = 77;                                                                                          \
        test_status(reduct_product_f64(x_, sizeof x_ / sizeof *x_, &product_), REDUCT_OK);                             \
        check_bits(product_, (expected));                                                                              \
    } while (0)

static void known_floats(void **state) {
    (void)state;
    const double inf = (double)INFINITY, quiet = (double)NAN;
    PRODUCT(6, 1, 2, 3);
    PRODUCT(-6, -1, 2, 3);
    PRODUCT(1, 1e300, 1e300, 1e-300, 1e-300); /* 1e300 * 1e-300, twice, happens to round to 1 */
    PRODUCT(0x1p0, 0x1p1023, 0x1p1023, 0x1p-1023, 0x1p-1023);
    PRODUCT(0x1p-1074, 0x1p-1074, 0x1p-1074, 0x1p1000, 0x1p74);
    PRODUCT(inf, 0x1p1023, 2);
    PRODUCT(-0.0, -0x1p-1074, 0.5);
    PRODUCT(-0.0, -0.0, 5, 7);
    PRODUCT(0.0, -0.0, -5);
    PRODUCT(-inf, inf, -1e-300);
    PRODUCT(quiet, 0.0, 1, inf);
    PRODUCT(quiet, 3, -quiet, 0.0);
    double empty = 77;
    test_status(reduct_product_f64(NULL, 0, &empty), REDUCT_OK);
    check_bits(empty, 1);
    float single = 0;
    const float third[] = {1.0F / 3, 3};
    test_status(reduct_product_f32(third, 2, &single), REDUCT_OK);
    assert_true(single == 1.0F); /* 1.0000000298 in between, rounded once more */
}

static void known_integers(void **state) {
    (void)state;
    int8_t to[57];
    for (int i = 0; i < 57; i++)
        to[i] = (int8_t)(i + 1);
    int64_t factorial = 0;
    test_status(reduct_product_i8(to, 20, &factorial), REDUCT_OK);
    assert_true(factorial == INT64_C(2432902008176640000));
    test_status(reduct_product_i8(to, 21, &factorial), REDUCT_ERROR_OVERFLOW);
    assert_true(factorial == INT64_C(2432902008176640000));

    reduct_reduction wide = {.op = REDUCT_PRODUCT, .element = REDUCT_I8, .result = REDUCT_I128};
    struct test_outcome got = test_run(&wide, "cpu", 1, to, NULL, 33);
    reduct_i128 value; /* 33! = 8683317618811886495518194401280000000 */
    memcpy(&value, got.bytes, sizeof value);
    assert_true(got.status == REDUCT_OK && value.high == INT64_C(0x688589cc0e9505e) &&
                value.low == UINT64_C(0x2f2fee5580000000));
    wide.result = REDUCT_I256;
    assert_int_equal(test_run(&wide, "cpu", 1, to, NULL, 56).status, REDUCT_OK);
    got = test_run(&wide, "cpu", 1, to, NULL, 57); /* 57! has 255 bits */
    assert_int_equal(got.status, REDUCT_OK);

    static int32_t many[100000];
    for (size_t i = 0; i < 100000; i++)
        many[i] = INT32_MIN;
    test_status(reduct_product_i32(many, 100000, &factorial), REDUCT_ERROR_OVERFLOW);
    many[99999] = 0;
    test_status(reduct_product_i32(many, 100000, &factorial), REDUCT_OK);
    assert_true(factorial == 0);

    const int64_t least[] = {INT64_MIN, 1}, beyond[] = {INT64_MIN, -1};
    test_status(reduct_product_i64(least, 2, &factorial), REDUCT_OK);
    assert_true(factorial == INT64_MIN);
    test_status(reduct_product_i64(beyond, 2, &factorial), REDUCT_ERROR_OVERFLOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_threads),         cmocka_unit_test(in_pieces),    cmocka_unit_test(merged),
        cmocka_unit_test(merged_with_itself), cmocka_unit_test(known_floats), cmocka_unit_test(known_integers),
    };
    return cmocka_run_group_tests_name("product", tests, find_devices, NULL);
}
