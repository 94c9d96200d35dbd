/* Exact sums of segments of f16: see many_spans_sums.cuh. */
#include "many_spans_sums.cuh"

#if __CUDA_ARCH__ >= 900
RD_CUDA_SPANS_SUMS(F16)
RD_CUDA_SPANS_SQUARES(F16)
#endif
