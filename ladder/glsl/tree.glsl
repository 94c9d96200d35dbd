// A group's sum by a tree in shared memory: what the rung `halving` teaches. It needs nothing but barriers, and so is
// right on every device.
#ifndef TREE_GLSL
#define TREE_GLSL

shared T values[GROUP];

// The sum of values[0] to values[GROUP - 1], which the caller has written. Halves are rounded up: the middle one of an
// odd number waits for the next step.
T tree_sum() {
    barrier();
    for (uint left = GROUP; left > 1;) {
        uint upper = (left + 1) / 2;
        if (tid + upper < left)
            values[tid] += values[tid + upper];
        barrier();
        left = upper;
    }
    return values[0];
}

T group_sum(T sum) {
    values[tid] = sum;
    return tree_sum();
}

#endif
