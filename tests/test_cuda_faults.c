/* What the CUDA backend does when the device fails it: no memory, a fork, a reset. Each fault is followed by a call that
 * works. The reset comes last: nothing that was made before it is left. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_support.h"

enum { COUNT = 30011, CHUNKS_MOST = 4096 };

struct fixture {
    double *host;
    rd_cu_address device;
    reduct_reduction sum;
    struct oracle_result expected;
};
static struct fixture fixture;

static int make_fixture(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 400);
    fixture.host = test_alloc(COUNT * sizeof(double));
    distribution_named("300_binades")->fill(&rng, test_type(REDUCT_F64), fixture.host, NULL, COUNT);
    fixture.device = gpu_copy_of(fixture.host, COUNT * sizeof(double));
    fixture.sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    fixture.expected = gpu_expected(&fixture.sum, fixture.host, NULL, COUNT);
    return 0;
}

static int free_fixture(void **state) {
    (void)state;
    free(fixture.host); /* what was on the device went with it */
    return 0;
}

static void check_right(const struct test_outcome *got, const char *when) {
    test_check(got, &fixture.expected, &fixture.sum, "%s", when);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * No memory
 * ------------------------------------------------------------------------------------------------------------------ */

/* All of the device's memory, in ever smaller chunks. */
static size_t take_all(rd_cu_address *chunks) {
    size_t count = 0;
    for (size_t size = (size_t)16 << 30; size >= 4096 && count < CHUNKS_MOST; size /= 2)
        while (count < CHUNKS_MOST && gpu.driver->cuMemAlloc(&chunks[count], size) == RD_CU_SUCCESS)
            count++;
    return count;
}

static void check_exhausted(const char *what, reduct_status status, const reduct_error *error) {
    if (status != REDUCT_ERROR_OUT_OF_MEMORY || error->status != status || !strstr(error->message, gpu.name))
        test_fail("%s with all memory taken: status %d, %s", what, (int)status, error->message);
}

static void no_memory(void **state) {
    (void)state;
    rd_cu_address *chunks = test_alloc(CHUNKS_MOST * sizeof *chunks);
    reduct_plan *before = gpu_plan(&fixture.sum, COUNT), *plan = NULL;
    reduct_error error = {.message = ""};
    const struct test_outcome first = gpu_run(before, gpu_pointer(fixture.device, 0), NULL);
    check_right(&first, "before");
    const size_t count = take_all(chunks);
    /* As many plans as what is left within the driver's own blocks allows, and one more. */
    reduct_plan *small[64];
    size_t plans = 0;
    while (plans < 64 && gpu_plan_create(&fixture.sum, COUNT, &small[plans], &error) == REDUCT_OK)
        plans++;
    assert_true(plans < 64);
    const reduct_status status = gpu_plan_create(&fixture.sum, COUNT, &plan, &error);
    const bool untouched = plan == NULL;
    /* A kernel that was not loaded yet, and a stream of data from the host, want memory as well: they may find some, and
     * otherwise say so. */
    const reduct_reduction other = test_reduction(REDUCT_NORM1, REDUCT_I16, REDUCT_DEFAULT);
    reduct_error other_error = {.message = ""};
    const reduct_status other_status = gpu_plan_create(&other, COUNT, &plan, &other_error);
    const struct test_outcome streamed = gpu_execute(before, fixture.host, NULL);
    const struct test_outcome held = gpu_run(before, gpu_pointer(fixture.device, 0), NULL);
    for (size_t i = 0; i < count; i++)
        gpu_free(chunks[i]);
    for (size_t i = 0; i < plans; i++)
        reduct_plan_destroy(small[i]);
    check_exhausted("a plan", status, &error);
    assert_true(untouched);
    if (other_status != REDUCT_OK)
        check_exhausted("a plan for another kernel", other_status, &other_error);
    reduct_plan_destroy(other_status == REDUCT_OK ? plan : NULL);
    if (streamed.status != REDUCT_OK)
        check_exhausted("data from the host", streamed.status, &streamed.error);
    else
        check_right(&streamed, "data from the host, with all memory taken");
    check_right(&held, "a plan from before, with all memory taken");
    const struct test_outcome after = gpu_reduce(&fixture.sum, gpu_pointer(fixture.device, 0), NULL, COUNT);
    check_right(&after, "after");
    const struct test_outcome from_host = gpu_execute(before, fixture.host, NULL);
    check_right(&from_host, "after, from the host");
    reduct_plan_destroy(before);
    free(chunks);
}

/* A table whose device has no room for what a batch comes to has the host add it. */
static void table_without_memory(void **state) {
    (void)state;
    enum { GROUPS = 3 };
    rd_cu_address *chunks = test_alloc(CHUNKS_MOST * sizeof *chunks);
    uint32_t *index = test_alloc(COUNT * sizeof *index);
    const reduct_reduction reductions[2] = {test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT),
                                            test_reduction(REDUCT_ARGMAX, REDUCT_F64, REDUCT_DEFAULT)};
    unsigned char *bytes[3];
    size_t size[3] = {0};
    reduct_table *table[3];
    for (size_t i = 0; i < COUNT; i++)
        index[i] = (uint32_t)(i * i % GROUPS);
    const rd_cu_address there = gpu_copy_of(index, COUNT * sizeof *index);
    reduct_table_batch batch = {.x = fixture.host, .count = COUNT, .indices = index, .index = REDUCT_U32};
    for (int i = 0; i < 3; i++) { /* the CPU's, one with memory, one without */
        test_status(reduct_table_create(&(reduct_table_options){.reductions = reductions,
                                                                .reduction_count = 2,
                                                                .groups = GROUPS,
                                                                .device = i ? gpu.name : "cpu"},
                                        &table[i], NULL),
                    REDUCT_OK);
        if (i)
            batch.x = gpu_pointer(fixture.device, 0), batch.indices = gpu_pointer(there, 0);
        const size_t count = i == 2 ? take_all(chunks) : 0;
        const reduct_status status = reduct_table_add(table[i], &batch, NULL);
        for (size_t k = 0; k < count; k++)
            gpu_free(chunks[k]);
        test_status(status, REDUCT_OK);
        test_status(reduct_table_save(table[i], NULL, &size[i], NULL), REDUCT_OK);
        bytes[i] = test_alloc(size[i]);
        test_status(reduct_table_save(table[i], bytes[i], &size[i], NULL), REDUCT_OK);
        assert_int_equal(size[i], size[0]);
        assert_memory_equal(bytes[i], bytes[0], size[0]);
        reduct_table_destroy(table[i]);
    }
    for (int i = 0; i < 3; i++)
        free(bytes[i]);
    gpu_free(there);
    free(index);
    free(chunks);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A fork
 * ------------------------------------------------------------------------------------------------------------------ */

/* CUDA does not survive a fork. In the child the device is refused, or lost, in so many words; the CPU is there. */
static int child_of_fork(void) {
    reduct_plan *plan = NULL;
    reduct_error error = {.message = ""};
    double result = 0;
    alarm(20);
    const reduct_status status = gpu_plan_create(&fixture.sum, COUNT, &plan, &error);
    if (status == REDUCT_OK)
        return 1;
    if (status != error.status || !*error.message)
        return 2;
    if (reduct_sum_f64(fixture.host, COUNT, &result) != REDUCT_OK)
        return 3;
    return memcmp(&result, fixture.expected.bytes, sizeof result) == 0 ? 0 : 4;
}

static void forked(void **state) {
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_of_fork());
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
        test_fail("the child ended with %s %d", WIFEXITED(ended) ? "status" : "signal",
                  WIFEXITED(ended) ? WEXITSTATUS(ended) : WTERMSIG(ended));
    const struct test_outcome got = gpu_reduce(&fixture.sum, gpu_pointer(fixture.device, 0), NULL, COUNT);
    check_right(&got, "in the parent");
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A reset
 * ------------------------------------------------------------------------------------------------------------------ */

/* A plan of a context that is no more. */
static void check_lost(const reduct_plan *old, const char *when) {
    reduct_error error = {.message = ""};
    double result = 0;
    const void *inputs[1] = {gpu_pointer(fixture.device, 0)};
    const reduct_status queued = reduct_cuda_execute(old, inputs, (void *[]){&result}, NULL, NULL, NULL, &error);
    if (queued != REDUCT_ERROR_DEVICE_LOST || error.status != queued || !*error.message)
        test_fail("an old plan after a reset, %s: status %d, %s", when, (int)queued, error.message);
}

/* After the reset `gpu` is opened anew, as any program would have to. */
static void reset(void **state) {
    (void)state;
    reduct_plan *old = gpu_plan(&fixture.sum, COUNT);
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(
                    &(reduct_accumulator_options){.reduction = &fixture.sum, .device = gpu.name, .threads = 1},
                    &accumulator, NULL),
                REDUCT_OK);
    test_status(reduct_accumulator_add(accumulator, fixture.host, NULL, 10000, NULL), REDUCT_OK);
    CU(gpu.driver->cuCtxSynchronize());
    CU(gpu.cuDevicePrimaryCtxReset(gpu.device));
    check_lost(old, "with the context that was reset still current");
    CU(gpu.driver->cuCtxSetCurrent(NULL));
    check_lost(old, "with no context current");
    reduct_plan_destroy(old);

    const char *why = "";
    if (!gpu_open(&why))
        test_fail("after a reset: %s", why);
    fixture.device = gpu_copy_of(fixture.host, COUNT * sizeof(double));
    const struct test_outcome got = gpu_reduce(&fixture.sum, gpu_pointer(fixture.device, 0), NULL, COUNT);
    check_right(&got, "a new plan after a reset");
    /* What an accumulator holds is on the host: it goes on. */
    struct test_outcome sum = test_outcome();
    test_status(reduct_accumulator_add(accumulator, fixture.host + 10000, NULL, COUNT - 10000, NULL), REDUCT_OK);
    sum.status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, sum.bytes, &sum.error);
    check_right(&sum, "an accumulator from before a reset");
    reduct_accumulator_destroy(accumulator);
}

int test_cuda_faults(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory), cmocka_unit_test(table_without_memory), cmocka_unit_test(forked),
        cmocka_unit_test(reset), /* must be the last */
    };
    if (gpu.quick)
        return 0;
    return cmocka_run_group_tests_name("cuda: faults", tests, make_fixture, free_fixture);
}
