/* Products on the CPU: of floats along their tree (arithmetic/product.h), of integers in any order. */
#include "cpu/call.h"

#include "core/environment.h"

#include <string.h>

/* The smallest subtree that is a piece. */
enum { SUBTREE_LEVEL_MIN = 4 };

static void take_nans(struct rd_partial *partial, uint64_t nans, uint64_t index) {
    if (partial->reduction.nan == REDUCT_NAN_IGNORE) {
        partial->ignored += nans;
        return;
    }
    partial->nans += nans;
    rd_note_nan(partial, index);
}

/* Elements one by one: what is left of a block, or a block in which some are not normal numbers. */
static void multiply_singly(struct rd_partial *partial, const struct rd_range *range) {
    uint64_t nans = rd_product_add(&partial->product, partial->reduction.element, range->x, range->count);
    if (nans)
        take_nans(partial, nans, rd_first_nan(range, partial->reduction.element));
}

static bool multiply_block(const struct rd_call *call, struct rd_product *product, reduct_type element, const void *x,
                           size_t after) {
    struct rd_factor factor;
    if (!call->kernels->multiply_block[element](x, after, &factor))
        return false;
    rd_product_push(product, &factor, 0);
    return true;
}

/* Goes on with a product wherever it stands in its tree. */
static void multiply(const struct rd_call *call, struct rd_partial *partial, const struct rd_range *range) {
    size_t bytes = rd_element_size(partial);
    for (uint64_t at = 0, count; at < range->count; at += count) {
        uint64_t left = range->count - at, room = RD_PRODUCT_BLOCK - partial->product.count % RD_PRODUCT_BLOCK;
        count = left < room ? left : room;
        struct rd_range block = {range->x + at * bytes, NULL, range->first + at, count};
        if (count < RD_PRODUCT_BLOCK ||
            !multiply_block(call, &partial->product, partial->reduction.element, block.x, (left - count) * bytes))
            multiply_singly(partial, &block);
    }
}

/* Every piece is a subtree. */
static void multiply_subtrees(struct rd_call *call) {
    struct rd_partial piece;
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    unsigned level = (unsigned)__builtin_ctzll(call->piece / RD_PRODUCT_BLOCK);
    while (rd_call_next(call, &turn, &range)) {
        rd_partial_init(&piece, &call->total->reduction);
        multiply(call, &piece, &range);
        call->own->subtree[turn.piece] = (struct rd_product_piece){rd_product_factor(&piece.product, level),
                                                                   piece.nans + piece.ignored, piece.nan_index};
    }
}

/* Up to where whole subtrees of the size of a piece begin, these on threads, and what is left. */
void rd_cpu_multiply(struct rd_call *call) {
    struct rd_partial *total = call->total;
    size_t bytes = rd_element_size(total);
    unsigned level = SUBTREE_LEVEL_MIN;
    while (call->count / RD_PRODUCT_BLOCK >> level > RD_SUBTREES_MAX)
        level++;
    uint64_t count = call->count, piece = (uint64_t)RD_PRODUCT_BLOCK << level;
    uint64_t head = -total->product.count % piece;
    head = head < count ? head : count;
    uint64_t pieces = (count - head) / piece, body = pieces * piece;
    struct rd_range before = {call->x, NULL, 0, head};
    struct rd_range after = {call->x + (head + body) * bytes, NULL, head + body, count - head - body};

    rd_environment caller = rd_environment_enter();
    multiply(call, total, &before);
    if (pieces) {
        call->x += head * bytes;
        call->first = head;
        call->count = body;
        call->piece = piece;
        call->pieces = pieces;
        rd_call_share(call, multiply_subtrees);
        if (rd_team_stops(&call->crew))
            pieces = 0; /* some were not formed */
    }
    for (uint64_t i = 0; i < pieces; i++) {
        const struct rd_product_piece *subtree = &call->own->subtree[i];
        rd_product_push(&total->product, &subtree->factor, level);
        if (subtree->nans)
            take_nans(total, subtree->nans, subtree->nan_index);
    }
    multiply(call, total, &after);
    rd_environment_leave(caller);
}

void rd_cpu_multiply_integers(struct rd_call *call) {
    struct rd_partial part, *partial = rd_call_begin_part(call, &part);
    const reduct_reduction *reduction = &call->total->reduction;
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    while (rd_call_next(call, &turn, &range))
        call->kernels->multiply_integer[reduction->element](&partial->whole, range.x, range.count,
                                                            reduction->flags & REDUCT_WRAP);
    rd_call_end_part(call, partial);
}
