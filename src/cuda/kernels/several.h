/* Several reductions in one pass. Plain C, shared by kernels and host.
 *
 * Of one array, two launches: a kernel reads the array and leaves all that results follow from; then each result is rounded by a
 * block of its own. Of many results, one launch. */
#ifndef RD_CUDA_SEVERAL_H
#define RD_CUDA_SEVERAL_H

#include "cuda/kernels/many.h"

/* What one pass comes to. */
struct rd_cuda_findings {
    /* Of floats: the sum of the elements and, if asked for, that of their squares; infinities and NaNs as if NaN were an error: policies are
     * those of the results. */
    struct rd_cuda_partial
        partial; /* if it is `in_limbs`; otherwise the following is all there is, and no NaN or infinity */
    union {
        int64_t piece[32]; /* sums as lanes have them (Sums::Totals in exact.cuh), and, below, their units */
        struct {           /* of integers: all there is but the ends; in two's complement */
            uint64_t terms[2], squares[3];
        };
    };
    int32_t unit[2];
    uint32_t in_limbs, nonzero; /* nonzero: as in the partial result */
    /* Of the least and of the greatest element that is a number: its key, of the greatest complemented, and its index, UINT64_MAX
     * if there is none. */
    struct {
        uint64_t key, index;
    } end[2];
};

/* Where a plan's pass meets and leaves that. The workspace is zero before and after but for its slots. */
struct rd_cuda_several_room {
    struct rd_cuda_workspace workspace;
    struct rd_cuda_findings findings;
};

/* The results that one launch rounds: the most of them, as all are in the kernel's parameter. */
enum { RD_CUDA_ANSWERS = 16 };

struct rd_cuda_answers {
    const struct rd_cuda_findings *findings;
    struct rd_cuda_answer answer[RD_CUDA_ANSWERS];
};

/* Of many results: what kernels called together_... take. `many` is first, as what has one
 * address has the other; what it says of elements is true of every answer, and of its call the reduction is not read. */
struct rd_cuda_together {
    struct rd_cuda_many many;
    uint32_t answers;
    uint32_t dense;       /* bit i: results of answer i go one after another, whatever the axes say */
    uint8_t ends, places; /* some answer is an extreme; some is where one is */
    struct rd_cuda_answer answer[RD_CUDA_ANSWERS];
};

/* Words of a table beside those of the sums: what is best of the least and the greatest. */
enum { RD_CUDA_TABLE_ENDS = 2 };

#endif
