/* Several GPUs in one process: arrays of doubles that lie in slices in their memory, and arrays in the host's, by one GPU and by all,
 * in turns within one run. Every result is checked.
 *
 *   bench_gpus [--verify] [GIB [SECONDS]]
 *
 * GIB is how much lies in each GPU's memory, 8 unless said, and at most half of what is free there; on the host there is a quarter of
 * that. SECONDS are spent in all, 2 unless said; with --verify each case runs once, on little.
 * Without a GPU it says so and ends with status 77. */
#include "gpus.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static int passed, failed;

struct gpus;

/* One GPU, with its slice. */
struct gpu {
    struct gpus *all; /* of which it is one */
    char name[16];
    rd_cu_context context;
    rd_cu_address x;
    reduct_accumulator *accumulator;
    uint64_t count;
    reduct_status status;
    reduct_error error;
};

/* GPUs, and for each but the first a thread that stays, as programs have them. */
struct gpus {
    int count;
    struct gpu of[DEVICES];
    pthread_t thread[DEVICES];
    pthread_barrier_t begun, done;
    bool ended;
    double *host;
    uint64_t host_count;
    reduct_accumulator *one, *all; /* of cuda:0 and of cuda:all */
};

static reduct_accumulator *accumulator_of(const char *device) {
    static const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_accumulator_options options = {.reduction = &sum, .device = device};
    reduct_accumulator *accumulator = NULL;
    reduct_error error;
    must(reduct_accumulator_create(&options, &accumulator, &error), &error);
    return accumulator;
}

static void open_gpu(struct gpu *gpu, int ordinal, uint64_t count) {
    rd_cu_device device;
    size_t available = 0, total = 0;
    snprintf(gpu->name, sizeof gpu->name, "cuda:%d", ordinal);
    cuda(driver->cuDeviceGet(&device, ordinal));
    cuda(driver->cuDevicePrimaryCtxRetain(&gpu->context, device));
    cuda(driver->cuCtxSetCurrent(gpu->context));
    cuda(driver->cuMemGetInfo(&available, &total));
    gpu->count = count < available / 2 / sizeof(double) ? count : available / 2 / sizeof(double);
    cuda(driver->cuMemAlloc(&gpu->x, gpu->count * sizeof(double)));
    cuda(driver->cuMemsetD32Async(gpu->x, HALF, 2 * gpu->count, NULL));
    cuda(driver->cuStreamSynchronize(NULL));
    gpu->accumulator = accumulator_of(gpu->name);
}

static void add_slice(struct gpu *gpu) {
    reduct_accumulator_reset(gpu->accumulator);
    gpu->status = reduct_accumulator_add(gpu->accumulator, pointer(gpu->x, 0), NULL, gpu->count, &gpu->error);
}

static void *run_thread(void *argument) {
    struct gpu *gpu = argument;
    for (;;) {
        pthread_barrier_wait(&gpu->all->begun);
        if (gpu->all->ended)
            return NULL;
        add_slice(gpu);
        pthread_barrier_wait(&gpu->all->done);
    }
}

static void start_threads(struct gpus *gpus) {
    pthread_barrier_init(&gpus->begun, NULL, (unsigned)gpus->count);
    pthread_barrier_init(&gpus->done, NULL, (unsigned)gpus->count);
    for (int g = 1; g < gpus->count; g++) {
        gpus->of[g].all = gpus;
        if (pthread_create(&gpus->thread[g], NULL, run_thread, &gpus->of[g]) != 0)
            stop("threads", "one could not be started");
    }
}

static void end_threads(struct gpus *gpus) {
    gpus->ended = true;
    pthread_barrier_wait(&gpus->begun);
    for (int g = 1; g < gpus->count; g++)
        pthread_join(gpus->thread[g], NULL);
    pthread_barrier_destroy(&gpus->begun);
    pthread_barrier_destroy(&gpus->done);
}

static void open_gpus(struct gpus *gpus, uint64_t count, uint64_t host_count) {
    const unsigned halves[] = {HALF, HALF};
    for (int g = 0; g < gpus->count; g++)
        open_gpu(&gpus->of[g], g, count);
    gpus->one = accumulator_of("cuda:0");
    gpus->all = accumulator_of("cuda:all");
    gpus->host_count = host_count;
    gpus->host = malloc(host_count * sizeof *gpus->host);
    if (!gpus->host)
        stop("memory", "none for the array on the host");
    for (uint64_t i = 0; i < host_count; i++)
        memcpy(&gpus->host[i], halves, sizeof halves);
    start_threads(gpus);
}

static void close_gpus(struct gpus *gpus) {
    end_threads(gpus);
    for (int g = 0; g < gpus->count; g++) {
        reduct_accumulator_destroy(gpus->of[g].accumulator);
        cuda(driver->cuCtxSetCurrent(gpus->of[g].context));
        cuda(driver->cuMemFree(gpus->of[g].x));
    }
    reduct_accumulator_destroy(gpus->one);
    reduct_accumulator_destroy(gpus->all);
    free(gpus->host);
}

