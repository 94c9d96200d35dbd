/* Extremes on the CPU. */
#include "cpu/call.h"

/* Blocks stay in the first-level cache, to be searched for the index of a new extreme. */
enum { EXTREMES_BYTES = 1 << 14 };

/* The index of the first element with these bits; there is one. */
static uint64_t find_bits(const void *x, uint64_t bits, size_t bytes) {
    uint64_t i = 0;
    switch (bytes) {
    case 1:
        while (((const uint8_t *)x)[i] != bits)
            i++;
        break;
    case 2:
        while (((const uint16_t *)x)[i] != bits)
            i++;
        break;
    case 4:
        while (((const uint32_t *)x)[i] != bits)
            i++;
        break;
    default:
        while (((const uint64_t *)x)[i] != bits)
            i++;
    }
    return i;
}

/* Takes the extreme of a block without NaNs. Its index is looked for only where that is wanted and the extreme is new.
 */
static void take_extreme(struct rd_partial *partial, const struct rd_range *block, uint64_t bits) {
    rd_partial_take(partial, bits, block->first);
    bool is_new = partial->index == block->first; /* blocks come in ascending order, and no two start alike */
    if (is_new && rd_operator(partial->reduction.op)->finish == RD_INDEX)
        partial->index += find_bits(block->x, bits, rd_element_size(partial));
}

/* Takes the elements of a block one by one, leaving out its NaNs. */
static void take_numbers(const struct rd_call *call, struct rd_partial *partial, const struct rd_range *block) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    size_t bytes = rd_element_size(partial);
    for (uint64_t i = 0; i < block->count; i++) {
        struct rd_extremes one;
        if (rd_is_nan(block->x, i, bytes)) {
            partial->ignored++;
            continue;
        }
        call->kernels->extremes[partial->reduction.element](block->x + i * bytes, 1, op->transform == RD_ABSOLUTE,
                                                            &one);
        rd_partial_take(partial, op->combine == RD_LEAST ? one.least : one.greatest, block->first + i);
    }
}

static void take_blocks(const struct rd_call *call, struct rd_partial *partial, const struct rd_range *range) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    size_t bytes = rd_element_size(partial);
    uint64_t step = EXTREMES_BYTES / bytes;
    for (uint64_t at = 0; at < range->count; at += step) {
        uint64_t count = range->count - at < step ? range->count - at : step;
        struct rd_range block = {range->x + at * bytes, NULL, range->first + at, count};
        struct rd_extremes extremes;
        call->kernels->extremes[partial->reduction.element](block.x, count, op->transform == RD_ABSOLUTE, &extremes);
        if (!extremes.nan) {
            take_extreme(partial, &block, op->combine == RD_LEAST ? extremes.least : extremes.greatest);
        } else if (partial->reduction.nan == REDUCT_NAN_IGNORE) {
            take_numbers(call, partial, &block);
        } else {
            rd_note_nan(partial, rd_first_nan(&block, bytes));
            return; /* nothing that follows can matter */
        }
    }
}

void rd_cpu_take_extremes(struct rd_call *call) {
    struct rd_partial part, *partial = call->threads == 1 ? call->total : &part;
    struct rd_range range;
    uint64_t number;
    if (partial == &part)
        rd_partial_init(&part, &call->total->reduction);
    while (rd_call_next(call, &number, &range))
        if (partial->nan_index == UINT64_MAX)
            take_blocks(call, partial, &range);
    if (partial == &part)
        rd_call_merge(call, &part);
}
