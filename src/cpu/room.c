/* Rooms for the threads of calls, a few of them kept. */
#include "cpu/room.h"

#include <stdatomic.h>
#include <stdlib.h>

/* As many as threads that commonly call at once; each in a cache line of its own. */
enum { KEPT = 64 };

static struct { _Alignas(64) _Atomic(struct rd_room *) room; } kept[KEPT];

/* Where a thread looks first: threads have stacks of their own, so that they rarely meet. */
static size_t first_place(void) {
    char here;
    uint64_t page = (uint64_t)(uintptr_t)&here >> 16;
    return (size_t)(page * 0x9e3779b97f4a7c15 >> 58);
}

_Static_assert(KEPT == 64, "six bits choose a place");

struct rd_room *rd_room_take(void) {
    for (size_t i = 0, first = first_place(); i < 4; i++) {
        struct rd_room *room = atomic_exchange_explicit(&kept[(first + i) % KEPT].room, NULL, memory_order_acquire);
        if (room)
            return room;
    }
    return aligned_alloc(64, sizeof(struct rd_room));
}

void rd_room_give(struct rd_room *room) {
    for (size_t i = 0, first = first_place(); i < 4; i++) {
        struct rd_room *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&kept[(first + i) % KEPT].room, &none, room, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    free(room);
}

__attribute__((destructor)) void rd_room_free_kept(void) {
    for (size_t i = 0; i < KEPT; i++)
        free(atomic_exchange(&kept[i].room, NULL));
}
