/* Exact sums of f64: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_KERNEL(exact_identity, 2, exact_sum<double, RD_IDENTITY, DoubleWindow>)
RD_CUDA_KERNEL(exact_absolute, 2, exact_sum<double, RD_ABSOLUTE, DoubleWindow>)
RD_CUDA_KERNEL(exact_square, 2, exact_sum<double, RD_SQUARE, DoubleWindow>)
RD_CUDA_KERNEL(exact_product, 2, exact_sum<double, RD_PRODUCT, DoubleWindow>)
RD_CUDA_KERNEL(exact_moments, 2, exact_sum<double, RD_MOMENTS, DoubleWindow>)
