/* Keys in device memory: see reduct/cuda.h, and kernels/keys.h for how it is done. */
#include "cuda/keys.h"

#include "core/environment.h"
#include "core/options.h"
#include "core/status.h"
#include "core/tables.h"
#include "cuda/backend.h"
#include "cuda/device.h"
#include "cuda/kernels/keys.h"
#include "cuda/launch.h"

#include <reduct/cuda.h>

#include <stdio.h>
#include <stdlib.h>

#define COUNT_MOST ((uint64_t)1 << 40) /* so that a launch has as many blocks as there are tiles */
#define ROOM_MOST  ((uint64_t)1 << 30) /* slots are twice as many, and one, and have numbers of 32 bits */

enum { ALIGNMENT = 256 };

uint64_t rd_cuda_keys_narrow_most = UINT32_MAX - 1;

/* In the order in which they run, but for the sort's, which come before the last. */
enum kernel { RUNS, FILL, ENTER, MARK, COUNT, NUMBER, DIGITS, SORT, WRITE, KERNELS };

struct reduct_cuda_keys {
    struct rd_cuda_context *context;
    reduct_cuda_keys_kind kind;
    reduct_type type;
    bool is_wide; /* the hash table: see kernels/keys.h */
    uint64_t count, room, slots;
    unsigned resident; /* blocks that the device holds */
    rd_cu_function kernel[KERNELS];
    /* Where parts of the workspace lie. The first ones, up to the table, are set to zero in one go. */
    size_t state, firsts, slot, below, key[2], number[2], rank, bytes;
    size_t sort_state_bytes, cleared_bytes, slot_bytes;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * What is found once
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_key_type(reduct_type type) {
    return type == REDUCT_I32 || type == REDUCT_U32 || type == REDUCT_I64 || type == REDUCT_U64;
}

static size_t key_bytes(const reduct_cuda_keys *keys) {
    return rd_type(keys->type)->bytes;
}

static uint64_t parts_of(uint64_t count, uint64_t part) {
    return (count + part - 1) / part;
}

static bool is_ascending(const reduct_cuda_keys *keys) {
    return keys->kind == REDUCT_CUDA_KEYS_ASCENDING;
}

static uint64_t scan_tiles(const reduct_cuda_keys *keys) {
    const uint64_t tiles = keys->kind == REDUCT_CUDA_KEYS_RUNS
                               ? parts_of(keys->count, RD_CUDA_KEYS_RUN_TILE)
                               : parts_of(keys->count, (uint64_t)64 * RD_CUDA_KEYS_BIT_TILE);
    return tiles ? tiles : 1; /* which says that there is nothing */
}

static uint64_t sort_tiles(const reduct_cuda_keys *keys) {
    return parts_of(keys->room, RD_CUDA_KEYS_SORT_TILE);
}

/* Twice as many as there may be keys, so that probes are short; and so many that the table is not full before it is known that more keys
 * came than there is room for, as far as blocks tell. */
static uint64_t slots_of(const reduct_cuda_keys *keys) {
    const uint64_t spare = (uint64_t)keys->resident * RD_CUDA_KEYS_TOLD + 1;
    const uint64_t least = keys->room + (keys->room > spare ? keys->room : spare);
    uint64_t slots = 64;
    while (slots < least)
        slots *= 2;
    return slots;
}

static size_t place(size_t *bytes, uint64_t count, size_t each) {
    const size_t at = *bytes;
    *bytes += (size_t)((count * each + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return at;
}

/* When the slots are known. */
static void lay_out(reduct_cuda_keys *keys) {
    const uint64_t sorted = is_ascending(keys) ? keys->room : 0;
    uint64_t states = scan_tiles(keys);
    size_t *bytes = &keys->bytes;
    if (sorted && sort_tiles(keys) * RD_CUDA_KEYS_DIGITS > states)
        states = sort_tiles(keys) * RD_CUDA_KEYS_DIGITS;
    keys->sort_state_bytes = (size_t)(sort_tiles(keys) * RD_CUDA_KEYS_DIGITS * sizeof(uint64_t));
    (void)place(bytes, 1, sizeof(struct rd_cuda_keys_notes));
    keys->state = place(bytes, states, sizeof(uint64_t));
    keys->cleared_bytes = *bytes;
    if (keys->kind == REDUCT_CUDA_KEYS_RUNS)
        return;
    const uint64_t words = parts_of(keys->count, 64);
    keys->firsts = place(bytes, words, sizeof(uint64_t));
    keys->cleared_bytes = *bytes;
    keys->slot_bytes = (size_t)(keys->is_wide ? 16 * (keys->slots + 1) : 8 * keys->slots);
    keys->slot = place(bytes, keys->slot_bytes, 1);
    keys->below = place(bytes, words, sizeof(uint32_t));
    for (int i = 0; i < 2; i++) {
        keys->key[i] = place(bytes, sorted, key_bytes(keys));
        keys->number[i] = place(bytes, sorted, sizeof(uint32_t));
    }
    keys->rank = place(bytes, sorted, sizeof(uint32_t));
}

static reduct_status find_kernel(reduct_cuda_keys *keys, enum kernel which, reduct_error *error) {
    static const char *const names[] = {
        [RUNS] = "runs",     [FILL] = "fill",     [ENTER] = "enter", [MARK] = "mark",  [COUNT] = "count",
        [NUMBER] = "number", [DIGITS] = "digits", [SORT] = "sort",   [WRITE] = "write"};
    const int bits = 8 * (int)key_bytes(keys);
    char name[32];
    switch (which) {
    case ENTER:
    case MARK:
    case NUMBER:
    case WRITE:
        if (keys->is_wide)
            snprintf(name, sizeof name, "keys_%s_wide_%d", names[which], bits);
        else
            snprintf(name, sizeof name, "keys_%s_narrow", names[which]);
        break;
    case RUNS:
    case DIGITS:
    case SORT:
        snprintf(name, sizeof name, "keys_%s_%d", names[which], bits);
        break;
    case FILL:
    case COUNT:
    case KERNELS:
        snprintf(name, sizeof name, "keys_%s", names[which]);
        break;
    }
    return rd_cuda_kernel(keys->context, "kernels/keys", name, &keys->kernel[which], error);
}

/* With the context current. */
static reduct_status prepare(reduct_cuda_keys *keys, reduct_error *error) {
    const bool runs = keys->kind == REDUCT_CUDA_KEYS_RUNS;
    const struct rd_cuda_device *device = keys->context->device;
    reduct_status status = REDUCT_OK;
    for (int k = runs ? RUNS : ENTER; status == REDUCT_OK && k < (runs ? ENTER : KERNELS); k++)
        status = find_kernel(keys, (enum kernel)k, error);
    if (status != REDUCT_OK)
        return status;
    int resident = 0;
    const rd_cu_result result = device->driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, keys->kernel[runs ? FILL : ENTER], RD_CUDA_THREADS, 0);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(device, result, "to plan a launch", error);
    keys->resident = (unsigned)(resident > 0 ? resident : 1) * (unsigned)device->multiprocessors;
    keys->slots = runs ? 0 : slots_of(keys);
    lay_out(keys);
    return REDUCT_OK;
}

static reduct_status check_options(const reduct_cuda_keys_options *options, reduct_error *error) {
    char label[RD_TYPE_LABEL];
    if (!options)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "options: null pointer");
    if ((unsigned)options->kind > REDUCT_CUDA_KEYS_RUNS)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "kind: %d; expected a reduct_cuda_keys_kind", (int)options->kind);
    if (!is_key_type(options->type))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "type: %s; expected i32, u32, i64 or u64",
                       rd_type_label(options->type, label));
    if (options->count > COUNT_MOST)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu keys; expected 2^40 at most",
                       (unsigned long long)options->count);
    return RD_CHECK_RESERVED("reserved", options, error);
}

