#version 450
// Specimen two-levels: a second reduction by one subgroup, assumed to suffice.
//
// The mistake: 32 lanes, and at most 1024 invocations: two levels always do, on NVIDIA's hardware. Elsewhere subgroups
// have 4 or 8 lanes: there 256 invocations leave 64 or 32 sums, and one subgroup adds up 4 or 8 of them. D sets this as
// an exercise.
//
// The repair: as many steps as it takes: group_sum() in group_sum.glsl.
#define ADDS
#include "../rung.glsl"

shared T sums[GROUP];

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i];
    sum = subgroupAdd(sum);
    if (subgroupElect())
        sums[gl_SubgroupID] = sum;
    barrier();
    if (gl_SubgroupID == 0) {
        uint lane = gl_SubgroupInvocationID;
        sum = subgroupAdd(lane < GROUP / gl_SubgroupSize ? sums[lane] : T(0));
    }
    deliver(sum);
}
