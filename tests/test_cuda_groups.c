/* Plans over groups on a CUDA device: every operator, type, type of indices and policy, in many ways in which elements may be
 * spread over groups, against the CPU, whose plans over groups are compared with the oracle; to the last bit of results and
 * outcomes.
 *
 * From the survival list: "one hot group", "groups of one", "windows at their edges", "indices outside". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/groups.h"
#include "cuda_support.h"

enum { REDUCTIONS_MOST = 4, RESULT_BYTES = 32 };

/* How indices are spread. */
enum spread { UNIFORM, SKEWED, ONE_GROUP, SORTED, RUNS, SPREADS };

struct grouping {
    struct rng rng;
    const struct test_type *type, *index;
    reduct_reduction reduction[REDUCTIONS_MOST];
    size_t reductions;
    reduct_groups groups;
    enum spread spread;
    const char *values;
    uint64_t elements, results;
    unsigned shift; /* elements before the first one: not always aligned */
    reduct_mask mask;
    uint64_t mask_offset;
    unsigned char *x, *y, *indices, *mask_memory, *initial;
};

/* What came: results and outcomes one after another, by reduction. */
struct came {
    reduct_status status;
    reduct_error error;
    unsigned char *results[REDUCTIONS_MOST];
    reduct_outcome *outcomes[REDUCTIONS_MOST];
};

/* ---------------------------------------------------------------------------------------------------------------------
 * What to ask for
 * ------------------------------------------------------------------------------------------------------------------ */

/* All but products. */
static bool is_served(reduct_operator op, reduct_type element) {
    return op != REDUCT_PRODUCT && oracle_has(op, element);
}

static reduct_type pick_result(struct rng *rng, reduct_operator op, reduct_type element) {
    reduct_type possible[16];
    size_t count = 0;
    for (size_t i = 0; i < test_type_count; i++)
        if (oracle_has_result(op, element, test_types[i].type))
            possible[count++] = test_types[i].type;
    return rng_below(rng, 2) ? REDUCT_DEFAULT : possible[rng_below(rng, count)];
}

static reduct_reduction pick_reduction(struct rng *rng, const struct test_type *type,
                                       const struct test_operator *only) {
    reduct_operator op;
    do
        op = only ? only->op : test_operators[rng_below(rng, test_operator_count)].op;
    while (!is_served(op, type->type));
    return (reduct_reduction){.op = op,
                              .element = type->type,
                              .result = pick_result(rng, op, type->type),
                              .mode = rng_below(rng, 8) ? REDUCT_EXACT : REDUCT_FAST,
                              .nan = (reduct_nan)rng_below(rng, 3),
                              .flags =
                                  (rng_below(rng, 2) ? REDUCT_POPULATION : 0) | (rng_below(rng, 4) ? 0 : REDUCT_WRAP)};
}

static void fill_values(struct grouping *test) {
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(&test->rng, distribution_count)];
    while (!distribution_suits(distribution, test->type));
    test->values = distribution->name;
    const size_t size = test->type->size, room = (size_t)test->elements + test->shift;
    test->x = test_alloc(room * size + 1);
    test->y = test_alloc(room * size + 1);
    test->initial = test_alloc((size_t)test->results * size + 1);
    distribution->fill(&test->rng, test->type, test->x, test->y, room);
    distribution->fill(&test->rng, test->type, test->initial, NULL, (size_t)test->results);
}

/* Bytes of a mask's memory: enough for either kind. */
static size_t mask_bytes(const struct grouping *test) {
    return (size_t)(test->elements + test->mask_offset) + 1;
}

static uint64_t pick_group(struct grouping *test, uint64_t at, uint64_t before) {
    const uint64_t count = test->groups.count;
    switch (test->spread) {
    case UNIFORM:
        return rng_below(&test->rng, count);
    case SKEWED:
        return rng_below(&test->rng, 1 + rng_below(&test->rng, 1 + rng_below(&test->rng, count)));
    case ONE_GROUP:
        return count - 1;
    case SORTED:
        return at * count / test->groups.elements;
    case RUNS:
        return rng_below(&test->rng, 9) ? before : rng_below(&test->rng, count);
    case SPREADS:
        break;
    }
    return 0;
}

static void fill_indices(struct grouping *test, bool outside) {
    const size_t size = test->index->size;
    test->indices = test_alloc(((size_t)test->groups.elements + test->shift) * size + 1);
    uint64_t group = 0;
    const unsigned rarely = outside ? 1 + (unsigned)rng_below(&test->rng, 1000) : 0;
    for (uint64_t i = 0; i < test->groups.elements; i++) {
        group = test->groups.count ? pick_group(test, i, group) : 0;
        const uint64_t far = rng_below(&test->rng, 2) ? UINT64_MAX : test->groups.count;
        const uint64_t own = rarely && rng_below(&test->rng, rarely) == 0 ? far : group;
        memcpy(test->indices + (test->shift + i) * size, &own, size);
    }
}

/* A mask of some kind, or none: of single elements, or of stretches of them. */
static void fill_mask(struct grouping *test) {
    struct rng *rng = &test->rng;
    test->mask = rng_below(rng, 3) ? REDUCT_MASK_NONE : (reduct_mask)(1 + rng_below(rng, 2));
    test->mask_offset = test->mask ? rng_below(rng, 20) : 0;
    const size_t bytes = mask_bytes(test);
    const uint64_t stay = rng_below(rng, 2) ? 0 : 1 + rng_below(rng, 30);
    test->mask_memory = test_alloc(bytes);
    unsigned char before = 0xff;
    for (size_t i = 0; i < bytes; i++) {
        if (!stay || !rng_below(rng, stay))
            before = rng_below(rng, 3) ? (unsigned char)rng_below(rng, 256) : rng_below(rng, 2) ? 0xff : 0;
        test->mask_memory[i] = before;
    }
}

