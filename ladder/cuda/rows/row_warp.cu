// Rung row-warp: a warp per row.
//
// Idea: a warp reads 32 neighbouring elements at a time, and adds up its lanes by shuffles. No shared memory, no barrier:
// warps of a block do not wait for each other.
//
// Phases: walk and add; group_sum() over 32 lanes; store.
//
// What it fixes: the barriers, and most of the idle threads of short rows.
//
// When it loses: rows shorter than 32 elements leave lanes idle; few long rows leave multiprocessors idle.
#include "rows.cuh"

template <typename T> __device__ void row_warp(const T *input, uint64_t rows, uint64_t columns, T *result) {
    uint64_t warp = global_thread() / 32, warps = grid_threads() / 32;
    for (uint64_t row = warp; row < rows; row += warps) {
        T sum = 0;
        for (uint64_t i = lane_of_warp(); i < columns; i += 32)
            sum += input[row * columns + i];
        sum = group_sum<32>(sum);
        if (lane_of_warp() == 0)
            result[row] = sum;
    }
}

ROWS(row_warp)
