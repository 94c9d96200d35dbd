// Rung row-vectors: 16 bytes per load.
//
// Idea: as rows-per-warp, but each lane reads 16 bytes at a time, and asks for four such vectors before it adds.
//
// Phases: draw numbers (subgroups.wgsl); walk and add, vector by vector; lanes_sum() over the row's lanes; store.
//
// What it fixes: too few bytes under way, as in vector-loads.
//
// When it loses: each row must begin at a multiple of 16 bytes, so the length of a row must be a multiple of four elements.
//
// Needs: the feature `subgroups`.
//
// Uses: rows/subgroups

// The same memory as `input`, seen as vectors.
@group(0) @binding(0) var<storage, read> vectors: array<vec4<number>>;

// A vector of a row, or zeros where it has no more.
fn load_vector(row: u32, i: u32) -> vec4<number> {
    if (i < matrix.columns / 4) {
        return vectors[row * (matrix.columns / 4) + i];
    }
    return vec4<number>();
}

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
        var part = array<vec4<number>, 4>();
        if (row < matrix.rows) {
            for (var i = lane % share; i < matrix.columns / 4; i += 4 * share) {
                let a = load_vector(row, i);
                let b = load_vector(row, i + share);
                let c = load_vector(row, i + 2 * share);
                let d = load_vector(row, i + 3 * share);
                part[0] += a;
                part[1] += b;
                part[2] += c;
                part[3] += d;
            }
        }
        let all = (part[0] + part[1]) + (part[2] + part[3]);
        let sum = lanes_sum((all.x + all.y) + (all.z + all.w), lane, there, share);
        if (lane % share == 0 && row < matrix.rows) {
            sums[row] = sum;
        }
    }
}
