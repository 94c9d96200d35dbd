#version 450
// Rung neighbour-strided: the same pairs, by invocations that are neighbours.
//
// Idea: who adds does not matter, so let the first invocations do it: tid takes the pair that begins at 2 s tid.
//
//   s = 1     invocation 0: 0+1    1: 2+3    2: 4+5    3: 6+7
//   s = 2     invocation 0: 0..3   1: 4..7
//   s = 4     invocation 0: 0..7
//
// Phases: as before.
//
// What it fixes: whole subgroups work or are done, and the modulo is gone.
//
// When it loses: invocation tid reads word 2 s tid. Where shared memory has banks (32 on most GPUs), lanes of a
// subgroup meet in the same ones, and are served one after the other. A CPU that plays a GPU has none.
//
// Elsewhere: Harris's kernel 2 (A #2, C 2.0).
#include "rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    values[tid] = load(global_thread);
    barrier();

    for (uint s = 1; s < GROUP; s *= 2) {
        uint index = 2 * s * tid;
        if (index + s < GROUP)
            values[index] += values[index + s];
        barrier();
    }
    deliver(values[0]);
}
