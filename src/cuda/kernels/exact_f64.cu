/* Exact sums of f64: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_KERNEL(exact_identity, RD_CUDA_RESIDENT_EXACT, exact_sum<double, RD_IDENTITY, DoubleWindow>)
RD_CUDA_KERNEL(exact_absolute, RD_CUDA_RESIDENT_EXACT, exact_sum<double, RD_ABSOLUTE, DoubleWindow>)
RD_CUDA_KERNEL(exact_square, RD_CUDA_RESIDENT_EXACT, exact_sum<double, RD_SQUARE, DoubleWindow>)
RD_CUDA_KERNEL(exact_times, RD_CUDA_RESIDENT_EXACT, exact_sum<double, RD_TIMES, DoubleWindow>)
RD_CUDA_KERNEL(exact_moments, RD_CUDA_RESIDENT_EXACT, exact_sum<double, RD_MOMENTS, DoubleWindow>)
