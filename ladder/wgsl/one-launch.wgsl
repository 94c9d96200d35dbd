// Rung one-launch: the last workgroup finishes the job.
//
// Idea: a second launch costs microseconds, in which the memory of a large GPU delivers megabytes. Let each workgroup
// store its sum and draw a ticket; who draws the last one adds up all sums.
//
// Phases: as vector-loads, down to one sum per workgroup; then the finish last-block (finish-last.wgsl), which is a
// part of this rung and can be had with every other.
//
// What it fixes: the second launch; the clearing before an atomic finish; the order of additions, which is the same in
// every run.
//
// When it loses: the last workgroup works alone, while the rest of the device idles.
//
// Elsewhere: NVIDIA's sample threadFenceReduction.
//
// Uses: tree, vectors

@compute @workgroup_size(size)
fn rung(me: Place) {
    deliver(tree_sum(sum_vectors(me), me.tid), me);
}
