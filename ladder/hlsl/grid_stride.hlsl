#pragma kernel grid_stride
// Rung grid-stride: a fixed number of groups, many elements per thread.
//
// Idea: dispatch about as many groups as the device holds at once and no more; every thread walks over the array in
// steps of all threads there are, adding in a register. The tree comes once per thread, not once per element.
//
//   element   0 1 2 3 | 4 5 6 7 | 8 9 ...       four threads in all:
//   thread    0 1 2 3 | 0 1 2 3 | 0 1 ...       lanes stay next to each other in memory
//
// Phases: walk and add; tree; deliver.
//
// What it fixes: nearly all of the cost of trees, barriers and groups; the number of sums no longer grows with n.
//
// When it loses: each thread has one load under way at a time unless the compiler unrolls; small n leaves most threads
// idle. And a kernel cannot ask how many groups there are: HLSL has no gridDim, so the number is a constant that must
// agree with the dispatch. If it does not, elements are added twice or not at all.
//
// Elsewhere: Harris's kernel 7 (A #7).
#include "rung.hlsli"

groupshared T values[GROUP];

[numthreads(GROUP, 1, 1)]
void grid_stride(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), end = group < groups ? n : 0;

    T sum = 0;
    for (uint i = group * GROUP + tid; i < end; i += groups * GROUP)
        sum += input[i];

    values[tid] = sum;
    GroupMemoryBarrierWithGroupSync();
    for (uint active = GROUP; active > 1; active = (active + 1) / 2) {
        uint half_way = (active + 1) / 2;
        if (tid + half_way < active)
            values[tid] += values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
