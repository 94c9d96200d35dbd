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
#include "nccl/calls.h"

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

/* Few fields, of which sums' partial results are added as they are, or those of ranks that have many elements as words. */
static void few(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    const uint64_t most = rd_nccl_raw_most;
    struct rng rng = rng_of(test_seed() + 503);
    static struct job job;
    open_data(&job);
    for (uint64_t i = 0, times = test_scaled(600, 150); i < times; i++) {
        fill(&rng, &job, elements[i % element_count], 1 + (int)rng_below(&rng, RANKS));
        job.fields = rng_below(&rng, 3) ? 1 : 1 + rng_below(&rng, 5);
        for (size_t k = 0; k < job.fields; k++)
            do
                job.reduction[k] = any_reduction(&rng, job.type);
            while (job.fields > 1 && job.reduction[k].nan == REDUCT_NAN_ERROR);
        if (rng_next(&rng) & 1)
            rd_nccl_raw_most = rng_below(&rng, 2 * job.count + 1);
        open_job(&job);
        run_together(&job);
        for (int r = 0; r < job.ranks; r++)
            check_rank(&job, r, true);
        close_job(&job);
        rd_nccl_raw_most = most;
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
        job.fields = i < 2 ? 3 : 1;
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
    check_ways((const int[]){EVERYONE, EVERYONE, EVERYONE, EVERYONE, EVERYONE, EVERYONE}, 6);
}

static void roots(void **state) {
    (void)state;
    check_ways((const int[]){0, 3, 1, 2, 0, 3}, 6);
}

static void graphs(void **state) {
    (void)state;
    check_ways((const int[]){GRAPH, GRAPH, GRAPH, GRAPH, GRAPH, GRAPH}, 6);
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

/* ---------------------------------------------------------------------------------------------------------------------
 * Arrays, element by element
 * ------------------------------------------------------------------------------------------------------------------ */

enum { WINDOW = 4096, ELEMENTS = 3 * WINDOW + 100, WORDS_MOST = 42 };

/* Parts of all ranks, and what they come to. */
struct table {
    const struct test_type *type;
    int ranks;
    size_t count;
    unsigned words;
    bool in_place, fits;
    size_t unfit; /* the first element of the first window that is too wide */
    unsigned char *x[RANKS], *expected, *got;
    struct ncclComm *comm[RANKS];
    rd_cu_address there[RANKS], results[RANKS], workspace[RANKS], outcome[RANKS];
};

/* How many powers of two apart the elements of a window may be, from the header's contract: so many bits in words, each with
 * room for the ranks, but for four counters and the significand. */
static int spread_of(const struct table *table) {
    const int words = table->words ? (int)table->words : table->type->size == 8 ? 3 : 2;
    int bits = 0;
    while (1 << bits < table->ranks)
        bits++;
    return words * (63 - bits) - 4 * (bits + 1) - (table->type->size == 8 ? 53 : 24);
}

/* The exponent of a finite number other than zero; of subnormal ones the least that normal ones have. */
static int exponent_of(const struct test_type *type, const void *x, size_t i) {
    const int stored = type->size == 8 ? 52 : 23, fields = type->size == 8 ? 2047 : 255;
    const int field = (int)(values_bits(type, x, i) >> stored & (uint64_t)fields);
    return field ? field : 1;
}

static bool has_exponent(const struct test_type *type, const void *x, size_t i) {
    const uint64_t magnitude = values_bits(type, x, i) << (64 - 8 * type->size) << 1;
    return magnitude && exponent_of(type, x, i) != (type->size == 8 ? 2047 : 255);
}

static void find_unfit(struct table *table) {
    const int spread = spread_of(table);
    table->fits = true;
    for (size_t first = 0; first < table->count && table->fits; first += WINDOW) {
        int high = 0, low = INT32_MAX;
        for (int r = 0; r < table->ranks; r++)
            for (size_t i = first; i < first + WINDOW && i < table->count; i++) {
                if (!has_exponent(table->type, table->x[r], i))
                    continue;
                const int exponent = exponent_of(table->type, table->x[r], i);
                high = exponent > high ? exponent : high;
                low = exponent < low ? exponent : low;
            }
        table->fits = high == 0 || high - low <= spread;
        table->unfit = first;
    }
}

/* The oracle's sum of what all ranks have of each element. */
static void expect_table(struct table *table) {
    const reduct_reduction sum = test_reduction(REDUCT_SUM, table->type->type, table->type->type);
    for (size_t i = 0; i < table->count; i++) {
        unsigned char of_all[RANKS * 8];
        struct oracle oracle;
        for (int r = 0; r < table->ranks; r++)
            memcpy(of_all + (size_t)r * table->type->size, table->x[r] + i * table->type->size, table->type->size);
        oracle_init(&oracle);
        oracle_read(&oracle, table->type->type, of_all, NULL, (uint64_t)table->ranks);
        const struct oracle_result result = oracle_expect(&oracle, &sum);
        oracle_clear(&oracle);
        memcpy(table->expected + i * table->type->size, result.bytes, table->type->size);
    }
}

/* Any numbers; or those within as many powers of two as there may be, at both edges, or one more; with zeros and what is not finite. */
static void fill_table(struct rng *rng, struct table *table) {
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, table->type));
    const bool wide = rng_below(rng, 3) == 0, over = rng_below(rng, 4) == 0;
    const int fields = table->type->size == 8 ? 2046 : 254, stored = table->type->size == 8 ? 52 : 23;
    int spread = spread_of(table) + over;
    spread = spread < 0 ? 0 : spread < fields - 1 ? spread : fields - 1;
    const int low = 1 + (int)rng_below(rng, (uint64_t)(fields - spread));
    for (int r = 0; r < table->ranks; r++) {
        distribution->fill(rng, table->type, table->x[r], NULL, table->count);
        for (size_t i = 0; i < table->count && !wide; i++) {
            const uint64_t kind = rng_below(rng, 200),
                           field = (uint64_t)(low + (kind & 1   ? (int)rng_below(rng, (uint64_t)spread + 1)
                                                     : kind & 2 ? spread
                                                                : 0));
            uint64_t bits = field << stored | (kind & 4   ? rng_next(rng) >> (64 - stored)
                                               : kind & 8 ? ((uint64_t)1 << stored) - 1
                                                          : 0);
            if (kind < 20)
                bits = 0;
            else if (kind < 22)
                bits = (uint64_t)(fields + 1) << stored | (uint64_t)(kind == 20 && rng_below(rng, 2)) << (stored - 1);
            bits |= (rng_next(rng) & 1) << (8 * table->type->size - 1);
            values_put_bits(table->type, table->x[r], i, bits);
        }
    }
    find_unfit(table);
    expect_table(table);
}

