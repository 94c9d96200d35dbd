/* Exact sums of f32 in integers, for devices whose f64 arithmetic is slow: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_EXACT_KERNEL(exact_identity, float, RD_IDENTITY, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_absolute, float, RD_ABSOLUTE, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_square, float, RD_SQUARE, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_product, float, RD_PRODUCT, IntegerWindow, 2)
RD_CUDA_EXACT_KERNEL(exact_moments, float, RD_MOMENTS, IntegerWindow, 2)
