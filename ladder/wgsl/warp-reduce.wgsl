// Rung warp-reduce: let the hardware add up a subgroup.
//
// Idea: the lanes of a subgroup (CUDA's warp) can combine their registers without any memory. subgroupAdd() leaves the
// how to the driver: one instruction, or a few shuffles.
//
// Phases: walk and add, as in grid-stride; one subgroupAdd; one lane of each subgroup leaves the sum in a slot; a tree
// over the slots; deliver.
//
// Subgroups have 4 to 128 lanes, and WGSL does not say which threads are in which. So slots are dealt out by a counter,
// and the tree takes as many as there are: 256 threads leave 8 sums in subgroups of 32 and 64 in subgroups of 4. The
// second subgroupAdd of many tutorials counts on one subgroup being enough for them.
//
// What it fixes: most barriers and most of the workgroup's memory.
//
// When it loses: the order of additions is the driver's and the slots' order is that of arrival, so that the last bits
// of a sum of floats may change from device to device and from run to run.
//
// Needs: the feature `subgroups`. Elsewhere: D WaveActiveSum.

var<workgroup> slots: array<number, size>;
var<workgroup> dealt: atomic<u32>;
var<workgroup> slot_count: u32;

@compute @workgroup_size(size)
fn rung(me: Place) {
    var sum = number(0);
    for (var i = group(me) * size + me.tid; i < shape.n; i += groups(me) * size) {
        sum += input[i];
    }
    workgroupBarrier();

    sum = subgroupAdd(sum);
    if (subgroupElect()) {
        slots[atomicAdd(&dealt, 1)] = sum;
    }
    workgroupBarrier();
    if (me.tid == 0) {
        slot_count = atomicLoad(&dealt);
    }
    for (var left = workgroupUniformLoad(&slot_count); left > 1;) {
        let half = (left + 1) / 2;
        if (me.tid + half < left) {
            slots[me.tid] += slots[me.tid + half];
        }
        workgroupBarrier();
        left = half;
    }
    deliver(slots[0], me);
}
