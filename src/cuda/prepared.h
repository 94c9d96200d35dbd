/* What the CUDA backend keeps of a prepared reduction. */
#ifndef RD_CUDA_PREPARED_H
#define RD_CUDA_PREPARED_H

#include "cuda/launch.h"

struct rd_cuda_kept {
    struct rd_cuda_launch launch; /* of plans of many only the context */
    rd_cu_address workspace;      /* of executions in a stream that bring none; 0 where there are no such executions */
};

#endif
