/* Plans over groups: each result against the oracle, which is given the group's elements, found by looking at every index; and
 * the same bits in any order, with any number of threads, and on every instruction set.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/group_tables.h"
#include "support.h"
#include "values.h"

enum { REDUCTIONS_MOST = 4, SPAN = 6000, RESULTS_MOST = 6000 };

static const reduct_type INDICES[] = {REDUCT_U8, REDUCT_U16, REDUCT_U32, REDUCT_U64, REDUCT_I32, REDUCT_I64};

struct grouped {
    struct rng rng;
    const struct test_type *type;
    reduct_reduction reduction[REDUCTIONS_MOST];
    size_t reductions;
    unsigned inputs;
    reduct_groups groups;
    uint64_t width;
    bool in_runs;      /* many rows, whose keys come in runs */
    int64_t key[SPAN]; /* of each row */
    unsigned char *memory[2], *initial, *indices;
    reduct_mask mask;
    uint64_t mask_first;
    unsigned char mask_memory[SPAN + 64];
    const char *device;
    unsigned threads;
    /* Of one result. */
    unsigned char *gathered[2];
    uint64_t place[SPAN + 1];
    struct oracle single, pairs;
    size_t cases;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * What to ask for
 * ------------------------------------------------------------------------------------------------------------------ */

/* Whether a device does groups. One that does not is said once. */
static bool does_groups(const char *device) {
    static bool said;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_groups groups = {.count = 1, .index = REDUCT_U32};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .kind = REDUCT_GROUPS, .groups = &groups, .device = device};
    reduct_plan *plan = NULL;
    reduct_error error = {0};
    const reduct_status status = reduct_plan_create(&options, &plan, &error);
    reduct_plan_destroy(plan);
    if (status == REDUCT_ERROR_UNSUPPORTED && !said)
        print_message("not tested here: %s\n", error.message);
    said = said || status == REDUCT_ERROR_UNSUPPORTED;
    return status == REDUCT_OK;
}

/* The devices to test that do groups. */
static size_t grouping_devices(const char *devices[TEST_MAX_DEVICES]) {
    const char *all[TEST_MAX_DEVICES];
    size_t count = 0;
    for (size_t i = 0, here = test_devices(all); i < here; i++)
        if (does_groups(all[i]))
            devices[count++] = all[i];
    return count;
}

static bool takes_initial(const struct grouped *grouped) {
    for (size_t i = 0; i < grouped->reductions; i++)
        if (grouped->reduction[i].op == REDUCT_ARGMIN || grouped->reduction[i].op == REDUCT_ARGMAX)
            return false;
    return grouped->inputs == 1;
}

/* Mostly one; `sums`: of those that are formed in tables of windows, and share them if there are more. */
static void choose_reductions(struct grouped *grouped, bool sums) {
    static const reduct_operator SUMS[] = {REDUCT_SUM, REDUCT_SUM, REDUCT_SUM, REDUCT_MEAN, REDUCT_NORM1, REDUCT_VAR};
    struct rng *rng = &grouped->rng;
    const bool has_products = strncmp(grouped->device, "cuda", 4) != 0;
    grouped->reductions = rng_below(rng, 3) > sums ? 1 : 1 + rng_below(rng, REDUCTIONS_MOST);
    grouped->inputs = 1;
    for (size_t i = 0; i < grouped->reductions; i++) {
        reduct_operator op;
        do
            op = sums ? SUMS[rng_below(rng, sizeof SUMS / sizeof *SUMS)]
                      : test_operators[rng_below(rng, test_operator_count)].op;
        while (!oracle_has(op, grouped->type->type) || (op == REDUCT_PRODUCT && !has_products));
        grouped->reduction[i] = (reduct_reduction){.op = op,
                                                   .element = grouped->type->type,
                                                   .result = test_pick_result(rng, op, grouped->type->type),
                                                   .mode = (reduct_mode)rng_below(rng, 2),
                                                   .nan = (reduct_nan)rng_below(rng, 3),
                                                   .flags = (uint32_t)rng_below(rng, 4)};
        if (test_operator(op)->inputs == 2)
            grouped->inputs = 2;
    }
}

static uint64_t largest_index(reduct_type index) {
    return index == REDUCT_U8 ? 255 : index == REDUCT_U16 ? 65535 : INT32_MAX;
}

/* Indices in one of the orders that data have; some of them outside, where that is wanted. */
static void choose_keys(struct grouped *grouped) {
    struct rng *rng = &grouped->rng;
    const uint64_t rows = grouped->groups.elements, groups = grouped->groups.count,
                   most = largest_index(grouped->groups.index), kind = grouped->in_runs ? 1 : rng_below(rng, 6),
                   length = grouped->in_runs ? 1 + rng_below(rng, 300) : 20; /* of runs, on average */
    const uint64_t reach = groups < most + 1 ? groups : most + 1;
    const bool outside = groups == 0 || rng_below(rng, grouped->groups.skip ? 2 : 12) == 0;
    int64_t run = 0;
    for (uint64_t i = 0; i < rows; i++) {
        if (rng_below(rng, length) == 0)
            run = (int64_t)rng_below(rng, reach);
        const int64_t uniform = (int64_t)rng_below(rng, reach);
        grouped->key[i] = kind == 0   ? (int64_t)(i * reach / rows) /* sorted */
                          : kind == 1 ? run
                          : kind == 2 ? (int64_t)(reach - 1)                           /* all in one */
                          : kind == 3 ? (int64_t)rng_below(rng, (uint64_t)uniform + 1) /* skewed */
                                      : uniform;
        if (groups == 0)
            grouped->key[i] = 0;
        if (outside && rng_below(rng, 30) == 0 && most >= groups)
            grouped->key[i] = rng_below(rng, 2) ? (int64_t)groups : (int64_t)most;
        if (outside && rng_below(rng, 60) == 0 &&
            (grouped->groups.index == REDUCT_I32 || grouped->groups.index == REDUCT_I64))
            grouped->key[i] = rng_below(rng, 2) ? -1 : grouped->groups.index == REDUCT_I32 ? INT32_MIN : INT64_MIN;
        if (outside && rng_below(rng, 60) == 0 &&
            (grouped->groups.index == REDUCT_I64 || grouped->groups.index == REDUCT_U64))
            grouped->key[i] = uniform | (int64_t)1 << 32; /* whose lower half is inside */
        values_put_bits(test_type(grouped->groups.index), grouped->indices, i, (uint64_t)grouped->key[i]);
    }
}

static void choose_mask(struct grouped *grouped) {
    struct rng *rng = &grouped->rng;
    const uint64_t kind = rng_below(rng, 4);
    grouped->mask = rng_below(rng, 3) ? REDUCT_MASK_NONE : (reduct_mask)(1 + rng_below(rng, 2));
    grouped->mask_first = grouped->mask ? rng_below(rng, 40) : 0;
    for (size_t i = 0; i < sizeof grouped->mask_memory; i++)
        grouped->mask_memory[i] =
            (unsigned char)((kind == 1 && rng_below(rng, 2)) || (kind == 2 && rng_below(rng, 30)) ||
                                    (kind == 3 && !rng_below(rng, 30))
                                ? 0
                                : rng_next(rng) | 1);
}

static bool counts(const struct grouped *grouped, uint64_t element) {
    const uint64_t entry = grouped->mask_first + element;
    return grouped->mask == REDUCT_MASK_NONE ||
           (grouped->mask == REDUCT_MASK_BYTES ? grouped->mask_memory[entry] != 0
                                               : grouped->mask_memory[entry / 8] >> entry % 8 & 1);
}

static void choose_groups(struct grouped *grouped) {
    struct rng *rng = &grouped->rng;
    grouped->width = grouped->in_runs || rng_below(rng, 3) ? 1 : 1 + rng_below(rng, 20);
    const uint64_t most = SPAN / grouped->width,
                   rows = grouped->in_runs     ? most - rng_below(rng, most / 2)
                          : rng_below(rng, 40) ? 1 + rng_below(rng, rng_below(rng, 3) ? 300 : most)
                                               : 0,
                   results = rng_below(rng, 3)   ? 12
                             : rng_below(rng, 2) ? 300
                                                 : RESULTS_MOST;
    grouped->groups = (reduct_groups){.count = rng_below(rng, 40) ? 1 + rng_below(rng, results / grouped->width) : 0,
                                      .elements = rows < most ? rows : most,
                                      .index = INDICES[rng_below(rng, sizeof INDICES / sizeof *INDICES)],
                                      .width = grouped->width == 1 ? rng_below(rng, 2) : grouped->width,
                                      .skip = rng_below(rng, 2) ? 0 : 1 + (int)rng_below(rng, 3),
                                      .with_initial = takes_initial(grouped) ? (int)rng_below(rng, 2) : 0};
    if (grouped->groups.count > RESULTS_MOST / grouped->width)
        grouped->groups.count = RESULTS_MOST / grouped->width;
    choose_keys(grouped);
    choose_mask(grouped);
}

