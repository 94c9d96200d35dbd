/* Plans of many results on a CUDA device. */
#ifndef RD_CUDA_MANY_PLAN_H
#define RD_CUDA_MANY_PLAN_H

#include "core/many.h"
#include "cuda/groups.h"
#include "cuda/launch.h"
#include "cuda/several.h"
#include "cuda/kernels/many.h"

/* One reduction of a plan: the kernel, and what it is told but for the addresses. */
struct rd_cuda_pass {
    bool shared; /* it is part of the pass of several, and nothing else of this is set */
    bool again;  /* over groups: it ends what the scans of one whose turn was before leave, as it shares them */
    size_t turn; /* the reduction whose turn it is at this one's number: those that share scans are neighbours */
    rd_cu_function function;
    struct rd_cuda_masked masked; /* of which launches without a mask take `many` */
    unsigned blocks;
    bool may_be_vectors;  /* where inputs are aligned */
    unsigned ring_bytes;  /* dynamic shared memory for rings; 0: the kernel has none */
    size_t table_bytes;   /* that are zero before and after */
    size_t list_bytes;    /* of segments that are put off; 0: none is */
    unsigned cut_blocks;  /* of the launch that takes these */
    bool overlaps;        /* what follows a launch of the same execution may begin while that ends */
    rd_cu_function close; /* what rows are reduced by first, or null; and its blocks */
    unsigned close_blocks;
    rd_cu_function spans; /* what offsets are reduced by instead, or null; and its blocks */
    unsigned span_blocks, span_ring_bytes;
    uint64_t came;                     /* of passes that are left open: pieces */
    struct rd_cuda_groups_pass groups; /* of plans over groups, instead of the function and what it is told */
};

/* What a plan keeps. */
struct rd_cuda_plan {
    struct rd_cuda_context *context;
    const struct rd_many *many;
    pthread_mutex_t lock;           /* of the table, in executions that wait for their results */
    rd_cu_address table;            /* zero between executions */
    size_t zero_bytes;              /* of the pass that takes most */
    size_t list_place, list_bytes;  /* of segments that are put off */
    size_t table_bytes;             /* with these, or with what the pass of several takes beside */
    struct rd_cuda_several several; /* of a whole array */
    struct rd_cuda_pass together;   /* of many results: the pass of several, if it has a function */
    struct rd_cuda_plan *rows;      /* over segments: what is gone through instead if these are rows; or null */
    struct rd_many many_rows;       /* of that */
    rd_cu_function choice;          /* what finds out, and bytes before its words in the table */
    size_t choice_place;
    struct rd_cuda_pass pass[];
};

reduct_status rd_cuda_prepare_many(struct rd_many *many, reduct_error *error);
void rd_cuda_release_many(struct rd_many *many);
reduct_status rd_cuda_execute_many(const struct rd_many *many, const struct rd_execution *execution,
                                   reduct_error *error);

/* Finds a pass of a plan, which is zero before, or, if `open`, one over a single array that leaves in the table what its pieces come
 * to, and writes no result (pieces.h). With the context current. */
reduct_status rd_cuda_pass_prepare(struct rd_cuda_context *context, const struct rd_many *many, size_t which, bool open,
                                   struct rd_cuda_pass *pass, reduct_error *error);

/* Queues a pass. Addresses are the device's; the outcomes and the failure may be null. If `dense`, results go one after another,
 * whatever the layout says. With the context current. */
struct rd_cuda_addresses {
    const void *input[2], *begins, *ends, *indices, *initial, *mask;
    void *result;
    struct rd_cuda_outcome *outcome; /* of the first reduction; those of others come after */
    uint64_t *table, *lists;
    uint64_t *failure;      /* as in kernels/many.h, one for each reduction */
    const uint64_t *chosen; /* likewise */
    bool keeps;             /* likewise */
};
rd_cu_result rd_cuda_pass_start(const struct rd_cuda_context *context, const struct rd_many *many,
                                const struct rd_cuda_pass *pass, const struct rd_cuda_addresses *addresses, bool dense,
                                rd_cu_stream stream);

/* Bytes of a workspace; what executions in streams queue, into memory that the device can access. */
size_t rd_cuda_many_workspace(const struct rd_many *many);
reduct_status rd_cuda_queue_many(const struct rd_many *many, const struct rd_cuda_addresses *addresses,
                                 void *const *results, void *workspace, rd_cu_stream stream, reduct_error *error);

/* The same without outcomes; then waits, and returns the first failure. Calls without a workspace take turns with the plan's own. */
reduct_status rd_cuda_await_many(const struct rd_many *many, const struct rd_cuda_addresses *addresses,
                                 void *const *results, void *workspace, rd_cu_stream stream, reduct_error *error);

/* What an outcome that is not REDUCT_OK is to the caller, of number `result` among so many. */
reduct_status rd_cuda_report(const reduct_reduction *reduction, uint64_t results, uint64_t result,
                             const struct rd_cuda_outcome *outcome, reduct_error *error);

#endif
