#version 450
// Rung global-halving: i and i + half, in place, in global memory.
//
// Idea: the most direct tree there is. A group owns GROUP neighbouring elements of the input; invocation tid adds
// element tid + half to element tid, half is halved, and so on until one is left.
//
//   x0 x1 x2 x3 x4 x5 x6 x7
//   +x4 +x5 +x6 +x7                half = 4
//   +x2 +x3                        half = 2
//   +x1                            half = 1: the group's sum is in x0
//
// Phases: for each halving, add and wait for the group. The input is destroyed.
//
// In Vulkan: barrier() waits, but only for shared memory; that others see what was written to a buffer has to be asked
// for with memoryBarrierBuffer(), and the buffer has to be coherent within the group.
//
// When it loses: every halving reads and writes global memory, and a barrier stands between any two.
//
// Elsewhere: the CUDA note E calls it native; Harris begins with the next rung.
#define WRITES_INPUT
#include "rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    uint begin = group * GROUP;
    uint left = begin < n ? min(n - begin, GROUP) : 0;

    while (left > 1) {
        uint upper = (left + 1) / 2; // rounded up: the middle one of an odd number waits for the next step
        if (tid + upper < left)
            elements[begin + tid] += elements[begin + tid + upper];
        memoryBarrierBuffer();
        barrier();
        left = upper;
    }
    deliver(tid == 0 && left == 1 ? elements[begin] : T(0));
}
