#version 450
// Rung row-thread: an invocation per row.
//
// Idea: what one writes first. There are many rows, and each is a loop.
//
// Phases: walk along the row and add; store.
//
// When it loses: neighbouring invocations read addresses a whole row apart, so that a piece of memory comes for each element;
// and a few long rows leave nearly all of the GPU idle.
#include "rows.glsl"

void main() {
    if (!HAS_WORK)
        return;
    for (uint row = global_thread; row < rows; row += grid_threads) {
        T sum = T(0);
        for (uint i = 0; i < columns; i++)
            sum += elements[row * columns + i];
        sums[row] = sum;
    }
}
