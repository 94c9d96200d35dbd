// 16 bytes per load, several loads under way: what the rung `vector-loads` teaches, used again by `one-launch` and by
// what measures the read limit. Included after rung.glsl.
#ifndef VECTORS_GLSL
#define VECTORS_GLSL

#extension GL_EXT_control_flow_attributes : require

// Loads that an invocation has under way at once. Memory answers after hundreds of cycles; what keeps it busy is the
// number of bytes that have been asked for: invocations x loads x 16.
#define LOADS 4

#include "vector_type.glsl"

// The same memory as `elements`, seen as vectors.
layout(set = 0, binding = 0) readonly buffer Vectors { V vectors[]; };

// This invocation's share of the sum of all elements. The group takes tiles of LOADS vectors per invocation, and steps
// over the tiles of the other groups. Vectors beyond the end count as zeros, so that the last tile needs no loop of its
// own.
T sum_vectors() {
    uint count = n / PER_VECTOR, tile = GROUP * LOADS;
    V sum[LOADS];
    [[unroll]] for (uint k = 0; k < LOADS; k++)
        sum[k] = V(0);

    for (uint i = group * tile + tid; i < count; i += groups * tile) {
        V loaded[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; k++)
            loaded[k] = i + k * GROUP < count ? vectors[i + k * GROUP] : V(0);
        [[unroll]] for (uint k = 0; k < LOADS; k++)
            sum[k] += loaded[k];
    }

    T mine = (sum_of(sum[0]) + sum_of(sum[1])) + (sum_of(sum[2]) + sum_of(sum[3]));
    uint rest = count * PER_VECTOR + global_thread; // the last elements, which fill no vector
    return rest < n ? mine + elements[rest] : mine;
}

#endif
