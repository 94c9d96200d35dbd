// Task: rows
var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    var sum = number(0);
    for (var i = me.tid; i < shape.columns; i += size) {
        sum += input[group(me) * shape.columns + i];
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
