/* Executors: the caller's threads in place of the library's. Whatever they do, the bits are those of the library's own; and the library
 * creates no thread of its own beside them. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { COUNT = 1 << 20, CALLS_MOST = 64 };

/* What executors note. */
struct notes {
    atomic_uint runs, calls; /* of run(), of task() */
    unsigned most;           /* the largest count that was asked for */
};

static void note(struct notes *notes, unsigned count) {
    atomic_fetch_add(&notes->runs, 1);
    notes->most = count > notes->most ? count : notes->most;
}

/* One after another, on the calling thread. */
static void run_in_turn(void *context, unsigned count, void (*task)(void *argument), void *argument) {
    struct notes *notes = context;
    note(notes, count);
    for (unsigned i = 0; i < count; i++, atomic_fetch_add(&notes->calls, 1))
        task(argument);
}

struct call {
    void (*task)(void *argument);
    void *argument;
    struct notes *notes;
};

static void *run_call(void *argument) {
    struct call *call = argument;
    call->task(call->argument);
    atomic_fetch_add(&call->notes->calls, 1);
    return NULL;
}

/* Each on a thread of its own; none on the calling one. */
static void run_on_threads(void *context, unsigned count, void (*task)(void *argument), void *argument) {
    struct notes *notes = context;
    pthread_t thread[CALLS_MOST];
    struct call call = {task, argument, notes};
    note(notes, count);
    assert_true(count <= CALLS_MOST);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_call, &call), 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static const struct {
    const char *name;
    void (*run)(void *context, unsigned count, void (*task)(void *argument), void *argument);
} WAYS[] = {{"in turn", run_in_turn}, {"on threads", run_on_threads}};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

static struct test_outcome run_plan(const reduct_reduction *reduction, const reduct_executor *executor,
                                    unsigned threads, const void *x, const void *y) {
    struct test_outcome outcome = test_outcome();
    const reduct_plan_options options = {.reductions = reduction,
                                         .reduction_count = 1,
                                         .shape = {.n = COUNT},
                                         .device = "cpu",
                                         .threads = threads,
                                         .executor = executor};
    reduct_plan *plan = NULL;
    outcome.status = reduct_plan_create(&options, &plan, &outcome.error);
    if (outcome.status == REDUCT_OK)
        outcome.status =
            reduct_plan_execute(plan, (const void *[]){x, y}, (void *[]){outcome.bytes}, NULL, &outcome.error);
    reduct_plan_destroy(plan);
    return outcome;
}

static struct test_outcome run_accumulator(const reduct_reduction *reduction, const reduct_executor *executor,
                                           unsigned threads, const void *x, const void *y) {
    struct test_outcome outcome = test_outcome();
    const reduct_accumulator_options options = {
        .reduction = reduction, .device = "cpu", .threads = threads, .executor = executor};
    reduct_accumulator *accumulator = NULL;
    outcome.status = reduct_accumulator_create(&options, &accumulator, &outcome.error);
    if (outcome.status == REDUCT_OK)
        outcome.status = reduct_accumulator_add(accumulator, x, y, COUNT, &outcome.error);
    if (outcome.status == REDUCT_OK)
        outcome.status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, outcome.bytes, &outcome.error);
    reduct_accumulator_destroy(accumulator);
    return outcome;
}

/* Every operator, of floats and integers, in both modes; by plans and by accumulators. */
static void same_bits(void **state) {
    (void)state;
    static const reduct_type TYPES[] = {REDUCT_F64, REDUCT_F32, REDUCT_I32};
    struct rng rng = rng_of(test_seed());
    for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++) {
        const struct test_type *type = test_type(TYPES[t]);
        void *x = test_alloc(COUNT * type->size), *y = test_alloc(COUNT * type->size);
        distribution_named(type->class == FLOAT ? "60_binades" : "small_integer")->fill(&rng, type, x, y, COUNT);
        for (size_t o = 0; o < test_operator_count; o++)
            for (unsigned way = 0; way < 2 * WAY_COUNT; way++) {
                reduct_reduction reduction = test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT);
                if (!oracle_has(reduction.op, reduction.element) || (test_scale() < 0.05 && (t + o + way / 2) % 3))
                    continue;
                reduction.mode = rng_below(&rng, 4) ? REDUCT_EXACT : REDUCT_FAST;
                reduction.flags = REDUCT_WRAP;
                const void *second = test_operators[o].inputs == 2 ? y : NULL;
                struct notes notes = {0};
                const reduct_executor executor = {
                    .run = WAYS[way / 2].run, .context = &notes, .threads = 1 + (unsigned)rng_below(&rng, 8)};
                const struct test_outcome own = test_run(&reduction, "cpu", 1, x, second, COUNT);
                struct oracle_result expected = {.status = own.status, .index = own.error.index};
                memcpy(expected.bytes, own.bytes, sizeof expected.bytes);
                const struct test_outcome got =
                    (way & 1 ? run_accumulator : run_plan)(&reduction, &executor, 0, x, second);
                test_check(&got, &expected, &reduction, "%s with an executor of %u, %s",
                           way & 1 ? "accumulator" : "plan", executor.threads, WAYS[way / 2].name);
                assert_true(notes.most <= executor.threads);
                assert_true(executor.threads == 1 ? notes.runs == 0 : notes.runs > 0);
            }
        free(x);
        free(y);
    }
}

