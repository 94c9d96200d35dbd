/* Exact sums of f32 by groups: see groups_sums.cuh. */
#include "groups_sums.cuh"

RD_CUDA_GROUPS_KERNELS(terms_f32, FLOATS, 4, false)
RD_CUDA_GROUPS_KERNELS(products_f32, FLOATS, 4, true)
RD_CUDA_GROUPS_GATHER(terms_f32, FLOATS, 4, false)
RD_CUDA_GROUPS_GATHER(products_f32, FLOATS, 4, true)
