/* Which kernel reduces what, and with which grid: see launch.h. */
#include "cuda/launch.h"

#include "core/reduction.h"
#include "core/status.h"
#include "cuda/kernels/tuning.h"
#include "state/partial.h"

#include <stdio.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Families
 * ------------------------------------------------------------------------------------------------------------------ */

/* How a reduction's family is run: the kernel, and the image that holds it; and, for kernels that have a ring, the arrays for
 * which it is of use, as multiples of the L2 cache, and whether blocks may claim tiles. */
struct kernel {
    char image[32], name[48];
    unsigned ring_caches;
    bool claims;
};

/* Exact sums of these have a kernel of their own, the same on all devices. */
static bool is_half(const struct rd_type *type) {
    return type->kind == RD_FLOAT && type->bytes == 2;
}

const char *rd_cuda_transform_name(const struct rd_operator *op, const struct rd_type *element) {
    static const char *const names[] = {
        [RD_IDENTITY] = "identity", [RD_ABSOLUTE] = "absolute", [RD_SQUARE] = "square",   [RD_TIMES] = "times",
        [RD_MOMENTS] = "moments",   [RD_PRESENT] = "present",   [RD_NONZERO] = "nonzero", [RD_WEIGHTED] = "weighted"};
    const bool own_magnitude = op->transform == RD_ABSOLUTE && element->kind == RD_UNSIGNED;
    return names[own_magnitude ? RD_IDENTITY : op->transform];
}

bool rd_cuda_has_kernel(const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
    case RD_INTEGER_SUM:
        return op->transform != RD_WEIGHTED;
    case RD_EXTREME:
        return op->combine != RD_BOTH;
    case RD_FAST_SUM:
    case RD_FLOAT_PRODUCT:
    case RD_INTEGER_PRODUCT:
    case RD_COUNT:
    case RD_BITS:
        break;
    }
    return true;
}

/* `integers` as in struct rd_cuda_name. */
static struct kernel kernel_of(const reduct_reduction *reduction, bool integers) {
    const struct rd_type *type = rd_type(reduction->element);
    const char *transform = rd_cuda_transform_name(rd_operator(reduction->op), type);
    struct kernel kernel = {.claims = true};
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
        snprintf(kernel.image, sizeof kernel.image, "kernels/exact_%s%s", is_half(type) ? "half" : type->name,
                 integers && !is_half(type) ? "_integer" : "");
        snprintf(kernel.name, sizeof kernel.name, "exact_%s", transform);
        kernel.ring_caches = RD_CUDA_RING_L2_EXACT;
        break;
    case RD_FAST_SUM:
        snprintf(kernel.image, sizeof kernel.image, "kernels/fast");
        snprintf(kernel.name, sizeof kernel.name, "fast_%s_%s", transform, type->name);
        kernel.ring_caches = RD_CUDA_RING_L2_SUMS;
        kernel.claims = false; /* as the bits follow from the order of additions */
        break;
    case RD_INTEGER_SUM:
        snprintf(kernel.image, sizeof kernel.image, "kernels/integers");
        snprintf(kernel.name, sizeof kernel.name, "integer_%s_%s", transform, type->name);
        kernel.ring_caches = RD_CUDA_RING_L2_SUMS;
        break;
    case RD_EXTREME:
        snprintf(kernel.image, sizeof kernel.image, "kernels/extremes");
        snprintf(kernel.name, sizeof kernel.name, "extreme_%s", type->name);
        kernel.ring_caches = RD_CUDA_RING_L2_EXTREMES;
        break;
    case RD_FLOAT_PRODUCT:
    case RD_INTEGER_PRODUCT:
        snprintf(kernel.image, sizeof kernel.image, "kernels/products");
        snprintf(kernel.name, sizeof kernel.name, "product_%s", type->name);
        break;
    case RD_BITS:
        if (!rd_is_truth(reduction)) {
            snprintf(kernel.image, sizeof kernel.image, "kernels/bits");
            snprintf(kernel.name, sizeof kernel.name, "bits_%d", 8 * type->bytes);
            kernel.ring_caches = RD_CUDA_RING_L2_SUMS;
            break;
        } /* truth values follow from counts */
        __attribute__((fallthrough));
    case RD_COUNT:
        snprintf(kernel.image, sizeof kernel.image, "kernels/counts");
        snprintf(kernel.name, sizeof kernel.name, "count_%s", type->name);
        break;
    }
    return kernel;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is found once
 * ------------------------------------------------------------------------------------------------------------------ */

