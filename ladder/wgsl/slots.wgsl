// From the sums of subgroups to the sum of a workgroup, for the rungs shuffle and warp-reduce: one lane of each subgroup leaves
// its sum in a slot, and a tree adds up the slots.
//
// Subgroups have 4 to 128 lanes, and WGSL does not say which threads are in which. So slots are dealt out by a counter,
// and the tree takes as many as there are: 256 threads leave 8 sums in subgroups of 32 and 64 in subgroups of 4. The
// second reduction by one subgroup, as in many tutorials, counts on one subgroup being enough for them.

var<workgroup> slots: array<number, size>;
var<workgroup> dealt: atomic<u32>;
var<workgroup> slot_count: u32;

// `sum` matters in the lane that subgroupElect() elects, the first one.
fn slots_sum(sum: number, me: Place) -> number {
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
    return slots[0];
}
