/* Reductions over GPUs (reduct/nccl.h) on the GPUs of this machine: verified against one CPU that has all of the data, and timed beside
 * plain sums of doubles, in turns within one run, by a thread for each GPU:
 *
 *   bench_nccl [--verify | SECONDS]
 *
 * With a communicator of one GPU, and one of all where there are more. SECONDS are spent on each case, 1 unless said; with --verify nothing
 * is timed. Without a GPU or NCCL it says so and ends with status 77. */
#include <reduct/nccl.h>

#include "drivers/nccl.h"
#include "gpus.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { PLACE = 64, WORDS = 75, CALLS = 50, TABLES = 8 };

static const rd_nccl *nccl;
static int passed, failed;

/* One GPU, as a rank. */
struct gpu {
    char name[16];
    rd_cu_context context;
    rd_cu_stream stream;
    struct ncclComm *comm;
    rd_cu_address x, workspace, seen; /* seen: a result, and its outcome behind it */
    reduct_plan *exact, *fast;
    rd_cu_address index;
    reduct_table *groups[TABLES]; /* an accumulator for each */
    int tables;
    bool there; /* on the GPU */
};

struct gpus {
    int count;
    struct gpu of[DEVICES];
};

static void with_nccl(int result) {
    if (result != RD_NCCL_SUCCESS)
        stop("NCCL", nccl->ncclGetErrorString(result));
}

static reduct_plan *plan_of(const reduct_reduction *reduction, const char *device) {
    reduct_error error;
    reduct_plan *plan = NULL;
    const reduct_plan_options options = {
        .reductions = reduction, .reduction_count = 1, .shape = {.n = 2}, .device = device};
    must(reduct_plan_create(&options, &plan, &error), &error);
    return plan;
}

static void open_gpus(struct gpus *gpus, int count) {
    struct ncclComm *comms[DEVICES];
    int ordinals[DEVICES] = {0};
    gpus->count = count;
    for (int g = 0; g < count; g++) {
        struct gpu *gpu = &gpus->of[g];
        rd_cu_device device;
        ordinals[g] = g;
        snprintf(gpu->name, sizeof gpu->name, "cuda:%d", g);
        cuda(driver->cuDeviceGet(&device, g));
        cuda(driver->cuDevicePrimaryCtxRetain(&gpu->context, device));
        cuda(driver->cuCtxSetCurrent(gpu->context));
        cuda(driver->cuStreamCreate(&gpu->stream, RD_CU_STREAM_NON_BLOCKING));
        cuda(driver->cuMemAlloc(&gpu->seen, 2 * PLACE));
    }
    with_nccl(nccl->ncclCommInitAll(comms, count, ordinals));
    for (int g = 0; g < count; g++)
        gpus->of[g].comm = comms[g];
}

static void close_gpus(struct gpus *gpus) {
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        with_nccl(nccl->ncclCommDestroy(gpu->comm));
        cuda(driver->cuCtxSetCurrent(gpu->context));
        cuda(driver->cuMemFree(gpu->seen));
        cuda(driver->cuStreamDestroy(gpu->stream));
    }
}

static void wait_for(const struct gpus *gpus) {
    for (int g = 0; g < gpus->count; g++) {
        cuda(driver->cuCtxSetCurrent(gpus->of[g].context));
        cuda(driver->cuStreamSynchronize(gpus->of[g].stream));
    }
}

/* Memory for a case: `elements` of so many bytes on each GPU. */
static void open_case(struct gpus *gpus, const reduct_reduction *reduction, size_t bytes) {
    reduct_error error;
    size_t workspace = 0;
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        cuda(driver->cuCtxSetCurrent(gpu->context));
        gpu->exact = plan_of(reduction, gpu->name);
        const reduct_nccl_field field = {.plan = gpu->exact};
        must(reduct_nccl_prepare(&field, 1, gpu->comm, &workspace, &error), &error);
        cuda(driver->cuMemAlloc(&gpu->workspace, workspace < WORDS * 8 ? WORDS * 8 : workspace));
        cuda(driver->cuMemAlloc(&gpu->x, bytes));
    }
}

