/* Hostile floating-point environments: whatever the caller's rounding mode, flush-to-zero, denormals-are-zero,
 * exception flags and traps, results are the same and the environment comes back as it was, every bit.
 *
 * From the survival list: "with a hostile floating-point environment on entry (flush-to-zero, denormals-are-zero,
 * rounding toward zero), which must come back untouched".
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "support.h"
#include "values.h"

/* The whole floating-point state that a caller can set. */
struct state {
    unsigned mxcsr;
    unsigned short control, status; /* of the x87 */
    int rounding, flags;            /* elsewhere */
};

#if defined(__x86_64__)
static struct state get_state(void) {
    struct state state = {.mxcsr = _mm_getcsr()};
    __asm__ volatile("fnstcw %0" : "=m"(state.control));
    __asm__ volatile("fnstsw %0" : "=m"(state.status));
    return state;
}

static void set_state(struct state state) {
    __asm__ volatile("fnclex");
    __asm__ volatile("fldcw %0" : : "m"(state.control));
    _mm_setcsr(state.mxcsr);
}

enum { FLAGS = 0x3f, DAZ = 0x40, MASKS = 0x1f80, ROUND_UP = 0x4000, ROUND_DOWN = 0x2000, FTZ = 0x8000 };
static const unsigned mxcsr_values[] = {
    MASKS,
    MASKS | FLAGS,
    MASKS | FTZ,
    MASKS | DAZ,
    MASKS | FTZ | DAZ | FLAGS,
    MASKS | ROUND_UP,
    MASKS | ROUND_DOWN,
    MASKS | ROUND_UP | ROUND_DOWN, /* towards zero */
    MASKS | ROUND_UP | ROUND_DOWN | FTZ | DAZ,
    MASKS | ROUND_DOWN | FTZ | DAZ | FLAGS,
    0,              /* every exception traps */
    FTZ | ROUND_UP, /* likewise */
};
/* Control words of the x87: default; single precision; double precision, rounding towards zero; every exception
 * traps. */
static const unsigned short control_values[] = {0x037f, 0x007f, 0x0e7f, 0x0340};

static size_t state_count(void) {
    return sizeof mxcsr_values / sizeof *mxcsr_values;
}

static struct state hostile_state(size_t i) {
    return (struct state){.mxcsr = mxcsr_values[i],
                          .control = control_values[i % (sizeof control_values / sizeof *control_values)]};
}
#else
static struct state get_state(void) {
    return (struct state){.rounding = fegetround(), .flags = fetestexcept(FE_ALL_EXCEPT)};
}

static void set_state(struct state state) {
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(state.flags);
    fesetround(state.rounding);
}

static const struct state states[] = {{.rounding = FE_TONEAREST, .flags = FE_ALL_EXCEPT},
                                      {.rounding = FE_UPWARD},
                                      {.rounding = FE_DOWNWARD, .flags = FE_INEXACT},
                                      {.rounding = FE_TOWARDZERO}};

static size_t state_count(void) {
    return sizeof states / sizeof *states;
}

static struct state hostile_state(size_t i) {
    return states[i];
}
#endif

static bool same_state(struct state a, struct state b) {
    return a.mxcsr == b.mxcsr && a.control == b.control && a.status == b.status && a.rounding == b.rounding &&
           a.flags == b.flags;
}

/* Runs what `during` does in hostile state `i`; nothing of the test's own runs there. Returns whether the state came
 * back. */
