// Rung grid-stride: a fixed grid, many elements per thread.
//
// Idea: launch enough workgroups to fill the device and no more; every thread walks over the array in steps of the
// whole grid, adding in a register. The tree comes once per thread of the grid, not once per element.
//
//   element   0 1 2 3 | 4 5 6 7 | 8 9 ...       a grid of four threads:
//   thread    0 1 2 3 | 0 1 2 3 | 0 1 ...       neighbours stay next to each other in memory
//
// Phases: walk and add; tree (tree.wgsl); deliver.
//
// What it fixes: nearly all of the cost of trees, barriers and workgroups; the number of partial sums no longer grows
// with n; and each chain of additions is short, so that rounding errors shrink.
//
// When it loses: a thread has one load under way at a time unless the compiler unrolls the loop. WebGPU does not say
// how many threads a device holds at once, so the size of the grid is a guess.
//
// Elsewhere: Harris's kernel 7 (A #7).
//
// Uses: tree

@compute @workgroup_size(size)
fn rung(me: Place) {
    var sum = number(0);
    for (var i = group(me) * size + me.tid; i < shape.n; i += groups(me) * size) {
        sum += input[i];
    }
    deliver(tree_sum(sum, me.tid), me);
}
