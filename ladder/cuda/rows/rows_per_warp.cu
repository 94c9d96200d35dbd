// Rung rows-per-warp: several rows per warp.
//
// Idea: short rows lie next to each other in memory. Cut the warp into groups of 2, 4, 8 or 16 lanes, a row for each; 32
// lanes together still read one piece of memory.
//
//   8 lanes per row:   lanes 0..7 row 0   8..15 row 1   16..23 row 2   24..31 row 3      and three shuffles in place of five
//
// Phases: walk and add; group_sum() over the group's lanes; the first lane of each group stores.
//
// What it fixes: idle lanes where rows are shorter than a warp, and shuffles: fewer per row, for several rows at once.
//
// When it loses: for rows of 32 elements and more it is row-warp.
#include "rows.cuh"

template <unsigned LANES, typename T>
__device__ void rows_per_warp(const T *input, uint64_t rows, uint64_t columns, T *result) {
    constexpr unsigned ROWS_AT_ONCE = 32 / LANES;
    uint64_t warp = global_thread() / 32, warps = grid_threads() / 32;
    unsigned lane = lane_of_warp() % LANES, group = lane_of_warp() / LANES;
    for (uint64_t first = warp * ROWS_AT_ONCE; first < rows; first += warps * ROWS_AT_ONCE) {
        uint64_t row = first + group;
        T sum = 0;
        if (row < rows)
            for (uint64_t i = lane; i < columns; i += LANES)
                sum += input[row * columns + i];
        sum = group_sum<LANES>(sum);
        if (lane == 0 && row < rows)
            result[row] = sum;
    }
}

ROWS_LANES(rows_per_warp, 2)
ROWS_LANES(rows_per_warp, 4)
ROWS_LANES(rows_per_warp, 8)
ROWS_LANES(rows_per_warp, 16)