static reduct_status open_keys(const reduct_cuda_keys_options *options, reduct_cuda_keys *keys, reduct_error *error) {
    struct rd_device device;
    struct rd_cuda_stay stay;
    reduct_status status = rd_device_open(options->device ? options->device : "cuda", NULL, &device, error);
    if (status != REDUCT_OK)
        return status;
    if (device.backend != &rd_cuda_backend)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "device: is %s; expected one CUDA device", device.name);
    struct rd_cuda_device *cuda = ((const struct rd_cuda_name *)device.private)->device;
    status = rd_cuda_enter(cuda, &stay, error);
    if (status != REDUCT_OK)
        return status;
    keys->context = stay.context;
    status = prepare(keys, error);
    rd_cuda_leave(cuda, &stay);
    return status;
}

reduct_status reduct_cuda_keys_create(const reduct_cuda_keys_options *options, reduct_cuda_keys **keys,
                                      reduct_error *error) {
    if (!keys)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "keys: null pointer");
    reduct_status status = check_options(options, error);
    if (status != REDUCT_OK)
        return status;
    const uint64_t room = options->room && options->room < options->count ? options->room : options->count;
    if (options->kind == REDUCT_CUDA_KEYS_RUNS ? options->room > COUNT_MOST : room > ROOM_MOST)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "room: for %llu keys; expected 2^%d at most",
                       (unsigned long long)(options->room ? options->room : room),
                       options->kind == REDUCT_CUDA_KEYS_RUNS ? 40 : 30);
    reduct_cuda_keys *made = calloc(1, sizeof *made);
    if (!made)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "keys: %zu bytes could not be allocated", sizeof *made);
    made->kind = options->kind;
    made->type = options->type;
    made->count = options->count;
    /* Runs may be given more room than there can be: offsets are written up to its end. */
    made->room = options->kind == REDUCT_CUDA_KEYS_RUNS && options->room ? options->room : room;
    made->is_wide = key_bytes(made) == 8 || options->count > rd_cuda_keys_narrow_most;
    rd_environment caller = rd_environment_enter();
    status = open_keys(options, made, error);
    rd_environment_leave(caller);
    if (status == REDUCT_OK)
        *keys = made;
    else
        free(made);
    return status;
}

