/* Exact sums of long rows and of columns of f32: see many_ringed.cuh. */
#include "many_ringed.cuh"

#if __CUDA_ARCH__ >= 900
#define RD_CUDA_RINGED(WAY, NAME, TRANSFORM)                                                                           \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        many_ringed_##WAY##_##NAME(const __grid_constant__ rd_cuda_many many) {                                        \
        reduce_ringed_##WAY<SumState<float, TRANSFORM>>(many);                                                         \
    }
RD_CUDA_RINGED(rows, identity, RD_IDENTITY)
RD_CUDA_RINGED(rows, absolute, RD_ABSOLUTE)
RD_CUDA_RINGED(columns, identity, RD_IDENTITY)
RD_CUDA_RINGED(columns, absolute, RD_ABSOLUTE)
#endif
