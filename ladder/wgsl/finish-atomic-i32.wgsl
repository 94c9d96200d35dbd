// Finish atomic, for i32: each workgroup adds its sum to the result. The hardware does it; sums of integers do not
// depend on the order in which workgroups come.
//
// The result has to be cleared before each run (clear.wgsl), and the clearing counts.

@group(0) @binding(1) var<storage, read_write> result: atomic<i32>;

fn deliver(sum: number, me: Place) {
    if (me.tid == 0) {
        atomicAdd(&result, sum);
    }
}
