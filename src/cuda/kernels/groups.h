/* What launches over groups take: beside the call, of which x, y, result and outcome are used as elsewhere and count is that of
 * the elements, where each element's group stands and what memory partial results have. Plain C, shared by kernels and host.
 *
 * A result is one group's, or with a width one place of a group's row: result = group * width + place. What a result has come to
 * lies in planes: arrays of one word for each result, so that the common case touches as little memory as it can. */
#ifndef RD_CUDA_GROUPS_KERNELS_H
#define RD_CUDA_GROUPS_KERNELS_H

#include "cuda/kernels/call.h"

/* Steps that blocks take together. OPEN: of the launch that adds, if the rest of the planes is open: they are cleared. Those in which what was
 * put aside is added: the planes that it reaches are cleared before; and before that it is found out which results may be -0. */
enum { RD_CUDA_GROUPS_OPEN, RD_CUDA_GROUPS_DOUBT, RD_CUDA_GROUPS_CLEAR, RD_CUDA_GROUPS_FILL, RD_CUDA_GROUPS_STEPS };

/* Where headers are: one after another, at the beginning of a workspace. */
enum { RD_CUDA_GROUPS_HEADER_BYTES = 256 };

/* Whether the rest of the planes is open: to what takes more than the usual; or, as that is most, to all, where blocks have their own. */
enum { RD_CUDA_GROUPS_OPEN_TO_REST = 1, RD_CUDA_GROUPS_OPEN_TO_ALL };

/* Zero at first. */
struct rd_cuda_groups_header {
    uint64_t bad_below;  /* ~row of the first index outside; 0: none */
    int32_t unit;        /* the exponent of the unit of the window's lowest plane */
    int32_t first;       /* where that plane is on the grid */
    uint32_t aside;      /* elements that did not fit the window: of the list, while it has room */
    uint32_t minus_zero; /* some term was -0 */
    uint32_t low_below;  /* planes of the grid that elements aside reach: UINT32_MAX less the lowest one; 0: none */
    uint32_t high_above; /* the highest, plus one */
    uint32_t scattered;  /* results come in no order: elements are moved to buckets */
    uint32_t special;    /* groups_special found some element */
    uint32_t doubtful;   /* zero after a launch, too: of some result, terms of -0 are all that has been seen */
    uint32_t open;       /* the rest of the planes takes at once what takes more than the usual: nothing is put aside */
    uint32_t reserved;   /* zero */
    /* Blocks that do something together claim shares of each step, and say which are done; those that have seen the end of it. Of a pass's
     * first header zero after a launch, too. */
    uint64_t claimed[RD_CUDA_GROUPS_STEPS], done[RD_CUDA_GROUPS_STEPS], left;
};

/* Elements that come in no order may be moved to buckets, each for so many results that lie side by side that a block's table has room for them:
 * an element's result and its values then stand where nobody asks for their order. Blocks take items, runs of elements of one bucket. Positions
 * are counted in 32 bits. */
struct rd_cuda_groups_item {
    uint32_t bucket, begin, end;
};
enum { RD_CUDA_GROUPS_BUCKETS = 2048, RD_CUDA_GROUPS_BUCKET_ALIGNED = 16 }; /* the most; elements, where they begin */
struct rd_cuda_groups_counts {                                              /* zero at first */
    uint32_t elements[RD_CUDA_GROUPS_BUCKETS];
    uint64_t counted;    /* blocks that have */
    uint32_t items;      /* in the end */
    uint32_t claimed[2]; /* by scans */
    uint32_t reserved;
};
struct rd_cuda_groups_buckets {
    struct rd_cuda_groups_counts *counts; /* null: elements stay where they are */
    uint32_t *next;                       /* of each bucket: where its next element goes */
    struct rd_cuda_groups_item *items;
    uint32_t *result; /* of elements that were moved, as are their values, x and y */
    void *moved[2];
    uint64_t tiles;       /* of the array, of so many rows each, of 4 elements for each thread */
    uint32_t rows, item;  /* the most elements of an item */
    uint8_t size_log2[2]; /* results of a bucket; where the rest of the planes is open in some scan */
    uint8_t vectors;      /* elements and indices are aligned for loads of four */
    uint8_t only_open;    /* elements are moved only in that case */
    uint8_t beyond_cache; /* planes take more than a part of the L2 cache, or there is no table */
    uint8_t way, scan;    /* of launches that add: which of the two they are for, and which scan they do */
};

/* Long rows are gathered: their numbers are put in the order of their groups, in which groups follow each other in any order, and so do rows of a
 * group. A warp then adds up what rows of one group that follow each other have in each place of a row, before anything goes to memory. Rows
 * have numbers of 32 bits. */
