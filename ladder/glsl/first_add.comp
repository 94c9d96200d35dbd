#version 450
// Rung first-add: the first addition happens while loading.
//
// Idea: a group takes on twice as many elements as it has invocations; each loads two and adds them in a register. Half
// as many groups do the work.
//
// Phases: load two and add; halving as before; deliver.
//
// What it fixes: invocations that only load. The first step of the tree costs no barrier and no shared memory any more.
//
// When it loses: the tree still has as many steps as before, each with a barrier, and most invocations idle in most
// steps.
//
// Elsewhere: Harris's kernel 4 (A #4, B v3, C 4.0, D opt 01).
#include "rung.glsl"

void main() {
    if (!HAS_WORK)
        return;
    uint i = group * (2 * GROUP) + tid;
    deliver(group_sum(load(i) + load(i + GROUP)));
}
