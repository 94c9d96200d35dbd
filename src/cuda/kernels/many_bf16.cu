/* Exact sums of bf16, many results: see many_sums.cuh. */
#include "many_sums.cuh"

RD_CUDA_MANY_SUMS(BF16)
RD_CUDA_MANY_PRODUCT_ROWS(BF16)
