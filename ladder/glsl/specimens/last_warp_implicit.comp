#version 450
// Specimen last-warp-implicit: the last 64 values by 32 invocations without synchronisation.
//
// The mistake: `if (tid < 32)` six additions follow each other with nothing in between, as if 32 invocations ran in
// step. They are one subgroup on some devices, four or eight on others; and even a subgroup's invocations need not run
// in step, nor must a compiler keep loads behind stores of other invocations. A #5, C 5.0 and D have it; C and D report
// wrong sums.
//
// The repair: the rung last-warp, which asks how large a subgroup is, and waits.
#include "../rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    uint i = group * (2 * GROUP) + tid;
    values[tid] = load(i) + load(i + GROUP);
    barrier();
    for (uint s = GROUP / 2; s > 32; s /= 2) {
        if (tid < s)
            values[tid] += values[tid + s];
        barrier();
    }
    if (tid < 32) {
        values[tid] += values[tid + 32];
        values[tid] += values[tid + 16];
        values[tid] += values[tid + 8];
        values[tid] += values[tid + 4];
        values[tid] += values[tid + 2];
        values[tid] += values[tid + 1];
    }
    deliver(values[0]);
}
