/* Accumulators of a CUDA device that no kernel of whole arrays serves: with masks, and of operators that have none; their bytes
 * against those of a CPU's accumulator, and what is refused. With data here and there, in several additions, and with numbers of which
 * the device's tables do not tell all.
 *
 * From the survival list: "Same bits: every permutation and partition of the data", "Values". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_support.h"

enum { ADDITIONS = 3, SHIFT_MOST = 20, SAVED = 4096, CUT_FROM = 1 << 18 /* elements: arrays of more are cut */ };

struct masked {
    struct rng rng;
    uint64_t seed;
    reduct_reduction reduction;
    const struct test_type *type;
    const char *values;
    reduct_mask kind;
    uint64_t count;
    unsigned shift; /* elements, and entries of the mask, before the first */
    unsigned char *x, *y, *mask;
    rd_cu_address x_there, y_there, mask_there; /* 0: data are on the host */
};

static size_t bytes_of(const struct masked *test) {
    return (size_t)(test->count + SHIFT_MOST) * test->type->size;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What to add
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_reduction pick_reduction(struct rng *rng, reduct_type element, bool with_mask) {
    reduct_operator op;
    do
        op = test_operators[rng_below(rng, test_operator_count)].op;
    while (!oracle_has(op, element) || (!with_mask && gpu_has(op, element)));
    reduct_reduction reduction = test_reduction(op, element, REDUCT_DEFAULT);
    reduction.nan = (reduct_nan)rng_below(rng, 3);
    reduction.flags = (rng_below(rng, 2) ? REDUCT_POPULATION : 0) | REDUCT_WRAP;
    return reduction;
}

/* Seldom, and mostly few: they are what the device cannot tell. */
static void put_specials(struct masked *test, unsigned char *array) {
    for (uint64_t left = rng_below(&test->rng, 4); left && test->count; left--) {
        const uint64_t at = test->shift + rng_next(&test->rng) % test->count, sign = rng_below(&test->rng, 2)
                                                                                     << (8 * test->type->size - 1);
        values_put_bits(test->type, array, at,
                        rng_below(&test->rng, 2) ? values_nan(&test->rng, test->type)
                                                 : values_infinity(test->type) | sign);
    }
}

static void fill(struct masked *test) {
    struct rng *rng = &test->rng;
    const struct distribution *distribution;
    const size_t room = (size_t)test->count + SHIFT_MOST;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, test->type));
    test->values = distribution->name;
    test->x = test_alloc(bytes_of(test));
    test->y = test_alloc(bytes_of(test));
    test->mask = test_alloc(room);
    distribution->fill(rng, test->type, test->x, test->y, room);
    if (test->type->class == FLOAT && rng_below(rng, 2)) {
        put_specials(test, test->x);
        put_specials(test, test->y);
    }
    const uint64_t most = rng_below(rng, 4); /* nothing is taken out, little, a half, most */
    for (size_t i = 0; i < room; i++)
        test->mask[i] = rng_below(rng, 4) >= most ? (unsigned char)(rng_next(rng) | 0x10) : 0;
    if (rng_below(rng, 8) == 0)
        memset(test->mask, 0, room);
}

static uint64_t pick_count(struct rng *rng) {
    const uint64_t tile = 512 << rng_below(rng, 5), near = tile * (1 + rng_below(rng, 9)) + rng_below(rng, 9);
    switch (rng_below(rng, 4)) {
    case 0:
        return rng_below(rng, 70);
    case 1:
        return near - 4;
    default:
        return rng_below(rng, gpu.small ? 30000 : 3000000);
    }
}

