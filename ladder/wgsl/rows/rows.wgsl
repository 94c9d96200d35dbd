// What the ladder of rows shares. A matrix lies in memory row by row, `columns` elements each; every rung leaves one sum per
// row (or, in column-tiles, per column). There is no finish: each sum belongs to one thread in the end.
//
// A module is put together as for the ladder of one sum (rung.wgsl): the line `alias number = f32;` (or i32), this file, the
// helpers that the rung names, the rung. Workgroup sizes are powers of two from 64. What CUDA says of a warp is said of a subgroup, which has 4 to 128 lanes.

override size: u32 = 256; // threads of a workgroup
override share: u32 = 1; // lanes that share a row, where the page chooses: a power of two, no more than any subgroup has

struct Matrix {
    rows: u32,
    columns: u32,
    down: u32, // column-tiles: tiles that lie above each other
}

@group(0) @binding(0) var<storage, read> input: array<number>;
@group(0) @binding(1) var<storage, read_write> sums: array<number>;
@group(0) @binding(2) var<uniform> matrix: Matrix;

// Which of all workgroups this is, and how many there are. `at` and `grid` come by themselves, not in one struct with `tid` as in
// rung.wgsl: barriers and shuffles in a loop are allowed only where WGSL sees that all threads of the workgroup go round together,
// and of a struct with one member that differs from thread to thread it believes that of none.
fn group(at: vec3u, grid: vec3u) -> u32 {
    return at.y * grid.x + at.x;
}

fn groups(grid: vec3u) -> u32 {
    return grid.x * grid.y;
}
