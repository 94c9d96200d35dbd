/* What a launch takes that reduces to many results: beside the call, of which x, y, result and outcome are those of the first
 * result, where the elements of each lie and how lanes share them out. Plain C, shared by kernels and host.
 *
 * A warp takes a task: `batch` times 32 / lanes results, and of each of them all elements or a piece of them. Lanes that share
 * a result lie side by side, or, where neighbouring results lie side by side in memory, so do the lanes of different results. */
#ifndef RD_CUDA_MANY_H
#define RD_CUDA_MANY_H

#include "cuda/kernels/call.h"

struct rd_cuda_axis {
    uint64_t length;
    int64_t stride[2]; /* elements from one to the next, of x and y */
    int64_t result_stride;
};

struct rd_cuda_many {
    struct rd_cuda_call call; /* count: elements of each result, but of segments with bounds */
    uint64_t results;
    uint64_t tasks;  /* of which each takes `batch` rounds of results and one piece */
    uint64_t pieces; /* of each result; if there is one, the table is not used */
    uint64_t piece;  /* elements of each but the last: a multiple of a tile */
    uint64_t *table; /* where pieces meet: zero before and after */
    /* May be null. Becomes the least of what failed results are: result << 8 | status, and RD_CUDA_FAILURE_LATER but for segments
     * that are none. */
    uint64_t *failure;
    const void *begins, *ends; /* of segments, else null; with offsets the end of one is the beginning of the next */
    uint32_t lanes;            /* that share a result: a power of two */
    uint32_t batch;            /* rounds of a task: at most `lanes` */
    uint32_t together;         /* pieces of columns that a block takes as one, where a ring brings them */
    uint32_t open_tasks;       /* of a turn that was left open */
    uint8_t joined;  /* a block's warps take neighbouring pieces of the same results, whose sums they add up */
    uint8_t across;  /* lanes side by side have different results */
    uint8_t vectors; /* elements of a result can be loaded as vectors: they lie one after another, aligned */
    uint8_t index_bytes, index_signed; /* of bounds */
    uint16_t kept_axes, reduced_axes;
    int64_t step[2];              /* along the innermost axis that is reduced, of x and y */
    uint64_t limit;               /* segments: elements of the array */
    uint64_t table_words;         /* of each result */
    uint64_t infinity;            /* its bits, if elements are floats */
    uint8_t is_signed, is_truth;  /* elements are signed integers, or truth values */
    uint8_t keeps;                /* of both extremes and weighted means: a failure leaves the result as it is */
    uint8_t ringed;               /* what a ring would bring is aligned */
    uint8_t cutting;              /* of long segments: one of the following */
    uint8_t cut_log2, piece_log2; /* elements that a segment has at most if it is not put off; of a piece */
    uint8_t span_log2;            /* of a span, where these are shared out */
    uint32_t piece_words;         /* of each piece in the table, beside table_words of its segment */
    uint64_t *lists;              /* of segments that are put off; they may hold anything before and after */
    double inverse[2];            /* of rows whose sums are known but for a bound: of their count, and of one less */
    uint64_t *open; /* null, or words of turns that were left open, and these themselves in `lists`; see below */
    const uint64_t *chosen;       /* null, or the way that the data have chosen */
    uint8_t way;                  /* this launch's: of another it does nothing */
    struct rd_cuda_axis axis[64]; /* those that stay, then those that are reduced, each outermost first */
};

/* The same with a mask: what kernels called masked_... take. `many` is first, as what has one address has the other. */
struct rd_cuda_masked {
    struct rd_cuda_many many;
    const unsigned char *mask;
    int64_t first;      /* its entry for the first element of the first result, or of the array that segments are of */
    int64_t step;       /* entries from one to the next along the innermost axis that is reduced */
    int64_t stride[64]; /* the same along each axis */
    uint8_t bits;       /* entries are bits, else bytes */
};

/* Long segments. The launch that reduces the others puts off those of more than 2^cut_log2 elements: it enters their numbers in
 * lists. A launch that follows it takes these by whole warps, those of at least two pieces in pieces, of which the last has the
 * rest. So no length need be known to the host. There is room for all segments that do not overlap; if others find none, the first
 * launch reduces them as it does short ones.
 *
 * Room in the lists: the numbers of segments that are not cut, then those of others, each with the number of its first piece. */
