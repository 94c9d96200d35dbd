/* Exact sums of f64: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_EXACT_KERNEL(exact_identity, double, RD_IDENTITY, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_absolute, double, RD_ABSOLUTE, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_square, double, RD_SQUARE, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_product, double, RD_PRODUCT, DoubleWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_moments, double, RD_MOMENTS, DoubleWindow, 2)
