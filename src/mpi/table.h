/* Tables of states: rows of words, of which many columns are zero in all rows and on all ranks, since an exact sum has room for
 * every exponent and data use few. These are not sent. */
#ifndef RM_TABLE_H
#define RM_TABLE_H

#include "mpi/agree.h"

/* What each rank gets: what all ranks have, those up to and with its own, or those before it. */
enum rm_kind { RM_ALLREDUCE, RM_SCAN, RM_EXSCAN };

/* MPI's own reduction of that kind; `sent` may be MPI_IN_PLACE. Returns what MPI does. Collective. */
int rm_merge_words(const int64_t *sent, int64_t *received, int count, MPI_Datatype type, MPI_Op operation,
                   enum rm_kind kind, MPI_Comm comm);

/* `rows` of `width` words of which the first `added` add and the rest merge by `operation`, one of MPI's. */
struct rm_table {
    int64_t *words;
    size_t rows, width, added;
    MPI_Op operation;
    const reduct_reduction *reduction; /* of which the words are */
};

/* Merges, in place, what the ranks of `kind` have; of an all-reduce with a `root` that is not negative for that rank alone. What is before
 * rank 0 the caller writes. Fails, on all ranks alike and before anything was changed, where some rank has failed before, of which `failure` and `fields`
 * tell as for rm_agree(), or lacks memory; or with REDUCT_ERROR_DEVICE_LOST. One small all-reduce comes before those of the data. Collective. */
reduct_status rm_table_reduce(const struct rm_table *table, enum rm_kind kind, int root,
                              const struct rm_failure *failure, const reduct_mpi_field *fields, MPI_Comm comm,
                              reduct_error *error);

/* Words of one call of MPI's, as its counts are ints, and the most calls for what goes on while the program does. */
#define RM_CALL_MOST ((size_t)1 << 30)
enum { RM_CALLS = 16 };

/* Columns of one operation. */
struct rm_columns {
    size_t count;
    uint16_t at[RM_ROW];
};

/* Adds a row, or a state, of so many words to those that have been seen, by column. */
static inline void rm_see(uint64_t seen[RM_ROW], const int64_t *words, size_t count) {
    for (size_t c = 0; c < count; c++)
        seen[c] |= (uint64_t)words[c];
}

/* Sets the bits of the columns of which some word was not zero. */
void rm_find_used(const uint64_t seen[RM_ROW], uint64_t used[RM_BITS]);

/* Of so many, those whose bits are set. */
void rm_columns_of(struct rm_columns *columns, const uint64_t bits[RM_BITS], size_t count);

/* An all-reduce under way, of a copy of the words that are sent: those that add, then the rest. */
struct rm_table_request {
    struct rm_table table;
    struct rm_columns added, rest;
    int64_t *sent;
};

/* Begins it, and writes how many requests it takes. Fails as above, and with REDUCT_ERROR_TOO_LARGE; there is then nothing to end.
 * Collective, and ranks wait for each other. */
reduct_status rm_table_begin(struct rm_table_request *begun, const struct rm_table *table,
                             const struct rm_failure *failure, MPI_Comm comm, MPI_Request requests[RM_CALLS],
                             int *count, reduct_error *error);

/* Ends it, when its requests have been waited for, which returned `code`. */
reduct_status rm_table_end(struct rm_table_request *begun, int code, reduct_error *error);

#endif
