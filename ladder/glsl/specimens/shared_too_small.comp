#version 450
// Specimen shared-too-small, and its repair (SIZED_RIGHT): shared memory sized for another group.
//
// The mistake: a kernel keeps two arrays in shared memory, sums and counts, and places the second where the first would
// end if a group had 128 invocations. Dispatched with more, the arrays overlap: some of the counts are written over
// sums.
//
// The repair: the place from GROUP, which is what the group has.
#include "../rung.glsl"

#ifdef SIZED_RIGHT
const uint ROOM = GROUP;
#else
const uint ROOM = 128;
#endif

shared T both[2 * GROUP]; // sums from 0, counts from ROOM

// Sums the elements, and counts those that are there; the counts are of no further use here.
void main() {
    if (!HAS_WORK)
        return;
    both[tid] = load(global_thread);
    barrier();
    both[ROOM + tid] = global_thread < n ? T(1) : T(0);
    barrier();
    for (uint left = GROUP; left > 1;) {
        uint upper = (left + 1) / 2;
        if (tid + upper < left)
            both[tid] += both[tid + upper];
        barrier();
        if (tid + upper < left)
            both[ROOM + tid] += both[ROOM + tid + upper];
        barrier();
        left = upper;
    }
    deliver(both[0]);
}