static bool in_state(size_t i, void (*during)(void *), void *argument) {
    const struct state mine = get_state();
    set_state(hostile_state(i));
    const struct state before = get_state();
    during(argument);
    const struct state after = get_state();
    set_state(mine);
    return same_state(before, after);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Plans and accumulators
 * ------------------------------------------------------------------------------------------------------------------ */

struct call {
    const reduct_reduction *reduction;
    const char *device;
    unsigned threads;
    const void *x, *y;
    size_t count;
    struct test_outcome outcome;
};

static void run_plan(void *argument) {
    struct call *call = argument;
    call->outcome = test_run(call->reduction, call->device, call->threads, call->x, call->y, call->count);
}

/* Everything an accumulator does: two halves added to two of them, one saved and loaded, merged, rounded. */
static void run_accumulators(void *argument) {
    struct call *call = argument;
    const size_t size = reduct_type_size(call->reduction->element);
    const size_t half =
        call->reduction->op == REDUCT_PRODUCT ? 0 : call->count / 2; /* products do not merge anywhere */
    unsigned char bytes[4096];
    size_t saved = sizeof bytes;
    reduct_accumulator *a = NULL, *b = NULL, *c = NULL;
    const char *device = call->device;
    reduct_status status = reduct_accumulator_create(
        &(reduct_accumulator_options){.reduction = call->reduction, .device = device, .threads = call->threads}, &a,
        NULL);
    if (!status)
        status = reduct_accumulator_create(
            &(reduct_accumulator_options){.reduction = call->reduction, .device = device, .threads = call->threads}, &b,
            NULL);
    if (!status)
        status = reduct_accumulator_add(a, call->x, call->y, half, NULL);
    if (!status)
        status = reduct_accumulator_add(b, (const char *)call->x + half * size,
                                        call->y ? (const char *)call->y + half * size : NULL, call->count - half, NULL);
    if (!status)
        status = reduct_accumulator_save(b, bytes, &saved, NULL);
    if (!status)
        status = reduct_accumulator_load(
            bytes, saved, &(reduct_accumulator_options){.device = device, .threads = call->threads}, &c, NULL);
    if (!status)
        status = reduct_accumulator_merge(a, c, NULL);
    if (!status)
        status = reduct_accumulator_result(a, REDUCT_DEFAULT, call->outcome.bytes, NULL);
    call->outcome.status = status;
    reduct_accumulator_destroy(a);
    reduct_accumulator_destroy(b);
    reduct_accumulator_destroy(c);
}

static void check_call(struct call *call, const struct oracle_result *expected, const char *name) {
    static void (*const runs[])(void *) = {run_plan, run_accumulators};
    for (size_t i = 0; i < state_count(); i++)
        for (size_t r = 0; r < 2; r++) {
            call->outcome = test_outcome();
            const bool restored = in_state(i, runs[r], call);
            test_check(&call->outcome, expected, call->reduction, "%zu %s on %s, environment %zu, %s", call->count,
                       name, call->device, i, r ? "accumulators" : "a plan");
            if (!restored)
                test_fail("%s on %s: environment %zu did not come back from %s",
                          reduct_operator_name(call->reduction->op), call->device, i, r ? "accumulators" : "a plan");
        }
}

static void hostile(void **state) {
    (void)state;
    static const char *const names[] = {"normal",      "denormal", "raw",      "cancel", "ties",        "product_range",
                                        "300_binades", "overflow", "anything", "limits", "sum_at_limit"};
    static double x[3000], y[3000];
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed());
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(8000, 800); round-- > 0;) {
        const struct test_type *type = elements[rng_below(&rng, element_count)];
        const struct distribution *distribution = distribution_named(names[rng_below(&rng, 11)]);
        const struct test_operator *op = &test_operators[rng_below(&rng, test_operator_count)];
        if (!distribution_suits(distribution, type) || !oracle_has(op->op, type->type))
            continue;
        const bool two = op->inputs == 2;
        const size_t count = 2 + rng_below(&rng, rng_below(&rng, 4) ? 300 : 2998);
        distribution->fill(&rng, type, x, y, count);
        oracle_read(&oracle, type->type, x, two ? y : NULL, count);
        reduct_reduction reduction = test_reduction(op->op, type->type, REDUCT_DEFAULT);
        reduction.nan = REDUCT_NAN_IGNORE;
        const struct oracle_result expected = oracle_expect(&oracle, &reduction);
        struct call call = {.reduction = &reduction, .threads = 1, .x = x, .y = two ? y : NULL, .count = count};
        call.device = devices[rng_below(&rng, device_count)];
        check_call(&call, &expected, distribution->name);
    }
    oracle_clear(&oracle);
}

