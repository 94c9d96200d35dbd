/* What the kernels take by which ranks, each with a GPU of its own, meet (ranks.cu). Plain C, shared by kernels and host.
 *
 * A rank's launches (call.h) leave a partial result for each of the fields that are reduced together. The first kernel writes
 * those as words, the ranks exchange them, and the second kernel makes results of what came. A field has words of two kinds:
 *   - those that all ranks add up, as 64-bit integers: RD_CUDA_RANKS_COUNTS counts, and of sums the limbs behind them;
 *   - for what has an order, or does not add, those that all ranks gather: one struct rd_cuda_ranks_own of each rank.
 *
 * A few sums of which there is nothing to gather need no first kernel: ranks add up the partial results as they are, in which limbs and
 * counts are 64-bit integers, too, and what else there is means nothing. `counted` of a sum's is how many elements there were.
 * Limbs of many elements may be too large for that; then the first kernel makes them small, where they are. */
#ifndef RD_CUDA_RANKS_H
#define RD_CUDA_RANKS_H

#include "cuda/kernels/call.h"

/* Fields of a launch, one block for each: as many as a kernel's parameters, 4 KiB, have room for. */
enum { RD_CUDA_RANKS_FIELDS = 16 };

/* Elements, and as in struct rd_cuda_partial those ignored, NaNs, infinities of either sign, other than -0, counted. */
enum { RD_CUDA_RANKS_COUNTS = 7 };

/* What a rank found, of its own elements. The words are
 *   of extremes    found, extreme, index
 *   of bits        bits
 *   of products    the magnitude of struct rd_whole; then whether it is negative, and overflow, as bits 0 and 1 */
struct rd_cuda_ranks_own {
    uint64_t count, nan_index;
    uint64_t word[6];
};

enum rd_cuda_ranks_kind {
    RD_CUDA_RANKS_SUMS,
    RD_CUDA_RANKS_EXTREMES,
    RD_CUDA_RANKS_COUNTED, /* counts of elements */
    RD_CUDA_RANKS_BITS,
    RD_CUDA_RANKS_PRODUCTS /* of integers */
};

struct rd_cuda_ranks_field {
    struct rd_cuda_call call; /* with the rank's own count, and partial result */
    int64_t *added;           /* null: the partial result is what is added */
    struct rd_cuda_ranks_own
        *own;                   /* this rank's; in the second kernel that of the first rank; null where there is none */
    int16_t first[2], limbs[2]; /* of the sum and of the squares: as in struct rd_sum, and how many; 0: no such sum */
    uint8_t kind, element_class, element_bytes; /* class and bytes are those by which extremes are ordered */
};

struct rd_cuda_ranks {
    uint32_t ranks, stride; /* from one rank's struct rd_cuda_ranks_own of a field to that of the next */
    struct rd_cuda_ranks_field field[RD_CUDA_RANKS_FIELDS];
};

#endif
