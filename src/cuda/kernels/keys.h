/* What the kernels of keys in device memory take (keys.cu). Plain C, shared by kernels and host.
 *
 * Runs of equal keys take one pass over the array: the blocks of a scan hand on to each other how many runs began before
 * (D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).
 *
 * Numbers of keys come from a hash table with open addresses. A slot belongs to the key whose place in the array it holds, of all
 * places of that key the first: threads come in any order, but the least of what they bring does not depend on it. A bit is set for
 * each such place, and the numbers of keys are how many bits are set below: they follow from the array alone. The index of an
 * element is first that of its slot, then the number that its slot has got. */
#ifndef RD_CUDA_KEYS_H
#define RD_CUDA_KEYS_H

#include "cuda/kernels/call.h"

/* Rows of 32 keys that a warp loads together: of a scan of runs, of other passes over the array; and rows of 32 words of bits, or
 * keys that are sorted. */
enum { RD_CUDA_KEYS_RUN_ROWS = 16, RD_CUDA_KEYS_ROWS = 4, RD_CUDA_KEYS_BIT_ROWS = 4, RD_CUDA_KEYS_SORT_ROWS = 8 };

/* Keys, words of bits, and keys that are sorted, of one block. */
#define RD_CUDA_KEYS_RUN_TILE  (RD_CUDA_THREADS * RD_CUDA_KEYS_RUN_ROWS)
#define RD_CUDA_KEYS_TILE      (RD_CUDA_THREADS * RD_CUDA_KEYS_ROWS)
#define RD_CUDA_KEYS_BIT_TILE  (RD_CUDA_THREADS * RD_CUDA_KEYS_BIT_ROWS)
#define RD_CUDA_KEYS_SORT_TILE (RD_CUDA_THREADS * RD_CUDA_KEYS_SORT_ROWS)

/* A block tells how many slots it took when it took so many more. A table has slots to spare for what blocks have not yet told. */
enum { RD_CUDA_KEYS_TOLD = 64 };

/* Keys are sorted by one byte after another, the lowest first. */
enum { RD_CUDA_KEYS_DIGITS = 256, RD_CUDA_KEYS_PASSES = 8 };

/* What passes leave for each other. All zero before the first. */
struct rd_cuda_keys_notes {
    uint64_t
        taken; /* slots, as far as blocks have told: in the end all, as many as there are keys; or runs, in the end */
    uint64_t ticket[1 + RD_CUDA_KEYS_PASSES]; /* tiles that were taken, of a scan and of each pass of the sort */
    uint64_t digits[RD_CUDA_KEYS_PASSES][RD_CUDA_KEYS_DIGITS]; /* how many keys have which byte */
};

struct rd_cuda_keys {
    const void *array;
    uint64_t count, room; /* room: of unique keys, and of runs */
    uint64_t *offsets;    /* of runs: room + 1; may be null */
    uint32_t *indices;    /* of elements */
    void *unique;         /* may be null */
    uint64_t *found;
    struct rd_cuda_keys_notes *notes;
    uint64_t *state; /* of each tile of a scan: what it has, or what there is up to its end; 0 before */
    /* The hash table: a word for each slot, a key of 32 bits above the place; or two, of a wide table, a key and its place, and one
     * slot more, for the key that looks like an empty slot. All ones where there is none. */
    uint64_t *slots;
    uint64_t last;    /* a slot's greatest number, but for that one */
    uint64_t *firsts; /* a bit for each element that is the first of its key */
    uint32_t *below;  /* for each word of these, how many bits are set in those below */
    /* The sort, which reads keys and their numbers here and writes them there. In the first pass numbers are places; in the last one
     * numbers of keys get their places as ranks. */
    const void *from_key;
    const uint32_t *from_number;
    void *to_key;
    uint32_t *to_number, *rank; /* rank: null where keys keep the order of their appearance */
    uint64_t sign;              /* what makes keys numbers without a sign */
    uint32_t pass, is_last;
};

#endif
