/* Same bits on 1 to 8 threads, on every device, run after run, in both modes; through plans, accumulators and the calls
 * that choose for themselves.
 *
 * From the survival list: "Same bits: 1 to N threads, 100 runs, every instruction set".
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { THREADS = 8, RUNS = 100 };

struct data {
    const struct test_type *type;
    const char *name;
    size_t count;
    void *x, *y;
};

/* Large enough that every thread gets a share, and not a multiple of anything. */
static struct data make_data(struct rng *rng, const struct test_type *type, const char *distribution, size_t count) {
    struct data data = {type, distribution, count, test_alloc(count * type->size), test_alloc(count * type->size)};
    distribution_named(distribution)->fill(rng, type, data.x, data.y, count);
    return data;
}

static void free_data(struct data *data) {
    free(data->x);
    free(data->y);
}

/* The outcome of one thread that all others must have: of the portable kernels; in fast mode, where GPUs add in an order
 * of their own, of the same device. */
static struct test_outcome one_thread(const struct data *data, const reduct_reduction *reduction, const char *device,
                                      const void *y) {
    const bool own = reduction->mode == REDUCT_FAST && strncmp(device, "cpu", 3) != 0;
    return test_run(reduction, own ? device : "cpu:portable", 1, data->x, y, data->count);
}

/* Every thread count (a few of them where code is slow) on every device gives the outcome of one thread. */
static void check_threads(struct rng *rng, const struct data *data, const reduct_reduction *reduction) {
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    const void *y = test_operator(reduction->op)->inputs == 2 ? data->y : NULL;
    for (size_t d = 0; d < device_count; d++) {
        const struct test_outcome one = one_thread(data, reduction, devices[d], y);
        struct oracle_result expected = {.status = one.status, .index = one.error.index};
        memcpy(expected.bytes, one.bytes, sizeof expected.bytes);
        for (unsigned threads = 0; threads <= THREADS; threads++) {
            if (test_scale() < 1 && threads != 2 && rng_below(rng, 6))
                continue;
            const struct test_outcome got = test_run(reduction, devices[d], threads, data->x, y, data->count);
            test_check(&got, &expected, reduction, "%zu %s on %s with %u threads against 1", data->count, data->name,
                       devices[d], threads);
        }
    }
}

/* Exact mode is checked against the oracle elsewhere; here all thread counts are compared with one another. */
static void check_mode(reduct_mode mode, const char *const *names, size_t name_count) {
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + (uint64_t)mode);
    const size_t least = test_scale() < 1 ? 150000 : 600000; /* a thread takes a piece of 2^16, at least */
    for (size_t e = 0; e < element_count; e++)
        for (size_t n = 0; n < name_count; n++) {
            if (!distribution_suits(distribution_named(names[n]), elements[e]))
                continue;
            struct data data = make_data(&rng, elements[e], names[n], least + rng_below(&rng, 70000));
            for (size_t o = 0; o < test_operator_count; o++) {
                reduct_reduction reduction = test_reduction(test_operators[o].op, elements[e]->type, REDUCT_DEFAULT);
                if (!oracle_has(reduction.op, reduction.element) || (test_scale() < 0.1 && rng_below(&rng, 3)))
                    continue;
                reduction.mode = mode;
                reduction.nan = (reduct_nan)rng_below(&rng, 3);
                check_threads(&rng, &data, &reduction);
            }
            free_data(&data);
        }
}

static void exact_on_threads(void **state) {
    (void)state;
    static const char *const names[] = {"60_binades", "nan_middle", "limits"};
    check_mode(REDUCT_EXACT, names, sizeof names / sizeof *names);
}

static void fast_on_threads(void **state) {
    (void)state;
    static const char *const names[] = {"normal", "nan_last", "small_integer"};
    check_mode(REDUCT_FAST, names, sizeof names / sizeof *names);
}

