/* Calls every public function that returns a status with arguments of all kinds: null pointers, numbers that are in no
 * table, sizes up to 2^64 - 1, devices that are not there, damaged bytes, memory that runs out. Prints which statuses each
 * function gave, "FUNCTION NUMBER CALLS", for test_statuses.py, which holds them against the header.
 *
 * On the way each failure must leave the output as it was and fill the error in, each success leave the error alone; and an
 * accumulator must say of data what a plan says.
 *
 * Sizes are small or impossible: those between would be read.
 *
 * Where REDUCT_TEST_DEVICES names CUDA devices, these are used beside the CPU. They are emulated: a queued execution has ended
 * when the call returns.
 */
#include <math.h>
#include <reduct/cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "cuda/table.h"
#include "cuda_support.h"
#include "support.h"
#include "values.h"

enum { REDUCTIONS_MOST = 3, RESULTS_MOST = 4 };
enum {
    ACCUMULATORS = 12,
    MOST = 40,
    SAVED = 4096,
    WORDS = 512,
    FUNCTIONS_MOST = 512,
    STATUSES = 32,
    CANARY = 0x5a,
    DEVICE_KEYS = 4 << 20
};

static struct rng rng;

static _Noreturn void broken(const char *function, const char *what, reduct_status status) {
    fprintf(stderr, "%s: %s (status %d, REDUCT_TEST_SEED=%llu)\n", function, what, (int)status,
            (unsigned long long)test_seed());
    exit(1);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory that runs out: the library's own calls come here, diverted by the linker (--wrap)
 * ------------------------------------------------------------------------------------------------------------------ */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool no_memory;

void *__wrap_malloc(size_t size) {
    return no_memory ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return no_memory ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return no_memory ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What came of the calls
 * ------------------------------------------------------------------------------------------------------------------ */

static struct seen {
    const char *function;
    unsigned long calls[STATUSES];
} seen[FUNCTIONS_MOST];

/* The place of a function: hundreds are called, millions of times. */
static struct seen *seen_of(const char *function) {
    size_t place = 0;
    for (const char *at = function; *at; at++)
        place = (place * 31 + (unsigned char)*at) % FUNCTIONS_MOST;
    for (size_t tried = 0; tried < FUNCTIONS_MOST; tried++, place = (place + 1) % FUNCTIONS_MOST)
        if (!seen[place].function || strcmp(seen[place].function, function) == 0)
            return &seen[place];
    broken(function, "too many functions for the table", REDUCT_OK);
}

static void count_status(const char *function, reduct_status status) {
    struct seen *of = seen_of(function);
    of->function = function;
    if ((unsigned)status >= STATUSES)
        broken(function, "not a status", status);
    of->calls[status]++;
}

/* Memory that devices can access, too. */
static void *shared_room(size_t bytes) {
    void *room = NULL;
    if (gpu.driver)
        CU(gpu.driver->cuMemHostAlloc(&room, bytes, 0));
    else if (!(room = calloc(1, bytes)))
        test_fail("no memory");
    return room;
}

/* One call: what it may write to, as it was before. */
struct watch {
    reduct_error error, *passed; /* an error is passed, or not */
    reduct_cuda_outcome outcome;
    unsigned char output[REDUCTIONS_MOST * RESULTS_MOST * ORACLE_RESULT_BYTES];
};

static bool is_canary(const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i] != CANARY)
            return false;
    return true;
}

static struct watch *begin_call(void) {
    static struct watch *watch;
    watch = watch ? watch : shared_room(sizeof *watch);
    memset(watch, CANARY, sizeof *watch);
    watch->passed = rng_next(&rng) & 1 ? &watch->error : NULL;
    no_memory = rng_below(&rng, 5) == 0;
    return watch;
}

