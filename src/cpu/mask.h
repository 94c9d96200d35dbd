/* Masks: elements that are masked out are taken out, block by block, before the families' code sees the others. */
#ifndef RD_MASK_H
#define RD_MASK_H

#include "core/backend.h"
#include "cpu/room.h"

/* Elements of a block. */
enum { RD_MASK_BLOCK = 1 << 14 };

/* What a thread needs: which elements of a block are kept, a bit for each, the others 0, and these elements, with space for vectors that are
 * stored whole. */
struct rd_mask_room {
    _Alignas(64) uint64_t keep[RD_MASK_BLOCK / 64];
    _Alignas(64) unsigned char kept[2][RD_MASK_BLOCK * 8 + 64];
};

/* Reads `count` entries of a mask, number `first` and every `step`-th from there, to the bits from number `at` on, which must be 0. */
void rd_mask_read(reduct_mask kind, const unsigned char *mask, int64_t first, int64_t step, uint64_t count,
                  uint64_t *keep, uint64_t at);

/* Adds the elements of a block that are kept to what a state holds. */
reduct_status rd_mask_add(const struct rd_prepared *prepared, struct rd_mask_room *room, const void *x, const void *y,
                          uint64_t count, struct rd_room *workspace, struct rd_partial *state, reduct_error *error);

/* As in rd_backend. */
reduct_status rd_cpu_accumulate_masked(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                       reduct_mask kind, const void *mask, uint64_t offset, struct rd_partial *partial,
                                       reduct_error *error);

#endif
