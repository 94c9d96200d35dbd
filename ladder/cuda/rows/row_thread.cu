// Rung row-thread: a thread per row.
//
// Idea: what one writes first. There are many rows, and each is a loop.
//
//   thread 0   x x x x x x x x      at every step the threads of a warp read 32 addresses, each a whole row from the next
//   thread 1   x x x x x x x x
//
// Phases: walk along the row and add; store.
//
// When it loses: memory is served in pieces of 32 bytes. Neighbouring threads touch different pieces, so that 32 pieces come
// for 32 elements; only if they are still in cache when the loop comes to their other elements are they of use. A few long
// rows leave nearly all of the GPU idle.
#include "rows.cuh"

template <typename T> __device__ void row_thread(const T *input, uint64_t rows, uint64_t columns, T *result) {
    for (uint64_t row = global_thread(); row < rows; row += grid_threads()) {
        T sum = 0;
        for (uint64_t i = 0; i < columns; i++)
            sum += input[row * columns + i];
        result[row] = sum;
    }
}

ROWS(row_thread)