struct rd_cuda_call rd_cuda_describe(const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_type *result = rd_type(reduction->result);
    return (struct rd_cuda_call){.minimum = rd_minimum(reduction),
                                 .transform = (uint8_t)op->transform,
                                 .combine = (uint8_t)op->combine,
                                 .finish = (uint8_t)op->finish,
                                 .nan = (uint8_t)reduction->nan,
                                 .population = (reduction->flags & REDUCT_POPULATION) != 0,
                                 .wrap = (reduction->flags & REDUCT_WRAP) != 0,
                                 .is_float = rd_type(reduction->element)->kind == RD_FLOAT,
                                 .of_f16 = reduction->element == REDUCT_F16,
                                 .result_class = (uint8_t)result->kind,
                                 .result_bytes = result->bytes,
                                 .result_precision = result->precision,
                                 .result_max_exponent = result->max_exponent};
}

bool rd_cuda_is_newer(const rd_cuda_driver *driver, rd_cu_function function) {
    int compiled_for = 0;
    return driver->cuFuncGetAttribute(&compiled_for, RD_CU_FUNCTION_COMPILED_FOR, function) == RD_CU_SUCCESS &&
           compiled_for >= RD_CUDA_NEWER;
}

bool rd_cuda_may_overlap(const rd_cuda_driver *driver, rd_cu_function function) {
    return rd_cuda_is_newer(driver, function) && driver->cuLaunchKernelEx &&
           driver->version >= 12030; /* which can capture such launches */
}

/* Blocks that a multiprocessor has room for where each has a ring; 0 if that is too few to be of use. With the context
 * current. */
static unsigned ringed_blocks(const struct rd_cuda_launch *launch) {
    const rd_cuda_driver *driver = launch->context->device->driver;
    const size_t bytes = (size_t)RD_CUDA_RING_TILES * launch->tile_bytes;
    int resident = 0;
    const bool known =
        driver->cuFuncSetAttribute(launch->function, RD_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes) == RD_CU_SUCCESS &&
        driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch->function, RD_CUDA_THREADS, bytes) ==
            RD_CU_SUCCESS;
    return known && resident >= RD_CUDA_RINGED_LEAST ? (unsigned)resident : 0;
}

static unsigned grid_limit(const struct rd_cuda_launch *launch, unsigned resident) {
    const unsigned most = resident * (unsigned)launch->context->device->multiprocessors;
    return most < RD_CUDA_BLOCKS ? most : RD_CUDA_BLOCKS;
}

/* What is known when `call` and the bytes of elements and tiles are. */
static reduct_status find_grid(struct rd_cuda_context *context, const struct kernel *kernel, bool has_ring,
                               struct rd_cuda_launch *launch, reduct_error *error) {
    int resident = 0;
    launch->context = context;
    reduct_status status = rd_cuda_kernel(context, kernel->image, kernel->name, &launch->function, error);
    if (status != REDUCT_OK)
        return status;
    const rd_cuda_driver *driver = context->device->driver;
    rd_cu_result result =
        driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch->function, RD_CUDA_THREADS, 0);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(context->device, result, "to plan a launch", error);
    launch->most_blocks = grid_limit(launch, resident > 0 ? (unsigned)resident : 1);
    launch->most_ringed =
        rd_cuda_is_newer(driver, launch->function) && has_ring ? grid_limit(launch, ringed_blocks(launch)) : 0;
    launch->ring_from = (uint64_t)context->device->l2_bytes * kernel->ring_caches;
    launch->claims = kernel->claims;
    launch->overlaps = rd_cuda_may_overlap(driver, launch->function);
    return REDUCT_OK;
}

reduct_status rd_cuda_launch_make(struct rd_cuda_context *context, bool integers, const reduct_reduction *reduction,
                                  struct rd_cuda_launch *launch, reduct_error *error) {
    if (!rd_cuda_has_kernel(reduction)) {
        *launch = (struct rd_cuda_launch){.context = context, .element_bytes = rd_type(reduction->element)->bytes};
        return REDUCT_OK;
    }
    const struct kernel kernel = kernel_of(reduction, integers);
    const enum rd_family family = rd_family(reduction);
    const enum rd_transform transform = rd_operator(reduction->op)->transform;
    const bool halves = family == RD_EXACT_SUM && is_half(rd_type(reduction->element));
    launch->call = rd_cuda_describe(reduction);
    launch->element_bytes = rd_type(reduction->element)->bytes;
    launch->tile_bytes =
        RD_CUDA_TILE_BYTES(RD_CUDA_VECTORS(family, transform) / (halves ? RD_CUDA_FEWER_OF_HALVES : 1));
    return find_grid(context, &kernel, kernel.ring_caches && RD_CUDA_HAS_RING(family, transform), launch, error);
}

