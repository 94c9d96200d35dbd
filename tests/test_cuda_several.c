/* Several reductions of one array in one plan on a CUDA device, or of its rows or columns, most of which share one pass over it:
 * every result against the CPU's of that reduction alone, to the last bit, and every outcome; with data here and there, in
 * streams and in graphs.
 *
 * From the survival list: "several results from one pass". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_support.h"

enum { REDUCTIONS_MOST = 20, ROOM = 32, SHIFT_MOST = 40 };

struct several {
    struct rng rng;
    const struct test_type *type;
    reduct_reduction reduction[REDUCTIONS_MOST];
    size_t reductions;
    const char *values;
    uint64_t count;
    unsigned shift; /* elements before the first one: not always aligned */
    unsigned char *memory;
    uint64_t seed;
};

/* What came, or is expected. */
struct came {
    unsigned char results[REDUCTIONS_MOST][ROOM];
    reduct_outcome outcomes[REDUCTIONS_MOST];
};

static const void *elements_of(const struct several *test) {
    return test->memory + test->shift * test->type->size;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What to ask for
 * ------------------------------------------------------------------------------------------------------------------ */

/* Fast sums would be exact in such a plan, and not alone. */
static reduct_reduction pick_reduction(struct rng *rng, reduct_type element, bool often_shared) {
    static const reduct_operator shared[] = {REDUCT_SUM,    REDUCT_MEAN,  REDUCT_VAR, REDUCT_STD,   REDUCT_SUMSQ,
                                             REDUCT_NORM2,  REDUCT_RMS,   REDUCT_MIN, REDUCT_MAX,   REDUCT_ARGMIN,
                                             REDUCT_ARGMAX, REDUCT_COUNT, REDUCT_PTP, REDUCT_MINMAX};
    reduct_operator op;
    do
        op = often_shared ? shared[rng_below(rng, sizeof shared / sizeof *shared)]
                          : test_operators[rng_below(rng, test_operator_count)].op;
    while (!oracle_has(op, element) || test_operator(op)->inputs == 2);
    return (reduct_reduction){.op = op,
                              .element = element,
                              .result = test_pick_result(rng, op, element),
                              .nan = (reduct_nan)rng_below(rng, 3),
                              .flags = (rng_below(rng, 2) ? REDUCT_POPULATION : 0) | REDUCT_WRAP};
}

/* NaNs and infinities where tiles, vectors and the array begin and end, and anywhere. */
static void put_specials(struct several *test) {
    struct rng *rng = &test->rng;
    unsigned char *x = test->memory + test->shift * test->type->size;
    for (uint64_t left = rng_below(rng, 4); left && test->count; left--) {
        const uint64_t near = rng_below(rng, 2) ? test->count - 1 - rng_below(rng, 1 + test->count / 3 % 40)
                                                : rng_below(rng, 1 + test->count % 40),
                       at = (rng_below(rng, 2) ? near : rng_next(rng)) % test->count;
        const uint64_t sign = rng_below(rng, 2) << (8 * test->type->size - 1);
        values_put_bits(test->type, x, at,
                        rng_below(rng, 2) ? values_nan(rng, test->type) : values_infinity(test->type) | sign);
    }
}

static void fill(struct several *test) {
    const struct distribution *distribution;
    const size_t room = (size_t)test->count + SHIFT_MOST;
    do
        distribution = &distributions[rng_below(&test->rng, distribution_count)];
    while (!distribution_suits(distribution, test->type));
    test->values = distribution->name;
    test->memory = test_alloc(room * test->type->size);
    distribution->fill(&test->rng, test->type, test->memory, NULL, room);
    if (test->type->class == FLOAT && rng_below(&test->rng, 2))
        put_specials(test);
}

/* Of a few elements up to several tiles of many blocks. */
static uint64_t pick_count(struct rng *rng) {
    const uint64_t tile = 4096 << rng_below(rng, 2), near = tile * rng_below(rng, 6) + rng_below(rng, 9);
    switch (rng_below(rng, 4)) {
    case 0:
        return rng_below(rng, 70);
    case 1:
        return near < 4 ? 0 : near - 4;
    default:
        return rng_below(rng, gpu.small ? 60000 : 3000000);
    }
}

static struct several make(uint64_t seed) {
    struct several test = {.rng = rng_of(seed), .seed = seed};
    struct rng *rng = &test.rng;
    do
        test.type = &test_types[rng_below(rng, test_type_count)];
    while (!test.type->element);
    const bool often_shared = rng_below(rng, 4) != 0;
    test.reductions = rng_below(rng, 8) ? 2 + rng_below(rng, 6) : REDUCTIONS_MOST;
    for (size_t i = 0; i < test.reductions; i++)
        test.reduction[i] = pick_reduction(rng, test.type->type, often_shared);
    test.count = pick_count(rng);
    test.shift = (unsigned)(rng_below(rng, 2) * rng_below(rng, SHIFT_MOST));
    fill(&test);
    return test;
}

static reduct_plan *plan_for(const struct several *test) {
    const reduct_plan_options options = {.reductions = test->reduction,
                                         .reduction_count = test->reductions,
                                         .shape = {.n = test->count},
                                         .device = gpu.name};
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    return plan;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Comparing
 * ------------------------------------------------------------------------------------------------------------------ */

/* What each reduction alone gives on the CPU; where it fails, the result is NaN, or 0 of an integer type. */
static struct came expect(const struct several *test) {
    struct came came;
    memset(&came, ORACLE_UNTOUCHED, sizeof came);
    for (size_t i = 0; i < test->reductions; i++) {
        const struct test_outcome alone = test_run(&test->reduction[i], "cpu", 1, elements_of(test), NULL, test->count);
        const reduct_operator op = test->reduction[i].op;
        const reduct_reduction own = test_reduction(op, test->type->type, test->reduction[i].result);
        const struct test_type *type = test_type(own.result);
        const size_t values = (size_t)reduct_operator_outputs(op);
        came.outcomes[i] = (reduct_outcome){(uint32_t)alone.status, 0,
                                            alone.status == REDUCT_ERROR_NAN ? alone.error.index : UINT64_MAX};
        if (alone.status == REDUCT_OK)
            memcpy(came.results[i], alone.bytes, values * type->size);
        else
            memset(came.results[i], 0, values * type->size);
        for (size_t v = 0; alone.status != REDUCT_OK && type->class == FLOAT && v < values; v++)
            values_put_bits(type, came.results[i], v, values_infinity(type) | (uint64_t)1 << (type->precision - 2));
    }
    return came;
}

static void compare(const struct several *test, const char *how, const struct came *got, const struct came *expected) {
    for (size_t i = 0; i < test->reductions; i++) {
        const reduct_outcome *a = &got->outcomes[i], *b = &expected->outcomes[i];
        unsigned long long x[2], y[2];
        memcpy(x, got->results[i], sizeof x);
        memcpy(y, expected->results[i], sizeof y);
        if (memcmp(got->results[i], expected->results[i], ROOM) != 0 || a->status != b->status || a->index != b->index)
            test_fail("case %llu, %s, %s (number %zu of %zu, nan policy %d) of %llu %s %s, shift %u: status %u, index "
                      "%llu, %llx %llx; expected status %u, index %llu, %llx %llx",
                      (unsigned long long)test->seed, how, test_operator(test->reduction[i].op)->name, i,
                      test->reductions, (int)test->reduction[i].nan, (unsigned long long)test->count, test->values,
                      test->type->name, test->shift, a->status, (unsigned long long)a->index, x[1], x[0], b->status,
                      (unsigned long long)b->index, y[1], y[0]);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------------------------------------------------ */

/* Calls that wait: with outcomes each result stands for itself, without them the first failure is the call's. */
static void check_calls(struct several test) {
    const struct came expected = expect(&test);
    struct came got;
    void *results[REDUCTIONS_MOST];
    reduct_outcome *outcomes[REDUCTIONS_MOST];
    reduct_plan *plan = plan_for(&test);
    const bool there = rng_below(&test.rng, 2);
    const rd_cu_address copy =
        there ? gpu_copy_of(test.memory, ((size_t)test.count + SHIFT_MOST) * test.type->size) : 0;
    const void *x = there ? gpu_pointer(copy, test.shift * test.type->size) : elements_of(&test);
    memset(&got, ORACLE_UNTOUCHED, sizeof got);
    reduct_status first = REDUCT_OK;
    for (size_t i = test.reductions; i-- > 0;) {
        results[i] = got.results[i];
        outcomes[i] = &got.outcomes[i];
        first = expected.outcomes[i].status ? (reduct_status)expected.outcomes[i].status : first;
    }
    test_status(reduct_plan_execute_each(plan, &x, results, outcomes, NULL, NULL), REDUCT_OK);
    compare(&test, "with outcomes", &got, &expected);
    memset(got.results, ORACLE_UNTOUCHED, sizeof got.results);
    test_status(reduct_plan_execute(plan, &x, results, NULL, NULL), first);
    if (first == REDUCT_OK)
        compare(&test, "without outcomes", &got, &expected);
    for (size_t i = 0; first != REDUCT_OK && i < sizeof got.results; i++)
        assert_int_equal((&got.results[0][0])[i], ORACLE_UNTOUCHED);
    reduct_plan_destroy(plan);
    if (there)
        gpu_free(copy);
    free(test.memory);
}

/* Where executions in a stream find everything. */
struct queue {
    reduct_plan *plan;
    rd_cu_address x, results, outcomes, workspace;
    size_t workspace_bytes;
};

/* The failure that calls without outcomes have. */
static reduct_status failure_of(const struct several *test, const struct came *expected, uint64_t *index) {
    reduct_status first = REDUCT_OK;
    *index = UINT64_MAX;
    for (size_t i = 0; !first && i < test->reductions; i++) {
        first = (reduct_status)expected->outcomes[i].status;
        *index = expected->outcomes[i].index;
    }
    return first;
}

/* The same execution, waited for. */
static void check_waited(const struct several *test, const struct queue *queue, const struct came *expected,
                         bool own_workspace) {
    const void *x = gpu_pointer(queue->x, test->shift * test->type->size);
    void *results[REDUCTIONS_MOST];
    reduct_error error = {.index = UINT64_MAX};
    uint64_t index;
    for (size_t i = 0; i < test->reductions; i++)
        results[i] = gpu_pointer(queue->results, i * ROOM);
    gpu_fill(queue->results, ORACLE_UNTOUCHED, sizeof expected->results);
    const reduct_status status = reduct_cuda_execute_checked(
        queue->plan, &x, results, own_workspace ? NULL : gpu_pointer(queue->workspace, 0), gpu.stream, &error);
    test_status(status, failure_of(test, expected, &index));
    assert_true(error.index == index);
    struct came got;
    gpu_download(got.results, queue->results, sizeof got.results);
    memcpy(got.outcomes, expected->outcomes, sizeof got.outcomes);
    compare(test, "waited for", &got, expected);
}

static void execute(const struct several *test, const struct queue *queue, bool own_workspace) {
    const void *x = gpu_pointer(queue->x, test->shift * test->type->size);
    void *results[REDUCTIONS_MOST];
    for (size_t i = 0; i < test->reductions; i++)
        results[i] = gpu_pointer(queue->results, i * ROOM);
    test_status(reduct_cuda_execute(queue->plan, &x, results, gpu_pointer(queue->outcomes, 0),
                                    own_workspace ? NULL : gpu_pointer(queue->workspace, 0), gpu.stream, NULL),
                REDUCT_OK);
}

static struct came collect(const struct several *test, const struct queue *queue) {
    struct came came;
    (void)test;
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    gpu_download(came.results, queue->results, sizeof came.results);
    gpu_download(came.outcomes, queue->outcomes, sizeof came.outcomes);
    return came;
}

/* In a stream, with a workspace that holds anything and with the plan's own; and in a graph that is launched again. */
static void check_queued(uint64_t seed) {
    enum { CAPTURE_GLOBAL = 0, LAUNCHES = 5 };
    struct several test = make(seed);
    const struct came expected = expect(&test);
    struct queue queue = {.plan = plan_for(&test)};
    queue.x = gpu_copy_of(test.memory, ((size_t)test.count + SHIFT_MOST) * test.type->size);
    queue.results = gpu_alloc(sizeof expected.results);
    queue.outcomes = gpu_alloc(sizeof expected.outcomes);
    queue.workspace_bytes = reduct_cuda_workspace_size(queue.plan);
    queue.workspace = gpu_alloc(queue.workspace_bytes + 1);
    rd_cu_graph graph = NULL;
    rd_cu_graph_exec exec = NULL;
    CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
    execute(&test, &queue, true);
    CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
    CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned launch = 0; launch < LAUNCHES; launch++) {
        gpu_fill(queue.workspace, (unsigned char)(launch * 0x55), queue.workspace_bytes);
        gpu_fill(queue.results, ORACLE_UNTOUCHED, sizeof expected.results);
        gpu_fill(queue.outcomes, ORACLE_UNTOUCHED, sizeof expected.outcomes);
        if (launch < 2)
            CU(gpu.cuGraphLaunch(exec, gpu.stream));
        else
            execute(&test, &queue, launch != 2);
        const struct came got = collect(&test, &queue);
        compare(&test, launch < 2 ? "in a graph" : "in a stream", &got, &expected);
        check_waited(&test, &queue, &expected, launch % 2 != 0);
    }
    CU(gpu.cuGraphExecDestroy(exec));
    CU(gpu.cuGraphDestroy(graph));
    gpu_free(queue.x);
    gpu_free(queue.results);
    gpu_free(queue.outcomes);
    gpu_free(queue.workspace);
    reduct_plan_destroy(queue.plan);
    free(test.memory);
}

static void check_case(uint64_t seed) {
    check_calls(make(seed));
}

/* Numbers of either sign, each a little larger than the one before as far as the type has so many: tile after tile has better extremes,
 * by little. */
static void growing(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_MIN, REDUCT_ARGMAX, REDUCT_MAX, REDUCT_ARGMIN, REDUCT_VAR};
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    for (size_t e = 0; e < element_count; e++) {
        const struct test_type *type = elements[e];
        struct several test = {.rng = rng_of(test_seed()),
                               .type = type,
                               .reductions = sizeof ops / sizeof *ops,
                               .values = "growing",
                               .count = gpu.small ? 12 << 13 : 3 << 20}; /* whole tiles: others are always looked at */
        const int bits = type->class == FLOAT ? type->precision - 2 : type->precision;
        const uint64_t most = ((uint64_t)1 << (bits < 40 ? bits : 40)) - 1, every = test.count / most + 1;
        for (size_t i = 0; i < test.reductions; i++)
            test.reduction[i] = test_reduction(ops[i], type->type, REDUCT_DEFAULT);
        test.memory = test_alloc(((size_t)test.count + SHIFT_MOST) * type->size);
        for (uint64_t i = 0; i < test.count + SHIFT_MOST; i++) {
            const uint64_t step = i / every < most ? i / every : most, sign = (uint64_t)1 << (8 * type->size - 1);
            if (type->class == FLOAT) /* from 1.5 up */
                values_put_bits(type, test.memory, i, (values_infinity(type) / 2 + step) | (i % 2 ? sign : 0));
            else
                values_put_bits(type, test.memory, i, type->class == SIGNED && i % 2 ? 0 - step : step);
        }
        check_calls(test);
    }
}

static void cases(void **state) {
    (void)state;
    const uint64_t count = gpu.quick ? test_scaled(60, 20) : test_scaled(1500, 100);
    const char *only = getenv("REDUCT_TEST_CASE");
    if (only)
        check_case(strtoull(only, NULL, 0));
    for (uint64_t i = 0; i < count && !only; i++)
        check_case(test_seed() * 1000003 + i);
}

static void queued(void **state) {
    (void)state;
    const uint64_t count = gpu.quick ? test_scaled(20, 8) : test_scaled(300, 30);
    for (uint64_t i = 0; i < count; i++)
        check_queued(test_seed() * 1000033 + i);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows and columns
 * ------------------------------------------------------------------------------------------------------------------ */

/* A matrix, of which rows or columns are reduced, to results that may lie apart. */
struct matrix {
    struct several several;
    uint64_t length[2];
    int64_t stride[2], result_stride[2];
    uint64_t axes, results;
    size_t room; /* bytes from one reduction's results to the next one's */
};

static struct matrix make_matrix(uint64_t seed) {
    static const uint64_t LENGTHS[] = {2, 3, 4, 8, 16, 31, 32, 64, 100, 128, 256, 500, 512, 1024, 4096, 8192, 16384};
    struct matrix matrix = {.several = {.rng = rng_of(seed), .seed = seed}};
    struct several *test = &matrix.several;
    struct rng *rng = &test->rng;
    do
        test->type = &test_types[rng_below(rng, test_type_count)];
    while (!test->type->element || (test->type->class != FLOAT && rng_below(rng, 6)));
    const bool often_shared = rng_below(rng, 4) != 0;
    test->reductions = rng_below(rng, 8) ? 2 + rng_below(rng, 6) : REDUCTIONS_MOST;
    for (size_t i = 0; i < test->reductions; i++)
        test->reduction[i] = pick_reduction(rng, test->type->type, often_shared);
    const unsigned reduced = rng_below(rng, 3) != 0; /* rows, more often than columns */
    const uint64_t most = gpu.small ? 40000 : 1000000,
                   length = LENGTHS[rng_below(rng, sizeof LENGTHS / sizeof *LENGTHS)];
    matrix.length[reduced] = length;
    matrix.length[!reduced] = 1 + rng_below(rng, most / length);
    matrix.results = matrix.length[!reduced];
    matrix.axes = (uint64_t)1 << reduced;
    matrix.stride[1] = 1;
    matrix.stride[0] = (int64_t)(matrix.length[1] + rng_below(rng, 4) / 3 * 16 / test->type->size);
    matrix.result_stride[!reduced] = rng_below(rng, 3) ? 1 : 2;
    matrix.room = (size_t)(matrix.results * (uint64_t)matrix.result_stride[!reduced] * ROOM);
    test->count = matrix.length[0] * (uint64_t)matrix.stride[0];
    test->shift = (unsigned)(rng_below(rng, 2) * rng_below(rng, SHIFT_MOST));
    fill(test);
    return matrix;
}

/* Some of its reductions. */
static reduct_plan *matrix_plan(const struct matrix *matrix, size_t first, size_t count, const char *device) {
    const reduct_array array = {.rank = 2,
                                .lengths = matrix->length,
                                .strides = {matrix->stride, matrix->stride},
                                .axes = matrix->axes,
                                .result_strides = matrix->result_stride};
    const reduct_plan_options options = {.reductions = matrix->several.reduction + first,
                                         .reduction_count = count,
                                         .kind = REDUCT_ARRAY,
                                         .array = &array,
                                         .device = device};
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    return plan;
}

/* Results and outcomes of all reductions, one after another. */
struct matrix_came {
    unsigned char *results;
    reduct_outcome *outcomes;
};

static struct matrix_came matrix_room(const struct matrix *matrix) {
    const size_t bytes = REDUCTIONS_MOST * matrix->room,
                 outcomes = (size_t)(REDUCTIONS_MOST * matrix->results) * sizeof(reduct_outcome);
    struct matrix_came came = {test_alloc(bytes), test_alloc(outcomes)};
    memset(came.results, ORACLE_UNTOUCHED, bytes);
    memset(came.outcomes, 0, outcomes);
    return came;
}

static void matrix_free(struct matrix_came *came) {
    free(came->results);
    free(came->outcomes);
}

static struct matrix_came expect_matrix(const struct matrix *matrix) {
    const struct matrix_came came = matrix_room(matrix);
    const void *x = elements_of(&matrix->several);
    for (size_t i = 0; i < matrix->several.reductions; i++) {
        reduct_plan *plan = matrix_plan(matrix, i, 1, "cpu");
        void *result = came.results + i * matrix->room;
        reduct_outcome *outcome = came.outcomes + i * matrix->results;
        test_status(reduct_plan_execute_each(plan, &x, &result, &outcome, NULL, NULL), REDUCT_OK);
        reduct_plan_destroy(plan);
    }
    return came;
}

static void compare_matrix(const struct matrix *matrix, const char *how, const struct matrix_came *got,
                           const struct matrix_came *expected, bool outcomes) {
    for (size_t i = 0; i < matrix->several.reductions; i++) {
        size_t wrong = 0;
        for (size_t b = matrix->room; b-- > 0;)
            if (got->results[i * matrix->room + b] != expected->results[i * matrix->room + b])
                wrong = b + 1;
        const bool told =
            !outcomes || !memcmp(got->outcomes + i * matrix->results, expected->outcomes + i * matrix->results,
                                 (size_t)matrix->results * sizeof *got->outcomes);
        if (wrong || !told)
            test_fail(
                "case %llu, %s, %s (number %zu of %zu, nan policy %d) of %llu by %llu, axis %llu, %s %s: %s, byte %zu",
                (unsigned long long)matrix->several.seed, how, test_operator(matrix->several.reduction[i].op)->name, i,
                matrix->several.reductions, (int)matrix->several.reduction[i].nan,
                (unsigned long long)matrix->length[0], (unsigned long long)matrix->length[1],
                (unsigned long long)matrix->axes / 2, matrix->several.values, matrix->several.type->name,
                wrong ? "a wrong result" : "a wrong outcome", wrong);
    }
}

/* The first failure, of the first result that has one. */
static reduct_status first_failure(const struct matrix *matrix, const struct matrix_came *expected) {
    for (uint64_t r = 0; r < matrix->results; r++)
        for (size_t i = 0; i < matrix->several.reductions; i++)
            if (expected->outcomes[i * matrix->results + r].status)
                return (reduct_status)expected->outcomes[i * matrix->results + r].status;
    return REDUCT_OK;
}

/* Calls that wait, with results in either memory. */
static void check_matrix_calls(struct matrix *matrix, reduct_plan *plan, const struct matrix_came *expected) {
    struct several *test = &matrix->several;
    struct matrix_came got = matrix_room(matrix);
    const size_t bytes = REDUCTIONS_MOST * matrix->room;
    const rd_cu_address x_there = gpu_copy_of(test->memory, ((size_t)test->count + SHIFT_MOST) * test->type->size),
                        there = gpu_alloc(bytes);
    const void *x = rng_below(&test->rng, 2) ? elements_of(test) : gpu_pointer(x_there, test->shift * test->type->size);
    const uint64_t which = rng_below(&test->rng, 2) ? rng_next(&test->rng) : UINT64_MAX;
    for (int each = 1; each >= 0; each--) {
        void *results[REDUCTIONS_MOST];
        reduct_outcome *outcomes[REDUCTIONS_MOST];
        memset(got.results, ORACLE_UNTOUCHED, bytes);
        gpu_fill(there, ORACLE_UNTOUCHED, bytes);
        for (size_t i = 0; i < test->reductions; i++) {
            results[i] = which >> i & 1 ? gpu_pointer(there, i * matrix->room) : got.results + i * matrix->room;
            outcomes[i] = got.outcomes + i * matrix->results;
        }
        const reduct_status status = each ? reduct_plan_execute_each(plan, &x, results, outcomes, NULL, NULL)
                                          : reduct_plan_execute(plan, &x, results, NULL, NULL),
                            wanted = each ? REDUCT_OK : first_failure(matrix, expected);
        test_status(status, wanted);
        for (size_t i = 0; i < test->reductions; i++)
            if (which >> i & 1)
                gpu_download(got.results + i * matrix->room, there + i * matrix->room, matrix->room);
        if (wanted == REDUCT_OK)
            compare_matrix(matrix, each ? "with outcomes" : "without outcomes", &got, expected, each);
        for (size_t b = 0; wanted != REDUCT_OK && b < bytes; b++)
            assert_int_equal(got.results[b], ORACLE_UNTOUCHED);
    }
    gpu_free(x_there);
    gpu_free(there);
    matrix_free(&got);
}

/* Whether all of them share one launch. */
static bool is_one_launch(const struct several *test) {
    bool all = test->type->class == FLOAT && test->reductions < REDUCTIONS_MOST;
    for (size_t i = 0; i < test->reductions; i++)
        switch ((int)test->reduction[i].op) {
        case REDUCT_SUM:
        case REDUCT_MEAN:
        case REDUCT_SUMSQ:
        case REDUCT_NORM2:
        case REDUCT_RMS:
        case REDUCT_VAR:
        case REDUCT_STD:
        case REDUCT_COUNT:
        case REDUCT_MIN:
        case REDUCT_MAX:
        case REDUCT_MINMAX:
        case REDUCT_PTP:
            break;
        case REDUCT_ARGMIN:
        case REDUCT_ARGMAX: /* of which pieces do not meet where elements are long */
            all = all && test->type->size < 8;
            break;
        default:
            all = false;
        }
    return all;
}

/* In a graph, and in a stream with a workspace that holds anything. */
static void check_matrix_queued(struct matrix *matrix, reduct_plan *plan, const struct matrix_came *expected) {
    enum { CAPTURE_GLOBAL = 0 };
    const struct several *test = &matrix->several;
    struct matrix_came got = matrix_room(matrix);
    const size_t bytes = REDUCTIONS_MOST * matrix->room,
                 outcomes = (size_t)(REDUCTIONS_MOST * matrix->results) * sizeof *got.outcomes,
                 workspace_bytes = reduct_cuda_workspace_size(plan);
    const rd_cu_address there = gpu_copy_of(test->memory, ((size_t)test->count + SHIFT_MOST) * test->type->size),
                        to = gpu_alloc(bytes), told = gpu_alloc(outcomes), workspace = gpu_alloc(workspace_bytes + 1);
    const void *x = gpu_pointer(there, test->shift * test->type->size);
    void *results[REDUCTIONS_MOST];
    rd_cu_graph graph = NULL;
    rd_cu_graph_exec exec = NULL;
    size_t nodes = 0;
    for (size_t i = 0; i < test->reductions; i++)
        results[i] = gpu_pointer(to, i * matrix->room);
    CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
    test_status(reduct_cuda_execute(plan, &x, results, gpu_pointer(told, 0), NULL, gpu.stream, NULL), REDUCT_OK);
    CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
    CU(gpu.cuGraphGetNodes(graph, NULL, &nodes));
    if (is_one_launch(test) && matrix->results > 1)
        assert_int_equal(nodes, 1);
    CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned launch = 0; launch < 4; launch++) {
        gpu_fill(to, ORACLE_UNTOUCHED, bytes);
        gpu_fill(told, ORACLE_UNTOUCHED, outcomes);
        gpu_fill(workspace, (unsigned char)(launch * 0x55), workspace_bytes);
        if (launch < 2)
            CU(gpu.cuGraphLaunch(exec, gpu.stream));
        else
            test_status(reduct_cuda_execute(plan, &x, results, gpu_pointer(told, 0), gpu_pointer(workspace, 0),
                                            gpu.stream, NULL),
                        REDUCT_OK);
        CU(gpu.driver->cuStreamSynchronize(gpu.stream));
        gpu_download(got.results, to, bytes);
        gpu_download(got.outcomes, told, outcomes);
        compare_matrix(matrix, launch < 2 ? "in a graph" : "in a stream", &got, expected, true);
        gpu_fill(to, ORACLE_UNTOUCHED, bytes);
        test_status(reduct_cuda_execute_checked(plan, &x, results, launch % 2 ? NULL : gpu_pointer(workspace, 0),
                                                gpu.stream, NULL),
                    first_failure(matrix, expected));
        gpu_download(got.results, to, bytes);
        compare_matrix(matrix, "waited for", &got, expected, false);
    }
    CU(gpu.cuGraphExecDestroy(exec));
    CU(gpu.cuGraphDestroy(graph));
    gpu_free(there);
    gpu_free(to);
    gpu_free(told);
    gpu_free(workspace);
    matrix_free(&got);
}

static void matrices(void **state) {
    (void)state;
    const uint64_t count = gpu.quick ? test_scaled(10, 4) : test_scaled(600, 60);
    for (uint64_t i = 0; i < count; i++) {
        struct matrix matrix = make_matrix(test_seed() * 1000037 + i);
        struct matrix_came expected = expect_matrix(&matrix);
        reduct_plan *plan = matrix_plan(&matrix, 0, matrix.several.reductions, gpu.name);
        check_matrix_calls(&matrix, plan, &expected);
        check_matrix_queued(&matrix, plan, &expected);
        reduct_plan_destroy(plan);
        matrix_free(&expected);
        free(matrix.several.memory);
    }
}

int test_cuda_several(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases), cmocka_unit_test(queued), cmocka_unit_test(growing),
                                       cmocka_unit_test(matrices)};
    return cmocka_run_group_tests_name("several", tests, NULL, NULL);
}
