/* Reductions over GPUs through reduct/nccl.h, on the emulated GPU and an emulated NCCL (nccl.c), which lets any number of ranks
 * share the one device: bits, statuses and indices of one CPU that has all of the data.
 *
 * From the survival list: "Same bits: every permutation and partition of the data, merged in any order".
 */
#include <reduct/nccl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_support.h"
#include "drivers/nccl.h"

enum { RANKS = 8, FIELDS = 24, MOST = 6000, RESULTS = 64, PLACE = 128 };

static const rd_nccl *nccl;

/* One array over some ranks, and the fields of a call. */
struct job {
    const struct test_type *type;
    size_t count, cut[RANKS + 1];
    int ranks;
    void *x, *y;                    /* on the host */
    rd_cu_address there_x, there_y; /* on the device */
    size_t fields;
    reduct_reduction reduction[FIELDS];
    reduct_plan *plan[FIELDS];
    struct ncclComm *comm[RANKS];
    rd_cu_address workspace[RANKS];
    unsigned char *seen[RANKS]; /* page-locked: results and outcomes of a rank, PLACE bytes for each field */
};

static reduct_nccl_field field_of(const struct job *job, int rank, size_t i) {
    const size_t first = job->cut[rank] * job->type->size;
    unsigned char *seen = job->seen[rank] + i * PLACE;
    return (reduct_nccl_field){.plan = job->plan[i],
                               .x = gpu_pointer(job->there_x, first),
                               .y = gpu_pointer(job->there_y, first),
                               .count = job->cut[rank + 1] - job->cut[rank],
                               .result = seen,
                               .outcome = (void *)(seen + RESULTS)};
}

static void open_job(struct job *job) {
    static const int devices[RANKS] = {0};
    const size_t bytes = (job->count ? job->count : 1) * job->type->size;
    size_t workspace = 0;
    reduct_nccl_field fields[FIELDS];
    assert_int_equal(nccl->ncclCommInitAll(job->comm, job->ranks, devices), 0);
    job->there_x = gpu_copy_of(job->x, bytes);
    job->there_y = gpu_copy_of(job->y, bytes);
    for (size_t i = 0; i < job->fields; i++) {
        job->plan[i] = gpu_plan(&job->reduction[i], 2);
        fields[i] = (reduct_nccl_field){.plan = job->plan[i]};
    }
    test_status(reduct_nccl_prepare(fields, job->fields, job->comm[0], &workspace, NULL), REDUCT_OK);
    for (int r = 0; r < job->ranks; r++) {
        void *seen = NULL;
        job->workspace[r] = gpu_alloc(workspace);
        CU(gpu.driver->cuMemHostAlloc(&seen, FIELDS * PLACE, 0));
        memset(seen, ORACLE_UNTOUCHED, FIELDS * PLACE);
        job->seen[r] = seen;
    }
}

static void close_job(struct job *job) {
    for (int r = 0; r < job->ranks; r++) {
        gpu_free(job->workspace[r]);
        CU(gpu.driver->cuMemFreeHost(job->seen[r]));
        assert_int_equal(nccl->ncclCommDestroy(job->comm[r]), 0);
    }
    for (size_t i = 0; i < job->fields; i++)
        reduct_plan_destroy(job->plan[i]);
    gpu_free(job->there_x);
    gpu_free(job->there_y);
}

/* What a rank got, against what one CPU says; without `results` it must have none. */
static void check_rank(const struct job *job, int rank, bool results) {
    for (size_t i = 0; i < job->fields; i++) {
        const unsigned char *seen = job->seen[rank] + i * PLACE;
        const reduct_cuda_outcome *outcome = (const void *)(seen + RESULTS);
        struct oracle_result expected = gpu_expected(&job->reduction[i], job->x, job->y, job->count);
        struct test_outcome got = test_outcome();
        got.status = (reduct_status)outcome->status;
        got.error.index = outcome->index;
        memcpy(got.bytes, seen, sizeof got.bytes);
        if (!results)
            memset(expected.bytes, ORACLE_UNTOUCHED, sizeof expected.bytes);
        if (expected.status != REDUCT_ERROR_NAN)
            expected.index = UINT64_MAX;
        test_check(&got, &expected, &job->reduction[i], "%zu elements, rank %d of %d, field %zu of %zu", job->count,
                   rank, job->ranks, i, job->fields);
    }
}

