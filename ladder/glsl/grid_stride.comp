#version 450
// Rung grid-stride: a fixed number of groups, many elements per invocation.
//
// Idea: dispatch as many groups as the device holds at once and no more; every invocation walks over the array in steps
// of all of them, adding in a register. The tree comes once per invocation, not once per element.
//
//   element      0 1 2 3 | 4 5 6 7 | 8 9 ...       four invocations in all:
//   invocation   0 1 2 3 | 0 1 2 3 | 0 1 ...       lanes stay next to each other in memory
//
// Phases: walk and add; tree with the last subgroup; deliver.
//
// What it fixes: nearly all of the cost of trees, barriers and starting groups; the number of partial sums no longer
// grows with n.
//
// When it loses: each invocation has one load under way at a time unless the compiler unrolls; small n leaves most of
// the groups idle. And Vulkan does not say how many groups a device holds at once: that is known for some, and a guess
// elsewhere.
//
// Elsewhere: Harris's kernel 7 (A #7).
#include "rung.glsl"
#include "last_subgroup.glsl"

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i];

    values[tid] = sum;
    deliver(tree_by_last_subgroup());
}
