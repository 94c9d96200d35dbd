/* What the CUDA backend keeps of a prepared reduction. */
#ifndef RD_CUDA_PREPARED_H
#define RD_CUDA_PREPARED_H

#include "cuda/launch.h"

struct rd_cuda_kept {
    struct rd_cuda_launch launch; /* of plans of many only the context */
    rd_cu_address workspace;      /* of executions in a stream that bring none; 0 where there are no such executions */
};

/* The launch that was prepared for arrays, or, for a thread with another context current than the one that prepared it, one made
 * anew. With the context current. */
reduct_status rd_cuda_launch_here(const struct rd_prepared *prepared, struct rd_cuda_context *context,
                                  struct rd_cuda_launch *launch, reduct_error *error);

#endif
