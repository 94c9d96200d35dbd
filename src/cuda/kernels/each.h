/* What the kernels take by which ranks sum arrays element by element (each.cu). Plain C, shared by kernels and host.
 *
 * Elements go in windows of RD_CUDA_EACH_WINDOW. Ranks first agree on the exponents that the elements of a window have, as greatest
 * numbers: the largest of finite ones, and the smallest of those that are not zero, negated. An element is then sent as so many words,
 * which all ranks add up as 64-bit integers: with 2^p ranks at most, digits of 63 - p bits, each with the element's sign, in units
 * of the window's smallest exponent. The lowest bits of the first word are counters of p + 1 bits each, of elements other than -0, of NaNs
 * and of infinities of either sign. Word number w of all elements lies before word number w + 1 of any. */
#ifndef RD_CUDA_EACH_H
#define RD_CUDA_EACH_H

#include "cuda/kernels/call.h"

/* The most words: those hold all doubles, of 2^11 ranks, for which the counters still fit into one word. */
enum { RD_CUDA_EACH_WINDOW = 4096, RD_CUDA_EACH_WORDS = 42, RD_CUDA_EACH_RANK_BITS = 11 };

struct rd_cuda_each {
    const void *x;
    void *results;
    uint64_t count;
    struct rd_cuda_outcome *outcome; /* may be null */
    uint64_t *unfit;                 /* the first window that is too wide for so many words; UINT64_MAX */
    int32_t *window;                 /* two of each: high, and low negated */
    int64_t *word;
    int32_t words, rank_bits; /* rank_bits: p */
};

/* Negated, what is below all exponents: there is no element but zeros. */
#define RD_CUDA_EACH_NONE (-4096)

#endif