static void close_case(struct gpus *gpus) {
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        cuda(driver->cuCtxSetCurrent(gpu->context));
        reduct_plan_destroy(gpu->exact);
        cuda(driver->cuMemFree(gpu->workspace));
        cuda(driver->cuMemFree(gpu->x));
    }
}

static reduct_nccl_field field_of(const struct gpu *gpu, uint64_t count) {
    return (reduct_nccl_field){.plan = gpu->exact,
                               .x = pointer(gpu->x, 0),
                               .y = pointer(gpu->x, 0),
                               .count = count,
                               .result = pointer(gpu->seen, 0),
                               .outcome = pointer(gpu->seen, PLACE)};
}

/* On all GPUs, by one thread. */
static void reduce(const struct gpus *gpus, const uint64_t *counts) {
    reduct_error error;
    reduct_nccl_field fields[DEVICES];
    reduct_nccl_rank ranks[DEVICES];
    for (int g = 0; g < gpus->count; g++) {
        const struct gpu *gpu = &gpus->of[g];
        fields[g] = field_of(gpu, counts[g]);
        ranks[g] = (reduct_nccl_rank){
            .fields = &fields[g], .comm = gpu->comm, .workspace = pointer(gpu->workspace, 0), .stream = gpu->stream};
    }
    must(reduct_nccl_allreduce_ranks(ranks, (size_t)gpus->count, 1, &error), &error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Verified
 * ------------------------------------------------------------------------------------------------------------------ */

enum { NUMBERS = 100003 };

/* Numbers of very different size that cancel, or integers of all sizes. */
static void fill(void *x, reduct_type type) {
    uint64_t state = 12345;
    for (size_t i = 0; i < NUMBERS; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const double value = ((double)(int64_t)state) * (i % 3 ? 1 : i % 2 ? 1e30 : 1e-30);
        if (type == REDUCT_F64)
            ((double *)x)[i] = i % 2 && i > 2 ? -((double *)x)[i - 2] * 1.0000001 : value;
        else if (type == REDUCT_F32)
            ((float *)x)[i] = (float)(value * 1e-20);
        else
            ((int64_t *)x)[i] = (int64_t)(state >> 8);
    }
}

/* Every rank's result and outcome are those of a CPU. */
static bool agrees(const struct gpus *gpus, const reduct_reduction *reduction, const void *x) {
    unsigned char expected[32] = {0};
    reduct_error error;
    reduct_plan *plan = NULL;
    const reduct_plan_options options = {
        .reductions = reduction, .reduction_count = 1, .shape = {.n = NUMBERS}, .device = "cpu"};
    must(reduct_plan_create(&options, &plan, &error), &error);
    must(reduct_plan_execute(plan, (const void *[]){x, x}, (void *[]){expected}, NULL, &error), &error);
    const size_t bytes = reduct_type_size(reduct_plan_result_type(plan, 0));
    reduct_plan_destroy(plan);
    bool same = true;
    for (int g = 0; g < gpus->count; g++) {
        unsigned char seen[2 * PLACE];
        reduct_cuda_outcome outcome;
        cuda(driver->cuCtxSetCurrent(gpus->of[g].context));
        cuda(driver->cuMemcpyDtoHAsync(seen, gpus->of[g].seen, sizeof seen, gpus->of[g].stream));
        cuda(driver->cuStreamSynchronize(gpus->of[g].stream));
        memcpy(&outcome, seen + PLACE, sizeof outcome);
        same = same && outcome.status == REDUCT_OK && memcmp(seen, expected, bytes) == 0;
    }
    return same;
}

static void verify_one(struct gpus *gpus, const reduct_reduction *reduction, const void *x) {
    const size_t size = reduct_type_size(reduction->element);
    uint64_t counts[DEVICES], first = 0;
    open_case(gpus, reduction, NUMBERS * size);
    for (int g = 0; g < gpus->count; g++) { /* parts of different length */
        counts[g] = g == gpus->count - 1 ? NUMBERS - first : (NUMBERS - first) / (unsigned)(g % 3 + 2);
        cuda(driver->cuCtxSetCurrent(gpus->of[g].context));
        cuda(driver->cuMemcpyHtoDAsync(gpus->of[g].x, (const char *)x + first * size, counts[g] * size,
                                       gpus->of[g].stream));
        first += counts[g];
    }
    wait_for(gpus);
    reduce(gpus, counts);
    wait_for(gpus);
    const bool good = agrees(gpus, reduction, x);
    if (!good)
        printf("FAILED: %s of %s on %d GPUs\n", reduct_operator_name(reduction->op),
               reduct_type_name(reduction->element), gpus->count);
    passed += good;
    failed += !good;
    close_case(gpus);
}

static void verify(struct gpus *gpus) {
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32, REDUCT_I64};
    static const reduct_operator ops[] = {
        REDUCT_SUM,   REDUCT_MEAN,          REDUCT_VAR, REDUCT_STD, REDUCT_SUMSQ,  REDUCT_NORM1,
        REDUCT_NORM2, REDUCT_NORMINF,       REDUCT_RMS, REDUCT_DOT, REDUCT_MIN,    REDUCT_MAX,
        REDUCT_COUNT, REDUCT_COUNT_NONZERO, REDUCT_ANY, REDUCT_ALL, REDUCT_ARGMIN, REDUCT_ARGMAX};
    double *x = malloc(NUMBERS * sizeof *x);
    if (!x)
        stop("memory", "none");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        fill(x, types[t]);
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            reduct_reduction reduction = {.op = ops[o], .element = types[t]};
            if (types[t] == REDUCT_I64) /* which some sums of these do not fit */
                reduction.flags = REDUCT_WRAP;
            verify_one(gpus, &reduction, x);
        }
    }
    free(x);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Timed
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a rank does, each in a thread of its own, as in a process of its own. */
typedef void work(const struct gpu *gpu, uint64_t count);

