#version 450
#extension GL_EXT_samplerless_texture_functions : require
// Application texture: a sum whose elements are texels. They come by texelFetch: whole numbers in, no filter, no sampler. (A)
//
//   READS 0   the same elements from an array, to compare with
//   READS 1   texels row by row: a subgroup takes neighbours of one row, as it would of an array
//   READS 2   texels tile by tile: a subgroup takes a small square, whose texels a GPU keeps close together
//
// docs/ladder/texture.md says what textures bring, and what they do not.
#define MORE_PUSH                                                                                                      \
    uint width; /* of the texture: a power of two, 16 at least */                                                      \
    uint tiles; /* in it */                                                                                            \
    uint layer; /* of its layers, which are all the same, the one to read */
#include "../rung.glsl"

#if READS != 0
layout(set = 0, binding = 4) uniform texture2DArray texels;

T texel(uint x, uint y) {
    return texelFetch(texels, ivec3(x, y, layer), 0).r;
}
#endif

// Z order: invocations 0 to 255 fill 16 x 16 texels so that each 4, 8, 16, 32 of them that follow one another have a square, or
// two side by side. The even bits of the number make x, the odd ones y.
uint even_bits(uint i) {
    return i & 1 | i >> 1 & 2 | i >> 2 & 4 | i >> 3 & 8;
}

void main() {
    if (!HAS_WORK)
        return;
    T sum = T(0);
#if READS == 0
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += elements[i];
#elif READS == 1
    for (uint i = global_thread; i < n; i += grid_threads)
        sum += texel(i % width, i / width);
#else // groups have 256 invocations; texels beyond the last element are 0
    uint in_row = width / 16, x = even_bits(tid), y = even_bits(tid >> 1);
    for (uint tile = group; tile < tiles; tile += groups)
        sum += texel(tile % in_row * 16 + x, tile / in_row * 16 + y);
#endif
    deliver(group_sum(sum));
}