/* Notes what a call gave. `output` says whether watch->output was its output. */
static reduct_status end_call(const char *function, reduct_status status, const struct watch *watch, bool output) {
    no_memory = false;
    count_status(function, status);
    const bool filled = watch->passed && status != REDUCT_OK;
    if (!filled && !is_canary(&watch->error, sizeof watch->error))
        broken(function, "wrote an error without a failure", status);
    if (filled && (watch->error.status != status || !memchr(watch->error.message, 0, sizeof watch->error.message)))
        broken(function, "failed and did not fill in the error", status);
    if (output && status != REDUCT_OK && status != REDUCT_ERROR_CALLBACK &&
        !is_canary(watch->output, sizeof watch->output))
        broken(function, "failed and wrote its output", status);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------------------------------------------------ */

static bool rarely(void) {
    return rng_below(&rng, 12) == 0;
}

static int any_number(int most) {
    static const int wrong[] = {-1, 99, 255, INT32_MAX, INT32_MIN};
    return rarely() ? wrong[rng_below(&rng, 5)] : (int)rng_below(&rng, (uint64_t)most + 2);
}

static int never_stop(void *context) {
    (void)context;
    return 0;
}

static int stop(void *context) {
    (void)context;
    return 1;
}

/* Most often none, or one that goes on; now and then one that stops all calls, or is none. */
static const reduct_executor *any_executor(void) {
    static const reduct_executor executors[] = {{.stop = never_stop}, {.stop = stop}, {.threads = 2}};
    return rarely() ? &executors[rng_below(&rng, 3)] : NULL;
}

/* Most often one that can be reduced. */
static reduct_reduction any_reduction(void) {
    const reduct_operator op = rarely() ? (reduct_operator)any_number(REDUCT_WEIGHTED_MEAN)
                                        : test_operators[rng_below(&rng, test_operator_count)].op;
    reduct_reduction reduction = {.op = op, .element = (reduct_type)any_number(REDUCT_I256)};
    if (rng_below(&rng, 3))
        reduction.element = rng_next(&rng) & 1 ? REDUCT_F64 : REDUCT_I64;
    reduction.result = rng_below(&rng, 3) ? REDUCT_DEFAULT : (reduct_type)any_number(REDUCT_I256);
    reduction.mode = rarely() ? (reduct_mode)any_number(1) : (reduct_mode)rng_below(&rng, 2);
    reduction.nan = rarely() ? (reduct_nan)any_number(2) : (reduct_nan)rng_below(&rng, 3);
    reduction.flags = rarely() ? (uint32_t)rng_next(&rng) : (uint32_t)rng_below(&rng, 4);
    return reduction;
}

static const char *any_device(void) {
    static const char *const cuda[] = {"cuda:0", "cuda:0:integer"};
    if (gpu.driver && rng_next(&rng) & 1)
        return cuda[rng_next(&rng) & 1];
    static const char *const names[] = {NULL,   "auto", "cpu",     "cpu:portable", "cpu:avx2", "cpu:avx512",
                                        "nope", "",     "cuda:77", "cpu:",         "cuda:x"};
    return names[rng_below(&rng, rarely() ? 11 : 4)];
}

/* An array with room for MOST elements of any type; null, or at an odd address, or without a number, now and then. */
static const void *any_array(void) {
    static double *room[2];
    double **some = &room[rng_next(&rng) & 1], *array = *some = *some ? *some : shared_room((MOST + 1) * sizeof **some);
    const bool nans = rarely();
    for (size_t i = 0; i < MOST; i++) {
        const uint64_t bits = nans                 ? 0x7ff8000000000001
                              : rng_below(&rng, 3) ? rng_next(&rng)
                              : rng_next(&rng) & 1 ? 0x7ff8000000000001
                                                   : (uint64_t)INT64_MAX;
        memcpy(&array[i], &bits, sizeof bits);
    }
    return rarely() ? NULL : rarely() ? (const char *)array + 1 : (const char *)array;
}

/* As many elements as an array has, or more than any could. */
static uint64_t any_count(size_t bytes) {
    const uint64_t most = (uint64_t)PTRDIFF_MAX / (bytes ? bytes : 1);
    switch (rng_below(&rng, 12)) {
    case 0:
        return most + 1;
    case 1:
        return UINT64_MAX - rng_below(&rng, 3);
    case 2:
        return (uint64_t)1 << 63;
    default:
        return rng_below(&rng, rng_next(&rng) & 1 ? 4 : MOST);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Names, reductions, plans
 * ------------------------------------------------------------------------------------------------------------------ */

#define PARSE(type, T)                                                                                                 \
    static void call_##type##_parse(void) {                                                                            \
        static const char *const names[] = {NULL, "", "f64", "sum", "exact", "ignore", "F64", "f64 ", "default"};      \
        struct watch *watch = begin_call();                                                                            \
        T *number = rarely() ? NULL : (T *)(void *)watch->output;                                                      \
        watch->passed = NULL;                                                                                          \
        end_call("reduct_" #type "_parse", reduct_##type##_parse(names[rng_below(&rng, 9)], number), watch, true);     \
    }
PARSE(type, reduct_type)
PARSE(operator, reduct_operator)
PARSE(mode, reduct_mode)
PARSE(nan, reduct_nan)

static void call_resolve(void) {
    reduct_reduction reduction = any_reduction(), before = reduction;
    const bool null = rarely();
    struct watch *watch = begin_call();
    const reduct_status status = end_call(
        "reduct_reduction_resolve", reduct_reduction_resolve(null ? NULL : &reduction, watch->passed), watch, false);
    if (status != REDUCT_OK && memcmp(&reduction, &before, sizeof reduction) != 0)
        broken("reduct_reduction_resolve", "failed and changed the reduction", status);
}

static reduct_plan_options any_options(const reduct_reduction *reductions) {
    reduct_plan_options options = {.reductions = rarely() ? NULL : reductions,
                                   .reduction_count = rarely() ? rng_below(&rng, 3) : 1,
                                   .shape = {.outer = 1, .inner = 1, .stride = 1},
                                   .device = any_device(),
                                   .threads = rarely() ? UINT32_MAX : (unsigned)rng_below(&rng, 4),
                                   .executor = any_executor()};
    options.shape.n = any_count(reduct_type_size(reductions->element));
    if (rarely())
        options.kind = (reduct_kind)any_number(REDUCT_GROUPS);
    else if (rng_below(&rng, 3) == 0)
        options.kind = (reduct_kind)rng_below(&rng, REDUCT_GROUPS + 1);
    if (options.kind == REDUCT_SHAPE) { /* within MOST, or beyond all memory */
        options.shape = (reduct_shape){rng_below(&rng, 3), rng_below(&rng, 5), rng_below(&rng, 3), 8, 2, 1};
        if (rarely())
            options.shape.stride = INT64_MAX;
    }
    if (rarely())
        options.reserved[rng_below(&rng, 5)] = 1;
    if (rarely())
        options.mask = (reduct_mask)any_number(REDUCT_MASK_BITS);
    if (rarely())
        options.mask_offset = rarely() ? UINT64_MAX : rng_below(&rng, 9);
    return options;
}

/* The array, the segments and the groups of options that have some: within MOST, or beyond all memory. */
static void add_layout(reduct_plan_options *options, reduct_array *array, reduct_segments *segments,
                       reduct_groups *groups) {
    static uint64_t lengths[2];
    lengths[0] = rng_below(&rng, RESULTS_MOST + 1);
    lengths[1] = rarely() ? UINT64_MAX : rng_below(&rng, MOST / RESULTS_MOST);
    *array = (reduct_array){.rank = rarely() ? 99 : 2, .lengths = rarely() ? NULL : lengths, .axes = rarely() ? 7 : 2};
    *segments = (reduct_segments){.count = rng_below(&rng, RESULTS_MOST + 1),
                                  .elements = rarely() ? UINT64_MAX : MOST,
                                  .index = rarely() ? REDUCT_F32 : REDUCT_I64,
                                  .length = rng_below(&rng, MOST),
                                  .with_ends = rarely()};
    if (rarely())
        segments->index = REDUCT_DEFAULT;
    *groups = (reduct_groups){.count = rng_below(&rng, RESULTS_MOST + 1),
                              .elements = rarely() ? UINT64_MAX : rng_below(&rng, MOST),
                              .index = rarely() ? REDUCT_F32 : REDUCT_U8,
                              .skip = rarely()};
    if (rarely())
        groups->reserved[rng_below(&rng, 4)] = 1;
    options->array = rarely() ? NULL : array;
    options->segments = rarely() ? NULL : segments;
    options->groups = rarely() ? NULL : groups;
}

/* What became of a queued execution, where nobody may have written it. A result of one or two bytes may be what was there before. */
static void check_outcome(const struct watch *watch, bool passed, size_t result_bytes) {
    const reduct_cuda_outcome *outcome = &watch->outcome;
    if (!passed || is_canary(outcome, sizeof *outcome)) {
        if (passed || !is_canary(outcome, sizeof *outcome))
            broken("reduct_cuda_execute", "an outcome that was not asked for, or none", REDUCT_OK);
        return;
    }
    const reduct_status status = (reduct_status)outcome->status;
    count_status("reduct_cuda_outcome", status);
    if (outcome->reserved != 0 || (status == REDUCT_ERROR_NAN ? outcome->index >= MOST : outcome->index != UINT64_MAX))
        broken("reduct_cuda_execute", "not an outcome", status);
    const bool untouched = is_canary(watch->output, sizeof watch->output);
    if (untouched != (status != REDUCT_OK) && (!untouched || result_bytes > 2))
        broken("reduct_cuda_execute", "a result in spite of a failure, or none", status);
}

/* What became of it is asked for where there is one result, of one whole array. */
static void queue(const reduct_plan *plan, const void *const *inputs, void *workspace, bool whole) {
    struct watch *watch = begin_call();
    void *results[REDUCTIONS_MOST];
    for (size_t i = 0; i < REDUCTIONS_MOST; i++)
        results[i] = rarely() ? NULL : watch->output + i * RESULTS_MOST * ORACLE_RESULT_BYTES;
    const bool asks = whole && !rarely();
    const reduct_status status =
        end_call("reduct_cuda_execute",
                 reduct_cuda_execute(rarely() ? NULL : plan, inputs, rarely() ? NULL : results,
                                     asks ? &watch->outcome : NULL, workspace, NULL, watch->passed),
                 watch, true);
    check_outcome(watch, asks && status == REDUCT_OK, reduct_type_size(plan->prepared.reduction.result));
}

/* The same, waited for: of many results those that do not fail are written. */
static void queue_checked(const reduct_plan *plan, const void *const *inputs, void *workspace, bool whole) {
    struct watch *watch = begin_call();
    void *results[REDUCTIONS_MOST];
    for (size_t i = 0; i < REDUCTIONS_MOST; i++)
        results[i] = rarely() ? NULL : watch->output + i * RESULTS_MOST * ORACLE_RESULT_BYTES;
    end_call("reduct_cuda_execute_checked",
             reduct_cuda_execute_checked(rarely() ? NULL : plan, inputs, rarely() ? NULL : results, workspace, NULL,
                                         watch->passed),
             watch, whole);
}

/* With outcomes, of which those of failures say why; without, by reduct_plan_execute(). */
static void execute(const reduct_plan *plan, const void *const *inputs, void *workspace, bool each) {
    struct watch *watch = begin_call();
    void *results[REDUCTIONS_MOST];
    reduct_outcome kept[REDUCTIONS_MOST][RESULTS_MOST], *outcomes[REDUCTIONS_MOST];
    memset(kept, CANARY, sizeof kept);
    for (size_t i = 0; i < REDUCTIONS_MOST; i++) {
        results[i] = rarely() ? NULL : watch->output + i * RESULTS_MOST * ORACLE_RESULT_BYTES;
        outcomes[i] = kept[i];
    }
    plan = rarely() ? NULL : plan;
    if (!each) {
        end_call("reduct_plan_execute",
                 reduct_plan_execute(plan, inputs, rarely() ? NULL : results, workspace, watch->passed), watch, true);
        return;
    }
    const bool whole = rng_next(&rng) & 1; /* all have outcomes; otherwise the last has none */
    outcomes[0] = whole ? outcomes[0] : NULL;
    const reduct_status status =
        end_call("reduct_plan_execute_each",
                 reduct_plan_execute_each(plan, inputs, rarely() ? NULL : results, rarely() ? NULL : outcomes,
                                          workspace, watch->passed),
                 watch, false);
    for (size_t i = 0; whole && status == REDUCT_OK && i < reduct_plan_result_count(plan); i++) {
        count_status("reduct_outcome", (reduct_status)kept[0][i].status);
        if (kept[0][i].reserved || (kept[0][i].status == REDUCT_ERROR_NAN) != (kept[0][i].index != UINT64_MAX))
            broken("reduct_plan_execute_each", "not an outcome", (reduct_status)kept[0][i].status);
    }
}

/* Offsets, or begins and ends, of at most RESULTS_MOST segments; now and then not within the array. */
static const void *any_bounds(bool ends) {
    static int64_t bounds[2][RESULTS_MOST + 1];
    for (int64_t i = 0, at = ends; i <= RESULTS_MOST; i++, at += (int64_t)rng_below(&rng, 5))
        bounds[ends][i] = rarely() ? (int64_t)rng_next(&rng) : at;
    return rarely() ? (const char *)bounds[ends] + 1 : (const char *)bounds[ends];
}

/* Numbers of groups, now and then of none. */
static const void *any_indices(void) {
    static uint8_t indices[MOST];
    for (size_t i = 0; i < MOST; i++)
        indices[i] = (uint8_t)(i % 100 == 7 && rarely() ? RESULTS_MOST : rng_below(&rng, RESULTS_MOST / 2 + 1));
    return rarely() ? NULL : indices;
}

/* Only small shapes are executed with arrays. */
/* `arrays` come before the bounds of segments, or the indices of groups, if there are any, and before the mask, if there is
 * one. */
static void call_execute(const reduct_plan *plan, bool whole, bool small, unsigned arrays, bool bounds, bool pairs,
                         bool grouped, bool masked) {
    const void *inputs[6] = {small ? any_array() : NULL, rng_next(&rng) & 1 && small ? any_array() : NULL};
    static _Alignas(64) unsigned char room[64];
    void *workspace = rarely() ? room + 8 : NULL;
    if (bounds) {
        inputs[arrays] = any_bounds(false);
        inputs[arrays + 1] = any_bounds(true);
        arrays += pairs ? 2 : 1;
    }
    if (grouped)
        inputs[arrays++] = any_indices();
    if (masked)
        inputs[arrays] = small ? any_array() : NULL;
    execute(plan, rarely() ? NULL : inputs, workspace, rng_next(&rng) & 1);
    queue(plan, rarely() ? NULL : inputs, workspace, whole);
    queue_checked(plan, rarely() ? NULL : inputs, workspace, whole);
}

static void call_plan(void) {
    reduct_reduction reduction[REDUCTIONS_MOST] = {any_reduction(), any_reduction(), any_reduction()};
    for (size_t i = 1; i < REDUCTIONS_MOST; i++)
        reduction[i].element = rarely() ? reduction[i].element : reduction[0].element;
    reduct_array array;
    reduct_segments segments;
    reduct_groups groups;
    reduct_plan_options options = any_options(reduction);
    add_layout(&options, &array, &segments, &groups);
    if (options.kind == REDUCT_SHAPE && rng_below(&rng, 4) == 0) { /* results that cannot be */
        reduction[0] = (reduct_reduction){.op = REDUCT_MEAN, .element = reduction[0].element};
        options.shape.n = 0;
    }
    bool segmented = options.kind == REDUCT_SEGMENTS, small = options.kind != REDUCT_WHOLE || options.shape.n <= MOST;
    unsigned arrays = 1;
    for (size_t i = 0; i < options.reduction_count; i++)
        if (reduct_operator_inputs(reduction[i].op) == 2)
            arrays = 2;
    if (segmented && segments.elements != MOST)
        small = false;
    reduct_plan *plan = NULL;
    const bool null = rarely();
    struct watch *watch = begin_call();
    const reduct_status status =
        end_call("reduct_plan_create",
                 reduct_plan_create(rarely() ? NULL : &options, null ? NULL : &plan, watch->passed), watch, false);
    if ((status == REDUCT_OK) != (plan != NULL))
        broken("reduct_plan_create", "a plan in spite of a failure, or none", status);
    if (plan)
        call_execute(plan, options.kind == REDUCT_WHOLE && options.reduction_count == 1 && !options.mask, small, arrays,
                     segmented && segments.index != REDUCT_DEFAULT, segments.with_ends, options.kind == REDUCT_GROUPS,
                     options.mask != REDUCT_MASK_NONE);
    reduct_plan_destroy(plan);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Accumulators
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_accumulator *accumulators[ACCUMULATORS];

static reduct_accumulator **any_accumulator(void) {
    return &accumulators[rng_below(&rng, ACCUMULATORS)];
}

/* Puts a new accumulator in the place of another. */
static void keep(const char *function, reduct_status status, reduct_accumulator *made) {
    if ((status == REDUCT_OK) != (made != NULL))
        broken(function, "an accumulator in spite of a failure, or none", status);
    if (!made)
        return;
    reduct_accumulator **place = any_accumulator();
    reduct_accumulator_destroy(*place);
    *place = made;
}

static void call_create(void) {
    const reduct_reduction reduction = any_reduction();
    reduct_accumulator *made = NULL;
    const bool null = rarely();
    struct watch *watch = begin_call();
    const reduct_status status =
        end_call("reduct_accumulator_create",
                 reduct_accumulator_create(&(reduct_accumulator_options){.reduction = rarely() ? NULL : &reduction,
                                                                         .device = any_device(),
                                                                         .threads = (unsigned)rng_below(&rng, 3),
                                                                         .executor = any_executor()},
                                           null ? NULL : &made, watch->passed),
                 watch, false);
    keep("reduct_accumulator_create", status, made);
}

static void call_add(void) {
    reduct_accumulator *accumulator = *any_accumulator();
    const reduct_reduction reduction = reduct_accumulator_reduction(accumulator);
    const bool two = (reduct_operator_inputs(reduction.op) == 2) != rarely();
    const void *x = any_array(), *y = two ? any_array() : NULL;
    const uint64_t count = any_count(reduct_type_size(reduction.element));
    const uint64_t before = reduct_accumulator_count(accumulator);
    struct watch *watch = begin_call();
    const reduct_status status = end_call(
        "reduct_accumulator_add", reduct_accumulator_add(accumulator, x, y, count, watch->passed), watch, false);
    if (status != REDUCT_OK && reduct_accumulator_count(accumulator) != before)
        broken("reduct_accumulator_add", "failed and added", status);
}

static void call_add_masked(void) {
    reduct_accumulator *accumulator = *any_accumulator();
    const reduct_reduction reduction = reduct_accumulator_reduction(accumulator);
    const bool two = (reduct_operator_inputs(reduction.op) == 2) != rarely();
    const void *x = any_array(), *y = two ? any_array() : NULL, *mask = any_array();
    const uint64_t count = any_count(reduct_type_size(reduction.element)),
                   before = reduct_accumulator_count(accumulator);
    const uint64_t offset = rarely() ? UINT64_MAX : rng_below(&rng, 9);
    const reduct_mask kind = rarely() ? REDUCT_MASK_NONE : (reduct_mask)(1 + rng_below(&rng, 2));
    struct watch *watch = begin_call();
    const reduct_status status = end_call(
        "reduct_accumulator_add_masked",
        reduct_accumulator_add_masked(accumulator, x, y, count, kind, mask, offset, watch->passed), watch, false);
    if (status != REDUCT_OK && reduct_accumulator_count(accumulator) != before)
        broken("reduct_accumulator_add_masked", "failed and added", status);
}

/* With itself, again and again, until no 64 bits count the elements. */
static void call_merge(void) {
    reduct_accumulator *accumulator = *any_accumulator(),
                       *other = rng_next(&rng) & 1 ? accumulator : *any_accumulator();
    for (uint64_t times = rng_below(&rng, 8) ? 1 : 70; times > 0; times--) {
        const uint64_t before = reduct_accumulator_count(accumulator);
        struct watch *watch = begin_call();
        const reduct_status status = end_call(
            "reduct_accumulator_merge", reduct_accumulator_merge(accumulator, other, watch->passed), watch, false);
        if (status != REDUCT_OK && reduct_accumulator_count(accumulator) != before)
            broken("reduct_accumulator_merge", "failed and merged", status);
    }
}

static void call_result(void) {
    struct watch *watch = begin_call();
    const reduct_type type = rng_next(&rng) & 1 ? REDUCT_DEFAULT : (reduct_type)any_number(REDUCT_I256);
    end_call("reduct_accumulator_result",
             reduct_accumulator_result(*any_accumulator(), type, rarely() ? NULL : watch->output, watch->passed), watch,
             true);
}

/* As in fuzz/load.c: the checksum made to fit. */
static void put_hash(unsigned char *bytes, size_t size) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size - 8; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    for (int i = 0; i < 8; i++)
        bytes[size - 8 + (size_t)i] = (unsigned char)(hash >> (8 * i));
}

/* Changes what was saved: cut short, a byte of it, its version, its element type. */
static size_t damage(unsigned char *bytes, size_t size) {
    enum { VERSION = 8, ELEMENT = 17, RESULT = 18, FIELDS = 32 };
    switch (rng_below(&rng, 6)) {
    case 0:
        return rng_below(&rng, size + 1);
    case 1:
        bytes[rng_below(&rng, size)] ^= (unsigned char)(1U << rng_below(&rng, 8));
        break;
    case 2:
        bytes[VERSION] = 2;
        break;
    case 3: /* of no elements, as a later library may have saved it */
        bytes[ELEMENT] = (unsigned char)any_number(REDUCT_I256);
        bytes[RESULT] = rng_next(&rng) & 1 ? bytes[ELEMENT] : bytes[RESULT];
        put_hash(bytes, size);
        break;
    default:
        break;
    }
    return size;
}

static void call_save_and_load(void) {
    unsigned char bytes[SAVED];
    reduct_accumulator *accumulator = *any_accumulator(), *made = NULL;
    if (rng_below(&rng, 3) == 0)
        reduct_accumulator_reset(accumulator);
    size_t size = rarely() ? rng_below(&rng, 300) : sizeof bytes, before = size;
    struct watch *watch = begin_call();
    watch->passed = NULL;
    reduct_status status = end_call(
        "reduct_accumulator_save",
        reduct_accumulator_save(accumulator, rarely() ? NULL : bytes, rarely() ? NULL : &size, NULL), watch, false);
    if (status != REDUCT_OK) {
        if (size != before)
            broken("reduct_accumulator_save", "failed and changed the size", status);
        return;
    }
    if (reduct_accumulator_save(accumulator, bytes, &(size_t){sizeof bytes}, NULL) != REDUCT_OK)
        broken("reduct_accumulator_save", "failed with room enough", status);
    reduct_accumulator_save(accumulator, NULL, &size, NULL);
    size = damage(bytes, size);
    const bool null = rarely();
    watch = begin_call();
    status = end_call("reduct_accumulator_load",
                      reduct_accumulator_load(rarely() ? NULL : bytes, size,
                                              &(reduct_accumulator_options){.device = any_device(), .threads = 1},
                                              null ? NULL : &made, watch->passed),
                      watch, false);
    keep("reduct_accumulator_load", status, made);
}

static void call_reduction_words(void) {
    const reduct_reduction reduction = any_reduction();
    struct watch *watch = begin_call();
    end_call("reduct_reduction_words",
             reduct_reduction_words(rarely() ? NULL : &reduction,
                                    rarely() ? NULL : (reduct_words *)(void *)watch->output, watch->passed),
             watch, true);
}

/* The words of one are unpacked to another, of the same reduction or not; merged with themselves; damaged, or none. */
static void call_pack_and_merge(void) {
    static int64_t words[WORDS], others[WORDS];
    reduct_accumulator *accumulator = *any_accumulator(), *other = rarely() ? *any_accumulator() : accumulator;
    reduct_reduction reduction = rarely() ? any_reduction() : reduct_accumulator_reduction(accumulator);
    struct watch *watch = begin_call();
    reduct_status status = end_call(
        "reduct_accumulator_pack",
        reduct_accumulator_pack(rarely() ? NULL : accumulator, rarely() ? NULL : words, watch->passed), watch, false);
    if (status == REDUCT_OK && rarely())
        words[rng_below(&rng, 12)] = (int64_t)rng_next(&rng);
    for (uint64_t times = rng_below(&rng, 8) ? 1 : 70; times > 0; times--) {
        memcpy(others, words, sizeof others);
        watch = begin_call();
        status =
            end_call("reduct_words_merge",
                     reduct_words_merge(&reduction, rarely() ? NULL : words, rarely() ? NULL : others, watch->passed),
                     watch, false);
        if (status != REDUCT_OK && memcmp(words, others, sizeof words) != 0)
            broken("reduct_words_merge", "failed and merged", status);
    }
    const uint64_t before = reduct_accumulator_count(other);
    watch = begin_call();
    status = end_call("reduct_accumulator_unpack",
                      reduct_accumulator_unpack(rarely() ? NULL : other, rarely() ? NULL : words, watch->passed), watch,
                      false);
    if (status != REDUCT_OK && reduct_accumulator_count(other) != before)
        broken("reduct_accumulator_unpack", "failed and unpacked", status);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A device that has no memory left, and one that is lost
 * ------------------------------------------------------------------------------------------------------------------ */

enum { CHUNKS_MOST = 1 << 16 };

static unsigned char *device_keys_room(void);
static void queue_device_keys(const reduct_cuda_keys *group, const reduct_cuda_keys *runs);

/* All that the device has. */
static size_t take_memory(rd_cu_address *chunks) {
    size_t count = 0;
    while (count < CHUNKS_MOST && gpu.driver->cuMemAlloc(&chunks[count], 1) == RD_CU_SUCCESS)
        count++;
    return count;
}

static void call_all_in_context(const reduct_plan *plan, reduct_accumulator *accumulator, const double *data,
                                reduct_cuda_keys *const *keys) {
    unsigned char bytes[SAVED];
    size_t size = sizeof bytes;
    const reduct_reduction sum = reduct_accumulator_reduction(accumulator);
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {1, MOST, 1, 0, 1, 0}, .device = gpu.name};
    reduct_plan *another = NULL;
    reduct_accumulator *made[2] = {NULL, NULL};
    const void *const inputs[1] = {data};
    struct watch *watch = begin_call();
    end_call("reduct_plan_create", reduct_plan_create(&options, &another, watch->passed), watch, false);
    watch = begin_call();
    end_call("reduct_accumulator_create",
             reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum, .device = gpu.name}, &made[0],
                                       watch->passed),
             watch, false);
    if (reduct_accumulator_save(accumulator, bytes, &size, NULL) != REDUCT_OK)
        broken("reduct_accumulator_save", "failed", REDUCT_OK);
    watch = begin_call();
    end_call("reduct_accumulator_load",
             reduct_accumulator_load(bytes, size, &(reduct_accumulator_options){.device = gpu.name}, &made[1],
                                     watch->passed),
             watch, false);
    watch = begin_call();
    end_call("reduct_plan_execute", reduct_plan_execute(plan, inputs, (void *[]){watch->output}, NULL, watch->passed),
             watch, true);
    watch = begin_call();
    end_call("reduct_accumulator_add", reduct_accumulator_add(accumulator, data, NULL, MOST, watch->passed), watch,
             false);
    watch = begin_call();
    end_call("reduct_accumulator_add_masked",
             reduct_accumulator_add_masked(accumulator, data, NULL, MOST, REDUCT_MASK_BITS, data, 0, watch->passed),
             watch, false);
    watch = begin_call();
    end_call("reduct_accumulator_result",
             reduct_accumulator_result(accumulator, REDUCT_DEFAULT, watch->output, watch->passed), watch, true);
    queue(plan, inputs, NULL, true);
    queue_checked(plan, inputs, NULL, true);
    queue_device_keys(keys[0], keys[1]);
    reduct_plan_destroy(another);
    reduct_accumulator_destroy(made[0]);
    reduct_accumulator_destroy(made[1]);
}

/* The mean of nothing but a NaN that does not count. */
static void queue_nothing(void) {
    static const double nothing[1] = {NAN};
    const reduct_reduction mean = {.op = REDUCT_MEAN, .element = REDUCT_F64, .nan = REDUCT_NAN_IGNORE};
    const reduct_plan_options options = {
        .reductions = &mean, .reduction_count = 1, .shape = {.n = 1}, .device = gpu.name};
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    for (int i = 0; i < 9; i++) /* some of which ask for no outcome */
        queue(plan, (const void *const[]){nothing}, NULL, true);
    queue_checked(plan, (const void *const[]){nothing}, NULL, true);
    enum { CAPTURE_RELAXED = 2 };
    rd_cu_graph graph;
    struct watch *watch = begin_call();
    CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_RELAXED));
    end_call("reduct_cuda_execute_checked",
             reduct_cuda_execute_checked(plan, (const void *const[]){nothing}, (void *[]){watch->output}, NULL,
                                         gpu.stream, watch->passed),
             watch, true);
    CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
    CU(gpu.cuGraphDestroy(graph));
    reduct_plan_destroy(plan);
}