/* The number of threads is the smaller one of the two that are asked for; an executor of none has one. */
static void threads_asked_for(void **state) {
    (void)state;
    static const struct {
        unsigned threads, executor, expected;
    } CASES[] = {{0, 5, 5}, {3, 5, 3}, {7, 5, 5}, {0, 0, 0}, {1, 5, 0}, {4, 0, 0}};
    double *x = test_alloc(COUNT * sizeof *x);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (double)i;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct notes notes = {0};
        const reduct_executor executor = {.run = run_in_turn, .context = &notes, .threads = CASES[i].executor};
        const struct test_outcome got = run_plan(&sum, &executor, CASES[i].threads, x, NULL);
        assert_int_equal(got.status, REDUCT_OK);
        assert_int_equal(notes.most, CASES[i].expected);
        assert_int_equal(notes.calls, CASES[i].expected);
    }
    free(x);
}

/* A plan keeps a copy of the executor, and threads may execute it at once. */
static void copied(void **state) {
    (void)state;
    double *x = test_alloc(COUNT * sizeof *x), result = 0;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = 1;
    struct notes notes = {0};
    reduct_executor executor = {.run = run_on_threads, .context = &notes, .threads = 2};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {.n = COUNT}, .executor = &executor};
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    memset(&executor, 0xff, sizeof executor);
    test_status(reduct_plan_execute(plan, (const void *[]){x}, (void *[]){&result}, NULL, NULL), REDUCT_OK);
    assert_true(result == COUNT && notes.runs == 1);
    reduct_plan_destroy(plan);
    free(x);
}

/* Operators of one's own: one that is not commutative, so that an element out of place shows. */
static int start(void *state, void *context) {
    (void)context;
    memcpy(state, (uint64_t[]){1, 0}, 16);
    return 0;
}

/* x -> a x + b, the left one applied first; modulo 2^64. */
static int combine(void *left, const void *right, void *context) {
    (void)context;
    uint64_t l[2], r[2];
    memcpy(l, left, sizeof l);
    memcpy(r, right, sizeof r);
    memcpy(left, (uint64_t[]){l[0] * r[0], l[1] * r[0] + r[1]}, sizeof l);
    return 0;
}

static int accumulate(void *state, const void *elements, size_t count, void *context) {
    for (size_t i = 0; i < count; i++)
        combine(state, (const char *)elements + 16 * i, context);
    return 0;
}

