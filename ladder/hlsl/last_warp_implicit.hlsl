#pragma kernel last_warp_implicit
// Specimen last-warp-implicit: the last wave without synchronisation.
//
// The mistake: six additions follow each other with nothing in between, as if the 32 threads that are left ran in step.
// HLSL has never promised that. A wave has 4 to 128 lanes, so that the 32 threads may belong to eight waves; the lanes
// of one wave need not run in step either; and the compiler may keep values[tid] in a register, or move a read of
// another thread's value before that thread's write. There is no `volatile` that would make it less wrong.
//
// The repair: the rung last-warp, or better, shuffle.
//
// Elsewhere: Harris's kernel 5 (A #5, B v4, C 5.0, D warp unroll); C and D report wrong sums.
#include "rung.hlsli"

#if GROUP < 64
groupshared T values[64]; // so that what they read at least exists
#else
groupshared T values[GROUP];
#endif

[numthreads(GROUP, 1, 1)]
void last_warp_implicit(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), i = group * (2 * GROUP) + tid;

    values[tid] = load(i) + load(i + GROUP);
    GroupMemoryBarrierWithGroupSync();

    for (uint s = GROUP / 2; s > 32; s /= 2) {
        if (tid < s)
            values[tid] += values[tid + s];
        GroupMemoryBarrierWithGroupSync();
    }
    if (tid < 32) {
        if (GROUP >= 64)
            values[tid] += values[tid + 32];
        if (GROUP >= 32)
            values[tid] += values[tid + 16];
        values[tid] += values[tid + 8];
        values[tid] += values[tid + 4];
        values[tid] += values[tid + 2];
        values[tid] += values[tid + 1];
    }
    deliver(values[0], group, tid);
}
