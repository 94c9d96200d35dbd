#version 450
// Rung one-launch: the last group finishes the job.
//
// Idea: a second dispatch, and the barrier before it, cost microseconds, in which the memory of a large GPU delivers
// megabytes. Let each group store its sum and draw a ticket from a counter; the group that draws the last one knows that
// all sums are there, and adds them up.
//
// Phases:
//   1. as vector-loads, down to one sum per group
//   2. invocation 0 stores the sum, makes it visible to the whole device (memoryBarrierBuffer) and takes a ticket
//   3. groups that are not last are done
//   4. the last group adds up the sums in a fixed order: the result has the same bits on every run, which a finish by
//      atomics cannot promise for floats
// Steps 2 to 4 are is_last_group() and deliver() in rung.glsl: every other rung can have them too (finish last-block).
//
// What it fixes: the second dispatch; the clearing before an atomic finish.
//
// When it loses: the last group works alone, while the rest of the device idles.
//
// Elsewhere: NVIDIA's sample threadFenceReduction.
#define ADDS
#include "rung.glsl"
#include "vectors.glsl"

void main() {
    if (!HAS_WORK)
        return;
    deliver(group_sum(sum_vectors()));
}
