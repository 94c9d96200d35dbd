#pragma kernel mean
// Application mean: add, and divide by n once, at the end. Dividing each element first would round n times. (B)
#define FINISHED(sum) ((sum) / T(n))
#include "../rung.hlsli"

groupshared T values[GROUP];

[numthreads(GROUP, 1, 1)]
void mean(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), end = group < groups ? n : 0;

    T sum = 0;
    for (uint i = group * GROUP + tid; i < end; i += groups * GROUP)
        sum += input[i];

    values[tid] = sum;
    GroupMemoryBarrierWithGroupSync();
    for (uint half_way = GROUP / 2; half_way > 0; half_way /= 2) {
        if (tid < half_way)
            values[tid] += values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
