/* Keys in a GPU's memory: their numbers, their runs, and sums by key, beside what CUB has for it, in turns within one run. What comes
 * is compared with the host's.
 *
 *   bench_keys [--verify] [COUNT [SECONDS]]
 *
 * COUNT keys, 2^26 unless said; SECONDS for each case, 0.3 unless said; with --verify each runs once, on few keys.
 * Without a GPU it says so and ends with status 77. */
#include "gpus.h"

#include "gpu/cuda_peers.h"

#include <reduct/cuda.h>

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static int passed, failed;

/* How keys come. */
struct data {
    const char *name;
    reduct_type type;
    uint64_t different, stretch; /* of how many different keys; elements of a key at a time; 0: sorted */
};

static const struct data all_data[] = {{"u32, 100 different", REDUCT_U32, 100, 1},
                                       {"u32, 10^4 different", REDUCT_U32, 10000, 1},
                                       {"u32, 10^6 different", REDUCT_U32, 1000000, 1},
                                       {"u32, 10^7 different", REDUCT_U32, 10000000, 1},
                                       {"u64, 10^4 different", REDUCT_U64, 10000, 1},
                                       {"u64, 10^7 different", REDUCT_U64, 10000000, 1},
                                       {"u32, 10^6 different, sorted", REDUCT_U32, 1000000, 0},
                                       {"u64, 10^6 different, sorted", REDUCT_U64, 1000000, 0},
                                       {"u32, all equal", REDUCT_U32, 1, 1}};
enum { DATA = sizeof all_data / sizeof *all_data };

/* What is measured, each by us and by CUB. */
enum what { NUMBERS, ASCENDING, SUMS, RUNS, SUMS_OF_RUNS, WHATS };
static const struct {
    const char *name, *peer;
} whats[WHATS] = {{"numbers, by appearance", NULL},
                  {"numbers, ascending", NULL},
                  {"sums of f32 by key", "SortPairs, ReduceByKey"},
                  {"runs", "RunLengthEncode"},
                  {"sums of f32 by run", "ReduceByKey"}};

struct lab {
    const struct data *data;
    const gpu_peers *peers;
    uint64_t count, room;
    void *host;
    uint32_t *host_indices;
    uint64_t host_found; /* different keys, or runs */
    rd_cu_address keys, x, numbers, unique, found, sums, workspace, scratch;
    size_t scratch_bytes;
    reduct_cuda_keys *object;
    reduct_plan *plan;
    rd_cu_event begin, end;
};

