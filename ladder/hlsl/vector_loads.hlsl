#pragma kernel vector_loads
// Rung vector-loads: ask for more at once.
//
// Idea: memory is far away but wide. A thread that loads 16 bytes at a time, four times before it adds anything, keeps
// sixteen times as many bytes on their way as one that loads a float and adds it.
//
// Phases: walk with four 16-byte loads under way into four sums of four; then as warp-reduce.
//
// What it fixes: the wait for memory, which is what is left of the time. From here on the limit is the memory itself.
//
// When it loses: the input has to be made of float4: a structured buffer of Direct3D keeps the size of element that it was
// made with. So its end is a multiple of 16 bytes (what lies behind element n - 1 does not matter), and a second step over
// the groups' sums, which are floats, is a dispatch of another rung, grid_stride for instance. Vulkan lets one binding be
// read as either.
//
// Elsewhere: none of the tutorials goes here; CUB does.
#define INPUT_IS_VECTORS
#include "rung.hlsli"

#define WAVE_SUM(value) WaveActiveSum(value)
#include "waves.hlsli"

// Vectors beyond the last whole one count as zeros, so that the last round needs no loop of its own.
T4 load_vector(uint i, uint count) {
    T4 value = 0;
    if (i < count)
        value = input[i];
    return value;
}

// The last elements, which fill no vector.
T sum_of_rest() {
    T sum = 0;
    if (n % 4 != 0) {
        T4 last = input[n / 4];
        sum = last.x;
        if (n % 4 > 1)
            sum += last.y;
        if (n % 4 > 2)
            sum += last.z;
    }
    return sum;
}

[numthreads(GROUP, 1, 1)]
void vector_loads(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id);
    uint count = group < groups ? n / 4 : 0;

    T4 a = 0, b = 0, c = 0, d = 0;
    for (uint i = group * (4 * GROUP) + tid; i < count; i += groups * (4 * GROUP)) {
        T4 first_of_four = load_vector(i, count);
        T4 second = load_vector(i + GROUP, count);
        T4 third = load_vector(i + 2 * GROUP, count);
        T4 fourth = load_vector(i + 3 * GROUP, count);
        a += first_of_four;
        b += second;
        c += third;
        d += fourth;
    }
    T4 all = (a + b) + (c + d);
    T sum = (all.x + all.y) + (all.z + all.w);
    if (group == 0 && tid == 0)
        sum += sum_of_rest();
    deliver(sum_of_group(sum, tid), group, tid);
}
