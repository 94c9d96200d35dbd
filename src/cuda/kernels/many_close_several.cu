/* Several reductions of rows of f32: see many_close.cuh. */
#include "many_close.cuh"
#include "many_several.cuh"

#define ROWS(NAME, TRANSFORM)                                                                                          \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_CLOSE_SEVERAL)                      \
        together_close_##NAME##_f32(const __grid_constant__ rd_cuda_together together) {                               \
        reduce_close_rows<TogetherState<float, TRANSFORM>>(together.many);                                             \
    }
ROWS(identity, RD_IDENTITY)
ROWS(moments, RD_MOMENTS)
