// How many lanes this subgroup has. Not gl_SubgroupSize: the last subgroup of a group that is no multiple of it is incomplete,
// and without the flag for full subgroups a driver may leave lanes out elsewhere.
//
// What is relied on: the lanes that exist are those with the lowest numbers. The host tries it before it trusts a driver, and
// takes the variant without subgroups otherwise.
#ifndef LANES_GLSL
#define LANES_GLSL

#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require

uint lanes_here() {
    return subgroupBallotBitCount(subgroupBallot(true));
}

#endif