/* A case: with a type and an operator, of these, and small; else of any. */
static void make_of(struct grouping *test, uint64_t seed, const struct test_type *type,
                    const struct test_operator *only) {
    static const reduct_type indices[] = {REDUCT_U8, REDUCT_U16, REDUCT_U32, REDUCT_U64, REDUCT_I32, REDUCT_I64};
    static const uint64_t counts[] = {1, 3, 33, 200, 3000, 10000, 15000, 30000},
                          elements[] = {0, 1, 31, 700, 6000, 40000}, widths[] = {1, 1, 1, 1, 3, 4, 64, 37, 300};
    *test = (struct grouping){.rng = rng_of(seed)};
    struct rng *rng = &test->rng;
    do
        test->type = type ? type : &test_types[rng_below(rng, test_type_count)];
    while (!test->type->element);
    test->index = test_type(indices[rng_below(rng, 6)]);
    test->spread = (enum spread)rng_below(rng, SPREADS);
    test->shift = rng_below(rng, 3) ? 0 : (unsigned)rng_below(rng, 4);
    reduct_groups *groups = &test->groups;
    groups->index = test->index->type;
    groups->count = counts[rng_below(rng, only ? 4 : 8)];
    if (test->index->size == 1 && groups->count > 256)
        groups->count = 256;
    groups->elements = elements[rng_below(rng, only ? 4 : gpu.quick ? 5 : 6)];
    groups->width = widths[rng_below(rng, 9)];
    if (groups->width > 1) {
        groups->elements /= groups->width;
        groups->count = groups->count > 500 ? 500 : groups->count;
    }
    groups->skip = rng_below(rng, 2) != 0;
    test->reductions = only ? 1 : 1 + rng_below(rng, REDUCTIONS_MOST);
    bool may_begin = true;
    for (size_t i = 0; i < test->reductions; i++) {
        test->reduction[i] = pick_reduction(rng, test->type, only);
        const reduct_operator op = test->reduction[i].op;
        may_begin = may_begin && op != REDUCT_ARGMIN && op != REDUCT_ARGMAX && test_operator(op)->inputs == 1;
    }
    groups->with_initial = may_begin && rng_below(rng, 3) == 0;
    test->elements = groups->elements * groups->width;
    test->results = groups->count * groups->width;
    fill_values(test);
    fill_mask(test);
    fill_indices(test, groups->skip || rng_below(rng, 4) == 0);
}

static void make(struct grouping *test, uint64_t seed) {
    make_of(test, seed, NULL, NULL);
}

