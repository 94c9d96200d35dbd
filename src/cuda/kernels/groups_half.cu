/* Exact sums of f16 and bf16 by groups: see groups_sums.cuh. One kernel serves both. */
#include "groups_sums.cuh"

RD_CUDA_GROUPS_KERNELS(terms_half, HALVES, 2, false)
RD_CUDA_GROUPS_KERNELS(products_half, HALVES, 2, true)
RD_CUDA_GROUPS_GATHER(terms_half, HALVES, 2, false)
RD_CUDA_GROUPS_GATHER(products_half, HALVES, 2, true)
