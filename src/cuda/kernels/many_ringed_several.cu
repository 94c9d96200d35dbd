/* Several reductions of long rows, and of columns, whose elements come as those of many_ringed.cuh: see many_several.cuh. */
#include "many_ringed.cuh"
#include "many_several.cuh"

#if __CUDA_ARCH__ >= 900
#define KERNEL(WAY, NAME, TYPE, TRANSFORM)                                                                             \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        together_ringed_##WAY##_##NAME(const __grid_constant__ rd_cuda_together together) {                            \
        reduce_ringed_##WAY<TogetherState<TYPE, TRANSFORM>>(together.many);                                            \
    }

KERNEL(rows, identity_f32, float, RD_IDENTITY)
KERNEL(rows, moments_f32, float, RD_MOMENTS)
KERNEL(rows, moments_f16, F16, RD_MOMENTS)
KERNEL(rows, moments_bf16, BF16, RD_MOMENTS)
/* Columns of halves have more sums than there are registers for. */
KERNEL(columns, identity_f32, float, RD_IDENTITY)
KERNEL(columns, moments_f32, float, RD_MOMENTS)
#endif
