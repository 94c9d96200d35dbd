#pragma kernel first_add
// Rung first-add: the first addition happens while loading.
//
// Idea: a group takes on twice as many elements as it has threads; each thread loads two and adds them in a register.
// Half as many groups do the work - half as many must be dispatched, which is easily forgotten: the sum is right all
// the same, and the time is not.
//
// Phases: load two and add; halving as before; deliver.
//
// What it fixes: threads that only load. The first step of the tree costs no barrier and no groupshared memory any
// more.
//
// When it loses: the tree still has as many steps as before, each with a barrier, and most threads idle in most steps.
//
// Elsewhere: Harris's kernel 4 (A #4, B v3, C 4.0, D opt 01).
#include "rung.hlsli"

groupshared T values[GROUP];

[numthreads(GROUP, 1, 1)]
void first_add(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), i = group * (2 * GROUP) + tid;

    values[tid] = load(i) + load(i + GROUP);
    GroupMemoryBarrierWithGroupSync();

    for (uint active = GROUP; active > 1; active = (active + 1) / 2) {
        uint half_way = (active + 1) / 2;
        if (tid + half_way < active)
            values[tid] += values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