/* In a context of its own, where nothing was allocated yet. It ends before what was made in it, as after a reset. */
static void call_with_failing_device(void) {
    queue_nothing();
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {1, MOST, 1, 0, 1, 0}, .device = gpu.name};
    rd_cu_address *chunks = test_alloc(CHUNKS_MOST * sizeof *chunks);
    double *data = shared_room(MOST * sizeof *data);
    memset(data, 0, MOST * sizeof *data);
    (void)device_keys_room();
    reduct_plan *plan = NULL;
    reduct_accumulator *accumulator = NULL;
    reduct_cuda_keys *keys[2] = {NULL, NULL};
    rd_cu_context context;
    CU(gpu.cuCtxCreate(&context, 0, gpu.device));
    if (reduct_plan_create(&options, &plan, NULL) != REDUCT_OK ||
        reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum, .device = gpu.name}, &accumulator,
                                  NULL) != REDUCT_OK)
        test_fail("a plan or an accumulator in a context of its own");
    for (int i = 0; i < 2; i++)
        test_status(reduct_cuda_keys_create(
                        &(reduct_cuda_keys_options){.kind = i ? REDUCT_CUDA_KEYS_RUNS : REDUCT_CUDA_KEYS_FIRST,
                                                    .type = REDUCT_I64,
                                                    .count = MOST,
                                                    .device = gpu.name},
                        &keys[i], NULL),
                    REDUCT_OK);
    const size_t taken = take_memory(chunks);
    call_all_in_context(plan, accumulator, data, keys);
    for (size_t i = 0; i < taken; i++)
        gpu_free(chunks[i]);
    CU(gpu.cuCtxDestroy(context));
    call_all_in_context(plan, accumulator, data, keys);
    reduct_cuda_keys_destroy(keys[0]);
    reduct_cuda_keys_destroy(keys[1]);
    reduct_plan_destroy(plan);
    reduct_accumulator_destroy(accumulator);
    CU(gpu.driver->cuMemFreeHost(data));
    free(chunks);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * States
 * ------------------------------------------------------------------------------------------------------------------ */

