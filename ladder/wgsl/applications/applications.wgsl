// What the applications share: reductions other than a plain sum, of floats. WGSL has no generics and no macros, but its
// declarations may come in any order: this text calls four functions that each application brings, and holds what is common.
//
//   alias partial               what is kept on the way
//   nothing() -> partial        the identity of combine()
//   element(i) -> partial       element number i, transformed: multiplied by another, turned into a key
//   combine(a, b) -> partial    associative
//   finished(all) -> u32        the bits of the result, f32
//
// A module is put together as for a rung (rung.wgsl): the line `alias number = f32;`, this file, the application. The tree is that
// of the rung `halving`, the walk that of `grid-stride`. Two launches, `rung` and then one workgroup of `finish`: WGSL has no
// fence between workgroups, and what finish-last.wgsl does instead counts on 32 bits.

override size: u32 = 256; // threads of a workgroup

struct Shape {
    n: u32,
    groups: u32, // of the first launch
    width: u32, // of a texture: a power of two, 64 at least
}

@group(0) @binding(0) var<storage, read> input: array<number>;
@group(0) @binding(1) var<storage, read_write> partials: array<partial>;
@group(0) @binding(2) var<uniform> shape: Shape;
@group(0) @binding(3) var<storage, read_write> result: u32;

var<workgroup> branch: array<partial, size>;

fn tree(value: partial, tid: u32) -> partial {
    branch[tid] = value;
    workgroupBarrier();
    for (var s = size / 2; s > 0; s /= 2) {
        if (tid < s) {
            branch[tid] = combine(branch[tid], branch[tid + s]);
        }
        workgroupBarrier();
    }
    return branch[0];
}

@compute @workgroup_size(size)
fn rung(
    @builtin(local_invocation_index) tid: u32,
    @builtin(workgroup_id) at: vec3u,
    @builtin(num_workgroups) grid: vec3u,
) {
    let group = at.y * grid.x + at.x;
    let stride = grid.x * grid.y * size;
    var mine = nothing();
    for (var i = group * size + tid; i < shape.n; i += stride) {
        mine = combine(mine, element(i));
    }
    mine = tree(mine, tid);
    if (tid == 0) {
        partials[group] = mine;
    }
}

@compute @workgroup_size(size)
fn finish(@builtin(local_invocation_index) tid: u32) {
    var mine = nothing();
    for (var i = tid; i < shape.groups; i += size) {
        mine = combine(mine, partials[i]);
    }
    mine = tree(mine, tid);
    if (tid == 0) {
        result = finished(mine);
    }
}
