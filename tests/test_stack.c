/* What the library uses of the caller's stack: at most 16 KiB, as the header says, for every operator, type, mode and NaN
 * policy, through plans, single calls, accumulators and custom operators. A thread paints its stack below the call and looks
 * how far the paint is gone; pages beyond are guarded, so that whatever skips the paint ends the test.
 *
 * From the survival list: arrays of every size; here around those where the library takes another way.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"
#include "values.h"

enum { ALLOWED = 16 << 10, STACK = 1 << 20, PAINT = 0xA5, COUNT = 140000, SAVED = 4096 };

/* A call, made with ALLOWED bytes of stack and the rest of a page. */
struct measured {
    void (*call)(void *context);
    void *context;
    size_t used;
};

/* Runs the call below a frame of its own, after painting what lies below. */
static __attribute__((noinline)) void measure(struct measured *measured) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *const here = __builtin_frame_address(0);
    unsigned char *const low = (unsigned char *)((uintptr_t)(here - ALLOWED - page) / page * page);
    volatile unsigned char *paint = low;
    unsigned char *const end = here - 1024; /* of this frame, and of what it calls to paint */
    mprotect(low - 16 * page, 16 * page, PROT_NONE);
    for (; paint < end; paint++)
        *paint = PAINT;
    measured->call(measured->context);
    for (paint = low; paint < end && *paint == PAINT; paint++)
        ;
    measured->used = (size_t)(here - paint);
    mprotect(low - 16 * page, 16 * page, PROT_READ | PROT_WRITE);
}

static void *run_thread(void *argument) {
    measure(argument);
    return NULL;
}

static size_t stack_of(void (*call)(void *context), void *context) {
    struct measured measured = {call, context, 0};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    assert_int_equal(pthread_create(&thread, &attributes, run_thread, &measured), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return measured.used;
}

/* ------------------------------------------------------------------------------------------------------------------ */

struct job {
    reduct_reduction reduction;
    const char *device;
    unsigned threads;
    const void *x, *y;
    size_t count;
};

static void call_plan(void *context) {
    const struct job *job = context;
    const reduct_plan_options options = {.reductions = &job->reduction,
                                         .reduction_count = 1,
                                         .shape = {1, job->count, 1, 0, 1, 0},
                                         .device = job->device,
                                         .threads = job->threads};
    reduct_plan *plan = NULL;
    reduct_error error;
    unsigned char result[64];
    const void *const inputs[] = {job->x, job->y};
    void *const results[] = {result};
    if (reduct_plan_create(&options, &plan, &error) == REDUCT_OK)
        reduct_plan_execute(plan, inputs, results, NULL, &error);
    reduct_plan_destroy(plan);
}

/* Columns, rows and every other element, with a second reduction that shares nothing with the first. */
static void call_many(void *context) {
    static unsigned char results[2][COUNT][32];
    const struct job *job = context;
    const uint64_t n = job->count < 8 ? 1 : 8, rows = job->count / n;
    const int64_t step = (int64_t)n;
    const reduct_shape shapes[] = {
        {1, rows, n, 0, step, 1}, {rows, n, 1, step, 1, 0}, {rows / 2 + 1, n / 2, 1, step, 2, 0}};
    const reduct_reduction reductions[2] = {job->reduction, {.op = REDUCT_NORMINF, .element = job->reduction.element}};
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const reduct_plan_options options = {.reductions = reductions,
                                             .reduction_count = 1 + i % 2,
                                             .kind = REDUCT_SHAPE,
                                             .shape = shapes[i / 2],
                                             .device = job->device,
                                             .threads = job->threads};
        reduct_plan *plan = NULL;
        reduct_error error;
        if (reduct_plan_create(&options, &plan, &error) == REDUCT_OK)
            reduct_plan_execute(plan, (const void *[]){job->x, job->y}, (void *[]){results[0], results[1]}, NULL,
                                &error);
        reduct_plan_destroy(plan);
    }
}

/* Groups, alone and with a reduction that is done in another way. */
static void call_groups(void *context) {
    static unsigned char results[2][COUNT][32], indices[COUNT];
    const struct job *job = context;
    const reduct_groups groups = {.count = 200, .elements = job->count, .index = REDUCT_U8};
    const reduct_reduction reductions[2] = {job->reduction, {.op = REDUCT_PRODUCT, .element = job->reduction.element}};
    for (size_t i = 0; i < COUNT; i++)
        indices[i] = (unsigned char)(i % 200);
    for (size_t i = 0; i < 2; i++) {
        const reduct_plan_options options = {.reductions = reductions,
                                             .reduction_count = 1 + i,
                                             .kind = REDUCT_GROUPS,
                                             .groups = &groups,
                                             .device = job->device,
                                             .threads = job->threads};
        const void *inputs[3] = {job->x, job->y ? job->y : (const void *)indices, indices};
        reduct_plan *plan = NULL;
        reduct_error error;
        if (reduct_plan_create(&options, &plan, &error) == REDUCT_OK)
            reduct_plan_execute(plan, inputs, (void *[]){results[0], results[1]}, NULL, &error);
        reduct_plan_destroy(plan);
    }
}

