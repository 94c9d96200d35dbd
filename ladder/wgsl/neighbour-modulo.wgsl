// Rung neighbour-modulo: neighbours first, in workgroup memory.
//
// Idea: each workgroup copies its elements to its own fast memory and reduces them there with strides 1, 2, 4, and so
// on. The thread that adds is the one whose number is a multiple of twice the stride.
//
//   tid       0     1     2     3     4     5     6     7
//   s = 1     0+1         2+3         4+5         6+7
//   s = 2     0..3                    4..7
//   s = 4     0..7
//
// Phases: load; for each stride, add and wait for the workgroup; deliver.
//
// What it fixes: the array in far memory is read once and not written.
//
// When it loses: always. In every step the threads at work are spread over all subgroups, so that each runs the whole
// way with ever fewer of its lanes; and % by a number that changes is a long sequence of instructions.
//
// Elsewhere: Harris's kernel 1 (A #1, B v1, C 1.0, E adjacent).

var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    tile[me.tid] = load(group(me) * size + me.tid);
    workgroupBarrier();

    for (var s = 1u; s < size; s *= 2) {
        if (me.tid % (2 * s) == 0) {
            tile[me.tid] += tile[me.tid + s];
        }
        workgroupBarrier();
    }
    deliver(tile[0], me);
}