/* Threads inherit their creator's environment: they have to leave it, too. */
static void hostile_on_threads(void **state) {
    (void)state;
    const size_t count = 500003;
    double *x = test_alloc(count * sizeof *x);
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct rng rng = rng_of(test_seed() + 1);
    struct oracle oracle;
    oracle_init(&oracle);
    distribution_named("30_binades")->fill(&rng, test_type(REDUCT_F64), x, NULL, count);
    x[count / 2] = 0x1p-1074;
    oracle_read(&oracle, REDUCT_F64, x, NULL, count);
    for (size_t d = 0; d < device_count; d++) {
        const reduct_reduction reduction = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
        const struct oracle_result expected = oracle_expect(&oracle, &reduction);
        struct call call = {.reduction = &reduction, .device = devices[d], .threads = 4, .x = x, .count = count};
        check_call(&call, &expected, "30_binades");
    }
    oracle_clear(&oracle);
    free(x);
}

/* Fast mode is not exact, but depends on the environment just as little. */
static void hostile_fast(void **state) {
    (void)state;
    static double x[3000], y[3000];
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct rng rng = rng_of(test_seed() + 2);
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t d = 0; d < device_count; d++)
            for (int single = 0; single < 2; single++) {
                const struct test_type *type = test_type(single ? REDUCT_F32 : REDUCT_F64);
                if (!oracle_has(test_operators[o].op, type->type))
                    continue;
                distribution_named("60_binades")->fill(&rng, type, x, y, 3000);
                reduct_reduction reduction = test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT);
                reduction.mode = REDUCT_FAST;
                struct call call = {.reduction = &reduction, .device = devices[d], .threads = 1, .x = x, .count = 3000};
                call.y = test_operators[o].inputs == 2 ? y : NULL;
                static void (*const runs[])(void *) = {run_plan, run_accumulators};
                for (size_t r = 0; r < 2; r++) {
                    call.outcome = test_outcome();
                    runs[r](&call);
                    const struct test_outcome plain = call.outcome;
                    for (size_t i = 0; i < state_count(); i++) {
                        call.outcome = test_outcome();
                        const bool restored = in_state(i, runs[r], &call);
                        if (!restored || call.outcome.status != plain.status ||
                            memcmp(call.outcome.bytes, plain.bytes, sizeof plain.bytes) != 0)
                            test_fail("fast %s of %s on %s: environment %zu matters or did not come back",
                                      test_operators[o].name, type->name, devices[d], i);
                    }
                }
            }
}

/* The calls of one line, and those that compute nothing. */
struct simple {
    double x[100], sum, std;
    float f[100], dot;
    reduct_status status[6];
    reduct_error error;
};

static void run_simple(void *argument) {
    struct simple *simple = argument;
    reduct_type type;
    reduct_reduction bad = {.op = (reduct_operator)99};
    simple->status[0] = reduct_sum_f64(simple->x, 100, &simple->sum);
    simple->status[1] = reduct_std_f64(simple->x, 100, &simple->std);
    simple->status[2] = reduct_dot_f32(simple->f, simple->f, 100, &simple->dot);
    simple->status[3] = reduct_type_parse("f64", &type);
    simple->status[4] = reduct_reduction_resolve(&bad, &simple->error);
    simple->status[5] = reduct_status_text(REDUCT_OK) && reduct_version() ? REDUCT_OK : REDUCT_ERROR_ARGUMENT;
}

static void hostile_simple_calls(void **state) {
    (void)state;
    struct simple plain = {0};
    struct rng rng = rng_of(test_seed() + 3);
    distribution_named("normal")->fill(&rng, test_type(REDUCT_F64), plain.x, NULL, 100);
    distribution_named("normal")->fill(&rng, test_type(REDUCT_F32), plain.f, NULL, 100);
    struct simple in;
    memcpy(&in, &plain, sizeof in);
    run_simple(&plain);
    assert_int_equal(plain.status[0], REDUCT_OK);
    assert_int_equal(plain.status[4], REDUCT_ERROR_ARGUMENT);
    for (size_t i = 0; i < state_count(); i++) {
        struct simple got;
        memcpy(&got, &in, sizeof got);
        if (!in_state(i, run_simple, &got))
            test_fail("environment %zu did not come back from simple calls", i);
        assert_memory_equal(&got, &plain, sizeof got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile),
        cmocka_unit_test(hostile_on_threads),
        cmocka_unit_test(hostile_fast),
        cmocka_unit_test(hostile_simple_calls),
    };
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
