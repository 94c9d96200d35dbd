/* "auto" with an example: the device in whose memory it lies. */
#include <pthread.h>
#include <string.h>

#include "cuda_support.h"

struct asked {
    const void *example;
    char device[32];
    reduct_status status;
};

static void *ask(void *argument) {
    struct asked *asked = argument;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {.n = 1}, .device = "auto", .example = asked->example};
    reduct_plan *plan = NULL;
    asked->status = reduct_plan_create(&options, &plan, NULL);
    strncpy(asked->device, plan ? reduct_plan_device(plan) : "", sizeof asked->device - 1);
    reduct_plan_destroy(plan);
    return NULL;
}

/* Here, and on a thread on which no context is current. */
static void check_device(const void *example, const char *expected) {
    struct asked asked = {.example = example};
    pthread_t thread;
    ask(&asked);
    test_status(asked.status, REDUCT_OK);
    assert_memory_equal(asked.device, expected, strlen(expected));
    assert_int_equal(pthread_create(&thread, NULL, ask, &asked), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    test_status(asked.status, REDUCT_OK);
    assert_memory_equal(asked.device, expected, strlen(expected));
}

static void examples(void **state) {
    (void)state;
    rd_cu_address own = gpu_alloc(4096), managed;
    CU(gpu.cuMemAllocManaged(&managed, 4096, 1));
    double host[4] = {0};
    check_device(gpu_pointer(own, 0), "cuda:0");
    check_device(gpu_pointer(own, 4088), "cuda:0");
    check_device(gpu_pointer(managed, 8), "cuda:0");
    check_device(gpu.seen, "cpu:"); /* page-locked */
    check_device(host, "cpu:");
    check_device(NULL, "cpu:");
    gpu_free(own);
    gpu_free(managed);
}

/* The result is that of the device's plan, of an accumulator as well. */
static void accumulators(void **state) {
    (void)state;
    static const double values[] = {1e300, 1, -1e300};
    rd_cu_address there = gpu_copy_of(values, sizeof values);
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_accumulator *accumulator = NULL;
    double result = 0;
    const reduct_accumulator_options options = {.reduction = &sum, .example = gpu_pointer(there, 0)};
    test_status(reduct_accumulator_create(&options, &accumulator, NULL), REDUCT_OK);
    test_status(reduct_accumulator_add(accumulator, gpu_pointer(there, 0), NULL, 3, NULL), REDUCT_OK);
    test_status(reduct_accumulator_result(accumulator, REDUCT_DEFAULT, &result, NULL), REDUCT_OK);
    assert_true(result == 1);
    reduct_accumulator_destroy(accumulator);
    gpu_free(there);
}

int test_cuda_auto(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples), cmocka_unit_test(accumulators)};
    return cmocka_run_group_tests_name("auto", tests, NULL, NULL);
}
