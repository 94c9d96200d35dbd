#version 450
// Rung rows-per-warp: several rows per subgroup.
//
// Idea: short rows lie next to each other in memory. Cut the subgroup into groups of LANES lanes, a row for each; all of them
// together still read one piece of memory.
//
// Phases: walk and add; lanes_sum() over LANES lanes; the first of each store.
//
// What it fixes: idle lanes where rows are shorter than a subgroup, and shuffles: fewer per row, for several rows at once.
//
// When it loses: for rows as long as a subgroup and longer it is row-warp.
#define SUBGROUPS
#include "rows.glsl"

void main() {
    if (!HAS_WORK)
        return;
    uint at_once = gl_SubgroupSize / LANES, lane = gl_SubgroupInvocationID % LANES;
    for (uint first = global_subgroup * at_once; first < rows; first += grid_subgroups * at_once) {
        uint row = first + gl_SubgroupInvocationID / LANES;
        T sum = T(0);
        if (row < rows)
            for (uint i = lane; i < columns; i += LANES)
                sum += elements[row * columns + i];
        sum = lanes_sum(sum, LANES); // all lanes come, also those without a row
        if (lane == 0 && row < rows)
            sums[row] = sum;
    }
}
