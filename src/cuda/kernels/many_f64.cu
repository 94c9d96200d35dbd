/* Exact sums of f64, many results: see many_sums.cuh. */
#include "many_sums.cuh"

RD_CUDA_MANY_SUMS(double)
RD_CUDA_MANY_WIDE_ROWS(double)
RD_CUDA_MANY_PRODUCT_ROWS(double)
