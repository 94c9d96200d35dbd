// The last values of a tree in shared memory, by one subgroup: what the rung `last-warp` teaches, used again by the
// rungs that keep the tree. Included after rung.glsl, whose values[] they are.
#ifndef LAST_SUBGROUP_GLSL
#define LAST_SUBGROUP_GLSL

#ifdef NO_SUBGROUPS
#define tree_by_last_subgroup() tree_sum()
#define last_subgroup_sum(count) rest_of_tree(count)
T rest_of_tree(uint left) {
    while (left > 1) {
        uint upper = (left + 1) / 2;
        if (tid + upper < left)
            values[tid] += values[tid + upper];
        barrier();
        left = upper;
    }
    return values[0];
}
#else
#include "lanes.glsl"

// Adds up values[0] to values[left - 1], where left is at most twice the size of a subgroup; after a barrier, by
// the whole group. Invocations of a subgroup need not run in step, so that each step ends with a barrier of the
// subgroup: everybody has written before anybody reads. It is next to nothing where they do run in step.
T last_subgroup_sum(uint left) {
    if (gl_SubgroupID == 0) {
        uint lanes = lanes_here();
        while (left > 1) {
            uint upper = (left + 1) / 2;
            for (uint i = gl_SubgroupInvocationID; i + upper < left; i += lanes) // once, if the subgroup is complete
                values[i] += values[i + upper];
            subgroupBarrier();
            left = upper;
        }
    }
    barrier(); // invocation 0 need not be in the first subgroup
    return values[0];
}

// The tree of `halving` from GROUP values down to what two values per lane of a subgroup hold, then that subgroup.
T tree_by_last_subgroup() {
    uint left = GROUP;
    barrier();
    while (left > 2 * gl_SubgroupSize) {
        uint upper = (left + 1) / 2;
        if (tid + upper < left)
            values[tid] += values[tid + upper];
        barrier();
        left = upper;
    }
    return last_subgroup_sum(left);
}
#endif

#endif