/* Ranks that one thread has, all at once. */
static void run_together(const struct job *job) {
    reduct_nccl_field fields[RANKS][FIELDS];
    reduct_nccl_rank ranks[RANKS];
    for (int r = 0; r < job->ranks; r++) {
        for (size_t i = 0; i < job->fields; i++)
            fields[r][i] = field_of(job, r, i);
        ranks[r] = (reduct_nccl_rank){
            .fields = fields[r], .comm = job->comm[r], .workspace = gpu_pointer(job->workspace[r], 0)};
    }
    reduct_error error = {.message = ""};
    if (reduct_nccl_allreduce_ranks(ranks, (size_t)job->ranks, job->fields, &error) != REDUCT_OK)
        test_fail("reduct_nccl_allreduce_ranks: %s", error.message);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Every split of data of all kinds
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_reduced(const reduct_reduction *reduction) {
    return gpu_has(reduction->op, reduction->element) &&
           (reduction->op != REDUCT_PRODUCT || test_type(reduction->element)->class != FLOAT);
}

static reduct_reduction any_reduction(struct rng *rng, const struct test_type *type) {
    reduct_reduction reduction;
    do {
        const reduct_operator op = test_operators[rng_below(rng, test_operator_count)].op;
        reduction = (reduct_reduction){.op = op, .element = type->type};
    } while (!is_reduced(&reduction));
    reduction = test_reduction(reduction.op, type->type, test_pick_result(rng, reduction.op, type->type));
    reduction.nan = (reduct_nan)rng_below(rng, 3);
    reduction.flags = (uint32_t)rng_below(rng, 4);
    return reduction;
}

static void fill(struct rng *rng, struct job *job, const struct test_type *type, int ranks) {
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    job->type = type;
    job->ranks = ranks;
    job->count = rng_below(rng, rng_below(rng, 3) ? 60 : MOST);
    distribution->fill(rng, type, job->x, job->y, job->count);
    if (type->class == FLOAT && job->count && rng_below(rng, 3) == 0) /* on whichever rank */
        values_put_bits(type, job->x, rng_below(rng, job->count), values_nan(rng, type));
    for (int r = 1; r < ranks; r++)
        job->cut[r] = job->cut[r - 1] + rng_below(rng, job->count - job->cut[r - 1] + 1);
    job->cut[ranks] = job->count;
}

static void open_data(struct job *job) {
    job->x = test_alloc(MOST * sizeof(double));
    job->y = test_alloc(MOST * sizeof(double));
}

static void close_data(struct job *job) {
    free(job->x);
    free(job->y);
}

static void splits(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 500);
    static struct job job;
    open_data(&job);
    for (uint64_t i = 0, times = test_scaled(240, 60); i < times; i++) {
        fill(&rng, &job, elements[i % element_count], 1 + (int)rng_below(&rng, RANKS));
        job.fields = rng_below(&rng, 20) ? 1 + rng_below(&rng, 4) : FIELDS;
        for (size_t k = 0; k < job.fields; k++)
            job.reduction[k] = any_reduction(&rng, job.type);
        open_job(&job);
        run_together(&job);
        for (int r = 0; r < job.ranks; r++)
            check_rank(&job, r, true);
        close_job(&job);
    }
    close_data(&job);
}

/* Each operator of each type at least once, with each kind of NaN. */
static void operators(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 501);
    static struct job job;
    open_data(&job);
    for (size_t t = 0; t < element_count; t++)
        for (int nan = 0; nan < (elements[t]->class == FLOAT ? 3 : 1); nan++) {
            fill(&rng, &job, elements[t], 3);
            job.fields = 0;
            for (size_t o = 0; o < test_operator_count; o++) {
                reduct_reduction reduction = test_reduction(test_operators[o].op, elements[t]->type, REDUCT_DEFAULT);
                reduction.nan = (reduct_nan)nan;
                if (is_reduced(&reduction))
                    job.reduction[job.fields++] = reduction;
            }
            assert_in_range(job.fields, 10, FIELDS);
            open_job(&job);
            run_together(&job);
            for (int r = 0; r < job.ranks; r++)
                check_rank(&job, r, true);
            close_job(&job);
        }
    close_data(&job);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A thread for each rank
 * ------------------------------------------------------------------------------------------------------------------ */

enum { EVERYONE = -1, GRAPH = -2, LAUNCHES = 3 };

struct worker {
    const struct job *job;
    int rank, way; /* the root, or one of the above */
    pthread_t thread;
};

