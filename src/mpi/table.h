/* Tables of states: rows of words, of which many columns are zero in all rows and on all ranks, since an exact sum has room for
 * every exponent and data use few. These are not sent. */
#ifndef RM_TABLE_H
#define RM_TABLE_H

#include "mpi/agree.h"

/* The most words of a row. */
enum { RM_ROW = 512 };

/* Merges, in place, `rows` of `width` words of which the first `added` add and the rest merge by `operation`, one of MPI's.
 * Fails, on all ranks alike and before anything was changed, where some rank has failed before, of which `failure` and `fields`
 * tell as for rm_agree(), or lacks memory; or with REDUCT_ERROR_DEVICE_LOST. Collective. */
reduct_status rm_table_allreduce(int64_t *words, size_t rows, size_t width, size_t added, MPI_Op operation,
                                 const struct rm_failure *failure, const reduct_mpi_field *fields, MPI_Comm comm,
                                 reduct_error *error);

#endif
