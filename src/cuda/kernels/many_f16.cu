/* Exact sums of f16, many results: see many_sums.cuh. */
#include "many_sums.cuh"

RD_CUDA_MANY_KERNEL(many_identity, RD_CUDA_RESIDENT_MANY, SumState<F16, RD_IDENTITY>)
RD_CUDA_MANY_KERNEL(many_absolute, RD_CUDA_RESIDENT_MANY, SumState<F16, RD_ABSOLUTE>)
RD_CUDA_MANY_KERNEL(many_square, RD_CUDA_RESIDENT_MANY, SumState<F16, RD_SQUARE>)
RD_CUDA_MANY_KERNEL(many_product, RD_CUDA_RESIDENT_MANY, SumState<F16, RD_PRODUCT>)
RD_CUDA_MANY_KERNEL(many_moments, RD_CUDA_RESIDENT_MANY, SumState<F16, RD_MOMENTS>)