enum { RD_CUDA_CUTS_NONE, RD_CUDA_CUTS_PUT_OFF, RD_CUDA_CUTS_RUNS, RD_CUDA_CUTS_TAKE };
#define RD_CUDA_CUT_WHOLE(limit, cut_log2)    ((limit) >> (cut_log2))
#define RD_CUDA_CUT_LONG(limit, piece_log2)   ((limit) >> (piece_log2) >> 1)
#define RD_CUDA_CUT_PIECES(limit, piece_log2) ((limit) >> (piece_log2))
enum { RD_CUDA_CUT_LONG_WORDS = 2 };

/* Where spans of the array are shared out (many_spans.cuh), runs of segments can be put off, too, which a launch between these takes, as
 * others take all, in tasks of `batch` rounds. They are listed likewise: the first segment of each, how many tasks come before it in
 * this list, and the first segment after it. Each span has a few of them. The table then has room, behind what
 * others have there, for a cut segment that begins in each span; words hold the sums of so many pieces. */
enum { RD_CUDA_SPANS_MOST = 1 << 20 };
enum { RD_CUDA_SPAN_PATIENCE = 2, RD_CUDA_CUT_RUNS_EACH = RD_CUDA_SPAN_PATIENCE + 1, RD_CUDA_CUT_RUN_WORDS = 3 };
#define RD_CUDA_CUT_SPANS(limit, span_log2) (((limit) >> (span_log2)) + 2)
/* The most elements of a segment that spans do not cut: no fewer than one has, so that no two begin in one. */
#define RD_CUDA_SPAN_LONGEST(span_log2, cut_log2) ((uint64_t)1 << ((span_log2) > (cut_log2) ? (span_log2) : (cut_log2)))
#define RD_CUDA_CUT_RUNS_AT(limit, cut_log2, piece_log2)                                                               \
    (RD_CUDA_CUT_WHOLE(limit, cut_log2) + RD_CUDA_CUT_LONG(limit, piece_log2) * RD_CUDA_CUT_LONG_WORDS)
#define RD_CUDA_CUT_RUNS_MOST(limit, span_log2) (RD_CUDA_CUT_SPANS(limit, span_log2) * RD_CUDA_CUT_RUNS_EACH)
#define RD_CUDA_CUT_SPANS_AT(limit, piece_log2, table_words, piece_words)                                              \
    (RD_CUDA_CUT_EXTRA + RD_CUDA_CUT_LONG(limit, piece_log2) * (table_words) +                                         \
     RD_CUDA_CUT_PIECES(limit, piece_log2) * (piece_words))

/* The table then begins with words, zero before and after: how many segments were put off that are not cut; how many others,
 * from this bit on, and how many pieces they have; the complement of that when there was no room first; how many runs, and tasks of these, alike; whether all segments are to be taken, since offsets do not
 * ascend; blocks that have ended. */
enum {
    RD_CUDA_CUT_TAKEN_WHOLE,
    RD_CUDA_CUT_TAKEN,
    RD_CUDA_CUT_FULL,
    RD_CUDA_CUT_RUNS,
    RD_CUDA_CUT_UNORDERED,
    RD_CUDA_CUT_ENDED,
    RD_CUDA_CUT_EXTRA
};
enum { RD_CUDA_CUT_SHIFT = 40 };

/* Segments whose offsets follow each other may turn out to be rows, all of one length, which their own kernels reduce in less time. That is
 * known on the device alone. So launches of both ways are queued, behind one that finds out which shall be gone. */
enum { RD_CUDA_WAY_SEGMENTS, RD_CUDA_WAY_ROWS };
struct rd_cuda_choice {
    const void *offsets;
    uint64_t segments, length; /* as they are if they are rows */
    uint64_t *words;
    uint8_t index_bytes, index_signed;
};
/* Its words: how many blocks have ended, and RD_CUDA_CHOICE_OTHER for each that found an offset which is none of rows, zero before and after;
 * and the way. */
