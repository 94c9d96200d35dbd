/* Exact sums of f64 by groups: see groups_sums.cuh. */
#include "groups_sums.cuh"

RD_CUDA_GROUPS_KERNELS(terms_f64, FLOATS, 8, false)
RD_CUDA_GROUPS_KERNELS(products_f64, FLOATS, 8, true)
RD_CUDA_GROUPS_GATHER(terms_f64, FLOATS, 8, false)