static void clear(struct grouping *test) {
    free(test->x);
    free(test->y);
    free(test->indices);
    free(test->mask_memory);
    free(test->initial);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running and comparing
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status plan_for(const struct grouping *test, const char *device, reduct_plan **plan,
                              reduct_error *error) {
    const reduct_plan_options options = {.reductions = test->reduction,
                                         .reduction_count = test->reductions,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &test->groups,
                                         .mask = test->mask,
                                         .mask_offset = test->mask_offset,
                                         .device = device,
                                         .threads = 1};
    return reduct_plan_create(&options, plan, error);
}

static bool is_paired(const struct grouping *test) {
    for (size_t i = 0; i < test->reductions; i++)
        if (test_operator(test->reduction[i].op)->inputs == 2)
            return true;
    return false;
}

/* Arrays as a plan takes them. */
static void list_inputs(const struct grouping *test, const void *x, const void *y, const void *indices,
                        const void *mask, const void *initial, const void *inputs[5]) {
    size_t count = 0;
    inputs[count++] = x;
    if (is_paired(test))
        inputs[count++] = y;
    inputs[count++] = indices;
    if (test->mask)
        inputs[count++] = mask;
    inputs[count++] = initial;
}

static struct came make_came(const struct grouping *test) {
    struct came came = {.status = REDUCT_OK};
    for (size_t i = 0; i < test->reductions; i++) {
        const size_t results = (size_t)test->results * RESULT_BYTES + 1,
                     outcomes = (size_t)test->results * sizeof(reduct_outcome) + 1;
        came.results[i] = test_alloc(results);
        memset(came.results[i], ORACLE_UNTOUCHED, results);
        came.outcomes[i] = test_alloc(outcomes);
        memset(came.outcomes[i], ORACLE_UNTOUCHED, outcomes);
    }
    return came;
}
static void clear_came(struct came *came) {
    for (size_t i = 0; i < REDUCTIONS_MOST; i++) {
        free(came->results[i]);
        free(came->outcomes[i]);
    }
}

static const void *shifted(const struct grouping *test, const unsigned char *array, size_t size) {
    return array + test->shift * size;
}

static struct came run_on(const struct grouping *test, const char *device, bool with_outcomes) {
    struct came came = make_came(test);
    reduct_plan *plan = NULL;
    const void *inputs[5];
    list_inputs(test, shifted(test, test->x, test->type->size), shifted(test, test->y, test->type->size),
                shifted(test, test->indices, test->index->size), test->mask_memory, test->initial, inputs);
    came.status = plan_for(test, device, &plan, &came.error);
    if (came.status == REDUCT_OK)
        came.status = with_outcomes
                          ? reduct_plan_execute_each(plan, inputs, (void *const *)came.results,
                                                     (reduct_outcome *const *)came.outcomes, NULL, &came.error)
                          : reduct_plan_execute(plan, inputs, (void *const *)came.results, NULL, &came.error);
    reduct_plan_destroy(plan);
    return came;
}

static void fail_at(const struct grouping *test, uint64_t seed, const char *how, const char *what) {
    char list[128] = "";
    for (size_t i = 0; i < test->reductions; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s/%d", i ? "," : "",
                 test_operator(test->reduction[i].op)->name, (int)test->reduction[i].nan);
    test_fail(
        "case %llu, %s, %s of %s %s: %llu rows x %llu into %llu groups, indices %s, spread %d, skip %d, initial %d, "
        "shift %u, mask %d: %s",
        (unsigned long long)seed, how, list, test->values, test->type->name, (unsigned long long)test->groups.elements,
        (unsigned long long)test->groups.width, (unsigned long long)test->groups.count, test->index->name,
        (int)test->spread, test->groups.skip, test->groups.with_initial, test->shift, (int)test->mask, what);
}

static void compare(const struct grouping *test, uint64_t seed, const char *how, const struct came *got,
                    const struct came *expected, bool outcomes) {
    char text[800];
    if (got->status != expected->status || (got->status != REDUCT_OK && got->error.index != expected->error.index)) {
        snprintf(text, sizeof text, "status %d index %llu (%s); expected %d index %llu (%s)", (int)got->status,
                 (unsigned long long)got->error.index, got->status ? got->error.message : "", (int)expected->status,
                 (unsigned long long)expected->error.index, expected->status ? expected->error.message : "");
        fail_at(test, seed, how, text);
    }
    for (size_t i = 0; i < test->reductions; i++) {
        const reduct_reduction own = test_reduction(test->reduction[i].op, test->type->type, test->reduction[i].result);
        const size_t size = test_type(own.result)->size * (size_t)reduct_operator_outputs(own.op);
        for (uint64_t r = 0; r < test->results; r++) {
            const unsigned char *a = got->results[i] + r * size, *b = expected->results[i] + r * size;
            const reduct_outcome *of_a = got->outcomes[i] + r, *of_b = expected->outcomes[i] + r;
            if (memcmp(a, b, size) != 0) {
                unsigned long long x[2] = {0}, y[2] = {0};
                memcpy(x, a, size < 16 ? size : 16);
                memcpy(y, b, size < 16 ? size : 16);
                snprintf(text, sizeof text, "reduction %zu, result %llu: %llx %llx; expected %llx %llx", i,
                         (unsigned long long)r, x[1], x[0], y[1], y[0]);
                fail_at(test, seed, how, text);
            }
            if (outcomes && memcmp(of_a, of_b, sizeof *of_a) != 0) {
                snprintf(text, sizeof text, "reduction %zu, result %llu: outcome %u, %llu; expected %u, %llu", i,
                         (unsigned long long)r, of_a->status, (unsigned long long)of_a->index, of_b->status,
                         (unsigned long long)of_b->index);
                fail_at(test, seed, how, text);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------------------------------------------------ */

/* What the GPU gives is what the CPU does. */
static void check_beside_cpu(const struct grouping *test, uint64_t seed, const char *how, bool outcomes) {
    struct came expected = run_on(test, "cpu", outcomes), got = run_on(test, gpu.name, outcomes);
    compare(test, seed, how, &got, &expected, outcomes);
    clear_came(&expected);
    clear_came(&got);
}

static void check_made(struct grouping *test, uint64_t seed) {
    const bool outcomes = rng_below(&test->rng, 3) != 0;
    rd_cuda_groups_move_least = rng_next(&test->rng) & 1 ? 0 : RD_CUDA_GROUPS_MOVE_LEAST;
    rd_cuda_groups_gather_least = rng_next(&test->rng) & 1 ? 0 : RD_CUDA_GROUPS_ROWS_BYTES;
    check_beside_cpu(test, seed, outcomes ? "with outcomes" : "without", outcomes);
    rd_cuda_groups_move_least = RD_CUDA_GROUPS_MOVE_LEAST;
    rd_cuda_groups_gather_least = RD_CUDA_GROUPS_ROWS_BYTES;
}

static void check_case(uint64_t seed) {
    struct grouping test;
    make(&test, seed);
    check_made(&test, seed);
    clear(&test);
}

/* What an execution in a stream leaves, and where it finds everything. */
struct queue {
    reduct_plan *plan;
    rd_cu_address array[5], results[REDUCTIONS_MOST], outcomes, workspace;
    size_t workspace_bytes, outcome_bytes;
};

static struct queue make_queue(const struct grouping *test) {
    struct queue queue = {.plan = NULL};
    const size_t size = test->type->size, index = test->index->size, rows = (size_t)test->groups.elements,
                 elements = (size_t)test->elements, results = (size_t)test->results;
    reduct_error error;
    test_status(plan_for(test, gpu.name, &queue.plan, &error), REDUCT_OK);
    queue.array[0] = gpu_copy_of(test->x, (elements + test->shift) * size + 1);
    queue.array[1] = gpu_copy_of(test->y, (elements + test->shift) * size + 1);
    queue.array[2] = gpu_copy_of(test->indices, (rows + test->shift) * index + 1);
    queue.array[3] = gpu_copy_of(test->initial, results * size + 1);
    queue.array[4] = gpu_copy_of(test->mask_memory, mask_bytes(test));
    for (size_t i = 0; i < test->reductions; i++)
        queue.results[i] = gpu_alloc(results * RESULT_BYTES);
    queue.outcome_bytes = test->reductions * results * sizeof(reduct_cuda_outcome);
    queue.outcomes = gpu_alloc(queue.outcome_bytes);
    queue.workspace_bytes = reduct_cuda_workspace_size(queue.plan);
    queue.workspace = gpu_alloc(queue.workspace_bytes);
    return queue;
}
static void clear_queue(struct queue *queue) {
    for (int i = 0; i < 5; i++)
        gpu_free(queue->array[i]);
    for (int i = 0; i < REDUCTIONS_MOST; i++)
        if (queue->results[i])
            gpu_free(queue->results[i]);
    gpu_free(queue->outcomes);
    gpu_free(queue->workspace);
    reduct_plan_destroy(queue->plan);
}

static void spoil(const struct grouping *test, const struct queue *queue, unsigned char value) {
    gpu_fill(queue->workspace, value, queue->workspace_bytes);
    gpu_fill(queue->outcomes, ORACLE_UNTOUCHED, queue->outcome_bytes);
    for (size_t i = 0; i < test->reductions; i++)
        gpu_fill(queue->results[i], ORACLE_UNTOUCHED, (size_t)test->results * RESULT_BYTES);
}

/* How an execution is queued. */
struct way {
    const char *name;
    bool graph, own_workspace, waits;
};
static const struct way in_stream = {"in a stream", false, false, false};

/* With what came of it, if it waits. */
static reduct_status execute(const struct grouping *test, const struct queue *queue, const struct way *way,
                             reduct_error *error) {
    const void *inputs[5];
    void *results[REDUCTIONS_MOST];
    const size_t size = test->type->size;
    list_inputs(test, gpu_pointer(queue->array[0], test->shift * size),
                gpu_pointer(queue->array[1], test->shift * size),
                gpu_pointer(queue->array[2], test->shift * test->index->size), gpu_pointer(queue->array[4], 0),
                gpu_pointer(queue->array[3], 0), inputs);
    for (size_t i = 0; i < test->reductions; i++)
        results[i] = gpu_pointer(queue->results[i], 0);
    void *workspace = way->own_workspace ? NULL : gpu_pointer(queue->workspace, 0);
    if (way->waits)
        return reduct_cuda_execute_checked(queue->plan, inputs, results, workspace, gpu.stream, error);
    test_status(reduct_cuda_execute(queue->plan, inputs, results, gpu_pointer(queue->outcomes, 0), workspace,
                                    gpu.stream, error),
                REDUCT_OK);
    return REDUCT_OK;
}

/* What has come, as a call that waits has it: an index outside, which all outcomes then name, is the call's failure. */
static struct came collect(const struct grouping *test, const struct queue *queue, bool outcomes) {
    struct came came = make_came(test);
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    for (size_t i = 0; i < test->reductions; i++) {
        const size_t bytes = (size_t)test->results * sizeof(reduct_cuda_outcome);
        gpu_download(came.results[i], queue->results[i], (size_t)test->results * RESULT_BYTES);
        if (!outcomes)
            continue;
        gpu_download(came.outcomes[i], queue->outcomes + i * bytes, bytes);
        for (uint64_t r = 0; r < test->results; r++) {
            if (came.outcomes[i][r].status == REDUCT_ERROR_ARGUMENT) {
                came.status = REDUCT_ERROR_ARGUMENT;
                came.error.index = came.outcomes[i][r].index;
            }
            assert_int_equal(came.outcomes[i][r].status == REDUCT_ERROR_ARGUMENT, came.status != REDUCT_OK);
        }
    }
    return came;
}

/* The failure that calls without outcomes have: an index outside, or that of the first result that has one. */
static reduct_status first_failure(const struct grouping *test, const struct came *expected, uint64_t *index) {
    *index = expected->status ? expected->error.index : UINT64_MAX;
    reduct_status first = expected->status;
    for (uint64_t r = 0; !first && r < test->results; r++)
        for (size_t i = 0; !first && i < test->reductions; i++) {
            first = (reduct_status)expected->outcomes[i][r].status;
            *index = expected->outcomes[i][r].index;
        }
    return first;
}

/* In a stream, with a workspace that holds anything and with the plan's own, waited for or not; and in a graph that is launched
 * again, in which nothing waits. */
static void check_queued(uint64_t seed) {
    enum { CAPTURE_GLOBAL = 0 };
    static const struct way ways[] = {
        {"in a graph", true, false, false},   {"in a graph again", true, false, false},
        {"in a stream", false, false, false}, {"with the plan's workspace", false, true, false},
        {"waited for", false, false, true},   {"waited for, without a workspace", false, true, true}};
    struct grouping test;
    make(&test, seed);
    test.groups.count += !test.groups.count;
    struct came expected = run_on(&test, "cpu", true);
    struct queue queue = make_queue(&test);
    rd_cu_graph graph = NULL;
    rd_cu_graph_exec exec = NULL;
    CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
    test_status(execute(&test, &queue, &ways[5], NULL), REDUCT_ERROR_UNSUPPORTED);
    execute(&test, &queue, &ways[0], NULL);
    CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
    CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        const struct way *way = &ways[w];
        reduct_error error = {.index = UINT64_MAX};
        reduct_status status = REDUCT_OK;
        spoil(&test, &queue, (unsigned char)(w * 0x55));
        if (way->graph)
            CU(gpu.cuGraphLaunch(exec, gpu.stream));
        else
            status = execute(&test, &queue, way, &error);
        struct came got = collect(&test, &queue, !way->waits);
        if (way->waits) {
            uint64_t index;
            test_status(status, first_failure(&test, &expected, &index));
            assert_true(error.index == index);
            got.status = expected.status;
            got.error.index = expected.error.index;
        }
        compare(&test, seed, way->name, &got, &expected, expected.status == REDUCT_OK && !way->waits);
        clear_came(&got);
    }
    CU(gpu.cuGraphExecDestroy(exec));
    CU(gpu.cuGraphDestroy(graph));
    clear_queue(&queue);
    clear_came(&expected);
    clear(&test);
}

static void queued(void **state) {
    (void)state;
    const uint64_t count = gpu.quick ? test_scaled(20, 8) : test_scaled(300, 30);
    for (uint64_t i = 0; i < count; i++)
        check_queued(test_seed() * 1000033 + i);
}

/* Plans in several streams at once, beside another kernel that has the multiprocessors busy: blocks of each then start at any time, wait, and
 * meet in any order, so that races between them would show. */
static void beside_others(void **state) {
    (void)state;
    enum { STREAMS = 4, BUSY = 1 << 22, TURNS = 3 };
    static const reduct_operator ops[STREAMS] = {REDUCT_SUM, REDUCT_VAR, REDUCT_ARGMAX, REDUCT_DOT};
    static const reduct_type types[STREAMS] = {REDUCT_F32, REDUCT_F64, REDUCT_F64, REDUCT_F16};
    static const uint64_t results[STREAMS] = {50000, 3, 700, 5000};
    const bool few = gpu.small || gpu.quick;
    const uint64_t rounds = few ? 2 : test_scaled(100, 10), busy = few ? BUSY / 256 : BUSY;
    const rd_cu_stream own = gpu.stream;
    rd_cu_stream stream[STREAMS + 1];
    struct grouping test[STREAMS];
    struct queue queue[STREAMS];
    struct came expected[STREAMS];
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    reduct_plan *other = gpu_plan(&sum, busy);
    const rd_cu_address array = gpu_alloc(busy * sizeof(double)), result = gpu_alloc(64), outcome = gpu_alloc(64);
    gpu_fill(array, 0x3f, busy * sizeof(double));
    for (int i = 0; i <= STREAMS; i++)
        CU(gpu.driver->cuStreamCreate(&stream[i], RD_CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < STREAMS; i++) {
        test[i] = (struct grouping){.rng = rng_of(test_seed() + 31 * (uint64_t)i),
                                    .type = test_type(types[i]),
                                    .index = test_type(REDUCT_U32),
                                    .spread = (enum spread)(i % SPREADS),
                                    .elements = few ? 20000 : 1 << 20,
                                    .results = results[i]};
        test[i].groups =
            (reduct_groups){.count = test[i].results, .elements = test[i].elements, .index = REDUCT_U32, .width = 1};
        test[i].reduction[0] = test_reduction(ops[i], types[i], REDUCT_DEFAULT);
        test[i].reductions = 1;
        fill_values(&test[i]);
        fill_indices(&test[i], false);
        fill_mask(&test[i]);
        test[i].initial = test_alloc((size_t)results[i] * test[i].type->size + 1); /* of which no plan knows */
        memset(test[i].initial, 0, (size_t)results[i] * test[i].type->size + 1);
        expected[i] = run_on(&test[i], "cpu", true);
        queue[i] = make_queue(&test[i]);
    }
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < STREAMS; i++)
            spoil(&test[i], &queue[i], (unsigned char)(round * 0x55));
        for (int turn = 0; turn < TURNS; turn++)
            for (int i = 0; i < STREAMS; i++) {
                gpu.stream = stream[i];
                execute(&test[i], &queue[i], &in_stream, NULL);
                test_status(reduct_cuda_execute(other, (const void *[]){gpu_pointer(array, 0)},
                                                (void *[]){gpu_pointer(result, 0)}, gpu_pointer(outcome, 0), NULL,
                                                stream[STREAMS], NULL),
                            REDUCT_OK);
            }
        for (int i = 0; i < STREAMS; i++) {
            gpu.stream = stream[i];
            struct came got = collect(&test[i], &queue[i], true);
            compare(&test[i], round, "beside others", &got, &expected[i], expected[i].status == REDUCT_OK);
            clear_came(&got);
        }
        gpu.stream = own;
    }
    CU(gpu.driver->cuStreamSynchronize(stream[STREAMS]));
    for (int i = 0; i < STREAMS; i++) {
        clear_queue(&queue[i]);
        clear_came(&expected[i]);
        clear(&test[i]);
    }
    for (int i = 0; i <= STREAMS; i++)
        CU(gpu.driver->cuStreamDestroy(stream[i]));
    gpu_free(array);
    gpu_free(result);
    gpu_free(outcome);
    reduct_plan_destroy(other);
}

/* A hundred million elements of one group, and as many groups of one element each. Elements are whole multiples of a power of two, of
 * which 64 bits hold the sum; windows are told nothing of it, as a few elements are as large or as small as floats get. */
static void hundred_million(void **state) {
    (void)state;
    const uint64_t elements = gpu.small || gpu.quick ? 10007 : 100000000;
    float *x = test_alloc(elements * sizeof *x), *results = test_alloc(elements * sizeof *results), single;
    uint32_t *index = test_alloc(elements * sizeof *index);
    const char *const devices[] = {gpu.name, "cpu"};
    int64_t sum = 0;
    struct rng rng = rng_of(test_seed() + 77);
    for (uint64_t i = 0; i < elements; i++) {
        const int64_t value = (int64_t)(rng_next(&rng) >> 40) - (1 << 23);
        x[i] = (float)value * 0x1p-30f;
        sum += value;
        index[i] = (uint32_t)((i * 7919 + 5) % elements); /* all of them: a prime that divides neither count */
    }
    for (uint64_t i = 100; i + 3 < elements; i += elements / 7 + 1) { /* which cancel */
        const float extremes[4] = {3e38f, -1e-45f, -3e38f, 1e-45f};
        for (int k = 0; k < 4; k++) {
            sum -= (int64_t)(x[i + (uint64_t)k] * 0x1p30f);
            x[i + (uint64_t)k] = extremes[k];
        }
    }
    for (int d = 0; d < 2; d++)
        for (int one = 0; one < 2; one++) {
            const reduct_reduction reduction = {.op = REDUCT_SUM, .element = REDUCT_F32};
            const reduct_groups groups = {
                .count = one ? 1 : elements, .elements = elements, .index = one ? REDUCT_U8 : REDUCT_U32};
            const reduct_plan_options options = {.reductions = &reduction,
                                                 .reduction_count = 1,
                                                 .kind = REDUCT_GROUPS,
                                                 .groups = &groups,
                                                 .device = devices[d]};
            const uint8_t *zeros = one ? calloc(elements, 1) : NULL;
            reduct_plan *plan = NULL;
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(reduct_plan_execute(plan, (const void *[]){x, one ? (const void *)zeros : index},
                                            (void *[]){one ? &single : results}, NULL, NULL),
                        REDUCT_OK);
            reduct_plan_destroy(plan);
            free((void *)(uintptr_t)zeros);
            const float expected = (float)((double)sum * 0x1p-30); /* of fewer than 53 bits, so rounded once */
            if (one)
                assert_memory_equal(&single, &expected, sizeof single);
            for (uint64_t i = 0; !one && i < elements; i++)
                if (memcmp(&results[index[i]], &x[i], sizeof *x) != 0)
                    test_fail("%s: group %llu of one element: other bits than its", devices[d],
                              (unsigned long long)index[i]);
        }
    free(x);
    free(results);
    free(index);
}

/* So many groups that a block's table holds few of them, and so many elements that warps give the table up, or must not; and as many as it has
 * just slots for, if it needs not say whose they are, which sums have and means have not. */
static void tables(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_STD, REDUCT_ARGMIN, REDUCT_COUNT_NONZERO};
    static const reduct_type types[] = {REDUCT_F32, REDUCT_F64, REDUCT_I32};
    static const uint64_t results[SPREADS] = {50000, 11000, 14000, 18000, 25000};
    const uint64_t elements = gpu.small ? 5 << 15 : 1 << 23;
    for (int spread = 0; spread < SPREADS; spread++)
        for (int t = gpu.quick ? spread % 3 : 0; t < (gpu.quick ? spread % 3 + 1 : 3); t++) {
            struct grouping test = {.rng = rng_of(test_seed() + 7 * (uint64_t)spread),
                                    .type = test_type(types[t]),
                                    .index = test_type(REDUCT_U32),
                                    .spread = (enum spread)spread,
                                    .elements = elements,
                                    .results = results[(spread + t) % SPREADS]};
            test.groups = (reduct_groups){.count = test.results, .elements = elements, .index = REDUCT_U32, .width = 1};
            test.reduction[0] = test_reduction(ops[(spread + t) % 4], types[t], REDUCT_DEFAULT);
            test.reduction[1] = test_reduction(REDUCT_MEAN, types[t], REDUCT_DEFAULT);
            test.reductions = 2;
            fill_values(&test);
            fill_indices(&test, false);
            check_beside_cpu(&test, (uint64_t)spread, "large", true);
            clear(&test);
        }
}

/* More results than blocks have tables for, so that elements are moved to buckets first, unless indices are in order. */
static void buckets(void **state) {
    (void)state;
    rd_cuda_groups_move_least = 0;
    const uint64_t elements = gpu.small ? (5 << 13) + 5 : (1 << 22) + 5;
    for (int spread = 0; spread < SPREADS; spread++)
        for (int t = 0; t < 3; t++) {
            static const reduct_type types[] = {REDUCT_F32, REDUCT_F64, REDUCT_BF16};
            const reduct_type type = types[t];
            struct grouping test = {.rng = rng_of(test_seed() + 11 * (uint64_t)spread),
                                    .type = test_type(type),
                                    .index = test_type(spread % 2 ? REDUCT_U64 : REDUCT_U32),
                                    .spread = (enum spread)spread,
                                    .elements = elements,
                                    .results = gpu.small ? 17000 : 1000000};
            test.groups = (reduct_groups){
                .count = test.results, .elements = elements, .index = test.index->type, .width = 1, .skip = 1};
            test.reduction[0] = test_reduction(spread % 2 ? REDUCT_DOT : REDUCT_SUM, type, REDUCT_DEFAULT);
            test.reduction[0].nan = REDUCT_NAN_ERROR;
            test.reduction[1] = test_reduction(spread % 2 ? REDUCT_VAR : REDUCT_MEAN, type, REDUCT_DEFAULT);
            test.reduction[1].nan = (reduct_nan)((spread + t) % 2);
            test.reductions = 2;
            fill_values(&test);
            fill_indices(&test, true);
            for (int i = 0; i < 100; i++) /* NaNs, of which each group tells the first */
                memset((spread % 2 && i % 2 ? test.y : test.x) + rng_below(&test.rng, elements) * test.type->size, 0xff,
                       test.type->size);
            check_beside_cpu(&test, (uint64_t)spread, "buckets", true);
            clear(&test);
        }
    rd_cuda_groups_move_least = RD_CUDA_GROUPS_MOVE_LEAST;
}

/* More elements of one group than a block's table holds before it must be emptied, in all blocks. */
static void turns(void **state) {
    (void)state;
    if (gpu.quick && !gpu.small) {
        print_message("not tested here, as it takes long under tools: tables that are emptied more than once\n");
        return;
    }
    const uint64_t elements = ((uint64_t)gpu.multiprocessors << (gpu.small ? 19 : 20)) + 77;
    struct grouping test = {.rng = rng_of(test_seed() + 99),
                            .type = test_type(REDUCT_F32),
                            .index = test_type(REDUCT_U8),
                            .spread = ONE_GROUP,
                            .elements = elements,
                            .results = 3};
    test.groups = (reduct_groups){.count = 3, .elements = elements, .index = REDUCT_U8, .width = 1};
    test.reduction[0] = test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_F64);
    test.reduction[1] = test_reduction(REDUCT_COUNT_NONZERO, REDUCT_F32, REDUCT_DEFAULT);
    test.reductions = 2;
    fill_values(&test);
    distribution_named("normal")->fill(&test.rng, test.type, test.x, NULL, (size_t)elements);
    for (uint64_t i = 0; i < elements; i++) /* all of one sign: pieces of sums grow as far as they can */
        test.x[4 * i + 3] &= 0x7f;
    fill_indices(&test, false);
    check_beside_cpu(&test, 0, "many turns", true);
    clear(&test);
}

/* A finite number of any exponent. */
static double any_number(struct rng *rng, const struct test_type *type) {
    const uint64_t infinity = values_infinity(type), fraction = (infinity & (0 - infinity)) - 1;
    uint64_t bits;
    do
        bits = rng_next(rng) & (infinity << 1 | infinity | fraction);
    while ((bits & infinity) == infinity);
    unsigned char memory[8];
    values_put_bits(type, memory, 0, bits);
    return values_get(type, memory, 0);
}

/* What the elements of a group are: numbers of every exponent; such that cancel, but for one far below; zeros of -0, alone or beside what
 * cancels; a tie, far above what decides it, and what cancels. */
enum kind { EVERY_EXPONENT, CANCEL, MINUS_ZEROS, MINUS_ZEROS_BESIDE, TIE, KINDS };

/* The next two elements of a group, of which some came before. */
static void next_two(struct rng *rng, const struct test_type *type, enum kind kind, uint32_t before, double two[2]) {
    const double tiny = values_tiny(type) * (rng_below(rng, 2) ? 1 : -1), half = ldexp(1, -type->precision);
    two[0] =
        kind == MINUS_ZEROS || (kind == MINUS_ZEROS_BESIDE && rng_below(rng, 3) == 0) ? -0.0 : any_number(rng, type);
    two[1] = kind == EVERY_EXPONENT ? any_number(rng, type) : two[0] == 0 ? -0.0 : -two[0];
    if (before == 0 && (kind == TIE || kind == CANCEL)) {
        two[0] = kind == TIE ? 1 : 0;
        two[1] = kind == TIE ? half : tiny;
    } else if (before == 1 && kind == TIE) {
        two[0] = rng_below(rng, 3) ? tiny : 0;
        two[1] = rng_below(rng, 3) ? half * 2 : 0;
    }
}

static void fill_kinds(struct grouping *test) {
    const struct test_type *type = test->type;
    const size_t room = (size_t)test->elements + 1, results = (size_t)test->results;
    uint32_t *before = calloc(results, sizeof *before);
    test->x = test_alloc(room * type->size);
    test->y = test_alloc(room * type->size);
    test->indices = test_alloc(room * sizeof(uint32_t));
    test->initial = test_alloc(results * type->size);
    distribution_named("60_binades")->fill(&test->rng, type, test->y, NULL, room);
    for (size_t i = 0; i < results; i++)
        values_put(type, test->initial, i, i % KINDS == MINUS_ZEROS ? -0.0 : any_number(&test->rng, type));
    for (size_t i = 0; i < test->elements; i += 2) {
        const uint32_t group = (uint32_t)rng_below(&test->rng, results), both[2] = {group, group};
        double two[2];
        next_two(&test->rng, type, results == 1 ? (enum kind)rng_below(&test->rng, 2) : (enum kind)(group % KINDS),
                 before[group]++, two);
        for (size_t k = 0; k < 2; k++)
            values_put(type, test->x, i + k, two[k]);
        memcpy(test->indices + i * sizeof(uint32_t), both, sizeof both);
    }
    free(before);
    test->values = "every exponent";
}

/* More elements that fit no window than a list has room for: few results, of which blocks keep all planes, and more. */
static void every_exponent(void **state) {
    (void)state;
    static const reduct_type types[] = {REDUCT_F32, REDUCT_F64, REDUCT_F16, REDUCT_BF16};
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_MEAN, REDUCT_SUMSQ, REDUCT_NORM2, REDUCT_RMS,
                                          REDUCT_DOT, REDUCT_VAR,  REDUCT_STD,   REDUCT_NORM1, REDUCT_WEIGHTED_MEAN};
    static const uint64_t results[] = {1, 41, 300, 9001};
    const size_t op_count = sizeof ops / sizeof *ops;
    uint64_t seed = test_seed() * 1000039;
    rd_cuda_groups_move_least = 0;
    for (size_t t = 0; t < 4; t++)
        for (size_t o = 0; o < op_count; o++)
            for (size_t r = gpu.quick ? (t + o) % 4 : 0; r < (gpu.quick ? (t + o) % 4 + 1 : 4); r++) {
                const bool pairs = test_operator(ops[o])->inputs == 2;
                struct grouping test = {.rng = rng_of(++seed),
                                        .type = test_type(types[t]),
                                        .index = test_type(REDUCT_U32),
                                        .elements = gpu.small ? 20000 : 1 << 22,
                                        .results = results[r]};
                test.groups = (reduct_groups){.count = results[r],
                                              .elements = test.elements,
                                              .index = REDUCT_U32,
                                              .width = 1,
                                              .with_initial = !pairs && (o + r) % 3 == 0};
                test.reduction[0] = test_reduction(ops[o], types[t], REDUCT_DEFAULT);
                test.reductions = 1;
                fill_kinds(&test);
                check_beside_cpu(&test, seed, "every exponent", true);
                clear(&test);
            }
    rd_cuda_groups_move_least = RD_CUDA_GROUPS_MOVE_LEAST;
}

