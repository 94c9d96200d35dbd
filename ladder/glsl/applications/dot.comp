#version 450
// Application dot: multiply pairs, add. The second array follows the first in the same binding: elements n to 2 n - 1. (B)
#define ADDS
#include "../rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i] * elements[n + i];
    deliver(group_sum(sum));
}
