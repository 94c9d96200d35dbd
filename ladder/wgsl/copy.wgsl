// Copies an array before a run of a rung that destroys its input. Not a part of what is timed.

@group(0) @binding(0) var<storage, read> original: array<u32>;
@group(0) @binding(1) var<storage, read_write> duplicate: array<u32>;

@compute @workgroup_size(64)
fn copy(@builtin(global_invocation_id) at: vec3u, @builtin(num_workgroups) grid: vec3u) {
    let i = at.y * grid.x * 64 + at.x;
    if (i < arrayLength(&duplicate)) {
        duplicate[i] = original[i];
    }
}
