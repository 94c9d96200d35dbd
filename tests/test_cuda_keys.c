/* Keys in device memory: runs, and numbers for keys that come in any order, against plain loops over sorted pairs, and against the
 * numbers that the library gives on the host; what is beyond the room; workspaces that hold anything; graphs; plans that take what
 * came of it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/keys.h"
#include "cuda/kernels/keys.h"
#include "cuda_support.h"

static const reduct_type key_types[] = {REDUCT_I32, REDUCT_U32, REDUCT_I64, REDUCT_U64};
enum { KEY_TYPES = 4, CANARY = 0x5b };

/* How keys come. */
enum manner { EQUAL, DIFFERENT, DESCENDING, FEW, STRETCHES, EXTREMES, COLLIDING, LATE, MANNERS };
static const char *const manner_names[] = {"equal",     "different", "descending", "few",
                                           "stretches", "extremes",  "colliding",  "new ones late"};

static size_t bytes_of(reduct_type type) {
    return reduct_type_size(type);
}

static uint64_t key_at(const void *keys, size_t bytes, uint64_t i) {
    uint64_t key = 0;
    memcpy(&key, (const unsigned char *)keys + i * bytes, bytes);
    return key;
}

static void put_key(void *keys, size_t bytes, uint64_t i, uint64_t key) {
    memcpy((unsigned char *)keys + i * bytes, &key, bytes);
}

/* What times it is 1, of odd numbers: each step doubles the bits that are right. */
static uint64_t inverse(uint64_t odd) {
    uint64_t found = odd;
    for (int i = 0; i < 6; i++)
        found *= 2 - odd * found;
    return found;
}

/* The key that has a hash. */
static uint64_t key_of_hash(uint64_t hash, size_t bytes) {
    if (bytes == 8) {
        hash = (hash ^ hash >> 33) * inverse(0xc4ceb9fe1a85ec53);
        hash = (hash ^ hash >> 33) * inverse(0xff51afd7ed558ccd);
        return hash ^ hash >> 33;
    }
    uint32_t word = (uint32_t)hash;
    word = (word ^ word >> 16) * (uint32_t)inverse(0xc2b2ae35);
    word = (word ^ word >> 13 ^ word >> 26) * (uint32_t)inverse(0x85ebca6b);
    return word ^ word >> 16;
}

static uint64_t make_key(struct rng *rng, enum manner manner, size_t bytes, uint64_t i, uint64_t count,
                         uint64_t before) {
    const uint64_t all = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    const uint64_t extremes[] = {0, all, all >> 1, (all >> 1) + 1, 1, all - 1};
    switch (manner) {
    case EQUAL:
        return all;
    case DIFFERENT:
        return (i * 0x9e3779b97f4a7c15) & all; /* an odd factor: all are different */
    case DESCENDING:
        return (count - i / 3) & all;
    case FEW:
        return rng_below(rng, 7) * 0x01010101;
    case STRETCHES:
        return rng_below(rng, 50) ? before : rng_next(rng) & all;
    case EXTREMES:
        return extremes[rng_below(rng, 6)];
    case COLLIDING: /* in all tables of up to 2^24 slots */
        return key_of_hash(rng_below(rng, 60) << 24 | 0xfffffd, bytes);
    case LATE:
        return i + 1 < count ? rng_below(rng, 300) << 8 : (uint64_t)77;
    case MANNERS:
        break;
    }
    return 0;
}

