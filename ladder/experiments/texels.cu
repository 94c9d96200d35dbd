// Texels by rows and by tiles, each found by divisions and by shifts. For docs/ladder/texture.md; ncu counts sectors and
// instructions:
//
//     ncu --metrics lts__t_sectors_srcunit_tex.sum,smsp__inst_executed.sum ./a.out
#include "experiment.cuh"

constexpr unsigned THREADS = 256, WIDTH = 8192, HEIGHT = 4096, TILE = 16, COPIES = 3;

enum how { ARRAY, ROWS, TILES };

// As in ladder/cuda/applications/texture.cu.
__device__ inline unsigned even_bits(unsigned i) {
    return (i & 1) | (i >> 1 & 2) | (i >> 2 & 4) | (i >> 3 & 8);
}
__device__ inline float texel(cudaTextureObject_t texels, unsigned x, unsigned y) {
    return tex2D<float>(texels, float(x) + 0.5f, float(y) + 0.5f);
}

// `width` is a power of two, which the compiler does not know: it makes shifts only where SHIFTS says so.
template <how HOW, bool SHIFTS>
__global__ void __launch_bounds__(THREADS)
    read_all(const float *array, cudaTextureObject_t texels, unsigned width, float *out) {
    const unsigned n = width * HEIGHT, per_row = HOW == TILES ? width / TILE : width, shift = __ffs(per_row) - 1;
    const unsigned first = HOW == TILES ? blockIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned step = HOW == TILES ? gridDim.x : gridDim.x * blockDim.x, count = HOW == TILES ? n / THREADS : n;
    const unsigned x = even_bits(threadIdx.x), y = even_bits(threadIdx.x >> 1);
    float sum = 0;
    for (unsigned i = first; i < count; i += step) {
        unsigned column = SHIFTS ? i & (per_row - 1) : i % per_row, row = SHIFTS ? i >> shift : i / per_row;
        sum += HOW == ARRAY  ? array[i]
               : HOW == ROWS ? texel(texels, column, row)
                             : texel(texels, column * TILE + x, row * TILE + y);
    }
    if (sum == 1) // never: all are 0, which the compiler cannot know
        *out = sum;
}

static cudaTextureObject_t texture_of(const float *array) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texels;
    resource.resType = cudaResourceTypeArray;
    CHECK(cudaMallocArray(&resource.res.array.array, &format, WIDTH, HEIGHT));
    CHECK(cudaMemcpy2DToArray(resource.res.array.array, 0, 0, array, WIDTH * 4, WIDTH * 4, HEIGHT,
                              cudaMemcpyDeviceToDevice));
    CHECK(cudaCreateTextureObject(&texels, &resource, &description, nullptr));
    return texels;
}

int main() {
    const uint64_t n = uint64_t(WIDTH) * HEIGHT;
    float *arrays = zeros<float>(COPIES * n), *out = zeros<float>(1);
    cudaTextureObject_t textures[COPIES];
    for (cudaTextureObject_t &texture : textures)
        texture = texture_of(arrays);
    auto show = [&](const char *what, auto kernel) {
        unsigned run = 0, blocks = resident_blocks(kernel, THREADS);
        printf("%-28s %6.1f us\n", what,
               microseconds(
                   [&] {
                       unsigned copy = run++ % COPIES;
                       kernel<<<blocks, THREADS>>>(arrays + copy * n, textures[copy], WIDTH, out);
                   },
                   12));
    };
    show("an array", read_all<ARRAY, true>);
    show("texels by rows, shifts", read_all<ROWS, true>);
    show("texels by rows, divisions", read_all<ROWS, false>);
    show("texels by tiles, divisions", read_all<TILES, false>);
    show("texels by tiles, shifts", read_all<TILES, true>);
    return 0;
}