static double result_of(const reduct_accumulator *accumulator) {
    double result;
    reduct_error error;
    must(reduct_accumulator_result(accumulator, REDUCT_F64, &result, &error), &error);
    return result;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is timed. Each returns the sum, and how many elements are in it.
 * ------------------------------------------------------------------------------------------------------------------ */

typedef double work(struct gpus *gpus, uint64_t *count);

/* The first GPU its slice, and the others wait. */
static double first_slice(struct gpus *gpus, uint64_t *count) {
    struct gpu *gpu = &gpus->of[0];
    add_slice(gpu);
    must(gpu->status, &gpu->error);
    *count = gpu->count;
    return result_of(gpu->accumulator);
}

/* All GPUs their slices at once: a thread and an accumulator for each, which are merged. */
static double all_slices(struct gpus *gpus, uint64_t *count) {
    reduct_error error;
    pthread_barrier_wait(&gpus->begun);
    add_slice(&gpus->of[0]);
    pthread_barrier_wait(&gpus->done);
    *count = 0;
    for (int g = 0; g < gpus->count; g++) {
        struct gpu *gpu = &gpus->of[g];
        must(gpu->status, &gpu->error);
        if (g > 0)
            must(reduct_accumulator_merge(gpus->of[0].accumulator, gpu->accumulator, &error), &error);
        *count += gpu->count;
    }
    return result_of(gpus->of[0].accumulator);
}

/* All slices by one accumulator of all devices, one after the other. */
static double slices_in_turn(struct gpus *gpus, uint64_t *count) {
    reduct_error error;
    reduct_accumulator_reset(gpus->all);
    for (int g = 0; g < gpus->count; g++)
        must(reduct_accumulator_add(gpus->all, pointer(gpus->of[g].x, 0), NULL, gpus->of[g].count, &error), &error);
    *count = reduct_accumulator_count(gpus->all);
    return result_of(gpus->all);
}

static double from_host(struct gpus *gpus, reduct_accumulator *accumulator, uint64_t *count) {
    reduct_error error;
    reduct_accumulator_reset(accumulator);
    must(reduct_accumulator_add(accumulator, gpus->host, NULL, gpus->host_count, &error), &error);
    *count = gpus->host_count;
    return result_of(accumulator);
}

static double host_by_first(struct gpus *gpus, uint64_t *count) {
    return from_host(gpus, gpus->one, count);
}

static double host_by_all(struct gpus *gpus, uint64_t *count) {
    return from_host(gpus, gpus->all, count);
}

enum { CASES = 5 };
static const struct {
    const char *name;
    work *run;
    int beside;
} cases[CASES] = {{"the slice of the first", first_slice, 0},
                  {"the slices of all, a thread for each", all_slices, 0},
                  {"the slices of all, in turn", slices_in_turn, 0},
                  {"an array on the host, by the first", host_by_first, 3},
                  {"an array on the host, by all", host_by_all, 3}};

/* The elements are all the same, and fewer than 2^53, so that one multiplication gives the rounded sum. */
static double run(struct gpus *gpus, int which, uint64_t *count) {
    const unsigned halves[] = {HALF, HALF};
    double element, began = now(), sum = cases[which].run(gpus, count), took = now() - began;
    memcpy(&element, halves, sizeof element);
    const bool good = sum == (double)*count * element;
    if (!good)
        printf("FAILED: %s: %.17g of %llu elements\n", cases[which].name, sum, (unsigned long long)*count);
    passed += good;
    failed += !good;
    return took;
}

static void time_all(struct gpus *gpus, double seconds) {
    enum { LEAST_ROUNDS = 3 };
    double least[CASES];
    uint64_t count[CASES];
    int rounds = 0;
    for (int c = 0; c < CASES; c++)
        least[c] = run(gpus, c, &count[c]) + 1e9; /* for the first time all is slower */
    for (double began = now(); now() - began < seconds || rounds < LEAST_ROUNDS; rounds++)
        for (int c = 0; c < CASES; c++) {
            const double time = run(gpus, c, &count[c]);
            least[c] = time < least[c] ? time : least[c];
        }
    printf("%-40s %14s %12s %10s %8s   (the least of %d)\n", "what", "doubles", "microseconds", "GB/s", "ratio",
           rounds);
    for (int c = 0; c < CASES; c++)
        printf("%-40s %14llu %12.1f %10.1f %8.3f\n", cases[c].name, (unsigned long long)count[c], 1e6 * least[c],
               8e-9 * (double)count[c] / least[c], least[c] / least[cases[c].beside]);
}

int main(int argc, char **argv) {
    const bool only_verify = read_arguments(&argc, &argv, 2);
    const double gib = argument(argc, argv, 1, "GIB", 0.001, 1 << 20, 8),
                 seconds = argument(argc, argv, 2, "SECONDS", 0, SECONDS_MOST, 2);
    const char *why = "";
    static struct gpus gpus;
    driver = rd_cuda_driver_open(&why);
    if (!driver) {
        printf("GPUs: not tested here: %s\n", why);
        return SKIPPED;
    }
    const uint64_t count = only_verify ? 1 << 17 : (uint64_t)(gib * (1 << 27));
    gpus.count = driver->devices < DEVICES ? driver->devices : DEVICES;
    open_gpus(&gpus, count, count / 4 + 1);
    printf("%d GPU%s\n", gpus.count, gpus.count == 1 ? "" : "s");
    if (only_verify) {
        uint64_t seen;
        for (int c = 0; c < CASES; c++)
            run(&gpus, c, &seen);
    } else {
        time_all(&gpus, seconds);
    }
    close_gpus(&gpus);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
