/* The CUDA backend: chooses the kernel and its grid, streams data from the host where they are there, and brings partial
 * results home. */
#include "cuda/backend.h"

#include "core/environment.h"
#include "core/plan.h"
#include "core/reduction.h"
#include "core/status.h"
#include "cpu/backend.h"
#include "cpu/team.h"
#include "cuda/device.h"
#include "cuda/owner.h"
#include "state/partial.h"

#include <reduct/cuda.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(reduct_cuda_outcome) == sizeof(struct rd_cuda_outcome), "the public structure is the kernels'");

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------------ */

/* A reduction on one context: its kernel, how many blocks of it are of use, and what every launch is told. */
struct launch {
    struct rd_cuda_context *context;
    rd_cu_function function;
    unsigned most_blocks, most_ringed; /* the latter where launches are given a ring, which they may unless it is 0 */
    unsigned tile_bytes;               /* of each array, that a block takes at a time */
    uint64_t ring_from;                /* bytes of an array from which on a ring is of use */
    bool claims;                       /* blocks with a ring claim the last tiles */
    bool overlaps;                     /* launches may begin while the one before ends: the kernel waits for it */
    struct rd_cuda_call call;
};

/* The names of a reduction's kernel and of the image that holds it; `integers` as in struct rd_cuda_name. */
static void name_kernel(const reduct_reduction *reduction, bool integers, char *image, char *name, size_t room) {
    static const char *const transforms[] = {[RD_IDENTITY] = "identity",
                                             [RD_ABSOLUTE] = "absolute",
                                             [RD_SQUARE] = "square",
                                             [RD_PRODUCT] = "product",
                                             [RD_MOMENTS] = "moments"};
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_type *type = rd_type(reduction->element);
    const bool own_magnitude = op->transform == RD_ABSOLUTE && type->kind == RD_UNSIGNED;
    const char *transform = transforms[own_magnitude ? RD_IDENTITY : op->transform];
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
        snprintf(image, room, "kernels/exact_%s%s", type->name, integers ? "_integer" : "");
        snprintf(name, room, "exact_%s", transform);
        break;
    case RD_FAST_SUM:
        snprintf(image, room, "kernels/fast");
        snprintf(name, room, "fast_%s_%s", transform, type->name);
        break;
    case RD_INTEGER_SUM:
        snprintf(image, room, "kernels/integers");
        snprintf(name, room, "integer_%s_%s", transform, type->name);
        break;
    case RD_EXTREME:
        snprintf(image, room, "kernels/extremes");
        snprintf(name, room, "extreme_%s", type->name);
        break;
    case RD_FLOAT_PRODUCT:
    case RD_INTEGER_PRODUCT:
        snprintf(image, room, "kernels/products");
        snprintf(name, room, "product_%s", type->name);
        break;
    }
}

static struct rd_cuda_call describe(const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_type *result = rd_type(reduction->result);
    return (struct rd_cuda_call){.minimum = rd_minimum(reduction),
                                 .transform = (uint8_t)op->transform,
                                 .combine = (uint8_t)op->combine,
                                 .finish = (uint8_t)op->finish,
                                 .nan = (uint8_t)reduction->nan,
                                 .exact = rd_is_exact(reduction),
                                 .population = (reduction->flags & REDUCT_POPULATION) != 0,
                                 .wrap = (reduction->flags & REDUCT_WRAP) != 0,
                                 .is_float = rd_type(reduction->element)->kind == RD_FLOAT,
                                 .result_class = (uint8_t)result->kind,
                                 .result_bytes = result->bytes,
                                 .result_precision = result->precision,
                                 .result_max_exponent = result->max_exponent};
}

/* Whether the kernel is the one for newer devices: older machine code may run on them too. With the context current. */
static bool is_newer(const rd_cuda_driver *driver, rd_cu_function function) {
    int compiled_for = 0;
    return driver->cuFuncGetAttribute(&compiled_for, RD_CU_FUNCTION_COMPILED_FOR, function) == RD_CU_SUCCESS &&
           compiled_for >= RD_CUDA_NEWER;
}

/* Where a ring is of use: with so many blocks at least on a multiprocessor; for arrays, as multiples of the L2 cache, that
 * make up for the time that it takes to fill, which exact sums of floats do earliest, and other sums latest. */
