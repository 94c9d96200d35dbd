// Specimen last-warp-implicit: the last 64 values without any synchronisation.
//
// The mistake: in 2007 the 32 threads of a CUDA warp ran in step, and six additions could follow each other with no
// barrier in between. WGSL promises no such thing: nothing says that thread 16 has written before thread 0 reads, the
// compiler may keep tile[tid] in a register, and where subgroups have 4, 8 or 16 lanes the 32 threads are not even one
// subgroup. There is no `volatile` in WGSL, which would not be a remedy either.
//
// A tutorial carried this over to WebGPU, got wrong sums, and left them unexplained. This is the explanation: it is a
// data race. What it gives here is shown as it comes; right by luck is possible.
//
// The repair: the rung last-warp, or, where subgroups are offered, warp-reduce.
//
// Elsewhere: Harris's kernel 5 (A #5, B v4, C 5.0, D warp unroll).

var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    let i = group(me) * (2 * size) + me.tid;
    tile[me.tid] = load(i) + load(i + size);
    workgroupBarrier();

    for (var s = size / 2; s > 32; s /= 2) {
        if (me.tid < s) {
            tile[me.tid] += tile[me.tid + s];
        }
        workgroupBarrier();
    }
    if (me.tid < 32) {
        tile[me.tid] += tile[me.tid + 32];
        tile[me.tid] += tile[me.tid + 16];
        tile[me.tid] += tile[me.tid + 8];
        tile[me.tid] += tile[me.tid + 4];
        tile[me.tid] += tile[me.tid + 2];
        tile[me.tid] += tile[me.tid + 1];
    }
    deliver(tile[0], me);
}