enum { STATES = 6, STATE_WORDS = 16, STATE_SAVED = 2048 };

/* A state's bytes mean something to its own reduction alone: wrong ones are such that are refused. */
static struct state {
    reduct_reduction reduction;
    _Alignas(8) uint64_t bytes[STATE_WORDS];
} states[STATES];

static const reduct_reduction *reduction_of(const struct state *state) {
    static reduct_reduction wrong;
    wrong = state->reduction;
    if (rarely())
        return NULL;
    if (rarely())
        wrong.op = rng_next(&rng) & 1 ? REDUCT_PRODUCT : (reduct_operator)99;
    return &wrong;
}

static void *bytes_of(struct state *state) {
    return rarely() ? NULL : rarely() ? (char *)state->bytes + 4 : (char *)state->bytes;
}

/* In place of another: of any reduction that has states. */
static void call_state_begin(void) {
    static const reduct_reduction far_reaching = {.op = REDUCT_SUM,
                                                  .element = REDUCT_F64}; /* takes memory most often */
    struct state *state = &states[rng_below(&rng, STATES)];
    size_t size = 0;
    struct watch *watch = begin_call();
    end_call("reduct_state_clear", reduct_state_clear(&state->reduction, state->bytes, watch->passed), watch, false);
    if (state->reduction.op && reduct_state_clear(&state->reduction, state->bytes, NULL) != REDUCT_OK)
        broken("reduct_state_clear", "failed", REDUCT_OK);
    do {
        state->reduction = rng_below(&rng, 3) ? any_reduction() : far_reaching;
        watch = begin_call();
    } while (end_call("reduct_state_size", reduct_state_size(&state->reduction, rarely() ? NULL : &size, watch->passed),
                      watch, false) != REDUCT_OK);
    if (size > sizeof state->bytes)
        broken("reduct_state_size", "more bytes than the header says", REDUCT_OK);
    const reduct_reduction *reduction = reduction_of(state);
    void *bytes = bytes_of(state);
    watch = begin_call();
    end_call("reduct_state_init", reduct_state_init(reduction, bytes, watch->passed), watch, false);
    watch = begin_call();
    end_call("reduct_state_clear", reduct_state_clear(reduction_of(state), NULL, watch->passed), watch, false);
    if (reduct_state_init(&state->reduction, state->bytes, NULL) != REDUCT_OK)
        broken("reduct_state_init", "failed", REDUCT_OK);
}