enum { RINGED_LEAST = 2, RING_L2_EXACT = 2, RING_L2_EXTREME = 16, RING_L2_SUM = 32 };

static unsigned ring_caches(const struct rd_cuda_call *call) {
    if (call->combine != RD_ADD)
        return RING_L2_EXTREME;
    return call->is_float && call->exact ? RING_L2_EXACT : RING_L2_SUM;
}

/* Percent of an array's tiles that blocks with a ring take in turn. Of an H200's 132 multiprocessors, 24 read as much in 72%
 * of the time that others take: what is left to claim keeps these busy until the others come to an end. (More claims are
 * dearer: from the first tile on, an array of 4 GiB takes 2% longer.) */
enum { IN_TURN = 86 };

/* Blocks that a multiprocessor has room for where each has a ring; 0 if that is too few to be of use. With the context
 * current. */
static unsigned ringed_blocks(const struct launch *launch) {
    const rd_cuda_driver *driver = launch->context->device->driver;
    const size_t bytes = (size_t)RD_CUDA_RING_TILES * launch->tile_bytes;
    int resident = 0;
    const bool known =
        driver->cuFuncSetAttribute(launch->function, RD_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes) == RD_CU_SUCCESS &&
        driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch->function, RD_CUDA_THREADS, bytes) ==
            RD_CU_SUCCESS;
    return known && resident >= RINGED_LEAST ? (unsigned)resident : 0;
}

static unsigned grid_limit(const struct launch *launch, unsigned resident) {
    const unsigned most = resident * (unsigned)launch->context->device->multiprocessors;
    return most < RD_CUDA_BLOCKS ? most : RD_CUDA_BLOCKS;
}

/* With the context current. */
static reduct_status make_launch(struct rd_cuda_context *context, bool integers, const reduct_reduction *reduction,
                                 struct launch *launch, reduct_error *error) {
    char image[32], name[48];
    int resident = 0;
    name_kernel(reduction, integers, image, name, sizeof image);
    launch->context = context;
    launch->call = describe(reduction);
    reduct_status status = rd_cuda_kernel(context, image, name, &launch->function, error);
    if (status != REDUCT_OK)
        return status;
    const rd_cuda_driver *driver = context->device->driver;
    rd_cu_result result =
        driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch->function, RD_CUDA_THREADS, 0);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(context->device, result, "to plan a launch", error);
    launch->most_blocks = grid_limit(launch, resident > 0 ? (unsigned)resident : 1);
    const struct rd_cuda_call *call = &launch->call;
    bool floats = call->combine == RD_ADD && call->is_float;
    launch->tile_bytes = RD_CUDA_TILE_BYTES(RD_CUDA_VECTORS(floats, call->exact, call->transform));
    const bool newer = is_newer(driver, launch->function);
    const bool has_ring =
        newer && call->combine != RD_MULTIPLY && RD_CUDA_HAS_RING(floats, call->exact, call->transform);
    launch->most_ringed = has_ring ? grid_limit(launch, ringed_blocks(launch)) : 0;
    launch->ring_from = (uint64_t)context->device->l2_bytes * ring_caches(call);
    launch->claims = !floats || call->exact; /* claims would change the order of fast sums */
    launch->overlaps =
        newer && driver->cuLaunchKernelEx && driver->version >= 12030; /* which can capture such launches */
    return REDUCT_OK;
}

/* How often each of the blocks takes a tile in turn, as in call.h. */
static uint64_t turns_of(const struct launch *launch, uint64_t tiles, unsigned blocks) {
    if (!launch->claims)
        return UINT64_MAX;
    const uint64_t turns = tiles * IN_TURN / 100 / blocks;
    return turns > RD_CUDA_LEAST_TURNS ? turns : RD_CUDA_LEAST_TURNS;
}

/* Tiles that one block takes in less time than several need to meet. */
enum { TILES_ALONE = 3 };