static void custom_operators(void **state) {
    (void)state;
    uint64_t(*maps)[2] = test_alloc(COUNT * sizeof *maps), own[2], got[2];
    struct rng rng = rng_of(test_seed() + 1);
    for (size_t i = 0; i < COUNT; i++)
        maps[i][0] = rng_next(&rng) | 1, maps[i][1] = rng_next(&rng);
    reduct_custom custom = {.element_size = 16,
                            .state_size = 16,
                            .identity = start,
                            .accumulate = accumulate,
                            .combine = combine,
                            .threads = 1};
    test_status(reduct_reduce_custom(&custom, maps, COUNT, own, NULL), REDUCT_OK);
    for (size_t way = 0; way < WAY_COUNT; way++) {
        struct notes notes = {0};
        const reduct_executor executor = {.run = WAYS[way].run, .context = &notes, .threads = 6};
        custom.executor = &executor;
        custom.threads = 5;
        test_status(reduct_reduce_custom(&custom, maps, COUNT, got, NULL), REDUCT_OK);
        assert_memory_equal(own, got, sizeof own);
        assert_int_equal(notes.most, 5);
    }
    free(maps);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Stopping
 * ------------------------------------------------------------------------------------------------------------------ */

struct patience {
    atomic_uint asked;
    unsigned limit; /* questions until it is over */
};

static int is_over(void *context) {
    struct patience *patience = context;
    return atomic_fetch_add(&patience->asked, 1) + 1 >= patience->limit;
}

/* The context of an executor that runs threads, too. */
struct both {
    struct notes notes;
    struct patience patience;
};

static int is_both_over(void *context) {
    return is_over(&((struct both *)context)->patience);
}

/* Ways to reduce COUNT elements, as 1024 x 1024 where there are axes. */
enum shape { WHOLE, ROWS, COLUMNS, BACKWARDS, SEGMENTS, GROUPS, SHAPES };

static reduct_status run_shape(enum shape shape, const reduct_reduction *reductions, size_t count, const void *x,
                               const void *y, const reduct_executor *executor, void *results, reduct_error *error) {
    static const uint64_t lengths[] = {1024, 1024}, bounds[] = {0, 5, COUNT / 2, COUNT};
    static const int64_t backwards[] = {1024, -1};
    static uint8_t groups[COUNT];
    const bool two = test_operator(reductions->op)->inputs == 2;
    const size_t last = 1023 * test_type(reductions->element)->size;
    const reduct_array array = {
        .rank = 2,
        .lengths = lengths,
        .strides = {shape == BACKWARDS ? backwards : NULL, shape == BACKWARDS && two ? backwards : NULL},
        .axes = shape == ROWS      ? 2
                : shape == COLUMNS ? 1
                                   : 3};
    const reduct_segments segments = {.count = 3, .elements = COUNT, .index = REDUCT_U64};
    const reduct_groups grouping = {.count = 7, .elements = COUNT, .index = REDUCT_U8};
    for (size_t i = 0; i < COUNT; i++)
        groups[i] = (uint8_t)(i % 7);
    reduct_plan_options options = {
        .reductions = reductions, .reduction_count = count, .device = "cpu", .threads = 1, .executor = executor};
    const void *inputs[3] = {x};
    size_t input = 1;
    if (shape == WHOLE) {
        options.shape.n = COUNT;
    } else if (shape < SEGMENTS) {
        options.kind = REDUCT_ARRAY;
        options.array = &array;
        inputs[0] = shape == BACKWARDS ? (const char *)x + last : x;
    } else {
        options.kind = shape == SEGMENTS ? REDUCT_SEGMENTS : REDUCT_GROUPS;
        options.segments = shape == SEGMENTS ? &segments : NULL;
        options.groups = shape == GROUPS ? &grouping : NULL;
    }
    if (two)
        inputs[input++] = shape == BACKWARDS ? (const char *)y + last : y;
    inputs[input] = shape == SEGMENTS ? (const void *)bounds : groups;
    reduct_plan *plan = NULL;
    reduct_status status = reduct_plan_create(&options, &plan, error);
    void *places[] = {results, (char *)results + 1024 * 64};
    if (status == REDUCT_OK)
        status = reduct_plan_execute(plan, inputs, places, NULL, error);
    reduct_plan_destroy(plan);
    return status;
}

/* Whenever it is that a call shall stop, it does; one that shall not has the same bits. */
static void check_stops(enum shape shape, const reduct_reduction *reductions, size_t count, const void *x,
                        const void *y) {
    enum { BYTES = 2 * 1024 * 64 };
    unsigned char *expected = test_alloc(BYTES), *got = test_alloc(BYTES);
    memset(expected, 0, BYTES);
    memset(got, 0, BYTES);
    reduct_error error = {0};
    struct patience patience = {.limit = UINT_MAX};
    const reduct_executor executor = {.stop = is_over, .context = &patience};
    test_status(run_shape(shape, reductions, count, x, y, NULL, expected, &error), REDUCT_OK);
    test_status(run_shape(shape, reductions, count, x, y, &executor, got, &error), REDUCT_OK);
    assert_memory_equal(expected, got, BYTES);
    const unsigned asked = atomic_load(&patience.asked), limits[] = {1, (asked + 1) / 2, asked};
    assert_true(asked > 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        patience = (struct patience){.limit = limits[i]};
        test_status(run_shape(shape, reductions, count, x, y, &executor, got, &error), REDUCT_ERROR_CALLBACK);
        assert_memory_equal(error.message, "executor: stop()", 16);
    }
    free(expected);
    free(got);
}

static void stopped(void **state) {
    (void)state;
    static const reduct_type TYPES[] = {REDUCT_F32, REDUCT_I32};
    const uint64_t one_of = test_scale() < 0.05 ? 27 : test_scale() < 1 ? 9 : 3;
    struct rng rng = rng_of(test_seed() + 2);
    for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++) {
        const struct test_type *type = test_type(TYPES[t]);
        void *x = test_alloc(COUNT * type->size), *y = test_alloc(COUNT * type->size);
        distribution_named(type->class == FLOAT ? "60_binades" : "small_integer")->fill(&rng, type, x, y, COUNT);
        for (size_t o = 0; o < test_operator_count; o++)
            for (enum shape shape = WHOLE; shape < SHAPES; shape++) {
                reduct_reduction reductions[2] = {test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT)};
                if (!oracle_has(reductions->op, reductions->element) || rng_below(&rng, one_of))
                    continue;
                reductions->mode = shape != GROUPS && rng_below(&rng, 2) ? REDUCT_FAST : REDUCT_EXACT;
                reductions->flags = REDUCT_WRAP;
                reductions[1] = (reduct_reduction){.op = REDUCT_MAX, .element = type->type};
                check_stops(shape, reductions, shape == WHOLE ? 1 : 1 + rng_below(&rng, 2), x, y);
            }
        free(x);
        free(y);
    }
}

