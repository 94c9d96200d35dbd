/* Many threads at once, from the very first call on; one plan shared by all; forking after and during use.
 *
 * From the survival list: "calls from many threads at once; fork after use".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "values.h"

enum { THREADS = 8, COUNT = 300007 };

static void on_all_threads(void *(*work)(void *), void *arguments, size_t size) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (char *)arguments + i * size), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* The first calls of the process come from all threads at once: choosing the kernels is part of them. */
static void *first_call(void *argument) {
    double x[200], sum = 0;
    for (int i = 0; i < 200; i++)
        x[i] = i + 0.5;
    *(bool *)argument = reduct_sum_f64(x, 200, &sum) == REDUCT_OK && sum == 20000;
    return NULL;
}

static void first_use(void **state) {
    (void)state;
    bool right[THREADS] = {false};
    on_all_threads(first_call, right, sizeof *right);
    for (int i = 0; i < THREADS; i++)
        assert_true(right[i]);
}

struct sharing {
    const reduct_plan *plan;
    const void *x;
    const uint64_t *expected; /* two words */
    uint64_t rounds;
    size_t workspace;
    int wrong;
};

static void *share_plan(void *argument) {
    struct sharing *sharing = argument;
    void *workspace = sharing->workspace ? aligned_alloc(64, (sharing->workspace + 63) / 64 * 64) : NULL;
    for (uint64_t i = 0; i < sharing->rounds; i++) {
        uint64_t result[2] = {0};
        const void *inputs[2] = {sharing->x, sharing->x};
        void *results[1] = {result};
        const reduct_status status =
            reduct_plan_execute(sharing->plan, inputs, results, i & 1 ? workspace : NULL, NULL);
        sharing->wrong += status != REDUCT_OK || memcmp(result, sharing->expected, sizeof result) != 0;
    }
    free(workspace);
    return NULL;
}

static void one_plan_for_all(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed());
    double *x = test_alloc(COUNT * sizeof *x);
    distribution_named("jumps")->fill(&rng, test_type(REDUCT_F64), x, NULL, COUNT);
    for (size_t o = 0; o < test_operator_count; o++)
        for (int mode = REDUCT_EXACT; mode <= REDUCT_FAST; mode++) {
            reduct_reduction reduction = {.op = test_operators[o].op, .element = REDUCT_F64, .mode = (reduct_mode)mode};
            if (!oracle_has(reduction.op, REDUCT_F64))
                continue;
            const reduct_plan_options options = {.reductions = &reduction,
                                                 .reduction_count = 1,
                                                 .shape = {.outer = 1, .n = COUNT, .inner = 1, .stride = 1},
                                                 .device = test_device(),
                                                 .threads = 2};
            reduct_plan *plan = NULL;
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            uint64_t expected[2] = {0};
            const void *inputs[2] = {x, x};
            void *results[1] = {expected};
            test_status(reduct_plan_execute(plan, inputs, results, NULL, NULL), REDUCT_OK);
            struct sharing sharing[THREADS];
            for (size_t i = 0; i < THREADS; i++)
                sharing[i] =
                    (struct sharing){plan, x, expected, test_scaled(6, 2), reduct_plan_workspace_size(plan), 0};
            on_all_threads(share_plan, sharing, sizeof *sharing);
            for (size_t i = 0; i < THREADS; i++)
                if (sharing[i].wrong)
                    test_fail("%s in mode %d: %d wrong results on thread %zu", test_operators[o].name, mode,
                              sharing[i].wrong, i);
            reduct_plan_destroy(plan);
        }
    free(x);
}

/* Each thread has accumulators of its own; they merge at the end, in any order. */
struct share {
    const double *x;
    size_t count;
    const reduct_reduction *reduction;
    reduct_accumulator *accumulator;
    reduct_status status;
};

