// Elements per thread: grid
// Barriers: fewer
var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    var sum = number(0);
    for (var i = group(me) * size + me.tid; i < shape.n; i += groups(me) * size) {
        sum += input[i];
    }
    tile[me.tid] = sum;
    workgroupBarrier();

    for (var s = size / 2; s > 0; s /= 2) {
        if (me.tid < s) {
            tile[me.tid] += tile[me.tid + s];
        }
        workgroupBarrier();
    }
    deliver(tile[0], me);
}
