/* Memory that one thread of a call works in: too much for the stack of a caller, of which the library uses at most 16 KiB.
 * A call takes a room and gives it back; a few stay for the next calls, so that arrays that take a microsecond need not wait
 * for the allocator. */
#ifndef RD_ROOM_H
#define RD_ROOM_H

#include "cpu/kernels.h"
#include "cpu/team.h"

#include <stdatomic.h>

/* The fast result of one piece: these as in rd_partial. */
struct rd_fast_piece {
    double high, low;
    uint64_t ignored, nan_index;
};

/* The product of one piece. */
struct rd_product_piece {
    struct rd_factor factor;
    uint64_t nans, nan_index;
};

/* The most pieces of a call; of products of floats more, because what is left over beyond the last whole one falls to a
 * single thread. */
enum { RD_PIECES_MAX = 256, RD_SUBTREES_MAX = 512 };

/* Pieces in a row, for whoever comes. In a cache line of its own. */
struct rd_queue {
    _Alignas(64) atomic_uint next;
};

struct rd_room {
    union {
        struct { /* exact sums of floats */
            _Alignas(64) double block[6][RD_BLOCK];
            struct rd_bins bins;
            struct rd_partial partial;
        };
        struct { /* fast sums */
            _Alignas(64) double numbers[2][RD_FAST_BLOCK], moments[RD_FAST_BLOCK];
        };
    };
    union { /* what the pieces of a call came to, in the room that the call was given */
        struct rd_fast_piece fast[RD_PIECES_MAX];
        struct rd_product_piece subtree[RD_SUBTREES_MAX];
    };
    struct rd_queue queue[RD_TEAM_MAX]; /* the call's, in the same room */
    /* What a thread works with for a plan of many results, if it is no more: the allocator would take as long as few results do. Only
     * pages that are used take memory. */
    _Alignas(64) unsigned char desk[1 << 20];
};

/* Null if memory is short. */
struct rd_room *rd_room_take(void);
void rd_room_give(struct rd_room *room);

/* Frees those that are kept, as happens when the process ends. */
void rd_room_free_kept(void);

#endif