/* The first NaN, whichever thread finds one first. */
static void first_nan_on_threads(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 7);
    for (uint64_t round = test_scaled(20, 3); round-- > 0;) {
        struct data data = make_data(&rng, test_type(REDUCT_F32), "normal", 600000 + rng_below(&rng, 9999));
        size_t first = SIZE_MAX;
        for (int i = 0; i < 4; i++) {
            const size_t at = rng_below(&rng, data.count);
            values_put_bits(data.type, data.x, at, values_nan(&rng, data.type));
            first = at < first ? at : first;
        }
        reduct_reduction reduction = test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_DEFAULT);
        reduction.nan = REDUCT_NAN_ERROR;
        for (unsigned threads = 1; threads <= THREADS; threads += test_scale() < 0.1 ? 3 : 1) {
            const struct test_outcome got = test_run(&reduction, "cpu", threads, data.x, NULL, data.count);
            assert_int_equal(got.status, REDUCT_ERROR_NAN);
            assert_int_equal(got.error.index, first);
        }
        const reduct_reduction arg = test_reduction(REDUCT_ARGMAX, REDUCT_F32, REDUCT_DEFAULT);
        const struct test_outcome got = test_run(&arg, "cpu", THREADS, data.x, NULL, data.count);
        uint64_t index;
        memcpy(&index, got.bytes, sizeof index);
        assert_int_equal(index, first);
        free_data(&data);
    }
}

/* The first of several equal extremes, in whichever thread's share it lies. */
static void first_extreme_on_threads(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 8);
    const size_t count = 500009;
    int32_t *x = test_alloc(count * sizeof *x);
    for (uint64_t round = test_scaled(20, 3); round-- > 0;) {
        memset(x, 0, count * sizeof *x);
        size_t first_low = SIZE_MAX, first_high = SIZE_MAX;
        for (int i = 0; i < 5; i++) {
            const size_t low = rng_below(&rng, count), high = rng_below(&rng, count);
            if (x[low] == 0)
                x[low] = INT32_MIN;
            if (x[high] == 0)
                x[high] = INT32_MAX;
        }
        for (size_t i = count; i-- > 0;) {
            first_low = x[i] == INT32_MIN ? i : first_low;
            first_high = x[i] == INT32_MAX ? i : first_high;
        }
        uint64_t low = 0, high = 0;
        test_status(reduct_argmin_i32(x, count, &low), REDUCT_OK);
        test_status(reduct_argmax_i32(x, count, &high), REDUCT_OK);
        assert_int_equal(low, first_low);
        assert_int_equal(high, first_high);
    }
    free(x);
}

static void hundred_runs(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 9);
    struct data data = make_data(&rng, test_type(REDUCT_F64), "300_binades", 400011);
    for (int mode = REDUCT_EXACT; mode <= REDUCT_FAST; mode++) {
        reduct_reduction reduction = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
        reduction.mode = (reduct_mode)mode;
        const struct test_outcome first = test_run(&reduction, "auto", 0, data.x, NULL, data.count);
        for (uint64_t run = test_scaled(RUNS, 10); run-- > 0;) {
            const struct test_outcome again = test_run(&reduction, "auto", 0, data.x, NULL, data.count);
            assert_int_equal(again.status, REDUCT_OK);
            assert_memory_equal(again.bytes, first.bytes, sizeof first.bytes);
        }
    }
    free_data(&data);
}

/* Accumulators with threads of their own, added to in large pieces. */
static void accumulators_on_threads(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 10);
    struct data data = make_data(&rng, test_type(REDUCT_F64), "jumps", 900001);
    struct oracle oracle;
    oracle_init(&oracle);
    oracle_read(&oracle, REDUCT_F64, data.x, NULL, data.count);
    for (unsigned threads = 0; threads <= THREADS; threads += test_scale() < 0.1 ? 3 : 1) {
        const reduct_reduction reduction = test_reduction(REDUCT_STD, REDUCT_F64, REDUCT_DEFAULT);
        const struct oracle_result expected = oracle_expect(&oracle, &reduction);
        reduct_accumulator *accumulator = NULL;
        test_status(reduct_accumulator_create(
                        &(reduct_accumulator_options){.reduction = &reduction, .threads = threads}, &accumulator, NULL),
                    REDUCT_OK);
        const size_t cut = rng_below(&rng, data.count);
        test_status(reduct_accumulator_add(accumulator, data.x, NULL, cut, NULL), REDUCT_OK);
        test_status(reduct_accumulator_add(accumulator, (double *)data.x + cut, NULL, data.count - cut, NULL),
                    REDUCT_OK);
        struct test_outcome got = test_outcome();
        got.status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, got.bytes, &got.error);
        test_check(&got, &expected, &reduction, "%zu jumps in two parts, %u threads", data.count, threads);
        reduct_accumulator_destroy(accumulator);
    }
    oracle_clear(&oracle);
    free_data(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_on_threads),     cmocka_unit_test(fast_on_threads),
        cmocka_unit_test(first_nan_on_threads), cmocka_unit_test(first_extreme_on_threads),
        cmocka_unit_test(hundred_runs),         cmocka_unit_test(accumulators_on_threads),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
