/* What groups of a table hold as integers in device memory, and the launch that adds to them. Plain C, shared by kernels and host.
 *
 * A group's numeral is one integer in two's complement: from its lowest bit on the count of its elements, then the sum of each field in
 * units of 2^low, so many bits each with the sign. It is cut into words, of which all but the last hold `digit` bits and no sign, so
 * that with digits of 63 - p bits the words of 2^p numerals of one form add up, each within 64 bits, to those of what they come to. Words of one
 * number lie side by side, a plane of one for each group, before those of the next. */
#ifndef RD_CUDA_NUMERALS_H
#define RD_CUDA_NUMERALS_H

#include "cuda/kernels/groups.h"

struct rd_cuda_numeral_form {
    uint32_t words, digit, count_bits; /* count_bits: 1 to 62 */
    uint32_t bits[2];                  /* of each field */
    int32_t low[2];
};

/* The most words, of one field and of two; what of the last one counts, as words that are not carried take the rest. */
enum { RD_CUDA_NUMERAL_WORDS_ONE = 5, RD_CUDA_NUMERAL_WORDS_TWO = 8, RD_CUDA_NUMERAL_LAST = 62 };

/* Planes of a pass over groups (groups.h). */
struct rd_cuda_numeral_field {
    const uint64_t *plane; /* of `groups` words */
    uint32_t planes;
    int32_t unit; /* the exponent of the lowest one */
};
enum { RD_CUDA_NUMERAL_PLANES = 5 };

/* What the numerals that were written are like. Zero at first. */
struct rd_cuda_numeral_notes {
    uint64_t count; /* the most of any group */
    uint32_t low_below[2],
        high_above[2]; /* bits of a field that lie from UINT32_MAX less the former to below the latter less one are
                                           * enough for it, and the sign; both 0 where all groups have zero */
};

/* Numerals `from`, of so many groups, and what a pass found are written as numerals `to`, which may be the same memory, where the pass
 * found nothing. */
struct rd_cuda_numerals {
    uint64_t groups, from_groups;
    const uint64_t *from; /* may be null */
    uint64_t *to;
    struct rd_cuda_numeral_form old_form, form;
    const uint64_t *counted; /* elements of each group; null: nothing was found */
    struct rd_cuda_numeral_field found[2];
    uint32_t step;                       /* bits of a plane */
    struct rd_cuda_numeral_notes *notes; /* may be null */
};

/* Numerals of some of the groups are written as planes of a window, so that results are rounded as those of a pass over groups. */
struct rd_cuda_numeral_planes {
    uint64_t groups; /* of which there are numerals */
    uint64_t first, results;
    const uint64_t *from;
    struct rd_cuda_numeral_form form;
    struct {
        struct rd_cuda_groups_header *header;
        uint64_t *plane;
        uint32_t planes;
        int32_t unit;
    } to[2];
    uint64_t *counted; /* may be null */
    uint32_t scans, step;
};

#endif
