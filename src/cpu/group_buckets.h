/* Elements of groups, moved to buckets: each bucket takes those of so many results that lie side by side as a thread's cache has entries for.
 * So threads can add to one table between them, each where no other does. */
#ifndef RD_GROUP_BUCKETS_H
#define RD_GROUP_BUCKETS_H

#include "core/many.h"
#include "cpu/group_blocks.h"

#include <stdatomic.h>

struct rd_group_buckets {
    const struct rd_many *many;
    const struct rd_execution *execution;
    unsigned threads;
    unsigned log2;   /* results of a bucket */
    size_t count;    /* of buckets */
    uint64_t room;   /* elements that are moved at a time, at most */
    uint64_t *begin; /* by bucket, and one more: where its elements begin */
    /* By element: its result, less the first of its bucket; its values; its row, or null where nobody asks. */
    uint32_t *to;
    unsigned char *input[2];
    uint64_t *row;
    atomic_ullong outside; /* the first row whose index is outside, or UINT64_MAX */
    /* What threads share out. */
    uint64_t first, elements, *next; /* the last: by part, bucket */
    unsigned parts;
    atomic_uint part;
    atomic_bool lacks_memory;
};

/* `room`: elements that are moved at a time, at most. False without memory. There are fewer than 2^32 results, and no more than
 * RD_GROUP_BUCKETS_MOST buckets of them. To be closed in either case. */
enum { RD_GROUP_BUCKETS_MOST = 1 << 12 };
bool rd_group_buckets_open(struct rd_group_buckets *buckets, const struct rd_many *many,
                           const struct rd_execution *execution, unsigned threads, unsigned log2, uint64_t room,
                           bool with_rows);
void rd_group_buckets_close(struct rd_group_buckets *buckets);

/* Moves the elements from number `first` on, no more than there is room for: those of a bucket stay in the order of the array. False where some
 * index is outside and none may be, without memory, or if the work shall stop: then nothing is to be made of what was moved. */
bool rd_group_buckets_move(struct rd_group_buckets *buckets, uint64_t first, uint64_t elements);

/* The block of a bucket's elements from place `at` to before `end`, at most RD_GROUP_BLOCK of them. */
struct rd_group_block rd_group_buckets_read(const struct rd_group_buckets *buckets, size_t bucket, uint64_t at,
                                            uint64_t end);

#endif
