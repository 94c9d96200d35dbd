// From the sums of waves to the sum of a group, whatever the size of a wave: what the rungs shuffle, warp-reduce and
// one-launch share. Define WAVE_SUM(value) before including this: the sum over the active lanes, needed in the first of
// them alone. In Unity, wave operations need `#pragma use_dxc` and `#pragma require wavebasic wavemath waveballot`.
//
// A wave has 4 to 128 lanes. Two levels, enough for 1024 threads in waves of 32, are too few for 256 threads in waves
// of 4: they leave 64 sums, then 16, then 4. So: as long as more than one value is left, let every wave add up its own.
//
// HLSL has no number for a wave within its group. tid / WaveGetLaneCount() would be one only if the lanes of a wave
// were neighbours by tid, which nothing promises. So each wave draws a slot from a counter. The price: which wave gets
// which slot may change from run to run, and with it the last bits of a sum of floats.

groupshared T slots[GROUP];
groupshared uint slots_taken;

T sum_of_group(T value, uint tid) {
    uint left = GROUP, before = 2 * GROUP; // values, one in each of the first `left` threads
    while (left > 1 && left < before) {
        if (tid == 0)
            slots_taken = 0;
        GroupMemoryBarrierWithGroupSync();
        if (tid < left) {
            T sum = WAVE_SUM(value);
            if (WaveIsFirstLane()) {
                uint slot;
                InterlockedAdd(slots_taken, 1, slot);
                slots[slot] = sum;
            }
        }
        GroupMemoryBarrierWithGroupSync();
        before = left;
        left = slots_taken;
        value = 0;
        if (tid < left)
            value = slots[tid];
        GroupMemoryBarrierWithGroupSync(); // all have read before anything is written again
    }
    // The threads that are left may sit in a wave each: then waves cannot help, and the first thread does.
    if (tid == 0)
        for (uint i = 1; i < left; i++)
            value += slots[i];
    return value;
}
