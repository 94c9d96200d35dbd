// Elements per thread: 2
var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    let i = group(me) * (2 * size) + me.tid;
    tile[me.tid] = load(i) + load(i + size);
    workgroupBarrier();

    for (var s = size / 2; s > 0; s /= 2) {
        if (me.tid < s) {
            tile[me.tid] += tile[me.tid + s];
        }
        workgroupBarrier();
    }
    deliver(tile[0], me);
}
