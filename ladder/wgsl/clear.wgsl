// Clears the result before a run with the atomic finish. Forgetting it is a popular mistake: the second run then adds
// to the sum of the first.

@group(0) @binding(1) var<storage, read_write> result: u32;

@compute @workgroup_size(1)
fn clear() {
    result = 0;
}
