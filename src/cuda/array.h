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

/* Bytes of a mask that hold the array's entries, from its pointer on; 0 without one. */
static inline uint64_t rd_cuda_mask_bytes(const struct rd_cuda_array *array) {
    const uint64_t entries = array->offset + array->count;
    return array->kind == REDUCT_MASK_NONE    ? 0
           : array->kind == REDUCT_MASK_BYTES ? entries
                                              : entries / 8 + (entries % 8 != 0);
}

/* A part of an array, whose mask begins as late as it can. */
static inline struct rd_cuda_array rd_cuda_part_of(const struct rd_cuda_array *array, uint64_t first, uint64_t count,
                                                   unsigned element_bytes) {
    struct rd_cuda_array part = *array;
    const uint64_t entry = array->offset + first, per_byte = array->kind == REDUCT_MASK_BITS ? 8 : 1;
    part.x += first * element_bytes;
    part.y = array->y ? array->y + first * element_bytes : NULL;
    part.count = count;
    part.mask = array->kind ? array->mask + entry / per_byte : NULL;
    part.offset = entry % per_byte;
    return part;
}

#endif
