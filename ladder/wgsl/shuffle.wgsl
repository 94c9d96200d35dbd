// Rung shuffle: from register to register.
//
// Idea: the lanes of a subgroup can read each other's registers. A subgroup of 32 reduces itself in five steps without memory or
// barrier.
//
//   lane      0   1   2   3 ...  16  17 ...
//   d = 16    0+16 1+17 ...                     the upper half is added to the lower
//   d = 8     0+16+8+24 ...                     and so on down to d = 1
//
// Phases: walk and add, as in grid-stride; the shuffles; lane 0 of each subgroup leaves the sum in a slot; a tree over the slots
// (slots.wgsl); deliver.
//
// What it fixes: most barriers and most of the workgroup's memory.
//
// When it loses: what a lane that does not exist holds is not defined, so that the lanes are counted first. And the slots' order
// is that of arrival, so that the last bits of a sum of floats may change from run to run.
//
// Needs: the feature `subgroups`. Elsewhere: B shuffle, D shuffle, E warp.
//
// Uses: slots

@compute @workgroup_size(size)
fn rung(me: Place, @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32) {
    var sum = number(0);
    for (var i = group(me) * size + me.tid; i < shape.n; i += groups(me) * size) {
        sum += input[i];
    }
    workgroupBarrier();

    let there = subgroupAdd(1u);
    for (var d = lanes / 2; d > 0; d /= 2) {
        let above = subgroupShuffleDown(sum, d);
        if (lane + d < there) {
            sum += above;
        }
    }
    deliver(slots_sum(sum, me), me);
}
