// Rung rows-per-warp: several rows per subgroup.
//
// Idea: short rows lie next to each other in memory. Cut the subgroup into groups of `share` lanes, a row for each; all of them
// together still read one piece of memory.
//
// Phases: draw as many numbers as there are such groups (subgroups.wgsl); walk and add; lanes_sum() over `share` lanes; the
// first of each store.
//
// What it fixes: idle lanes where rows are shorter than a subgroup, and shuffles: fewer per row, for several rows at once.
//
// When it loses: for rows as long as a subgroup and longer it is row-warp.
//
// Needs: the feature `subgroups`.
//
// Uses: rows/subgroups

@compute @workgroup_size(size)
fn rung(
    @builtin(local_invocation_index) tid: u32,
    @builtin(workgroup_id) at: vec3u,
    @builtin(num_workgroups) grid: vec3u,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let there = subgroupAdd(1u);
    let mine = deal(there / share) + lane / share;
    for (var first = group(at, grid) * (size / share); first < matrix.rows; first += groups(grid) * (size / share)) {
        let row = first + mine;
        var sum = number(0);
        if (row < matrix.rows) {
            for (var i = lane % share; i < matrix.columns; i += share) {
                sum += input[row * matrix.columns + i];
            }
        }
        sum = lanes_sum(sum, lane, there, share); // all lanes come, also those without a row
        if (lane % share == 0 && row < matrix.rows) {
            sums[row] = sum;
        }
    }
}