static rd_cu_result start(const struct launch *launch, struct rd_cuda_call *call, size_t element_bytes,
                          rd_cu_stream stream) {
    const struct rd_cuda_device *device = launch->context->device;
    void *arguments[] = {call};
    uint64_t bytes = call->count * element_bytes, tiles = (bytes + launch->tile_bytes - 1) / launch->tile_bytes;
    const bool ring = launch->most_ringed && bytes >= launch->ring_from;
    const unsigned most = ring ? launch->most_ringed : launch->most_blocks;
    const unsigned blocks = tiles <= TILES_ALONE ? 1 : tiles < most ? (unsigned)tiles : most;
    const unsigned shared = ring ? RD_CUDA_RING_TILES * launch->tile_bytes : 0;
    call->turns = ring ? turns_of(launch, tiles, blocks) : 0;
    if (!launch->overlaps)
        return device->driver->cuLaunchKernel(launch->function, blocks, 1, 1, RD_CUDA_THREADS, 1, 1, shared, stream,
                                              arguments, NULL);
    const rd_cu_launch_attribute overlap = {.id = RD_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION, .value.number = 1};
    const rd_cu_launch how = {.grid = {blocks, 1, 1},
                              .block = {RD_CUDA_THREADS, 1, 1},
                              .dynamic_shared = shared,
                              .stream = stream,
                              .attributes = &overlap,
                              .attribute_count = 1};
    return device->driver->cuLaunchKernelEx(&how, launch->function, arguments, NULL);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Partial results
 * ------------------------------------------------------------------------------------------------------------------ */

static void add_limbs(struct rd_sum *sum, const int64_t *limb) {
    struct rd_sum added = *sum;
    memcpy(added.limb, limb, (size_t)sum->length * sizeof *limb);
    rd_sum_merge(sum, &added);
}

static struct rd_product product_of(const struct rd_cuda_product *from) {
    struct rd_product product = {.negative = from->negative != 0,
                                 .zero = from->zero != 0,
                                 .infinite = from->infinite != 0,
                                 .count = from->count,
                                 .exponent = from->exponent};
    memcpy(product.lane, from->lane, sizeof product.lane);
    memcpy(product.subtree, from->subtree, sizeof product.subtree);
    return product;
}

/* Adds what a launch over `count` elements left behind. */
static void merge_launch(struct rd_partial *total, const struct rd_cuda_partial *from, uint64_t count) {
    struct rd_partial part;
    rd_partial_init(&part, &total->reduction);
    part.seen = count;
    part.ignored = from->ignored;
    part.nans = from->nans;
    part.plus_infinities = from->plus_infinities;
    part.minus_infinities = from->minus_infinities;
    part.nonzero = from->nonzero;
    part.nan_index = from->nan_index;
    switch (rd_family(&total->reduction)) {
    case RD_EXACT_SUM:
    case RD_INTEGER_SUM:
        add_limbs(&part.sum, from->limb[0]);
        if (rd_operator(total->reduction.op)->transform == RD_MOMENTS)
            add_limbs(&part.squares, from->limb[1]);
        break;
    case RD_FAST_SUM:
        part.high = from->high;
        part.low = from->low;
        break;
    case RD_EXTREME:
        part.found = from->found;
        part.extreme = from->extreme;
        part.index = from->index;
        break;
    case RD_FLOAT_PRODUCT:
        part.product = product_of(&from->product);
        break;
    case RD_INTEGER_PRODUCT:
        part.whole = from->whole;
        break;
    }
    rd_partial_merge(total, &part);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Products of floats keep to one tree, wherever the data are cut: a launch starts as if nothing came before, so its
 * subtrees must find their place in the tree of what did.
 * ------------------------------------------------------------------------------------------------------------------ */

static bool has_tree(const struct rd_partial *partial) {
    return rd_family(&partial->reduction) == RD_FLOAT_PRODUCT;
}

/* Elements that the next launch takes, at most `most`, of `left` that follow the first `before`: without a tree as many as
 * there may be; with one so many that no subtree of theirs is larger than what `before` is a multiple of. */
static uint64_t next_part(bool tree, uint64_t before, uint64_t left, uint64_t most) {
    uint64_t part = left < most ? left : most, aligned = before & -before;
    return tree && aligned && left / 2 >= aligned && aligned < part ? aligned : part;
}

/* Before launches: the CPU multiplies what is missing of a block of the tree; `taken` elements. */
static reduct_status fill_block(const struct rd_cuda_device *device, const void *x, bool on_device, uint64_t count,
                                struct rd_partial *partial, uint64_t *taken, reduct_error *error) {
    double copy[RD_PRODUCT_BLOCK];
    struct rd_partial begun;
    struct rd_prepared cpu;
    *taken = has_tree(partial) ? -partial->product.count % RD_PRODUCT_BLOCK : 0;
    *taken = *taken < count ? *taken : count;
    if (!*taken)
        return REDUCT_OK;
    size_t bytes = (size_t)*taken * rd_type(partial->reduction.element)->bytes;
    if (on_device) {
        rd_cu_result result = device->driver->cuMemcpyDtoHAsync(copy, (rd_cu_address)(uintptr_t)x, bytes, NULL);
        if (result == RD_CU_SUCCESS)
            result = device->driver->cuStreamSynchronize(NULL);
        if (result != RD_CU_SUCCESS)
            return rd_cuda_fail(device, result, "to copy", error);
    }
    reduct_status status =
        rd_prepare(&partial->reduction, &(struct rd_place){.device = "cpu", .crew = {1, NULL}}, false, &cpu, error);
    rd_partial_begin(&begun, partial);
    if (status == REDUCT_OK)
        status = rd_cpu_backend.accumulate(&cpu, on_device ? copy : x, NULL, *taken, NULL, &begun, error);
    if (status == REDUCT_OK)
        rd_partial_follow(partial, &begun);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Data on the device
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status reduce_in_place(const struct launch *launch, const void *x, const void *y, uint64_t count,
                                     struct rd_partial *partial, reduct_error *error) {
    const rd_cuda_driver *driver = launch->context->device->driver;
    struct rd_cuda_lane *lane;
    reduct_status status = rd_cuda_lane_take(launch->context, false, &lane, error);
    if (status != REDUCT_OK)
        return status;
    const size_t bytes = rd_type(partial->reduction.element)->bytes;
    const bool tree = has_tree(partial);
    const unsigned char *from = x;
    for (uint64_t part; count; count -= part, from += part * bytes) {
        part = next_part(tree, tree ? partial->product.count : 0, count, UINT64_MAX);
        struct rd_cuda_call call = launch->call;
        call.x = from;
        call.y = y;
        call.count = part;
        call.workspace = (struct rd_cuda_workspace *)(uintptr_t)lane->workspace;
        call.partial = lane->partial;
        rd_cu_result result = start(launch, &call, bytes, lane->stream);
        if (result == RD_CU_SUCCESS)
            result = driver->cuStreamSynchronize(lane->stream);
        if (result != RD_CU_SUCCESS) {
            rd_cuda_lane_destroy(launch->context, lane);
            return rd_cuda_fail(launch->context->device, result, "to reduce", error);
        }
        merge_launch(partial, lane->partial, part);
    }
    rd_cuda_lane_give(launch->context, lane);
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Data on the host: streamed in pieces through two lanes in turn, so that one piece is copied into page-locked memory
 * while the one before goes to the device and is reduced.
 * ------------------------------------------------------------------------------------------------------------------ */

/* One piece under way. */
struct piece {
    struct rd_cuda_lane *lane;
    uint64_t count; /* 0: none */
};

/* A copy that threads share out: one thread does not copy as fast as the bus. */
struct copy {
    unsigned char *to;
    const unsigned char *from;
    size_t bytes;
    atomic_size_t next;
};

enum { COPY_STEP = 1 << 20, COPY_THREADS = 8 };

static void copy_steps(void *context) {
    struct copy *copy = context;
    size_t at;
    while ((at = atomic_fetch_add_explicit(&copy->next, COPY_STEP, memory_order_relaxed)) < copy->bytes) {
        size_t left = copy->bytes - at;
        memcpy(copy->to + at, copy->from + at, left < COPY_STEP ? left : COPY_STEP);
    }
}

static void copy_with_threads(void *to, const void *from, size_t bytes, const struct rd_crew *crew) {
    struct copy copy = {.to = to, .from = from, .bytes = bytes};
    atomic_init(&copy.next, 0);
    uint64_t useful = bytes / (4 * COPY_STEP) + 1;
    unsigned threads = rd_team_threads(crew, useful < COPY_THREADS ? useful : COPY_THREADS, bytes);
    rd_team_run(crew, threads, copy_steps, &copy);
}

/* Waits for a piece and adds its result. */
static rd_cu_result finish_piece(const struct launch *launch, struct piece *piece, struct rd_partial *partial) {
    if (!piece->count)
        return RD_CU_SUCCESS;
    rd_cu_result result = launch->context->device->driver->cuStreamSynchronize(piece->lane->stream);
    if (result == RD_CU_SUCCESS)
        merge_launch(partial, piece->lane->partial, piece->count);
    piece->count = 0;
    return result;
}

/* Queues the transfer of one array of a piece, at an offset of the lane's buffers, which is where it will be. */
static rd_cu_result send(const struct launch *launch, struct rd_cuda_lane *lane, size_t offset, const void *from,
                         size_t bytes, const struct rd_crew *crew) {
    const struct rd_cuda_device *device = launch->context->device;
    const void *source = from;
    if (!rd_cuda_page_locked(device, from)) {
        copy_with_threads((unsigned char *)lane->staging + offset, from, bytes, crew);
        source = (unsigned char *)lane->staging + offset;
    }
    return device->driver->cuMemcpyHtoDAsync(lane->buffer + offset, source, bytes, lane->stream);
}

static rd_cu_result start_piece(const struct launch *launch, struct piece *piece, const unsigned char *x,
                                const unsigned char *y, uint64_t count, size_t element_bytes,
                                const struct rd_crew *crew) {
    struct rd_cuda_lane *lane = piece->lane;
    struct rd_cuda_call call = launch->call;
    size_t bytes = (size_t)count * element_bytes, half = RD_CUDA_STAGE_BYTES / 2;
    call.x = (const void *)(uintptr_t)lane->buffer;
    call.y = y ? (const void *)(uintptr_t)(lane->buffer + half) : NULL;
    call.count = count;
    call.workspace = (struct rd_cuda_workspace *)(uintptr_t)lane->workspace;
    call.partial = lane->partial;
    rd_cu_result result = send(launch, lane, 0, x, bytes, crew);
    if (result == RD_CU_SUCCESS && y)
        result = send(launch, lane, half, y, bytes, crew);
    if (result == RD_CU_SUCCESS)
        result = start(launch, &call, element_bytes, lane->stream);
    piece->count = result == RD_CU_SUCCESS ? count : 0;
    return result;
}

static rd_cu_result stream_pieces(const struct launch *launch, struct piece piece[2], const unsigned char *x,
                                  const unsigned char *y, uint64_t count, const struct rd_crew *crew,
                                  struct rd_partial *partial) {
    size_t bytes = rd_type(partial->reduction.element)->bytes;
    uint64_t most = RD_CUDA_STAGE_BYTES / (y ? 2 : 1) / bytes, at = 0, some;
    const bool tree = has_tree(partial);
    const uint64_t before = tree ? partial->product.count : 0;
    rd_cu_result result = RD_CU_SUCCESS;
    unsigned turn = 0;
    for (; at < count && result == RD_CU_SUCCESS; turn ^= 1, at += some) {
        some = next_part(tree, before + at, count - at, most);
        result = finish_piece(launch, &piece[turn], partial);
        if (result == RD_CU_SUCCESS)
            result = start_piece(launch, &piece[turn], x + at * bytes, y ? y + at * bytes : NULL, some, bytes, crew);
    }
    for (int i = 0; i < 2 && result == RD_CU_SUCCESS; i++) /* in the order of the data */
        result = finish_piece(launch, &piece[turn ^ (unsigned)i], partial);
    return result;
}

static reduct_status reduce_from_host(const struct launch *launch, const void *x, const void *y, uint64_t count,
                                      const struct rd_crew *crew, struct rd_partial *partial, reduct_error *error) {
    struct rd_cuda_context *context = launch->context;
    struct piece piece[2] = {{0}};
    reduct_status status = rd_cuda_lane_take(context, true, &piece[0].lane, error);
    if (status == REDUCT_OK)
        status = rd_cuda_lane_take(context, true, &piece[1].lane, error);
    rd_cu_result result = RD_CU_SUCCESS;
    if (status == REDUCT_OK)
        result = stream_pieces(launch, piece, x, y, count, crew, partial);
    for (int i = 0; i < 2; i++) {
        if (piece[i].lane && result == RD_CU_SUCCESS)
            rd_cuda_lane_give(context, piece[i].lane);
        else if (piece[i].lane)
            rd_cuda_lane_destroy(context, piece[i].lane);
    }
    return result == RD_CU_SUCCESS ? status : rd_cuda_fail(context->device, result, "to reduce", error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The backend
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status cuda_open(const char *rest, struct rd_device *device, reduct_error *error) {
    const struct rd_cuda_name *name;
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_device_open(rest, &name, error);
    rd_environment_leave(caller);
    if (status == REDUCT_OK)
        *device = (struct rd_device){&rd_cuda_backend, name->text, name};
    return status;
}

static const struct rd_cuda_name *cuda_name(const struct rd_prepared *prepared) {
    return prepared->device.private;
}

static size_t cuda_workspace(const struct rd_prepared *prepared, uint64_t count) {
    (void)prepared;
    (void)count;
    return 0; /* on the host */
}

/* What is kept. */
struct kept {
    struct launch launch;
    rd_cu_address workspace; /* of executions in a stream that bring none; 0 where there are no such executions */
};

/* The launch that was prepared, or, for a thread with another context current than the one that prepared it, one made
 * anew. */
static reduct_status launch_here(const struct rd_prepared *prepared, struct rd_cuda_context *context,
                                 struct launch *launch, reduct_error *error) {
    const struct kept *kept = prepared->kept;
    if (kept->launch.context != context)
        return make_launch(context, cuda_name(prepared)->integers, &prepared->reduction, launch, error);
    *launch = kept->launch;
    return REDUCT_OK;
}

static reduct_status accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                struct rd_partial *partial, reduct_error *error) {
    if (!count)
        return REDUCT_OK;
    struct rd_cuda_context *context;
    reduct_status status = rd_cuda_enter(cuda_name(prepared)->device, &context, error);
    if (status != REDUCT_OK)
        return status;
    struct launch launch;
    status = launch_here(prepared, context, &launch, error);
    bool x_there = rd_cuda_on_device(context->device, x), y_there = y ? rd_cuda_on_device(context->device, y) : x_there;
    if (status == REDUCT_OK && x_there != y_there)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: in host memory, while %s is in device memory",
                         x_there ? "y" : "x", x_there ? "x" : "y");
    uint64_t taken = 0;
    if (status == REDUCT_OK)
        status = fill_block(context->device, x, x_there, count, partial, &taken, error);
    if (status == REDUCT_OK && taken < count) {
        x = (const unsigned char *)x + taken * rd_type(partial->reduction.element)->bytes;
        status = x_there ? reduce_in_place(&launch, x, y, count - taken, partial, error)
                         : reduce_from_host(&launch, x, y, count - taken, &prepared->crew, partial, error);
    }
    rd_cuda_leave(context->device);
    return status;
}

/* The driver may do arithmetic of its own, and leaves traces of it in the environment. */
static reduct_status cuda_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                     void *workspace, struct rd_partial *partial, reduct_error *error) {
    (void)workspace;
    rd_environment caller = rd_environment_enter();
    reduct_status status = accumulate(prepared, x, y, count, partial, error);
    rd_environment_leave(caller);
    return status;
}

static void cuda_release(struct rd_prepared *prepared) {
    struct kept *kept = prepared->kept;
    struct rd_cuda_context *context = kept->launch.context;
    rd_environment caller = rd_environment_enter();
    if (kept->workspace && rd_cuda_enter_context(context, NULL) == REDUCT_OK) {
        context->device->driver->cuMemFree(kept->workspace);
        rd_cuda_leave(context->device);
    }
    rd_environment_leave(caller);
    free(kept);
}

/* With the context current. */
static reduct_status make_workspace(const struct rd_cuda_context *context, rd_cu_address *workspace,
                                    reduct_error *error) {
    const rd_cuda_driver *driver = context->device->driver;
    rd_cu_result result = driver->cuMemAlloc(workspace, sizeof(struct rd_cuda_workspace));
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(context->device, result, "for a workspace", error);
    result = driver->cuMemsetD8Async(*workspace, 0, sizeof(struct rd_cuda_workspace), NULL);
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(NULL);
    if (result == RD_CU_SUCCESS)
        return REDUCT_OK;
    driver->cuMemFree(*workspace);
    return rd_cuda_fail(context->device, result, "to clear a workspace", error);
}

static reduct_status check_element(const struct rd_prepared *prepared, reduct_error *error) {
    const struct rd_type *element = rd_type(prepared->reduction.element);
    bool half = element->kind == RD_FLOAT && element->bytes == 2;
    if (!half)
        return REDUCT_OK;
    return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "element: %s does not reduce %s elements in this version",
                   prepared->device.name, element->name);
}

static reduct_status cuda_prepare(struct rd_prepared *prepared, reduct_error *error) {
    reduct_status status = check_element(prepared, error);
    if (status != REDUCT_OK)
        return status;
    struct kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: %zu bytes could not be allocated", sizeof *kept);
    struct rd_cuda_context *context;
    rd_environment caller = rd_environment_enter();
    status = rd_cuda_enter(cuda_name(prepared)->device, &context, error);
    if (status == REDUCT_OK) {
        status = make_launch(context, cuda_name(prepared)->integers, &prepared->reduction, &kept->launch, error);
        if (status == REDUCT_OK && prepared->queued)
            status = make_workspace(context, &kept->workspace, error);
        rd_cuda_leave(context->device);
    }
    rd_environment_leave(caller);
    if (status == REDUCT_OK)
        prepared->kept = kept;
    else
        free(kept);
    return status;
}

const struct rd_backend rd_cuda_backend = {.name = "cuda",
                                           .open = cuda_open,
                                           .owner = rd_cuda_owner,
                                           .prepare = cuda_prepare,
                                           .release = cuda_release,
                                           .workspace = cuda_workspace,
                                           .accumulate = cuda_accumulate};

/* ---------------------------------------------------------------------------------------------------------------------
 * Asynchronous executions
 * ------------------------------------------------------------------------------------------------------------------ */

size_t reduct_cuda_workspace_size(const reduct_plan *plan) {
    return plan && plan->prepared.device.backend == &rd_cuda_backend ? sizeof(struct rd_cuda_workspace) : 0;
}

static reduct_status check_address(const char *name, const void *address, size_t alignment, reduct_error *error) {
    if (!address)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", name);
    if ((uintptr_t)address % alignment)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: address is not a multiple of %zu", name, alignment);
    return REDUCT_OK;
}

static reduct_status check_execution(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                     const reduct_cuda_outcome *outcome, const void *workspace, reduct_error *error) {
    if (!plan)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "plan: null pointer");
    if (plan->prepared.device.backend != &rd_cuda_backend)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "plan: is for %s; expected a plan for a CUDA device",
                       plan->prepared.device.name);
    if ((!inputs && plan->count) || !results)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", results ? "inputs" : "results");
    size_t element = rd_type(plan->prepared.reduction.element)->bytes,
           result = rd_type(plan->prepared.reduction.result)->bytes;
    reduct_status status = check_address("results[0]", results[0], result < 8 ? result : 8, error);
    if (status == REDUCT_OK && plan->count)
        status = check_address("inputs[0]", inputs[0], element, error);
    if (status == REDUCT_OK && plan->count && rd_operator(plan->prepared.reduction.op)->inputs == 2)
        status = check_address("inputs[1]", inputs[1], element, error);
    if (status == REDUCT_OK && outcome)
        status = check_address("outcome", outcome, _Alignof(reduct_cuda_outcome), error);
    if (status == REDUCT_OK && workspace)
        status = check_address("workspace", workspace, 256, error);
    return status;
}

