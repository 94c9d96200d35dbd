/* Figures that were tuned, all in one place, each with its reason; measured on an H200. They decide how fast reductions are,
 * never what they give, but for fast sums, whose bits follow from the order of additions. Bounds that keep sums exact are not
 * here: they stand beside the code that rests on them. Plain C, shared by kernels and host. */
#ifndef RD_CUDA_TUNING_H
#define RD_CUDA_TUNING_H

#include "core/reduction.h"

/* ---------------------------------------------------------------------------------------------------------------------
 * Grids
 * ------------------------------------------------------------------------------------------------------------------ */

/* Threads of a block: so many that few blocks fill a multiprocessor, and so few that a block's own end, where most threads
 * wait, is short. */
enum { RD_CUDA_THREADS = 256, RD_CUDA_WARPS = RD_CUDA_THREADS / 32 };

/* The most blocks of a grid: more than the largest devices hold at once, and few enough for words of 12 bits to count them. */
enum { RD_CUDA_BLOCKS = 2048 };

/* Blocks that a multiprocessor shall hold, for the compiler to keep to the registers. Exact sums need most of them: slices of
 * up to three windows beside the tile. Products of integers keep 256 bits. */
enum {
    RD_CUDA_RESIDENT_EXACT = 2,
    RD_CUDA_RESIDENT_FAST = 4,
    RD_CUDA_RESIDENT_INTEGERS = 4,
    RD_CUDA_RESIDENT_EXTREMES = 4,
    RD_CUDA_RESIDENT_COUNTS = 4,
    RD_CUDA_RESIDENT_BITS = 4,
    RD_CUDA_RESIDENT_PRODUCTS = 3,
    RD_CUDA_RESIDENT_MANY = 2,
    RD_CUDA_RESIDENT_CLOSE = 4,
    RD_CUDA_RESIDENT_CLOSE_SEVERAL = 3
};

/* Tiles that one block takes in less time than several blocks need to meet. */
enum { RD_CUDA_TILES_ALONE = 3 };

/* Floats of so many bytes are added up as integers in registers (brief.cuh): 16 f32 of a thread, 8 f64, as more would spill. (A launch for
 * 2^8 f32, waited for, takes an H200 7.7 us where it took 8.8, for 2^12 8.1.) */
