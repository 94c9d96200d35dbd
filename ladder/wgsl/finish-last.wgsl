// Finish last-block: the last workgroup to finish adds up all sums, in one launch and always in the same order.
//
// Each workgroup stores its sum and takes a ticket; whoever draws the last one knows that all others have stored
// theirs. CUDA puts a fence between the two. WGSL has no fence that reaches beyond a workgroup: its atomics keep no
// order between different words, so that the last ticket may be seen before the last sum. So each word says itself
// whether it has arrived: a sum travels as two halves of 16 bits, each beside a mark. The reader looks again until the
// mark is there; who is to write it has drawn a ticket already and waits for nobody, so this ends.
//
// The reader wipes the words and the counter for the next run: nothing has to be cleared.
//
// When it loses: the last workgroup works alone, while the rest of the device idles.

struct Desk {
    result: number,
    tickets: atomic<u32>,
    halves: array<atomic<u32>>, // two per workgroup
}

const ARRIVED = 0x10000u;

@group(0) @binding(1) var<storage, read_write> desk: Desk;

var<workgroup> is_last: bool;
var<workgroup> sums: array<number, size>;

fn take_half(at: u32) -> u32 {
    loop {
        let word = atomicLoad(&desk.halves[at]);
        if (word != 0) {
            atomicStore(&desk.halves[at], 0);
            return word & 0xffff;
        }
    }
}

fn deliver(sum: number, me: Place) {
    if (me.tid == 0) {
        let bits = bitcast<u32>(sum);
        atomicStore(&desk.halves[2 * group(me)], ARRIVED | (bits & 0xffff));
        atomicStore(&desk.halves[2 * group(me) + 1], ARRIVED | (bits >> 16));
        is_last = atomicAdd(&desk.tickets, 1) == groups(me) - 1;
    }
    if (!workgroupUniformLoad(&is_last)) {
        return;
    }
    var mine = number(0);
    for (var g = me.tid; g < groups(me); g += size) {
        let low = take_half(2 * g);
        mine += bitcast<number>((take_half(2 * g + 1) << 16) | low);
    }
    sums[me.tid] = mine;
    workgroupBarrier();
    for (var s = size / 2; s > 0; s /= 2) {
        if (me.tid < s) {
            sums[me.tid] += sums[me.tid + s];
        }
        workgroupBarrier();
    }
    if (me.tid == 0) {
        desk.result = sums[0];
        atomicStore(&desk.tickets, 0);
    }
}
