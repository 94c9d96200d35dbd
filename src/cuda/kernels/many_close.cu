/* Sums of rows of f32: see many_close.cuh. */
#include "many_close.cuh"

#define ROWS(NAME, TRANSFORM)                                                                                          \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, RD_CUDA_RESIDENT_CLOSE)                              \
        many_close_##NAME(const __grid_constant__ rd_cuda_many many) {                                                 \
        reduce_close_rows<SumState<float, TRANSFORM>>(many);                                                           \
    }
ROWS(identity, RD_IDENTITY)
ROWS(absolute, RD_ABSOLUTE)
ROWS(square, RD_SQUARE)
ROWS(times, RD_TIMES)
ROWS(moments, RD_MOMENTS)
