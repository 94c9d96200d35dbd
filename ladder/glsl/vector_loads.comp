#version 450
// Rung vector-loads: ask for more at once.
//
// Idea: memory is far away but wide. An invocation that loads 16 bytes at a time, four times before it adds anything,
// keeps sixteen times as many bytes on their way as one that loads a float and adds it.
//
// Phases: walk with four 16-byte loads in flight into four sums (sum_vectors, in vectors.glsl); then as warp-reduce.
//
// What it fixes: the wait for memory, which is what is left of the time. From here on the limit is the memory itself.
//
// When it loses: arrays that do not begin at a multiple of 16 bytes need a prologue; Vulkan's bindings always do.
//
// Elsewhere: none of the tutorials goes here; CUB does.
#define ADDS
#include "rung.glsl"
#include "vectors.glsl"

void main() {
    if (!HAS_WORK)
        return;
    deliver(group_sum(sum_vectors()));
}