static struct state *any_state(void) {
    struct state *state = &states[rng_below(&rng, STATES)];
    while (!state->reduction.op)
        call_state_begin();
    return state;
}

static void check_count(struct state *state, const char *function, reduct_status status, uint64_t before) {
    uint64_t count = 0;
    if (reduct_state_count(&state->reduction, state->bytes, &count, NULL) != REDUCT_OK)
        broken("reduct_state_count", "failed", REDUCT_OK);
    if (status != REDUCT_OK && count != before)
        broken(function, "failed and changed the state", status);
}

/* Begins anew, with zeros: the first elements that range widely then take memory. */
static void hold_zeros(struct state *state, uint64_t count) {
    static const double zeros[MOST];
    const bool two = reduct_operator_inputs(state->reduction.op) == 2;
    reduct_state_clear(&state->reduction, state->bytes, NULL);
    reduct_state_add(&state->reduction, state->bytes, zeros, two ? zeros : NULL, count < MOST ? count : 0, NULL);
}

/* Makes another state one of the same reduction, with any elements. */
static struct state *make_like(const struct state *state) {
    struct state *other = &states[(size_t)(state - states + 1) % STATES];
    const bool two = reduct_operator_inputs(state->reduction.op) == 2;
    if (other->reduction.op)
        reduct_state_clear(&other->reduction, other->bytes, NULL);
    other->reduction = state->reduction;
    reduct_state_init(&other->reduction, other->bytes, NULL);
    reduct_state_add(&other->reduction, other->bytes, any_array(), two ? any_array() : NULL, MOST / 2, NULL);
    return other;
}

static void call_state_add(void) {
    struct state *state = any_state();
    if (!state->reduction.op)
        return;
    const bool two = (reduct_operator_inputs(state->reduction.op) == 2) != rarely(), removes = rng_below(&rng, 4) == 0,
               each = rng_next(&rng) & 1;
    const void *x = any_array(), *y = two ? any_array() : NULL;
    const uint64_t count = any_count(reduct_type_size(state->reduction.element));
    const reduct_reduction *reduction = reduction_of(state);
    void *places[MOST], *bytes = bytes_of(state);
    for (size_t i = 0; i < MOST; i++)
        places[i] = state->bytes;
    uint64_t before = 0;
    if (removes && rng_next(&rng) & 1)
        hold_zeros(state, count);
    reduct_state_count(&state->reduction, state->bytes, &before, NULL);
    struct watch *watch = begin_call();
    reduct_status status;
    const char *function;
    if (each) {
        void *const *all = rarely() ? NULL : places;
        function = removes ? "reduct_state_remove_each" : "reduct_state_add_each";
        status = removes ? reduct_state_remove_each(reduction, all, x, y, count, watch->passed)
                         : reduct_state_add_each(reduction, all, x, y, count, watch->passed);
    } else {
        function = removes ? "reduct_state_remove" : "reduct_state_add";
        status = removes ? reduct_state_remove(reduction, bytes, x, y, count, watch->passed)
                         : reduct_state_add(reduction, bytes, x, y, count, watch->passed);
    }
    check_count(state, function, end_call(function, status, watch, false), before);
}

/* With itself, again and again, until no 64 bits count the elements; or what the same operator holds elsewhere. */
static void call_state_combine(void) {
    struct state *state = any_state(), *other = any_state();
    if (memcmp(&state->reduction, &other->reduction, sizeof state->reduction) != 0)
        other = state;
    if (rng_below(&rng, 4) == 0) {
        other = make_like(state);
        hold_zeros(state, 1);
    }
    for (uint64_t times = rng_below(&rng, 8) ? 1 : 100; times > 0; times--) {
        const reduct_reduction *reduction = reduction_of(state);
        void *bytes = bytes_of(state), *others = bytes_of(other);
        uint64_t before = 0;
        reduct_state_count(&state->reduction, state->bytes, &before, NULL);
        struct watch *watch = begin_call();
        const reduct_status status = end_call(
            "reduct_state_combine", reduct_state_combine(reduction, bytes, others, watch->passed), watch, false);
        check_count(state, "reduct_state_combine", status, before);
    }
}

static void call_state_result(void) {
    struct state *state = any_state();
    const reduct_reduction *reduction = reduction_of(state);
    void *bytes = bytes_of(state);
    uint64_t count;
    struct watch *watch = begin_call();
    end_call("reduct_state_result",
             reduct_state_result(reduction, bytes, rarely() ? NULL : watch->output, watch->passed), watch, true);
    watch = begin_call();
    end_call("reduct_state_count", reduct_state_count(reduction, bytes, rarely() ? NULL : &count, watch->passed), watch,
             false);
}

