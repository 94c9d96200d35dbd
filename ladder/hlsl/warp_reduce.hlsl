#pragma kernel warp_reduce
// Rung warp-reduce: let the hardware add up a wave.
//
// Idea: WaveActiveSum() is the sum over the active lanes, in one call: no lane number, no distance, no mask. How it is
// done is the driver's business.
//
// Phases: as in shuffle, with phase 2 in hardware; repeated until one value is left.
//
// What it fixes: code that must know how large a wave is, and which of its lanes are active.
//
// When it loses: the order of additions is the driver's, so the last bits of a float may differ between GPUs and
// drivers.
//
// Elsewhere: D WaveActiveSum.
#include "rung.hlsli"

#define WAVE_SUM(value) WaveActiveSum(value)
#include "waves.hlsli"

[numthreads(GROUP, 1, 1)]
void warp_reduce(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), end = group < groups ? n : 0;

    T sum = 0;
    for (uint i = group * GROUP + tid; i < end; i += groups * GROUP)
        sum += input[i];

    deliver(sum_of_group(sum, tid), group, tid);
}