/* Where NCCL has its numbers. */
enum place { SEEN, WORKSPACE };

static void exchange(const struct gpu *gpu, enum place place, size_t count, int type) {
    void *at = pointer(place == SEEN ? gpu->seen : gpu->workspace, 0);
    with_nccl(nccl->ncclAllReduce(at, at, count, type, RD_NCCL_SUM, gpu->comm, gpu->stream));
}

static void one_double(const struct gpu *gpu, uint64_t count) {
    (void)count;
    exchange(gpu, SEEN, 1, RD_NCCL_FLOAT64);
}

static void words(const struct gpu *gpu, uint64_t count) {
    (void)count;
    exchange(gpu, WORKSPACE, WORDS, RD_NCCL_INT64);
}

/* A plain sum on each GPU, and NCCL's of what they came to. */
static void plain(const struct gpu *gpu, uint64_t count) {
    reduct_error error;
    (void)count; /* the plan has it */
    must(reduct_cuda_execute(gpu->fast, (const void *[]){pointer(gpu->x, 0)}, (void *[]){pointer(gpu->seen, 0)}, NULL,
                             NULL, gpu->stream, &error),
         &error);
    exchange(gpu, SEEN, 1, RD_NCCL_FLOAT64);
}

static void exact(const struct gpu *gpu, uint64_t count) {
    reduct_error error;
    const reduct_nccl_field field = field_of(gpu, count);
    must(reduct_nccl_allreduce(&field, 1, gpu->comm, pointer(gpu->workspace, 0), gpu->stream, &error), &error);
}

struct rank {
    pthread_t thread;
    pthread_barrier_t *start;
    const struct gpu *gpu;
    work *call;
    uint64_t count;
    int calls;
    double began, ended;
};

static void *run_rank(void *argument) {
    struct rank *rank = argument;
    cuda(driver->cuCtxSetCurrent(rank->gpu->context));
    pthread_barrier_wait(rank->start);
    rank->began = now();
    for (int i = 0; i < rank->calls; i++)
        rank->call(rank->gpu, rank->count);
    cuda(driver->cuStreamSynchronize(rank->gpu->stream));
    rank->ended = now();
    return NULL;
}

