/* Tables of accumulators (reduct_table) over ranks. What they hold travels as words that MPI merges (state/join.h): sums and counts by adding,
 * extremes by the least, of which those that tell places go in pairs, in the order of the ranks, bits as such. */
#ifndef RM_GROUPS_H
#define RM_GROUPS_H

#include "mpi/message.h"

struct rd_join;

/* Puts in the place of what the tables held what those of the ranks of `kind` hold together; of an all-reduce with a `root` that is
 * not negative in that rank's alone. Fails on all ranks alike, also where one has failed before, of which `failure` tells; what the tables
 * held is then as it was, unless it is REDUCT_ERROR_DEVICE_LOST. Collective. */
reduct_status rm_groups_reduce(reduct_table *table, enum rm_kind kind, int root, const struct rm_failure *failure,
                               MPI_Comm comm, reduct_error *error);

/* An all-reduce of tables under way. */
struct rm_groups {
    struct rd_join *join;
    uint64_t seen;     /* elements of all ranks */
    int64_t *words;    /* of all parts, those together that merge alike */
    MPI_Datatype pair; /* of words, and how the lesser one is found */
    MPI_Op lesser;
};

/* Begins it, if no rank has failed before, of which `failure` tells, and writes how many requests it takes. Collective, and ranks wait for
 * each other. Where it fails there is nothing to end. */
reduct_status rm_groups_begin(struct rm_groups *groups, reduct_table *table, const struct rm_failure *failure,
                              MPI_Comm comm, MPI_Request requests[RM_CALLS], int *count, reduct_error *error);

/* Ends it, when the requests have been waited for, which returned `code`. */
reduct_status rm_groups_end(struct rm_groups *groups, int code, reduct_error *error);

#endif
