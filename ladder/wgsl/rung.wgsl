// What every rung shares: the element type, the array, who a thread is, and how it loads.
//
// A rung reduces what its workgroup is responsible for to one number, held by thread 0, and hands it to deliver(). How
// the workgroups' numbers become one is the finish, which is independent of the rung: finish-store.wgsl (host,
// second-launch and recursive), finish-atomic-*.wgsl, finish-last.wgsl.
//
// A module is put together by writing one text after another: the line `alias number = f32;` (or i32), this file, a
// finish, the helpers that the rung names, the rung. WGSL has no #include; its declarations may come in any order.
//
// Every rung takes any n that fits into one buffer. Workgroup sizes are powers of two from 64: what WGSL calls an
// override constant, known when the pipeline is made. "Elsewhere" in a rung's file names Harris's kernel ("Optimizing
// Parallel Reduction in CUDA", 2007) and those of the tutorials A to E, which docs/ladder/names.md lists.

override size: u32 = 256; // threads of a workgroup

struct Shape {
    n: u32,
}

@group(0) @binding(0) var<storage, read> input: array<number>;
@group(0) @binding(2) var<uniform> shape: Shape;

// A row of workgroups ends at 65535, so that large arrays need a grid of several rows; groups are numbered through
// them.
struct Place {
    @builtin(local_invocation_index) tid: u32,
    @builtin(workgroup_id) at: vec3u,
    @builtin(num_workgroups) grid: vec3u,
}

fn group(me: Place) -> u32 {
    return me.at.y * me.grid.x + me.at.x;
}

fn groups(me: Place) -> u32 {
    return me.grid.x * me.grid.y;
}

// An element, or the identity of addition where there is none: what lets n be any number. Without the test, WGSL would
// not crash but read some other element of the array, which is worse: the sum is wrong and nothing says so.
fn load(i: u32) -> number {
    if (i < shape.n) {
        return input[i];
    }
    return number(0);
}
