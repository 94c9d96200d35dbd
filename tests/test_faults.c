/* Faults: the Nth allocation fails, for every N; threads cannot be created. The library's own calls of malloc and
 * pthread_create are diverted to the functions here by the linker (--wrap).
 *
 * From the survival list: "Faults: the Nth allocation fails, for every N; threads cannot be created. After each: a
 * status that says what happened, the output untouched, nothing leaked, the next call fine".
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/group_tables.h"
#include "cpu/room.h"
#include "support.h"
#include "values.h"

/* ---------------------------------------------------------------------------------------------------------------------
 * Diversions. The names are the linker's.
 * ------------------------------------------------------------------------------------------------------------------ */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

/* Calls until the one that fails; never, while negative. */
static atomic_long allocations_left = -1, threads_left = -1;
static atomic_long failures, live;

static bool fails(atomic_long *left) {
    long now = atomic_load(left);
    while (now >= 0 && !atomic_compare_exchange_weak(left, &now, now - 1))
        ;
    if (now != 0)
        return false;
    atomic_fetch_add(&failures, 1);
    return true;
}

static void *counted(void *memory) {
    if (memory)
        atomic_fetch_add(&live, 1);
    return memory;
}

void *__wrap_malloc(size_t size) {
    return fails(&allocations_left) ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails(&allocations_left) ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
    if (fails(&allocations_left))
        return NULL;
    return memory ? __real_realloc(memory, size) : counted(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails(&allocations_left) ? NULL : counted(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
    if (fails(&allocations_left))
        return ENOMEM;
    const int failed = __real_posix_memalign(memory, alignment, size);
    if (!failed)
        counted(*memory);
    return failed;
}

void __wrap_free(void *memory) {
    if (memory)
        atomic_fetch_sub(&live, 1);
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    return fails(&threads_left) ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is done while they fail
 * ------------------------------------------------------------------------------------------------------------------ */

enum { COUNT = 400003 };
static double *x;
static unsigned char saved[4096];
static size_t saved_size;

static int make_data(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed());
    const reduct_reduction reduction = test_reduction(REDUCT_VAR, REDUCT_F64, REDUCT_DEFAULT);
    reduct_accumulator *accumulator = NULL;
    x = test_alloc(COUNT * sizeof *x);
    distribution_named("60_binades")->fill(&rng, test_type(REDUCT_F64), x, NULL, COUNT);
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction, .threads = 1},
                                          &accumulator, NULL),
                REDUCT_OK);
    test_status(reduct_accumulator_add(accumulator, x, NULL, 1000, NULL), REDUCT_OK);
    saved_size = sizeof saved;
    test_status(reduct_accumulator_save(accumulator, saved, &saved_size, NULL), REDUCT_OK);
    reduct_accumulator_destroy(accumulator);
    return 0;
}

static int free_data(void **state) {
    (void)state;
    free(x);
    return 0;
}

static struct test_outcome planned(reduct_operator op, reduct_mode mode) {
    reduct_reduction reduction = test_reduction(op, REDUCT_F64, REDUCT_DEFAULT);
    reduction.mode = mode;
    return test_run(&reduction, NULL, 4, x, oracle_inputs(op) == 2 ? x : NULL, COUNT);
}

static struct test_outcome exact_plan(reduct_operator op) {
    return planned(op, REDUCT_EXACT);
}

static struct test_outcome fast_plan(reduct_operator op) {
    return planned(op, REDUCT_FAST);
}

static struct test_outcome one_call(reduct_operator op) {
    struct test_outcome outcome = test_outcome();
    outcome.status = reduct_reduce(op, REDUCT_F64, x, oracle_inputs(op) == 2 ? x : NULL, COUNT, outcome.bytes);
    return outcome;
}

/* Two accumulators, one of them loaded, merged. A failure in between must leave both usable. */
static struct test_outcome accumulated(reduct_operator op) {
    struct test_outcome outcome = test_outcome();
    reduct_reduction reduction = test_reduction(op, REDUCT_F64, REDUCT_DEFAULT);
    const double *y = oracle_inputs(op) == 2 ? x : NULL;
    reduct_accumulator *a = NULL, *b = NULL;
    outcome.status = reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction, .threads = 4}, &a,
                                               &outcome.error);
    if (!outcome.status)
        outcome.status = reduct_accumulator_add(a, x, y, COUNT, &outcome.error);
    if (!outcome.status && op == REDUCT_VAR)
        outcome.status =
            reduct_accumulator_load(saved, saved_size, &(reduct_accumulator_options){.threads = 4}, &b, &outcome.error);
    if (!outcome.status && b)
        outcome.status = reduct_accumulator_merge(a, b, &outcome.error);
    if (!outcome.status)
        outcome.status = reduct_accumulator_result(a, REDUCT_DEFAULT, outcome.bytes, &outcome.error);
    reduct_accumulator_destroy(a);
    reduct_accumulator_destroy(b);
    return outcome;
}

