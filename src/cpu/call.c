/* What the families' files have in common: sharing out, meeting, NaNs. */
#include "cpu/call.h"

#include "core/environment.h"
#include "core/system.h"
#include "cpu/numbers.h"

#include <string.h>

/* The fewest elements of a piece of fast sums. Of what may be cut anywhere more pieces than threads keep these even. */
enum { FAST_PIECE_MIN = 1 << 16, PIECES_PER_THREAD = 4 };

/* The most elements of a piece, as far as there may be as many pieces, where somebody may want to stop between two. */
enum { STOPPING_PIECE = 1 << 22 };

/* Cuts the data into pieces of whole blocks. */
static void cut(struct rd_call *call, uint64_t piece, uint64_t least) {
    call->piece = piece < least ? least : rd_divide_up(piece, RD_FAST_BLOCK) * RD_FAST_BLOCK;
    call->pieces = rd_divide_up(call->count, call->piece);
}

void rd_call_open(struct rd_call *call, const struct rd_prepared *prepared, const void *x, const void *y,
                  uint64_t count, struct rd_partial *total) {
    call->kernels = prepared->device.private;
    call->x = x;
    call->y = y;
    call->first = 0;
    call->count = count;
    call->total = total;
    call->crew = prepared->crew;
}

void rd_call_plan(struct rd_call *call, enum rd_family family) {
    uint64_t bytes = call->count * rd_element_size(call->total) * rd_operator(call->total->reduction.op)->inputs;
    if (family == RD_FAST_SUM)
        cut(call, rd_divide_up(call->count, RD_PIECES_MAX), FAST_PIECE_MIN);
    else
        cut(call, 0, RD_PIECE_MIN);
    call->threads = rd_team_threads(&call->crew, call->pieces, bytes);
    if (family == RD_FAST_SUM)
        return;
    uint64_t pieces = call->threads == 1 ? 1 : (uint64_t)call->threads * PIECES_PER_THREAD;
    if (rd_team_may_stop(&call->crew) && pieces < rd_divide_up(call->count, STOPPING_PIECE))
        pieces = rd_divide_up(call->count, STOPPING_PIECE);
    cut(call, rd_divide_up(call->count, pieces < RD_PIECES_MAX ? pieces : RD_PIECES_MAX), RD_PIECE_MIN);
}

struct rd_turn rd_call_turn(const struct rd_call *call) {
    return (struct rd_turn){.first = rd_team_number() % call->threads};
}

/* Where the pieces of a queue begin. */
static uint64_t queue_begin(const struct rd_call *call, uint64_t queue) {
    return call->pieces / call->threads * queue + call->pieces % call->threads * queue / call->threads;
}

/* Takes a piece of a queue. One that is empty is only looked at: all threads come to all queues in the end, and would wait for
 * each other if they wrote there. */
static bool take_piece(struct rd_call *call, uint64_t queue, uint64_t *piece) {
    uint64_t begin = queue_begin(call, queue), count = queue_begin(call, queue + 1) - begin;
    atomic_uint *next = &call->queue[queue].next;
    if (atomic_load_explicit(next, memory_order_relaxed) >= count)
        return false;
    uint64_t number = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
    *piece = begin + number;
    return number < count;
}

bool rd_call_next(struct rd_call *call, struct rd_turn *turn, struct rd_range *range) {
    for (; turn->passed < call->threads && !rd_team_stops(&call->crew); turn->passed++) {
        if (!take_piece(call, (turn->first + turn->passed) % call->threads, &turn->piece))
            continue;
        size_t bytes = rd_element_size(call->total);
        uint64_t first = turn->piece * call->piece, left = call->count - first;
        *range = (struct rd_range){call->x + first * bytes, call->y ? call->y + first * bytes : NULL,
                                   call->first + first, left < call->piece ? left : call->piece};
        return true;
    }
    return false;
}

struct rd_room *rd_call_enter(struct rd_call *call) {
    struct rd_room *room = atomic_exchange(&call->unused, NULL);
    return room ? room : rd_room_take();
}

void rd_call_leave(const struct rd_call *call, struct rd_room *room) {
    if (room != call->own)
        rd_room_give(room);
}

struct rd_partial *rd_call_begin_part(struct rd_call *call, struct rd_partial *own) {
    if (call->threads == 1)
        return call->total;
    rd_partial_init(own, &call->total->reduction);
    return own;
}

/* All threads come here at about the same time, for less than a microsecond each: to sleep would take longer. */
void rd_call_lock(struct rd_call *call) {
    for (unsigned tries = 0; atomic_load_explicit(&call->locked, memory_order_relaxed) ||
                             atomic_exchange_explicit(&call->locked, true, memory_order_acquire);
         tries++)
        if (tries < 1000)
            rd_pause();
        else
            rd_yield(); /* who holds it may not be running */
}

void rd_call_unlock(struct rd_call *call) {
    atomic_store_explicit(&call->locked, false, memory_order_release);
}

void rd_call_end_part(struct rd_call *call, const struct rd_partial *part) {
    if (part == call->total)
        return;
    rd_call_lock(call);
    rd_partial_merge(call->total, part);
    rd_call_unlock(call);
}

/* Every thread runs in the environment that the kernels need. */
struct environment_call {
    void (*work)(struct rd_call *call);
    struct rd_call *call;
};

static void work_in_environment(void *context) {
    struct environment_call *inner = context;
    rd_environment caller = rd_environment_enter();
    inner->work(inner->call);
    rd_environment_leave(caller);
}

void rd_call_share(struct rd_call *call, void (*work)(struct rd_call *call)) {
    struct environment_call inner = {work, call};
    call->queue = call->threads > 1 ? call->own->queue : &call->alone;
    for (unsigned i = 0; i < call->threads; i++)
        atomic_init(&call->queue[i].next, 0);
    atomic_init(&call->unused, call->own);
    atomic_init(&call->locked, false);
    if (call->threads > 1)
        rd_team_run(&call->crew, call->threads, work_in_environment, &inner);
    else
        work_in_environment(&inner);
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool rd_is_nan(const void *x, uint64_t i, reduct_type element) {
    if (element == REDUCT_F16 || element == REDUCT_BF16) {
        uint16_t half;
        memcpy(&half, (const unsigned char *)x + 2 * i, sizeof half);
        return (half & 0x7fff) > (element == REDUCT_F16 ? 0x7c00 : 0x7f80);
    }
    if (element == REDUCT_F64) {
        uint64_t bits;
        memcpy(&bits, (const unsigned char *)x + 8 * i, sizeof bits);
        return bits << 1 > (uint64_t)0x7ff << 53;
    }
    uint32_t bits;
    memcpy(&bits, (const unsigned char *)x + 4 * i, sizeof bits);
    return bits << 1 > (uint32_t)0xff << 24;
}

bool rd_range_nan(const struct rd_range *range, uint64_t i, reduct_type element) {
    return rd_is_nan(range->x, i, element) || (range->y && rd_is_nan(range->y, i, element));
}

uint64_t rd_first_nan(const struct rd_range *range, reduct_type element) {
    for (uint64_t i = 0; i < range->count; i++)
        if (rd_range_nan(range, i, element))
            return range->first + i;
    return UINT64_MAX;
}

void rd_note_nan(struct rd_partial *partial, uint64_t index) {
    if (index < partial->nan_index)
        partial->nan_index = index;
}
