#version 450
// Rung unrolled: no loop at all.
//
// Idea: when the compiler knows the group's size, every `if (GROUP >= 512)` is decided while compiling, and the tree
// becomes a straight line of code. CUDA needs a template and a kernel for each size; in Vulkan the size is a
// specialisation constant, and the driver compiles when it is known.
//
// Phases: load two and add; the tree, written out; the last subgroup.
//
// What it fixes: loop counters, addresses and branches, which Harris found to be the bottleneck by then.
//
// When it loses: only powers of two can be written out (any other size runs the loop of last-warp). Compilers unroll
// short loops by themselves today, and the kernel waits for memory anyway.
//
// Elsewhere: Harris's kernel 6 (A #6, B v5, D loop unroll).
#include "rung.glsl"
#include "last_subgroup.glsl"

void add_upper(uint upper) {
    if (tid < upper)
        values[tid] += values[tid + upper];
    barrier();
}

void main() {
    if (!HAS_WORK)
        return;
    uint i = group * (2 * GROUP) + tid;
    values[tid] = load(i) + load(i + GROUP);

    if ((GROUP & (GROUP - 1)) != 0) {
        deliver(tree_by_last_subgroup());
        return;
    }
    barrier();
#ifdef NO_SUBGROUPS
    const uint alone = 1;
#else
    const uint alone = 2 * gl_SubgroupSize; // that many values are left to the last subgroup
#endif
    if (GROUP >= 1024 && alone < 1024)
        add_upper(512);
    if (GROUP >= 512 && alone < 512)
        add_upper(256);
    if (GROUP >= 256 && alone < 256)
        add_upper(128);
    if (GROUP >= 128 && alone < 128)
        add_upper(64);
    if (GROUP >= 64 && alone < 64)
        add_upper(32);
    if (GROUP >= 32 && alone < 32)
        add_upper(16);
    if (GROUP >= 16 && alone < 16)
        add_upper(8);
    deliver(last_subgroup_sum(min(GROUP, max(alone, 8))));
}