/* Halves of a last place, and a little more or less, far below: of a quotient, of a difference, and of a sum. */
static void ties(void **state) {
    (void)state;
    static const double x[][4] = {{1, 0x1p40, 4, 0},
                                  {1 + 0x1p-24, -0x1p-200, 1, 1},
                                  {-1 - 0x1p-24, 0x1p-60, 0, 0},
                                  {1, 0x1p-53, 0x1p-66 + 0x1p-118, -0x1p-66},
                                  {1, 0x1p-53, 0x1p-66 - 0x1p-118, -0x1p-66},
                                  {-1, -0x1p-53, 0x1p-66 + 0x1p-118, -0x1p-66},
                                  {-1, -0x1p-53, 0x1p-66 - 0x1p-118, -0x1p-66},
                                  {-1, -0x1p-53, 0x1p-66, -0x1p-66}};
    static const reduct_operator ops[] = {REDUCT_WEIGHTED_MEAN, REDUCT_PTP, REDUCT_PTP, REDUCT_SUM,
                                          REDUCT_SUM,           REDUCT_SUM, REDUCT_SUM, REDUCT_SUM};
    double weights[] = {1, 0x1p-93, 0x1p-93, 0};
    uint32_t indices[] = {0, 0, 0, 0};
    for (int i = 0; i < 8; i++) {
        const size_t bytes = sizeof x[i];
        struct grouping test = {.type = test_type(REDUCT_F64), .index = test_type(REDUCT_U32), .elements = 4};
        test.x = memcpy(test_alloc(bytes), x[i], bytes);
        test.y = memcpy(test_alloc(bytes), weights, bytes);
        test.indices = memcpy(test_alloc(sizeof indices), indices, sizeof indices);
        test.results = 1;
        test.values = "a tie";
        test.groups = (reduct_groups){.count = 1, .elements = 4, .index = REDUCT_U32, .width = 1};
        test.reduction[0] = test_reduction(ops[i], REDUCT_F64, ops[i] == REDUCT_PTP ? REDUCT_F32 : REDUCT_DEFAULT);
        test.reductions = 1;
        check_beside_cpu(&test, (uint64_t)i, "ties", true);
        clear(&test);
    }
}

