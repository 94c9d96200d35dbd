// Rung neighbour-strided: the same pairs, by threads that are neighbours.
//
// Idea: who adds does not matter, so let the first threads do it: thread tid takes the pair that begins at 2 s tid.
//
//   s = 1     thread 0: 0+1    1: 2+3    2: 4+5    3: 6+7
//   s = 2     thread 0: 0..3   1: 4..7
//   s = 4     thread 0: 0..7
//
// Phases: as before.
//
// What it fixes: whole subgroups work or are done, and the modulo is gone.
//
// When it loses: workgroup memory is served by banks (32 on many GPUs), word w by bank w % 32. Thread tid reads word
// 2 s tid: with s = 1 two threads meet in each bank that is used, with s = 2 four; they are served one after the other.
//
// Elsewhere: Harris's kernel 2 (A #2, C 2.0).

var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    tile[me.tid] = load(group(me) * size + me.tid);
    workgroupBarrier();

    for (var s = 1u; s < size; s *= 2) {
        let index = 2 * s * me.tid;
        if (index < size) {
            tile[index] += tile[index + s];
        }
        workgroupBarrier();
    }
    deliver(tile[0], me);
}
