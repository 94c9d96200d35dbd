#version 450
// Rung row-warp: a subgroup per row.
//
// Idea: a subgroup reads as many neighbouring elements at a time as it has lanes, and adds them up by shuffles. No shared memory,
// no barrier: subgroups of a group do not wait for each other.
//
// Phases: walk and add; lanes_sum() over all lanes; store.
//
// What it fixes: the barriers, and most of the idle invocations of short rows.
//
// When it loses: rows shorter than a subgroup leave lanes idle; few long rows leave most of the GPU idle.
#define SUBGROUPS
#include "rows.glsl"

void main() {
    if (!HAS_WORK)
        return;
    for (uint row = global_subgroup; row < rows; row += grid_subgroups) {
        T sum = T(0);
        for (uint i = gl_SubgroupInvocationID; i < columns; i += gl_SubgroupSize)
            sum += elements[row * columns + i];
        sum = lanes_sum(sum, gl_SubgroupSize);
        if (gl_SubgroupInvocationID == 0)
            sums[row] = sum;
    }
}