static void *accumulate_share(void *argument) {
    struct share *share = argument;
    share->status = reduct_accumulator_create(
        &(reduct_accumulator_options){.reduction = share->reduction, .device = test_device(), .threads = 1},
        &share->accumulator, NULL);
    for (size_t i = 0; i < share->count && !share->status; i += 5000) {
        const size_t left = share->count - i;
        share->status = reduct_accumulator_add(share->accumulator, share->x + i, NULL, left < 5000 ? left : 5000, NULL);
    }
    return NULL;
}

static void accumulators_on_all(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 1);
    double *x = test_alloc(COUNT * sizeof *x);
    struct oracle oracle;
    oracle_init(&oracle);
    distribution_named("300_binades")->fill(&rng, test_type(REDUCT_F64), x, NULL, COUNT);
    oracle_read(&oracle, REDUCT_F64, x, NULL, COUNT);
    const reduct_reduction reduction = test_reduction(REDUCT_STD, REDUCT_F64, REDUCT_DEFAULT);
    const struct oracle_result expected = oracle_expect(&oracle, &reduction);
    struct share shares[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        const size_t first = COUNT * i / THREADS, last = COUNT * (i + 1) / THREADS;
        shares[i] = (struct share){x + first, last - first, &reduction, NULL, REDUCT_OK};
    }
    on_all_threads(accumulate_share, shares, sizeof *shares);
    for (size_t i = 0; i < THREADS; i++) {
        test_status(shares[i].status, REDUCT_OK);
        if (i == 0)
            continue;
        test_status(reduct_accumulator_merge(shares[0].accumulator, shares[i].accumulator, NULL), REDUCT_OK);
        reduct_accumulator_destroy(shares[i].accumulator);
    }
    struct test_outcome got = test_outcome();
    got.status = reduct_accumulator_result(shares[0].accumulator, REDUCT_DEFAULT, got.bytes, &got.error);
    test_check(&got, &expected, &reduction, "%d elements on %d threads", (int)COUNT, (int)THREADS);
    reduct_accumulator_destroy(shares[0].accumulator);
    oracle_clear(&oracle);
    free(x);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* In a child: the same reduction with threads of its own. Returns the status of the process. */
static int reduce_in_child(const double *x, double expected) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const struct test_outcome got = test_run(&sum, NULL, 4, x, NULL, COUNT);
    return got.status == REDUCT_OK && memcmp(got.bytes, &expected, sizeof expected) == 0 ? 0 : 1;
}

static void check_fork(const double *x, double expected) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(reduce_in_child(x, expected));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        test_fail("after fork the child ended with status 0x%x", (unsigned)status);
}

static atomic_bool done;

static void *keep_reducing(void *argument) {
    double sum;
    while (!atomic_load(&done))
        reduct_sum_f64(argument, COUNT, &sum);
    return NULL;
}

static void forked(void **state) {
    (void)state;
    double *x = test_alloc(COUNT * sizeof *x), expected = 0;
    struct rng rng = rng_of(test_seed() + 2);
    distribution_named("60_binades")->fill(&rng, test_type(REDUCT_F64), x, NULL, COUNT);
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const struct test_outcome got = test_run(&sum, NULL, 4, x, NULL, COUNT);
    assert_int_equal(got.status, REDUCT_OK);
    memcpy(&expected, got.bytes, sizeof expected);
    for (int i = 0; i < 3; i++)
        check_fork(x, expected); /* after use */
    pthread_t busy;
    atomic_store(&done, false);
    assert_int_equal(pthread_create(&busy, NULL, keep_reducing, x), 0);
    for (int i = 0; i < 10; i++)
        check_fork(x, expected); /* during use */
    atomic_store(&done, true);
    pthread_join(busy, NULL);
    assert_int_equal(reduce_in_child(x, expected), 0); /* and the parent goes on */
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_use), /* must be the first */
        cmocka_unit_test(one_plan_for_all),
        cmocka_unit_test(accumulators_on_all),
        cmocka_unit_test(forked),
    };
    return cmocka_run_group_tests_name("concurrent", tests, NULL, NULL);
}