/* Seconds of a call among many that follow each other, on all GPUs at once. */
static double time_of(work *call, const struct gpus *gpus, uint64_t count, int calls) {
    struct rank ranks[DEVICES];
    pthread_barrier_t start;
    wait_for(gpus);
    pthread_barrier_init(&start, NULL, (unsigned)gpus->count);
    for (int g = 0; g < gpus->count; g++) {
        ranks[g] = (struct rank){.start = &start, .gpu = &gpus->of[g], .call = call, .count = count, .calls = calls};
        if (pthread_create(&ranks[g].thread, NULL, run_rank, &ranks[g]) != 0)
            stop("threads", "one could not be started");
    }
    double began = INFINITY, ended = 0;
    for (int g = 0; g < gpus->count; g++) {
        pthread_join(ranks[g].thread, NULL);
        began = ranks[g].began < began ? ranks[g].began : began;
        ended = ranks[g].ended > ended ? ranks[g].ended : ended;
    }
    pthread_barrier_destroy(&start);
    return (ended - began) / calls;
}

static void time_size(struct gpus *gpus, uint64_t count, double seconds) {
    enum { KINDS = 4 };
    static work *const kinds[KINDS] = {one_double, words, plain, exact};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64},
                           fast = {.op = REDUCT_SUM, .element = REDUCT_F64, .mode = REDUCT_FAST};
    double least[KINDS];
    open_case(gpus, &sum, count * sizeof(double));
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        reduct_error error;
        cuda(driver->cuCtxSetCurrent(gpu->context));
        cuda(driver->cuMemsetD32Async(gpu->x, HALF, 2 * count, gpu->stream));
        const reduct_plan_options options = {
            .reductions = &fast, .reduction_count = 1, .shape = {.n = count}, .device = gpu->name};
        must(reduct_plan_create(&options, &gpu->fast, &error), &error);
    }
    for (int k = 0; k < KINDS; k++)
        least[k] = time_of(kinds[k], gpus, count, 1) + 1e9; /* for the first time all is slower */
    for (double began = now(); now() - began < seconds;)
        for (int k = 0; k < KINDS; k++) {
            const double time = time_of(kinds[k], gpus, count, count > 1 << 24 ? 4 : CALLS);
            least[k] = time < least[k] ? time : least[k];
        }
    printf("%4d %12llu", gpus->count, (unsigned long long)count);
    for (int k = 0; k < KINDS; k++)
        printf(" %12.2f", 1e6 * least[k]);
    printf("   %5.3f\n", least[3] / least[2]);
    fflush(stdout);
    for (int g = 0; g < gpus->count; g++)
        reduct_plan_destroy(gpus->of[g].fast);
    close_case(gpus);
}

