/* Exact sums of f32: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_EXACT_KERNEL(exact_identity, float, RD_IDENTITY, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_absolute, float, RD_ABSOLUTE, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_square, float, RD_SQUARE, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_product, float, RD_PRODUCT, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_moments, float, RD_MOMENTS, DoubleWindow, 2)
