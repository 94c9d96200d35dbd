/* Exact sums of long rows and of columns of f16, and of their squares: see many_ringed.cuh. */
#include "many_ringed.cuh"

#if __CUDA_ARCH__ >= 900
RD_CUDA_RINGED_SUMS(F16)
#endif