static struct masked make(uint64_t seed, uint64_t count) {
    struct masked test = {.rng = rng_of(seed), .seed = seed};
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng *rng = &test.rng;
    const bool with_mask = rng_below(rng, 4) != 0;
    do {
        test.type = elements[rng_below(rng, element_count)];
    } while (test.type->class != FLOAT && rng_below(rng, 2));
    test.kind = !with_mask ? REDUCT_MASK_NONE : rng_below(rng, 2) ? REDUCT_MASK_BYTES : REDUCT_MASK_BITS;
    test.reduction = pick_reduction(rng, test.type->type, with_mask);
    test.count = count ? count : pick_count(rng);
    test.shift = (unsigned)rng_below(rng, SHIFT_MOST);
    fill(&test);
    if (rng_below(rng, 2)) {
        test.x_there = gpu_copy_of(test.x, bytes_of(&test));
        test.y_there = gpu_copy_of(test.y, bytes_of(&test));
        test.mask_there = gpu_copy_of(test.mask, (size_t)test.count + SHIFT_MOST);
    }
    return test;
}

static void drop(struct masked *test) {
    if (test->x_there) {
        gpu_free(test->x_there);
        gpu_free(test->y_there);
        gpu_free(test->mask_there);
    }
    free(test->x);
    free(test->y);
    free(test->mask);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Comparing
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_accumulator *accumulator_on(const struct masked *test, const char *device) {
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(
                    &(reduct_accumulator_options){.reduction = &test->reduction, .device = device, .threads = 1},
                    &accumulator, NULL),
                REDUCT_OK);
    return accumulator;
}

static reduct_status add(const struct masked *test, bool there, reduct_accumulator *accumulator, uint64_t first,
                         uint64_t count, reduct_error *error) {
    const size_t at = (size_t)(test->shift + first) * test->type->size;
    const bool two = oracle_inputs(test->reduction.op) == 2;
    const void *x = there ? gpu_pointer(test->x_there, at) : test->x + at,
               *y = !two    ? NULL
                    : there ? gpu_pointer(test->y_there, at)
                            : test->y + at,
               *mask = there ? gpu_pointer(test->mask_there, 0) : test->mask;
    return test->kind
               ? reduct_accumulator_add_masked(accumulator, x, y, count, test->kind, mask, test->shift + first, error)
               : reduct_accumulator_add(accumulator, x, y, count, error);
}

static void compare(const struct masked *test, const reduct_accumulator *got, const reduct_accumulator *expected) {
    unsigned char a[SAVED] = {0}, b[SAVED] = {0};
    size_t size_a = SAVED, size_b = SAVED;
    test_status(reduct_accumulator_save(got, a, &size_a, NULL), REDUCT_OK);
    test_status(reduct_accumulator_save(expected, b, &size_b, NULL), REDUCT_OK);
    size_t at = 0;
    while (at < size_b && a[at] == b[at])
        at++;
    if (size_a != size_b || at < size_b)
        test_fail(
            "case %llu, %s of %llu %s %s (nan policy %d, mask %d), %s, shift %u: byte %zu of %zu is %02x; expected "
            "%02x",
            (unsigned long long)test->seed, reduct_operator_name(test->reduction.op), (unsigned long long)test->count,
            test->values, test->type->name, (int)test->reduction.nan, (int)test->kind, test->x_there ? "there" : "here",
            test->shift, at, size_b, a[at], b[at]);
}

static void check(struct masked test) {
    reduct_accumulator *got = accumulator_on(&test, gpu.name), *expected = accumulator_on(&test, "cpu");
    uint64_t first = 0;
    for (int i = 0; i < ADDITIONS; i++) {
        const uint64_t count = i == ADDITIONS - 1 ? test.count - first : rng_below(&test.rng, test.count - first + 1);
        reduct_error own = {.index = UINT64_MAX}, wanted = {.index = UINT64_MAX};
        const reduct_status status = add(&test, false, expected, first, count, &wanted);
        test_status(add(&test, test.x_there != 0, got, first, count, &own), status);
        assert_true(own.index == wanted.index);
        compare(&test, got, expected);
        first += count;
    }
    assert_true(reduct_accumulator_count(got) == reduct_accumulator_count(expected));
    reduct_accumulator_destroy(got);
    reduct_accumulator_destroy(expected);
    drop(&test);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------------------------------------------------ */

static void cases(void **state) {
    (void)state;
    const uint64_t count = gpu.quick ? test_scaled(150, 40) : test_scaled(3000, 200);
    const char *only = getenv("REDUCT_TEST_CASE");
    if (only)
        check(make(strtoull(only, NULL, 0), 0));
    for (uint64_t i = 0; i < count && !only; i++)
        check(make(test_seed() * 1000003 + i, 0));
}

/* Arrays of so many elements that they are cut where the device cannot tell all, down to what the CPU adds. */
static void cut(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (gpu.quick ? 3 : 40); i++)
        check(make(test_seed() * 1000037 + i, CUT_FROM + 12345 * (i + 1) * (gpu.small ? 1 : 20)));
}

