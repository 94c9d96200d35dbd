#pragma kernel last_warp
// Rung last-warp: the last 64 values, as HLSL allows it.
//
// Idea: once 64 values are left, 32 threads do all that remains, and need not wait for the rest of the group. CUDA can
// say that (__syncwarp) and so can GLSL (subgroupBarrier). HLSL has no barrier smaller than the group's: a wave can
// exchange registers, which the rung shuffle does, but it cannot wait for what its lanes write to memory.
//
// Phases: load two and add; halve down to 64 values; the last steps written out, each with the barrier of the whole
// group.
//
// What it fixes: the specimen last-warp-implicit, which leaves the barriers out and is wrong.
//
// When it loses: it has nothing over first-add but a loop that is written out. That is what the specimen's gain was
// worth without its mistake.
//
// Elsewhere: Harris's kernel 5 (A #5, B v4, C 5.0, D warp unroll), without the barriers.
#include "rung.hlsli"

groupshared T values[GROUP];

void add_last(uint tid, uint s, uint left) {
    if (tid < s && tid + s < left)
        values[tid] += values[tid + s];
    GroupMemoryBarrierWithGroupSync();
}

[numthreads(GROUP, 1, 1)]
void last_warp(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), i = group * (2 * GROUP) + tid;

    values[tid] = load(i) + load(i + GROUP);
    GroupMemoryBarrierWithGroupSync();

    uint active = GROUP;
    for (; active > 64; active = (active + 1) / 2) {
        uint half_way = (active + 1) / 2;
        if (tid + half_way < active)
            values[tid] += values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    add_last(tid, 32, active);
    add_last(tid, 16, active);
    add_last(tid, 8, active);
    add_last(tid, 4, active);
    add_last(tid, 2, active);
    add_last(tid, 1, active);
    deliver(values[0], group, tid);
}
