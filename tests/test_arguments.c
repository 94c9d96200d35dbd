/* Bad arguments: each has its status, a message that names the argument, and changes nothing.
 *
 * From the survival list: "offsets that overflow near the type's maximum (cub#592)"; after each fault "a status that
 * says what happened, the output untouched, the next call fine".
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const double data[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static reduct_plan_options good_options(const reduct_reduction *reduction) {
    return (reduct_plan_options){
        .reductions = reduction, .reduction_count = 1, .shape = {.outer = 1, .n = 8, .inner = 1, .stride = 1}};
}

/* The call failed as it should: the status, the error's own, and a message with `word` in it. */
static void check_error(reduct_status got, reduct_status expected, const reduct_error *error, const char *word) {
    if (got != expected || error->status != expected)
        test_fail("%s: status %d, error's status %d, expected %d: %s", word, (int)got, (int)error->status,
                  (int)expected, error->message);
    if (!memchr(error->message, 0, sizeof error->message) || !strstr(error->message, word))
        test_fail("the message does not name %s: %.240s", word, error->message);
    if (error->index != UINT64_MAX)
        test_fail("%s: index %llu where there is none", word, (unsigned long long)error->index);
}

/* Making a plan fails, with and without an error to write to, and gives none. */
static void check_plan(const reduct_plan_options *options, reduct_status expected, const char *word) {
    reduct_plan *const canary = (reduct_plan *)(uintptr_t)0x5a5a5a5a;
    reduct_plan *plan = canary;
    reduct_error error;
    memset(&error, 0x5a, sizeof error);
    check_error(reduct_plan_create(options, &plan, &error), expected, &error, word);
    test_status(reduct_plan_create(options, &plan, NULL), expected);
    assert_ptr_equal(plan, canary);
}

static void plan_pointers(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_plan_options options = good_options(&sum);
    reduct_error error = {0};
    check_error(reduct_plan_create(&options, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "plan");
    check_plan(NULL, REDUCT_ERROR_ARGUMENT, "options");
    options.reductions = NULL;
    check_plan(&options, REDUCT_ERROR_ARGUMENT, "reductions");
    options = good_options(&sum);
    options.reduction_count = 0;
    check_plan(&options, REDUCT_ERROR_ARGUMENT, "reduction_count");
    for (size_t i = 0; i < sizeof options.reserved / sizeof *options.reserved; i++) {
        options = good_options(&sum);
        options.reserved[i] = 1;
        check_plan(&options, REDUCT_ERROR_ARGUMENT, "reserved");
    }
    options = good_options(&sum);
    options.mask = (reduct_mask)3;
    check_plan(&options, REDUCT_ERROR_ARGUMENT, "mask");
    options = good_options(&sum);
    options.mask_offset = 1;
    check_plan(&options, REDUCT_ERROR_ARGUMENT, "mask_offset");
    reduct_plan_destroy(NULL);
    assert_int_equal(reduct_plan_workspace_size(NULL), 0);
    assert_null(reduct_plan_device(NULL));
}

static void plan_enumerations(void **state) {
    (void)state;
    const reduct_reduction good = {.op = REDUCT_SUM, .element = REDUCT_F64};
    static const int numbers[] = {-1, 0, 26, 99, 255, 256, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        reduct_reduction bad = good;
        reduct_plan_options options = good_options(&bad);
        bad.op = (reduct_operator)numbers[i];
        check_plan(&options, REDUCT_ERROR_ARGUMENT, "op");
        bad = good;
        bad.element = (reduct_type)numbers[i];
        check_plan(&options, REDUCT_ERROR_ARGUMENT, "element");
        bad = good;
        if (numbers[i] != 0) {
            bad.result = (reduct_type)numbers[i];
            check_plan(&options, REDUCT_ERROR_ARGUMENT, "result");
            bad = good;
            bad.mode = (reduct_mode)numbers[i];
            check_plan(&options, REDUCT_ERROR_ARGUMENT, "mode");
            bad = good;
            bad.nan = (reduct_nan)numbers[i];
            check_plan(&options, REDUCT_ERROR_ARGUMENT, "nan");
        }
    }
    for (int bit = 2; bit < 32; bit++) {
        reduct_reduction bad = good;
        reduct_plan_options options = good_options(&bad);
        bad.flags = (uint32_t)1 << bit;
        check_plan(&options, REDUCT_ERROR_ARGUMENT, "flags");
    }
}

static void plan_shapes(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_reduction bytes = {.op = REDUCT_SUM, .element = REDUCT_U8};
    static const uint64_t sizes[] = {UINT64_MAX,        UINT64_MAX / 8 + 1, (uint64_t)1 << 63,
                                     (uint64_t)1 << 61, UINT64_MAX / 8,     (uint64_t)1 << 60};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reduct_plan_options options = good_options(&sum);
        options.shape.n = sizes[i];
        check_plan(&options, REDUCT_ERROR_TOO_LARGE, "n");
        options.reductions = &bytes;
        if (sizes[i] > INT64_MAX)
            check_plan(&options, REDUCT_ERROR_TOO_LARGE, "n");
    }
}

