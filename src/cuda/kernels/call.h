/* What a launch of the library's CUDA kernels takes and leaves behind. Plain C, shared by kernels and host.
 *
 * Every kernel has one parameter, a struct rd_cuda_call, and is one launch of RD_CUDA_THREADS threads per block. The
 * last block of its grid, or the last to arrive, combines what all left in the workspace, in the same order wherever that
 * matters, and then either rounds into `result`, or leaves a partial result for the host. Launches that share a workspace must
 * not overlap; they find it zero, and leave it so.
 */
#ifndef RD_CUDA_CALL_H
#define RD_CUDA_CALL_H

#include "arithmetic/limbs.h"
#include "arithmetic/product.h"
#include "cuda/kernels/tuning.h"

/* What each block leaves for the last one: words that are not zero, or whatever there is. */
enum { RD_CUDA_WORDS = 8, RD_CUDA_SLOT_WORDS = 20 };

/* Sums of floats meet in frames, of which each stands for so many units that windows may have (exact.cuh). */
enum { RD_CUDA_FRAMES = 512, RD_CUDA_FRAME_BITS = 3, RD_CUDA_FRAME_WORDS = 32 };

/* A product of floats as a kernel leaves it: what struct rd_product holds. */
struct rd_cuda_product {
    int64_t exponent;
    uint64_t count;
    double lane[RD_PRODUCT_LANES], subtree[RD_PRODUCT_LEVELS];
    uint32_t negative, zero, infinite, reserved;
};

/* A partial result, as a kernel leaves it: what struct rd_partial holds, of one launch. */
struct rd_cuda_partial {
    union {
        int64_t limb[2][RD_LIMBS];      /* exact sums: of terms, and of squares for moments */
        struct rd_cuda_product product; /* of floats */
        struct rd_whole whole;          /* of integers */
    };
    uint64_t ignored, nans, plus_infinities, minus_infinities; /* as in rd_partial */
    uint64_t nan_index;                                        /* UINT64_MAX if none */
    double high, low;                                          /* fast sums and moments */
    uint64_t extreme, index;                                   /* extremes */
    uint64_t counted, bits;                                    /* counts; bits, and truth values */
    uint32_t nonzero, found;
};

/* The workspace. All zero before and after a launch, but for the slots. */
struct rd_cuda_workspace {
    uint64_t limb[2][RD_LIMBS]; /* what fits neither frames nor slots */
    uint64_t ignored, nans, plus_infinities, minus_infinities;
    uint64_t nan_below; /* ~index of the first NaN; 0 if none */
    uint64_t ticket;
    uint64_t claimed; /* tiles, beyond those that come in turn */
    uint64_t frame[RD_CUDA_FRAMES][RD_CUDA_FRAME_WORDS];
    uint64_t word[RD_CUDA_WORDS][RD_CUDA_BLOCKS];
    uint64_t slot[RD_CUDA_SLOT_WORDS][RD_CUDA_BLOCKS]; /* written before they are read */
};

/* Written beside the result of an asynchronous execution. */
struct rd_cuda_outcome {
    uint32_t status; /* a reduct_status */
    uint32_t reserved;
    uint64_t index; /* of the first NaN under REDUCT_NAN_ERROR, otherwise UINT64_MAX */
};

struct rd_cuda_call {
    const void *x, *y; /* in device memory, aligned to the element; y for products of pairs */
    uint64_t count;
    uint64_t first; /* the index of x[0] */
    struct rd_cuda_workspace *workspace;
    struct rd_cuda_partial *partial; /* not null: leave the partial result here, and do not finish */
    void *result;
    struct rd_cuda_outcome *outcome; /* may be null */
    uint64_t minimum;                /* elements that the result takes */
    uint64_t turns;                  /* of each block, if the launch has room for a ring; otherwise 0 */
    /* The reduction, in the terms of core/tables.h. */
    uint8_t transform, combine, finish, nan;
    uint8_t of_f16, population, wrap, is_float; /* of_f16: a kernel that serves both kinds of 16 bits reads f16 */
    uint8_t result_class;
    uint8_t result_bytes, result_precision;
    int16_t result_max_exponent;
};

/* One of the results that a launch rounds together. */
struct rd_cuda_answer {
    struct rd_cuda_call call;
    uint64_t *failure; /* as in many.h; may be null */
};

#endif
