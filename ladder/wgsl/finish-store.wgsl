// Finishes host, second-launch and recursive: each workgroup stores its sum.
//
// host            the CPU reads the sums and adds them
// second-launch   one more workgroup adds them
// recursive       the same kernel reduces them, and their sums, until one is left: ceil(log_g(n)) passes for g elements
//                 per workgroup
//
// When it loses: every further launch costs some microseconds, and reading back much more.

@group(0) @binding(1) var<storage, read_write> partials: array<number>;

fn deliver(sum: number, me: Place) {
    if (me.tid == 0) {
        partials[group(me)] = sum;
    }
}
