// Texels by rows and by tiles, each found by divisions and by shifts, and each from a texture alone and from a layer of an array of
// them, by floats and by whole numbers. For docs/ladder/texture.md; ncu counts sectors and instructions:
//
//     ncu --metrics lts__t_sectors_srcunit_tex.sum,smsp__inst_executed.sum ./a.out
#include "experiment.cuh"

constexpr unsigned THREADS = 256, WIDTH = 8192, HEIGHT = 4096, TILE = 16, COPIES = 3;

enum how { ARRAY, ROWS, TILES };
enum load { FLOATS, WHOLE, LAYER, WHOLE_LAYER };

// As in ladder/cuda/applications/texture.cu.
__device__ inline unsigned even_bits(unsigned i) {
    return (i & 1) | (i >> 1 & 2) | (i >> 2 & 4) | (i >> 3 & 8);
}

// Whole numbers, as texelFetch() takes them, are said in PTX: CUDA C has them for linear memory alone.
template <load LOAD> __device__ inline float texel(cudaTextureObject_t texels, unsigned x, unsigned y, unsigned layer) {
    float value, unused[3];
    if (LOAD == FLOATS)
        return tex2D<float>(texels, float(x) + 0.5f, float(y) + 0.5f);
    if (LOAD == LAYER)
        return tex2DLayered<float>(texels, float(x) + 0.5f, float(y) + 0.5f, int(layer));
    if (LOAD == WHOLE)
        asm("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
            : "=f"(value), "=f"(unused[0]), "=f"(unused[1]), "=f"(unused[2])
            : "l"(texels), "r"(x), "r"(y));
    else
        asm("tex.a2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%7, %5, %6, %6}];"
            : "=f"(value), "=f"(unused[0]), "=f"(unused[1]), "=f"(unused[2])
            : "l"(texels), "r"(x), "r"(y), "r"(layer));
    return value;
}

// `width` is a power of two, which the compiler does not know: it makes shifts only where SHIFTS says so.
template <how HOW, bool SHIFTS, load LOAD = FLOATS>
__global__ void __launch_bounds__(THREADS)
    read_all(const float *array, cudaTextureObject_t texels, unsigned layer, unsigned width, float *out) {
    const unsigned n = width * HEIGHT, per_row = HOW == TILES ? width / TILE : width, shift = __ffs(per_row) - 1;
    const unsigned first = HOW == TILES ? blockIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned step = HOW == TILES ? gridDim.x : gridDim.x * blockDim.x, count = HOW == TILES ? n / THREADS : n;
    const unsigned x = even_bits(threadIdx.x), y = even_bits(threadIdx.x >> 1);
    float sum = 0;
    for (unsigned i = first; i < count; i += step) {
        unsigned column = SHIFTS ? i & (per_row - 1) : i % per_row, row = SHIFTS ? i >> shift : i / per_row;
        sum += HOW == ARRAY  ? array[i]
               : HOW == ROWS ? texel<LOAD>(texels, column, row, layer)
                             : texel<LOAD>(texels, column * TILE + x, row * TILE + y, layer);
    }
    if (sum == 1) // never: all are 0, which the compiler cannot know
        *out = sum;
}

// A texture alone where `layers` is 0, else an array of so many.
static cudaTextureObject_t texture_of(float *array, unsigned layers) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaMemcpy3DParms copy = {};
    cudaTextureObject_t texels;
    resource.resType = cudaResourceTypeArray;
    CHECK(cudaMalloc3DArray(&resource.res.array.array, &format, make_cudaExtent(WIDTH, HEIGHT, layers),
                            layers ? cudaArrayLayered : cudaArrayDefault));
    copy.srcPtr = make_cudaPitchedPtr(array, WIDTH * 4, WIDTH, HEIGHT);
    copy.dstArray = resource.res.array.array;
    copy.extent = make_cudaExtent(WIDTH, HEIGHT, layers ? layers : 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3D(&copy));
    CHECK(cudaCreateTextureObject(&texels, &resource, &description, nullptr));
    return texels;
}

int main() {
    const uint64_t n = uint64_t(WIDTH) * HEIGHT;
    float *arrays = zeros<float>(COPIES * n), *out = zeros<float>(1);
    cudaTextureObject_t textures[COPIES];
    for (cudaTextureObject_t &texture : textures)
        texture = texture_of(arrays, 0);
    cudaTextureObject_t layered = texture_of(arrays, COPIES);
    auto show = [&](const char *what, auto kernel, bool layers) {
        unsigned run = 0, blocks = resident_blocks(kernel, THREADS);
        printf("%-48s %6.1f us\n", what,
               microseconds(
                   [&] {
                       unsigned copy = run++ % COPIES;
                       kernel<<<blocks, THREADS>>>(arrays + copy * n, layers ? layered : textures[copy], copy, WIDTH,
                                                   out);
                   },
                   12));
    };
    show("an array", read_all<ARRAY, true>, false);
    show("texels by rows, shifts", read_all<ROWS, true>, false);
    show("texels by rows, divisions", read_all<ROWS, false>, false);
    show("texels by tiles, divisions", read_all<TILES, false>, false);
    show("texels by tiles, shifts", read_all<TILES, true>, false);
    show("texels by rows, shifts, whole numbers", read_all<ROWS, true, WHOLE>, false);
    show("texels by tiles, shifts, whole numbers", read_all<TILES, true, WHOLE>, false);
    show("texels by rows, shifts, a layer", read_all<ROWS, true, LAYER>, true);
    show("texels by tiles, shifts, a layer", read_all<TILES, true, LAYER>, true);
    show("texels by rows, shifts, a layer, whole numbers", read_all<ROWS, true, WHOLE_LAYER>, true);
    show("texels by tiles, shifts, a layer, whole numbers", read_all<TILES, true, WHOLE_LAYER>, true);
    return 0;
}