/* Ordinary data mostly in one binade or a few, and data of one of the usual kinds. */
static void fill(struct grouped *grouped) {
    const struct distribution *distribution;
    struct rng *rng = &grouped->rng;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, grouped->type));
    distribution->fill(rng, grouped->type, grouped->memory[0], grouped->memory[1], SPAN);
    distribution->fill(rng, grouped->type, grouped->initial, NULL, RESULTS_MOST);
    if (grouped->type->class == FLOAT && rng_below(rng, 2)) {
        const double scale = ldexp(1, (int)rng_below(rng, 20) - 10);
        for (size_t i = 0; i < SPAN; i++)
            values_put(grouped->type, grouped->memory[0], i, scale * (rng_unit(rng) - 0.5));
    }
    grouped->threads = rng_below(rng, 3) ? 1 : 2 + (unsigned)rng_below(rng, 6);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What must come
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_reduction resolved(const struct grouped *grouped, size_t which) {
    reduct_reduction reduction = grouped->reduction[which];
    if (reduction.result == REDUCT_DEFAULT)
        reduction.result = oracle_default_result(reduction.op, reduction.element);
    reduction.mode = REDUCT_EXACT;
    return reduction;
}

/* The row of the first index that is outside, or UINT64_MAX. */
static uint64_t first_outside(const struct grouped *grouped) {
    for (uint64_t i = 0; !grouped->groups.skip && i < grouped->groups.elements; i++)
        for (uint64_t c = 0; c < grouped->width; c++)
            if (counts(grouped, i * grouped->width + c) && (uint64_t)grouped->key[i] >= grouped->groups.count)
                return i;
    return UINT64_MAX;
}

/* Copies a result's elements, in order, with their rows; returns how many. */
static uint64_t gather(struct grouped *grouped, uint64_t result) {
    const size_t size = grouped->type->size;
    uint64_t count = 0;
    if (grouped->groups.with_initial) {
        memcpy(grouped->gathered[0], grouped->initial + result * size, size);
        grouped->place[count++] = UINT64_MAX;
    }
    for (uint64_t i = 0; i < grouped->groups.elements; i++) {
        const uint64_t element = i * grouped->width + result % grouped->width;
        if ((uint64_t)grouped->key[i] != result / grouped->width || !counts(grouped, element))
            continue;
        for (int k = 0; k < 2; k++)
            memcpy(grouped->gathered[k] + count * size, grouped->memory[k] + element * size, size);
        grouped->place[count++] = i;
    }
    return count;
}

