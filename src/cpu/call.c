/* What the families' files have in common: sharing out, meeting, NaNs. */
#include "cpu/call.h"

#include "core/environment.h"
#include "cpu/team.h"

#include <string.h>

bool rd_call_next(struct rd_call *call, uint64_t *number, struct rd_range *range) {
    *number = atomic_fetch_add_explicit(&call->next, 1, memory_order_relaxed);
    if (*number >= call->pieces)
        return false;
    size_t bytes = rd_element_size(call->total);
    uint64_t first = *number * call->piece, left = call->count - first;
    *range = (struct rd_range){call->x + first * bytes, call->y ? call->y + first * bytes : NULL, call->first + first,
                               left < call->piece ? left : call->piece};
    return true;
}

struct rd_room *rd_call_enter(struct rd_call *call) {
    struct rd_room *room = atomic_exchange(&call->unused, NULL);
    return room ? room : rd_room_take();
}

void rd_call_leave(const struct rd_call *call, struct rd_room *room) {
    if (room != call->own)
        rd_room_give(room);
}

void rd_call_merge(struct rd_call *call, const struct rd_partial *partial) {
    pthread_mutex_lock(&call->lock);
    rd_partial_merge(call->total, partial);
    pthread_mutex_unlock(&call->lock);
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
    atomic_init(&call->next, 0);
    atomic_init(&call->unused, call->own);
    if (call->threads <= 1) {
        work_in_environment(&inner);
        return;
    }
    pthread_mutex_init(&call->lock, NULL);
    rd_team_run(call->threads, work_in_environment, &inner);
    pthread_mutex_destroy(&call->lock);
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool rd_is_nan(const void *x, uint64_t i, size_t bytes) {
    if (bytes == 8) {
        uint64_t bits;
        memcpy(&bits, (const unsigned char *)x + 8 * i, sizeof bits);
        return bits << 1 > (uint64_t)0x7ff << 53;
    }
    uint32_t bits;
    memcpy(&bits, (const unsigned char *)x + 4 * i, sizeof bits);
    return bits << 1 > (uint32_t)0xff << 24;
}

bool rd_range_nan(const struct rd_range *range, uint64_t i, size_t bytes) {
    return rd_is_nan(range->x, i, bytes) || (range->y && rd_is_nan(range->y, i, bytes));
}

uint64_t rd_first_nan(const struct rd_range *range, size_t bytes) {
    for (uint64_t i = 0; i < range->count; i++)
        if (rd_range_nan(range, i, bytes))
            return range->first + i;
    return UINT64_MAX;
}

void rd_note_nan(struct rd_partial *partial, uint64_t index) {
    if (index < partial->nan_index)
        partial->nan_index = index;
}
