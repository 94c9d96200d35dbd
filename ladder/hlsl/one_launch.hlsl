#pragma kernel one_launch
// Rung one-launch: the last group finishes the job.
//
// Idea: another dispatch costs microseconds, in which the memory of a large GPU delivers megabytes. Let each group
// store its sum and draw a ticket from a counter; the group that draws the last one knows that all sums are there, and
// adds them up. No group waits for another, which might not have begun.
//
// Phases:
//   1. walk and add, four elements at a time, so that four loads are under way; waves add up the group's sums
//   2. thread 0 stores the group's sum, makes it visible to the whole device (DeviceMemoryBarrier) and takes a ticket
//   3. groups that are not last are done
//   4. the last group adds up the sums in a fixed order; the sums themselves may differ in their last bits from run to run,
//      as waves.hlsli says
// Steps 2 to 4 are in rung.hlsli, as WAY_LAST: every other rung can have them too.
//
// What it fixes: the second dispatch; the clearing before an atomic finish.
//
// When it loses: the last group works alone, while the rest of the device idles: few groups, so that few sums are left.
//
// Elsewhere: NVIDIA's sample threadFenceReduction.
#ifndef WAY
#define WAY 2 // WAY_LAST
#endif
#include "rung.hlsli"

#define WAVE_SUM(value) WaveActiveSum(value)
#include "waves.hlsli"

[numthreads(GROUP, 1, 1)]
void one_launch(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id), step = groups * GROUP, end = group < groups ? n : 0, i = group * GROUP + tid;

    T a = 0, b = 0, c = 0, d = 0;
    for (; i + 3 * step < end; i += 4 * step) {
        T at_i = input[i], at_1 = input[i + step], at_2 = input[i + 2 * step], at_3 = input[i + 3 * step];
        a += at_i;
        b += at_1;
        c += at_2;
        d += at_3;
    }
    for (; i < end; i += step)
        a += input[i];

    deliver(sum_of_group((a + b) + (c + d), tid), group, tid);
}
