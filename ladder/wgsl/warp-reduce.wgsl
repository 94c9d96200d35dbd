// Rung warp-reduce: let the hardware add up a subgroup.
//
// Idea: the lanes of a subgroup (CUDA's warp) can combine their registers without any memory. subgroupAdd() leaves the
// how to the driver: one instruction, or a few shuffles.
//
// Phases: walk and add, as in grid-stride; one subgroupAdd; one lane of each subgroup leaves the sum in a slot; a tree
// over the slots (slots.wgsl); deliver.
//
// What it fixes: most barriers and most of the workgroup's memory.
//
// When it loses: the order of additions is the driver's and the slots' order is that of arrival, so that the last bits
// of a sum of floats may change from device to device and from run to run.
//
// Needs: the feature `subgroups`. Elsewhere: D WaveActiveSum.
//
// Uses: slots

@compute @workgroup_size(size)
fn rung(me: Place) {
    var sum = number(0);
    for (var i = group(me) * size + me.tid; i < shape.n; i += groups(me) * size) {
        sum += input[i];
    }
    workgroupBarrier();
    deliver(slots_sum(subgroupAdd(sum), me), me);
}
