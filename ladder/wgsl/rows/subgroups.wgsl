// Rows for subgroups, for the rungs row-warp, rows-per-warp and row-vectors.
//
// WGSL does not say which threads are in which subgroup, nor how many subgroups there are. So each draws its number from a
// counter. And WGSL lets subgroups reduce only where it can see that all threads of the workgroup come together: so the workgroup
// walks over the rows, as many at a time as its subgroups take, and a thread whose row is beyond the last walks along.

var<workgroup> dealt: atomic<u32>;
var<workgroup> all_dealt: u32;

// Takes `wanted` numbers for this subgroup; the first of them, in every lane. The barrier is for drivers that run a kernel without
// any subgroup by subgroup, and set the counter to zero for each: SwiftShader does.
fn deal(wanted: u32) -> u32 {
    workgroupBarrier();
    var first = 0u;
    if (subgroupElect()) {
        first = atomicAdd(&dealt, wanted);
    }
    return subgroupBroadcastFirst(first);
}

// How many numbers all subgroups have taken, once they all have.
fn count_dealt(tid: u32) -> u32 {
    workgroupBarrier();
    if (tid == 0) {
        all_dealt = atomicLoad(&dealt);
    }
    return workgroupUniformLoad(&all_dealt);
}

// The sum over each `width` neighbouring lanes, a power of two, held by the first of them. What a lane that does not exist holds
// is not defined, and not added: `there` lanes do. What the upper lanes get from their neighbours above is thrown away.
fn lanes_sum(value: number, lane: u32, there: u32, width: u32) -> number {
    var sum = value;
    for (var d = width / 2; d > 0; d /= 2) {
        let above = subgroupShuffleDown(sum, d);
        if (lane + d < there) {
            sum += above;
        }
    }
    return sum;
}
