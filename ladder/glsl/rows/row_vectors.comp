#version 450
// Rung row-vectors: 16 bytes per load.
//
// Idea: as rows-per-warp, but each lane reads 16 bytes at a time, and asks for four such vectors before it adds.
//
// Phases: walk and add, vector by vector; lanes_sum() over the row's lanes; store.
//
// What it fixes: too few bytes under way, as in vector-loads.
//
// When it loses: each row must begin at a multiple of 16 bytes, so the length of a row must be a multiple of 16 bytes, too.
#define SUBGROUPS
#include "rows.glsl"
#include "../vector_type.glsl"
#extension GL_EXT_control_flow_attributes : require

#define LOADS 4

// The same memory as `elements`, seen as vectors.
layout(set = 0, binding = 0) readonly buffer Vectors { V vectors[]; };

void main() {
    if (!HAS_WORK)
        return;
    uint at_once = gl_SubgroupSize / LANES, lane = gl_SubgroupInvocationID % LANES, count = columns / PER_VECTOR;
    for (uint first = global_subgroup * at_once; first < rows; first += grid_subgroups * at_once) {
        uint row = first + gl_SubgroupInvocationID / LANES;
        V sum[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; k++)
            sum[k] = V(0);
        for (uint i = lane; row < rows && i < count; i += LOADS * LANES) {
            V loaded[LOADS];
            [[unroll]] for (uint k = 0; k < LOADS; k++)
                loaded[k] = i + k * LANES < count ? vectors[row * count + i + k * LANES] : V(0);
            [[unroll]] for (uint k = 0; k < LOADS; k++)
                sum[k] += loaded[k];
        }
        T mine = (sum_of(sum[0]) + sum_of(sum[1])) + (sum_of(sum[2]) + sum_of(sum[3]));
        mine = lanes_sum(mine, LANES);
        if (lane == 0 && row < rows)
            sums[row] = mine;
    }
}
