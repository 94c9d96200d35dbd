/* Exact sums of f32 in integers, for devices whose f64 arithmetic is slow: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_KERNEL(exact_identity, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_IDENTITY, IntegerWindow>)
RD_CUDA_KERNEL(exact_absolute, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_ABSOLUTE, IntegerWindow>)
RD_CUDA_KERNEL(exact_square, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_SQUARE, IntegerWindow>)
RD_CUDA_KERNEL(exact_times, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_TIMES, IntegerWindow>)
RD_CUDA_KERNEL(exact_moments, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_MOMENTS, IntegerWindow>)
