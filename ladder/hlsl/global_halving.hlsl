#pragma kernel global_halving
// Rung global-halving: i and i + half, in place, in global memory.
//
// Idea: the most direct tree there is. A group owns GROUP neighbouring elements of the input; thread tid adds element
// tid + half to element tid, half is halved, and so on until one is left.
//
//   x0 x1 x2 x3 x4 x5 x6 x7
//   +x4 +x5 +x6 +x7                half = 4
//   +x2 +x3                        half = 2
//   +x1                            half = 1: the group's sum is in x0
//
// Phases: for each halving, add and wait for the group. `half` is rounded up, and the middle one of an odd number waits
// for the next step; so any size of group will do.
//
// When it loses: every halving reads and writes global memory, and a barrier stands between any two. The input is
// destroyed, and has to be bound for writing.
//
// Elsewhere: the CUDA note E calls it native; Harris and A begin with the next rung.
#define INPUT_IS_DESTROYED
#include "rung.hlsli"

[numthreads(GROUP, 1, 1)]
void global_halving(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), i = group * GROUP + tid;
    uint end = group < groups ? n : 0;

    for (uint active = GROUP; active > 1; active = (active + 1) / 2) {
        uint half_way = (active + 1) / 2; // `half` is a type in HLSL
        if (tid + half_way < active && i + half_way < end)
            input[i] += input[i + half_way];
        AllMemoryBarrierWithGroupSync(); // the group's barrier for groupshared memory would not order these
    }
    T sum = 0;
    if (tid == 0 && i < end)
        sum = input[i];
    deliver(sum, group, tid);
}
