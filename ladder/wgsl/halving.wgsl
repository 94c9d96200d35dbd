// Rung halving: tid and tid + s, with s halved in each step.
//
// Idea: any pairs will do, so choose those that suit the memory: neighbouring threads add neighbouring words.
//
//   s = 4     thread 0: 0+4    1: 1+5    2: 2+6    3: 3+7
//   s = 2     thread 0: 0,2,4,6          1: 1,3,5,7
//   s = 1     thread 0: all
//
// Phases: load; halve and wait for the workgroup, until one value is left; deliver.
//
// What it fixes: bank conflicts.
//
// When it loses: half of the threads do nothing but load one element each. And size / 2 forgets an element where a size
// is odd: 96 halves to 48, 24, 12, 6, 3 and 1. This page uses powers of two.
//
// Elsewhere: Harris's kernel 3 (A #3, B v2, C 3.0, D naive, E shared).

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