static reduct_nccl_each part_of(const struct table *table, int r, rd_cu_stream stream) {
    return (reduct_nccl_each){.type = table->type->type,
                              .words = table->words,
                              .x = gpu_pointer(table->there[r], 0),
                              .results = gpu_pointer(table->in_place ? table->there[r] : table->results[r], 0),
                              .count = table->count,
                              .outcome = gpu_pointer(table->outcome[r], 0),
                              .comm = table->comm[r],
                              .workspace = gpu_pointer(table->workspace[r], 0),
                              .stream = stream};
}

static void open_table(struct table *table) {
    static const int devices[RANKS] = {0};
    const size_t bytes = ELEMENTS * table->type->size;
    size_t workspace = 0;
    assert_int_equal(nccl->ncclCommInitAll(table->comm, table->ranks, devices), 0);
    for (int r = 0; r < table->ranks; r++) {
        const reduct_nccl_each part = part_of(table, r, NULL);
        test_status(reduct_nccl_prepare_each(&part, &workspace, NULL), REDUCT_OK);
        table->workspace[r] = gpu_alloc(workspace);
        table->there[r] = gpu_copy_of(table->x[r], bytes);
        table->results[r] = gpu_alloc(bytes);
        table->outcome[r] = gpu_alloc(sizeof(reduct_cuda_outcome));
        gpu_fill(table->results[r], ORACLE_UNTOUCHED, bytes);
        gpu_fill(table->workspace[r], 0xa5, workspace);
        gpu_fill(table->outcome[r], 0xa5, sizeof(reduct_cuda_outcome));
    }
}

static void close_table(struct table *table) {
    for (int r = 0; r < table->ranks; r++) {
        const rd_cu_address all[] = {table->workspace[r], table->there[r], table->results[r], table->outcome[r]};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            gpu_free(all[i]);
        assert_int_equal(nccl->ncclCommDestroy(table->comm[r]), 0);
    }
}