/* Products are refused by name, on plans over groups alone. */
static void refused(void **state) {
    (void)state;
    const reduct_reduction product = {.op = REDUCT_PRODUCT, .element = REDUCT_F32};
    const reduct_groups groups = {.count = 2, .elements = 3, .index = REDUCT_U32};
    const reduct_plan_options options = {
        .reductions = &product, .reduction_count = 1, .kind = REDUCT_GROUPS, .groups = &groups, .device = gpu.name};
    reduct_plan *plan = NULL;
    reduct_error error;
    test_status(reduct_plan_create(&options, &plan, &error), REDUCT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "product"));
}

/* Every operator of every type under every policy, with indices of all types and masks of all kinds in turn: by one block, by launches
 * after each other, and by both where a word is said to have no room for a place beside a rank. */
static void each(void **state) {
    (void)state;
    static const char *const ways[] = {"each", "each, in launches", "each, places apart",
                                       "each, places apart, in launches"};
    const uint64_t seed = test_seed() * 1000037, most = rd_cuda_groups_alone_most,
                   first_most = rd_cuda_groups_first_most;
    uint64_t number = 0;
    for (size_t t = 0; t < test_type_count; t++)
        for (size_t o = 0; test_types[t].element && o < test_operator_count; o++)
            for (int nan = 0; is_served(test_operators[o].op, test_types[t].type) && nan < 3; nan++) {
                struct grouping test;
                make_of(&test, seed + number++, &test_types[t], &test_operators[o]);
                test.reduction[0].nan = (reduct_nan)nan;
                struct came expected = run_on(&test, "cpu", true);
                const reduct_operator op = test_operators[o].op;
                for (int way = 0; way < (op == REDUCT_ARGMIN || op == REDUCT_ARGMAX ? 4 : 2); way++) {
                    rd_cuda_groups_alone_most = way % 2 ? 0 : most;
                    rd_cuda_groups_first_most = way / 2 ? 0 : first_most;
                    struct came got = run_on(&test, gpu.name, true);
                    compare(&test, seed + number, ways[way], &got, &expected, true);
                    clear_came(&got);
                }
                rd_cuda_groups_alone_most = most;
                rd_cuda_groups_first_most = first_most;
                clear_came(&expected);
                clear(&test);
            }
}

