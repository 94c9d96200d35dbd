// Rung global-halving: i and i + half, in place, in global memory.
//
// Idea: the most direct tree there is. A workgroup owns `size` neighbouring elements of the input; thread tid adds element
// tid + half to element tid, half is halved, and so on until one is left.
//
//   x0 x1 x2 x3 x4 x5 x6 x7
//   +x4 +x5 +x6 +x7                half = 4
//   +x2 +x3                        half = 2
//   +x1                            half = 1: the workgroup's sum is in x0
//
// Phases: for each halving, add and wait for the workgroup, with storageBarrier(): workgroupBarrier() orders the workgroup's own
// memory alone.
//
// When it loses: every halving reads and writes global memory, and a barrier stands between any two. The input is destroyed, and
// has to be bound for writing; the page gives this rung a copy.
//
// Elsewhere: the CUDA note E calls it native; Harris, A, B and C begin with the next rung.

@group(0) @binding(0) var<storage, read_write> destroyed: array<number>;

@compute @workgroup_size(size)
fn rung(me: Place) {
    let begin = group(me) * size;
    let end = min(shape.n, begin + size);
    let i = begin + me.tid;
    for (var s = size / 2; s > 0; s /= 2) {
        if (me.tid < s && i + s < end) {
            destroyed[i] += destroyed[i + s];
        }
        storageBarrier();
    }
    var sum = number(0);
    if (me.tid == 0 && i < end) {
        sum = destroyed[i];
    }
    deliver(sum, me);
}