reduct_status reduct_cuda_execute(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                  reduct_cuda_outcome *outcome, void *workspace, struct CUstream_st *stream,
                                  reduct_error *error) {
    reduct_status status = check_execution(plan, inputs, results, outcome, workspace, error);
    if (status != REDUCT_OK)
        return status;
    const struct kept *kept = plan->prepared.kept;
    struct rd_cuda_context *context = kept->launch.context;
    struct rd_cuda_call call = kept->launch.call;
    call.count = plan->count;
    call.x = plan->count ? inputs[0] : NULL;
    call.y = plan->count && rd_operator(plan->prepared.reduction.op)->inputs == 2 ? inputs[1] : NULL;
    call.workspace = workspace ? workspace : (struct rd_cuda_workspace *)(uintptr_t)kept->workspace;
    call.result = results[0];
    call.outcome = (struct rd_cuda_outcome *)outcome;
    rd_environment caller = rd_environment_enter();
    status = rd_cuda_enter_context(context, error);
    if (status == REDUCT_OK) {
        rd_cu_result result = start(&kept->launch, &call, rd_type(plan->prepared.reduction.element)->bytes, stream);
        rd_cuda_leave(context->device);
        if (result != RD_CU_SUCCESS)
            status = rd_cuda_fail(context->device, result, "to launch a kernel", error);
    }
    rd_environment_leave(caller);
    return status;
}
