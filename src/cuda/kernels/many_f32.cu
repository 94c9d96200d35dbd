/* Exact sums of f32, many results: see many_sums.cuh. */
#include "many_sums.cuh"

RD_CUDA_MANY_SUMS(float)
RD_CUDA_MANY_PRODUCT_ROWS(float)
