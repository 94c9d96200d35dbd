// Rung first-add: the first addition happens while loading.
//
// Idea: a workgroup takes on twice as many elements as it has threads; each thread loads two and adds them in a
// register. Half as many workgroups do the work: forgetting to halve the grid is a popular mistake.
//
// Phases: load two and add; halving as before; deliver.
//
// What it fixes: threads that only load. The first step of the tree costs no barrier any more.
//
// When it loses: the tree is as tall as before, each step has its barrier, and most threads idle in most steps.
//
// Elsewhere: Harris's kernel 4 (A #4, B v3, C 4.0, D opt 01).

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
