#pragma kernel neighbour_strided
// Rung neighbour-strided: the same pairs, added by threads that are neighbours.
//
// Idea: who adds a pair does not matter, so let the first threads do it: thread 0 the first pair, thread 1 the second.
//
//   s = 1     thread 0: 0+1    thread 1: 2+3    thread 2: 4+5    thread 3: 6+7
//   s = 2     thread 0: 0..3   thread 1: 4..7
//   s = 4     thread 0: 0..7
//
// Phases: as before.
//
// What it fixes: waves are busy or done, not half of each.
//
// When it loses: threads read groupshared memory in steps of 2 s. It is built as banks, 32 on most GPUs; with s = 16
// all lanes of a wave want the same one, and are served one after the other.
//
// Elsewhere: Harris's kernel 2 (A #2, C 2.0).
#include "rung.hlsli"

groupshared T values[GROUP];

[numthreads(GROUP, 1, 1)]
void neighbour_strided(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id);

    values[tid] = load(group * GROUP + tid);
    GroupMemoryBarrierWithGroupSync();

    for (uint s = 1; s < GROUP; s *= 2) {
        uint index = 2 * s * tid;
        if (index + s < GROUP)
            values[index] += values[index + s];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