static void *make_keys(struct rng *rng, enum manner manner, reduct_type type, uint64_t count) {
    const size_t bytes = bytes_of(type);
    void *keys = test_alloc((size_t)count * bytes + 1);
    uint64_t key = 0;
    for (uint64_t i = 0; i < count; i++) {
        key = make_key(rng, manner, bytes, i, count, key);
        put_key(keys, bytes, i, key);
    }
    return keys;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is expected
 * ------------------------------------------------------------------------------------------------------------------ */

struct expected {
    uint64_t found;
    uint64_t *unique; /* as their bits */
    uint32_t *indices;
    uint64_t *offsets; /* count + 1 */
};

struct pair {
    uint64_t rank, key, place;
};

static int by_rank(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_place(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Sorts all, then the first of each key by where they are: numbers are places in either. */
static struct expected expect_numbers(const void *keys, reduct_type type, uint64_t count, bool ascending) {
    const size_t bytes = bytes_of(type);
    const uint64_t sign = type == REDUCT_I32 ? (uint64_t)1 << 31 : type == REDUCT_I64 ? (uint64_t)1 << 63 : 0;
    struct expected expected = {.unique = test_alloc((size_t)count * 8 + 1),
                                .indices = test_alloc((size_t)count * 4 + 1)};
    struct pair *all = test_alloc((size_t)(count + 1) * sizeof *all),
                *firsts = test_alloc((size_t)(count + 1) * sizeof *all);
    uint32_t *number = test_alloc((size_t)count * 4 + 1);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = key_at(keys, bytes, i);
        all[i] = (struct pair){key ^ sign, key, i};
    }
    qsort(all, (size_t)count, sizeof *all, by_rank);
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || all[i].key != all[i - 1].key)
            firsts[expected.found++] = all[i];
    if (!ascending)
        qsort(firsts, (size_t)expected.found, sizeof *firsts, by_place);
    for (uint64_t i = 0; i < expected.found; i++) {
        expected.unique[i] = firsts[i].key;
        number[firsts[i].place] = (uint32_t)i;
    }
    for (uint64_t i = 0, first = 0; i < count; i++) {
        first = i == 0 || all[i].key != all[i - 1].key ? all[i].place : first;
        expected.indices[all[i].place] = number[first];
    }
    free(all);
    free(firsts);
    free(number);
    return expected;
}

static struct expected expect_runs(const void *keys, reduct_type type, uint64_t count) {
    const size_t bytes = bytes_of(type);
    struct expected expected = {.unique = test_alloc((size_t)count * 8 + 1),
                                .offsets = test_alloc((size_t)(count + 1) * 8)};
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || key_at(keys, bytes, i) != key_at(keys, bytes, i - 1)) {
            expected.offsets[expected.found] = i;
            expected.unique[expected.found++] = key_at(keys, bytes, i);
        }
    expected.offsets[expected.found] = count;
    return expected;
}

