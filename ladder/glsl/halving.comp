#version 450
// Rung halving: neighbouring invocations, neighbouring memory.
//
// Idea: pair element tid with element tid + half, and halve. Lanes of a subgroup then read words next to each other.
//
//   half = 4     0+4   1+5   2+6   3+7
//   half = 2     +(2+6)  +(3+7)
//   half = 1     0..7
//
// Phases: as before; the tree is group_sum() in tree.glsl, since later rungs have it, too.
//
// What it fixes: bank conflicts. Any order of additions is as good as any other for a sum, so choose the one that suits
// the memory.
//
// When it loses: half of the invocations do nothing but load one element each.
//
// Elsewhere: Harris's kernel 3 (A #3, B v2, C 3.0, D naive, E shared).
#include "rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    deliver(group_sum(load(global_thread)));
}