/* Into a state of the same reduction, or of another, that is empty, or not. */
static void call_state_save_and_load(void) {
    struct state *state = any_state(), *other = any_state();
    unsigned char saved[STATE_SAVED];
    size_t size = rarely() ? rng_below(&rng, 60) : sizeof saved;
    const reduct_reduction *reduction = reduction_of(state);
    void *bytes = bytes_of(state);
    struct watch *watch = begin_call();
    if (end_call("reduct_state_save",
                 reduct_state_save(reduction, bytes, rarely() ? NULL : saved, rarely() ? NULL : &size, watch->passed),
                 watch, false) != REDUCT_OK)
        return;
    size = sizeof saved;
    if (reduct_state_save(&state->reduction, state->bytes, saved, &size, NULL) != REDUCT_OK)
        broken("reduct_state_save", "failed with room enough", REDUCT_OK);
    if (rng_next(&rng) & 1)
        other = state;
    if (!rarely())
        reduct_state_clear(&other->reduction, other->bytes, NULL);
    if (rarely())
        saved[rng_below(&rng, size)] ^= (unsigned char)(1U << rng_below(&rng, 8));
    if (rarely())
        size = rng_below(&rng, size);
    reduction = reduction_of(other);
    bytes = bytes_of(other);
    watch = begin_call();
    end_call("reduct_state_load", reduct_state_load(reduction, rarely() ? NULL : saved, size, bytes, watch->passed),
             watch, false);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------------------------------------------------ */

enum { TABLES = 4, GROUPS_MOST = 6, TABLE_SAVED = 1 << 16 };
static reduct_table *tables[TABLES];
static bool of_device[TABLES]; /* which may be given memory of the device */

static reduct_table *any_table(void) {
    return rarely() ? NULL : tables[rng_below(&rng, TABLES)];
}

static void keep_table(const char *function, reduct_status status, const char *device, reduct_table *made) {
    if ((status == REDUCT_OK) != (made != NULL))
        broken(function, "a table in spite of a failure, or none", status);
    const size_t place = rng_below(&rng, TABLES);
    if (!made)
        return;
    reduct_table_destroy(tables[place]);
    tables[place] = made;
    of_device[place] = device && strncmp(device, "cuda", 4) == 0;
}

static void call_table_create(void) {
    reduct_reduction reductions[2] = {any_reduction(), any_reduction()};
    reduct_table *made = NULL;
    if (!rarely())
        reductions[1].element = reductions[0].element;
    const reduct_table_options options = {.reductions = rarely() ? NULL : reductions,
                                          .reduction_count = rarely() ? 0 : 1 + rng_below(&rng, 2),
                                          .groups = rarely() ? UINT64_MAX : rng_below(&rng, GROUPS_MOST + 1),
                                          .device = any_device(),
                                          .threads = (unsigned)rng_below(&rng, 3)};
    const bool null = rarely();
    struct watch *watch = begin_call();
    const reduct_status status =
        end_call("reduct_table_create",
                 reduct_table_create(rarely() ? NULL : &options, null ? NULL : &made, watch->passed), watch, false);
    keep_table("reduct_table_create", status, options.device, made);
}

static void call_table_resize(void) {
    reduct_table *table = any_table();
    const uint64_t before = reduct_table_groups(table);
    const uint64_t groups = rarely() ? UINT64_MAX - rng_below(&rng, 3) : rng_below(&rng, GROUPS_MOST + 1);
    struct watch *watch = begin_call();
    const reduct_status status =
        end_call("reduct_table_resize", reduct_table_resize(table, groups, watch->passed), watch, false);
    if (reduct_table_groups(table) != (status == REDUCT_OK ? groups : before))
        broken("reduct_table_resize", "not the groups that were asked for", status);
    if (rarely())
        reduct_table_reset(table);
}

/* Elements of all groups, for the first reduction. */
static uint64_t count_all(const reduct_table *table) {
    uint64_t count = 0;
    for (uint64_t g = 0; g < reduct_table_groups(table); g++)
        count += reduct_table_count(table, 0, g);
    return count;
}

static void call_table_add(void) {
    static uint8_t indices[MOST];
    reduct_table *table = any_table();
    const uint64_t groups = reduct_table_groups(table), before = count_all(table);
    bool two = rarely();
    for (size_t i = 0; i < reduct_table_reductions(table); i++)
        two |= reduct_operator_inputs(reduct_table_reduction(table, i).op) == 2;
    for (size_t i = 0; i < MOST; i++)
        indices[i] = (uint8_t)(rng_below(&rng, 200) ? rng_below(&rng, groups) : rng_next(&rng));
    const reduct_table_batch batch = {
        .x = any_array(),
        .y = two ? any_array() : NULL,
        .count = any_count(reduct_type_size(reduct_table_reduction(table, 0).element)),
        .indices = rarely() ? NULL : indices,
        .index = rarely() ? (reduct_type)any_number(REDUCT_I256) : REDUCT_U8,
        .skip = rarely(),
        .mask_kind = rarely() ? (reduct_mask)any_number(REDUCT_MASK_BITS) : REDUCT_MASK_NONE,
        .mask = any_array(),
        .mask_offset = rarely() ? UINT64_MAX : rng_below(&rng, 9),
        .reserved = {rarely() && rarely()},
    };
    const uint64_t kind = rng_below(&rng, 4), group = rng_below(&rng, groups + rarely());
    if (batch.index != REDUCT_U8 && reduct_type_size(batch.index) > 1 && batch.count <= MOST)
        return; /* for which there are too few bytes */
    struct watch *watch = begin_call();
    const char *function = kind == 0   ? "reduct_table_remove"
                           : kind == 1 ? "reduct_table_add_group"
                                       : "reduct_table_add";
    const reduct_status status =
        end_call(function,
                 kind == 0   ? reduct_table_remove(table, rarely() ? NULL : &batch, watch->passed)
                 : kind == 1 ? reduct_table_add_group(table, group, batch.x, batch.y, batch.count, watch->passed)
                             : reduct_table_add(table, rarely() ? NULL : &batch, watch->passed),
                 watch, false);
    if (status != REDUCT_OK && count_all(table) != before)
        broken(function, "failed and changed the table", status);
}

/* Two of the same reduction into each other, until no 64 bits count the elements; or any two. */
static void call_table_merge(void) {
    uint64_t mapping[GROUPS_MOST];
    reduct_table *a = any_table(), *b = any_table(), *made = NULL;
    for (size_t g = 0; g < GROUPS_MOST; g++)
        mapping[g] = rng_below(&rng, reduct_table_groups(a) + rarely());
    if (a && rng_below(&rng, 4) == 0) {
        reduct_reduction reductions[2] = {reduct_table_reduction(a, 0), reduct_table_reduction(a, 1)};
        if (reduct_table_create(&(reduct_table_options){.reductions = reductions,
                                                        .reduction_count = reduct_table_reductions(a),
                                                        .groups = reduct_table_groups(a)},
                                &made, NULL) != REDUCT_OK)
            broken("reduct_table_create", "failed", REDUCT_OK);
        b = made;
    }
    for (uint64_t times = made && rarely() ? 120 : 1; times > 0; times--) {
        const uint64_t before = count_all(a);
        struct watch *watch = begin_call();
        const reduct_status status = end_call(
            "reduct_table_merge", reduct_table_merge(a, b, rng_next(&rng) & 1 && !made ? mapping : NULL, watch->passed),
            watch, false);
        if (status != REDUCT_OK && count_all(a) != before)
            broken("reduct_table_merge", "failed and merged", status);
        if (made)
            reduct_table_merge(b, a, NULL, NULL);
    }
    reduct_table_destroy(made);
}

static void call_table_swap(void) {
    reduct_table *a = any_table(), *b = any_table();
    const uint64_t of_a = count_all(a), of_b = count_all(b);
    struct watch *watch = begin_call();
    const reduct_status status = end_call("reduct_table_swap", reduct_table_swap(a, b, watch->passed), watch, false);
    const bool swaps = status == REDUCT_OK;
    if (count_all(a) != (swaps ? of_b : of_a) || count_all(b) != (swaps ? of_a : of_b))
        broken("reduct_table_swap", "not what the other one held", status);
}

static void call_table_result(void) {
    reduct_table *table = any_table();
    const reduct_type type = rng_next(&rng) & 1 ? REDUCT_DEFAULT : (reduct_type)any_number(REDUCT_I256);
    const size_t which = rng_below(&rng, reduct_table_reductions(table) + rarely());
    const uint64_t groups = reduct_table_groups(table), first = rng_below(&rng, groups + 1),
                   count = rng_below(&rng, groups - first + 1 + rarely());
    reduct_outcome outcomes[GROUPS_MOST + 1];
    struct watch *watch = begin_call();
    const bool each = rarely();
    static rd_cu_address room;
    void *output = watch->output;
    for (size_t i = 0; i < TABLES; i++)
        if (table && table == tables[i] && of_device[i] && rng_next(&rng) & 1) {
            room = room ? room : gpu_alloc(sizeof watch->output);
            output = gpu_pointer(room, 0);
        }
    end_call("reduct_table_result",
             reduct_table_result(table, which, type, first, count, rarely() ? NULL : output, each ? outcomes : NULL,
                                 watch->passed),
             watch, output == watch->output);
}

static void call_table_save_and_load(void) {
    static unsigned char bytes[TABLE_SAVED];
    reduct_table *table = any_table(), *made = NULL;
    size_t size = rarely() ? rng_below(&rng, 300) : sizeof bytes;
    struct watch *watch = begin_call();
    if (end_call("reduct_table_save",
                 reduct_table_save(table, rarely() ? NULL : bytes, rarely() ? NULL : &size, watch->passed), watch,
                 false) != REDUCT_OK)
        return;
    size = sizeof bytes;
    if (reduct_table_save(table, bytes, &size, NULL) != REDUCT_OK)
        broken("reduct_table_save", "failed with room enough", REDUCT_OK);
    if (rarely())
        bytes[rng_below(&rng, size)] ^= (unsigned char)(1U << rng_below(&rng, 8));
    if (rarely())
        bytes[8] = 2;
    if (rarely())
        size = rng_below(&rng, size);
    const reduct_table_options options = {.device = any_device(), .groups = rarely()};
    const bool null = rarely();
    watch = begin_call();
    const reduct_status status = end_call(
        "reduct_table_load",
        reduct_table_load(rarely() ? NULL : bytes, size, &options, null ? NULL : &made, watch->passed), watch, false);
    keep_table("reduct_table_load", status, options.device, made);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_keys *kept_keys;

static void call_keys_create(void) {
    reduct_keys *made = NULL;
    const reduct_type type = (reduct_type)any_number(REDUCT_I256);
    const bool null = rarely();
    struct watch *watch = begin_call();
    const reduct_status status =
        end_call("reduct_keys_create", reduct_keys_create(type, null ? NULL : &made, watch->passed), watch, false);
    if ((status == REDUCT_OK) != (made != NULL))
        broken("reduct_keys_create", "keys in spite of a failure, or none", status);
    if (!made)
        return;
    reduct_keys_destroy(kept_keys);
    kept_keys = made;
}

static void call_keys(void) {
    static uint64_t indices[MOST + 1], order[1 << 14];
    reduct_keys *keys = rarely() ? NULL : kept_keys;
    const void *array = any_array();
    const uint64_t count = rng_below(&rng, MOST + 1), before = reduct_keys_count(keys);
    const reduct_type index = rarely()             ? REDUCT_I8
                              : rng_next(&rng) & 1 ? REDUCT_U32
                                                   : REDUCT_U64,
                      type = rarely() ? REDUCT_F32 : REDUCT_I64;
    void *places = rarely() ? NULL : rarely() ? (char *)indices + 1 : (char *)indices;
    if (before > (sizeof order / sizeof *order) - MOST)
        return;
    struct watch *watch = begin_call();
    const reduct_status status =
        end_call("reduct_keys_add", reduct_keys_add(keys, array, count, index, places, watch->passed), watch, false);
    if (status != REDUCT_OK && reduct_keys_count(keys) != before)
        broken("reduct_keys_add", "failed and added", status);
    watch = begin_call();
    end_call("reduct_keys_find", reduct_keys_find(keys, array, count, index, places, watch->passed), watch, false);
    watch = begin_call();
    end_call("reduct_keys_get",
             reduct_keys_get(keys, before, rng_below(&rng, 2), rarely() ? NULL : watch->output, watch->passed), watch,
             true);
    watch = begin_call();
    end_call("reduct_keys_order", reduct_keys_order(keys, rarely() ? NULL : order, watch->passed), watch, false);
    uint64_t runs;
    watch = begin_call();
    end_call("reduct_keys_runs",
             reduct_keys_runs(type, array, count, indices, NULL, rarely() ? NULL : &runs, watch->passed), watch, false);
}

static reduct_cuda_keys *kept_device_keys[2];

static void call_device_keys_create(void) {
    reduct_cuda_keys *made = NULL;
    const reduct_cuda_keys_options options = {.kind = (reduct_cuda_keys_kind)any_number(REDUCT_CUDA_KEYS_RUNS),
                                              .type = rarely() ? (reduct_type)any_number(REDUCT_I256) : REDUCT_I64,
                                              .count = rarely() ? UINT64_MAX >> rng_below(&rng, 40) : MOST,
                                              .room = rarely() ? 7 : 0,
                                              .device = any_device(),
                                              .reserved = {rarely()}};
    const bool null = rarely(), no_options = rarely();
    struct watch *watch = begin_call();
    const reduct_status status = end_call(
        "reduct_cuda_keys_create",
        reduct_cuda_keys_create(no_options ? NULL : &options, null ? NULL : &made, watch->passed), watch, false);
    if ((status == REDUCT_OK) != (made != NULL))
        broken("reduct_cuda_keys_create", "keys in spite of a failure, or none", status);
    reduct_cuda_keys **kept = &kept_device_keys[options.kind == REDUCT_CUDA_KEYS_RUNS];
    if (!made || options.count != MOST) {
        reduct_cuda_keys_destroy(made);
        return;
    }
    reduct_cuda_keys_destroy(*kept);
    *kept = made;
}

/* What keys are read from, what comes of them, which nobody waits for, and behind these a workspace. */
static unsigned char *device_keys_room(void) {
    static unsigned char *room;
    return room = room ? room : shared_room(DEVICE_KEYS);
}

static void queue_device_keys(const reduct_cuda_keys *group, const reduct_cuda_keys *runs) {
    unsigned char *room = device_keys_room();
    const size_t bytes = reduct_cuda_keys_workspace_size(group), more = reduct_cuda_keys_workspace_size(runs);
    if (bytes > DEVICE_KEYS - 4096 || more > DEVICE_KEYS - 4096)
        return;
    uint64_t *array = (void *)room, *found = array + MOST, *numbers = found + 1;
    struct watch *watch = begin_call();
    end_call("reduct_cuda_keys_group",
             reduct_cuda_keys_group(group, rarely() ? NULL : array, (void *)numbers,
                                    rarely() ? (char *)array + 1 : NULL, rarely() ? NULL : found,
                                    rarely() ? NULL : room + 4096, NULL, watch->passed),
             watch, false);
    watch = begin_call();
    end_call("reduct_cuda_keys_runs",
             reduct_cuda_keys_runs(runs, rarely() ? NULL : array, numbers, rarely() ? (char *)array + 1 : NULL,
                                   rarely() ? NULL : found, rarely() ? NULL : room + 4096, NULL, watch->passed),
             watch, false);
}

static void call_device_keys(void) {
    if (gpu.driver && rng_below(&rng, 4)) /* launches take long where they are emulated */
        return;
    queue_device_keys(rarely() ? kept_device_keys[1] : kept_device_keys[0],
                      rarely() ? kept_device_keys[0] : kept_device_keys[1]);
}

static void free_states_and_tables(void) {
    for (size_t i = 0; i < 2; i++)
        reduct_cuda_keys_destroy(kept_device_keys[i]);

    for (size_t i = 0; i < STATES; i++)
        if (states[i].reduction.op)
            reduct_state_clear(&states[i].reduction, states[i].bytes, NULL);
    for (size_t i = 0; i < TABLES; i++)
        reduct_table_destroy(tables[i]);
    reduct_keys_destroy(kept_keys);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Operators of one's own, and one call
 * ------------------------------------------------------------------------------------------------------------------ */

static int custom_identity(void *state, void *context) {
    (void)state;
    return *(int *)context == 1;
}

static int custom_accumulate(void *state, const void *items, size_t count, void *context) {
    (void)state;
    (void)items;
    (void)count;
    return *(int *)context == 2 ? -7 : 0;
}

static int custom_combine(void *left, const void *right, void *context) {
    (void)left;
    (void)right;
    return *(int *)context == 3;
}

static void call_custom(void) {
    int fails = (int)rng_below(&rng, 8);
    reduct_custom custom = {.element_size = rarely() ? 0 : 1 + rng_below(&rng, 8),
                            .state_size = rarely() ? 0 : 1 + rng_below(&rng, ORACLE_RESULT_BYTES),
                            .identity = rarely() ? NULL : custom_identity,
                            .accumulate = rarely() ? NULL : custom_accumulate,
                            .combine = rarely() ? NULL : custom_combine,
                            .context = &fails,
                            .threads = (unsigned)rng_below(&rng, 3)};
    if (rarely())
        custom.reserved[rng_below(&rng, 8)] = 1;
    if (rarely())
        custom.state_size = rng_next(&rng) & 1 ? SIZE_MAX : (size_t)PTRDIFF_MAX / 2;
    const void *array = any_array();
    const uint64_t count = any_count(custom.element_size);
    const bool null = rarely();
    struct watch *watch = begin_call();
    end_call("reduct_reduce_custom",
             reduct_reduce_custom(rarely() ? NULL : &custom, array, count, null ? NULL : watch->output, watch->passed),
             watch, true);
}

static void call_reduce(void) {
    const reduct_reduction reduction = any_reduction();
    const bool two = (reduct_operator_inputs(reduction.op) == 2) != rarely();
    const void *x = any_array(), *y = two ? any_array() : NULL;
    const size_t count = any_count(reduct_type_size(reduction.element));
    struct watch *watch = begin_call();
    watch->passed = NULL;
    end_call("reduct_reduce",
             reduct_reduce(reduction.op, reduction.element, x, y, count, rarely() ? NULL : watch->output), watch, true);
}

/* Before all others, as the library keeps scratch memory once it has it. */
static void call_reduce_first(void) {
    enum { MUCH = 100000 }; /* more than any kernel adds without room to work in */
    static const double much[MUCH];
    struct watch *watch = begin_call();
    watch->passed = NULL;
    no_memory = true;
    end_call("reduct_reduce", reduct_reduce(REDUCT_SUM, REDUCT_F64, much, NULL, MUCH, watch->output), watch, true);
}

#undef bool /* a part of names here, not the macro of stdbool.h */
#define TYPED(op, name, T, arguments)                                                                                  \
    do {                                                                                                               \
        const T *x = any_array(), *y = any_array();                                                                    \
        const size_t count = any_count(sizeof(T));                                                                     \
        struct watch *watch = begin_call();                                                                            \
        void *result = rarely() ? NULL : watch->output;                                                                \
        (void)y;                                                                                                       \
        watch->passed = NULL;                                                                                          \
        end_call("reduct_" #op "_" #name, reduct_##op##_##name arguments, watch, true);                                \
    } while (0);

#define BITS(name, T)                                                                                                  \
    TYPED(and, name, T, (x, count, result))                                                                            \
    TYPED(or, name, T, (x, count, result))                                                                             \
    TYPED(xor, name, T, (x, count, result))
#define NO_BITS(name, T) /* of floats they mean nothing */
#define ALL_TYPED(name, T, BITS)                                                                                       \
    static void call_##name(void) {                                                                                    \
        TYPED(sum, name, T, (x, count, result))                                                                        \
        TYPED(mean, name, T, (x, count, result))                                                                       \
        TYPED(var, name, T, (x, count, result))                                                                        \
        TYPED(std, name, T, (x, count, result))                                                                        \
        TYPED(sumsq, name, T, (x, count, result))                                                                      \
        TYPED(norm1, name, T, (x, count, result))                                                                      \
        TYPED(norm2, name, T, (x, count, result))                                                                      \
        TYPED(norminf, name, T, (x, count, result))                                                                    \
        TYPED(rms, name, T, (x, count, result))                                                                        \
        TYPED(dot, name, T, (x, y, count, result))                                                                     \
        TYPED(product, name, T, (x, count, result))                                                                    \
        TYPED(min, name, T, (x, count, result))                                                                        \
        TYPED(max, name, T, (x, count, result))                                                                        \
        TYPED(argmin, name, T, (x, count, result))                                                                     \
        TYPED(argmax, name, T, (x, count, result))                                                                     \
        TYPED(count, name, T, (x, count, result))                                                                      \
        TYPED(count_nonzero, name, T, (x, count, result))                                                              \
        TYPED(any, name, T, (x, count, result))                                                                        \
        TYPED(all, name, T, (x, count, result))                                                                        \
        BITS(name, T)                                                                                                  \
        TYPED(minmax, name, T, (x, count, result))                                                                     \
        TYPED(ptp, name, T, (x, count, result))                                                                        \
        TYPED(weighted_mean, name, T, (x, y, count, result))                                                           \
    }
ALL_TYPED(f64, double, NO_BITS)
ALL_TYPED(f32, float, NO_BITS)
ALL_TYPED(f16, reduct_f16, NO_BITS)
ALL_TYPED(bf16, reduct_bf16, NO_BITS)
ALL_TYPED(i8, int8_t, BITS)
ALL_TYPED(i16, int16_t, BITS)
ALL_TYPED(i32, int32_t, BITS)
ALL_TYPED(i64, int64_t, BITS)
ALL_TYPED(u8, uint8_t, BITS)
ALL_TYPED(u16, uint16_t, BITS)
ALL_TYPED(u32, uint32_t, BITS)
ALL_TYPED(u64, uint64_t, BITS)
ALL_TYPED(bool, reduct_bool, BITS)
#define bool _Bool

/* ---------------------------------------------------------------------------------------------------------------------
 * Plans and accumulators
 * ------------------------------------------------------------------------------------------------------------------ */

static struct test_outcome accumulated(const reduct_reduction *reduction, const double *x, const double *y,
                                       uint64_t count) {
    struct test_outcome outcome = test_outcome();
    reduct_accumulator *accumulator = NULL;
    outcome.status = reduct_accumulator_create(&(reduct_accumulator_options){.reduction = reduction, .threads = 1},
                                               &accumulator, &outcome.error);
    if (!outcome.status)
        outcome.status = reduct_accumulator_add(accumulator, x, y, count, &outcome.error);
    if (!outcome.status)
        outcome.status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, outcome.bytes, &outcome.error);
    reduct_accumulator_destroy(accumulator);
    return outcome;
}

/* The same data, the same status, be they given to a plan or to an accumulator: up to three elements, NaN or not. But, as
 * the header says, a plan that is too short comes to nothing before a NaN is found. */
static bool agree(const reduct_reduction *reduction, unsigned count, unsigned nans) {
    double x[3];
    for (unsigned i = 0; i < 3; i++)
        x[i] = nans >> i & 1 ? (double)NAN : 1 + i;
    const double *y = oracle_inputs(reduction->op) == 2 ? x : NULL;
    const struct test_outcome plan = test_run(reduction, NULL, 1, x, y, count);
    const struct test_outcome accumulator = accumulated(reduction, x, y, count);
    if (plan.status == accumulator.status &&
        (plan.status != REDUCT_ERROR_NAN || plan.error.index == accumulator.error.index))
        return true;
    const bool too_short = plan.status == REDUCT_ERROR_EMPTY && count < test_operator(reduction->op)->minimum;
    if (too_short && accumulator.status == REDUCT_ERROR_NAN && nans)
        return true;
    fprintf(
        stderr,
        "%s of %u elements, NaN mask %u, mode %s, nan %s, flags %u: \"%s\" from a plan, \"%s\" from an accumulator\n",
        reduct_operator_name(reduction->op), count, nans, reduct_mode_name(reduction->mode),
        reduct_nan_name(reduction->nan), (unsigned)reduction->flags, reduct_status_text(plan.status),
        reduct_status_text(accumulator.status));
    return false;
}

static bool plans_and_accumulators_agree(void) {
    bool good = true;
    for (size_t o = 0; o < test_operator_count; o++)
        for (unsigned choice = 0; choice < 2 * 3 * 4; choice++)
            for (unsigned count = 0; count <= 3; count++)
                for (unsigned nans = 0; nans < 1U << count; nans++) {
                    if (!oracle_has(test_operators[o].op, REDUCT_F64))
                        continue;
                    reduct_reduction reduction = test_reduction(test_operators[o].op, REDUCT_F64, REDUCT_DEFAULT);
                    reduction.mode = (reduct_mode)(choice % 2);
                    reduction.nan = (reduct_nan)(choice / 2 % 3);
                    reduction.flags = choice / 6;
                    good = agree(&reduction, count, nans) && good;
                }
    return good;
}

int main(void) {
    rd_cuda_table_least = 0;
    static void (*const calls[])(void) = {call_type_parse,
                                          call_operator_parse,
                                          call_mode_parse,
                                          call_nan_parse,
                                          call_resolve,
                                          call_plan,
                                          call_plan,
                                          call_create,
                                          call_add_masked,
                                          call_add,
                                          call_add,
                                          call_merge,
                                          call_result,
                                          call_result,
                                          call_custom,
                                          call_reduce,
                                          call_save_and_load,
                                          call_reduction_words,
                                          call_pack_and_merge,
                                          call_f64,
                                          call_f32,
                                          call_i8,
                                          call_i16,
                                          call_i32,
                                          call_i64,
                                          call_u8,
                                          call_u16,
                                          call_u32,
                                          call_u64,
                                          call_f16,
                                          call_bf16,
                                          call_bool,
                                          call_state_begin,
                                          call_state_add,
                                          call_state_add,
                                          call_state_combine,
                                          call_state_result,
                                          call_state_save_and_load,
                                          call_table_create,
                                          call_table_resize,
                                          call_table_add,
                                          call_table_add,
                                          call_table_merge,
                                          call_table_swap,
                                          call_table_result,
                                          call_table_save_and_load,
                                          call_table_save_and_load,
                                          call_keys_create,
                                          call_keys,
                                          call_device_keys_create,
                                          call_device_keys};
    const char *why = "";
    rng = rng_of(test_seed());
    call_reduce_first();
    if (test_device() && !gpu_open(&why))
        test_fail("REDUCT_TEST_DEVICES: %s", why);
    for (int i = 0; i < 10 && gpu.driver; i++)
        call_with_failing_device();
    for (uint64_t round = test_scaled(400000, 300000); round-- > 0;)
        calls[rng_below(&rng, sizeof calls / sizeof *calls)]();
    for (size_t i = 0; i < ACCUMULATORS; i++)
        reduct_accumulator_destroy(accumulators[i]);
    free_states_and_tables();
    for (size_t i = 0; i < FUNCTIONS_MOST; i++)
        for (int status = 0; status < STATUSES; status++)
            if (seen[i].calls[status])
                printf("%s %d %lu\n", seen[i].function, status, seen[i].calls[status]);
    return plans_and_accumulators_agree() ? 0 : 1;
}
