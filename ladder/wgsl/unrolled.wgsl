// Rung unrolled: no loop at all.
//
// Idea: `size` is an override constant, known when the pipeline is made. Every `if (size >= 512)` is decided then, and
// the tree becomes a straight line of code.
//
// Phases: load two and add; the tree, written out; deliver.
//
// What it fixes: loop counters, comparisons and branches, which were a good part of the time on a GPU of 2007.
//
// When it loses: one pipeline per workgroup size. Compilers unroll short loops by themselves today, as soon as they
// know the count, and the kernel waits for memory anyway: expect nothing.
//
// Elsewhere: Harris's kernel 6 (A #6, B v5, D loop unroll).

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

    if (size >= 1024) { step(512, me.tid); }
    if (size >= 512) { step(256, me.tid); }
    if (size >= 256) { step(128, me.tid); }
    if (size >= 128) { step(64, me.tid); }
    step(32, me.tid);
    step(16, me.tid);
    step(8, me.tid);
    step(4, me.tid);
    step(2, me.tid);
    step(1, me.tid);
    deliver(tile[0], me);
}
