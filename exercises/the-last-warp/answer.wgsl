var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    tile[me.tid] = load(group(me) * size + me.tid);
    workgroupBarrier();

    for (var s = size / 2; s > 0; s /= 2) {
        if (me.tid < s) {
            tile[me.tid] += tile[me.tid + s];
        }
        workgroupBarrier();
    }
    deliver(tile[0], me);
}
