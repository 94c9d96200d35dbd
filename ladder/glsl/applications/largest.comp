#version 450
// Application maximum: the larger one, from -infinity; a NaN wins. Another operator is another identity and another step: the
// tree is that of the rung `halving`, the end that of `one-launch`. (B)
//
// No atomics on bits of floats, which order negative ones the wrong way round: see the specimen max-of-bits.
#include "../rung.glsl"

#define LEAST T(uintBitsToFloat(0xff800000)) // -infinity

T larger(T a, T b) {
    return b > a || isnan(b) ? b : a;
}

T group_maximum(T x) {
    values[tid] = x;
    barrier();
    for (uint left = GROUP; left > 1;) {
        uint upper = (left + 1) / 2;
        if (tid + upper < left)
            values[tid] = larger(values[tid], values[tid + upper]);
        barrier();
        left = upper;
    }
    return values[0];
}

void main() {
    if (!HAS_WORK)
        return;
    T most = LEAST;
    for (uint i = global_thread; i < n; i += grid_threads)
        most = larger(most, elements[i]);
    most = group_maximum(most);
    if (tid == 0)
        partials[first + group] = most;
    if (!is_last_group())
        return;
    most = LEAST;
    for (uint i = tid; i < total; i += GROUP)
        most = larger(most, partials[i]);
    most = group_maximum(most);
    if (tid == 0)
        set_result(most);
}
