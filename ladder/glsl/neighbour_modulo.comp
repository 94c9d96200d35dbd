#version 450
// Rung neighbour-modulo: neighbours first, in shared memory.
//
// Idea: each group copies its elements to shared memory, which lies within its processor, and reduces them there with
// strides 1, 2, 4, and so on. The invocation that adds is the one whose number is a multiple of twice the stride.
//
//   tid       0     1     2     3     4     5     6     7
//   s = 1     0+1         2+3         4+5         6+7
//   s = 2     0..3                    4..7
//   s = 4     0..7
//
// Phases: load; for each stride, add and wait for the group; deliver.
//
// What it fixes: the input survives, and global memory is read once.
//
// When it loses: always. In every step the invocations that work are spread over all subgroups, so that every subgroup
// runs the whole way with ever fewer of its lanes at work; and % is slow.
//
// Elsewhere: Harris's kernel 1 (A #1, B v1, C 1.0, E adjacent).
#include "rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    values[tid] = load(global_thread);
    barrier();

    for (uint s = 1; s < GROUP; s *= 2) {
        if (tid % (2 * s) == 0 && tid + s < GROUP)
            values[tid] += values[tid + s];
        barrier();
    }
    deliver(values[0]);
}
