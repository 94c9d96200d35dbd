var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    tile[me.tid] = load(group(me) * size + me.tid);
    workgroupBarrier();

    for (var s = size / 2; s > 4; s /= 2) {
        if (me.tid < s) {
            tile[me.tid] += tile[me.tid + s];
        }
        workgroupBarrier();
    }
    if (me.tid < 4) {
        tile[me.tid] += tile[me.tid + 4];
        tile[me.tid] += tile[me.tid + 2];
        tile[me.tid] += tile[me.tid + 1];
    }
    deliver(tile[0], me);
}
