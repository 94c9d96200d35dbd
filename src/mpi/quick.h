/* Sums of doubles, without an accumulator for each: the short message that message.c would send is written straight from the elements
 * where they are few, and rounded straight from what is received. Between ranks in one memory all else would take longer than MPI does. */
#ifndef RM_QUICK_H
#define RM_QUICK_H

#include "mpi/agree.h"

/* What became of it. */
enum rm_quick {
    RM_QUICK_NOT,  /* nothing: these are not such sums here; other ranks may think otherwise */
    RM_QUICK_LONG, /* the short message was sent, and does not do: the long one comes next */
    RM_QUICK_DONE  /* all is done */
};

/* An all-reduce of the fields; its status where it is done. Collective. */
enum rm_quick rm_quick_allreduce(const reduct_mpi_field *fields, size_t count, bool writes, MPI_Comm comm,
                                 reduct_status *status, reduct_error *error);

#endif
