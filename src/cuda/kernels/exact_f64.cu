/* Exact sums of f64: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_EXACT_KERNEL(exact_identity, double, RD_IDENTITY, 4)
RD_CUDA_EXACT_KERNEL(exact_absolute, double, RD_ABSOLUTE, 4)
RD_CUDA_EXACT_KERNEL(exact_square, double, RD_SQUARE, 3)
RD_CUDA_EXACT_KERNEL(exact_product, double, RD_PRODUCT, 3)
RD_CUDA_EXACT_KERNEL(exact_moments, double, RD_MOMENTS, 3)