static void plan_devices(void **state) {
    (void)state;
    static const char *const names[] = {"",          "gpu",    "cpu:",     "cpu:sse9", "CPU",         "cpu:AVX2",
                                        "cpu:avx2 ", "auto:0", "cuda:0:0", "cpux",     "cpu portable"};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        reduct_plan_options options = good_options(&sum);
        options.device = names[i];
        check_plan(&options, REDUCT_ERROR_NO_DEVICE, "device");
        reduct_accumulator *accumulator = NULL;
        reduct_error error = {0};
        check_error(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum, .device = names[i]},
                                              &accumulator, &error),
                    REDUCT_ERROR_NO_DEVICE, &error, "device");
        assert_null(accumulator);
    }
    char *endless = test_alloc(100001); /* a message has room for 240 characters */
    memset(endless, 'x', 100000);
    endless[100000] = 0;
    reduct_plan_options options = good_options(&sum);
    options.device = endless;
    check_plan(&options, REDUCT_ERROR_NO_DEVICE, "device");
    free(endless);
}

/* Too few elements are an error that says so, before any data is seen. */
static void plan_too_few(void **state) {
    (void)state;
    for (size_t i = 0; i < test_operator_count; i++) {
        reduct_reduction reduction = {.op = test_operators[i].op, .element = REDUCT_F64};
        reduct_plan_options options = good_options(&reduction);
        for (unsigned n = 0; n < test_operators[i].minimum; n++) {
            options.shape.n = n;
            check_plan(&options, REDUCT_ERROR_EMPTY, test_operators[i].name);
        }
    }
    reduct_reduction population = {.op = REDUCT_VAR, .element = REDUCT_F64, .flags = REDUCT_POPULATION};
    const struct test_outcome one = test_run(&population, NULL, 0, data, NULL, 1);
    const double zero = 0;
    assert_int_equal(one.status, REDUCT_OK);
    assert_memory_equal(one.bytes, &zero, sizeof zero);
}

/* What a plan says of itself. */
static void plan_properties(void **state) {
    (void)state;
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    for (size_t d = 0; d < device_count; d++) {
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I32};
        reduct_plan_options options = good_options(&sum);
        options.device = devices[d];
        reduct_plan *plan = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        assert_string_equal(reduct_plan_device(plan), devices[d]);
        assert_int_equal(reduct_plan_result_type(plan, 0), REDUCT_I64);
        assert_int_equal(reduct_plan_result_type(plan, 1), REDUCT_DEFAULT);
        reduct_plan_destroy(plan);
    }
    static const char *const best[] = {"cpu", NULL, "auto"};
    for (size_t i = 0; i < 3; i++) { /* of the CPU's, the last in the list is the best; of all, the choice is free */
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
        reduct_plan_options options = good_options(&sum);
        options.device = best[i];
        reduct_plan *plan = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        assert_non_null(reduct_plan_device(plan));
        if (i == 0)
            assert_string_equal(reduct_plan_device(plan), devices[device_count - 1]);
        reduct_plan_destroy(plan);
    }
}

static reduct_plan *make_plan(reduct_operator op, uint64_t n) {
    const reduct_reduction reduction = {.op = op, .element = REDUCT_F64};
    reduct_plan_options options = good_options(&reduction);
    options.shape.n = n;
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    return plan;
}