void reduct_cuda_keys_destroy(reduct_cuda_keys *keys) {
    free(keys);
}

size_t reduct_cuda_keys_workspace_size(const reduct_cuda_keys *keys) {
    return keys ? keys->bytes : 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Launches
 * ------------------------------------------------------------------------------------------------------------------ */

/* What is queued, and in which stream, until something fails. */
struct queue {
    const reduct_cuda_keys *keys;
    struct rd_cuda_keys call;
    unsigned char *workspace;
    rd_cu_stream stream;
    rd_cu_result result;
};

static void fill(struct queue *queue, size_t at, unsigned char value, size_t bytes) {
    if (queue->result == RD_CU_SUCCESS && bytes)
        queue->result = queue->keys->context->device->driver->cuMemsetD8Async(
            (rd_cu_address)(uintptr_t)(queue->workspace + at), value, bytes, queue->stream);
}

static void launch(struct queue *queue, enum kernel which, uint64_t blocks) {
    if (queue->result == RD_CU_SUCCESS)
        queue->result = rd_cuda_start_kernel(queue->keys->context->device->driver, queue->keys->kernel[which], false,
                                             (unsigned)blocks, RD_CUDA_THREADS, 0, queue->stream, &queue->call);
}

/* Blocks of launches that share out so many parts: no more than the device holds, and one at least. */
static uint64_t some_blocks(const reduct_cuda_keys *keys, uint64_t parts) {
    return parts > keys->resident ? keys->resident : parts ? parts : 1;
}

/* A word of the workspace, or of what comes behind. */
static void *at(const struct queue *queue, size_t offset) {
    return queue->workspace + offset;
}

static void queue_runs(struct queue *queue) {
    const reduct_cuda_keys *keys = queue->keys;
    fill(queue, 0, 0, keys->cleared_bytes);
    launch(queue, RUNS, scan_tiles(keys));
    if (queue->call.offsets)
        launch(queue, FILL, some_blocks(keys, parts_of(keys->room + 1, RD_CUDA_THREADS)));
}

/* From one place to the other and back: the last pass, an odd one, writes results. */
static void queue_sort(struct queue *queue, void *unique) {
    const reduct_cuda_keys *keys = queue->keys;
    const unsigned passes = (unsigned)key_bytes(keys);
    struct rd_cuda_keys *call = &queue->call;
    const unsigned sign = rd_type(keys->type)->kind == RD_SIGNED;
    call->sign = (uint64_t)sign << (8 * passes - 1);
    call->from_key = at(queue, keys->key[0]);
    launch(queue, DIGITS, some_blocks(keys, sort_tiles(keys)));
    for (call->pass = 0; call->pass < passes; call->pass++) {
        const unsigned from = call->pass % 2, to = 1 - from;
        call->is_last = call->pass == passes - 1;
        call->from_key = at(queue, keys->key[from]);
        call->from_number = at(queue, keys->number[from]);
        call->to_key = call->is_last ? unique : at(queue, keys->key[to]);
        call->to_number = at(queue, keys->number[to]);
        fill(queue, keys->state, 0, keys->sort_state_bytes);
        launch(queue, SORT, sort_tiles(keys));
    }
}

static void queue_group(struct queue *queue) {
    const reduct_cuda_keys *keys = queue->keys;
    struct rd_cuda_keys *call = &queue->call;
    const uint64_t tiles = some_blocks(keys, parts_of(keys->count, RD_CUDA_KEYS_TILE)),
                   slots = some_blocks(keys, parts_of(keys->slots + 1, RD_CUDA_THREADS));
    void *unique = call->unique;
    call->slots = at(queue, keys->slot);
    call->last = keys->slots - 1;
    call->firsts = at(queue, keys->firsts);
    call->below = at(queue, keys->below);
    call->rank = is_ascending(keys) ? at(queue, keys->rank) : NULL;
    call->to_key = at(queue, keys->key[0]);
    fill(queue, 0, 0, keys->cleared_bytes);
    fill(queue, keys->slot, 0xff, keys->slot_bytes);
    launch(queue, ENTER, tiles);
    launch(queue, MARK, slots);
    launch(queue, COUNT, scan_tiles(keys));
    launch(queue, NUMBER, slots);
    if (is_ascending(keys) && keys->room)
        queue_sort(queue, unique);
    launch(queue, WRITE, tiles);
}

static reduct_status check_call(const reduct_cuda_keys *keys, bool runs, const struct rd_cuda_keys *call,
                                const void *workspace, reduct_error *error) {
    if (!keys)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "keys: null pointer");
    if ((keys->kind == REDUCT_CUDA_KEYS_RUNS) != runs)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "keys: are of kind %d; expected REDUCT_CUDA_KEYS_%s",
                       (int)keys->kind, runs ? "RUNS" : "FIRST or _ASCENDING");
    reduct_status status = REDUCT_OK;
    if (keys->count)
        status = rd_cuda_check_address("array", call->array, key_bytes(keys), error);
    if (status == REDUCT_OK && keys->count && !runs)
        status = rd_cuda_check_address("indices", call->indices, sizeof(uint32_t), error);
    if (status == REDUCT_OK && call->offsets)
        status = rd_cuda_check_address("offsets", call->offsets, sizeof(uint64_t), error);
    if (status == REDUCT_OK && call->unique)
        status = rd_cuda_check_address("unique", call->unique, key_bytes(keys), error);
    if (status == REDUCT_OK)
        status = rd_cuda_check_address("found", call->found, sizeof(uint64_t), error);
    return status == REDUCT_OK ? rd_cuda_check_address("workspace", workspace, ALIGNMENT, error) : status;
}