static struct oracle_result expect_one(const struct grouped *grouped, const reduct_reduction *reduction) {
    struct oracle_result one =
        oracle_expect(test_operator(reduction->op)->inputs == 2 ? &grouped->pairs : &grouped->single, reduction);
    uint64_t index;
    if (one.status == REDUCT_ERROR_NAN)
        one.index = grouped->place[one.index];
    if (one.status == REDUCT_OK && (reduction->op == REDUCT_ARGMIN || reduction->op == REDUCT_ARGMAX)) {
        memcpy(&index, one.bytes, sizeof index);
        memcpy(one.bytes, &grouped->place[index], sizeof index);
    }
    return one;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running and comparing
 * ------------------------------------------------------------------------------------------------------------------ */

struct run {
    reduct_status status;
    reduct_error error;
    unsigned char *results[REDUCTIONS_MOST];
    reduct_outcome *outcomes[REDUCTIONS_MOST];
    bool with_outcomes[REDUCTIONS_MOST];
};

static void complain(const struct grouped *grouped, size_t which, uint64_t result, const char *what) {
    test_fail(
        "case %zu: %s of %s on %s, number %zu of %zu, result %llu of %llu groups x %llu, %llu rows, %s indices, %u "
        "threads: %s",
        grouped->cases, reduct_operator_name(grouped->reduction[which].op), grouped->type->name, grouped->device, which,
        grouped->reductions, (unsigned long long)result, (unsigned long long)grouped->groups.count,
        (unsigned long long)grouped->width, (unsigned long long)grouped->groups.elements,
        reduct_type_name(grouped->groups.index), grouped->threads, what);
}

static void run_plan(struct grouped *grouped, struct run *run) {
    const reduct_plan_options options = {.reductions = grouped->reduction,
                                         .reduction_count = grouped->reductions,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &grouped->groups,
                                         .device = grouped->device,
                                         .threads = grouped->threads,
                                         .mask = grouped->mask,
                                         .mask_offset = grouped->mask_first};
    const void *inputs[5] = {NULL};
    void *results[REDUCTIONS_MOST];
    reduct_outcome *outcomes[REDUCTIONS_MOST];
    const uint64_t all = grouped->groups.count * grouped->width;
    unsigned next = 0;
    bool any = false;
    while (next < grouped->inputs) {
        inputs[next] = grouped->groups.elements ? grouped->memory[next] : NULL;
        next++;
    }
    inputs[next++] = grouped->groups.elements ? grouped->indices : NULL;
    if (grouped->mask)
        inputs[next++] = grouped->groups.elements ? grouped->mask_memory : NULL;
    inputs[next] = all ? grouped->initial : NULL;
    for (size_t i = 0; i < grouped->reductions; i++) {
        const reduct_reduction reduction = resolved(grouped, i);
        const size_t bytes = (all + 1) * oracle_result_size(&reduction);
        results[i] = run->results[i] = test_alloc(bytes);
        memset(run->results[i], ORACLE_UNTOUCHED, bytes);
        run->outcomes[i] = test_alloc((all + 1) * sizeof **run->outcomes);
        memset(run->outcomes[i], ORACLE_UNTOUCHED, (all + 1) * sizeof **run->outcomes);
        run->with_outcomes[i] = rng_below(&grouped->rng, 2);
        any = any || run->with_outcomes[i];
        outcomes[i] = run->with_outcomes[i] ? run->outcomes[i] : NULL;
    }
    reduct_plan *plan = NULL;
    run->error = (reduct_error){.index = UINT64_MAX};
    run->status = reduct_plan_create(&options, &plan, &run->error);
    if (run->status != REDUCT_OK)
        complain(grouped, 0, 0, run->error.message);
    assert_int_equal(reduct_plan_result_count(plan), all);
    run->status = any ? reduct_plan_execute_each(plan, inputs, results, outcomes, NULL, &run->error)
                      : reduct_plan_execute(plan, inputs, results, NULL, &run->error);
    reduct_plan_destroy(plan);
}

static uint64_t canonical_nan(reduct_type type) {
    return type == REDUCT_F64   ? 0x7ff8000000000000
           : type == REDUCT_F32 ? 0x7fc00000
           : type == REDUCT_F16 ? 0x7e00
                                : 0x7fc0;
}

/* One result: what is written there, and its outcome. */
static void check_result(const struct grouped *grouped, const struct run *run, size_t which, uint64_t result,
                         const struct oracle_result *expected, bool failed) {
    const reduct_reduction reduction = resolved(grouped, which);
    const size_t size = oracle_result_size(&reduction);
    const unsigned char *got = run->results[which] + result * size;
    const reduct_outcome *outcome = &run->outcomes[which][result];
    unsigned char wanted[ORACLE_RESULT_BYTES] = {0};
    char said[256], of_got[2 * ORACLE_RESULT_BYTES + 3], of_wanted[2 * ORACLE_RESULT_BYTES + 3];
    if (run->with_outcomes[which] && !failed &&
        (outcome->status != (uint32_t)expected->status || outcome->reserved ||
         outcome->index != (expected->status == REDUCT_ERROR_NAN ? expected->index : UINT64_MAX))) {
        snprintf(said, sizeof said, "its outcome is %u at %llu, expected %u at %llu", outcome->status,
                 (unsigned long long)outcome->index, (unsigned)expected->status, (unsigned long long)expected->index);
        complain(grouped, which, result, said);
    }
    if (expected->status == REDUCT_OK)
        memcpy(wanted, expected->bytes, size);
    else
        for (size_t i = 0; reduct_type_is_float(reduction.result) && i < size / oracle_type_size(reduction.result); i++)
            values_put_bits(test_type(reduction.result), wanted, i, canonical_nan(reduction.result));
    if (failed)
        memset(wanted, ORACLE_UNTOUCHED, sizeof wanted);
    if (memcmp(got, wanted, size)) {
        snprintf(said, sizeof said, "%s %s, expected %s", reduct_type_name(reduction.result),
                 oracle_hex(of_got, got, size), oracle_hex(of_wanted, wanted, size));
        complain(grouped, which, result, said);
    }
}

static void check_case(struct grouped *grouped) {
    struct run run;
    run_plan(grouped, &run);
    const uint64_t all = grouped->groups.count * grouped->width, outside = first_outside(grouped);
    struct oracle_result *expected = test_alloc((all * grouped->reductions + 1) * sizeof *expected);
    const struct oracle_result *failure = NULL;
    for (uint64_t r = 0; r < all; r++) {
        const uint64_t count = gather(grouped, r);
        oracle_read(&grouped->single, grouped->type->type, grouped->gathered[0], NULL, count);
        if (grouped->inputs == 2)
            oracle_read(&grouped->pairs, grouped->type->type, grouped->gathered[0], grouped->gathered[1], count);
        for (size_t i = 0; i < grouped->reductions; i++) {
            const reduct_reduction reduction = resolved(grouped, i);
            struct oracle_result *one = &expected[r * grouped->reductions + i];
            *one = expect_one(grouped, &reduction);
            if (!failure && one->status != REDUCT_OK && !run.with_outcomes[i])
                failure = one;
        }
    }
    if (outside != UINT64_MAX) {
        if (run.status != REDUCT_ERROR_ARGUMENT || run.error.index != outside)
            complain(grouped, 0, 0, "the first index outside is not the failure");
    } else {
        if (run.status != (failure ? failure->status : REDUCT_OK))
            complain(grouped, 0, 0, run.error.message);
        if (failure && failure->status == REDUCT_ERROR_NAN && run.error.index != failure->index)
            complain(grouped, 0, 0, "the index of the failure is not that of the first NaN");
    }
    for (size_t i = 0; i < grouped->reductions; i++) {
        const reduct_reduction reduction = resolved(grouped, i);
        for (uint64_t r = 0; r < all; r++)
            check_result(grouped, &run, i, r, &expected[r * grouped->reductions + i],
                         failure != NULL || outside != UINT64_MAX);
        const size_t size = oracle_result_size(&reduction);
        for (size_t b = 0; b < size; b++)
            if (run.results[i][all * size + b] != ORACLE_UNTOUCHED)
                complain(grouped, i, all, "it wrote beyond the results");
        free(run.results[i]);
        free(run.outcomes[i]);
    }
    free(expected);
    grouped->cases++;
}

static struct grouped *start(uint64_t stream) {
    struct grouped *grouped = test_alloc(sizeof *grouped);
    memset(grouped, 0, sizeof *grouped);
    grouped->rng = rng_of(test_seed() + stream);
    for (int i = 0; i < 2; i++) {
        grouped->memory[i] = test_alloc(SPAN * 8);
        grouped->gathered[i] = test_alloc((SPAN + 1) * 8);
    }
    grouped->initial = test_alloc(RESULTS_MOST * 8);
    grouped->indices = test_alloc(SPAN * 8);
    oracle_init(&grouped->single);
    oracle_init(&grouped->pairs);
    return grouped;
}

static void stop(struct grouped *grouped) {
    printf("%zu cases\n", grouped->cases);
    for (int i = 0; i < 2; i++) {
        free(grouped->memory[i]);
        free(grouped->gathered[i]);
    }
    free(grouped->initial);
    free(grouped->indices);
    oracle_clear(&grouped->single);
    oracle_clear(&grouped->pairs);
    free(grouped);
}

static void check_groups(uint64_t stream, bool sums, bool in_runs, uint64_t rounds) {
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = grouping_devices(devices), element_count = test_elements(elements);
    struct grouped *grouped = start(stream);
    grouped->in_runs = in_runs;
    while (device_count && rounds-- > 0) {
        do
            grouped->type = elements[rng_below(&grouped->rng, element_count)];
        while (sums && grouped->type->class != FLOAT);
        grouped->device = devices[rng_below(&grouped->rng, device_count)];
        choose_reductions(grouped, sums);
        choose_groups(grouped);
        fill(grouped);
        check_case(grouped);
    }
    stop(grouped);
}

static void everything(void **state) {
    (void)state;
    check_groups(0, false, false, test_scaled(2000, test_fewest(100)));
}

static void sums(void **state) {
    (void)state;
    check_groups(1, true, false, test_scaled(2000, test_fewest(100)));
}

static void runs(void **state) {
    (void)state;
    check_groups(10, false, true, test_scaled(1000, test_fewest(50)));
}

static void sums_of_runs(void **state) {
    (void)state;
    check_groups(11, true, true, test_scaled(1000, test_fewest(50)));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Many elements: the same bits in any order, with any number of threads, on every instruction set
 * ------------------------------------------------------------------------------------------------------------------ */

enum { MANY = 200000 };

/* What sums of groups are tried with: windows at their edges, what cancels, and what is far from everything else. */
enum data { ORDINARY, WIDE, EDGES, CANCELLING, OUTLIERS, SPECIAL, RISING, DATA_KINDS };

static double any_value(struct rng *rng, enum data data, size_t at) {
    const double ordinary = rng_unit(rng) - 0.5;
    switch (data) {
    case WIDE:
        return ldexp(ordinary, (int)rng_below(rng, 200) - 100);
    case EDGES: /* powers of two, and their neighbours */
        return (rng_below(rng, 2) ? 1 : -1) *
               nextafter(ldexp(1, (int)rng_below(rng, 90) - 80), rng_below(rng, 2) * 4.0);
    case CANCELLING:
        return at % 2 ? -1e15 : at % 4 ? 1e15 : 1e15 + 1;
    case OUTLIERS:
        return rng_below(rng, 5000) ? ordinary : ldexp(ordinary, (int)rng_below(rng, 250) - 125);
    case SPECIAL:
        return rng_below(rng, 3000) ? rng_below(rng, 20) ? ordinary : -0.0
                                    : (double[]){INFINITY, -INFINITY, NAN, 0}[rng_below(rng, 4)];
    case RISING:
        return ldexp(1 + rng_unit(rng), (int)(at * 60 / MANY));
    case ORDINARY:
    case DATA_KINDS:
        break;
    }
    return ordinary;
}

struct crowd {
    const struct test_type *type;
    unsigned char *x, *y;
    uint32_t *key;
    uint64_t groups;
    reduct_reduction reduction[9];
    size_t reductions;
};

static size_t crowd_bytes(const struct crowd *crowd, size_t which) {
    reduct_reduction reduction = crowd->reduction[which];
    reduction.result = oracle_default_result(reduction.op, reduction.element);
    return oracle_result_size(&reduction);
}

/* An executor all of whose threads begin at once, so that each has a part of the work. */
struct meeting {
    pthread_barrier_t barrier;
    void (*task)(void *argument);
    void *argument;
};

static void *run_met(void *context) {
    struct meeting *meeting = context;
    pthread_barrier_wait(&meeting->barrier);
    meeting->task(meeting->argument);
    return NULL;
}

static void run_at_once(void *context, unsigned count, void (*task)(void *argument), void *argument) {
    pthread_t thread[8];
    struct meeting meeting = {.task = task, .argument = argument};
    (void)context;
    assert_in_range(count, 1, 8);
    assert_int_equal(pthread_barrier_init(&meeting.barrier, NULL, count), 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_met, &meeting), 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    pthread_barrier_destroy(&meeting.barrier);
}

/* Runs the reductions, whose results come one after another. Even numbers of threads begin at once. */
static void run_crowd(const struct crowd *crowd, const char *device, unsigned threads, unsigned char *got) {
    const reduct_groups groups = {.count = crowd->groups, .elements = MANY, .index = REDUCT_U32};
    const reduct_executor executor = {.run = run_at_once, .threads = 8};
    const reduct_plan_options options = {.reductions = crowd->reduction,
                                         .reduction_count = crowd->reductions,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &groups,
                                         .device = device,
                                         .threads = threads,
                                         .executor = threads % 2 ? NULL : &executor};
    void *results[9];
    reduct_outcome *outcomes[9];
    reduct_plan *plan = NULL;
    const void *inputs[3] = {crowd->x, crowd->key};
    for (size_t i = 0; i < crowd->reductions; i++) {
        if (test_operator(crowd->reduction[i].op)->inputs == 2) {
            inputs[1] = crowd->y;
            inputs[2] = crowd->key;
        }
        results[i] = got;
        outcomes[i] = test_alloc(crowd->groups * sizeof **outcomes);
        got += crowd->groups * crowd_bytes(crowd, i);
    }
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    if (crowd->reductions == 1 && crowd->reduction[0].op == REDUCT_SUM &&
        crowd->type->class == FLOAT) /* which never fails */
        test_status(reduct_plan_execute(plan, inputs, results, NULL, NULL), REDUCT_OK);
    else
        test_status(reduct_plan_execute_each(plan, inputs, results, outcomes, NULL, NULL), REDUCT_OK);
    reduct_plan_destroy(plan);
    for (size_t i = 0; i < crowd->reductions; i++)
        free(outcomes[i]);
}

/* Some groups against the oracle. */
static void check_some(const struct crowd *crowd, struct rng *rng, const unsigned char *got, const char *text) {
    struct oracle single, pairs;
    const size_t size = crowd->type->size;
    unsigned char *of_group[2] = {test_alloc(MANY * size), test_alloc(MANY * size)};
    uint64_t *place = test_alloc(MANY * sizeof *place);
    oracle_init(&single);
    oracle_init(&pairs);
    for (int round = 0; round < 2; round++) {
        const uint64_t group = crowd->key[rng_below(rng, MANY)];
        size_t count = 0;
        const unsigned char *at = got;
        for (size_t i = 0; i < MANY; i++)
            if (crowd->key[i] == group) {
                place[count] = i;
                memcpy(of_group[0] + count * size, crowd->x + i * size, size);
                memcpy(of_group[1] + count++ * size, crowd->y + i * size, size);
            }
        oracle_read(&single, crowd->type->type, of_group[0], NULL, count);
        oracle_read(&pairs, crowd->type->type, of_group[0], of_group[1], count);
        for (size_t i = 0; i < crowd->reductions; i++) {
            reduct_reduction reduction = crowd->reduction[i];
            reduction.result = oracle_default_result(reduction.op, reduction.element);
            struct oracle_result wanted =
                oracle_expect(test_operator(reduction.op)->inputs == 2 ? &pairs : &single, &reduction);
            const size_t bytes = crowd_bytes(crowd, i);
            if (wanted.status == REDUCT_OK && reduction.op == REDUCT_ARGMIN) {
                uint64_t index;
                memcpy(&index, wanted.bytes, sizeof index);
                memcpy(wanted.bytes, &place[index], sizeof index);
            }
            if (wanted.status == REDUCT_OK && memcmp(wanted.bytes, at + group * bytes, bytes))
                test_fail("%s of %s, %s, group %llu of %llu is not what its %zu elements give",
                          reduct_operator_name(reduction.op), crowd->type->name, text, (unsigned long long)group,
                          (unsigned long long)crowd->groups, count);
            at += crowd->groups * bytes;
        }
    }
    oracle_clear(&single);
    oracle_clear(&pairs);
    free(of_group[0]);
    free(of_group[1]);
    free(place);
}

/* The elements and their indices in another order. */
static void shuffle(struct crowd *crowd, struct rng *rng) {
    const size_t size = crowd->type->size;
    unsigned char kept[8];
    for (size_t i = MANY; i-- > 1;) {
        const size_t other = rng_below(rng, i + 1);
        const uint32_t key = crowd->key[i];
        crowd->key[i] = crowd->key[other];
        crowd->key[other] = key;
        for (int k = 0; k < 2; k++) {
            unsigned char *array = k ? crowd->y : crowd->x;
            memcpy(kept, array + i * size, size);
            memcpy(array + i * size, array + other * size, size);
            memcpy(array + other * size, kept, size);
        }
    }
}

/* A value as an element, whatever the type: infinities and NaNs too, and of integers a number that fits. */
static void put_any(const struct crowd *crowd, void *array, size_t index, double value) {
    const uint64_t infinity = values_infinity(crowd->type);
    if (crowd->type->class != FLOAT)
        values_put(crowd->type, array, index, isfinite(value) ? fmod(value, 0x1p62) : 0);
    else if (isfinite(value))
        values_put(crowd->type, array, index, value);
    else
        values_put_bits(crowd->type, array, index,
                        isnan(value)          ? infinity | 1
                        : signbit(value) != 0 ? infinity | (uint64_t)1 << (8 * crowd->type->size - 1)
                                              : infinity);
}

static void same_bits(void **state) {
    (void)state;
    static const uint64_t GROUPS[] = {1, 2, 10, 1000, 5000, 100000, 300000};
    static const reduct_operator OPERATORS[] = {REDUCT_SUM, REDUCT_MEAN,   REDUCT_VAR,          REDUCT_NORM2,
                                                REDUCT_DOT, REDUCT_MINMAX, REDUCT_COUNT_NONZERO};
    static const reduct_type TYPES[] = {REDUCT_F64, REDUCT_F32, REDUCT_BF16, REDUCT_F16, REDUCT_I32, REDUCT_U64};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = grouping_devices(devices);
    struct rng rng = rng_of(test_seed() + 2);
    struct crowd crowd = {.x = test_alloc(MANY * 8), .y = test_alloc(MANY * 8), .key = test_alloc(MANY * 4)};
    unsigned char *one = test_alloc(300000 * 80), *got = test_alloc(300000 * 80);
    const unsigned few = test_scale() < (test_device() ? 0.02 : 0.1) ? 3 : 0; /* thread counts are left out */
    for (uint64_t round = 0; device_count && round < test_scaled(28, 7); round++) {
        const enum data data = (enum data)(round % DATA_KINDS);
        crowd.type = test_type(TYPES[rng_below(&rng, sizeof TYPES / sizeof *TYPES)]);
        crowd.groups = GROUPS[rng_below(&rng, sizeof GROUPS / sizeof *GROUPS)];
        const bool plain = round % 4 == 0; /* one sum of many floats for each group, which has a way of its own */
        if (plain) {
            crowd.type = test_type(round % 8 ? REDUCT_F32 : REDUCT_F64);
            crowd.groups = 1000;
        }
        crowd.reductions = 0;
        bool in_order = false; /* a place is asked for, which is another in another order */
        const size_t only = plain ? 0 : rng_below(&rng, 2 * sizeof OPERATORS / sizeof *OPERATORS); /* or all at once */
        for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++)
            if ((i == only || only >= sizeof OPERATORS / sizeof *OPERATORS) &&
                oracle_has(OPERATORS[i], crowd.type->type)) {
                crowd.reduction[crowd.reductions++] =
                    (reduct_reduction){.op = OPERATORS[i], .element = crowd.type->type, .nan = (reduct_nan)(round % 2)};
                in_order = in_order || OPERATORS[i] == REDUCT_ARGMIN;
            }
        if (!crowd.reductions)
            continue;
        const uint64_t order = rng_below(&rng, 3); /* sorted; runs, which go over warps; none */
        for (size_t i = 0; i < MANY; i++) {
            put_any(&crowd, crowd.x, i, any_value(&rng, data, i));
            put_any(&crowd, crowd.y, i, any_value(&rng, data, i + 1));
            crowd.key[i] = order == 0                                ? (uint32_t)(i * crowd.groups / MANY)
                           : order == 1 && i && rng_below(&rng, 100) ? crowd.key[i - 1]
                                                                     : (uint32_t)rng_below(&rng, crowd.groups);
        }
        size_t bytes = 0;
        char text[100];
        snprintf(text, sizeof text, "data %d, round %llu", (int)data, (unsigned long long)round);
        for (size_t i = 0; i < crowd.reductions; i++)
            bytes += crowd.groups * crowd_bytes(&crowd, i);
        run_crowd(&crowd, devices[0], 1, one);
        check_some(&crowd, &rng, one, text);
        for (unsigned threads = 1; threads <= 8; threads += few + 1 + (unsigned)rng_below(&rng, 3)) {
            const char *device = devices[rng_below(&rng, device_count)];
            if (threads > 4 && !in_order)
                shuffle(&crowd, &rng);
            memset(got, ORACLE_UNTOUCHED, bytes);
            run_crowd(&crowd, device, threads, got);
            if (memcmp(got, one, bytes))
                test_fail("%s of %s, %s: not the same bits on %s with %u threads%s",
                          reduct_operator_name(crowd.reduction[0].op), crowd.type->name, text, device, threads,
                          threads > 4 ? " in another order" : "");
        }
    }
    free(crowd.x);
    free(crowd.y);
    free(crowd.key);
    free(one);
    free(got);
}

/* Plans of many results whose tables threads share beside the same plans on one thread, which has its own: results, outcomes and failures. */
struct sharing_case {
    struct crowd crowd;
    reduct_groups groups;
    reduct_mask mask;
    unsigned char *entries, *initial;
    const char *device;
    bool by_team, stops;
    atomic_int asked_left;
};

/* Stays with what it said. */
static int stop_soon(void *context) {
    struct sharing_case *shared = context;
    return atomic_load(&shared->asked_left) <= 0 || atomic_fetch_sub(&shared->asked_left, 1) <= 0;
}

/* What a run leaves: everything in one array, and what was said. */
static reduct_status run_sharing(struct sharing_case *shared, unsigned threads, unsigned char *got, size_t bytes,
                                 reduct_error *error) {
    const struct crowd *crowd = &shared->crowd;
    const reduct_executor executor = {.run = shared->by_team ? NULL : run_at_once,
                                      .context = (void *)(uintptr_t)shared,
                                      .threads = 8,
                                      .stop = shared->stops ? stop_soon : NULL};
    const reduct_plan_options options = {.reductions = crowd->reduction,
                                         .reduction_count = crowd->reductions,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &shared->groups,
                                         .mask = shared->mask,
                                         .device = shared->device,
                                         .threads = threads,
                                         .executor =
                                             threads == 1 || !(executor.run || executor.stop) ? NULL : &executor};
    const uint64_t results = shared->groups.count * shared->groups.width;
    const void *inputs[5] = {crowd->x};
    unsigned next = 1;
    for (size_t i = 0; i < crowd->reductions && next == 1; i++)
        if (test_operator(crowd->reduction[i].op)->inputs == 2)
            inputs[next++] = crowd->y;
    inputs[next++] = crowd->key;
    if (shared->mask)
        inputs[next++] = shared->entries;
    inputs[next] = shared->initial;
    void *to[9];
    reduct_outcome *outcomes[9];
    reduct_plan *plan = NULL;
    memset(got, ORACLE_UNTOUCHED, bytes);
    for (size_t i = 0; i < crowd->reductions; i++) {
        outcomes[i] = (reduct_outcome *)got;
        got += results * sizeof **outcomes;
        to[i] = got;
        got += (results * crowd_bytes(crowd, i) + 15) / 16 * 16;
    }
    if (error)
        *error = (reduct_error){.index = UINT64_MAX};
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    const reduct_status status = reduct_plan_execute_each(plan, inputs, to, outcomes, NULL, error);
    reduct_plan_destroy(plan);
    return status;
}

static void choose_sharing(struct sharing_case *shared, struct rng *rng, size_t *bytes) {
    static const reduct_operator OPERATORS[] = {
        REDUCT_SUM,   REDUCT_MEAN,          REDUCT_VAR, REDUCT_NORM2, REDUCT_DOT,    REDUCT_MIN, REDUCT_MINMAX,
        REDUCT_COUNT, REDUCT_COUNT_NONZERO, REDUCT_ANY, REDUCT_AND,   REDUCT_ARGMIN, REDUCT_XOR, REDUCT_ARGMAX};
    static const reduct_type TYPES[] = {REDUCT_F64, REDUCT_F32, REDUCT_BF16, REDUCT_I32,
                                        REDUCT_U64, REDUCT_I64, REDUCT_U8};
    struct crowd *crowd = &shared->crowd;
    bool places = false, pairs = false;
    crowd->type = test_type(TYPES[rng_below(rng, sizeof TYPES / sizeof *TYPES)]);
    crowd->reductions = 0;
    while (!crowd->reductions || (crowd->reductions < 4 && rng_below(rng, 2))) {
        const reduct_operator op = OPERATORS[rng_below(rng, sizeof OPERATORS / sizeof *OPERATORS)];
        if (!oracle_has(op, crowd->type->type))
            continue;
        crowd->reduction[crowd->reductions++] =
            (reduct_reduction){.op = op, .element = crowd->type->type, .nan = (reduct_nan)rng_below(rng, 3)};
        places = places || op == REDUCT_ARGMIN || op == REDUCT_ARGMAX;
        pairs = pairs || op == REDUCT_DOT;
    }
    const uint64_t width = rng_below(rng, 3) ? 1 : 3;
    crowd->groups = 300 + rng_below(rng, rng_below(rng, 2) ? 1000 : 60000);
    shared->groups = (reduct_groups){.count = crowd->groups,
                                     .elements = MANY / width,
                                     .index = REDUCT_U32,
                                     .width = width,
                                     .skip = rng_below(rng, 2),
                                     .with_initial = !places && !pairs && rng_below(rng, 2)};
    shared->mask = rng_below(rng, 3) ? REDUCT_MASK_NONE : REDUCT_MASK_BYTES;
    *bytes = 0;
    for (size_t i = 0; i < crowd->reductions; i++)
        *bytes += crowd->groups * width * (sizeof(reduct_outcome) + crowd_bytes(crowd, i)) + 16;
}

/* One element in three is of the same group, sometimes nearly all are: its bucket is shared out. */
static void fill_sharing(struct sharing_case *shared, struct rng *rng) {
    struct crowd *crowd = &shared->crowd;
    const enum data data = (enum data)rng_below(rng, DATA_KINDS);
    const uint64_t hot = rng_below(rng, crowd->groups), of_hot = rng_below(rng, 2) ? 16 : 49;
    const bool outside = rng_below(rng, 4) == 0;
    for (size_t i = 0; i < MANY; i++) {
        put_any(crowd, crowd->x, i, any_value(rng, data, i));
        put_any(crowd, crowd->y, i, any_value(rng, data, i + 1));
        crowd->key[i] = (uint32_t)(rng_below(rng, 50) < of_hot ? hot : rng_below(rng, crowd->groups));
        if (outside && rng_below(rng, 5000) == 0)
            crowd->key[i] = (uint32_t)(crowd->groups + rng_below(rng, 10));
        shared->entries[i] = rng_below(rng, 4) != 0;
    }
    for (size_t i = 0; i < crowd->groups * shared->groups.width; i++)
        put_any(crowd, shared->initial, i, any_value(rng, data, i));
}

static void shared_tables(void **state) {
    (void)state;
    const struct rd_group_sharing usual = rd_group_sharing;
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = grouping_devices(devices);
    struct rng rng = rng_of(test_seed() + 12);
    enum { RESULTS = 3 * 61300, ROOM = 4 * (RESULTS * (16 + sizeof(reduct_outcome)) + 16) };
    struct sharing_case shared = {
        .crowd = {.x = test_alloc(MANY * 8), .y = test_alloc(MANY * 8), .key = test_alloc(MANY * 4)},
        .entries = test_alloc(MANY),
        .initial = test_alloc(RESULTS * 8)};
    unsigned char *one = test_alloc(ROOM), *got = test_alloc(ROOM);
    for (uint64_t round = 0; device_count && round < test_scaled(60, 10); round++) {
        size_t bytes;
        reduct_error error_of_one, error;
        shared.device = devices[rng_below(&rng, device_count)];
        if (strncmp(shared.device, "cpu", 3) != 0)
            continue;
        choose_sharing(&shared, &rng, &bytes);
        fill_sharing(&shared, &rng);
        const reduct_status wanted = run_sharing(&shared, 1, one, bytes, &error_of_one);
        const unsigned threads = 2 + (unsigned)rng_below(&rng, 7);
        rd_group_sharing = (struct rd_group_sharing){.bucket_bytes = 64 << rng_below(&rng, 8),
                                                     .item = 1 + rng_below(&rng, 20000),
                                                     .moved = 1 + rng_below(&rng, 2 * MANY)};
        shared.by_team = rng_below(&rng, 3) == 0;
        const reduct_status status = run_sharing(&shared, threads, got, bytes, &error);
        shared.stops = true;
        atomic_store(&shared.asked_left, (int)rng_below(&rng, 30));
        unsigned char *left = test_alloc(bytes);
        const reduct_status stopped = run_sharing(&shared, threads, left, bytes, NULL);
        if (stopped != REDUCT_ERROR_CALLBACK && (stopped != status || memcmp(left, got, bytes) != 0))
            test_fail("round %llu: status %d of what may be stopped, or other results", (unsigned long long)round,
                      (int)stopped);
        free(left);
        shared.stops = shared.by_team = false;
        rd_group_sharing = usual;
        if (status != wanted || error.index != error_of_one.index || strcmp(error.message, error_of_one.message) != 0)
            test_fail("round %llu: %u threads end in \"%s\"; expected \"%s\"", (unsigned long long)round, threads,
                      error.message, error_of_one.message);
        if (memcmp(got, one, bytes))
            test_fail("round %llu: %s of %s: not the same bits or outcomes on %s with %u threads that share tables",
                      (unsigned long long)round, reduct_operator_name(shared.crowd.reduction[0].op),
                      shared.crowd.type->name, shared.device, threads);
    }
    free(shared.crowd.x);
    free(shared.crowd.y);
    free(shared.crowd.key);
    free(shared.entries);
    free(shared.initial);
    free(one);
    free(got);
}

/* As many elements in one group as fill its pair of integers, all of the largest that the window takes. */
static void full_pairs(void **state) {
    (void)state;
    enum { FULL = (1 << 17) - 2 };
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = grouping_devices(devices);
    double *x = test_alloc(FULL * sizeof *x);
    unsigned char *key = test_alloc(FULL);
    memset(key, 1, FULL);
    for (size_t d = 0; d < device_count; d++)
        for (int sign = 0; sign < 2; sign++)
            for (int kind = 0; kind < 3; kind++) {
                /* The sample, of some elements in every 1023, sees smaller ones. */
                for (size_t i = 0; i < FULL; i++) {
                    x[i] = kind == 0   ? 1
                           : kind == 1 ? i % 1023 < 16 ? 1 : 8 * (1 - 0x1p-53)
                                       : ldexp(1 - 0x1p-53, i % 1023 < 16 ? 0 : (int)(i % 4));
                    x[i] = sign ? -x[i] : x[i];
                }
                const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
                const reduct_groups groups = {.count = 2, .elements = FULL, .index = REDUCT_U8};
                const reduct_plan_options options = {.reductions = &sum,
                                                     .reduction_count = 1,
                                                     .kind = REDUCT_GROUPS,
                                                     .groups = &groups,
                                                     .device = devices[d],
                                                     .threads = 1};
                double got[2];
                reduct_plan *plan = NULL;
                test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
                test_status(reduct_plan_execute(plan, (const void *[]){x, key}, (void *[]){got}, NULL, NULL),
                            REDUCT_OK);
                reduct_plan_destroy(plan);
                const struct test_outcome alone = test_run(&sum, "cpu", 1, x, NULL, FULL);
                assert_memory_equal(alone.bytes, &got[1], sizeof got[1]);
                assert_true(got[0] == 0);
            }
    free(x);
    free(key);
}

/* What tables do not hold is sorted, in parts, and products depend on the order of their elements: which is that of the array whatever
 * the parts. An index outside is the first one's, wherever another part has one. */
static void sorted_in_parts(void **state) {
    (void)state;
    enum { ROWS = 100000, GROUPS = 37 };
    static const reduct_reduction reductions[] = {{.op = REDUCT_PRODUCT, .element = REDUCT_F64},
                                                  {.op = REDUCT_SUM, .element = REDUCT_F64},
                                                  {.op = REDUCT_ARGMIN, .element = REDUCT_F64}};
    const reduct_executor executor = {.run = run_at_once, .threads = 8};
    struct rng rng = rng_of(test_seed() + 11);
    double *x = test_alloc(ROWS * sizeof *x), *own = test_alloc(ROWS * sizeof *own), initial[GROUPS];
    uint16_t *key = test_alloc(ROWS * sizeof *key);
    unsigned char *mask = test_alloc(ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 1 + (rng_unit(&rng) - 0.5) / 64;
        key[i] = (uint16_t)(rng_below(&rng, 3) ? rng_below(&rng, GROUPS) : i * GROUPS / ROWS);
        mask[i] = rng_below(&rng, 5) != 0;
    }
    for (size_t g = 0; g < GROUPS; g++)
        initial[g] = 1 + rng_unit(&rng);
    for (int with = 0; with < 2; with++)
        for (unsigned threads = 1; threads <= 6; threads++) {
            const reduct_groups groups = {.count = GROUPS, .elements = ROWS, .index = REDUCT_U16, .with_initial = with};
            const reduct_plan_options options = {.reductions = reductions,
                                                 .reduction_count = with ? 2 : 3, /* argmin takes no initial values */
                                                 .kind = REDUCT_GROUPS,
                                                 .groups = &groups,
                                                 .mask = with ? REDUCT_MASK_NONE : REDUCT_MASK_BYTES,
                                                 .device = "cpu",
                                                 .threads = threads,
                                                 .executor = threads % 2 ? NULL : &executor};
            double products[GROUPS], sums[GROUPS];
            uint64_t places[GROUPS];
            const void *inputs[3] = {x, key, with ? (const void *)initial : mask};
            void *results[3] = {products, sums, places};
            reduct_plan *plan = NULL;
            reduct_error error = {0};
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(reduct_plan_execute(plan, inputs, results, NULL, NULL), REDUCT_OK);
            for (size_t g = 0; g < GROUPS; g++) {
                size_t count = 0, least = SIZE_MAX;
                double smallest = 2;
                if (with)
                    own[count++] = initial[g];
                for (size_t i = 0; i < ROWS; i++) {
                    if (key[i] != g || (!with && !mask[i]))
                        continue;
                    least = x[i] < smallest ? i : least;
                    smallest = x[i] < smallest ? x[i] : smallest;
                    own[count++] = x[i];
                }
                const struct test_outcome product = test_run(&reductions[0], "cpu", 1, own, NULL, count),
                                          sum = test_run(&reductions[1], "cpu", 1, own, NULL, count);
                if (memcmp(product.bytes, &products[g], 8) || memcmp(sum.bytes, &sums[g], 8) ||
                    (!with && least != places[g]))
                    test_fail("group %zu, %u threads, initial values: %d: not what its elements alone are", g, threads,
                              with);
            }
            const uint16_t before[2] = {key[99000], key[70000]};
            key[99000] = GROUPS;
            key[70000] = 999;
            mask[99000] = mask[70000] = 1;
            test_status(reduct_plan_execute(plan, inputs, results, NULL, &error), REDUCT_ERROR_ARGUMENT);
            assert_int_equal(error.index, 70000);
            key[99000] = before[0];
            key[70000] = before[1];
            reduct_plan_destroy(plan);
        }
    free(x);
    free(own);
    free(key);
    free(mask);
}

/* Of equal elements the first counts, whichever thread had it. */
static void first_of_equals(void **state) {
    (void)state;
    enum { GROUPS = 10 };
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = grouping_devices(devices);
    float *x = test_alloc(MANY * sizeof *x);
    uint32_t *key = test_alloc(MANY * sizeof *key);
    uint64_t first[GROUPS], got[GROUPS];
    for (size_t i = MANY; i-- > 0;) {
        x[i] = 1;
        key[i] = (uint32_t)(i * 7 % GROUPS);
        first[key[i]] = i;
    }
    for (unsigned run = 0; run < 8 * device_count; run++) {
        const reduct_reduction place = {.op = run % 2 ? REDUCT_ARGMIN : REDUCT_ARGMAX, .element = REDUCT_F32};
        const reduct_groups groups = {.count = GROUPS, .elements = MANY, .index = REDUCT_U32};
        const reduct_plan_options options = {.reductions = &place,
                                             .reduction_count = 1,
                                             .kind = REDUCT_GROUPS,
                                             .groups = &groups,
                                             .device = devices[run / 8],
                                             .threads = 1 + run % 8 / 2};
        reduct_plan *plan = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        test_status(reduct_plan_execute(plan, (const void *[]){x, key}, (void *[]){got}, NULL, NULL), REDUCT_OK);
        reduct_plan_destroy(plan);
        assert_memory_equal(got, first, sizeof first);
    }
    free(x);
    free(key);
}

/* Equal elements of a group that begins later than others: the thread that had the first of them is not the first thread. */
static void first_of_late_equals(void **state) {
    (void)state;
    enum { GROUPS = 64, ELEMENTS = 1 << 20, ROUNDS = 6 };
    const reduct_executor executor = {.run = run_at_once, .threads = 4};
    unsigned char *x = test_alloc(ELEMENTS), *key = test_alloc(ELEMENTS);
    uint64_t first[GROUPS], got[GROUPS];
    memset(x, 7, ELEMENTS);
    for (size_t i = ELEMENTS; i-- > 0;) {
        key[i] = (unsigned char)(i % (i * GROUPS / ELEMENTS + 1)); /* of more and more groups */
        first[key[i]] = i;
    }
    for (unsigned round = 0; does_groups("cpu") && round < ROUNDS; round++) {
        const reduct_reduction place = {.op = round % 2 ? REDUCT_ARGMIN : REDUCT_ARGMAX, .element = REDUCT_U8};
        const reduct_groups groups = {.count = GROUPS, .elements = ELEMENTS, .index = REDUCT_U8};
        const reduct_plan_options options = {.reductions = &place,
                                             .reduction_count = 1,
                                             .kind = REDUCT_GROUPS,
                                             .groups = &groups,
                                             .device = "cpu",
                                             .threads = 4,
                                             .executor = &executor};
        reduct_plan *plan = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        test_status(reduct_plan_execute(plan, (const void *[]){x, key}, (void *[]){got}, NULL, NULL), REDUCT_OK);
        reduct_plan_destroy(plan);
        assert_memory_equal(got, first, sizeof first);
    }
    free(x);
    free(key);
}

/* Sums of products of which all but -0 are too small for a double: their signs. */
static void vanishing_products(void **state) {
    (void)state;
    enum { GROUPS = 6 };
    static const double X[] = {-0.0, -0.0, 0x1p-600, -0.0, -0x1p-600, -0.0, 0x1p-600, -0x1p-600, -0x1p-600, 0.0},
                        Y[] = {1, 2, 0x1p-600, 1, 0x1p-600, 1, 0x1p-600, 0x1p-600, 0x1p-600, 1};
    static const unsigned char KEY[] = {0, 1, 1, 2, 2, 3, 3, 3, 4, 5};
    static const bool NEGATIVE[GROUPS] = {true, false, true, false, true, false};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = grouping_devices(devices);
    const reduct_reduction dot = {.op = REDUCT_DOT, .element = REDUCT_F64};
    const reduct_groups groups = {.count = GROUPS, .elements = sizeof KEY, .index = REDUCT_U8};
    for (size_t d = 0; d < device_count; d++) {
        const reduct_plan_options options = {
            .reductions = &dot, .reduction_count = 1, .kind = REDUCT_GROUPS, .groups = &groups, .device = devices[d]};
        double got[GROUPS];
        reduct_plan *plan = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        test_status(reduct_plan_execute(plan, (const void *[]){X, Y, KEY}, (void *[]){got}, NULL, NULL), REDUCT_OK);
        reduct_plan_destroy(plan);
        for (size_t group = 0; group < GROUPS; group++)
            if (got[group] != 0 || !signbit(got[group]) == NEGATIVE[group])
                test_fail("group %zu on %s: %g; expected %s0", group, devices[d], got[group],
                          NEGATIVE[group] ? "-" : "+");
    }
}

/* Sums of zeros, of few groups and of many. */
static void zeros(void **state) {
    (void)state;
    enum { GROUPS = 6, MOST = 400 };
    /* With digits of 40 bits, 2^-68 is the first that lies too far below 1 for three of them: the last groups' sums are zero partly, and
     * altogether, beyond these. */
    static const double X[] = {-0.0, -0.0, -0.0,    0.0,     1,        -1,   -0.0,    1,
                               -1,   -0.0, 0x1p-68, 0x1p-68, -0x1p-67, -0.0, 0x1p-68, -0x1p-68};
    static const unsigned char KEY[] = {0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = grouping_devices(devices);
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    for (size_t d = 0; d < 2 * device_count; d++) {
        const reduct_groups groups = {.count = d % 2 ? MOST : GROUPS, .elements = sizeof KEY, .index = REDUCT_U8};
        const reduct_plan_options options = {.reductions = &sum,
                                             .reduction_count = 1,
                                             .kind = REDUCT_GROUPS,
                                             .groups = &groups,
                                             .device = devices[d / 2]};
        double got[MOST];
        reduct_plan *plan = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        test_status(reduct_plan_execute(plan, (const void *[]){X, KEY}, (void *[]){got}, NULL, NULL), REDUCT_OK);
        reduct_plan_destroy(plan);
        for (size_t group = 0; group < groups.count; group++)
            if (got[group] != 0 || !signbit(got[group]) == (group == 0))
                test_fail("group %zu of %d on %s: %g; expected %s0", group, (int)groups.count, devices[d / 2],
                          got[group], group ? "+" : "-");
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Few elements in each of many groups
 * ------------------------------------------------------------------------------------------------------------------ */

enum { SMALL_GROUPS = 600, SMALL_MOST = 6, SMALL_REDUCTIONS = 9 };

/* Groups whose results lie where rounding is decided: ties and their neighbours, exact roots, zeros. */
enum edge { TIES, SQUARED_TIES, EQUAL, WHOLE_NUMBERS, RIGHT_TRIANGLES, OPPOSITES, MINUS_ZEROS, CLOSE, ANY, EDGE_KINDS };

static double edge_value(struct rng *rng, enum edge edge, int precision, uint64_t group, size_t at) {
    const double ulp = ldexp(1, 1 - precision), sign = rng_below(rng, 2) ? 1 : -1,
                 odd = 2.0 * (double)rng_below(rng, 2000) + 1;
    const int half = (precision + 1) / 2; /* bits of a factor whose square has one more than the precision */
    switch (edge) {
    case TIES: /* an odd number of units, half of one, and perhaps what decides */
        return at == 0   ? sign * (1 + odd * ulp)
               : at == 1 ? sign * ulp / 2
               : at == 2 ? ((double)(group % 3) - 1) * ulp / 0x1p17
                         : 0;
    case SQUARED_TIES:
        return at == 0 ? sign * (1 + odd * ldexp(1, 1 - half)) : at == 1 ? (double)(group % 2) * ulp : 0;
    case EQUAL:
        return 1 + (double)group * ulp;
    case WHOLE_NUMBERS:
        return (double)rng_below(rng, 11) - 5;
    case RIGHT_TRIANGLES:
        return at < 2 ? sign * (double)((at ? 4 : 3) * (group + 1)) : 0;
    case OPPOSITES:
        return (at % 2 ? -1 : 1) * (1 + (double)group * ulp);
    case MINUS_ZEROS:
        return group % 4 && at == 2 ? 0.0 : -0.0;
    case CLOSE:
        return 1 + (double)rng_below(rng, 3) * ulp;
    case ANY:
    case EDGE_KINDS:
        break;
    }
    return sign * ldexp(1 + rng_unit(rng), (int)rng_below(rng, 12));
}

/* Elements of all groups, those of one not together, and their number. */
static size_t fill_small(struct rng *rng, const struct test_type *type, int precision, double scale, unsigned char *x,
                         unsigned char *y, uint32_t *key) {
    size_t n = 0, count[SMALL_GROUPS], most = 0;
    for (uint64_t group = 0; group < SMALL_GROUPS; group++) {
        count[group] = rng_below(rng, SMALL_MOST + 1);
        most = count[group] > most ? count[group] : most;
    }
    for (size_t at = 0; at < most; at++)
        for (uint64_t group = 0; group < SMALL_GROUPS; group++) {
            if (at >= count[group])
                continue;
            const double value = edge_value(rng, (enum edge)(group % EDGE_KINDS), precision, group, at) * scale;
            values_put(type, x, n, value);
            values_put(type, y, n, group % 2 ? value : (double)(group % 3 + 1));
            key[n++] = (uint32_t)group;
        }
    return n;
}

struct small {
    const struct test_type *type;
    unsigned char *x, *y;
    uint32_t *key;
    size_t elements;
    reduct_reduction reduction[SMALL_REDUCTIONS];
    unsigned char result[SMALL_REDUCTIONS][SMALL_GROUPS * sizeof(double)];
    reduct_outcome outcome[SMALL_REDUCTIONS][SMALL_GROUPS];
};

/* Runs `count` of the reductions, from `first` on, in one plan. */
static void run_small(struct small *small, const char *device, size_t first, size_t count) {
    const reduct_groups groups = {.count = SMALL_GROUPS, .elements = small->elements, .index = REDUCT_U32};
    const reduct_plan_options options = {.reductions = small->reduction + first,
                                         .reduction_count = count,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &groups,
                                         .device = device,
                                         .threads = 1};
    void *results[SMALL_REDUCTIONS];
    reduct_outcome *outcomes[SMALL_REDUCTIONS];
    const void *inputs[3] = {small->x, small->key};
    reduct_plan *plan = NULL;
    for (size_t i = 0; i < count; i++) {
        results[i] = small->result[first + i];
        outcomes[i] = small->outcome[first + i];
        memset(results[i], 0x55, sizeof small->result[i]);
        memset(outcomes[i], 0x55, sizeof small->outcome[i]);
        if (test_operator(small->reduction[first + i].op)->inputs == 2) {
            inputs[1] = small->y;
            inputs[2] = small->key;
        }
    }
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    test_status(reduct_plan_execute_each(plan, inputs, results, outcomes, NULL, NULL), REDUCT_OK);
    reduct_plan_destroy(plan);
}

static void check_small_group(const struct small *small, uint64_t group, const char *device) {
    const size_t size = small->type->size;
    unsigned char x[SMALL_MOST * sizeof(double)], y[SMALL_MOST * sizeof(double)];
    struct oracle single, pairs;
    size_t count = 0;
    for (size_t i = 0; i < small->elements; i++)
        if (small->key[i] == group) {
            memcpy(x + count * size, small->x + i * size, size);
            memcpy(y + count++ * size, small->y + i * size, size);
        }
    oracle_init(&single);
    oracle_init(&pairs);
    oracle_read(&single, small->type->type, x, NULL, count);
    oracle_read(&pairs, small->type->type, x, y, count);
    for (size_t i = 0; i < SMALL_REDUCTIONS; i++) {
        const reduct_reduction *reduction = &small->reduction[i];
        const struct oracle_result wanted =
            oracle_expect(test_operator(reduction->op)->inputs == 2 ? &pairs : &single, reduction);
        const unsigned char *got = small->result[i] + group * wanted.size;
        if (small->outcome[i][group].status != wanted.status ||
            (wanted.status == REDUCT_OK && memcmp(wanted.bytes, got, wanted.size)))
            test_fail("%s of %s to %zu bytes on %s: group %llu, kind %d, is not what its %zu elements give",
                      reduct_operator_name(reduction->op), small->type->name, wanted.size, device,
                      (unsigned long long)group, (int)(group % EDGE_KINDS), count);
    }
    oracle_clear(&single);
    oracle_clear(&pairs);
}

/* Every result against the oracle: among ordinary numbers, and where results are subnormal or overflow. */
static void small_groups(void **state) {
    (void)state;
    static const reduct_operator OPERATORS[SMALL_REDUCTIONS] = {REDUCT_SUM,   REDUCT_MEAN,  REDUCT_SUMSQ,
                                                                REDUCT_NORM1, REDUCT_NORM2, REDUCT_RMS,
                                                                REDUCT_VAR,   REDUCT_STD,   REDUCT_DOT};
    static const int SCALES[2][7] = {{0, -100, -520, -1022, -1070, 509, 1021}, {0, -50, -70, -126, -140, 60, 125}};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = grouping_devices(devices), most = SMALL_GROUPS * SMALL_MOST;
    struct rng rng = rng_of(test_seed() + 9);
    static unsigned char first[SMALL_REDUCTIONS][SMALL_GROUPS * sizeof(double)];
    struct small *small = test_alloc(sizeof *small);
    *small = (struct small){.x = test_alloc(most * sizeof(double)),
                            .y = test_alloc(most * sizeof(double)),
                            .key = test_alloc(most * sizeof(uint32_t))};
    for (unsigned round = 0; device_count && round < test_scaled(28, 12); round++) {
        const bool wide = round % 2 == 0;
        const reduct_type element = wide ? REDUCT_F64 : REDUCT_F32, other = wide ? REDUCT_F32 : REDUCT_F64,
                          result = round / 2 % 2 ? other : element;
        const int scale = SCALES[!wide][round / 4 % 7];
        small->type = test_type(element);
        /* Edges of the result, where that is the narrower one. */
        const int precision = element == REDUCT_F64 && result == REDUCT_F64 ? 53 : 24;
        small->elements = fill_small(&rng, small->type, precision, ldexp(1, scale), small->x, small->y, small->key);
        for (size_t i = 0; i < SMALL_REDUCTIONS; i++)
            small->reduction[i] = (reduct_reduction){.op = OPERATORS[i],
                                                     .element = element,
                                                     .result = result,
                                                     .nan = (reduct_nan)(rng_below(&rng, 2)),
                                                     .flags = rng_below(&rng, 2) ? REDUCT_POPULATION : 0};
        for (size_t i = 0; i < SMALL_REDUCTIONS; i++)
            run_small(small, devices[0], i, 1);
        memcpy(first, small->result, sizeof first);
        for (uint64_t group = 0; group < SMALL_GROUPS; group++)
            check_small_group(small, group, devices[0]);
        for (size_t d = 0; d < 2 * device_count; d++) {
            const char *device = devices[d / 2];
            for (size_t i = 0; i < SMALL_REDUCTIONS && d % 2; i++)
                run_small(small, device, i, 1);
            if (d % 2 == 0)
                run_small(small, device, 0, SMALL_REDUCTIONS);
            if (memcmp(small->result, first, sizeof first))
                test_fail("%s to %s: not the same bits on %s, %s, as on %s", small->type->name,
                          reduct_type_name(result), device, d % 2 ? "alone" : "together", devices[0]);
        }
    }
    free(small->x);
    free(small->y);
    free(small->key);
    free(small);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is refused
 * ------------------------------------------------------------------------------------------------------------------ */

static void refuse(const reduct_plan_options *options, reduct_status expected, const char *said) {
    reduct_plan *plan = NULL;
    reduct_error error = {0};
    test_status(reduct_plan_create(options, &plan, &error), expected);
    if (plan || error.status != expected || strncmp(error.message, said, strlen(said)) != 0)
        test_fail("refused with \"%s\"; expected \"%s...\"", error.message, said);
}

static void refused_plans(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64},
                           place = {.op = REDUCT_ARGMAX, .element = REDUCT_F64},
                           dot = {.op = REDUCT_DOT, .element = REDUCT_F64};
    reduct_groups groups = {.count = 3, .elements = 10, .index = REDUCT_I16};
    reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .kind = REDUCT_GROUPS};
    refuse(&options, REDUCT_ERROR_ARGUMENT, "groups: null pointer");
    options.groups = &groups;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "groups: index: i16; expected u8");
    groups.index = REDUCT_DEFAULT;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "groups: index: 0; expected u8");
    groups.index = REDUCT_U16;
    groups.reserved[3] = 1;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "groups: reserved");
    groups = (reduct_groups){.count = 3, .elements = 10, .index = REDUCT_U8, .with_initial = 1};
    options.reductions = &place;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "groups: with_initial: argmax");
    options.reductions = &dot;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "groups: with_initial: dot");
    options.reductions = &sum;
    groups = (reduct_groups){.count = 3, .elements = UINT64_MAX / 8, .index = REDUCT_U8};
    refuse(&options, REDUCT_ERROR_TOO_LARGE, "groups");
    groups = (reduct_groups){.count = UINT64_MAX / 2, .elements = 1, .index = REDUCT_U8};
    refuse(&options, REDUCT_ERROR_TOO_LARGE, "groups");
    groups = (reduct_groups){.count = 3, .elements = UINT64_MAX / 2, .width = 3, .index = REDUCT_U8};
    refuse(&options, REDUCT_ERROR_TOO_LARGE, "groups");
}

