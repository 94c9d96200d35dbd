/* Exact sums of f16, many results: see many_sums.cuh. */
#include "many_sums.cuh"

RD_CUDA_MANY_SUMS(F16)
RD_CUDA_MANY_PRODUCT_ROWS(F16)
