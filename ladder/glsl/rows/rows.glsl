// What the ladder of rows shares. A matrix lies in memory row by row, `columns` elements each; every shader here leaves one sum
// per row (or, in column_tiles.comp, per column). There is no finish: each sum belongs to one invocation in the end.
//
// Groups have 256 invocations, which are whole subgroups, however large a device has them; what CUDA says of a warp is said of
// a subgroup. A subgroup of 4 lanes has as many rows as one of 64 in which 16 groups of 4 lanes have one each.
#ifndef ROWS_GLSL
#define ROWS_GLSL

#include "../types.glsl"

layout(constant_id = 1) const uint LANES = 1; // that share a row, where the rung lets the host choose: a power of two

layout(push_constant) uniform Push {
    uint rows;
    uint columns;
    uint groups;  // that have work: see rung.glsl
    uint in_line; // groups in a line of the dispatch
};
layout(set = 0, binding = 0) readonly buffer Elements { T elements[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { T sums[]; };

#define group (gl_WorkGroupID.y * in_line + gl_WorkGroupID.x)
#define HAS_WORK (group < groups)
#define global_thread (group * GROUP + tid)
#define grid_threads (groups * GROUP)

#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require

// The number of this subgroup among all, and how many those are.
#define global_subgroup (group * gl_NumSubgroups + gl_SubgroupID)
#define grid_subgroups (groups * gl_NumSubgroups)

// The sum over each `lanes` neighbouring lanes, a power of two, held by the first of them. All lanes of the subgroup must come:
// what the upper ones get from the neighbours above is thrown away.
T lanes_sum(T sum, uint lanes) {
    for (uint d = lanes / 2; d > 0; d /= 2)
        sum += subgroupShuffleDown(sum, d);
    return sum;
}
#endif

#endif