enum { RD_CUDA_CHOICE_ENDED, RD_CUDA_CHOICE_WAY, RD_CUDA_CHOICE_WORDS };
#define RD_CUDA_CHOICE_OTHER ((uint64_t)1 << 32)

#define RD_CUDA_FAILURE_LATER ((uint64_t)1 << 63)

/* Words of a table beside the sums: NaNs, flags, the first NaN, pieces that have come. */
enum { RD_CUDA_TABLE_NANS, RD_CUDA_TABLE_FLAGS, RD_CUDA_TABLE_NAN_BELOW, RD_CUDA_TABLE_CAME, RD_CUDA_TABLE_EXTRA };

/* Words of a table of slots (many_slots.cuh): pieces that have taken a slot, and filled it; then the slots, of so many words for
 * each family. */
enum { RD_CUDA_SLOTS_TAKEN, RD_CUDA_SLOTS_FILLED, RD_CUDA_SLOTS_EXTRA };
enum {
    RD_CUDA_SLOT_EXTREME = 3,
    RD_CUDA_SLOT_COUNT = 4,
    RD_CUDA_SLOT_INTEGER_SUM = 10, /* digits of 32 bits: of a sum, then of products */
    RD_CUDA_SLOT_INTEGER_PRODUCT = 5
};

enum { RD_CUDA_DIGITS_OF_SUM = 4 };

/* Elements that a lane takes at a time: 64 bytes; 32 of halves, which take more room in registers, and of single bytes. */
#define RD_CUDA_MANY_COUNT(bytes) ((bytes) == 1 ? 32 : (bytes) == 2 ? 16 : 64 / (bytes))

/* Rows of f32 whose sums are known but for a bound (many_close.cuh). Vectors of a lane at a time, for one input or two; of a row of so many
 * vectors, the lanes that share it, and those of a lane at a time that follow each other in it: all as powers of two; rows of a warp's turn. */
enum { RD_CUDA_CLOSE_VECTORS_LEAST = 3 };
#define RD_CUDA_CLOSE_LEVELS(inputs)     (4 - (inputs))
#define RD_CUDA_CLOSE_LANES_LOG(vectors) ((vectors) > 16 ? 5 : (vectors) > 8 ? 4 : (vectors) > 4 ? 3 : 2)
#define RD_CUDA_CLOSE_LOG(vectors, levels)                                                                             \
    ((vectors) <= 32 ? 0 : (vectors) <= 64 ? 1 : (vectors) <= 128 || (levels) == 2 ? 2 : 3)
#define RD_CUDA_CLOSE_ROWS(vectors, levels)                                                                            \
    ((32u >> RD_CUDA_CLOSE_LANES_LOG(vectors) << (levels)) >> RD_CUDA_CLOSE_LOG(vectors, levels))

/* Turns of which a result does not follow from what is known are left open: their numbers are entered in a list, and a launch that comes next
 * reduces them in tasks as elsewhere, so many to a turn; or all there are, if the list had no room. Words of the table, zero before and
 * after: how many were, and blocks of that launch that have ended. */
enum { RD_CUDA_OPEN_TURNS, RD_CUDA_OPEN_ENDED, RD_CUDA_OPEN_WORDS };
#define RD_CUDA_OPEN_MOST(turns) ((turns) / 2 + 8)

/* Slices of a grid: so many bits each, from the lowest bit that a term may have up, and how many there are (many_sums.cuh). */
enum { RD_CUDA_GRID_STEP = 42, RD_CUDA_GRID_F32 = 7, RD_CUDA_GRID_F32_SQUARES = 14, RD_CUDA_GRID_F64 = 49 };
enum { RD_CUDA_LOWEST_F32 = -149, RD_CUDA_LOWEST_F32_SQUARES = -298, RD_CUDA_LOWEST_F64 = -1074 };

/* Flags in such a table. OTHER: a term was other than -0. FAILED: slices do not hold the sum. */
enum {
    RD_CUDA_NAN_CAME = 1,
    RD_CUDA_PLUS_CAME = 2,
    RD_CUDA_MINUS_CAME = 4,
    RD_CUDA_OTHER_CAME = 8,
    RD_CUDA_FAILED = 16
};

#endif
