#version 450
// Specimen partial-warp: a shuffle, and only some lanes there.
//
// The mistake: the group's subgroups have each left a sum, so as many invocations add them up, with shuffles that read
// all lanes of a subgroup (E's second stage). A lane that has not taken the branch has no value to give: what is read is
// undefined.
//
// The repair: let the whole subgroup take part, lanes without a sum contributing zero: group_sum() in group_sum.glsl.
#define SHUFFLES
#include "../rung.glsl"

shared T sums[GROUP];

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i];
    sum = subgroup_sum(sum, lanes_here());
    if (subgroupElect())
        sums[gl_SubgroupID] = sum;
    barrier();
    uint count = GROUP / gl_SubgroupSize;
    if (tid < count) {
        sum = sums[tid];
        for (uint d = gl_SubgroupSize / 2; d > 0; d /= 2)
            sum += subgroupShuffleDown(sum, d);
    }
    deliver(sum);
}
