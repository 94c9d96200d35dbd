// Rung row-thread: a thread per row.
//
// Idea: what one writes first. There are many rows, and each is a loop.
//
// Phases: walk along the row and add; store.
//
// When it loses: neighbouring threads read addresses a whole row apart, so that a piece of memory comes for each element; and a
// few long rows leave nearly all of the GPU idle.

@compute @workgroup_size(size)
fn rung(
    @builtin(local_invocation_index) tid: u32,
    @builtin(workgroup_id) at: vec3u,
    @builtin(num_workgroups) grid: vec3u,
) {
    for (var row = group(at, grid) * size + tid; row < matrix.rows; row += groups(grid) * size) {
        var sum = number(0);
        for (var i = 0u; i < matrix.columns; i++) {
            sum += input[row * matrix.columns + i];
        }
        sums[row] = sum;
    }
}
