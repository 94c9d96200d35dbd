#version 450
// Specimens load-unchecked and grid-not-halved (FIRST_ADD): elements that are not there.
//
// The mistakes: A's #1 to #7, B's v1 to v5 and C load input[i] without asking whether i < n, which is right only where
// n is a multiple of what a group takes. And who adds the first addition during load, but goes on dispatching as many
// groups as before, reads twice the array.
//
// Here what is bound goes on behind the array, and is full of thousands there, so that what is read in excess shows.
// Where nothing is bound, Vulkan promises neither zeros nor a fault, unless robustness is asked for.
//
// The repair: load() in rung.glsl; half as many groups.
#include "../rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
#ifdef FIRST_ADD
    uint i = group * (2 * GROUP) + tid;
    deliver(group_sum(elements[i] + elements[i + GROUP]));
#else
    deliver(group_sum(elements[global_thread]));
#endif
}
