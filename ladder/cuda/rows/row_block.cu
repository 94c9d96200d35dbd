// Rung row-block: a block per row.
//
// Idea: take the best kernel for one array, and run it once per row: the block walks along the row, neighbouring threads at
// neighbouring elements, and adds up what its threads have.
//
// Phases: walk and add; block_sum() of the rung shuffle; a barrier, as the next row uses the same slots.
//
// What it fixes: neighbouring threads read neighbouring memory.
//
// When it loses: a row of 64 elements keeps 64 of 256 threads busy for one addition each, and then all wait at two
// barriers. From a few thousand elements per row on, that hardly shows.
#include "rows.cuh"

template <typename T> __device__ void row_block(const T *input, uint64_t rows, uint64_t columns, T *result) {
    for (uint64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        T sum = 0;
        for (uint64_t i = threadIdx.x; i < columns; i += blockDim.x)
            sum += input[row * columns + i];
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            result[row] = sum;
        __syncthreads();
    }
}

ROWS(row_block)
