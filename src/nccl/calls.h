/* What the calls over GPUs share. */
#ifndef RD_NCCL_CALLS_H
#define RD_NCCL_CALLS_H

#include <reduct/reduct.h>

#include "drivers/nccl.h"

/* What a result of NCCL's is to a caller. */
reduct_status rd_nccl_fail(const rd_nccl *nccl, int result, reduct_error *error);

/* Where a communicator is: this rank, of so many, and the ordinal of its device. */
struct rd_nccl_place {
    int rank, ranks, device;
};
reduct_status rd_nccl_find_place(const rd_nccl *nccl, struct ncclComm *comm, struct rd_nccl_place *place,
                                 reduct_error *error);

/* Fails where there is no such rank. */
reduct_status rd_nccl_check_root(int root, int ranks, reduct_error *error);

/* Elements of all ranks of which limbs add up within 64 bits as kernels leave them: an element adds less than 2^36 to one of them.
 * Tests lower it. */
extern uint64_t rd_nccl_raw_most;

#endif
