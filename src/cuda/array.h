/* What is reduced to a partial result: an array, or two, of which a mask may leave out elements; all on one device, or all on the
 * host. */
#ifndef RD_CUDA_ARRAY_H
#define RD_CUDA_ARRAY_H

#include <reduct/reduct.h>

struct rd_cuda_array {
    const unsigned char *x, *y; /* y may be null */
    uint64_t count;
    reduct_mask kind;
    const unsigned char *mask; /* unless there is none */
    uint64_t offset;           /* entries of the mask before that of the first element */
};

/* Bytes that hold so many entries of a mask; 0 without one. */
static inline uint64_t rd_cuda_mask_bytes(reduct_mask kind, uint64_t entries) {
    return kind == REDUCT_MASK_NONE ? 0 : kind == REDUCT_MASK_BYTES ? entries : entries / 8 + (entries % 8 != 0);
}

/* A mask of which so many entries come before the first that counts, as of the byte which holds that one: `offset` then counts
 * entries from there. Null without a mask. */
static inline const unsigned char *rd_cuda_mask_from(reduct_mask kind, const void *mask, uint64_t *offset) {
    const uint64_t per_byte = kind == REDUCT_MASK_BITS ? 8 : 1, skipped = *offset / per_byte;
    *offset %= per_byte;
    return kind == REDUCT_MASK_NONE ? NULL : (const unsigned char *)mask + skipped;
}

/* A part of an array, whose mask begins as late as it can. */
static inline struct rd_cuda_array rd_cuda_part_of(const struct rd_cuda_array *array, uint64_t first, uint64_t count,
                                                   unsigned element_bytes) {
    struct rd_cuda_array part = *array;
    part.x += first * element_bytes;
    part.y = array->y ? array->y + first * element_bytes : NULL;
    part.count = count;
    part.offset += first;
    part.mask = rd_cuda_mask_from(array->kind, array->mask, &part.offset);
    return part;
}

#endif
