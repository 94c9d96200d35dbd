/* Exact sums of long rows and of columns of halves: see many_ringed.cuh. */
#include "many_ringed.cuh"

#if __CUDA_ARCH__ >= 900
RD_CUDA_RINGED_SUMS(_f16, F16)
RD_CUDA_RINGED_SUMS(_bf16, BF16)
#endif
