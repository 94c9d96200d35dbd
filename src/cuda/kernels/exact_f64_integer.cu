/* Exact sums of f64 in integers, for devices whose f64 arithmetic is slow: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_EXACT_KERNEL(exact_identity, double, RD_IDENTITY, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_absolute, double, RD_ABSOLUTE, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_square, double, RD_SQUARE, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_product, double, RD_PRODUCT, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_moments, double, RD_MOMENTS, IntegerWindow, 2)
