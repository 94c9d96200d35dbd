#pragma kernel texture_sum
// Application texture: a sum whose elements are texels. They come by Load: whole numbers in, no filter, no sampler. (A)
//
//   READS 0   the same elements from a buffer, to compare with
//   READS 1   texels row by row: a wave takes neighbours of one row, as it would of a buffer
//   READS 2   texels tile by tile: a wave takes a small square, whose texels a GPU keeps close together
//
// The faces of a cubemap are layers, too: ladder/hlsl/unity/ reads them so. docs/ladder/texture.md says what textures bring, and
// what they do not.
#define MORE_NUMBERS                                                                                                   \
    uint width; /* of the texture: a power of two, 16 at least */                                                      \
    uint tiles; /* in it */                                                                                            \
    uint layer; /* of its layers, which are all the same, the one to read */
#include "../rung.hlsli"

#if READS != 0
Texture2DArray<float> texels : register(t4);
#endif

groupshared T values[GROUP];

// Z order: threads 0 to 255 fill 16 x 16 texels so that each 4, 8, 16, 32 of them that follow one another have a square, or two
// side by side. The even bits of the number make x, the odd ones y.
uint even_bits(uint i) {
    return (i & 1) | (i >> 1 & 2) | (i >> 2 & 4) | (i >> 3 & 8);
}

[numthreads(GROUP, 1, 1)]
void texture_sum(uint3 id : SV_GroupID, uint tid : SV_GroupIndex) {
    uint group = group_number(id);
    T sum = 0;
#if READS == 0
    for (uint i = group * GROUP + tid; i < n; i += groups * GROUP)
        sum += input[i];
#elif READS == 1
    for (uint i = group * GROUP + tid; i < n; i += groups * GROUP)
        sum += texels.Load(int4(i % width, i / width, layer, 0));
#else // groups have 256 threads; texels beyond the last element are 0
    uint in_row = width / 16, x = even_bits(tid), y = even_bits(tid >> 1);
    for (uint tile = group; tile < tiles; tile += groups)
        sum += texels.Load(int4(tile % in_row * 16 + x, tile / in_row * 16 + y, layer, 0));
#endif
    values[tid] = sum;
    GroupMemoryBarrierWithGroupSync();
    for (uint half_way = GROUP / 2; half_way > 0; half_way /= 2) {
        if (tid < half_way)
            values[tid] += values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    deliver(values[0], group, tid);
}