/* Pointers, and what is said of an index outside and of an initial value that is NaN. */
static void refused_executions(void **state) {
    (void)state;
    const double x[4] = {1, 2, 3, 4}, initial[2] = {0, (double)NAN};
    const int64_t key[4] = {1, 0, -7, 5};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64, .nan = REDUCT_NAN_ERROR};
    reduct_groups groups = {.count = 2, .elements = 4, .index = REDUCT_I64, .with_initial = 1};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .kind = REDUCT_GROUPS, .groups = &groups, .device = "cpu"};
    static const struct {
        int skip, pointer; /* which input is null, or -1 */
        reduct_status status;
        uint64_t index;
        const char *said;
    } CASES[] = {{0, -1, REDUCT_ERROR_ARGUMENT, 2, "indices: number 2 is -7; expected one of the 2 groups"},
                 {1, -1, REDUCT_ERROR_NAN, UINT64_MAX, "sum: result 1: the initial value is NaN"},
                 {1, 0, REDUCT_ERROR_ARGUMENT, UINT64_MAX, "x: null pointer"},
                 {1, 1, REDUCT_ERROR_ARGUMENT, UINT64_MAX, "indices: null pointer"},
                 {1, 2, REDUCT_ERROR_ARGUMENT, UINT64_MAX, "initial: null pointer"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const void *inputs[3] = {x, key, initial};
        double results[2] = {-1, -1};
        reduct_plan *plan = NULL;
        reduct_error error = {0};
        groups.skip = CASES[i].skip;
        if (CASES[i].pointer >= 0)
            inputs[CASES[i].pointer] = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        test_status(reduct_plan_execute(plan, inputs, (void *[]){results}, NULL, &error), CASES[i].status);
        reduct_plan_destroy(plan);
        if (error.index != CASES[i].index || strcmp(error.message, CASES[i].said) != 0)
            test_fail("\"%s\" at %llu; expected \"%s\"", error.message, (unsigned long long)error.index, CASES[i].said);
        assert_true(results[0] == -1 && results[1] == -1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything),
                                       cmocka_unit_test(sums),
                                       cmocka_unit_test(runs),
                                       cmocka_unit_test(sums_of_runs),
                                       cmocka_unit_test(same_bits),
                                       cmocka_unit_test(shared_tables),
                                       cmocka_unit_test(full_pairs),
                                       cmocka_unit_test(sorted_in_parts),
                                       cmocka_unit_test(first_of_equals),
                                       cmocka_unit_test(first_of_late_equals),
                                       cmocka_unit_test(vanishing_products),
                                       cmocka_unit_test(zeros),
                                       cmocka_unit_test(small_groups),
                                       cmocka_unit_test(refused_plans),
                                       cmocka_unit_test(refused_executions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