/* Of the call the caller's arrays are set. */
static reduct_status run(const reduct_cuda_keys *keys, bool runs, const struct rd_cuda_keys *call, void *workspace,
                         struct CUstream_st *stream, reduct_error *error) {
    struct rd_cuda_stay stay;
    reduct_status status = check_call(keys, runs, call, workspace, error);
    if (status != REDUCT_OK)
        return status;
    struct queue queue = {.keys = keys, .call = *call, .workspace = workspace, .stream = stream};
    queue.call.count = keys->count;
    queue.call.room = keys->room;
    queue.call.notes = at(&queue, 0);
    queue.call.state = at(&queue, keys->state);
    rd_environment caller = rd_environment_enter();
    status = rd_cuda_enter_context(keys->context, &stay, error);
    if (status == REDUCT_OK) {
        if (runs)
            queue_runs(&queue);
        else
            queue_group(&queue);
        rd_cuda_leave(keys->context->device, &stay);
        if (queue.result != RD_CU_SUCCESS)
            status = rd_cuda_fail(keys->context->device, queue.result, "to launch a kernel", error);
    }
    rd_environment_leave(caller);
    return status;
}

reduct_status reduct_cuda_keys_group(const reduct_cuda_keys *keys, const void *array, uint32_t *indices, void *unique,
                                     uint64_t *found, void *workspace, struct CUstream_st *stream,
                                     reduct_error *error) {
    const struct rd_cuda_keys call = {.array = array, .indices = indices, .unique = unique, .found = found};
    return run(keys, false, &call, workspace, stream, error);
}

reduct_status reduct_cuda_keys_runs(const reduct_cuda_keys *keys, const void *array, uint64_t *offsets, void *unique,
                                    uint64_t *found, void *workspace, struct CUstream_st *stream, reduct_error *error) {
    const struct rd_cuda_keys call = {.array = array, .offsets = offsets, .unique = unique, .found = found};
    return run(keys, true, &call, workspace, stream, error);
}