reduct_status rd_cuda_launch_make_several(struct rd_cuda_context *context, reduct_type element,
                                          const struct rd_cuda_several_kernels *kernels, bool squares,
                                          struct rd_cuda_launch *launch, reduct_error *error) {
    struct kernel kernel = {.ring_caches = RD_CUDA_RING_L2_EXACT, .claims = true};
    const unsigned vectors = RD_CUDA_VECTORS(RD_EXACT_SUM, RD_MOMENTS);
    snprintf(kernel.image, sizeof kernel.image, "%s", kernels->image);
    snprintf(kernel.name, sizeof kernel.name, "%s", kernels->pass);
    launch->call = (struct rd_cuda_call){.nan = REDUCT_NAN_ERROR,
                                         .transform = squares ? RD_MOMENTS : RD_IDENTITY,
                                         .is_float = rd_type(element)->kind == RD_FLOAT,
                                         .of_f16 = element == REDUCT_F16};
    launch->element_bytes = rd_type(element)->bytes;
    launch->tile_bytes = RD_CUDA_TILE_BYTES(vectors / (kernels->halves ? RD_CUDA_FEWER_OF_HALVES : 1));
    return find_grid(context, &kernel, !kernels->halves, launch, error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What each launch takes
 * ------------------------------------------------------------------------------------------------------------------ */

/* How often each of the blocks takes a tile in turn, as in call.h. */
static uint64_t turns_of(const struct rd_cuda_launch *launch, uint64_t tiles, unsigned blocks) {
    if (!launch->claims)
        return UINT64_MAX;
    const uint64_t turns = tiles * RD_CUDA_IN_TURN / 100 / blocks;
    return turns > RD_CUDA_LEAST_TURNS ? turns : RD_CUDA_LEAST_TURNS;
}

rd_cu_result rd_cuda_start_kernel(const rd_cuda_driver *driver, rd_cu_function function, bool overlaps, unsigned blocks,
                                  unsigned threads, unsigned shared, rd_cu_stream stream, void *parameter) {
    void *arguments[] = {parameter};
    if (!overlaps)
        return driver->cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, arguments, NULL);
    const rd_cu_launch_attribute overlap = {.id = RD_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION, .value.number = 1};
    const rd_cu_launch how = {.grid = {blocks, 1, 1},
                              .block = {threads, 1, 1},
                              .dynamic_shared = shared,
                              .stream = stream,
                              .attributes = &overlap,
                              .attribute_count = 1};
    return driver->cuLaunchKernelEx(&how, function, arguments, NULL);
}

rd_cu_result rd_cuda_launch_start(const struct rd_cuda_launch *launch, struct rd_cuda_call *call, rd_cu_stream stream) {
    const uint64_t bytes = call->count * launch->element_bytes,
                   tiles = (bytes + launch->tile_bytes - 1) / launch->tile_bytes;
    const bool ring = launch->most_ringed && bytes >= launch->ring_from;
    const unsigned most = ring ? launch->most_ringed : launch->most_blocks;
    const unsigned blocks = tiles <= RD_CUDA_TILES_ALONE ? 1 : tiles < most ? (unsigned)tiles : most;
    const unsigned shared = ring ? RD_CUDA_RING_TILES * launch->tile_bytes : 0;
    call->turns = ring ? turns_of(launch, tiles, blocks) : 0;
    return rd_cuda_start_kernel(launch->context->device->driver, launch->function, launch->overlaps, blocks,
                                RD_CUDA_THREADS, shared, stream, call);
}

rd_cu_result rd_cuda_launch_in(const struct rd_cuda_launch *launch, struct rd_cuda_call *call, void *workspace,
                               rd_cu_stream stream) {
    call->workspace = rd_cuda_stand_in(launch->context, workspace);
    if (call->workspace)
        return rd_cuda_launch_start(launch, call, stream);
    struct rd_cuda_launch after_clearing = *launch;
    after_clearing.overlaps = false; /* what it follows is no kernel */
    call->workspace = workspace;
    const rd_cu_result result = launch->context->device->driver->cuMemsetD8Async((rd_cu_address)(uintptr_t)workspace, 0,
                                                                                 RD_CUDA_ZERO_BYTES, stream);
    return result == RD_CU_SUCCESS ? rd_cuda_launch_start(&after_clearing, call, stream) : result;
}
