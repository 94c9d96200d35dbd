// Rung column-tiles: sums of columns, by tiles.
//
// Idea: the sum of a column takes one element from each row. A thread per column reads well, since neighbouring threads have
// neighbouring columns; but a matrix of 64 columns would keep 64 threads busy. So cut it into tiles of 32 columns and some
// hundred rows: each block takes one, a warp per row of the tile, and leaves 32 sums.
//
//   columns   0..31   32..63            one block per tile
//   rows 0..  [tile]  [tile]            warp w adds rows w, w + 8, w + 16 ... of its tile: lane = column
//   rows k..  [tile]  [tile]            then the eight warps add up what they have, in shared memory
//
// Phases:
//   1. each thread walks down its column of the tile, eight rows at a time
//   2. eight sums per column meet in shared memory; the first warp adds them and stores one sum per column and tile
//   3. a second launch adds up the tiles of each column, a thread per column
//
// What it fixes: there are enough blocks whatever the shape, and every access is to 32 neighbouring elements.
//
// When it loses: less than 32 columns leave lanes idle.
#include "rows.cuh"

constexpr unsigned TILE = 32, WARPS = 8;

// `result` is one row of sums for each of the tiles that lie above each other.
template <typename T> __device__ void column_tiles(const T *input, uint64_t rows, uint64_t columns, T *result) {
    __shared__ T sums[WARPS][TILE];
    uint64_t across = (columns + TILE - 1) / TILE, down = gridDim.x / across;
    uint64_t chunk = blockIdx.x / across, column = blockIdx.x % across * TILE + lane_of_warp();
    uint64_t first = rows / down * chunk, last = chunk + 1 == down ? rows : first + rows / down;
    unsigned warp = threadIdx.x / 32;

    T sum = 0;
    for (uint64_t row = first + warp; column < columns && row < last; row += WARPS)
        sum += input[row * columns + column];
    sums[warp][lane_of_warp()] = sum;
    __syncthreads();
    if (warp > 0 || column >= columns)
        return;
    for (unsigned w = 1; w < WARPS; w++)
        sum += sums[w][lane_of_warp()];
    result[chunk * columns + column] = sum;
}

// A thread per column adds up the tiles: here `rows` is how many lie above each other.
template <typename T> __device__ void column_finish(const T *tiles, uint64_t rows, uint64_t columns, T *result) {
    for (uint64_t column = global_thread(); column < columns; column += grid_threads()) {
        T sum = 0;
        for (uint64_t row = 0; row < rows; row++)
            sum += tiles[row * columns + column];
        result[column] = sum;
    }
}

ROWS(column_tiles)
ROWS(column_finish)
