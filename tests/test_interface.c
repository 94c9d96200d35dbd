/* The public interface as programs were written for its first version: they compile and run as they are. And what it has grown since:
 * kinds of plans, examples, reserved words. */
#include <string.h>

#include "support.h"

#include <reduct/cuda.h>

static const double X[4] = {0.1, 0.2, 0.3, 1e16}, Y[4] = {1, 2, 3, 4};

/* As README.md and examples/first.c have it. */
static void one_call(void **state) {
    (void)state;
    double total;
    uint64_t where;
    assert_int_equal(reduct_sum_f64(X, 4, &total), REDUCT_OK);
    assert_true(total == 1e16 + 0.6);
    assert_int_equal(reduct_dot_f64(X, Y, 4, &total), REDUCT_OK);
    assert_int_equal(reduct_argmax_f64(X, 4, &where), REDUCT_OK);
    assert_int_equal(where, 3);
    assert_int_equal(reduct_reduce(REDUCT_MEAN, REDUCT_F64, X, NULL, 4, &total), REDUCT_OK);
}

/* With a shape in full, all six of its fields in order. */
static void plan(void **state) {
    (void)state;
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {1, 4, 1, 0, 1, 0}, .device = "cpu"};
    reduct_plan *made = NULL;
    reduct_error error;
    double total = 0;
    assert_int_equal(reduct_plan_create(&options, &made, &error), REDUCT_OK);
    assert_int_equal(reduct_plan_result_type(made, 0), REDUCT_F64);
    assert_int_equal(reduct_plan_execute(made, (const void *[]){X}, (void *[]){&total}, NULL, &error), REDUCT_OK);
    assert_true(total == 1e16 + 0.6);
    reduct_plan_destroy(made);
}

/* As reduct/cuda.h has it, where there is no device and where there is one. */
static void cuda(void **state) {
    (void)state;
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {1, 4, 1, 0, 1, 0}, .device = "cuda:0"};
    reduct_plan *made = NULL;
    reduct_error error;
    double total = 0;
    reduct_cuda_outcome outcome;
    if (reduct_plan_create(&options, &made, &error) != REDUCT_OK) {
        assert_int_equal(error.status, REDUCT_ERROR_NO_DEVICE);
        assert_int_equal(
            reduct_cuda_execute(made, (const void *[]){X}, (void *[]){&total}, &outcome, NULL, NULL, &error),
            REDUCT_ERROR_ARGUMENT);
        return;
    }
    assert_true(reduct_cuda_workspace_size(made) > 0);
    assert_int_equal(reduct_plan_execute(made, (const void *[]){X}, (void *[]){&total}, NULL, &error), REDUCT_OK);
    assert_true(total == 1e16 + 0.6);
    reduct_plan_destroy(made);
}

/* A plan of a whole array reads nothing of the shape but n. */
static void whole(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_shape shapes[] = {{.n = 4}, {1, 4, 1, 0, 1, 0}, {9, 4, 7, -5, INT64_MIN, 11}, {0, 4, 0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .shape = shapes[i]};
        reduct_plan *made = NULL;
        double total = 0;
        test_status(reduct_plan_create(&options, &made, NULL), REDUCT_OK);
        test_status(reduct_plan_execute(made, (const void *[]){X}, (void *[]){&total}, NULL, NULL), REDUCT_OK);
        assert_true(total == 1e16 + 0.6);
        reduct_plan_destroy(made);
    }
}

/* Without a GPU every address is the host's. */
static void examples(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const void *const addresses[] = {NULL, X, (const void *)(uintptr_t)8, (const void *)UINTPTR_MAX};
    static const char *const names[] = {NULL, "auto", "cpu"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses * 3; i++) {
        reduct_plan_options options = {.reductions = &sum,
                                       .reduction_count = 1,
                                       .shape = {.n = 4},
                                       .device = names[i % 3],
                                       .example = addresses[i / 3]};
        reduct_accumulator_options other = {.reduction = &sum, .device = names[i % 3], .example = addresses[i / 3]};
        reduct_plan *made = NULL;
        reduct_accumulator *accumulator = NULL;
        test_status(reduct_plan_create(&options, &made, NULL), REDUCT_OK);
        assert_memory_equal(reduct_plan_device(made), "cpu:", 4);
        test_status(reduct_accumulator_create(&other, &accumulator, NULL), REDUCT_OK);
        reduct_plan_destroy(made);
        reduct_accumulator_destroy(accumulator);
    }
}

