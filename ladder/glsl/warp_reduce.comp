#version 450
// Rung warp-reduce: let the driver add up a subgroup.
//
// Idea: subgroupAdd() is one call for every type; hardware that has an instruction for it uses that, and other hardware
// what its driver's authors found to be best.
//
// Phases: as in shuffle, with subgroupAdd() for phases 2 and 3.
//
// What it fixes: a loop to write, and its steps where there is such an instruction.
//
// When it loses: in which order the lanes of a subgroup are added is the driver's choice, so that results of floats
// differ from device to device.
//
// Elsewhere: D WaveActiveSum.
#define ADDS
#include "rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i];

    deliver(group_sum(sum));
}
