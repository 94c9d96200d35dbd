#version 450
// Reads everything and does next to nothing with it: what a reduction can at best achieve. The sum of the words is
// stored if it is one certain number, so that the compiler must keep the loads.
#define TYPE_I32
#include "rung.glsl"
#include "vectors.glsl"

void main() {
    if (!HAS_WORK)
        return;
    uint sum = sum_vectors();
    if (sum == 0x9e3779b9)
        set_result(sum);
}