/* Fails as a wrong argument, of which the message names the first word. */
static void check_refused(reduct_status status, const reduct_error *error, const char *said) {
    assert_int_equal(status, REDUCT_ERROR_ARGUMENT);
    assert_int_equal(error->status, REDUCT_ERROR_ARGUMENT);
    assert_memory_equal(error->message, said, strlen(said));
}

static void kinds(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    static const int numbers[] = {-1, 5, 255, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        reduct_plan_options options = {
            .reductions = &sum, .reduction_count = 1, .shape = {.n = 4}, .kind = (reduct_kind)numbers[i]};
        reduct_plan *made = NULL;
        reduct_error error = {0};
        check_refused(reduct_plan_create(&options, &made, &error), &error, "kind");
        assert_null(made);
    }
}

/* Every reserved word of every structure must be zero: a later version may give it a meaning. */
static void reserved(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_error error = {0};
    for (size_t i = 0; i < 8; i++) {
        reduct_plan *made = NULL;
        reduct_accumulator *accumulator = NULL;
        reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .shape = {.n = 4}};
        if (i < sizeof options.reserved / sizeof *options.reserved) {
            options.reserved[i] = (uint64_t)1 << (8 * i);
            check_refused(reduct_plan_create(&options, &made, &error), &error, "reserved");
        }
        reduct_accumulator_options other = {.reduction = &sum};
        other.reserved[i] = 1;
        check_refused(reduct_accumulator_create(&other, &accumulator, &error), &error, "reserved");
        assert_true(!made && !accumulator);
    }
    for (size_t i = 0; i < 4; i++) {
        reduct_reduction bad = sum;
        bad.reserved[i] = 1;
        check_refused(reduct_reduction_resolve(&bad, &error), &error, "reserved");
        assert_int_equal(bad.result, REDUCT_DEFAULT);
    }
}

/* Saving says why it fails; loading takes options, but for the reduction, which the bytes hold. */
static void saving(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_accumulator *accumulator = NULL, *loaded = NULL;
    unsigned char bytes[4096];
    size_t size = 1;
    reduct_error error = {0};
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum}, &accumulator, NULL),
                REDUCT_OK);
    check_refused(reduct_accumulator_save(accumulator, bytes, &size, &error), &error, "size: 1; ");
    check_refused(reduct_accumulator_save(NULL, bytes, &size, &error), &error, "accumulator");
    check_refused(reduct_accumulator_save(accumulator, bytes, NULL, &error), &error, "size");
    size = sizeof bytes;
    test_status(reduct_accumulator_save(accumulator, bytes, &size, &error), REDUCT_OK);
    reduct_accumulator_options options = {.reduction = &sum};
    check_refused(reduct_accumulator_load(bytes, size, &options, &loaded, &error), &error, "reduction");
    options = (reduct_accumulator_options){.reserved = {1}};
    check_refused(reduct_accumulator_load(bytes, size, &options, &loaded, &error), &error, "reserved");
    assert_null(loaded);
    test_status(reduct_accumulator_load(bytes, size, NULL, &loaded, &error), REDUCT_OK);
    reduct_accumulator_destroy(loaded);
    reduct_accumulator_destroy(accumulator);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_call), cmocka_unit_test(plan),     cmocka_unit_test(cuda),
                                       cmocka_unit_test(whole),    cmocka_unit_test(examples), cmocka_unit_test(kinds),
                                       cmocka_unit_test(reserved), cmocka_unit_test(saving)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
