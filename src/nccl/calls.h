/* What the calls over GPUs share. */
#ifndef RD_NCCL_CALLS_H
#define RD_NCCL_CALLS_H

#include <reduct/reduct.h>

#include "drivers/nccl.h"

/* What a result of NCCL's is to a caller. */
reduct_status rd_nccl_fail(const rd_nccl *nccl, int result, reduct_error *error);

#endif
