/* Exact sums of f32: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_KERNEL(exact_identity, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_IDENTITY, DoubleWindow>)
RD_CUDA_KERNEL(exact_absolute, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_ABSOLUTE, DoubleWindow>)
RD_CUDA_KERNEL(exact_square, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_SQUARE, DoubleWindow>)
RD_CUDA_KERNEL(exact_times, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_TIMES, DoubleWindow>)
RD_CUDA_KERNEL(exact_moments, RD_CUDA_RESIDENT_EXACT, exact_sum<float, RD_MOMENTS, DoubleWindow>)
