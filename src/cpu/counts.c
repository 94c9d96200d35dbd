/* Counts and bits on the CPU: what is not NaN, what is not zero, and, or, exclusive or. */
#include "cpu/call.h"

/* Blocks are read twice where both zeros and NaNs are wanted, and so stay in the first-level cache; and what is decided by one
 * element is decided soon after it. */
enum { BLOCK_BYTES = 1 << 14 };

/* Zeros and NaNs of a block, those that are wanted. */
struct tally {
    uint64_t zeros, nans;
};

/* NaNs are only looked for where they count as something else than what they are: neither zero nor absent. */
static bool looks_for_nans(const reduct_reduction *reduction) {
    return rd_type(reduction->element)->kind == RD_FLOAT &&
           (reduction->nan != REDUCT_NAN_PROPAGATE || rd_operator(reduction->op)->transform == RD_PRESENT);
}

static struct tally tally_of(const struct rd_call *call, const reduct_reduction *reduction,
                             const struct rd_range *block) {
    const struct rd_kernels *kernels = call->kernels;
    bool zeros = rd_operator(reduction->op)->transform != RD_PRESENT;
    return (struct tally){.zeros = zeros ? kernels->zeros[reduction->element](block->x, block->count) : 0,
                          .nans = looks_for_nans(reduction) ? kernels->nans[reduction->element](block->x, block->count)
                                                            : 0};
}

/* Whether what is known of a truth value is all that there is to know: NaNs that are ignored are counted to the end, and those that
 * are an error are looked for. */
static bool is_decided(const struct rd_partial *partial) {
    enum rd_combine combine = rd_operator(partial->reduction.op)->combine;
    return combine != RD_XOR && partial->bits == (combine == RD_OR) && !looks_for_nans(&partial->reduction);
}

/* Takes what was found in a block: a count, or a truth value. */
static void take_tally(struct rd_partial *partial, const struct rd_range *block, struct tally tally) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    bool ignore = partial->reduction.nan == REDUCT_NAN_IGNORE;
    uint64_t absent = ignore || op->transform == RD_PRESENT ? tally.nans : 0;
    uint64_t counted = block->count - tally.zeros - absent;
    partial->ignored += ignore ? tally.nans : 0;
    if (op->combine == RD_ADD)
        partial->counted += counted;
    else
        rd_partial_take_bits(partial, op->combine == RD_OR    ? counted != 0
                                      : op->combine == RD_AND ? tally.zeros == 0
                                                              : counted & 1);
    if (tally.nans && partial->reduction.nan == REDUCT_NAN_ERROR)
        rd_note_nan(partial, rd_first_nan(block, partial->reduction.element));
}

static void take_blocks(const struct rd_call *call, struct rd_partial *partial, const struct rd_range *range) {
    size_t bytes = rd_element_size(partial);
    uint64_t step = BLOCK_BYTES / bytes;
    bool counts = rd_operator(partial->reduction.op)->combine == RD_ADD;
    for (uint64_t at = 0; at < range->count && (counts || !is_decided(partial)); at += step) {
        uint64_t count = range->count - at < step ? range->count - at : step;
        struct rd_range block = {range->x + at * bytes, NULL, range->first + at, count};
        struct tally tally = tally_of(call, &partial->reduction, &block);
        take_tally(partial, &block, tally);
        if (tally.nans && partial->reduction.nan == REDUCT_NAN_ERROR)
            return; /* an error, whatever follows */
    }
}

void rd_cpu_count(struct rd_call *call) {
    struct rd_partial part, *partial = rd_call_begin_part(call, &part);
    const reduct_reduction *reduction = &call->total->reduction;
    bool all_count = rd_operator(reduction->op)->transform == RD_PRESENT && !looks_for_nans(reduction);
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    while (rd_call_next(call, &turn, &range))
        if (all_count)
            partial->counted += range.count;
        else if (range.first < partial->nan_index)
            take_blocks(call, partial, &range);
    rd_call_end_part(call, partial);
}

void rd_cpu_combine_bits(struct rd_call *call) {
    struct rd_partial part, *partial = rd_call_begin_part(call, &part);
    const struct rd_operator *op = rd_operator(call->total->reduction.op);
    size_t bytes = rd_element_size(call->total);
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    while (rd_call_next(call, &turn, &range))
        if (!rd_is_truth(&call->total->reduction))
            rd_partial_take_bits(partial, call->kernels->bits(range.x, range.count, bytes, op->combine));
        else if (range.first < partial->nan_index)
            take_blocks(call, partial, &range);
    rd_call_end_part(call, partial);
}