static void time_all(struct gpus *gpus, double seconds) {
    static const uint64_t sizes[] = {1, 1 << 20, 1 << 28, 1 << 30};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t available = 0, total = 0;
        cuda(driver->cuCtxSetCurrent(gpus->of[0].context));
        cuda(driver->cuMemGetInfo(&available, &total));
        if (sizes[i] * sizeof(double) < available / 2)
            time_size(gpus, sizes[i], seconds);
        else
            printf("%4d %12llu not timed: %zu bytes of device memory are free\n", gpus->count,
                   (unsigned long long)sizes[i], available);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables: arrays that are summed element by element
 * ------------------------------------------------------------------------------------------------------------------ */

enum { TABLE = 1 << 20 };

static reduct_nccl_each part_of(const struct gpu *gpu) {
    return (reduct_nccl_each){.type = REDUCT_F64,
                              .x = pointer(gpu->x, 0),
                              .results = pointer(gpu->x, TABLE * sizeof(double)),
                              .count = TABLE,
                              .outcome = pointer(gpu->seen, PLACE),
                              .comm = gpu->comm,
                              .workspace = pointer(gpu->workspace, 0),
                              .stream = gpu->stream};
}

static void exact_table(const struct gpu *gpu, uint64_t count) {
    const reduct_nccl_each part = part_of(gpu);
    reduct_error error;
    (void)count;
    must(reduct_nccl_allreduce_each(&part, 1, &error), &error);
}

/* On all GPUs, by one thread. */
static void reduce_tables(const struct gpus *gpus) {
    reduct_nccl_each parts[DEVICES];
    reduct_error error;
    for (int g = 0; g < gpus->count; g++)
        parts[g] = part_of(&gpus->of[g]);
    must(reduct_nccl_allreduce_each(parts, (size_t)gpus->count, &error), &error);
}

static void doubles_of_table(const struct gpu *gpu, uint64_t count) {
    (void)count;
    exchange(gpu, WORKSPACE, TABLE, RD_NCCL_FLOAT64);
}

static void integers_of_table(const struct gpu *gpu, uint64_t count) {
    (void)count;
    exchange(gpu, WORKSPACE, 3 * TABLE, RD_NCCL_INT64);
}

/* Elements that cancel but for their last bits, so that plain sums of more than two would be others. */
static void fill_table(double *x, uint64_t rank) {
    uint64_t state = 54321 + rank;
    for (size_t i = 0; i < TABLE; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        x[i] = (double)(int64_t)state * (i % 2 ? 1e-20 : rank % 2 ? -1e-9 : 1e-9);
    }
}

static void open_tables(struct gpus *gpus, double *x) {
    reduct_error error;
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        size_t workspace = 0;
        cuda(driver->cuCtxSetCurrent(gpu->context));
        cuda(driver->cuMemAlloc(&gpu->x, 3 * TABLE * sizeof(double)));
        const reduct_nccl_each part = part_of(gpu);
        must(reduct_nccl_prepare_each(&part, &workspace, &error), &error);
        cuda(driver->cuMemAlloc(&gpu->workspace, workspace));
        fill_table(x, (uint64_t)g);
        cuda(driver->cuMemcpyHtoDAsync(gpu->x, x, TABLE * sizeof *x, gpu->stream));
        cuda(driver->cuStreamSynchronize(gpu->stream));
    }
}

/* Every rank's table is that of one CPU, which has for each element an accumulator of what all ranks have. */
static bool table_agrees(const struct gpus *gpus, double *x) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    double *all = malloc(TABLE * DEVICES * sizeof *all), *expected = malloc(TABLE * sizeof *expected);
    reduct_error error;
    reduct_plan *plan = NULL;
    const uint64_t ranks = (uint64_t)gpus->count;
    const reduct_plan_options options = {.reductions = &sum,
                                         .reduction_count = 1,
                                         .kind = REDUCT_SHAPE,
                                         .shape = {TABLE, ranks, 1, (int64_t)ranks, 1, 0},
                                         .device = "cpu"};
    if (!all || !expected)
        stop("memory", "none");
    for (uint64_t r = 0; r < ranks; r++) {
        fill_table(x, r);
        for (size_t i = 0; i < TABLE; i++)
            all[i * ranks + r] = x[i];
    }
    must(reduct_plan_create(&options, &plan, &error), &error);
    must(reduct_plan_execute(plan, (const void *[]){all}, (void *[]){expected}, NULL, &error), &error);
    reduct_plan_destroy(plan);
    bool same = true;
    for (int g = 0; g < gpus->count; g++) {
        const struct gpu *gpu = &gpus->of[g];
        reduct_cuda_outcome outcome;
        cuda(driver->cuCtxSetCurrent(gpu->context));
        cuda(driver->cuMemcpyDtoHAsync(x, gpu->x + TABLE * sizeof *x, TABLE * sizeof *x, gpu->stream));
        cuda(driver->cuMemcpyDtoHAsync(&outcome, gpu->seen + PLACE, sizeof outcome, gpu->stream));
        cuda(driver->cuStreamSynchronize(gpu->stream));
        same = same && outcome.status == REDUCT_OK && memcmp(x, expected, TABLE * sizeof *x) == 0;
    }
    free(all);
    free(expected);
    return same;
}

