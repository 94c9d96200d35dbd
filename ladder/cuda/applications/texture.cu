// Application texture: a sum whose elements are texels. They come by tex2D with whole coordinates and no filter. (A)
//
//   array   the same elements from an array, to compare with
//   rows    texels row by row: a warp takes neighbours of one row, as it would of an array
//   tiles   texels tile by tile: a warp takes 8 x 4 texels, which a GPU keeps close together
//
// docs/ladder/texture.md says what textures bring, and what they do not.
#include "operator.cuh"

using sum = addition<f32>;

// Z order: threads 0 to 255 fill 16 x 16 texels so that each 4, 8, 16, 32 of them that follow one another have a square, or two
// side by side. The even bits of the number make x, the odd ones y.
__device__ inline unsigned even_bits(unsigned i) {
    return (i & 1) | (i >> 1 & 2) | (i >> 2 & 4) | (i >> 3 & 8);
}

// Texels are found by floats, and the middle of texel 0 is at 0.5.
__device__ inline f32 texel(cudaTextureObject_t texels, unsigned x, unsigned y) {
    return tex2D<f32>(texels, f32(x) + 0.5f, f32(y) + 0.5f);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    texture_array_f32(const f32 *elements, cudaTextureObject_t, unsigned, uint64_t, uint64_t n, f32 *partials,
                      f32 *result, unsigned *ticket) {
    f32 mine = 0;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        mine += elements[i];
    combine_grid<sum>(mine, n, partials, result, ticket);
}

// The width is a power of two: what is written as a division is a shift.
extern "C" __global__ void __launch_bounds__(THREADS)
    texture_rows_f32(const f32 *, cudaTextureObject_t texels, unsigned width, uint64_t, uint64_t n, f32 *partials,
                     f32 *result, unsigned *ticket) {
    f32 mine = 0;
    unsigned shift = __ffs(width) - 1;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        mine += texel(texels, i & (width - 1), i >> shift);
    combine_grid<sum>(mine, n, partials, result, ticket);
}

// Texels behind the last element are 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    texture_tiles_f32(const f32 *, cudaTextureObject_t texels, unsigned width, uint64_t tiles, uint64_t n,
                      f32 *partials, f32 *result, unsigned *ticket) {
    f32 mine = 0;
    unsigned in_row = width / 16, x = even_bits(threadIdx.x), y = even_bits(threadIdx.x >> 1);
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        mine += texel(texels, tile % in_row * 16 + x, tile / in_row * 16 + y);
    combine_grid<sum>(mine, n, partials, result, ticket);
}