static void check_table(const struct table *table) {
    for (int r = 0; r < table->ranks; r++) {
        reduct_cuda_outcome outcome;
        gpu_download(&outcome, table->outcome[r], sizeof outcome);
        assert_int_equal(outcome.status, table->fits ? REDUCT_OK : REDUCT_ERROR_UNSUPPORTED);
        assert_true(outcome.index == (table->fits ? UINT64_MAX : table->unfit) && outcome.reserved == 0);
        gpu_download(table->got, table->in_place ? table->there[r] : table->results[r], ELEMENTS * table->type->size);
        for (size_t i = 0; i < ELEMENTS * table->type->size; i++) {
            const unsigned char untouched = table->in_place ? table->x[r][i] : ORACLE_UNTOUCHED,
                                expected = table->fits && i < table->count * table->type->size ? table->expected[i]
                                                                                               : untouched;
            if (table->got[i] != expected)
                test_fail("%s, %d ranks, %u words: element %zu of rank %d has other bits than the sum",
                          table->type->name, table->ranks, table->words, i / table->type->size, r);
        }
    }
}

static void add_table(const struct table *table, rd_cu_stream stream) {
    reduct_nccl_each parts[RANKS];
    reduct_error error = {.message = ""};
    for (int r = 0; r < table->ranks; r++)
        parts[r] = part_of(table, r, stream);
    if (reduct_nccl_allreduce_each(parts, (size_t)table->ranks, &error) != REDUCT_OK)
        test_fail("reduct_nccl_allreduce_each: %s", error.message);
}

static void open_arrays(struct table *table) {
    for (int r = 0; r < RANKS; r++)
        table->x[r] = test_alloc(ELEMENTS * sizeof(double));
    table->expected = test_alloc(ELEMENTS * sizeof(double));
    table->got = test_alloc(ELEMENTS * sizeof(double));
}

static void close_arrays(struct table *table) {
    for (int r = 0; r < RANKS; r++)
        free(table->x[r]);
    free(table->expected);
    free(table->got);
}

static void each(void **state) {
    (void)state;
    static const unsigned words[] = {0, 2, 3, 1, 5, 12, WORDS_MOST};
    struct rng rng = rng_of(test_seed() + 504);
    static struct table table;
    int fitted = 0, unfitted = 0;
    open_arrays(&table);
    for (uint64_t i = 0, times = test_scaled(120, 60); i < times; i++) {
        table.type = test_type(i & 1 ? REDUCT_F32 : REDUCT_F64);
        table.ranks = 1 + (int)rng_below(&rng, RANKS);
        table.words = words[rng_below(&rng, sizeof words / sizeof *words)];
        table.count = rng_below(&rng, rng_below(&rng, 6) ? 60 : ELEMENTS + 1);
        table.in_place = rng_below(&rng, 2);
        fill_table(&rng, &table);
        open_table(&table);
        add_table(&table, NULL);
        check_table(&table);
        close_table(&table);
        *(table.fits ? &fitted : &unfitted) += 1;
    }
    assert_true(fitted > 5 && unfitted > 5);
    close_arrays(&table);
}

struct table_worker {
    const struct table *table;
    int rank;
    bool captured;
    pthread_t thread;
};

/* One rank by a thread of its own, at once or some times as a graph. */
static void *add_part(void *argument) {
    const struct table_worker *worker = argument;
    rd_cu_stream stream = NULL;
    rd_cu_graph graph = NULL;
    rd_cu_graph_exec exec = NULL;
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
    CU(gpu.driver->cuStreamCreate(&stream, RD_CU_STREAM_NON_BLOCKING));
    const reduct_nccl_each part = part_of(worker->table, worker->rank, stream);
    if (worker->captured)
        CU(gpu.cuStreamBeginCapture(stream, 0));
    test_status(reduct_nccl_allreduce_each(&part, 1, NULL), REDUCT_OK);
    if (worker->captured) {
        CU(gpu.cuStreamEndCapture(stream, &graph));
        CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        for (int i = 0; i < LAUNCHES; i++)
            CU(gpu.cuGraphLaunch(exec, stream));
        CU(gpu.cuGraphExecDestroy(exec));
        CU(gpu.cuGraphDestroy(graph));
    }
    CU(gpu.driver->cuStreamSynchronize(stream));
    CU(gpu.driver->cuStreamDestroy(stream));
    return NULL;
}

static void each_apart(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 505);
    static struct table table;
    open_arrays(&table);
    for (int i = 0; i < 8; i++) {
        struct table_worker workers[RANKS];
        table.type = test_type(i & 1 ? REDUCT_F32 : REDUCT_F64);
        table.ranks = 4;
        table.count = 5000;
        table.in_place = false; /* so that it can be launched again */
        fill_table(&rng, &table);
        open_table(&table);
        for (int r = 0; r < table.ranks; r++) {
            workers[r] = (struct table_worker){.table = &table, .rank = r, .captured = i & 2};
            assert_int_equal(pthread_create(&workers[r].thread, NULL, add_part, &workers[r]), 0);
        }
        for (int r = 0; r < table.ranks; r++)
            pthread_join(workers[r].thread, NULL);
        check_table(&table);
        close_table(&table);
    }
    close_arrays(&table);
}