struct rd_cuda_groups_rows {
    uint32_t *
        begin; /* of each group: how many rows it has, then where they begin; zero at first. Null: rows are not gathered */
    uint32_t *rank;     /* of each row: how many of its group had come before it, or UINT32_MAX */
    uint32_t *number;   /* rows in order */
    uint64_t *placed;   /* rows that have a place: zero at first */
    uint32_t each;      /* rows that follow each other in that order, of which one team of lanes takes a piece */
    uint8_t lanes_log2; /* of a team: enough for a piece of a row, or a warp */
    uint8_t vectors;    /* pieces of a lane's elements are aligned for loads of all */
};

/* A grid of planes for sums: plane k holds whole multiples of 2^(its unit), `step` bits each, in two's complement. Some of them side by
 * side, chosen from the data, are the window, of which each has a word for each result. All others, should an element need them, are the
 * rest, which has room for some of the results at a time; where it is open, for all, and it takes what the window could, too. */
struct rd_cuda_groups_grid {
    struct rd_cuda_groups_header *header;
    uint64_t *window;        /* planes of `results` words */
    uint64_t *rest;          /* planes of `rest_room` words; null: every element fits the window */
    uint64_t *aside;         /* numbers of elements that did not fit the window, while there is room */
    int32_t lowest, highest; /* exponents of the lowest bit that a term may have, and of one above the highest */
    uint32_t window_planes, rest_planes;
    uint32_t aside_room;
};

struct rd_cuda_groups {
    struct rd_cuda_call call;
    const void *indices;  /* of rows; null: row i is of group i */
    const uint8_t *mask;  /* which elements count: a byte or a bit for each; null: all do */
    uint64_t mask_offset; /* entries before that of the first element */
    uint64_t rows, width, results;
    struct rd_cuda_groups_grid grid
        [2]; /* of terms, and of squares for moments; of weights, and of products; of extremes, and of places; of the least, and of the
                        * greatest. Scans have theirs first */
    uint64_t *
        counted; /* a plane: elements that count; null where nobody asks. Of groups_special, planes: RD_CUDA_GROUPS_SPECIALS */
    uint64_t
        *nan_below;    /* a plane: ~(row + 1) of the first NaN, of initial values ~0; 0: none. Null where nobody asks */
    uint32_t *notes;   /* a plane: RD_CUDA_GROUPS_... */
    uint64_t *failure; /* as in kernels/many.h; of an index outside the row stands in place of the result */
    uint64_t rest_first, rest_room; /* results of which the rest is at hand */
    uint64_t zero_vectors;          /* of 16 bytes, from the first header on, that are cleared at first, headers too */
    uint64_t infinity;              /* its bits, if elements are floats */
    uint64_t chunk;                 /* tiles that a block takes before it empties its table */
    uint32_t limit;                 /* groups: indices below it are inside, as integers without a sign */
    uint32_t slots;                 /* of a block's table: a power of two, unless it is direct, or 0 */
    uint32_t rest_at;               /* words before a block's own planes, behind that table */
    uint32_t shared_bytes;          /* of both */
    uint32_t step;                  /* bits of a plane */
    struct rd_cuda_groups_buckets buckets;
    struct rd_cuda_groups_rows gathered;
    uint8_t direct;                       /* each result has slots of its own, one for each of so many lanes: */
    uint8_t copies_log2;                  /* side by side, so that lanes of a warp meet less often */
    uint8_t plain;                        /* no mask, no rows, and indices of 4 bytes, aligned */
    uint8_t index_bytes, skip, mask_bits; /* the last: entries of the mask are bits */
    uint8_t vectors;                      /* elements and indices are aligned for loads of four */
    uint8_t is_pick;                      /* where a result is a word: of what kind */
    uint8_t of_weights;                   /* terms are not the products of pairs but their weights, y */
    uint8_t initial;                      /* elements are initial values */
    uint8_t own_planes;                   /* of the rest of the planes, so many: */
    uint8_t own_rest,
        own_window; /* blocks have planes of their own: the rest, if it is open; or a window that has no table */
    uint8_t rest_copies_log2;        /* there are so many copies of these */
    uint8_t opens;                   /* a scan's first launch, which clears the rest of the planes if it is open */
    uint8_t is_signed, is_truth;     /* elements are signed integers, or truth values */
    uint8_t element_bytes, products; /* products: terms are */
    uint8_t is_both;                 /* the least and the greatest, of which each scan has one */
};

/* What launches take that have to do with all scans: of each what it is told of the array's elements, and of initial values. */
struct rd_cuda_groups_all {
    struct rd_cuda_groups of[2][2];
    uint32_t scans, with_initial;
};

/* Of a result: what came among its elements. OTHER: something other than -0, as far as somebody asked. */
enum {
    RD_CUDA_GROUPS_NAN = 1,
    RD_CUDA_GROUPS_PLUS = 2,
    RD_CUDA_GROUPS_MINUS = 4,
    RD_CUDA_GROUPS_MINUS_ZERO = 8,
    RD_CUDA_GROUPS_OTHER = 16,
    RD_CUDA_GROUPS_FOUND = 32
};

