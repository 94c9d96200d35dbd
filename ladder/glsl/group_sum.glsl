// A group's sum by subgroups, from register to register: what the rungs `shuffle` and `warp-reduce` teach, and what the
// rungs above them use.
//
// Nothing here depends on how large subgroups are, or knows how many there are: 4 to 128 invocations, 1024 / 4 = 256
// subgroups at most. gl_NumSubgroups is not used, since one driver counts the last, incomplete one in some group sizes
// and not in others; each subgroup says that it is there.
//
// What is relied on besides what lanes.glsl says: a subgroup's reduction reduces. The host tries that, too.
#ifndef GROUP_SUM_GLSL
#define GROUP_SUM_GLSL

#include "lanes.glsl"

#ifdef SHUFFLES
#extension GL_KHR_shader_subgroup_shuffle_relative : require

// The sum over a subgroup, held by its lane 0.
//
//   lane      0   1   2   3 ...  16  17 ...       with 32 lanes:
//   d = 16    0+16 1+17 ...                       the upper half is added to the lower
//   d = 8     0+16+8+24 ...                       and so on down to d = 1
T subgroup_sum(T sum, uint lanes) {
    for (uint d = gl_SubgroupSize / 2; d > 0; d /= 2) {
        T above = subgroupShuffleDown(sum, d);
        if (gl_SubgroupInvocationID + d < lanes) // a lane that does not exist has nothing to give
            sum += above;
    }
    return sum;
}
#else
#extension GL_KHR_shader_subgroup_arithmetic : require

T subgroup_sum(T sum, uint lanes) {
    return subgroupAdd(sum);
}
#endif

shared T slots[GROUP]; // one per subgroup would do, however few lanes it has
shared uint subgroups;
shared T group_total;

T group_sum(T sum) {
    uint lanes = lanes_here();
    if (tid == 0)
        subgroups = 0;
    barrier();
    sum = subgroup_sum(sum, lanes);
    if (subgroupElect()) {
        slots[gl_SubgroupID] = sum;
        atomicMax(subgroups, gl_SubgroupID + 1);
    }
    barrier();
    // The first subgroup adds up what all have left: one slot per lane where lanes are 32, many where they are 4.
    if (gl_SubgroupID == 0) {
        sum = T(0);
        for (uint i = gl_SubgroupInvocationID; i < subgroups; i += lanes)
            sum += slots[i];
        sum = subgroup_sum(sum, lanes);
        if (subgroupElect())
            group_total = sum;
    }
    barrier(); // invocation 0 need not be in the first subgroup
    return group_total;
}

#endif
