#pragma kernel maximum
// Application maximum: the larger one, from -infinity; a NaN wins. Another operator is another identity and another step: the
// tree is that of the rung `halving`, the end that of `one-launch`. (B)
//
// No atomics on bits of floats, which order negative ones the wrong way round: see the specimen max-of-bits.
#include "../rung.hlsli"

#define LEAST asfloat(0xff800000u) // -infinity

groupshared T values[GROUP];

// By its bits: FXC takes isnan() for false, unless it is told to be strict (/Gis), and says so in a warning.
bool is_nan(T x) {
    return (asuint(x) & 0x7fffffff) > 0x7f800000;
}

T larger(T a, T b) {
    if (b > a || is_nan(b))
        return b;
    return a;
}

T group_maximum(T x, uint tid) {
    values[tid] = x;
    GroupMemoryBarrierWithGroupSync();
    for (uint half_way = GROUP / 2; half_way > 0; half_way /= 2) {
        if (tid < half_way)
            values[tid] = larger(values[tid], values[tid + half_way]);
        GroupMemoryBarrierWithGroupSync();
    }
    return values[0];
}

[numthreads(GROUP, 1, 1)]
void maximum(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id);
    bool has_work = group < groups;

    T most = LEAST;
    for (uint i = group * GROUP + tid; has_work && i < n; i += groups * GROUP)
        most = larger(most, input[i]);
    most = group_maximum(most, tid);
    if (tid == 0 && has_work)
        partials[first + group] = most;

    if (!is_last_group(has_work, tid))
        return;
    most = LEAST;
    for (uint k = tid; k < total; k += GROUP)
        most = larger(most, partials[k]);
    most = group_maximum(most, tid);
    if (tid == 0)
        result[0] = most;
}
