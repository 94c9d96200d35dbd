#pragma kernel unrolled
// Rung unrolled: no loop at all.
//
// Idea: GROUP is a #define, so the compiler knows every step of the tree. Written one after the other, with every `if`
// that is decided by GROUP alone gone, the tree becomes a straight line of code.
//
// Phases: load two and add; the tree, written out; deliver.
//
// What it fixes: loop counters, addresses and branches, which Harris found to be the bottleneck by then.
//
// When it loses: one kernel per group size. FXC and DXC do the same for a loop with [unroll] before it; glslang only
// passes the wish on, and not every driver grants it. D found no difference, because the driver had already done it.
//
// Elsewhere: Harris's kernel 6 (A #6, B v5, D loop unroll).
#include "rung.hlsli"

groupshared T values[GROUP];

// One step: `active` values become half as many, rounded up. It is a constant, and nothing is left of this for 1.
void halve(uint tid, uint active) {
    if (active <= 1)
        return;
    uint half_way = (active + 1) / 2;
    if (tid + half_way < active)
        values[tid] += values[tid + half_way];
    GroupMemoryBarrierWithGroupSync();
}

#define HALVED(times) ((GROUP + (1 << (times)) - 1) >> (times))

[numthreads(GROUP, 1, 1)]
void unrolled(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), i = group * (2 * GROUP) + tid;

    values[tid] = load(i) + load(i + GROUP);
    GroupMemoryBarrierWithGroupSync();

    halve(tid, HALVED(0));
    halve(tid, HALVED(1));
    halve(tid, HALVED(2));
    halve(tid, HALVED(3));
    halve(tid, HALVED(4));
    halve(tid, HALVED(5));
    halve(tid, HALVED(6));
    halve(tid, HALVED(7));
    halve(tid, HALVED(8));
    halve(tid, HALVED(9)); // of 1024 threads, two are left
    deliver(values[0], group, tid);
}
