// What the ladder of rows shares. A matrix lies in memory row by row, `columns` elements each; every kernel here leaves one
// sum per row (or, in column_tiles.cu, per column). There is no finish: each sum belongs to one thread in the end.
#pragma once

#include "../rung.cuh"

// Blocks have whole warps.
__device__ inline unsigned lane_of_warp() {
    return threadIdx.x % 32;
}

// The sum over each LANES neighbouring lanes of a warp, a power of two, held by the first of them. All lanes of the warp must
// come: what the upper ones of a group get from the group above is thrown away.
template <unsigned LANES, typename T> __device__ T group_sum(T sum) {
#pragma unroll
    for (unsigned d = LANES / 2; d > 0; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    return sum;
}

// The kernels of a rung for each type: NAME_f32 and so on.
#define ROWS_KERNEL(NAME, FUNCTION, TYPE)                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        NAME(const TYPE *input, uint64_t rows, uint64_t columns, TYPE *result) {                                       \
        FUNCTION(input, rows, columns, result);                                                                        \
    }
#define ROWS(NAME)                                                                                                     \
    ROWS_KERNEL(NAME##_i32, NAME<i32>, i32)                                                                            \
    ROWS_KERNEL(NAME##_f32, NAME<f32>, f32)                                                                            \
    ROWS_KERNEL(NAME##_f64, NAME<f64>, f64)

// The same for each number of lanes: NAME_f32_8 and so on.
#define ROWS_LANES(NAME, LANES)                                                                                        \
    ROWS_KERNEL(NAME##_i32_##LANES, (NAME<LANES, i32>), i32)                                                           \
    ROWS_KERNEL(NAME##_f32_##LANES, (NAME<LANES, f32>), f32)                                                           \
    ROWS_KERNEL(NAME##_f64_##LANES, (NAME<LANES, f64>), f64)