/* How many launches an execution takes. */
static size_t count_launches(const struct grouping *test, const struct queue *queue) {
    enum { CAPTURE_GLOBAL = 0 };
    rd_cu_graph graph = NULL;
    size_t nodes = 0;
    CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
    execute(test, queue, &in_stream, NULL);
    CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
    CU(gpu.cuGraphGetNodes(graph, NULL, &nodes));
    CU(gpu.cuGraphDestroy(graph));
    return nodes;
}

/* Whether one block takes it all, where there is little; how many launches there are otherwise; and the same results on both sides of the
 * limit. */
static void ways(void **state) {
    (void)state;
    enum { MOST = RD_CUDA_GROUPS_ALONE_ELEMENTS, RESULTS = RD_CUDA_GROUPS_ALONE_RESULTS };
    static const struct {
        reduct_operator op;
        reduct_type type;
        uint64_t elements, results;
        int initial, launches;
    } way[] = {
        {REDUCT_SUM, REDUCT_F32, 1024, 64, 0, 3},
        {REDUCT_SUM, REDUCT_F64, MOST, RESULTS + 1, 0, 3},
        {REDUCT_SUM, REDUCT_F64, MOST, 101, 1, 4},
        {REDUCT_MEAN, REDUCT_F16, MOST, 1, 0, 3},
        {REDUCT_VAR, REDUCT_F32, MOST / 2, RESULTS, 0, 4},
        {REDUCT_STD, REDUCT_F64, MOST / 2, 51, 1, 6},
        {REDUCT_WEIGHTED_MEAN, REDUCT_F32, MOST / 2, 7, 0, 4},
        {REDUCT_DOT, REDUCT_BF16, MOST, 33, 0, 3},
        {REDUCT_SUM, REDUCT_I64, MOST, 5, 0, 3},
        {REDUCT_VAR, REDUCT_U8, MOST / 2, 3, 0, 4},
        {REDUCT_MAX, REDUCT_F32, MOST, RESULTS, 0, 1},
        {REDUCT_MAX, REDUCT_F32, MOST + 1, 3, 0, 3},
        {REDUCT_MIN, REDUCT_F64, MOST - 100, 100, 1, 1},
        {REDUCT_MIN, REDUCT_F64, MOST - 100, 101, 1, 4},
        {REDUCT_ARGMIN, REDUCT_F64, MOST / 2, RESULTS, 0, 1},
        {REDUCT_ARGMIN, REDUCT_F64, MOST / 2 + 1, RESULTS, 0, 4},
        {REDUCT_ARGMAX, REDUCT_F32, MOST, RESULTS, 0, 1},
        {REDUCT_ARGMIN, REDUCT_BF16, MOST + 1, 101, 0, 3},
        {REDUCT_MINMAX, REDUCT_I16, MOST / 2, 1, 0, 1},
        {REDUCT_COUNT_NONZERO, REDUCT_F32, MOST, 1, 0, 1},
        {REDUCT_COUNT_NONZERO, REDUCT_F32, MOST, RESULTS + 1, 0, 3},
    };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++)
        for (int spread = 0; spread < (gpu.quick ? 1 : SPREADS); spread++) {
            struct grouping test = {.rng = rng_of(test_seed() + 13 * i + (uint64_t)spread),
                                    .type = test_type(way[i].type),
                                    .index = test_type(REDUCT_U32),
                                    .spread = gpu.quick ? (enum spread)(i % SPREADS) : (enum spread)spread,
                                    .elements = way[i].elements,
                                    .results = way[i].results};
            test.groups = (reduct_groups){.count = way[i].results,
                                          .elements = way[i].elements,
                                          .index = REDUCT_U32,
                                          .width = 1,
                                          .with_initial = way[i].initial};
            test.reduction[0] = test_reduction(way[i].op, way[i].type, REDUCT_DEFAULT);
            test.reductions = 1;
            fill_values(&test);
            fill_mask(&test);
            fill_indices(&test, false);
            struct came expected = run_on(&test, "cpu", true);
            struct queue queue = make_queue(&test);
            spoil(&test, &queue, 0xa5);
            const size_t launches = count_launches(&test, &queue);
            if (way[i].launches == 1 || way[i].results <= 101)
                assert_int_equal(launches, way[i].launches);
            else /* perhaps of elements that are moved */
                assert_true(launches >= (size_t)way[i].launches);
            execute(&test, &queue, &in_stream, NULL);
            struct came got = collect(&test, &queue, true);
            compare(&test, i, "ways", &got, &expected, expected.status == REDUCT_OK);
            clear_came(&got);
            clear_came(&expected);
            clear_queue(&queue);
            clear(&test);
        }
}