static uint64_t mix(uint64_t x) { /* splitmix64 */
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static size_t key_bytes(const struct lab *lab) {
    return reduct_type_size(lab->data->type);
}

static bool is_of_runs(enum what what) {
    return what == RUNS || what == SUMS_OF_RUNS;
}

static void *room_for(size_t bytes) {
    void *room = malloc(bytes ? bytes : 1);
    if (!room)
        stop("memory", "none for data on the host");
    return room;
}

static rd_cu_address alloc(size_t bytes) {
    rd_cu_address address = 0;
    cuda(driver->cuMemAlloc(&address, bytes ? bytes : 1));
    return address;
}

static void make_data(struct lab *lab) {
    const size_t bytes = key_bytes(lab);
    lab->host = room_for(lab->count * bytes);
    for (uint64_t i = 0; i < lab->count; i++) {
        const uint64_t which =
                           lab->data->stretch ? mix(i) % lab->data->different : i * lab->data->different / lab->count,
                       key = lab->data->stretch ? mix(which) : which * 5;
        memcpy((unsigned char *)lab->host + i * bytes, &key, bytes);
    }
    lab->keys = alloc(lab->count * bytes);
    lab->x = alloc(lab->count * sizeof(float));
    cuda(driver->cuMemcpyHtoDAsync(lab->keys, lab->host, lab->count * bytes, NULL));
    cuda(driver->cuMemsetD32Async(lab->x, 0x3f800000, lab->count, NULL)); /* 1 */
    cuda(driver->cuStreamSynchronize(NULL));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * One case
 * ------------------------------------------------------------------------------------------------------------------ */

/* What the host finds, and how much room that takes. */
static void expect(struct lab *lab, enum what what) {
    reduct_error error;
    lab->host_indices = room_for(lab->count * sizeof(uint32_t));
    if (is_of_runs(what)) {
        must(reduct_keys_runs(lab->data->type, lab->host, lab->count, NULL, NULL, &lab->host_found, &error), &error);
    } else {
        reduct_keys *keys = NULL;
        must(reduct_keys_create(lab->data->type, &keys, &error), &error);
        must(reduct_keys_add(keys, lab->host, lab->count, REDUCT_U32, lab->host_indices, &error), &error);
        lab->host_found = reduct_keys_count(keys);
        reduct_keys_destroy(keys);
    }
    lab->room = lab->host_found;
}

static void prepare(struct lab *lab, enum what what) {
    reduct_error error;
    const reduct_cuda_keys_options options = {.kind = is_of_runs(what)    ? REDUCT_CUDA_KEYS_RUNS
                                                      : what == ASCENDING ? REDUCT_CUDA_KEYS_ASCENDING
                                                                          : REDUCT_CUDA_KEYS_FIRST,
                                              .type = lab->data->type,
                                              .count = lab->count,
                                              .room = lab->room,
                                              .device = "cuda:0"};
    must(reduct_cuda_keys_create(&options, &lab->object, &error), &error);
    lab->workspace = alloc(reduct_cuda_keys_workspace_size(lab->object));
    lab->numbers = alloc(is_of_runs(what) ? (lab->room + 1) * sizeof(uint64_t) : lab->count * sizeof(uint32_t));
    lab->unique = alloc(lab->count * key_bytes(lab)); /* CUB knows no room */
    lab->found = alloc(sizeof(uint64_t));
    lab->sums = alloc(lab->count * sizeof(float));
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F32};
    const reduct_groups groups = {.count = lab->room, .elements = lab->count, .index = REDUCT_U32};
    const reduct_segments segments = {.count = lab->room, .elements = lab->count, .index = REDUCT_U64};
    const reduct_plan_options plan = {.reductions = &sum,
                                      .reduction_count = 1,
                                      .kind = is_of_runs(what) ? REDUCT_SEGMENTS : REDUCT_GROUPS,
                                      .groups = &groups,
                                      .segments = &segments,
                                      .device = "cuda:0"};
    must(reduct_plan_create(&plan, &lab->plan, &error), &error);
}

static void clean(struct lab *lab) {
    const rd_cu_address memory[] = {lab->workspace, lab->numbers, lab->unique, lab->found, lab->sums};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        cuda(driver->cuMemFree(memory[i]));
    reduct_cuda_keys_destroy(lab->object);
    reduct_plan_destroy(lab->plan);
    free(lab->host_indices);
}

static void queue_ours(struct lab *lab, enum what what) {
    reduct_error error;
    const void *const inputs[] = {pointer(lab->x, 0), pointer(lab->numbers, 0)};
    if (is_of_runs(what))
        must(reduct_cuda_keys_runs(lab->object, pointer(lab->keys, 0), pointer(lab->numbers, 0),
                                   pointer(lab->unique, 0), pointer(lab->found, 0), pointer(lab->workspace, 0), NULL,
                                   &error),
             &error);
    else
        must(reduct_cuda_keys_group(lab->object, pointer(lab->keys, 0), pointer(lab->numbers, 0),
                                    pointer(lab->unique, 0), pointer(lab->found, 0), pointer(lab->workspace, 0), NULL,
                                    &error),
             &error);
    if (what == SUMS || what == SUMS_OF_RUNS)
        must(reduct_cuda_execute(lab->plan, inputs, (void *[]){pointer(lab->sums, 0)}, NULL, NULL, NULL, &error),
             &error);
}

static int call_peer(struct lab *lab, enum what what, void *scratch) {
    const struct gpu_peer_keys keys = {.keys = pointer(lab->keys, 0),
                                       .key_bytes = key_bytes(lab),
                                       .n = lab->count,
                                       .x = what == RUNS ? NULL : pointer(lab->x, 0),
                                       .sorts = what == SUMS,
                                       .unique = pointer(lab->unique, 0),
                                       .results = pointer(lab->sums, 0),
                                       .found = pointer(lab->found, 0)};
    return lab->peers->by_key(&keys, scratch, &lab->scratch_bytes, NULL);
}

static void queue_peer(struct lab *lab, enum what what) {
    const int result = call_peer(lab, what, pointer(lab->scratch, 0));
    if (result)
        stop("CUB", lab->peers->text(result));
}

/* Our numbers and what was found are the host's; a sum of ones is how many there are. */
static void verify(struct lab *lab, enum what what) {
    uint64_t found = 0;
    bool good = true;
    cuda(driver->cuMemcpyDtoHAsync(&found, lab->found, sizeof found, NULL));
    cuda(driver->cuStreamSynchronize(NULL));
    good = found == lab->host_found;
    if (what == NUMBERS || what == SUMS) {
        uint32_t *indices = room_for(lab->count * sizeof *indices);
        cuda(driver->cuMemcpyDtoHAsync(indices, lab->numbers, lab->count * sizeof *indices, NULL));
        cuda(driver->cuStreamSynchronize(NULL));
        good = good && memcmp(indices, lab->host_indices, lab->count * sizeof *indices) == 0;
        free(indices);
    }
    if (what == SUMS || what == SUMS_OF_RUNS) {
        float *sums = room_for(lab->room * sizeof *sums);
        double total = 0;
        cuda(driver->cuMemcpyDtoHAsync(sums, lab->sums, lab->room * sizeof *sums, NULL));
        cuda(driver->cuStreamSynchronize(NULL));
        for (uint64_t i = 0; i < lab->room; i++)
            total += sums[i];
        good = good && (total == (double)lab->count || lab->count >> 24); /* beyond which f32 rounds */
        free(sums);
    }
    if (!good)
        printf("FAILED: %s, %s: found %" PRIu64 ", expected %" PRIu64 "\n", whats[what].name, lab->data->name, found,
               lab->host_found);
    passed += good;
    failed += !good;
}

static double time_of(struct lab *lab, enum what what, void (*queue)(struct lab *, enum what)) {
    float milliseconds = 0;
    cuda(driver->cuEventRecord(lab->begin, NULL));
    queue(lab, what);
    cuda(driver->cuEventRecord(lab->end, NULL));
    cuda(driver->cuEventSynchronize(lab->end));
    cuda(driver->cuEventElapsedTime(&milliseconds, lab->begin, lab->end));
    return 1e3 * (double)milliseconds;
}

/* The least of as many rounds as there is time for, after one that does not count. */
static void measure(struct lab *lab, enum what what, double seconds) {
    const bool beside = lab->peers && whats[what].peer;
    double ours = 1e300, theirs = 1e300;
    if (beside) {
        lab->scratch_bytes = 0;
        const int result = call_peer(lab, what, NULL);
        if (result)
            stop("CUB", lab->peers->text(result));
        lab->scratch = alloc(lab->scratch_bytes);
        queue_peer(lab, what);
    }
    queue_ours(lab, what);
    verify(lab, what);
    const double began = now();
    for (int round = 0; seconds > 0 && (round < 3 || now() - began < seconds); round++) {
        const double time = time_of(lab, what, queue_ours), other = beside ? time_of(lab, what, queue_peer) : 0;
        ours = time < ours ? time : ours;
        theirs = other < theirs ? other : theirs;
    }
    if (beside)
        cuda(driver->cuMemFree(lab->scratch));
    if (seconds > 0)
        printf("%-30s %-26s %12.1f %10.1f", lab->data->name, whats[what].name, ours,
               (double)(lab->count * key_bytes(lab)) / ours / 1e3);
    if (seconds > 0 && beside)
        printf(" %12.1f %8.3f  %s", theirs, ours / theirs, whats[what].peer);
    if (seconds > 0)
        printf("\n");
}

static void run_all(uint64_t count, double seconds, const gpu_peers *peers) {
    if (seconds > 0)
        printf("%-30s %-26s %12s %10s %12s %8s\n", "keys", "what", "microseconds", "GB/s", "CUB", "ratio");
    for (int d = 0; d < DATA; d++) {
        struct lab lab = {.data = &all_data[d], .peers = peers, .count = count};
        cuda(driver->cuEventCreate(&lab.begin, RD_CU_EVENT_DEFAULT));
        cuda(driver->cuEventCreate(&lab.end, RD_CU_EVENT_DEFAULT));
        make_data(&lab);
        for (int what = 0; what < WHATS; what++) {
            if (is_of_runs((enum what)what) && all_data[d].stretch && all_data[d].different > 1 && d > 1)
                continue; /* each run is an element: once is enough */
            expect(&lab, (enum what)what);
            prepare(&lab, (enum what)what);
            measure(&lab, (enum what)what, seconds);
            clean(&lab);
        }
        cuda(driver->cuMemFree(lab.keys));
        cuda(driver->cuMemFree(lab.x));
        cuda(driver->cuEventDestroy(lab.begin));
        cuda(driver->cuEventDestroy(lab.end));
        free(lab.host);
    }
}

int main(int argc, char **argv) {
    const bool verifies = read_arguments(&argc, &argv, 2);
    const char *why = NULL, *no_peers = NULL;
    rd_cu_context context;
    rd_cu_device device;
    const uint64_t count = (uint64_t)argument(argc, argv, 1, "COUNT", 1, UINT32_MAX, verifies ? 20000 : 1 << 26);
    const double given = argument(argc, argv, 2, "SECONDS", 0, SECONDS_MOST, 0.3), seconds = verifies ? 0 : given;
    driver = rd_cuda_driver_open(&why);
    if (!driver) {
        printf("SKIPPED: %s\n", why);
        return SKIPPED;
    }
    cuda(driver->cuDeviceGet(&device, 0));
    cuda(driver->cuDevicePrimaryCtxRetain(&context, device));
    cuda(driver->cuCtxSetCurrent(context));
    const gpu_peers *peers = gpu_cuda_peers(0, &no_peers);
    if (!peers && !verifies)
        printf("without CUB: %s\n", no_peers);
    run_all(count, seconds, peers);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
