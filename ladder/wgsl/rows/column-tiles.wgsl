// Rung column-tiles: sums of columns, by tiles.
//
// Idea: the sum of a column takes one element from each row. A thread per column reads well, since neighbours have neighbouring
// columns; but a matrix of 64 columns would keep 64 threads busy. So cut it into tiles of 32 columns and some hundred rows: each
// workgroup takes one, 32 threads per row of the tile, and leaves 32 sums.
//
// Phases:
//   1. each thread walks down its column of the tile, as many rows at a time as the workgroup has 32 threads
//   2. the sums of a column meet in the workgroup's memory; the first 32 threads add them and store one per column and tile
//   3. a second launch (finish) adds up the tiles of each column, a thread per column: its `rows` are the tiles that lie above
//      each other
//
// What it fixes: there are enough workgroups whatever the shape, and every access is to 32 neighbouring elements.
//
// When it loses: less than 32 columns leave threads idle.

const TILE = 32u;

var<workgroup> tile: array<number, size>;

@compute @workgroup_size(size)
fn rung(
    @builtin(local_invocation_index) tid: u32,
    @builtin(workgroup_id) at: vec3u,
    @builtin(num_workgroups) grid: vec3u,
) {
    let across = (matrix.columns + TILE - 1) / TILE;
    let chunk = group(at, grid) / across;
    if (chunk >= matrix.down) { // a grid of several rows may have a few workgroups too many
        return;
    }
    let column = group(at, grid) % across * TILE + tid % TILE;
    let first = matrix.rows / matrix.down * chunk;
    let last = select(first + matrix.rows / matrix.down, matrix.rows, chunk + 1 == matrix.down);

    var sum = number(0);
    if (column < matrix.columns) {
        for (var row = first + tid / TILE; row < last; row += size / TILE) {
            sum += input[row * matrix.columns + column];
        }
    }
    tile[tid] = sum;
    workgroupBarrier();
    if (tid < TILE && column < matrix.columns) {
        for (var w = TILE + tid; w < size; w += TILE) {
            sum += tile[w];
        }
        sums[chunk * matrix.columns + column] = sum;
    }
}

@compute @workgroup_size(size)
fn finish(
    @builtin(local_invocation_index) tid: u32,
    @builtin(workgroup_id) at: vec3u,
    @builtin(num_workgroups) grid: vec3u,
) {
    let column = group(at, grid) * size + tid;
    if (column < matrix.columns) {
        var sum = number(0);
        for (var row = 0u; row < matrix.rows; row++) {
            sum += input[row * matrix.columns + column];
        }
        sums[column] = sum;
    }
}
