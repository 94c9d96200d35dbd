/* Exact sums of segments of f64: see many_spans_sums.cuh. */
#include "many_spans_sums.cuh"

#if __CUDA_ARCH__ >= 900
RD_CUDA_SPANS_SUMS(double)
RD_CUDA_SPANS_SQUARES(double)
#endif
