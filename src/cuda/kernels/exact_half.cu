/* Exact sums of f16 and bf16: see exact.cuh. */
#include "exact.cuh"

RD_CUDA_KERNEL(exact_identity, RD_CUDA_RESIDENT_EXACT, exact_sum_of_halves<RD_IDENTITY>)
RD_CUDA_KERNEL(exact_absolute, RD_CUDA_RESIDENT_EXACT, exact_sum_of_halves<RD_ABSOLUTE>)
RD_CUDA_KERNEL(exact_square, RD_CUDA_RESIDENT_EXACT, exact_sum_of_halves<RD_SQUARE>)
RD_CUDA_KERNEL(exact_times, RD_CUDA_RESIDENT_EXACT, exact_sum_of_halves<RD_TIMES>)
RD_CUDA_KERNEL(exact_moments, RD_CUDA_RESIDENT_EXACT, exact_sum_of_halves<RD_MOMENTS>)
