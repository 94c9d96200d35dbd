/* One call of the CPU backend, shared by the threads that work on it, and what the families' files have in common. */
#ifndef RD_CALL_H
#define RD_CALL_H

#include "cpu/room.h"

#include <stdatomic.h>

struct rd_call {
    const struct rd_kernels *kernels;
    const unsigned char *x, *y;
    uint64_t first, count, piece, pieces; /* the index of the first element is not 0 where others went before */
    struct rd_crew crew;
    unsigned threads;       /* that work on it, at most */
    struct rd_queue *queue; /* of pieces, one for each thread: in the room, or `alone` */
    struct rd_queue alone;
    struct rd_partial *total;
    struct rd_room *own; /* where pieces leave their results, and queues are; null if neither is needed */
    /* What threads write, in a cache line of its own: */
    _Alignas(64) _Atomic(struct rd_room *) unused; /* the same room, until a thread has taken it to work in */
    atomic_bool locked;                            /* rd_call_lock() */
};

/* Part of the data. */
struct rd_range {
    const unsigned char *x, *y;
    uint64_t first, count;
};

/* The fewest elements of a piece of what may be cut anywhere. */
enum { RD_PIECE_MIN = 1 << 14 };

/* Arrays this short are reduced on the stack alone. */
enum { RD_SHORT = 64 };

/* Where a thread is in taking pieces. A thread begins with the queue that has its number, so that in calls one after another
 * over the same array each finds in its cache what it read before; then it helps with the other queues. */
struct rd_turn {
    unsigned first, passed; /* the queue to begin with; queues found empty */
    uint64_t piece;         /* the number of the piece taken last */
};
struct rd_turn rd_call_turn(const struct rd_call *call);

/* The next piece of the data, if any. */
bool rd_call_next(struct rd_call *call, struct rd_turn *turn, struct rd_range *range);

/* Room to work in: the call's, or one more. Null if there is none to be had; then another thread has the call's. */
struct rd_room *rd_call_enter(struct rd_call *call);
void rd_call_leave(const struct rd_call *call, struct rd_room *room);

/* Where a thread adds up: the call's total if it is alone, otherwise `own`, made empty, which rd_call_end_part() merges into the
 * total. Indices in it count from the start of the call, and `seen` is zero until the end: so merging leaves them as they are. */
struct rd_partial *rd_call_begin_part(struct rd_call *call, struct rd_partial *own);
void rd_call_end_part(struct rd_call *call, const struct rd_partial *part);

/* What threads of a call have in common is one thread's between these. */
void rd_call_lock(struct rd_call *call);
void rd_call_unlock(struct rd_call *call);

/* Begins a call over whole arrays: all but how it is shared out. */
void rd_call_open(struct rd_call *call, const struct rd_prepared *prepared, const void *x, const void *y,
                  uint64_t count, struct rd_partial *total);

/* Finds how many threads pay, and cuts the data for them. */
void rd_call_plan(struct rd_call *call, enum rd_family family);

/* Runs `work` on the call's threads, within rd_environment_enter(). */
void rd_call_share(struct rd_call *call, void (*work)(struct rd_call *call));

static inline size_t rd_element_size(const struct rd_partial *partial) {
    return rd_type(partial->reduction.element)->bytes;
}

/* Whether element i of floats at x is NaN. */
bool rd_is_nan(const void *x, uint64_t i, reduct_type element);

/* Whether element i of a range of floats is NaN: of a pair, either. */
bool rd_range_nan(const struct rd_range *range, uint64_t i, reduct_type element);

/* The index of the first NaN of a range of floats, or UINT64_MAX. */
uint64_t rd_first_nan(const struct rd_range *range, reduct_type element);

/* Notes that a NaN which was not ignored is there. */
void rd_note_nan(struct rd_partial *partial, uint64_t index);

/* Adds few elements whose sum two doubles hold to the call's total, without a room; false if it is not such a sum. */
bool rd_cpu_add_briefly(const struct rd_call *call);

/* What a thread does for each family. */
void rd_cpu_add_exactly(struct rd_call *call);
void rd_cpu_add_integers(struct rd_call *call);
void rd_cpu_add_fast(struct rd_call *call);
void rd_cpu_take_extremes(struct rd_call *call);
void rd_cpu_count(struct rd_call *call);
void rd_cpu_combine_bits(struct rd_call *call);
void rd_cpu_multiply_integers(struct rd_call *call);

/* Adds the pieces of a fast sum in order. Within rd_environment_enter(). */
void rd_cpu_merge_fast(struct rd_call *call);

/* Products of floats from the first element to the last; shares out what is worth it. */
void rd_cpu_multiply(struct rd_call *call);

/* The same as the above, for at most RD_SHORT elements and on the stack alone. */
void rd_cpu_add_few_exactly(struct rd_call *call);
void rd_cpu_add_few_fast(struct rd_call *call);

#endif