static void time_tables(const struct gpus *gpus, double seconds) {
    enum { KINDS = 3 };
    static work *const kinds[KINDS] = {doubles_of_table, integers_of_table, exact_table};
    double least[KINDS] = {1e9, 1e9, 1e9};
    for (double began = now(); now() - began < seconds || least[0] == 1e9;)
        for (int k = 0; k < KINDS; k++) {
            const double time = time_of(kinds[k], gpus, 0, CALLS);
            least[k] = time < least[k] ? time : least[k];
        }
    printf("%4d a table of %d doubles: plain %.2f, exact %.2f, of which NCCL alone takes %.2f for three integers each; "
           "ratio "
           "%.3f\n",
           gpus->count, TABLE, 1e6 * least[0], 1e6 * least[2], 1e6 * least[1], least[2] / least[0]);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables of accumulators, of which each rank has some, whose groups hold a number each
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_table *make_groups(const char *device) {
    static const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_table_options options = {.reductions = &sum, .reduction_count = 1, .groups = TABLE, .device = device};
    reduct_error error;
    reduct_table *made = NULL;
    must(reduct_table_create(&options, &made, &error), &error);
    return made;
}

static const uint32_t *every_group(void) {
    static uint32_t index[TABLE];
    for (uint32_t i = 0; i < TABLE; i++)
        index[i] = i;
    return index;
}

static void add_numbers(reduct_table *groups, const void *x, const void *index) {
    const reduct_table_batch batch = {.x = x, .count = TABLE, .indices = index, .index = REDUCT_U32};
    reduct_error error;
    must(reduct_table_add(groups, &batch, &error), &error);
}

/* On the GPUs, in whose memory the numbers are, or all on the host. */
static void open_groups(struct gpus *gpus, bool there, int tables) {
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        gpu->there = there;
        gpu->tables = tables;
        for (int t = 0; t < tables; t++)
            gpu->groups[t] = make_groups(there ? gpu->name : "cpu");
        cuda(driver->cuCtxSetCurrent(gpu->context));
        cuda(driver->cuMemAlloc(&gpu->index, TABLE * sizeof(uint32_t)));
        cuda(driver->cuMemcpyHtoDAsync(gpu->index, every_group(), TABLE * sizeof(uint32_t), gpu->stream));
        cuda(driver->cuStreamSynchronize(gpu->stream));
    }
}

static void close_groups(struct gpus *gpus) {
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        while (gpu->tables)
            reduct_table_destroy(gpu->groups[--gpu->tables]);
        cuda(driver->cuCtxSetCurrent(gpu->context));
        cuda(driver->cuMemFree(gpu->index));
    }
}

static void fill_groups(const struct gpus *gpus, double *x) {
    for (int g = 0; g < gpus->count; g++) {
        const struct gpu *gpu = &gpus->of[g];
        fill_table(x, (uint64_t)g);
        for (int t = 0; t < gpu->tables; t++) {
            reduct_table_reset(gpu->groups[t]);
            add_numbers(gpu->groups[t], gpu->there ? pointer(gpu->x, 0) : x,
                        gpu->there ? pointer(gpu->index, 0) : every_group());
        }
    }
}

/* One table after the other. */
static void reduce_groups(const struct gpu *gpu, uint64_t count) {
    reduct_error error;
    (void)count;
    for (int t = 0; t < gpu->tables; t++)
        must(reduct_nccl_allreduce_table(gpu->groups[t], gpu->comm, gpu->stream, &error), &error);
}

