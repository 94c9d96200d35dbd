// Finish atomic, for f32: each workgroup adds its sum to the result.
//
// WGSL has no atomic addition of floats, so it is made from compare-and-exchange on the bits: read, add, and store if
// nobody else has stored meanwhile; otherwise begin again with what they stored.
//
// The result has to be cleared before each run (clear.wgsl), and the clearing counts.
//
// When it loses: all workgroups queue at one word. And they come in any order, so that the last bits of a sum of floats
// change from run to run.

@group(0) @binding(1) var<storage, read_write> result: atomic<u32>;

fn deliver(sum: number, me: Place) {
    if (me.tid != 0) {
        return;
    }
    var seen = atomicLoad(&result);
    loop {
        let wanted = bitcast<u32>(bitcast<f32>(seen) + sum);
        let attempt = atomicCompareExchangeWeak(&result, seen, wanted);
        if (attempt.exchanged) {
            break;
        }
        seen = attempt.old_value;
    }
}
