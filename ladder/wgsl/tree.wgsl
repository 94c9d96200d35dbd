// The tree of the rung `halving` as a function, for the rungs above it: each thread of a workgroup brings a number, and
// thread 0 gets the sum.

var<workgroup> branch: array<number, size>;

fn tree_sum(value: number, tid: u32) -> number {
    branch[tid] = value;
    workgroupBarrier();
    for (var s = size / 2; s > 0; s /= 2) {
        if (tid < s) {
            branch[tid] += branch[tid + s];
        }
        workgroupBarrier();
    }
    return branch[0];
}
