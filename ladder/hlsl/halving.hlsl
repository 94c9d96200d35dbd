#pragma kernel halving
// Rung halving: neighbouring threads, neighbouring memory.
//
// Idea: pair element tid with element tid + half, and halve. Lanes of a wave then read words next to each other.
//
//   half = 4     0+4   1+5   2+6   3+7
//   half = 2     +(2+6)  +(3+7)
//   half = 1     0..7
//
// Phases: as before.
//
// What it fixes: bank conflicts. Any order of additions is as good as any other for a sum, so choose the one that suits
// the memory.
//
// When it loses: half of the threads do nothing but load one element each.
//
// Elsewhere: Harris's kernel 3 (A #3, B v2, C 3.0, D naive, E shared).
#include "rung.hlsli"

groupshared T values[GROUP];

[numthreads(GROUP, 1, 1)]
void halving(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id);

    values[tid] = load(group * GROUP + tid);
    GroupMemoryBarrierWithGroupSync();

    for (uint active = GROUP; active > 1; active = (active + 1) / 2) {
        uint half_way = (active + 1) / 2; // rounded up, so that a group of 96 loses nothing: 48, 24, 12, 6, 3, 2, 1
        if (tid + half_way < active)
            values[tid] += values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
