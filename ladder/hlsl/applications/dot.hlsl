#pragma kernel dot_product
// Application dot: multiply pairs, add. The second array follows the first in the same buffer: elements n to 2 n - 1. (B)
//
// `dot` itself is a word of HLSL, for vectors of four at most.
#include "../rung.hlsli"

groupshared T values[GROUP];

[numthreads(GROUP, 1, 1)]
void dot_product(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), end = group < groups ? n : 0;

    T sum = 0;
    for (uint i = group * GROUP + tid; i < end; i += groups * GROUP)
        sum += input[i] * input[n + i];

    values[tid] = sum;
    GroupMemoryBarrierWithGroupSync();
    for (uint half_way = GROUP / 2; half_way > 0; half_way /= 2) {
        if (tid < half_way)
            values[tid] += values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
