/* Several reductions of floats to many results each: see many_several.cuh. */
#include "many_several.cuh"

#define KERNELS(NAME, TYPE, TRANSFORM)                                                                                 \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        together_##NAME(const __grid_constant__ rd_cuda_together together) {                                           \
        reduce_many<TogetherState<TYPE, TRANSFORM>>(together.many);                                                    \
    }
#define KERNELS_OF(NAME, TYPE)                                                                                         \
    KERNELS(identity_##NAME, TYPE, RD_IDENTITY)                                                                        \
    KERNELS(moments_##NAME, TYPE, RD_MOMENTS)

KERNELS_OF(f32, float)
KERNELS_OF(f64, double)
KERNELS_OF(f16, F16)
KERNELS_OF(bf16, BF16)

/* Rows that can be loaded as vectors, of one tile and of several: as many.c has it for the sums alone. */
#define ROWS(WAY, TILED, NAME, TYPE, TRANSFORM)                                                                        \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_MANY)                               \
        together_##WAY##_##NAME(const __grid_constant__ rd_cuda_together together) {                                   \
        reduce_many_rows<TogetherState<TYPE, TRANSFORM>, TILED>(together.many);                                        \
    }
#define ROWS_OF(NAME, TYPE)                                                                                            \
    ROWS(rows, false, identity_##NAME, TYPE, RD_IDENTITY)                                                              \
    ROWS(rows, false, moments_##NAME, TYPE, RD_MOMENTS)                                                                \
    ROWS(tiles, true, moments_##NAME, TYPE, RD_MOMENTS)

ROWS_OF(f32, float)
ROWS_OF(f64, double)
ROWS_OF(f16, F16)
ROWS_OF(bf16, BF16)
ROWS(tiles, true, identity_f64, double, RD_IDENTITY)
