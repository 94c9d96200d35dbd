// Threads: 12
var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    tile[me.tid] = load(group(me) * size + me.tid);
    workgroupBarrier();

    for (var active = size; active > 1; active = (active + 1) / 2) {
        let half = (active + 1) / 2;
        if (me.tid + half < active) {
            tile[me.tid] += tile[me.tid + half];
        }
        workgroupBarrier();
    }
    deliver(tile[0], me);
}
