/* From what launches leave to partial results: see partials.h. */
#include "cuda/partials.h"

#include "core/reduction.h"
#include "cpu/backend.h"

#include <string.h>

/* Of limbs as kernels leave them: their carries are still to come, and nobody has counted how many additions went into them. */
static void add_limbs(struct rd_sum *sum, const int64_t *limb) {
    struct rd_sum added = *sum;
    memcpy(added.limb, limb, (size_t)sum->length * sizeof *limb);
    rd_sum_normalise(&added);
    rd_sum_merge(sum, &added);
}

/* How many limbs those of a kernel begin further down: it sums f16 as f32. */
static int limbs_below(const struct rd_sum *sum, const reduct_reduction *reduction, bool products) {
    struct rd_sum wide;
    if (reduction->element != REDUCT_F16)
        return 0;
    rd_sum_init(&wide, rd_type(REDUCT_F32), products);
    return sum->first - wide.first;
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

void rd_cuda_merge(struct rd_partial *total, const struct rd_cuda_partial *from, uint64_t count) {
    const enum rd_transform transform = rd_operator(total->reduction.op)->transform;
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
        add_limbs(&part.sum, from->limb[0] + limbs_below(&part.sum, &total->reduction,
                                                         transform == RD_SQUARE || transform == RD_PRODUCT));
        if (transform == RD_MOMENTS)
            add_limbs(&part.squares, from->limb[1] + limbs_below(&part.squares, &total->reduction, true));
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
    case RD_COUNT:
        part.counted = from->counted;
        break;
    case RD_BITS:
        part.bits = from->bits;
        break;
    }
    rd_partial_merge(total, &part);
}

static bool has_tree(const struct rd_partial *partial) {
    return rd_family(&partial->reduction) == RD_FLOAT_PRODUCT;
}

uint64_t rd_cuda_elements_before(const struct rd_partial *partial) {
    return has_tree(partial) ? partial->product.count : 0;
}

/* A subtree has its place where it is no larger than what `before` is a multiple of. */
uint64_t rd_cuda_next_part(const struct rd_partial *partial, uint64_t before, uint64_t left, uint64_t most) {
    uint64_t part = left < most ? left : most, aligned = before & -before;
    return has_tree(partial) && aligned && left / 2 >= aligned && aligned < part ? aligned : part;
}

reduct_status rd_cuda_fill_block(const struct rd_cuda_device *device, const void *x, bool on_device, uint64_t count,
                                 struct rd_partial *partial, uint64_t *taken, reduct_error *error) {
    double copy[RD_PRODUCT_BLOCK];
    struct rd_partial begun;
    struct rd_prepared cpu;
    *taken = -rd_cuda_elements_before(partial) % RD_PRODUCT_BLOCK;
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
    reduct_status status = rd_prepare(&partial->reduction, &(struct rd_place){.device = "cpu", .crew = {1, NULL}},
                                      RD_FOR_ARRAYS, &cpu, error);
    rd_partial_begin(&begun, partial);
    if (status == REDUCT_OK)
        status = rd_cpu_backend.accumulate(&cpu, on_device ? copy : x, NULL, *taken, NULL, &begun, error);
    if (status == REDUCT_OK)
        rd_partial_follow(partial, &begun);
    return status;
}