static void execute_arguments(void **state) {
    (void)state;
    reduct_plan *sum = make_plan(REDUCT_SUM, 8), *dot = make_plan(REDUCT_DOT, 8), *none = make_plan(REDUCT_DOT, 0);
    double result = 77;
    const void *inputs[2] = {data, data}, *no_x[2] = {NULL, data}, *no_y[2] = {data, NULL}, *no[2] = {NULL, NULL};
    void *results[1] = {&result}, *no_result[1] = {NULL};
    reduct_error error = {0};
    check_error(reduct_plan_execute(NULL, inputs, results, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "plan");
    check_error(reduct_plan_execute(sum, NULL, results, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "inputs");
    check_error(reduct_plan_execute(sum, inputs, NULL, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "results");
    check_error(reduct_plan_execute(sum, inputs, no_result, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "results");
    check_error(reduct_plan_execute(sum, no_x, results, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "x");
    check_error(reduct_plan_execute(dot, no_y, results, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "y");
    test_status(reduct_plan_execute(dot, no_y, results, NULL, NULL), REDUCT_ERROR_ARGUMENT);
    assert_true(result == 77);
    test_status(reduct_plan_execute(none, no, results, NULL, NULL), REDUCT_OK);
    assert_true(result == 0);
    test_status(reduct_plan_execute(dot, inputs, results, NULL, NULL), REDUCT_OK);
    assert_true(result == 204);
    reduct_plan_destroy(sum);
    reduct_plan_destroy(dot);
    reduct_plan_destroy(none);
}

/* A workspace of the caller's is used when aligned, refused when not, and never overrun. */
static void workspaces(void **state) {
    (void)state;
    const size_t count = 1000003;
    double *x = test_alloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = (double)i;
    for (size_t o = 0; o < test_operator_count; o++) {
        if (!oracle_has(test_operators[o].op, REDUCT_F64))
            continue;
        reduct_plan *plan = make_plan(test_operators[o].op, count);
        const size_t size = reduct_plan_workspace_size(plan);
        unsigned char *room = aligned_alloc(64, (size + 63) / 64 * 64 + 128);
        assert_non_null(room);
        memset(room, 0x33, (size + 63) / 64 * 64 + 128);
        const void *inputs[2] = {x, x};
        uint64_t with[2] = {0}, without[2] = {0};
        void *results[1] = {with};
        test_status(reduct_plan_execute(plan, inputs, results, room, NULL), REDUCT_OK);
        for (size_t i = size; i < size + 64; i++)
            assert_int_equal(room[i], 0x33);
        results[0] = without;
        test_status(reduct_plan_execute(plan, inputs, results, NULL, NULL), REDUCT_OK);
        assert_memory_equal(with, without, sizeof with);
        reduct_error error = {0};
        check_error(reduct_plan_execute(plan, inputs, results, room + 8, &error), REDUCT_ERROR_ARGUMENT, &error,
                    "workspace");
        assert_memory_equal(with, without, sizeof with);
        free(room);
        reduct_plan_destroy(plan);
    }
    free(x);
}

static void accumulator_arguments(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64},
                           dot = {.op = REDUCT_DOT, .element = REDUCT_F64};
    reduct_accumulator *a = NULL, *b = NULL;
    reduct_error error = {0};
    double result = 77;
    check_error(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = NULL}, &a, &error),
                REDUCT_ERROR_ARGUMENT, &error, "reduction");
    check_error(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum}, NULL, &error),
                REDUCT_ERROR_ARGUMENT, &error, "accumulator");
    const reduct_reduction bad = {.op = (reduct_operator)77, .element = REDUCT_F64};
    check_error(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &bad}, &a, &error),
                REDUCT_ERROR_ARGUMENT, &error, "op");
    assert_null(a);
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum}, &a, NULL), REDUCT_OK);
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &dot}, &b, NULL), REDUCT_OK);

    check_error(reduct_accumulator_add(NULL, data, NULL, 8, &error), REDUCT_ERROR_ARGUMENT, &error, "accumulator");
    check_error(reduct_accumulator_add(a, NULL, NULL, 8, &error), REDUCT_ERROR_ARGUMENT, &error, "x");
    check_error(reduct_accumulator_add(a, data, data, 8, &error), REDUCT_ERROR_ARGUMENT, &error, "y");
    check_error(reduct_accumulator_add(b, data, NULL, 8, &error), REDUCT_ERROR_ARGUMENT, &error, "y");
    check_error(reduct_accumulator_add(b, NULL, data, 8, &error), REDUCT_ERROR_ARGUMENT, &error, "x");
    assert_int_equal(reduct_accumulator_count(a), 0);
    static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX / 8 + 2, (uint64_t)1 << 61, (uint64_t)1 << 60};
    for (size_t i = 0; i < 4; i++)
        check_error(reduct_accumulator_add(a, data, NULL, counts[i], &error), REDUCT_ERROR_TOO_LARGE, &error, "count");

    const unsigned char mask[8] = {0};
    check_error(reduct_accumulator_add_masked(NULL, data, NULL, 8, REDUCT_MASK_BYTES, mask, 0, &error),
                REDUCT_ERROR_ARGUMENT, &error, "accumulator");
    check_error(reduct_accumulator_add_masked(a, data, NULL, 8, REDUCT_MASK_BYTES, NULL, 0, &error),
                REDUCT_ERROR_ARGUMENT, &error, "mask");
    check_error(reduct_accumulator_add_masked(a, data, NULL, 8, (reduct_mask)3, mask, 0, &error), REDUCT_ERROR_ARGUMENT,
                &error, "kind");
    check_error(reduct_accumulator_add_masked(a, data, NULL, 8, REDUCT_MASK_NONE, NULL, 1, &error),
                REDUCT_ERROR_ARGUMENT, &error, "offset");
    check_error(reduct_accumulator_add_masked(a, data, data, 8, REDUCT_MASK_NONE, NULL, 0, &error),
                REDUCT_ERROR_ARGUMENT, &error, "y");
    check_error(reduct_accumulator_add_masked(a, data, NULL, 8, REDUCT_MASK_BITS, mask, INT64_MAX, &error),
                REDUCT_ERROR_TOO_LARGE, &error, "offset");
    assert_int_equal(reduct_accumulator_count(a), 0);

    check_error(reduct_accumulator_merge(NULL, a, &error), REDUCT_ERROR_ARGUMENT, &error, "accumulator");
    check_error(reduct_accumulator_merge(a, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "other");
    check_error(reduct_accumulator_result(NULL, REDUCT_F64, &result, &error), REDUCT_ERROR_ARGUMENT, &error,
                "accumulator");
    check_error(reduct_accumulator_result(a, REDUCT_F64, NULL, &error), REDUCT_ERROR_ARGUMENT, &error, "result");
    check_error(reduct_accumulator_result(a, (reduct_type)99, &result, &error), REDUCT_ERROR_ARGUMENT, &error,
                "result");
    check_error(reduct_accumulator_result(a, REDUCT_I64, &result, &error), REDUCT_ERROR_UNSUPPORTED, &error, "result");
    assert_true(result == 77);
    test_status(reduct_accumulator_add(a, data, NULL, 8, NULL), REDUCT_OK); /* still fine */
    test_status(reduct_accumulator_result(a, REDUCT_DEFAULT, &result, NULL), REDUCT_OK);
    assert_true(result == 36);
    reduct_accumulator_destroy(a);
    reduct_accumulator_destroy(b);
    reduct_accumulator_destroy(NULL);
    reduct_accumulator_reset(NULL);
    assert_int_equal(reduct_accumulator_count(NULL), 0);
}

