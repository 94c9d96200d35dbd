// Rung row-warp: a subgroup per row.
//
// Idea: a subgroup reads as many neighbouring elements at a time as it has lanes, and adds them up by shuffles. No workgroup
// memory, no barrier but the one at the beginning.
//
// Phases: draw a number (subgroups.wgsl); walk and add; lanes_sum() over all lanes; store.
//
// What it fixes: the barriers, and most of the idle threads of short rows.
//
// When it loses: rows shorter than a subgroup leave lanes idle; few long rows leave most of the GPU idle.
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
    @builtin(subgroup_size) lanes: u32,
) {
    let there = subgroupAdd(1u);
    let mine = deal(1);
    let at_once = count_dealt(tid);
    for (var first = group(at, grid) * at_once; first < matrix.rows; first += groups(grid) * at_once) {
        let row = first + mine;
        var sum = number(0);
        if (row < matrix.rows) {
            for (var i = lane; i < matrix.columns; i += there) {
                sum += input[row * matrix.columns + i];
            }
        }
        sum = lanes_sum(sum, lane, there, lanes);
        if (lane == 0 && row < matrix.rows) {
            sums[row] = sum;
        }
    }
}