enum { RD_CUDA_BRIEF_BYTES = 16 << 10 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Tiles
 * ------------------------------------------------------------------------------------------------------------------ */

/* 16-byte vectors that a thread loads at once, of each array: as many as its registers bear beside its sums. Pairs load two
 * arrays; moments, and squares of integers, keep more sums. */
#define RD_CUDA_VECTORS(family, transform)                                                                             \
    ((transform) == RD_TIMES                                  ? (family) == RD_EXACT_SUM ? 4 : 2                       \
     : (family) != RD_EXACT_SUM && (transform) == RD_MOMENTS  ? 4                                                      \
     : (family) == RD_INTEGER_SUM && (transform) == RD_SQUARE ? 4                                                      \
                                                              : 8)

/* Exact sums of elements of 16 bits load so many times fewer, since each takes twice as many registers. */
enum { RD_CUDA_FEWER_OF_HALVES = 2 };

#define RD_CUDA_TILE_BYTES(vectors) (RD_CUDA_THREADS * 16 * (vectors))

/* Arrays of so many bytes begin where what a warp loads at once, four cache lines, is aligned, smaller ones at a cache line:
 * one line later 4 GiB take 1.3% longer, while small arrays would have more elements outside vectors. */
enum { RD_CUDA_LINE = 128, RD_CUDA_WARP_LINES = 4 * RD_CUDA_LINE, RD_CUDA_WIDE_BYTES = 1 << 20 };

/* Arrays of so many bytes have their first tiles fetched into the L2 cache while the launch before ends: up to the first at
 * once, up to the second so many clock cycles after the block has come, when the launch before has read its own data. More
 * fetches would be in the way of that launch. (A late fetch makes a fast sum of 8 MiB 2% to 6% shorter; an early one of that
 * size holds up the launch before.) */
enum { RD_CUDA_FETCH_MOST = 4 << 20, RD_CUDA_FETCH_LATE_MOST = 8 << 20, RD_CUDA_FETCH_DELAY = 2400 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Many results
 * ------------------------------------------------------------------------------------------------------------------ */

/* Tasks of warps that each multiprocessor should find, so that all end together; the fewest tiles that are a piece of a result;
 * the most blocks of a grid for each multiprocessor: warps take several tasks rather than that there are more; the most tiles of
 * rows that are reduced from beginning to end (many_quick.cuh). */
enum { RD_CUDA_MANY_TASKS = 64, RD_CUDA_MANY_TILES = 4, RD_CUDA_MANY_BLOCKS = 64, RD_CUDA_MANY_TILES_MOST = 16 };

/* Where the warps of a block add up pieces of the same results, so that they go to the table as one. What the way over the table costs, in
 * tiles of a warp; the most tiles that a warp has, or else there are as many tasks as elsewhere, so that all end together. (2^22 f32 in 16 columns take an H100 19 us so, and 48 where each piece goes to the table; in 1 Ki columns 16 and 22.) */
enum { RD_CUDA_JOINED_MEETING = 4, RD_CUDA_JOINED_TILES_MOST = 32 };

/* Long segments (many.h). The fewest tiles of a warp that are a piece, a power of two: as of rows; and the pieces that each of the
 * warps that there are at once would have of a segment of all elements, so that all end together, and tables have few words. A
 * segment is put off if lanes that share it would have twice as many tiles, for which the warp's other segments would wait. */
enum { RD_CUDA_CUT_TILES = 4, RD_CUDA_CUT_PIECES_EACH = 16 };

/* Where there are many segments: so many tiles that one of the usual length is to have, and the most lanes that share it then. (1 GiB of f32
 * in segments of 256 take an H100 411 us with 4 lanes each, where 16, of a tile each, take 449; of 1 Ki 397 with 8, 453 with 32.) */
enum { RD_CUDA_SEGMENT_TILES = 4, RD_CUDA_SEGMENT_LANES = 8 };

/* Offsets that a thread has on its way at once where it looks whether segments are rows (many_choice.cu). */
enum { RD_CUDA_CHOICE_EACH = 8 };

/* Where segments follow each other (many_spans.cuh): bytes of a tile; bytes of a span, a power of two, or fewer, so that there are so many for
 * each warp that there is at once; the most elements for each segment, as longer ones are as fast by segments, or of rows the part of a span; the
 * most where several reductions are wanted and each is so by itself (seven of 2^22 segments of 1 GiB of f32 take an H100 6.4 ms otherwise); binades that
 * later elements may lie above the largest of those before; runs that are put off before all that follow are: so many, and this part of the spans. */
enum {
    RD_CUDA_SPAN_TILE_BYTES = 4 << 10,
    RD_CUDA_SPAN_BYTES = 64 << 10,
    RD_CUDA_SPAN_WARPS = 2,
    RD_CUDA_SPAN_EACH_MOST = 4096,
    RD_CUDA_SPAN_ROWS = 4,
    RD_CUDA_SPAN_APART_MOST = 512,
    RD_CUDA_SPAN_ROOM = 2,
    RD_CUDA_SPAN_RUNS_LEAST = 64,
    RD_CUDA_SPAN_RUNS_PART = 8
};

/* Tiles of a warp's ring, of which two of three are on their way, 128 KiB for the 16 warps of a multiprocessor (with one, sums of 1 GiB of f32
 * in segments of 1 Ki take an H100 438 us, where they take 411). Two sums need that room for what comes before parts of a tile. */
#define RD_CUDA_SPAN_TILES(sums)       ((sums) > 1 ? 2 : 3)
#define RD_CUDA_SPAN_RING_BYTES(tiles) (RD_CUDA_WARPS * (tiles)*RD_CUDA_SPAN_TILE_BYTES)
#define RD_CUDA_SPAN_ALONE_MOST        256 /* elements that a lane adds up by itself, where a sum was not decided */

/* Long rows, and columns, of f32 and halves (many_ringed.cuh). Stages of a warp's ring, a power of two, and vectors of a lane in each: of four
 * stages of 2 KiB three are on their way, 96 KiB for the 16 warps of a multiprocessor, where 36 would keep memory busy (4.8 TB/s for
 * a microsecond). Binades that later elements may lie above the largest of the first stage: few rows of normal data have more, and
 * each takes one from what may lie below. The fewest stages of a task of columns, which make up for its end: with 8 of them 2^28 f16
 * in a million columns take an H100 229 us, and other kernels 1,110; f32 400, and 412. Grids have as many blocks as there are at once:
 * more took up to 2% longer. */
enum { RD_CUDA_STAGES = 4, RD_CUDA_STAGE_VECTORS = 4, RD_CUDA_RINGED_ROOM = 6, RD_CUDA_RINGED_STAGES_LEAST = 8 };

/* The same binades where there are fewer digits, or each takes two: of halves, and where squares are summed. */
enum { RD_CUDA_RINGED_ROOM_HALVES = 3, RD_CUDA_RINGED_ROOM_SQUARES = 2 };

/* Rows whose sums are known but for a bound (many_close.cuh): the most tiles of one, as the bound grows with them; and the part of the L2
 * cache that all must fill, to make up for a second launch. */
enum { RD_CUDA_CLOSE_TILES_MOST = 64, RD_CUDA_CLOSE_L2_PART = 4 };

/* What pieces of such a row cost that meet over the table, in tiles of a warp. */
enum { RD_CUDA_RINGED_MEETING = 8 };

#define RD_CUDA_LANE_RINGS_BYTES (RD_CUDA_WARPS * RD_CUDA_STAGES * RD_CUDA_STAGE_VECTORS * 32 * 16)

/* ---------------------------------------------------------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------------------------------------------------------ */

/* From so many bytes of elements on, and so many elements for each result, elements of results that lie scattered are moved to buckets before they are
 * added, where a table has no room for all results, and if it finds few of them, or planes take more than so many percent of the L2 cache. So
 * many buckets at least, as threads that count few of them wait for each other. Rows of elements of a tile that is moved, of 4 for each thread,
 * as far as there is room; items for each multiprocessor; elements of an item for each result of its bucket, at least. (Two blocks of
 * half as many threads take as long for few buckets, and half as long again for 1,200 of them, as less of a tile goes to each.) */
enum {
    RD_CUDA_GROUPS_MOVE_LEAST = 64 << 20,
    RD_CUDA_GROUPS_MOVE_EACH = 2,
    RD_CUDA_GROUPS_CACHE_PERCENT = 45,
    RD_CUDA_GROUPS_BUCKETS_LEAST = 64,
    RD_CUDA_GROUPS_ROWS = 4,
    RD_CUDA_GROUPS_ITEMS = 4,
    RD_CUDA_GROUPS_ITEM_EACH = 4
};

/* The most elements, once for each scan, of which one block alone finds extremes, counts or bits, in one launch from beginning to end:
 * three take longer. (1024 elements into 64 groups take an H100 7 us so, and 12 by launches. Sums took 12 either way, 2048 of them 14
 * by one block, so that they have none.) */
enum { RD_CUDA_GROUPS_ALONE_ELEMENTS = 4096 };

/* The most shared memory that a table may take, and in which steps it is tried whether a device has it. */
enum { RD_CUDA_GROUPS_ROOM = 224 << 10, RD_CUDA_GROUPS_ROOM_STEP = 32 << 10 };

/* Slots of a block's table in shared memory, as far as there is room, and the most copies of one: powers of two. So many slots that sums of
 * f32 into 10^4 groups have one for each; copies for all lanes of a warp. Blocks for each multiprocessor that fill the rest of planes,
 * should there be any, and that round or clear; elements of a thread that looks at all of them for it. */
enum {
    RD_CUDA_GROUPS_SLOTS = 16384,
    RD_CUDA_GROUPS_COPIES_LOG2 = 5,
    RD_CUDA_GROUPS_REST_BLOCKS = 4,
    RD_CUDA_GROUPS_REST_EACH = 8,
    RD_CUDA_GROUPS_FINISH_BLOCKS = 16
};

/* A block's own rest of the planes has copies as long as they take no more bytes than this, so that lanes do not wait for each other where there
 * are few results, of which all elements have digits in the same few planes. */
enum { RD_CUDA_GROUPS_REST_ROOM = 16 << 10 };

/* Of so many elements for each result that the table does not take, the rest of the planes is opened if blocks have their own: else their
 * additions, to the same few words in memory, would take several microseconds. */
enum { RD_CUDA_GROUPS_SLOW_EACH = 8192 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Rings: tiles that the copy engine brings to shared memory
 * ------------------------------------------------------------------------------------------------------------------ */

/* Kernels that were compiled for this capability or a later one wait for the launch before them themselves, and can have
 * tiles come through a ring. */
enum { RD_CUDA_NEWER = 90 };

/* Which kernels have a ring: where arithmetic does not hold up the loads of the next tile anyway, or has no registers for
 * them. These are exact sums of floats, unless of pairs, and whatever takes elements as they are. */
#define RD_CUDA_HAS_RING(family, transform)                                                                            \
    ((family) == RD_EXACT_SUM                                                                                          \
         ? (transform) != RD_TIMES                                                                                     \
         : (transform) == RD_IDENTITY && (family) != RD_FLOAT_PRODUCT && (family) != RD_INTEGER_PRODUCT)

/* Tiles of a ring: one that is read, and one that is on its way. */
enum { RD_CUDA_RING_TILES = 2 };

/* A ring is of use where a multiprocessor holds so many blocks that have one: while one adds, another waits. */
enum { RD_CUDA_RINGED_LEAST = 2 };

/* And for arrays of so many times the L2 cache, which make up for the time that the ring takes to fill: for exact sums
 * earliest, since they have the fewest registers for loads. */
enum { RD_CUDA_RING_L2_EXACT = 2, RD_CUDA_RING_L2_EXTREMES = 16, RD_CUDA_RING_L2_SUMS = 32 };

/* Percent of an array's tiles that blocks with a ring take in turn. What is left goes to whoever is free: of an H200's 132
 * multiprocessors, 24 read as much in 72% of the time that the others take, and the rest keeps them busy until the others come
 * to an end. (Claims cost a little each: if all tiles were claimed, 4 GiB would take 2% longer.) */
enum { RD_CUDA_IN_TURN = 86 };

/* The fewest turns of a block: so many tiles are chosen before the first has come. */
enum { RD_CUDA_LEAST_TURNS = RD_CUDA_RING_TILES + 1 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Products of floats
 * ------------------------------------------------------------------------------------------------------------------ */

/* The most runs of blocks of the tree: more than the warps of the largest devices, and in the last block a thread has
 * registers for so many over RD_CUDA_THREADS. Rows of a block that a warp loads together: two factors each. */
enum { RD_CUDA_RUNS_MAX = 4096, RD_CUDA_PRODUCT_ROWS = 8 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Data on the host
 * ------------------------------------------------------------------------------------------------------------------ */

/* Bytes that are staged in page-locked memory at a time: of one array, or half as many of each of two. Long enough for the bus
 * to be at full speed, short enough for the first piece to come soon. */
enum { RD_CUDA_STAGE_BYTES = 32 << 20 };

/* One thread does not copy into page-locked memory as fast as the bus takes it from there: bytes that a thread copies at a
 * time, and the most threads. */
enum { RD_CUDA_COPY_STEP = 1 << 20, RD_CUDA_COPY_THREADS = 8 };

#endif