static void call_once(void *context) {
    const struct job *job = context;
    unsigned char result[64];
    reduct_reduce(job->reduction.op, job->reduction.element, job->x, job->y, job->count, result);
}

/* Added, saved, loaded, merged, finished. */
static void call_accumulators(void *context) {
    static unsigned char saved[SAVED];
    const struct job *job = context;
    reduct_accumulator *a = NULL, *b = NULL;
    reduct_error error;
    unsigned char result[64];
    size_t size = sizeof saved;
    if (reduct_accumulator_create(
            &(reduct_accumulator_options){.reduction = &job->reduction, .device = job->device, .threads = job->threads},
            &a, &error) != REDUCT_OK)
        return;
    reduct_accumulator_add(a, job->x, job->y, job->count, &error);
    reduct_accumulator_save(a, saved, &size, NULL);
    reduct_accumulator_load(saved, size, &(reduct_accumulator_options){.threads = 1}, &b, &error);
    if (b)
        reduct_accumulator_merge(a, b, &error);
    reduct_accumulator_result(a, REDUCT_DEFAULT, result, &error);
    reduct_accumulator_destroy(a);
    reduct_accumulator_destroy(b);
}

static int zero(void *state, void *context) {
    (void)context;
    memset(state, 0, sizeof(double));
    return 0;
}

static int add_some(void *state, const void *elements, size_t count, void *context) {
    (void)context;
    for (size_t i = 0; i < count; i++)
        *(double *)state += ((const double *)elements)[i];
    return 0;
}

static int add_both(void *left, const void *right, void *context) {
    (void)context;
    *(double *)left += *(const double *)right;
    return 0;
}

static void call_custom(void *context) {
    const struct job *job = context;
    const reduct_custom custom = {.element_size = 8,
                                  .state_size = 8,
                                  .identity = zero,
                                  .accumulate = add_some,
                                  .combine = add_both,
                                  .threads = job->threads};
    double result;
    reduct_reduce_custom(&custom, job->x, job->count, &result, NULL);
}

static size_t most; /* of all so far */

static void check(void (*call)(void *context), struct job *job, const char *name) {
    const size_t used = stack_of(call, job);
    most = used > most ? used : most;
    if (used > ALLOWED)
        test_fail("%s, %s of %zu %s, mode %d, NaN policy %d, %s: %zu bytes of stack; expected at most %d", name,
                  reduct_operator_name(job->reduction.op), job->count, reduct_type_name(job->reduction.element),
                  (int)job->reduction.mode, (int)job->reduction.nan, job->device ? job->device : "auto", used, ALLOWED);
}

static bool under_sanitizer(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(REDUCT_SANITIZED)
    print_message("not tested here: stack use: sanitizers make frames larger\n");
    return true;
#else
    return false;
#endif
}

/* Data of the whole range, which takes every way there is; of floats also with NaNs. */
static void check_type(struct rng *rng, const struct test_type *type, bool nans) {
    static const size_t counts[] = {1, 64, 65, 1000, 4097, COUNT};
    static double x[COUNT], y[COUNT];
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    distribution_named("raw")->fill(rng, type, x, y, COUNT);
    if (nans)
        for (size_t i = 7; i < COUNT; i += 501)
            values_put_bits(type, x, i, values_nan(rng, type));
    for (size_t o = 0; o < test_operator_count; o++)
        for (int variant = 0; variant < 6; variant++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                if ((test_scale() < 1 && rng_below(rng, 8)) || !oracle_has(test_operators[o].op, type->type))
                    continue;
                if (test_scale() < 0.05 && counts[c] == COUNT && rng_below(rng, 8)) /* slow where all is emulated */
                    continue;
                struct job job = {test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT),
                                  devices[rng_below(rng, device_count)],
                                  1 + (unsigned)rng_below(rng, 4),
                                  x,
                                  test_operators[o].inputs == 2 ? y : NULL,
                                  counts[c]};
                job.reduction.mode = variant % 2 ? REDUCT_FAST : REDUCT_EXACT;
                job.reduction.nan = (reduct_nan)(variant / 2);
                check(call_plan, &job, "a plan");
                if (counts[c] < COUNT || !rng_below(rng, 4)) /* six plans at a time */
                    check(call_many, &job, "plans of many");
                if (!rng_below(rng, 16))
                    check(call_groups, &job, "plans over groups");
                check(call_accumulators, &job, "accumulators");
                check(call_once, &job, "one call");
            }
}

static void at_most_16_kib(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed());
    if (under_sanitizer())
        return;
    for (size_t e = 0; e < element_count; e++)
        for (int nans = 0; nans < (elements[e]->class == FLOAT ? 2 : 1); nans++)
            check_type(&rng, elements[e], nans);
    print_message("%zu bytes of stack at most\n", most);
}

static void custom_operators(void **state) {
    (void)state;
    static double x[COUNT];
    struct job job = {.x = x, .count = COUNT, .threads = 2};
    if (!under_sanitizer())
        check(call_custom, &job, "a custom operator");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_most_16_kib), cmocka_unit_test(custom_operators)};
    return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
