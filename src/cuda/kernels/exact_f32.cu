/* Exact sums of f32: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_EXACT_KERNEL(exact_identity, float, RD_IDENTITY, 4)
RD_CUDA_EXACT_KERNEL(exact_absolute, float, RD_ABSOLUTE, 4)
RD_CUDA_EXACT_KERNEL(exact_square, float, RD_SQUARE, 3)
RD_CUDA_EXACT_KERNEL(exact_product, float, RD_PRODUCT, 3)
RD_CUDA_EXACT_KERNEL(exact_moments, float, RD_MOMENTS, 3)