static void clear(struct expected *expected) {
    free(expected->unique);
    free(expected->indices);
    free(expected->offsets);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * One array
 * ------------------------------------------------------------------------------------------------------------------ */

/* An object and an array on the device, beside room for what comes, which is filled with CANARY, and 64 bytes more each. */
struct trial {
    reduct_cuda_keys_kind kind;
    reduct_type type;
    enum manner manner;
    uint64_t count, asked, room; /* asked: for room */
    reduct_cuda_keys *object;
    void *keys;
    rd_cu_address array, numbers, unique, found, workspace; /* numbers: indices or offsets */
    size_t number_bytes, unique_bytes;
    unsigned shift; /* keys before the first one */
};

enum { MARGIN = 64 };

static const char *describe(const struct trial *trial) {
    static char text[160];
    snprintf(text, sizeof text, "kind %d, %s, %s, %llu keys, room for %llu", (int)trial->kind,
             reduct_type_name(trial->type), manner_names[trial->manner], (unsigned long long)trial->count,
             (unsigned long long)trial->asked);
    return text;
}

static void spoil(struct rng *rng, rd_cu_address workspace, size_t bytes) {
    static const unsigned char values[] = {0, 0xff, 0x80, 0x5b};
    gpu_fill(workspace, values[rng_below(rng, 4)], bytes);
    for (int i = 0; i < 8 && bytes >= 8; i++) {
        const uint64_t word = rng_next(rng);
        gpu_upload(workspace + rng_below(rng, bytes / 8) * 8, &word, 8);
    }
}

static void begin(struct trial *trial, struct rng *rng) {
    reduct_error error = {.message = ""};
    const bool runs = trial->kind == REDUCT_CUDA_KEYS_RUNS;
    const size_t bytes = bytes_of(trial->type);
    const reduct_cuda_keys_options options = {
        .kind = trial->kind, .type = trial->type, .count = trial->count, .room = trial->asked, .device = gpu.name};
    trial->room = trial->asked ? trial->asked : trial->count;
    if (reduct_cuda_keys_create(&options, &trial->object, &error) != REDUCT_OK)
        test_fail("%s: %s", describe(trial), error.message);
    trial->shift = (unsigned)rng_below(rng, 4);
    trial->keys = make_keys(rng, trial->manner, trial->type, trial->count);
    trial->number_bytes = (size_t)(runs ? 8 * (trial->room + 1) : 4 * trial->count);
    trial->unique_bytes = (size_t)trial->room * bytes;
    trial->array = gpu_alloc((size_t)(trial->count + trial->shift) * bytes);
    gpu_upload(trial->array + trial->shift * bytes, trial->keys, (size_t)trial->count * bytes);
    trial->numbers = gpu_alloc(trial->number_bytes + MARGIN);
    trial->unique = gpu_alloc(trial->unique_bytes + MARGIN);
    trial->found = gpu_alloc(8 + MARGIN);
    trial->workspace = gpu_alloc(reduct_cuda_keys_workspace_size(trial->object) + MARGIN);
    gpu_fill(trial->workspace + reduct_cuda_keys_workspace_size(trial->object), CANARY, MARGIN);
}

static void refill(const struct trial *trial, struct rng *rng) {
    spoil(rng, trial->workspace, reduct_cuda_keys_workspace_size(trial->object));
    gpu_fill(trial->numbers, CANARY, trial->number_bytes + MARGIN);
    gpu_fill(trial->unique, CANARY, trial->unique_bytes + MARGIN);
    gpu_fill(trial->found, CANARY, 8 + MARGIN);
}

static void end(struct trial *trial) {
    const rd_cu_address memory[] = {trial->array, trial->numbers, trial->unique, trial->found, trial->workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        gpu_free(memory[i]);
    reduct_cuda_keys_destroy(trial->object);
    free(trial->keys);
}

static reduct_status queue_in(const struct trial *trial, rd_cu_stream stream, bool numbers, bool unique,
                              reduct_error *error) {
    const void *array = trial->count ? gpu_pointer(trial->array, trial->shift * bytes_of(trial->type)) : NULL;
    void *to_numbers = numbers ? gpu_pointer(trial->numbers, 0) : NULL,
         *to_unique = unique ? gpu_pointer(trial->unique, 0) : NULL, *found = gpu_pointer(trial->found, 0),
         *workspace = gpu_pointer(trial->workspace, 0);
    return trial->kind == REDUCT_CUDA_KEYS_RUNS
               ? reduct_cuda_keys_runs(trial->object, array, to_numbers, to_unique, found, workspace, stream, error)
               : reduct_cuda_keys_group(trial->object, array, to_numbers, to_unique, found, workspace, stream, error);
}

static void queue(const struct trial *trial, bool numbers, bool unique) {
    reduct_error error = {.message = ""};
    const reduct_status status = queue_in(trial, gpu.stream, numbers, unique, &error);
    if (status != REDUCT_OK)
        test_fail("%s: status %d, %s", describe(trial), (int)status, error.message);
}

static void check_canary(const struct trial *trial, const unsigned char *bytes, size_t from, size_t to,
                         const char *what) {
    for (size_t i = from; i < to; i++)
        if (bytes[i] != CANARY)
            test_fail("%s: byte %zu of %s was written", describe(trial), i, what);
}

static void check_numbers(const struct trial *trial, const unsigned char *came, const struct expected *expected,
                          bool wanted) {
    const bool runs = trial->kind == REDUCT_CUDA_KEYS_RUNS, over = expected->found > trial->room;
    for (uint64_t i = 0; wanted && i < (runs ? trial->room + 1 : trial->count); i++) {
        const uint64_t is = key_at(came, runs ? 8 : 4, i);
        const uint64_t should = runs   ? i < expected->found ? expected->offsets[i] : trial->count
                                : over ? UINT32_MAX
                                       : expected->indices[i];
        if (is != should)
            test_fail("%s: number %llu is %llu; expected %llu", describe(trial), (unsigned long long)i,
                      (unsigned long long)is, (unsigned long long)should);
    }
    check_canary(trial, came, wanted ? trial->number_bytes : 0, trial->number_bytes + MARGIN, "numbers");
}

static void check_unique(const struct trial *trial, const unsigned char *came, const struct expected *expected,
                         bool wanted) {
    const size_t bytes = bytes_of(trial->type);
    const bool runs = trial->kind == REDUCT_CUDA_KEYS_RUNS, over = expected->found > trial->room;
    const uint64_t there = !wanted ? 0 : over ? trial->room : expected->found;
    for (uint64_t i = 0; i < there && (runs || !over); i++)
        if (key_at(came, bytes, i) != expected->unique[i])
            test_fail("%s: key %llu is %llx; expected %llx", describe(trial), (unsigned long long)i,
                      (unsigned long long)key_at(came, bytes, i), (unsigned long long)expected->unique[i]);
    check_canary(trial, came, (size_t)there * bytes, trial->unique_bytes + MARGIN, "unique keys");
}

static void check(const struct trial *trial, const struct expected *expected, bool numbers, bool unique) {
    unsigned char *came = test_alloc(trial->number_bytes + trial->unique_bytes + 2 * MARGIN);
    uint64_t found[1 + MARGIN / 8];
    gpu_download(found, trial->found, sizeof found);
    const uint64_t should =
        trial->kind != REDUCT_CUDA_KEYS_RUNS && expected->found > trial->room ? UINT64_MAX : expected->found;
    if (found[0] != should)
        test_fail("%s: found %llu; expected %llu", describe(trial), (unsigned long long)found[0],
                  (unsigned long long)should);
    check_canary(trial, (const unsigned char *)&found[1], 0, MARGIN, "what is behind the number of keys");
    gpu_download(came, trial->numbers, trial->number_bytes + MARGIN);
    check_numbers(trial, came, expected, numbers);
    gpu_download(came, trial->unique, trial->unique_bytes + MARGIN);
    check_unique(trial, came, expected, unique);
    gpu_download(came, trial->workspace + reduct_cuda_keys_workspace_size(trial->object), MARGIN);
    check_canary(trial, came, 0, MARGIN, "what is behind the workspace");
    free(came);
}

static struct expected expect(const struct trial *trial) {
    return trial->kind == REDUCT_CUDA_KEYS_RUNS
               ? expect_runs(trial->keys, trial->type, trial->count)
               : expect_numbers(trial->keys, trial->type, trial->count, trial->kind == REDUCT_CUDA_KEYS_ASCENDING);
}

/* The numbers of reduct_keys_add(). */
static void check_host(const struct trial *trial, const struct expected *expected) {
    reduct_keys *keys = NULL;
    uint32_t *indices = test_alloc((size_t)trial->count * 4 + 1);
    test_status(reduct_keys_create(trial->type, &keys, NULL), REDUCT_OK);
    test_status(reduct_keys_add(keys, trial->keys, trial->count, REDUCT_U32, indices, NULL), REDUCT_OK);
    assert_int_equal(reduct_keys_count(keys), expected->found);
    assert_memory_equal(indices, expected->indices, (size_t)trial->count * 4);
    reduct_keys_destroy(keys);
    free(indices);
}

/* With as much room as there can be, exactly enough, one too few and one. */
static void try_all_rooms(struct trial trial, struct rng *rng) {
    uint64_t found = trial.count;
    const struct rng keys = rng_of(rng_next(rng));
    for (int room = 0; room < 5; room++) {
        trial.asked = room == 0 ? 0 : room == 1 ? found : room == 2 ? found - 1 : room == 3 ? 1 : found + 100;
        if (room && (!found || (room == 2 && found < 3) || (room > 2 && trial.count > RD_CUDA_KEYS_RUN_TILE)))
            continue;
        struct rng same = keys; /* whose room is known after the first time */
        begin(&trial, &same);
        if (trial.kind != REDUCT_CUDA_KEYS_RUNS && trial.room > trial.count)
            trial.room = trial.count;
        struct expected expected = expect(&trial);
        found = expected.found;
        const bool runs = trial.kind == REDUCT_CUDA_KEYS_RUNS, numbers = !runs || rng_below(rng, 4),
                   unique = rng_below(rng, 4);
        refill(&trial, rng);
        queue(&trial, numbers, unique);
        check(&trial, &expected, numbers, unique);
        if (room == 0 && trial.kind == REDUCT_CUDA_KEYS_FIRST)
            check_host(&trial, &expected);
        clear(&expected);
        end(&trial);
    }
}

static const uint64_t *counts_of(size_t *number) {
    static const uint64_t counts[] = {0,
                                      1,
                                      2,
                                      33,
                                      RD_CUDA_KEYS_TILE + 1,
                                      RD_CUDA_KEYS_SORT_TILE,
                                      RD_CUDA_KEYS_RUN_TILE - 1,
                                      RD_CUDA_KEYS_RUN_TILE,
                                      RD_CUDA_KEYS_RUN_TILE + 1,
                                      3 * RD_CUDA_KEYS_RUN_TILE + 77,
                                      64 * RD_CUDA_KEYS_BIT_TILE + 65,
                                      5000011};
    *number = gpu.quick && !gpu.small ? 9 : gpu.small ? 11 : 12;
    return counts;
}

static void each_of(reduct_cuda_keys_kind kind) {
    size_t sizes;
    const uint64_t *counts = counts_of(&sizes);
    sizes -= gpu.small && kind == REDUCT_CUDA_KEYS_ASCENDING; /* it takes long, and no other way */
    struct rng rng = rng_of(test_seed() + 700 + (uint64_t)kind);
    for (size_t c = 0; c < sizes; c++)
        for (int manner = 0; manner < MANNERS; manner++)
            for (int t = 0; t < KEY_TYPES; t++) {
                const bool large = counts[c] > 10000;
                const int turn = (t + manner + (int)c) % KEY_TYPES; /* where not all types come each time */
                if (gpu.quick && (gpu.small ? kind == REDUCT_CUDA_KEYS_ASCENDING && turn % 2 : turn != 0))
                    continue;
                if ((large && (manner + t) % 4 != (int)c % 4) || (manner == COLLIDING && counts[c] > 10000))
                    continue;
                try_all_rooms(
                    (struct trial){
                        .kind = kind, .type = key_types[t], .manner = (enum manner)manner, .count = counts[c]},
                    &rng);
            }
}

static void runs(void **state) {
    (void)state;
    each_of(REDUCT_CUDA_KEYS_RUNS);
}

static void numbers(void **state) {
    (void)state;
    each_of(REDUCT_CUDA_KEYS_FIRST);
}

static void ascending(void **state) {
    (void)state;
    each_of(REDUCT_CUDA_KEYS_ASCENDING);
}

/* Keys of 32 bits in a table such as more than 2^32 of them have. */
static void wide(void **state) {
    (void)state;
    const uint64_t most = rd_cuda_keys_narrow_most;
    struct rng rng = rng_of(test_seed() + 710);
    rd_cuda_keys_narrow_most = 0;
    for (int manner = 0; manner < MANNERS; manner++)
        for (int t = 0; t < 2; t++)
            try_all_rooms((struct trial){.kind = manner % 2 ? REDUCT_CUDA_KEYS_FIRST : REDUCT_CUDA_KEYS_ASCENDING,
                                         .type = key_types[t],
                                         .manner = (enum manner)manner,
                                         .count = 3001},
                          &rng);
    rd_cuda_keys_narrow_most = most;
}

/* More keys than a full table has slots, all of which want the same one. */
static void overrun(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 711);
    for (int t = 0; t < KEY_TYPES; t++) {
        struct trial trial = {
            .type = key_types[t], .manner = DIFFERENT, .count = gpu.small ? 30000 : 3000000, .asked = 1};
        begin(&trial, &rng);
        if (t % 2)
            for (uint64_t i = 0; i < 3000; i++)
                put_key(trial.keys, bytes_of(trial.type), i, key_of_hash(i << 20 | 0xfffff, bytes_of(trial.type)));
        gpu_upload(trial.array + trial.shift * bytes_of(trial.type), trial.keys,
                   (size_t)trial.count * bytes_of(trial.type));
        struct expected expected = expect(&trial);
        refill(&trial, &rng);
        queue(&trial, true, true);
        uint64_t found = 0;
        gpu_download(&found, trial.found, sizeof found);
        assert_true(found == UINT64_MAX && expected.found > 1);
        uint32_t *indices = test_alloc((size_t)trial.count * 4);
        gpu_download(indices, trial.numbers, (size_t)trial.count * 4);
        for (uint64_t i = 0; i < trial.count; i++)
            assert_true(indices[i] == UINT32_MAX);
        free(indices);
        clear(&expected);
        end(&trial);
    }
}

/* One object for several threads, each with a stream, an array and a workspace of its own. */
struct worker {
    struct trial trial;
    rd_cu_stream stream;
    reduct_status status;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    enum { ROUNDS = 5 };
    if (gpu.driver->cuCtxSetCurrent(gpu.primary) != RD_CU_SUCCESS)
        worker->status = REDUCT_ERROR_DEVICE_LOST;
    for (int round = 0; round < ROUNDS && worker->status == REDUCT_OK; round++)
        worker->status = queue_in(&worker->trial, worker->stream, true, true, NULL);
    return NULL;
}

static void in_threads(void **state) {
    (void)state;
    enum { WORKERS = 4 };
    struct rng rng = rng_of(test_seed() + 712);
    for (int kind = 0; kind < 3; kind++) {
        struct worker workers[WORKERS];
        pthread_t threads[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = (struct worker){.trial = {.kind = (reduct_cuda_keys_kind)kind,
                                                   .type = REDUCT_I64,
                                                   .manner = i % 2 ? STRETCHES : LATE,
                                                   .count = gpu.small ? 5000 : 500000}};
            begin(&workers[i].trial, &rng);
            refill(&workers[i].trial, &rng);
            if (i) {
                reduct_cuda_keys_destroy(workers[i].trial.object);
                workers[i].trial.object = workers[0].trial.object;
            }
            CU(gpu.driver->cuStreamCreate(&workers[i].stream, RD_CU_STREAM_NON_BLOCKING));
        }
        for (int i = 0; i < WORKERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        for (int i = 0; i < WORKERS; i++) {
            pthread_join(threads[i], NULL);
            CU(gpu.driver->cuStreamSynchronize(workers[i].stream));
        }
        for (int i = WORKERS - 1; i >= 0; i--) {
            struct expected expected = expect(&workers[i].trial);
            test_status(workers[i].status, REDUCT_OK);
            check(&workers[i].trial, &expected, true, true);
            clear(&expected);
            CU(gpu.driver->cuStreamDestroy(workers[i].stream));
            if (i)
                workers[i].trial.object = NULL;
            end(&workers[i].trial);
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * With plans
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sums of integers by key, in a graph of all that it takes, over arrays that change from launch to launch. */
static void in_graphs(void **state) {
    (void)state;
    enum { GLOBAL = 0, COUNT = 5000, ROOM = 500, LAUNCHES = 4 };
    struct rng rng = rng_of(test_seed() + 720);
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I32, .result = REDUCT_I64};
    int32_t *x = test_alloc(COUNT * sizeof *x);
    const rd_cu_address values = gpu_alloc(COUNT * sizeof *x), results = gpu_alloc(ROOM * sizeof(int64_t));
    for (int kind = 0; kind < 3; kind++) {
        const bool runs = kind == REDUCT_CUDA_KEYS_RUNS;
        const reduct_groups groups = {.count = ROOM, .elements = COUNT, .index = REDUCT_U32};
        const reduct_segments segments = {.count = ROOM, .elements = COUNT, .index = REDUCT_U64};
        reduct_plan_options options = {.reductions = &sum,
                                       .reduction_count = 1,
                                       .kind = runs ? REDUCT_SEGMENTS : REDUCT_GROUPS,
                                       .device = gpu.name};
        if (runs)
            options.segments = &segments;
        else
            options.groups = &groups;
        reduct_plan *plan = NULL;
        reduct_error error = {.message = ""};
        if (reduct_plan_create(&options, &plan, &error) != REDUCT_OK)
            test_fail("%s", error.message);
        struct trial trial = {.kind = (reduct_cuda_keys_kind)kind,
                              .type = key_types[kind],
                              .manner = STRETCHES,
                              .count = COUNT,
                              .asked = ROOM};
        begin(&trial, &rng);
        refill(&trial, &rng);
        const void *inputs[] = {gpu_pointer(values, 0), gpu_pointer(trial.numbers, 0)};
        rd_cu_graph graph = NULL;
        rd_cu_graph_exec exec = NULL;
        CU(gpu.cuStreamBeginCapture(gpu.stream, GLOBAL));
        queue(&trial, true, true);
        const reduct_status status =
            reduct_cuda_execute(plan, inputs, (void *[]){gpu_pointer(results, 0)}, NULL, NULL, gpu.stream, &error);
        CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
        if (status != REDUCT_OK)
            test_fail("%s", error.message);
        CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        for (int launch = 0; launch < LAUNCHES; launch++) {
            free(trial.keys);
            trial.keys = make_keys(&rng, launch % 2 ? STRETCHES : runs ? EQUAL : FEW, trial.type, COUNT);
            gpu_upload(trial.array + trial.shift * bytes_of(trial.type), trial.keys, COUNT * bytes_of(trial.type));
            for (int i = 0; i < COUNT; i++)
                x[i] = (int32_t)rng_next(&rng);
            gpu_upload(values, x, COUNT * sizeof *x);
            refill(&trial, &rng);
            CU(gpu.cuGraphLaunch(exec, gpu.stream));
            struct expected expected = expect(&trial);
            check(&trial, &expected, true, true);
            int64_t should[ROOM] = {0}, came[ROOM];
            for (int i = 0, run = 0; i < COUNT; i++) {
                while (runs && expected.offsets[run + 1] <= (uint64_t)i)
                    run++;
                should[runs ? (uint32_t)run : expected.indices[i]] += x[i];
            }
            gpu_download(came, results, sizeof came);
            assert_memory_equal(came, should, sizeof came);
            clear(&expected);
        }
        CU(gpu.cuGraphExecDestroy(exec));
        CU(gpu.cuGraphDestroy(graph));
        end(&trial);
        reduct_plan_destroy(plan);
    }
    gpu_free(values);
    gpu_free(results);
    free(x);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is refused
 * ------------------------------------------------------------------------------------------------------------------ */

static void check_refused(reduct_cuda_keys_options options, reduct_status expected, const char *named) {
    reduct_error error = {.message = ""};
    reduct_cuda_keys *keys = (void *)(uintptr_t)1;
    const reduct_status status = reduct_cuda_keys_create(&options, &keys, &error);
    if (status != expected || error.status != expected || !strstr(error.message, named) || keys != (void *)(uintptr_t)1)
        test_fail("%s: status %d, %s", named, (int)status, error.message);
    test_status(reduct_cuda_keys_create(&options, &keys, NULL), expected);
}

static void check_call_refused(const struct trial *trial, const void *array, void *numbers, void *unique, void *found,
                               void *workspace, const char *named) {
    reduct_error error = {.message = ""};
    const reduct_status status =
        trial->kind == REDUCT_CUDA_KEYS_RUNS
            ? reduct_cuda_keys_runs(trial->object, array, numbers, unique, found, workspace, gpu.stream, &error)
            : reduct_cuda_keys_group(trial->object, array, numbers, unique, found, workspace, gpu.stream, &error);
    if (status != REDUCT_ERROR_ARGUMENT || error.status != status || !strstr(error.message, named))
        test_fail("%s: status %d, %s", named, (int)status, error.message);
}

static void refused(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 730);
    reduct_error error;
    reduct_cuda_keys *keys = NULL;
    const reduct_cuda_keys_options good = {.type = REDUCT_U64, .count = 10, .device = gpu.name};
    reduct_cuda_keys_options options = good;
    test_status(reduct_cuda_keys_create(NULL, &keys, &error), REDUCT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "options"));
    test_status(reduct_cuda_keys_create(&good, NULL, &error), REDUCT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "keys"));
    options.kind = (reduct_cuda_keys_kind)3;
    check_refused(options, REDUCT_ERROR_ARGUMENT, "kind");
    options = good;
    options.type = REDUCT_F32;
    check_refused(options, REDUCT_ERROR_ARGUMENT, "type");
    options = good;
    options.reserved[3] = 1;
    check_refused(options, REDUCT_ERROR_ARGUMENT, "reserved");
    options = good;
    options.device = "cpu";
    check_refused(options, REDUCT_ERROR_ARGUMENT, "device");
    options.device = "cuda:999";
    check_refused(options, REDUCT_ERROR_NO_DEVICE, "device");
    options = good;
    options.count = ((uint64_t)1 << 40) + 1;
    check_refused(options, REDUCT_ERROR_TOO_LARGE, "count");
    options.count = (uint64_t)1 << 31;
    check_refused(options, REDUCT_ERROR_TOO_LARGE, "room");
    options.kind = REDUCT_CUDA_KEYS_RUNS;
    options.room = UINT64_MAX;
    check_refused(options, REDUCT_ERROR_TOO_LARGE, "room");
    options = good;
    options.device = NULL;
    test_status(reduct_cuda_keys_create(&options, &keys, &error), REDUCT_OK);
    assert_true(reduct_cuda_keys_workspace_size(keys) > 0);
    reduct_cuda_keys_destroy(keys);
    assert_int_equal(reduct_cuda_keys_workspace_size(NULL), 0);
    reduct_cuda_keys_destroy(NULL);
    for (int kind = 0; kind < 3; kind++) {
        const bool runs = kind == REDUCT_CUDA_KEYS_RUNS;
        struct trial trial = {.kind = (reduct_cuda_keys_kind)kind, .type = REDUCT_U64, .manner = FEW, .count = 10};
        begin(&trial, &rng);
        refill(&trial, &rng);
        unsigned char *a = gpu_pointer(trial.array, 0), *n = gpu_pointer(trial.numbers, 0),
                      *u = gpu_pointer(trial.unique, 0), *f = gpu_pointer(trial.found, 0),
                      *w = gpu_pointer(trial.workspace, 0);
        check_call_refused(&trial, NULL, n, u, f, w, "array");
        check_call_refused(&trial, a + 4, n, u, f, w, "array");
        check_call_refused(&trial, a, n + 2, u, f, w, runs ? "offsets" : "indices");
        if (!runs)
            check_call_refused(&trial, a, NULL, u, f, w, "indices");
        check_call_refused(&trial, a, n, u + 4, f, w, "unique");
        check_call_refused(&trial, a, n, u, NULL, w, "found");
        check_call_refused(&trial, a, n, u, f + 4, w, "found");
        check_call_refused(&trial, a, n, u, f, NULL, "workspace");
        check_call_refused(&trial, a, n, u, f, w + 64, "workspace");
        struct trial other = trial;
        other.kind = runs ? REDUCT_CUDA_KEYS_FIRST : REDUCT_CUDA_KEYS_RUNS;
        check_call_refused(&other, a, n, u, f, w, "kind");
        other = trial;
        other.object = NULL;
        check_call_refused(&other, a, n, u, f, w, "keys");
        unsigned char found[8];
        gpu_download(found, trial.found, sizeof found);
        check_canary(&trial, found, 0, sizeof found, "the number of keys");
        end(&trial);
    }
}

int test_cuda_keys(void) {
    if (strcmp(gpu.name, "cuda:0") != 0) {
        print_message("not tested here: keys, which do not depend on how sums are formed\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs),      cmocka_unit_test(numbers),
                                       cmocka_unit_test(ascending), cmocka_unit_test(wide),
                                       cmocka_unit_test(overrun),   cmocka_unit_test(in_threads),
                                       cmocka_unit_test(in_graphs), cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