/* More elements than 64 bits count are refused, whether added or merged; all before stays. */
static void counts_that_overflow(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I8};
    const int8_t one[4] = {1, 0, 0, 0};
    reduct_accumulator *a = NULL;
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum, .threads = 1}, &a, NULL),
                REDUCT_OK);
    test_status(reduct_accumulator_add(a, one, NULL, 4, NULL), REDUCT_OK);
    for (int i = 0; i < 61; i++)
        test_status(reduct_accumulator_merge(a, a, NULL), REDUCT_OK);
    assert_int_equal(reduct_accumulator_count(a), (uint64_t)1 << 63);
    reduct_error error = {0};
    check_error(reduct_accumulator_merge(a, a, &error), REDUCT_ERROR_TOO_LARGE, &error, "elements");
    assert_int_equal(reduct_accumulator_count(a), (uint64_t)1 << 63);
    int64_t result = 0;
    test_status(reduct_accumulator_result(a, REDUCT_DEFAULT, &result, NULL), REDUCT_OK);
    assert_int_equal(result, (int64_t)1 << 61);
    reduct_accumulator_destroy(a);
}

/* An error is written only on failure. */
static void errors_untouched(void **state) {
    (void)state;
    reduct_error error, before;
    memset(&error, 0x42, sizeof error);
    before = error;
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    test_status(reduct_reduction_resolve(&sum, &error), REDUCT_OK);
    reduct_plan_options options = good_options(&sum);
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, &error), REDUCT_OK);
    const void *inputs[1] = {data};
    double result;
    void *results[1] = {&result};
    test_status(reduct_plan_execute(plan, inputs, results, NULL, &error), REDUCT_OK);
    reduct_plan_destroy(plan);
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum}, &accumulator, &error),
                REDUCT_OK);
    test_status(reduct_accumulator_add(accumulator, data, NULL, 8, &error), REDUCT_OK);
    test_status(reduct_accumulator_merge(accumulator, accumulator, &error), REDUCT_OK);
    test_status(reduct_accumulator_result(accumulator, REDUCT_F32, &result, &error), REDUCT_OK);
    reduct_accumulator_destroy(accumulator);
    assert_memory_equal(&error, &before, sizeof error);
    test_status(reduct_reduction_resolve(NULL, &error), REDUCT_ERROR_ARGUMENT);
    assert_int_equal(error.status, REDUCT_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_pointers),         cmocka_unit_test(plan_enumerations),
        cmocka_unit_test(plan_shapes),           cmocka_unit_test(plan_devices),
        cmocka_unit_test(plan_too_few),          cmocka_unit_test(plan_properties),
        cmocka_unit_test(execute_arguments),     cmocka_unit_test(workspaces),
        cmocka_unit_test(accumulator_arguments), cmocka_unit_test(counts_that_overflow),
        cmocka_unit_test(errors_untouched),
    };
    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
