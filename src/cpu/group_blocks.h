/* Elements of groups, block by block: those that count, each with the number of its result. */
#ifndef RD_GROUP_BLOCKS_H
#define RD_GROUP_BLOCKS_H

#include "core/many.h"

#include <stdatomic.h>

/* Elements of a block: with all that is made of them they stay in the first-level cache. */
enum { RD_GROUP_BLOCK = 512 };

/* `to`: by element, the result that it is of, counted from `base`. */
struct rd_group_block {
    const void *input[2];
    const uint32_t *to;
    uint32_t base;
    size_t count;
    const uint64_t *row; /* by element, or null: `first` and so on */
    uint64_t first;
};

static inline uint32_t rd_group_result(const struct rd_group_block *block, size_t at) {
    return block->base + block->to[at];
}

/* The row of an element. */
static inline uint64_t rd_group_row(const struct rd_group_block *block, size_t at) {
    return block->row ? block->row[at] : block->first + at;
}

/* What a thread reads with. */
struct rd_group_reader {
    const struct rd_many *many;
    const struct rd_execution *execution;
    uint64_t outside; /* the row of the first element that counts and whose index is outside, or UINT64_MAX */
    uint32_t to[RD_GROUP_BLOCK], result[RD_GROUP_BLOCK];
    uint64_t row[RD_GROUP_BLOCK];
    _Alignas(64) unsigned char kept[2][RD_GROUP_BLOCK * 8];
};

/* The group of a row; not below the number of groups where it is none. */
uint64_t rd_group_of(const struct rd_many *many, const struct rd_execution *execution, uint64_t row);

/* Whether a mask lets an element count. */
bool rd_group_counts(const struct rd_many *many, const struct rd_execution *execution, uint64_t element);

/* Notes a row whose index is outside, for threads that look at different ones: the first of them stays, UINT64_MAX before. */
void rd_group_note_outside(atomic_ullong *outside, uint64_t row);

/* Says that the index of a row is outside. */
reduct_status rd_group_refuse(const struct rd_many *many, const struct rd_execution *execution, uint64_t row,
                              reduct_error *error);

/* Reads at most RD_GROUP_BLOCK elements of an array of fewer than 2^32 results from number `first` on. */
void rd_group_read(struct rd_group_reader *reader, uint64_t first, size_t count, struct rd_group_block *block);

/* Fetches elements that are read soon, and their indices, into the first-level cache (`near`) or the second: while entries of tables
 * are fetched from all over them, the processor foresees no other reads. */
void rd_group_fetch(const struct rd_group_reader *reader, uint64_t first, size_t count, bool near);

#endif
