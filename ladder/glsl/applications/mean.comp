#version 450
// Application mean: add, and divide by n once, at the end. Dividing each element first would round n times. (B)
#define ADDS
#define FINISHED(sum) ((sum) / T(n))
#include "../rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i];
    deliver(group_sum(sum));
}
