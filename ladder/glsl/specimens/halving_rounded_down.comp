#version 450
// Specimens halving-rounded-down, and against n (AGAINST_N): group sizes that are not powers of two.
//
// The mistake: s = GROUP / 2, s / 2 and so on loses an element wherever s is odd: 96 invocations go 48, 24, 12, 6, 3, 1
// and one third of the sum is gone. B's remedy is a check against n, the length of the array, where the size of the
// group is at stake: it changes nothing but in the last group.
//
// The repair: round up, as the rung halving does; or dispatch powers of two only.
#include "../rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    values[tid] = load(global_thread);
    barrier();
    for (uint s = GROUP / 2; s > 0; s /= 2) {
#ifdef AGAINST_N
        if (tid < s && global_thread + s < n)
#else
        if (tid < s)
#endif
            values[tid] += values[tid + s];
        barrier();
    }
    deliver(values[0]);
}