/* Several sums of a plan, some of which are finished from the same planes, with others between them. */
static void shared(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM,   REDUCT_MEAN, REDUCT_VAR, REDUCT_STD,   REDUCT_SUM,
                                          REDUCT_SUMSQ, REDUCT_RMS,  REDUCT_MIN, REDUCT_NORM1, REDUCT_MEAN};
    const uint64_t count = gpu.quick ? test_scaled(120, 40) : test_scaled(600, 100);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t seed = test_seed() * 1000033 + i;
        struct grouping test;
        make(&test, seed);
        test.reductions = 2 + rng_below(&test.rng, REDUCTIONS_MOST - 1);
        test.groups.with_initial = rng_below(&test.rng, 3) == 0;
        const reduct_nan usual = (reduct_nan)rng_below(&test.rng, 3);
        for (size_t r = 0; r < test.reductions; r++) {
            do
                test.reduction[r] = pick_reduction(&test.rng, test.type,
                                                   test_operator(ops[rng_below(&test.rng, sizeof ops / sizeof *ops)]));
            while (!is_served(test.reduction[r].op, test.type->type));
            if (rng_below(&test.rng, 3))
                test.reduction[r].nan = usual;
        }
        check_made(&test, seed);
        clear(&test);
    }
}

/* Sums of long rows, which are gathered by group: of any length, aligned or not, with NaNs among them, and masks. */
static void rows(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_MEAN, REDUCT_VAR, REDUCT_SUMSQ, REDUCT_DOT, REDUCT_NORM1};
    const uint64_t count = gpu.quick ? test_scaled(150, 50) : test_scaled(500, 150);
    rd_cuda_groups_gather_least = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct grouping test = {.rng = rng_of(test_seed() * 1000039 + i), .index = test_type(REDUCT_U32)};
        struct rng *rng = &test.rng;
        do
            test.type = &test_types[rng_below(rng, test_type_count)];
        while (!test.type->element);
        test.spread = (enum spread)rng_below(rng, SPREADS);
        test.shift = (unsigned)rng_below(rng, 3) / 2;
        const bool many = rng_below(rng, 4) == 0; /* more than blocks have slots for that rank rows */
        test.groups =
            (reduct_groups){.count = 1 + rng_below(rng, many                ? 9000
                                                        : rng_below(rng, 2) ? 5
                                                                            : 300),
                            .width = 64 / test.type->size + rng_below(rng, many || rng_below(rng, 2) ? 8 : 400),
                            .index = REDUCT_U32,
                            .skip = rng_below(rng, 2)};
        test.groups.elements = rng_below(rng, 30000 / test.groups.width);
        test.elements = test.groups.elements * test.groups.width;
        test.results = test.groups.count * test.groups.width;
        test.reductions = 1 + rng_below(rng, 2);
        for (size_t r = 0; r < test.reductions; r++)
            do
                test.reduction[r] =
                    pick_reduction(rng, test.type, test_operator(ops[rng_below(rng, sizeof ops / sizeof *ops)]));
            while (!is_served(test.reduction[r].op, test.type->type));
        fill_values(&test);
        for (uint64_t nan = rng_below(rng, 2) ? rng_below(rng, 40) : 0; test.elements && nan-- > 0;)
            memset(test.x + (test.shift + rng_below(rng, test.elements)) * test.type->size, 0xff, test.type->size);
        fill_mask(&test);
        fill_indices(&test, rng_below(rng, 3) == 0);
        check_beside_cpu(&test, test_seed() * 1000039 + i, "rows", true);
        clear(&test);
    }
    rd_cuda_groups_gather_least = RD_CUDA_GROUPS_ROWS_BYTES;
}