static void check_each_refused(const reduct_nccl_each *parts, size_t count, reduct_status status, const char *named) {
    reduct_error error = {.message = ""};
    if (reduct_nccl_allreduce_each(parts, count, &error) != status || !strstr(error.message, named))
        test_fail("expected status %d and '%s', got %d: %s", (int)status, named, (int)error.status, error.message);
    assert_int_equal(reduct_nccl_allreduce_each(parts, count, NULL), status);
}

static void each_refused(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 506);
    static struct table table;
    size_t bytes = 77;
    struct ncclComm *elsewhere = NULL;
    open_arrays(&table);
    table.type = test_type(REDUCT_F64);
    table.ranks = 2;
    table.count = 10;
    table.words = WORDS_MOST;
    fill_table(&rng, &table);
    open_table(&table);
    const reduct_nccl_each good = part_of(&table, 0, NULL);
    reduct_nccl_each bad[2];
    check_each_refused(NULL, 1, REDUCT_ERROR_ARGUMENT, "parts");
    check_each_refused(&good, 0, REDUCT_ERROR_ARGUMENT, "part_count");
#define REFUSED(member, value, status, named)                                                                          \
    bad[0] = good;                                                                                                     \
    bad[0].member = value;                                                                                             \
    check_each_refused(bad, 1, status, named)
    REFUSED(type, REDUCT_F16, REDUCT_ERROR_UNSUPPORTED, "parts[0].type");
    REFUSED(type, (reduct_type)99, REDUCT_ERROR_ARGUMENT, "parts[0].type");
    REFUSED(words, WORDS_MOST + 1, REDUCT_ERROR_ARGUMENT, "parts[0].words: 43");
    REFUSED(x, NULL, REDUCT_ERROR_ARGUMENT, "parts[0].x");
    REFUSED(x, (const char *)good.x + 4, REDUCT_ERROR_ARGUMENT, "parts[0].x");
    REFUSED(results, NULL, REDUCT_ERROR_ARGUMENT, "parts[0].results");
    REFUSED(count, ((uint64_t)1 << 41) + 1, REDUCT_ERROR_ARGUMENT, "parts[0].count");
    REFUSED(outcome, (void *)((char *)good.outcome + 4), REDUCT_ERROR_ARGUMENT, "parts[0].outcome");
    REFUSED(comm, NULL, REDUCT_ERROR_ARGUMENT, "parts[0].comm");
    REFUSED(workspace, NULL, REDUCT_ERROR_ARGUMENT, "parts[0].workspace");
    REFUSED(workspace, (char *)good.workspace + 8, REDUCT_ERROR_ARGUMENT, "parts[0].workspace");
    REFUSED(reserved[3], 1, REDUCT_ERROR_ARGUMENT, "reserved");
#undef REFUSED
    bad[0] = good;
    bad[1] = part_of(&table, 1, NULL);
    bad[1].count = 9;
    check_each_refused(bad, 2, REDUCT_ERROR_ARGUMENT, "parts[1]");
    assert_int_equal(nccl->ncclCommInitAll(&elsewhere, 1, (const int[]){1}), 0);
    bad[0].comm = elsewhere;
    check_each_refused(bad, 1, REDUCT_ERROR_NO_DEVICE, "cuda:1");
    assert_int_equal(nccl->ncclCommDestroy(elsewhere), 0);
    test_status(reduct_nccl_prepare_each(NULL, &bytes, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_nccl_prepare_each(&good, NULL, NULL), REDUCT_ERROR_ARGUMENT);
    bad[0].comm = NULL;
    test_status(reduct_nccl_prepare_each(bad, &bytes, NULL), REDUCT_ERROR_ARGUMENT);
    assert_int_equal(bytes, 77);
    add_table(&table, NULL);
    check_table(&table);
    close_table(&table);
    close_arrays(&table);
}

int main(void) {
    const char *why = "";
    if (!gpu_open(&why) || !(nccl = rd_nccl_open(&why))) {
        printf("FAILED: %s\n", why);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators),    cmocka_unit_test(splits), cmocka_unit_test(threads),
        cmocka_unit_test(roots),        cmocka_unit_test(graphs), cmocka_unit_test(refused),
        cmocka_unit_test(few),          cmocka_unit_test(each),   cmocka_unit_test(each_apart),
        cmocka_unit_test(each_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
