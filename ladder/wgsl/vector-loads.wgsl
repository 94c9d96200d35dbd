// Rung vector-loads: ask for more at once.
//
// Idea: memory is far away but wide. A thread that loads 16 bytes at a time, four times before it adds anything, keeps
// sixteen times as many bytes on their way as one that loads a float and adds it.
//
// Phases: walk by vectors with four loads under way (vectors.wgsl); tree; deliver.
//
// What it fixes: the wait for memory, which is what is left of the time. From here on the limit is the memory itself.
//
// When it loses: with few elements, where most of the grid has nothing to do.
//
// Elsewhere: none of the tutorials goes here.
//
// Uses: tree, vectors

@compute @workgroup_size(size)
fn rung(me: Place) {
    deliver(tree_sum(sum_vectors(me), me.tid), me);
}
