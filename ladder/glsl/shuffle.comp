#version 450
// Rung shuffle: from register to register.
//
// Idea: the lanes of a subgroup can read each other's registers. A subgroup of 32 reduces itself in five steps without
// shared memory; the group needs a slot per subgroup and a few barriers instead of a slot per invocation and ten.
//
// Phases:
//   1. walk and add, as in grid-stride
//   2. each subgroup reduces itself with subgroupShuffleDown (subgroup_sum, in group_sum.glsl)
//   3. its lane 0 leaves the sum in a slot; barrier; the first subgroup reduces the slots (group_sum)
//   4. deliver
//
// What it fixes: shared memory as a bottleneck, and the space that it takes from other groups.
//
// When it loses: with 4 or 8 lanes, two levels of one step per lane are not enough; a lane of the first subgroup adds up
// many slots there. Who assumes that two levels suffice has the specimen two-levels.
//
// Elsewhere: B shuffle, D shuffle, E warp.
#define SHUFFLES
#include "rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i];

    deliver(group_sum(sum));
}
