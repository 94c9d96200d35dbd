/* Plans over groups on a CUDA device: which kernels run, and where in a workspace partial results lie. A part of plans of many
 * results (many.h), which see to everything else. */
#ifndef RD_CUDA_GROUPS_H
#define RD_CUDA_GROUPS_H

#include "core/many.h"
#include "cuda/kernels/groups.h"
#include "cuda/launch.h"

/* A pass over the elements: for one kind of terms, or of things that are looked for. */
struct rd_cuda_groups_scan {
    rd_cu_function add, add_moved, gather;
    uint32_t slots_most;                /* of a block's table, with owners; 0: it has none */
    unsigned slot_bytes, room;          /* of a block's shared memory */
    unsigned each;                      /* elements of a lane at a time */
    size_t header, window, rest, aside; /* where in the workspace */
    bool products;                      /* of sums: terms are */
    struct rd_cuda_groups_grid grid;    /* but for addresses */
};

/* One reduction of a plan. */
struct rd_cuda_groups_pass {
    struct rd_cuda_context *context;
    struct rd_cuda_groups groups; /* what kernels are told but for addresses, grids and tables */
    unsigned scans, own_scans;    /* those that it shares with others of the plan; its own are the first of these */
    uint8_t scanned;              /* enum rd_transform: what scans are for */
    bool asks_counts, asks_nans;  /* its end looks at `counted`, and at `nan_below` */
    struct rd_cuda_groups_scan scan
        [2]; /* of terms and of squares, for moments; of weights and of products; of extremes and of their places, unless
                                           * one is for both; of the least and of the greatest */
    unsigned finish_threads; /* of a block */
    bool floats;   /* sums of these: there is a place of the window to guess, and some elements may be put aside */
    bool overlaps; /* launches may begin while the one before ends */
    rd_cu_function begin, finish;
    rd_cu_function alone;              /* does it all, in place of all others; null: there is too much for one block */
    rd_cu_function rest, special;      /* of sums of floats whose planes are fetched */
    rd_cu_function count, move;        /* to buckets; null: elements stay where they are */
    rd_cu_function rank, place, order; /* of rows, which are gathered; null: they are not */
    struct {
        size_t begin, rank, number, placed; /* where in the workspace */
    } gathered;
    struct {
        uint32_t rows, item;                           /* of a tile; the most elements of an item */
        uint8_t size_log2[2], only_open, beyond_cache; /* kernels/groups.h */
        size_t counts, next, items, result, moved[2];  /* where in the workspace */
    } buckets;
    size_t counted, nan_below, notes[2]; /* where in the workspace, notes of each scan; SIZE_MAX: nowhere */
    size_t zero_bytes, bytes;            /* of a workspace, which begins with what must be zero */
    unsigned element_bytes;
    bool with_initial;
};

/* Whether reductions of a plan are finished from the same planes: sums of the same terms, or moments of what others are sums of. What is
 * prepared for either has the scans that all of these need, and one workspace serves them. */
bool rd_cuda_groups_share(const struct rd_many *many, size_t which, size_t other);

/* `fetched`: for rd_cuda_groups_collect(). With the context current. */
reduct_status rd_cuda_groups_prepare(struct rd_cuda_context *context, const struct rd_many *many, size_t which,
                                     bool fetched, struct rd_cuda_groups_pass *pass, reduct_error *error);

/* The most elements, once for each scan, that one block takes alone: RD_CUDA_GROUPS_ALONE_ELEMENTS; the most rows of which a word has
 * the first beside a rank: UINT32_MAX; and the fewest bytes of elements that are moved to buckets, and of rows that are gathered:
 * RD_CUDA_GROUPS_MOVE_LEAST, RD_CUDA_GROUPS_ROWS_BYTES. For tests to change. */
extern uint64_t rd_cuda_groups_alone_most, rd_cuda_groups_first_most, rd_cuda_groups_move_least,
    rd_cuda_groups_gather_least;

/* Queues a pass. Addresses are the device's. With the context current. */
struct rd_cuda_groups_addresses {
    const void *input[2], *indices, *mask, *initial;
    void *result;
    struct rd_cuda_outcome *outcome; /* may be null, as may the failure */
    uint64_t *failure;
    void *workspace; /* may hold anything */
};
rd_cu_result rd_cuda_groups_start(const struct rd_cuda_groups_pass *pass,
                                  const struct rd_cuda_groups_addresses *addresses, rd_cu_stream stream);

/* Queues the end of a pass alone, behind another one that shares its scans: nothing else was queued between them. */
rd_cu_result rd_cuda_groups_end(const struct rd_cuda_groups_pass *pass,
                                const struct rd_cuda_groups_addresses *addresses, rd_cu_stream stream);

/* The same of a pass that shares nothing, of planes that are in the workspace by other means, with all else there zero but the units and places of
 * windows in the headers: nothing was put aside. Of the workspace only what comes before what need not be zero is used. */
rd_cu_result rd_cuda_groups_finish(const struct rd_cuda_groups_pass *pass,
                                   const struct rd_cuda_groups_addresses *addresses, rd_cu_stream stream);

/* Queues a pass without its end: planes are left in the workspace, and of sums which elements count. `special`, of sums of floats, is
 * where planes of counts are, all zero (kernels/groups.h). */
rd_cu_result rd_cuda_groups_collect(const struct rd_cuda_groups_pass *pass,
                                    const struct rd_cuda_groups_addresses *addresses, void *special,
                                    rd_cu_stream stream);

/* Then queues that the rest of the planes is filled for the results from `first` on, as many as there is room for, where a header says
 * that there is any. */
rd_cu_result rd_cuda_groups_collect_rest(const struct rd_cuda_groups_pass *pass,
                                         const struct rd_cuda_groups_addresses *addresses, uint64_t first,
                                         rd_cu_stream stream);

#endif
