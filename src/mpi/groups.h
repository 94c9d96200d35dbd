/* Tables of accumulators (reduct_table) over ranks. What they hold travels as the bytes that reduct_table_save() writes, and is merged in
 * the order of the ranks by reduct_table_merge(): so every operator that tables have works, those that tell places too. */
#ifndef RM_GROUPS_H
#define RM_GROUPS_H

#include "mpi/message.h"

/* Puts in the place of what the tables held what those of the ranks of `kind` hold together; of an all-reduce with a `root` that is
 * not negative in that rank's alone. Fails on all ranks alike, also where one has failed before, of which `failure` tells; what the tables
 * held is then as it was. Collective. */
reduct_status rm_groups_reduce(reduct_table *table, enum rm_kind kind, int root, const struct rm_failure *failure,
                               MPI_Comm comm, reduct_error *error);

/* An all-reduce of tables under way. */
struct rm_groups {
    reduct_table *table, *merged;
    unsigned char *bytes; /* of all ranks, and what follows is behind them */
    uint64_t *sizes;
    int *counts, *places; /* in units */
    MPI_Datatype unit;
    int ranks;
};

/* Begins it, if no rank has failed before, of which `failure` tells. Collective, and ranks wait for each other. Where it fails
 * there is nothing to end. */
reduct_status rm_groups_begin(struct rm_groups *groups, reduct_table *table, const struct rm_failure *failure,
                              MPI_Comm comm, MPI_Request *request, reduct_error *error);

/* Ends it, when the request has been waited for, which returned `code`. */
reduct_status rm_groups_end(struct rm_groups *groups, int code, reduct_error *error);

#endif
