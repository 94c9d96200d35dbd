// Rung last-warp: the last 64 values, synchronised.
//
// Idea: once 64 values are left, 32 threads do all that remains, step by step. In CUDA they wait for their own warp
// alone. WGSL has no barrier smaller than the workgroup's, so that each step keeps it: all threads pass through, 32 of
// them add.
//
// Phases: load two and add; halve down to 64 values; six steps, written out; deliver.
//
// What it fixes: the sum, compared with last-warp-implicit. Compared with first-add, the loop of the last six steps.
//
// When it loses: it has as many barriers as first-add, so expect the same time. To gain, see warp-reduce.
//
// Elsewhere: nowhere; Harris's kernel 5 leaves the synchronisation out.

var<workgroup> tile: array<number, size>;

fn step(s: u32, tid: u32) {
    if (tid < s) {
        tile[tid] += tile[tid + s];
    }
    workgroupBarrier();
}

@compute @workgroup_size(size)
fn rung(me: Place) {
    let i = group(me) * (2 * size) + me.tid;
    tile[me.tid] = load(i) + load(i + size);
    workgroupBarrier();

    for (var s = size / 2; s > 32; s /= 2) {
        step(s, me.tid);
    }
    step(32, me.tid);
    step(16, me.tid);
    step(8, me.tid);
    step(4, me.tid);
    step(2, me.tid);
    step(1, me.tid);
    deliver(tile[0], me);
}