/* How many launches a plan of several takes: two for what they share, one that adds for elements, another for squares, and one for each that
 * rounds. */
static void shared_launches(void **state) {
    (void)state;
    static const struct {
        reduct_operator op[4];
        reduct_nan nan[4];
        size_t launches;
    } way[] = {
        {{REDUCT_SUM, REDUCT_MEAN, REDUCT_VAR, REDUCT_STD}, {REDUCT_NAN_PROPAGATE}, 1 + 2 + 4},
        {{REDUCT_VAR, REDUCT_SUMSQ, REDUCT_SUM, REDUCT_RMS}, {REDUCT_NAN_PROPAGATE}, 1 + 2 + 2 + 1 + 1 + 2},
        {{REDUCT_SUM, REDUCT_SUM, REDUCT_SUM, REDUCT_MEAN},
         {REDUCT_NAN_IGNORE, REDUCT_NAN_ERROR, REDUCT_NAN_PROPAGATE, REDUCT_NAN_IGNORE},
         2 * (1 + 1 + 2)},
    };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        struct grouping test = {.rng = rng_of(test_seed() + 17 * i),
                                .type = test_type(REDUCT_F32),
                                .index = test_type(REDUCT_U32),
                                .elements = 3000,
                                .results = 77,
                                .reductions = 4};
        test.groups = (reduct_groups){.count = 77, .elements = 3000, .index = REDUCT_U32, .width = 1};
        for (size_t r = 0; r < 4; r++) {
            test.reduction[r] = test_reduction(way[i].op[r], REDUCT_F32, REDUCT_DEFAULT);
            test.reduction[r].nan = way[i].nan[r];
        }
        fill_values(&test);
        fill_mask(&test);
        fill_indices(&test, false);
        struct queue queue = make_queue(&test);
        assert_int_equal(count_launches(&test, &queue), way[i].launches);
        clear_queue(&queue);
        clear(&test);
    }
}

static void cases(void **state) {
    (void)state;
    const char *only = getenv("REDUCT_TEST_CASE");
    if (only) {
        check_case(strtoull(only, NULL, 0));
        return;
    }
    const uint64_t count = gpu.quick ? test_scaled(60, 20) : test_scaled(2000, 100);
    for (uint64_t i = 0; i < count; i++)
        check_case(test_seed() * 1000003 + i);
}

int test_cuda_groups(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each),
                                       cmocka_unit_test(ways),
                                       cmocka_unit_test(cases),
                                       cmocka_unit_test(shared),
                                       cmocka_unit_test(shared_launches),
                                       cmocka_unit_test(rows),
                                       cmocka_unit_test(queued),
                                       cmocka_unit_test(tables),
                                       cmocka_unit_test(buckets),
                                       cmocka_unit_test(turns),
                                       cmocka_unit_test(ties),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(beside_others),
                                       cmocka_unit_test(hundred_million),
                                       cmocka_unit_test(every_exponent)};
    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
