/* Exact sums of f32: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_KERNEL(exact_identity, 2, exact_sum<float, RD_IDENTITY, DoubleWindow>)
RD_CUDA_KERNEL(exact_absolute, 2, exact_sum<float, RD_ABSOLUTE, DoubleWindow>)
RD_CUDA_KERNEL(exact_square, 2, exact_sum<float, RD_SQUARE, DoubleWindow>)
RD_CUDA_KERNEL(exact_product, 2, exact_sum<float, RD_PRODUCT, DoubleWindow>)
RD_CUDA_KERNEL(exact_moments, 2, exact_sum<float, RD_MOMENTS, DoubleWindow>)
