// Threads: 64
var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    tile[me.tid] = load(group(me) * size + me.tid);
    workgroupBarrier();

    for (var level = 1; level < size; level *= 4) {
        let first = 4 * level * me.tid;
        if (first < size) {
            tile[first] += tile[first + level] + tile[first + 2 * level] + tile[first + 3 * level];
        }
        workgroupBarrier();
    }
    deliver(tile[0], me);
}
