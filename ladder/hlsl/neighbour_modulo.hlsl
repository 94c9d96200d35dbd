#pragma kernel neighbour_modulo
// Rung neighbour-modulo: neighbours first, in groupshared memory.
//
// Idea: each group copies its elements to groupshared memory, which lies within its processor, and reduces them there
// with strides 1, 2, 4, and so on. The thread that adds is the one whose number is a multiple of twice the stride.
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
// When it loses: always. In every step the threads that work are spread over all waves, so that every wave runs the
// whole way with ever fewer of its lanes at work; and % by a number that the compiler does not know is a long sequence
// of instructions.
//
// Elsewhere: Harris's kernel 1 (A #1, B v1, C 1.0, E adjacent).
#include "rung.hlsli"

groupshared T values[GROUP];

[numthreads(GROUP, 1, 1)]
void neighbour_modulo(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id);

    values[tid] = load(group * GROUP + tid);
    GroupMemoryBarrierWithGroupSync();

    for (uint s = 1; s < GROUP; s *= 2) {
        if (tid % (2 * s) == 0 && tid + s < GROUP)
            values[tid] += values[tid + s];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