/* Planes of counts that tables ask for of sums of floats: terms that are NaN, infinities of either sign, terms that are -0 (of values that
 * have no sign their elements), and NaNs that are ignored. */
enum {
    RD_CUDA_GROUPS_NANS,
    RD_CUDA_GROUPS_INFINITIES,
    RD_CUDA_GROUPS_NEGATIVE_INFINITIES,
    RD_CUDA_GROUPS_NEGATIVE_ZEROS,
    RD_CUDA_GROUPS_IGNORED,
    RD_CUDA_GROUPS_SPECIALS
};

/* Kinds of words that are no sums. FIRST: an extreme's rank in the upper half, and below it the complement of the first row that has it. */
enum { RD_CUDA_GROUPS_EXTREME = 1, RD_CUDA_GROUPS_FIRST, RD_CUDA_GROUPS_COUNTS, RD_CUDA_GROUPS_BITS };
#define RD_CUDA_GROUPS_RANK(word) ((word) >> 32)
#define RD_CUDA_GROUPS_ROW(word)  (~(uint32_t)(word))

/* Elements that a lane takes at a time, which lie side by side: as many as it has registers for. */
#define RD_CUDA_GROUPS_EACH(bytes, products) ((bytes) == 8 || ((products) && (bytes) == 4) ? 2 : 4)

/* Threads of a block that moves elements to buckets; elements side by side that a thread moves, and elements of a row of a tile. */
enum {
    RD_CUDA_GROUPS_MOVE_THREADS = 1024,
    RD_CUDA_GROUPS_ROW_EACH = 4,
    RD_CUDA_GROUPS_ROW = RD_CUDA_GROUPS_ROW_EACH * RD_CUDA_GROUPS_MOVE_THREADS
};

/* Threads of a block that adds, of which a multiprocessor holds one; pieces of a digit in its table; threads of a block that rounds; those of
 * the block that alone finds extremes, counts or bits. */
enum {
    RD_CUDA_GROUPS_THREADS = 1024,
    RD_CUDA_GROUPS_PIECES = 2,
    RD_CUDA_GROUPS_ROUNDING = 128,
    RD_CUDA_GROUPS_ALONE_THREADS = 512
};

/* Threads of a block that puts rows in order, and the most blocks of a multiprocessor. From so many bytes on are rows gathered, if there are so many bytes of them in all; rows that a team takes
 * at a time, a power of two, and how many teams' work each warp shall have at least, if rows are so many. */
enum {
    RD_CUDA_GROUPS_ORDER_THREADS = 1024,
    RD_CUDA_GROUPS_ORDER_BLOCKS = 2,
    RD_CUDA_GROUPS_ROW_BYTES = 64,
    RD_CUDA_GROUPS_ROWS_BYTES = 4 << 20,
    RD_CUDA_GROUPS_ROWS_EACH = 64,
    RD_CUDA_GROUPS_ROWS_ONCE = 4,
    RD_CUDA_GROUPS_ROWS_TURNS = 1
};

/* Significant bits that halves are taken with: those of f16. */
enum { RD_CUDA_GROUPS_HALF_BITS = 11 };

/* Bits of a plane: so many elements of a group, each less than 2^step, stay below 2^63. Elements that a block adds to its table before it
 * empties it: few enough for 32 bits to count them. */
enum { RD_CUDA_GROUPS_STEP_LEAST = 26, RD_CUDA_GROUPS_STEP_MOST = 40, RD_CUDA_GROUPS_CHUNK_ELEMENTS = 1 << 19 };

/* Planes of a window, and of these those of which a block's table keeps pieces, by bytes of the elements; for products of 8 bytes none. */
#define RD_CUDA_GROUPS_WINDOW(bytes, products)                                                                         \
    ((products) ? (bytes) == 8 ? 5 : (bytes) == 4 ? 3 : 2 : (bytes) == 8 ? 3 : 2)
#define RD_CUDA_GROUPS_TABLED(bytes, products)                                                                         \
    ((products) ? (bytes) == 8 ? 0 : (bytes) == 4 ? 2 : 1 : (bytes) == 8 ? 2 : 1)

/* Bits of a digit in that table where there is one for each element: what so many have that a block adds before it empties the table stays below
 * 2^63. That is more than a plane has: the lowest of them are the next plane's. */
enum { RD_CUDA_GROUPS_TABLE_BITS = 43 };

/* Planes of the rest that a block has of its own where it has no room for all: enough for f32, and for 60 binades of f64 and its products. */
enum { RD_CUDA_GROUPS_OWN_PLANES = 10 };

/* Words of 32 bits of a copy of a block's own rest of the planes, of so many digits: an odd number. */
#define RD_CUDA_GROUPS_REST_COPY(digits) (2 * (digits) + 1)

/* The most results that that block has room for in shared memory. */
enum { RD_CUDA_GROUPS_ALONE_RESULTS = 1024 };

#endif