/* An accumulator is then as it was, and goes on where it is not stopped any more; on several threads, too. */
static void stopped_accumulators(void **state) {
    (void)state;
    double *x = test_alloc(COUNT * sizeof *x), result;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = 1;
    for (unsigned way = 0; way <= WAY_COUNT; way++) {
        struct both context = {.patience = {.limit = 1}};
        reduct_accumulator *accumulator = NULL;
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
        const reduct_executor executor = {
            .run = way ? WAYS[way - 1].run : NULL, .context = &context, .threads = 4, .stop = is_both_over};
        const reduct_accumulator_options options = {.reduction = &sum, .executor = &executor};
        test_status(reduct_accumulator_create(&options, &accumulator, NULL), REDUCT_OK);
        test_status(reduct_accumulator_add(accumulator, x, NULL, COUNT, NULL), REDUCT_ERROR_CALLBACK);
        test_status(reduct_accumulator_add_masked(accumulator, x, NULL, COUNT, REDUCT_MASK_BYTES, x, 0, NULL),
                    REDUCT_ERROR_CALLBACK);
        assert_int_equal(reduct_accumulator_count(accumulator), 0);
        context.patience.limit = UINT_MAX;
        test_status(reduct_accumulator_add(accumulator, x, NULL, COUNT, NULL), REDUCT_OK);
        test_status(reduct_accumulator_result(accumulator, REDUCT_DEFAULT, &result, NULL), REDUCT_OK);
        assert_true(result == COUNT);
        reduct_accumulator_destroy(accumulator);
    }
    free(x);
}

/* What cannot be an executor is refused, everywhere that takes one. */
static void refused(void **state) {
    (void)state;
    const reduct_executor bad[] = {{.threads = 2}, {.run = run_in_turn, .reserved = {0, 0, 1}}};
    static const char *const SAID[] = {"executor: run", "executor: reserved"};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    for (size_t i = 0; i < 2; i++) {
        reduct_error error;
        reduct_plan *plan = NULL;
        reduct_accumulator *accumulator = NULL;
        unsigned char result[16];
        const reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .executor = &bad[i]};
        test_status(reduct_plan_create(&options, &plan, &error), REDUCT_ERROR_ARGUMENT);
        assert_memory_equal(error.message, SAID[i], strlen(SAID[i]));
        const reduct_accumulator_options own = {.reduction = &sum, .executor = &bad[i]};
        test_status(reduct_accumulator_create(&own, &accumulator, &error), REDUCT_ERROR_ARGUMENT);
        assert_memory_equal(error.message, SAID[i], strlen(SAID[i]));
        const reduct_custom custom = {.element_size = 16,
                                      .state_size = 16,
                                      .identity = start,
                                      .accumulate = accumulate,
                                      .combine = combine,
                                      .executor = &bad[i]};
        test_status(reduct_reduce_custom(&custom, NULL, 0, result, &error), REDUCT_ERROR_ARGUMENT);
        assert_memory_equal(error.message, SAID[i], strlen(SAID[i]));
        assert_true(!plan && !accumulator);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(threads_asked_for),
                                       cmocka_unit_test(copied),    cmocka_unit_test(custom_operators),
                                       cmocka_unit_test(stopped),   cmocka_unit_test(stopped_accumulators),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
