/* Fast sums on the CPU, in the hardware's arithmetic: blocks of a fixed length in their order, so that the bits depend
 * neither on threads nor on the instruction set. */
#include "cpu/call.h"

#include <string.h>

/* Room for one block: its numbers without NaNs, and what moments need. */
struct room {
    double *numbers[2], *moments;
};

/* Elements of 16 bits as floats, in the room for numbers behind where as many elements may be; others as they are. */
static const void *as_floats(const struct rd_call *call, const struct rd_partial *piece, const unsigned char *x,
                             uint64_t count, double *numbers) {
    void (*to_floats)(const void *from, size_t n, float *to) = call->kernels->to_floats[piece->reduction.element];
    if (!x || !to_floats)
        return x;
    float *floats = (float *)(void *)numbers + count;
    to_floats(x, count, floats);
    return floats;
}

/* Adds a block; returns whether a NaN came of it. */
static bool add_block(const struct rd_call *call, const struct room *room, struct rd_partial *piece,
                      const struct rd_range *block) {
    bool single = piece->reduction.element != REDUCT_F64;
    enum rd_transform transform = rd_operator(piece->reduction.op)->transform;
    const void *x = as_floats(call, piece, block->x, block->count, room->numbers[0]),
               *y = as_floats(call, piece, block->y, block->count, room->numbers[1]);
    double value;
    if (transform == RD_MOMENTS) {
        double mean;
        value = single ? call->kernels->fast_moments_f32(x, block->count, room->moments, &mean)
                       : call->kernels->fast_moments_f64(x, block->count, room->moments, &mean);
        if (value == value || piece->reduction.nan == REDUCT_NAN_PROPAGATE)
            rd_partial_add_moments(piece, rd_partial_count(piece), block->count, mean, value);
    } else {
        value = single ? call->kernels->fast_f32(transform, x, y, block->count)
                       : call->kernels->fast_f64(transform, x, y, block->count);
        if (value == value || piece->reduction.nan == REDUCT_NAN_PROPAGATE)
            rd_partial_add_fast(piece, value, 0);
    }
    return value != value;
}

/* Copies what is not NaN; returns how much. */
static uint64_t compact(const struct rd_range *block, reduct_type element, unsigned char *x, unsigned char *y) {
    size_t bytes = rd_type(element)->bytes;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < block->count; i++) {
        if (rd_range_nan(block, i, element))
            continue;
        memcpy(x + kept * bytes, block->x + i * bytes, bytes);
        if (block->y)
            memcpy(y + kept * bytes, block->y + i * bytes, bytes);
        kept++;
    }
    return kept;
}

/* A block that gave NaN, once more: without NaN elements, or with a note of the first. What is left may still give NaN.
 */
static void add_block_again(const struct rd_call *call, const struct room *room, struct rd_partial *piece,
                            const struct rd_range *block) {
    unsigned char *x = (unsigned char *)room->numbers[0], *y = (unsigned char *)room->numbers[1];
    reduct_type element = piece->reduction.element;
    struct rd_range numbers = {x, block->y ? y : NULL, block->first, compact(block, element, x, y)};
    const bool refused = piece->reduction.nan == REDUCT_NAN_ERROR;
    if (refused)
        rd_note_nan(piece, rd_first_nan(block, element));
    piece->reduction.nan = REDUCT_NAN_PROPAGATE;
    if (numbers.count)
        add_block(call, room, piece, &numbers);
    if (!refused)
        piece->ignored += block->count - numbers.count; /* like `seen`, raised when the block is in */
}

static void add_range(const struct rd_call *call, const struct room *room, struct rd_partial *piece,
                      const struct rd_range *range) {
    size_t bytes = rd_element_size(piece);
    reduct_nan policy = piece->reduction.nan;
    for (uint64_t at = 0; at < range->count; at += RD_FAST_BLOCK) {
        uint64_t count = range->count - at < RD_FAST_BLOCK ? range->count - at : RD_FAST_BLOCK;
        struct rd_range block = {range->x + at * bytes, range->y ? range->y + at * bytes : NULL, range->first + at,
                                 count};
        if (add_block(call, room, piece, &block) && policy != REDUCT_NAN_PROPAGATE) {
            add_block_again(call, room, piece, &block);
            piece->reduction.nan = policy;
        }
        piece->seen += count;
    }
}

void rd_cpu_add_fast(struct rd_call *call) {
    struct rd_partial piece;
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    struct rd_room *room = rd_call_enter(call);
    if (!room)
        return;
    const struct room block = {{room->numbers[0], room->numbers[1]}, room->moments};
    while (rd_call_next(call, &turn, &range)) {
        rd_partial_init(&piece, &call->total->reduction);
        add_range(call, &block, &piece, &range);
        call->own->fast[turn.piece] = (struct rd_fast_piece){piece.high, piece.low, piece.ignored, piece.nan_index};
    }
    rd_call_leave(call, room);
}

/* Adds one piece of `count` elements to the total. */
static void add_piece(struct rd_partial *total, const struct rd_fast_piece *piece, uint64_t count) {
    if (rd_operator(total->reduction.op)->transform == RD_MOMENTS)
        rd_partial_add_moments(total, rd_partial_count(total), count - piece->ignored, piece->high, piece->low);
    else
        rd_partial_add_fast(total, piece->high, piece->low);
    rd_note_nan(total, piece->nan_index);
    total->seen += count;
    total->ignored += piece->ignored;
}

void rd_cpu_merge_fast(struct rd_call *call) {
    for (uint64_t i = 0; i < call->pieces; i++) {
        uint64_t left = call->count - i * call->piece;
        add_piece(call->total, &call->own->fast[i], left < call->piece ? left : call->piece);
    }
}

void rd_cpu_add_few_fast(struct rd_call *call) {
    _Alignas(64) double numbers[2][RD_SHORT], moments[RD_SHORT];
    const struct room room = {{numbers[0], numbers[1]}, moments};
    const struct rd_range range = {call->x, call->y, 0, call->count};
    struct rd_partial piece;
    rd_partial_init(&piece, &call->total->reduction);
    add_range(call, &room, &piece, &range);
    const struct rd_fast_piece result = {piece.high, piece.low, piece.ignored, piece.nan_index};
    add_piece(call->total, &result, call->count);
}
