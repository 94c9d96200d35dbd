#version 450
// Specimens max-of-bits and max-from-lowest: the maximum of floats by way of integers, and from the wrong start.
//
// The mistakes: B takes an atomic maximum on the bits of a float, as there is none for floats. The bits of positive
// floats are ordered as the floats are; those of negative floats the other way round, so that the largest pattern
// belongs to the most negative number. And a maximum that starts from -FLT_MAX instead of -infinity is wrong for an
// array of -infinity.
//
// The repair (ORDERED): flip the bits so that their order is that of the floats, and start from -infinity. The host, who
// chooses where the maximum starts, flips them back.
#define TYPE_F32
#include "../rung.glsl"

#ifndef ORDERED
layout(set = 0, binding = 2) coherent buffer Maximum { int maximum; };
#else
layout(set = 0, binding = 2) coherent buffer Maximum { uint maximum; };

// Increasing with x over all floats: negative ones with every bit flipped, the others with the sign flipped.
uint ordered_bits(float x) {
    uint bits = floatBitsToUint(x);
    return (bits & 0x80000000) != 0 ? ~bits : bits | 0x80000000;
}
#endif

void main() {
    if (!HAS_WORK)
        return;
    for (uint i = global_thread; i < n; i += grid_threads) {
#ifdef ORDERED
        atomicMax(maximum, ordered_bits(elements[i]));
#else
        atomicMax(maximum, floatBitsToInt(elements[i]));
#endif
    }
}