/* Every rank's tables have the sums of one that was given all numbers. */
static bool groups_agree(const struct gpus *gpus, double *x) {
    double *got = malloc(TABLE * sizeof *got);
    reduct_table *all = make_groups("cpu");
    reduct_error error;
    bool same = true;
    if (!got)
        stop("memory", "none");
    for (int g = 0; g < gpus->count; g++) {
        fill_table(x, (uint64_t)g);
        add_numbers(all, x, every_group());
    }
    must(reduct_table_result(all, 0, REDUCT_DEFAULT, 0, TABLE, x, NULL, &error), &error);
    for (int g = 0; g < gpus->count; g++)
        for (int t = 0; t < gpus->of[g].tables; t++) {
            must(reduct_table_result(gpus->of[g].groups[t], 0, REDUCT_DEFAULT, 0, TABLE, got, NULL, &error), &error);
            same = same && memcmp(got, x, TABLE * sizeof *x) == 0;
        }
    reduct_table_destroy(all);
    free(got);
    return same;
}

/* They are filled anew for each run. */
static void time_groups(const struct gpus *gpus, double *x, double seconds) {
    const int tables = gpus->of[0].tables;
    double plain = 1e9, exact = 1e9;
    for (double began = now(); now() - began < seconds || exact == 1e9;) {
        fill_groups(gpus, x);
        const double own = time_of(doubles_of_table, gpus, 0, CALLS),
                     time = time_of(reduce_groups, gpus, 0, 1) / tables;
        plain = own < plain ? own : plain;
        exact = time < exact ? time : exact;
    }
    printf("%4d a table of accumulators on the %s, %d groups: plain %.2f for as many doubles, exact %.2f; ratio %.3f\n",
           gpus->count, gpus->of[0].there ? "GPU" : "host", TABLE, 1e6 * plain, 1e6 * exact, exact / plain);
}

static void run_groups(struct gpus *gpus, bool there, double *x, double seconds) {
    open_groups(gpus, there, there && seconds > 0 ? TABLES : 1);
    fill_groups(gpus, x);
    time_of(reduce_groups, gpus, 0, 1);
    const bool good = groups_agree(gpus, x);
    if (!good)
        printf("FAILED: a table of accumulators on the %s, %d GPUs\n", there ? "GPU" : "host", gpus->count);
    passed += good;
    failed += !good;
    if (seconds > 0)
        time_groups(gpus, x, seconds);
    close_groups(gpus);
}

/* Verifies, and times where SECONDS are to be spent. */
static void run_tables(struct gpus *gpus, double seconds) {
    double *x = malloc(TABLE * sizeof *x);
    if (!x)
        stop("memory", "none");
    open_tables(gpus, x);
    reduce_tables(gpus);
    wait_for(gpus);
    const bool good = table_agrees(gpus, x);
    if (!good)
        printf("FAILED: a table on %d GPUs\n", gpus->count);
    passed += good;
    failed += !good;
    if (seconds > 0)
        time_tables(gpus, seconds);
    run_groups(gpus, true, x, seconds);
    run_groups(gpus, false, x, seconds);
    for (int g = 0; g < gpus->count; g++) {
        cuda(driver->cuCtxSetCurrent(gpus->of[g].context));
        cuda(driver->cuMemFree(gpus->of[g].workspace));
        cuda(driver->cuMemFree(gpus->of[g].x));
    }
    free(x);
}

int main(int argc, char **argv) {
    const bool only_verify = read_arguments(&argc, &argv, 1);
    const double seconds = argument(argc, argv, 1, "SECONDS", 0, SECONDS_MOST, 1);
    const char *why = "";
    driver = rd_cuda_driver_open(&why);
    nccl = driver ? rd_nccl_open(&why) : NULL;
    if (!nccl) {
        printf("NCCL: not tested here: %s\n", why);
        return SKIPPED;
    }
    const int all = driver->devices < DEVICES ? driver->devices : DEVICES;
    if (!only_verify)
        printf("%4s %12s %12s %12s %12s %12s   ratio   (microseconds; doubles on each GPU)\n", "GPUs", "doubles",
               "one double", "75 integers", "plain sum", "exact sum");
    for (int count = 1; count <= all; count = count == 1 && all > 1 ? all : all + 1) {
        static struct gpus gpus;
        open_gpus(&gpus, count);
        verify(&gpus);
        if (!only_verify)
            time_all(&gpus, seconds);
        run_tables(&gpus, only_verify ? 0 : seconds);
        close_gpus(&gpus);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