/* What is fast elsewhere is exact here, and rounded twice at most. */
static void fast(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_SUMSQ, REDUCT_NORM1, REDUCT_DOT, REDUCT_MEAN, REDUCT_VAR};
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        struct masked test = {.rng = rng_of(test_seed() + o), .type = test_type(REDUCT_F64), .count = 5000};
        double a = 0, b = 1;
        test.kind = o % 2 ? REDUCT_MASK_BITS : REDUCT_MASK_BYTES;
        test.x = test_alloc(bytes_of(&test));
        test.y = test_alloc(bytes_of(&test));
        test.mask = test_alloc((size_t)test.count + SHIFT_MOST);
        distribution_named("normal")->fill(&test.rng, test.type, test.x, test.y, (size_t)test.count);
        for (size_t i = 0; i < test.count + SHIFT_MOST; i++)
            test.mask[i] = (unsigned char)rng_below(&test.rng, 3);
        test.reduction = test_reduction(ops[o], REDUCT_F64, REDUCT_DEFAULT);
        reduct_accumulator *exact = accumulator_on(&test, gpu.name);
        test.reduction.mode = REDUCT_FAST;
        reduct_accumulator *got = accumulator_on(&test, gpu.name);
        test_status(add(&test, false, exact, 0, test.count, NULL), REDUCT_OK);
        test_status(add(&test, false, got, 0, test.count, NULL), REDUCT_OK);
        assert_true(reduct_accumulator_count(got) == reduct_accumulator_count(exact));
        test_status(reduct_accumulator_result(exact, REDUCT_F64, &a, NULL), REDUCT_OK);
        test_status(reduct_accumulator_result(got, REDUCT_F64, &b, NULL), REDUCT_OK);
        if (!(b - a <= 0x1p-50 * (a < 0 ? -a : a) && a - b <= 0x1p-50 * (a < 0 ? -a : a)))
            test_fail("%s: %a in mode fast, %a exactly", reduct_operator_name(ops[o]), b, a);
        reduct_accumulator_destroy(exact);
        reduct_accumulator_destroy(got);
        drop(&test);
    }
}

/* An array and its mask lie in the same memory. */
static void apart(void **state) {
    (void)state;
    struct masked test = make(test_seed(), 100);
    test.reduction = test_reduction(REDUCT_SUM, test.type->type, REDUCT_DEFAULT);
    const rd_cu_address there = gpu_alloc(200 * sizeof(double));
    reduct_accumulator *accumulator = accumulator_on(&test, gpu.name);
    reduct_error error = {0};
    test_status(reduct_accumulator_add_masked(accumulator, gpu_pointer(there, 0), NULL, 100, REDUCT_MASK_BYTES,
                                              test.mask, 0, &error),
                REDUCT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "mask: in host memory, while x is in device memory"));
    test_status(reduct_accumulator_add_masked(accumulator, test.x, NULL, 100, REDUCT_MASK_BYTES, gpu_pointer(there, 0),
                                              0, &error),
                REDUCT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "x: in host memory, while mask is in device memory"));
    assert_int_equal(reduct_accumulator_count(accumulator), 0);
    reduct_accumulator_destroy(accumulator);
    gpu_free(there);
    drop(&test);
}

int test_cuda_masks(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases), cmocka_unit_test(cut), cmocka_unit_test(fast),
                                       cmocka_unit_test(apart)};
    return cmocka_run_group_tests_name("masks", tests, NULL, NULL);
}
