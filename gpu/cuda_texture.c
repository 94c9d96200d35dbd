/* Textures of CUDA devices: memory in the order in which the device keeps pictures, and an object through which kernels read it. The
 * functions for that are needed by nothing else, and are looked for here. */
#include "gpu/cuda.h"

#include "drivers/cuda.h"

#include <stdio.h>
#include <string.h>

typedef struct CUarray_st *cu_array;

/* CUDA_ARRAY_DESCRIPTOR of cuda.h. */
typedef struct array_shape {
    size_t width, height;
    int format;
    unsigned channels;
} array_shape;

/* A side of CUDA_MEMCPY2D, and that. */
typedef struct copy_side {
    size_t x_in_bytes, y;
    int kind;
    const void *host;
    rd_cu_address device;
    cu_array array;
    size_t pitch;
} copy_side;

typedef struct copy_2d {
    copy_side from, to;
    size_t width_in_bytes, height;
} copy_2d;

/* CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC. */
typedef struct resource {
    int kind;
    union {
        cu_array array;
        int room[32];
    } what;
    unsigned flags;
} resource;

typedef struct reading {
    int address_mode[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap[3], border[4];
    int room[12];
} reading;

enum { FORMAT_FLOAT = 0x20, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, RESOURCE_ARRAY = 0, ADDRESS_CLAMP = 1 };

/* clang-format off */
#define FUNCTIONS(FUNCTION) \
    FUNCTION(cuArrayCreate, "cuArrayCreate_v2", (cu_array *array, const array_shape *shape)) \
    FUNCTION(cuArrayDestroy, "cuArrayDestroy", (cu_array array)) \
    FUNCTION(cuMemcpy2DAsync, "cuMemcpy2DAsync_v2", (const copy_2d *copy, rd_cu_stream stream)) \
    FUNCTION(cuTexObjectCreate, "cuTexObjectCreate", \
             (uint64_t *object, const resource *of, const reading *how, const void *view)) \
    FUNCTION(cuTexObjectDestroy, "cuTexObjectDestroy", (uint64_t object))
/* clang-format on */

#include "gpu/cuda_functions.h"

static bool check(gpu_cuda *device, const char *function, rd_cu_result result) {
    char text[160], what[240];
    if (result == RD_CU_SUCCESS)
        return true;
    snprintf(what, sizeof what, "%s: %s", function,
             rd_cuda_result_text(rd_cuda_driver_open(NULL), result, text, sizeof text));
    gpu_cuda_fail(device, what);
    return false;
}

gpu_cuda_texture gpu_cuda_texture_create(gpu_cuda *device, uint64_t texels, unsigned width, unsigned height) {
    functions cu = {0};
    gpu_cuda_texture texture = {0};
    cu_array array = NULL;
    const array_shape shape = {.width = width, .height = height, .format = FORMAT_FLOAT, .channels = 1};
    if (!find_functions(&cu))
        gpu_cuda_fail(device, "this driver has no textures");
    if (gpu_cuda_error(device) || !check(device, "cuArrayCreate", cu.cuArrayCreate(&array, &shape)))
        return texture;
    texture.array = array;
    const copy_2d copy = {.from = {.kind = MEMORY_DEVICE, .device = texels, .pitch = width * sizeof(float)},
                          .to = {.kind = MEMORY_ARRAY, .array = array},
                          .width_in_bytes = width * sizeof(float),
                          .height = height};
    const resource of = {.kind = RESOURCE_ARRAY, .what.array = array};
    const reading how = {.address_mode = {ADDRESS_CLAMP, ADDRESS_CLAMP, ADDRESS_CLAMP}}; /* no filter */
    if (check(device, "cuMemcpy2DAsync", cu.cuMemcpy2DAsync(&copy, gpu_cuda_stream(device))))
        check(device, "cuTexObjectCreate", cu.cuTexObjectCreate(&texture.object, &of, &how, NULL));
    return texture;
}

void gpu_cuda_texture_destroy(gpu_cuda_texture *texture) {
    functions cu = {0};
    if (texture->array && find_functions(&cu)) {
        if (texture->object)
            cu.cuTexObjectDestroy(texture->object);
        cu.cuArrayDestroy(texture->array);
    }
    *texture = (gpu_cuda_texture){0};
}
