#version 450
// Rung row-block: a group per row.
//
// Idea: take a good kernel for one array, and run it once per row: the group walks along the row, neighbouring invocations at
// neighbouring elements, and adds up what they have by a tree (tree.glsl).
//
// Phases: walk and add; group_sum(); a barrier, as the next row uses the same shared memory.
//
// What it fixes: neighbouring invocations read neighbouring memory.
//
// When it loses: a row of 64 elements keeps 64 of 256 invocations busy for one addition each, and then all wait at barriers.
#include "rows.glsl"
#include "../tree.glsl"

void main() {
    if (!HAS_WORK)
        return;
    for (uint row = group; row < rows; row += groups) {
        T sum = T(0);
        for (uint i = tid; i < columns; i += GROUP)
            sum += elements[row * columns + i];
        sum = group_sum(sum);
        if (tid == 0)
            sums[row] = sum;
        barrier();
    }
}