/* Captured, and launched some times. */
static void launch_graph(const reduct_nccl_field *fields, const struct job *job, int rank, rd_cu_stream stream) {
    rd_cu_graph graph = NULL;
    rd_cu_graph_exec exec = NULL;
    CU(gpu.cuStreamBeginCapture(stream, 0));
    test_status(
        reduct_nccl_allreduce(fields, job->fields, job->comm[rank], gpu_pointer(job->workspace[rank], 0), stream, NULL),
        REDUCT_OK);
    CU(gpu.cuStreamEndCapture(stream, &graph));
    for (size_t i = 0; i < FIELDS * PLACE; i++) /* nothing has run so far */
        if (job->seen[rank][i] != ORACLE_UNTOUCHED)
            test_fail("byte %zu was written while a graph was captured", i);
    CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < LAUNCHES; i++) {
        memset(job->seen[rank], ORACLE_UNTOUCHED, FIELDS * PLACE);
        CU(gpu.cuGraphLaunch(exec, stream));
        CU(gpu.driver->cuStreamSynchronize(stream));
    }
    CU(gpu.cuGraphExecDestroy(exec));
    CU(gpu.cuGraphDestroy(graph));
}

static void *work(void *argument) {
    const struct worker *worker = argument;
    const struct job *job = worker->job;
    reduct_nccl_field fields[FIELDS];
    rd_cu_stream stream = NULL;
    void *workspace = gpu_pointer(job->workspace[worker->rank], 0);
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
    CU(gpu.driver->cuStreamCreate(&stream, RD_CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < job->fields; i++) {
        fields[i] = field_of(job, worker->rank, i);
        if (worker->way >= 0 && worker->way != worker->rank)
            fields[i].result = NULL;
    }
    if (worker->way == GRAPH)
        launch_graph(fields, job, worker->rank, stream);
    else if (worker->way == EVERYONE)
        test_status(reduct_nccl_allreduce(fields, job->fields, job->comm[worker->rank], workspace, stream, NULL),
                    REDUCT_OK);
    else
        test_status(
            reduct_nccl_reduce(fields, job->fields, worker->way, job->comm[worker->rank], workspace, stream, NULL),
            REDUCT_OK);
    CU(gpu.driver->cuStreamSynchronize(stream));
    CU(gpu.driver->cuStreamDestroy(stream));
    return NULL;
}

static void run_apart(const struct job *job, int way) {
    struct worker workers[RANKS];
    for (int r = 0; r < job->ranks; r++) {
        workers[r] = (struct worker){.job = job, .rank = r, .way = way};
        assert_int_equal(pthread_create(&workers[r].thread, NULL, work, &workers[r]), 0);
    }
    for (int r = 0; r < job->ranks; r++)
        pthread_join(workers[r].thread, NULL);
}

static void check_ways(const int *ways, size_t count) {
    struct rng rng = rng_of(test_seed() + 502);
    static struct job job;
    open_data(&job);
    for (size_t i = 0; i < count; i++) {
        fill(&rng, &job, test_type(i & 1 ? REDUCT_F32 : REDUCT_F64), 4);
        job.fields = 3;
        for (size_t k = 0; k < job.fields; k++)
            job.reduction[k] = any_reduction(&rng, job.type);
        open_job(&job);
        run_apart(&job, ways[i]);
        for (int r = 0; r < job.ranks; r++)
            check_rank(&job, r, ways[i] < 0 || ways[i] == r);
        close_job(&job);
    }
    close_data(&job);
}

static void threads(void **state) {
    (void)state;
    check_ways((const int[]){EVERYONE, EVERYONE, EVERYONE, EVERYONE}, 4);
}

static void roots(void **state) {
    (void)state;
    check_ways((const int[]){0, 3, 1, 2}, 4);
}

static void graphs(void **state) {
    (void)state;
    check_ways((const int[]){GRAPH, GRAPH, GRAPH, GRAPH}, 4);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is refused
 * ------------------------------------------------------------------------------------------------------------------ */

static void check_refused(const reduct_nccl_field *field, struct ncclComm *comm, void *workspace, reduct_status status,
                          const char *named) {
    reduct_error error = {.message = ""};
    if (reduct_nccl_allreduce(field, 1, comm, workspace, NULL, &error) != status || !strstr(error.message, named))
        test_fail("expected status %d and '%s', got %d: %s", (int)status, named, (int)error.status, error.message);
    assert_int_equal(reduct_nccl_allreduce(field, 1, comm, workspace, NULL, NULL), status);
}

static void check_plan_refused(const struct job *job, const reduct_plan_options *options, reduct_status status,
                               const char *named) {
    reduct_plan *plan = NULL;
    reduct_nccl_field field = field_of(job, 0, 0);
    size_t bytes = 77;
    test_status(reduct_plan_create(options, &plan, NULL), REDUCT_OK);
    field.plan = plan;
    check_refused(&field, job->comm[0], gpu_pointer(job->workspace[0], 0), status, named);
    test_status(reduct_nccl_prepare(&field, 1, job->comm[0], &bytes, NULL), status);
    assert_int_equal(bytes, 77);
    reduct_plan_destroy(plan);
}

static void plans_refused(const struct job *job) {
    const reduct_reduction product = {.op = REDUCT_PRODUCT, .element = REDUCT_F64},
                           fast = {.op = REDUCT_SUM, .element = REDUCT_F64, .mode = REDUCT_FAST},
                           sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_plan_options options = {.reductions = &product, .reduction_count = 1, .shape = {.n = 5}, .device = gpu.name};
    check_plan_refused(job, &options, REDUCT_ERROR_UNSUPPORTED, "product of f64");
    options.reductions = &fast;
    check_plan_refused(job, &options, REDUCT_ERROR_UNSUPPORTED, "fast");
    options.reductions = &sum;
    options.device = "cpu";
    check_plan_refused(job, &options, REDUCT_ERROR_ARGUMENT, "cpu");
    options.device = gpu.name;
    options.kind = REDUCT_SHAPE;
    options.shape = (reduct_shape){.outer = 2, .n = 2, .inner = 1, .outer_stride = 2, .stride = 1, .inner_stride = 1};
    check_plan_refused(job, &options, REDUCT_ERROR_UNSUPPORTED, "many results");
}

static void refused(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 503);
    static struct job job;
    open_data(&job);
    fill(&rng, &job, test_type(REDUCT_F64), 1);
    job.cut[1] = job.count = 40;
    job.fields = 1;
    job.reduction[0] = test_reduction(REDUCT_DOT, REDUCT_F64, REDUCT_DEFAULT);
    open_job(&job);
    const reduct_nccl_field good = field_of(&job, 0, 0);
    unsigned char *workspace = gpu_pointer(job.workspace[0], 0);
    reduct_nccl_field bad = good;
    size_t bytes = 0;
    struct ncclComm *elsewhere = NULL;
    check_refused(&good, NULL, workspace, REDUCT_ERROR_ARGUMENT, "comm");
    check_refused(&good, job.comm[0], NULL, REDUCT_ERROR_ARGUMENT, "workspace");
    check_refused(&good, job.comm[0], workspace + 8, REDUCT_ERROR_ARGUMENT, "workspace");
    check_refused(NULL, job.comm[0], workspace, REDUCT_ERROR_ARGUMENT, "fields");
#define REFUSED(member, value, named)                                                                                  \
    bad = good;                                                                                                        \
    bad.member = value;                                                                                                \
    check_refused(&bad, job.comm[0], workspace, REDUCT_ERROR_ARGUMENT, named)
    REFUSED(plan, NULL, "fields[0].plan");
    REFUSED(x, NULL, "fields[0].x");
    REFUSED(y, (const char *)good.y + 4, "fields[0].y");
    REFUSED(count, UINT64_MAX, "fields[0].count");
    REFUSED(result, NULL, "fields[0].result");
    REFUSED(outcome, (void *)(job.seen[0] + 4), "fields[0].outcome");
    REFUSED(reserved[3], 1, "reserved");
#undef REFUSED
    assert_int_equal(nccl->ncclCommInitAll(&elsewhere, 1, (const int[]){1}), 0);
    check_refused(&good, elsewhere, workspace, REDUCT_ERROR_ARGUMENT, "cuda:1");
    assert_int_equal(nccl->ncclCommDestroy(elsewhere), 0);
    for (int root = -1; root < 2; root += 2)
        test_status(reduct_nccl_reduce(&good, 1, root, job.comm[0], workspace, NULL, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_nccl_allreduce(&good, 0, job.comm[0], workspace, NULL, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_nccl_allreduce_ranks(NULL, 1, 1, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_nccl_prepare(&good, 0, job.comm[0], &bytes, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_nccl_prepare(&good, 1, job.comm[0], NULL, NULL), REDUCT_ERROR_ARGUMENT);
    plans_refused(&job);
    for (size_t i = 0; i < FIELDS * PLACE; i++)
        assert_int_equal(job.seen[0][i], ORACLE_UNTOUCHED);
    test_status(reduct_nccl_allreduce(&good, 1, job.comm[0], workspace, NULL, NULL), REDUCT_OK);
    check_rank(&job, 0, true);
    close_job(&job);
    close_data(&job);
}

int main(void) {
    const char *why = "";
    if (!gpu_open(&why) || !(nccl = rd_nccl_open(&why))) {
        printf("FAILED: %s\n", why);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators), cmocka_unit_test(splits), cmocka_unit_test(threads),
        cmocka_unit_test(roots),     cmocka_unit_test(graphs), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