/* The caller's own operator: here, counting. */
static int count_none(void *state, void *context) {
    (void)context;
    *(uint64_t *)state = 0;
    return 0;
}

static int count_more(void *state, const void *elements, size_t count, void *context) {
    (void)elements;
    (void)context;
    *(uint64_t *)state += count;
    return 0;
}

static int count_both(void *left, const void *right, void *context) {
    (void)context;
    *(uint64_t *)left += *(const uint64_t *)right;
    return 0;
}

static struct test_outcome custom(reduct_operator op) {
    (void)op;
    const reduct_custom counting = {.element_size = sizeof *x,
                                    .state_size = sizeof(uint64_t),
                                    .identity = count_none,
                                    .accumulate = count_more,
                                    .combine = count_both,
                                    .threads = 4};
    struct test_outcome outcome = test_outcome();
    outcome.status = reduct_reduce_custom(&counting, x, COUNT, outcome.bytes, &outcome.error);
    return outcome;
}

/* Groups, by tables that threads share where that can be; what all results come to is one number. */
static struct test_outcome grouped(reduct_operator op) {
    enum { GROUPS = 600, ELEMENTS = 20000 };
    static uint16_t key[ELEMENTS];
    static unsigned char results[GROUPS * 32];
    const struct rd_group_sharing usual = rd_group_sharing;
    const reduct_reduction reduction = test_reduction(op, REDUCT_F64, REDUCT_DEFAULT);
    const reduct_groups groups = {.count = GROUPS, .elements = ELEMENTS, .index = REDUCT_U16};
    const reduct_plan_options options = {.reductions = &reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &groups,
                                         .device = "cpu",
                                         .threads = 4};
    const void *inputs[3] = {x, key, key};
    if (oracle_inputs(op) == 2)
        inputs[1] = x;
    for (size_t i = 0; i < ELEMENTS; i++)
        key[i] = (uint16_t)(i % 3 ? i / 3 % GROUPS : i % 7); /* some of which have many */
    memset(results, ORACLE_UNTOUCHED, sizeof results);
    rd_group_sharing = (struct rd_group_sharing){.bucket_bytes = 1 << 11, .item = 500, .moved = 7000};
    struct test_outcome outcome = test_outcome();
    reduct_plan *plan = NULL;
    outcome.status = reduct_plan_create(&options, &plan, &outcome.error);
    if (!outcome.status)
        outcome.status = reduct_plan_execute(plan, inputs, (void *[]){results}, NULL, &outcome.error);
    reduct_plan_destroy(plan);
    rd_group_sharing = usual;
    uint64_t all = 0;
    bool touched = false;
    for (size_t i = 0; i < sizeof results; i++) {
        all = (all ^ results[i]) * UINT64_C(1099511628211);
        touched = touched || results[i] != ORACLE_UNTOUCHED;
    }
    if (!outcome.status || touched) /* which it must not be by a call that fails */
        memcpy(outcome.bytes, &all, sizeof all);
    return outcome;
}

typedef struct test_outcome scenario(reduct_operator op);
static const struct {
    const char *name;
    scenario *run;
} scenarios[] = {{"a plan", exact_plan},        {"a fast plan", fast_plan},    {"one call", one_call},
                 {"accumulators", accumulated}, {"a custom operator", custom}, {"groups", grouped}};

/* ------------------------------------------------------------------------------------------------------------------ */

/* Fails the Nth of something for N = 0, 1, ... until nothing fails any more. Where the status is not OK, it must be
 * `status`, with the output untouched. */
