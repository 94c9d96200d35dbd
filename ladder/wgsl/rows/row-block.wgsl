// Rung row-block: a workgroup per row.
//
// Idea: take a good kernel for one array, and run it once per row: the workgroup walks along the row, neighbouring threads at
// neighbouring elements, and adds up what they have by a tree (tree.wgsl).
//
// Phases: walk and add; tree_sum(); a barrier, as the next row uses the same memory.
//
// What it fixes: neighbouring threads read neighbouring memory.
//
// When it loses: a row of 64 elements keeps 64 of 256 threads busy for one addition each, and then all wait at barriers.
//
// Uses: tree

@compute @workgroup_size(size)
fn rung(
    @builtin(local_invocation_index) tid: u32,
    @builtin(workgroup_id) at: vec3u,
    @builtin(num_workgroups) grid: vec3u,
) {
    for (var row = group(at, grid); row < matrix.rows; row += groups(grid)) {
        var sum = number(0);
        for (var i = tid; i < matrix.columns; i += size) {
            sum += input[row * matrix.columns + i];
        }
        sum = tree_sum(sum, tid);
        if (tid == 0) {
            sums[row] = sum;
        }
        workgroupBarrier();
    }
}
