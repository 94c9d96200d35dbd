/* From what launches leave to partial results: see partials.h. */
#include "cuda/partials.h"

#include "core/reduction.h"
#include "core/status.h"
#include "cpu/backend.h"

#include <stdlib.h>
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
                                                         transform == RD_SQUARE || transform == RD_TIMES));
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

/* Memory for elements and entries of a mask that come from the device. */
struct room {
    unsigned char x[8 << 16], y[8 << 16], mask[(1 << 16) + 1];
};

enum { ROOM_ELEMENTS = 1 << 16 };

static reduct_status fetch(const struct rd_cuda_device *device, unsigned element_bytes, struct rd_cuda_array *array,
                           struct room *room, reduct_error *error) {
    const struct {
        void *to;
        const unsigned char **from;
        uint64_t bytes;
    } copies[] = {{room->x, &array->x, array->count * element_bytes},
                  {room->y, &array->y, array->y ? array->count * element_bytes : 0},
                  {room->mask, &array->mask, rd_cuda_mask_bytes(array->kind, array->offset + array->count)}};
    rd_cu_result result = RD_CU_SUCCESS;
    for (int i = 0; i < 3; i++)
        if (copies[i].bytes && result == RD_CU_SUCCESS) {
            result = device->driver->cuMemcpyDtoHAsync(copies[i].to, (rd_cu_address)(uintptr_t)*copies[i].from,
                                                       (size_t)copies[i].bytes, NULL);
            *copies[i].from = copies[i].to;
        }
    if (result == RD_CU_SUCCESS)
        result = device->driver->cuStreamSynchronize(NULL);
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(device, result, "to copy", error);
}

/* Adds an array in host memory. */
static reduct_status add_here(const struct rd_prepared *cpu, const struct rd_cuda_array *array,
                              struct rd_partial *partial, reduct_error *error) {
    struct rd_partial begun;
    rd_partial_begin(&begun, partial);
    reduct_status status = array->kind
                               ? rd_cpu_backend.accumulate_masked(cpu, array->x, array->y, array->count, array->kind,
                                                                  array->mask, array->offset, &begun, error)
                               : rd_cpu_backend.accumulate(cpu, array->x, array->y, array->count, NULL, &begun, error);
    if (status == REDUCT_OK)
        rd_partial_follow(partial, &begun);
    return status;
}

reduct_status rd_cuda_add_by_cpu(const struct rd_cuda_device *device, const struct rd_cuda_array *array, bool on_device,
                                 struct rd_partial *partial, reduct_error *error) {
    const unsigned element_bytes = rd_type(partial->reduction.element)->bytes;
    struct rd_prepared cpu;
    struct room *room = NULL;
    reduct_status status = rd_prepare(&partial->reduction, &(struct rd_place){.device = "cpu", .crew = {1, NULL}},
                                      RD_FOR_ARRAYS, &cpu, error);
    if (status != REDUCT_OK || !on_device)
        return status == REDUCT_OK ? add_here(&cpu, array, partial, error) : status;
    if (!(room = malloc(sizeof *room)))
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated", sizeof *room);
    for (uint64_t at = 0, some; status == REDUCT_OK && at < array->count; at += some) {
        some = array->count - at < ROOM_ELEMENTS ? array->count - at : ROOM_ELEMENTS;
        struct rd_cuda_array part = rd_cuda_part_of(array, at, some, element_bytes);
        status = fetch(device, element_bytes, &part, room, error);
        if (status == REDUCT_OK)
            status = add_here(&cpu, &part, partial, error);
    }
    free(room);
    return status;
}

reduct_status rd_cuda_begin_by_cpu(const struct rd_cuda_device *device, const struct rd_cuda_array *array,
                                   bool on_device, struct rd_partial *partial, uint64_t *taken, reduct_error *error) {
    const uint64_t missing =
        array->kind && has_tree(partial) ? array->count : -rd_cuda_elements_before(partial) % RD_PRODUCT_BLOCK;
    *taken = missing < array->count ? missing : array->count;
    if (!*taken)
        return REDUCT_OK;
    const struct rd_cuda_array part = rd_cuda_part_of(array, 0, *taken, rd_type(partial->reduction.element)->bytes);
    return rd_cuda_add_by_cpu(device, &part, on_device, partial, error);
}