static void fail_each(size_t which, reduct_operator op, atomic_long *left, reduct_status status, const char *what) {
    const struct test_outcome good = scenarios[which].run(op);
    const struct test_outcome untouched = test_outcome();
    test_status(good.status, REDUCT_OK);
    for (long n = 0;; n++) {
        rd_room_free_kept(); /* or nothing would be allocated any more */
        const long live_before = atomic_load(&live), failures_before = atomic_load(&failures);
        atomic_store(left, n);
        const struct test_outcome got = scenarios[which].run(op);
        atomic_store(left, -1);
        const bool failed = atomic_load(&failures) != failures_before;
        rd_room_free_kept();
        if (got.status != REDUCT_OK && (got.status != status || !failed))
            test_fail("%s %ld fails in %s of %s: status %d", what, n, scenarios[which].name, reduct_operator_name(op),
                      (int)got.status);
        const struct test_outcome *bytes = got.status == REDUCT_OK ? &good : &untouched;
        if (memcmp(got.bytes, bytes->bytes, sizeof got.bytes) != 0)
            test_fail("%s %ld fails in %s of %s: a wrong result, or an output touched", what, n, scenarios[which].name,
                      reduct_operator_name(op));
        if (atomic_load(&live) != live_before)
            test_fail("%s %ld fails in %s of %s: a leak", what, n, scenarios[which].name, reduct_operator_name(op));
        const struct test_outcome next = scenarios[which].run(op);
        if (next.status != REDUCT_OK || memcmp(next.bytes, good.bytes, sizeof good.bytes) != 0)
            test_fail("the call after %s %ld failed in %s is not fine", what, n, scenarios[which].name);
        if (!failed)
            break;
        assert_true(n < 1000);
    }
}

static void allocations(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof scenarios / sizeof *scenarios; s++)
        for (size_t o = 0; o < test_operator_count; o++)
            if (oracle_has(test_operators[o].op, REDUCT_F64))
                fail_each(s, test_operators[o].op, &allocations_left, REDUCT_ERROR_OUT_OF_MEMORY, "allocation");
    assert_true(atomic_load(&failures) > 0); /* the diversion works */
}

/* In a child, which has no threads yet, thread number n cannot be created, nor can any that follow; returns whether all was
 * well, and in *more whether there was such a thread. */
static bool without_thread(size_t which, reduct_operator op, long n, bool *more) {
    int status = -1;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const long before = atomic_load(&failures);
        atomic_store(&threads_left, n);
        const struct test_outcome got = scenarios[which].run(op);
        const bool failed = atomic_load(&failures) != before;
        atomic_store(&threads_left, -1);
        const struct test_outcome good = scenarios[which].run(op);
        const bool same = got.status == REDUCT_OK && memcmp(got.bytes, good.bytes, sizeof got.bytes) == 0;
        _exit(!same ? 2 : failed ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    *more = WIFEXITED(status) && WEXITSTATUS(status) == 1;
    return WIFEXITED(status) && WEXITSTATUS(status) <= 1;
}

/* A thread that cannot be created is done without. */
static void threads(void **state) {
    (void)state;
    bool any = false;
    const char *emulator = getenv("REDUCT_TEST_EMULATOR");
    if (emulator && *emulator) {
        print_message(
            "not tested here: threads that cannot be created: %s aborts when a process of several threads forks\n",
            emulator);
        skip();
    }
    for (size_t s = 0; s < sizeof scenarios / sizeof *scenarios; s++)
        for (size_t o = 0; o < test_operator_count; o++) {
            bool more = oracle_has(test_operators[o].op, REDUCT_F64);
            for (long n = 0; more; n++) {
                if (!without_thread(s, test_operators[o].op, n, &more))
                    test_fail("thread %ld fails in %s of %s: not the result there is with it", n, scenarios[s].name,
                              test_operators[o].name);
                any |= more;
            }
        }
    assert_true(any); /* the diversion works */
}

/* "Up to 64 elements need no memory", says the header of the calls of one line. */
static void small_calls_allocate_nothing(void **state) {
    (void)state;
    rd_room_free_kept();
    atomic_store(&allocations_left, 0);
    struct test_outcome outcome = test_outcome();
    reduct_status status = REDUCT_OK;
    for (size_t o = 0; o < test_operator_count && status == REDUCT_OK; o++)
        if (oracle_has(test_operators[o].op, REDUCT_F64))
            status = reduct_reduce(test_operators[o].op, REDUCT_F64, x, test_operators[o].inputs == 2 ? x : NULL, 64,
                                   outcome.bytes);
    atomic_store(&allocations_left, -1);
    test_status(status, REDUCT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations),
        cmocka_unit_test(threads),
        cmocka_unit_test(small_calls_allocate_nothing),
    };
    return cmocka_run_group_tests_name("faults", tests, make_data, free_data);
}
