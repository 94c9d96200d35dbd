#pragma kernel shuffle
// Rung shuffle: from register to register.
//
// Idea: the lanes of a wave can read each other's registers (shader model 6, 2016). A wave of 32 reduces itself in five
// steps without memory or barrier; a group of 1024 threads needs 32 slots of groupshared memory instead of 1024.
//
//   lane      0   1   2   3 ...  16  17 ...
//   d = 16    0+16 1+17 ...                     the upper half is added to the lower
//   d = 8     0+16+8+24 ...                     and so on down to d = 1
//
// Phases:
//   1. walk and add, as in grid-stride
//   2. each wave reduces itself with WaveReadLaneAt
//   3. its first lane leaves the wave's sum in a slot; as long as there is more than one, waves add up the slots
//   4. deliver
//
// What it fixes: groupshared memory as a bottleneck, and the space that it takes from other groups.
//
// When it loses: a register of a lane that is not active must not be read, nor one beyond the last: what comes back is
// undefined. Hence the comparison with the number of active lanes, which are taken to be the first ones of the wave.
//
// Elsewhere: B shuffle, D shuffle, E warp.
#include "rung.hlsli"

T shuffled_sum(T value) {
    uint lane = WaveGetLaneIndex(), active = WaveActiveCountBits(true);
    for (uint d = WaveGetLaneCount() / 2; d > 0; d /= 2) {
        bool is_there = lane + d < active;
        T above = WaveReadLaneAt(value, is_there ? lane + d : lane);
        if (is_there)
            value += above;
    }
    return value;
}

#define WAVE_SUM(value) shuffled_sum(value)
#include "waves.hlsli"

[numthreads(GROUP, 1, 1)]
void shuffle(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), end = group < groups ? n : 0;

    T sum = 0;
    for (uint i = group * GROUP + tid; i < end; i += groups * GROUP)
        sum += input[i];

    deliver(sum_of_group(sum, tid), group, tid);
}
