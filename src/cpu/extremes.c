/* Extremes on the CPU. */
#include "cpu/answer.h"
#include "cpu/call.h"

#include "core/environment.h"
#include "family/family.h"

/* Blocks of which the index or both extremes may be wanted stay in the first-level cache, to be read twice; others save calls. */
enum { SEARCHED_BYTES = 1 << 14, BLOCK_BYTES = 1 << 18 };

/* Where both extremes are wanted, the first of them. */
static enum rd_extreme extreme_of(const struct rd_operator *op) {
    return op->transform == RD_ABSOLUTE ? RD_LARGEST : op->combine == RD_GREATEST ? RD_HIGHEST : RD_LOWEST;
}

static bool wants_both(const struct rd_partial *partial) {
    return rd_operator(partial->reduction.op)->combine == RD_BOTH;
}

/* Takes the extreme of a block without NaNs, for its index that of the block's first element. True if it is new. */
static bool take_extreme(const struct rd_call *call, struct rd_partial *partial, const struct rd_range *block,
                         uint64_t bits) {
    if (wants_both(partial)) {
        struct rd_found greatest;
        call->kernels->extreme[partial->reduction.element](block->x, block->count, RD_HIGHEST, &greatest);
        rd_partial_take_both(partial, bits, greatest.bits);
        return false;
    }
    rd_partial_take(partial, bits, block->first);
    return partial->index == block->first; /* no two blocks start alike */
}

/* Takes the elements of a block one by one, leaving out its NaNs. */
static void take_numbers(const struct rd_call *call, struct rd_partial *partial, const struct rd_range *block) {
    enum rd_extreme which = extreme_of(rd_operator(partial->reduction.op));
    size_t bytes = rd_element_size(partial);
    for (uint64_t i = 0; i < block->count; i++) {
        struct rd_found found;
        if (rd_is_nan(block->x, i, partial->reduction.element)) {
            partial->ignored++;
            continue;
        }
        call->kernels->extreme[partial->reduction.element](block->x + i * bytes, 1, which, &found);
        if (wants_both(partial))
            rd_partial_take_both(partial, found.bits, found.bits);
        else
            rd_partial_take(partial, found.bits, block->first + i);
    }
}

static void take_blocks(const struct rd_call *call, struct rd_partial *partial, const struct rd_range *range) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    enum rd_extreme which = extreme_of(op);
    bool in_small_blocks =
        op->finish == RD_INDEX || op->combine == RD_BOTH || partial->reduction.nan == REDUCT_NAN_IGNORE;
    size_t bytes = rd_element_size(partial);
    uint64_t step = (in_small_blocks ? SEARCHED_BYTES : BLOCK_BYTES) / bytes;
    struct rd_range newest = {.first = UINT64_MAX}; /* the block of the extreme, if it is one of these */
    for (uint64_t at = 0; at < range->count; at += step) {
        uint64_t count = range->count - at < step ? range->count - at : step;
        struct rd_range block = {range->x + at * bytes, NULL, range->first + at, count};
        struct rd_found found;
        call->kernels->extreme[partial->reduction.element](block.x, count, which, &found);
        if (!found.nan) {
            if (take_extreme(call, partial, &block, found.bits))
                newest = block;
        } else if (partial->reduction.nan == REDUCT_NAN_IGNORE) {
            take_numbers(call, partial, &block);
        } else {
            rd_note_nan(partial, rd_first_nan(&block, partial->reduction.element));
            return; /* nothing that follows can matter */
        }
    }
    /* Its place in that block is looked for at the end: most blocks whose extreme is new are outdone by a later one. */
    if (op->finish == RD_INDEX && partial->index == newest.first)
        partial->index += call->kernels->find(newest.x, newest.count, partial->extreme, partial->reduction.element);
}

bool rd_cpu_answer_extreme(const struct rd_prepared *prepared, const void *x, uint64_t count, void *result) {
    const reduct_reduction *reduction = &prepared->reduction;
    const struct rd_kernels *kernels = prepared->device.private;
    const struct rd_operator *op = rd_operator(reduction->op);
    struct rd_found found;
    if (count > SEARCHED_BYTES / (unsigned)rd_type(reduction->element)->bytes || op->combine == RD_BOTH)
        return false;
    rd_environment caller = rd_environment_enter();
    kernels->extreme[reduction->element](x, count, extreme_of(op), &found);
    rd_environment_leave(caller);
    if (found.nan)
        return false;
    if (op->finish == RD_INDEX)
        rd_store(result, kernels->find(x, count, found.bits, reduction->element), 8);
    else
        rd_store(result, found.bits, rd_type(reduction->result)->bytes);
    return true;
}

void rd_cpu_take_extremes(struct rd_call *call) {
    struct rd_partial part, *partial = rd_call_begin_part(call, &part);
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    while (rd_call_next(call, &turn, &range))
        if (range.first < partial->nan_index) /* what follows a NaN cannot matter; pieces come in any order */
            take_blocks(call, partial, &range);
    rd_call_end_part(call, partial);
}
