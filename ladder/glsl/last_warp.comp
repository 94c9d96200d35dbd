#version 450
// Rung last-warp: the last values need no barrier of the group.
//
// Idea: once two values per lane of a subgroup are left, one subgroup does all that remains; the others are done and
// need not be waited for.
//
// Phases: load two and add; halve with barriers while there is work for more than one subgroup; the rest by the first
// one, which synchronises with itself alone (last_subgroup.glsl).
//
// What it fixes: barriers of the whole group become steps of one subgroup: six of ten with 32 lanes and groups of 1024.
//
// When it loses: with subgroups of 4 it saves three of ten. And shared memory is still in the way: see shuffle.
//
// Elsewhere: Harris's kernel 5 (A #5, B v4, C 5.0, D warp unroll), which leaves the synchronisation out, and takes 32
// lanes for granted: that is the specimen last-warp-implicit.
#include "rung.glsl"
#include "last_subgroup.glsl"

void main() {
    if (!HAS_WORK)
        return;
    uint i = group * (2 * GROUP) + tid;
    values[tid] = load(i) + load(i + GROUP);
    deliver(tree_by_last_subgroup());
}
