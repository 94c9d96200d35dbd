/* Tables of many processes, merged group by group by what moves and merges arrays of 64-bit integers for them, such as MPI: by adding,
 * by the least, by bits. So no process reads what another one has saved, and most of a table is one loop over its cells.
 *
 * All have tables of the same reductions, and open a join of it with the same numbers of parts and groups. They then take the same steps:
 *
 *   ask      for arrays of numbers that all merge, until there are no more. Processes learn from these how the cells of each block of
 *            groups are written: a cell as one numeral, an integer of as few bits as the counts and the sums of all processes' cells
 *            of the block take, cut into words that add up within an int64. Cells that are unlike the others of their block, because sums range widely
 *            or counts are large, are put aside: they have blocks of their own, of as many words as they need.
 *   parts    of what was put aside: pack, merge, unpack. They are kept until the rest is there.
 *   settle   after which nothing fails. So this is where processes find out whether all are well.
 *   parts    of all groups: pack, merge, unpack, in place.
 *
 * A process that lacks memory goes on taking these steps, with words that mean nothing, and says so when it settles. */
#ifndef RD_JOIN_H
#define RD_JOIN_H

#include <reduct/reduct.h>

#include <stdbool.h>

struct rd_join;

/* Words that are merged: by REDUCT_MERGE_ADD, _LEAST, _OR or _XOR. `width`: 1, or 2 where the lesser of two words that follow each other
 * counts as a whole, the first of them before the second. */
struct rd_join_message {
    int64_t *words;
    uint64_t count;
    unsigned width;
    reduct_merge merge;
};

/* A part of all cells, which makes one message. All zero: there was none yet. */
struct rd_join_part {
    struct rd_join_message message; /* its words are the caller's */
    size_t state;
    uint64_t first, count; /* cells, each of a group, or one that was put aside */
    bool aside, rest;      /* rest: what does not add, of cells of which another part has what does */
};

/* The most words of a part. */
enum { RD_JOIN_PART = 1 << 17 };

struct rd_joining {
    size_t size_of_this; /* sizeof(struct rd_joining): no other version */

    /* Elements that a table was given; whether it tells where they were. */
    uint64_t (*seen)(const reduct_table *table);
    bool (*tells_places)(const reduct_table *table);

    /* A number that tables of the same reductions have in common, and hardly any others. */
    uint64_t (*signature)(const reduct_table *table);

    /* Begins. There are so many parts, of which the largest has so many groups, and so many elements before those of this one. Fails with
     * REDUCT_ERROR_OUT_OF_MEMORY, or _DEVICE_LOST where a device has some of it. */
    reduct_status (*open)(reduct_table *table, uint64_t parts, uint64_t groups, uint64_t before, struct rd_join **join,
                          reduct_error *error);

    /* The next numbers to be merged in place; false when there are no more. */
    bool (*ask)(struct rd_join *join, struct rd_join_message *message);

    /* The part after this one; false when there are no more. */
    bool (*next)(const struct rd_join *join, bool aside, struct rd_join_part *part);

    void (*pack)(const struct rd_join *join, const struct rd_join_part *part, int64_t *words);
    void (*unpack)(struct rd_join *join, const struct rd_join_part *part, const int64_t *words);

    /* What went wrong so far. Otherwise, where `writes`, makes the table as large as the largest. */
    reduct_status (*settle)(struct rd_join *join, bool writes, reduct_error *error);

    /* Ends, when all parts are there, of a table that has now been given so many elements. */
    void (*finish)(struct rd_join *join, uint64_t seen);

    /* Frees it, after any step; null is allowed. */
    void (*close)(struct rd_join *join);
};

/* For libreduct_mpi, and src/nccl. */
REDUCT_API extern const struct rd_joining reduct_joining;

#endif
