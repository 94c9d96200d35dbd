/* The CUDA driver, opened at run time: one binary runs with and without a GPU, and builds without a CUDA header.
 *
 * Only what is called is declared, under the driver's own names, so that NVIDIA's "CUDA Driver API" manual is the
 * reference for each. The library, gpu/ and the tests share it. */
#ifndef RD_CUDA_DRIVER_H
#define RD_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* The driver's types, as its binary interface has them. */
typedef int rd_cu_result; /* 0 is success */
typedef int rd_cu_device; /* an ordinal */
typedef uint64_t rd_cu_address;
typedef struct CUctx_st *rd_cu_context;
typedef struct CUmod_st *rd_cu_module;
typedef struct CUfunc_st *rd_cu_function;
typedef struct CUstream_st *rd_cu_stream;
typedef struct CUevent_st *rd_cu_event;

/* Numbers of cuda.h that are used. */
enum {
    RD_CU_SUCCESS = 0,
    RD_CU_ERROR_OUT_OF_MEMORY = 2,
    RD_CU_ERROR_STUB_LIBRARY = 34,
    RD_CU_ERROR_NO_DEVICE = 100,
    RD_CU_ERROR_NOT_READY = 600,
    RD_CU_ERROR_SYSTEM_DRIVER_MISMATCH = 803
};
enum {
    RD_CU_DEVICE_MULTIPROCESSORS = 16,
    RD_CU_DEVICE_MEMORY_CLOCK_KHZ = 36,
    RD_CU_DEVICE_MEMORY_BUS_BITS = 37,
    RD_CU_DEVICE_L2_BYTES = 38,
    RD_CU_DEVICE_THREADS_PER_MULTIPROCESSOR = 39,
    RD_CU_DEVICE_CAPABILITY_MAJOR = 75,
    RD_CU_DEVICE_CAPABILITY_MINOR = 76,
    RD_CU_DEVICE_MAX_SHARED_OPT_IN = 97
};
enum {
    RD_CU_FUNCTION_MAX_THREADS = 0,
    RD_CU_FUNCTION_SHARED_BYTES = 1,
    RD_CU_FUNCTION_REGISTERS = 4,
    RD_CU_FUNCTION_COMPILED_FOR = 5,
    RD_CU_FUNCTION_MAX_DYNAMIC_SHARED = 8
};
enum { RD_CU_POINTER_MEMORY_TYPE = 2, RD_CU_POINTER_IS_MANAGED = 8, RD_CU_POINTER_DEVICE_ORDINAL = 9 };
enum { RD_CU_MEMORY_HOST = 1, RD_CU_MEMORY_DEVICE = 2 };
enum { RD_CU_STREAM_NON_BLOCKING = 1, RD_CU_EVENT_DEFAULT = 0 };
enum { RD_CU_LAUNCH_COOPERATIVE = 2, RD_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6 };

/* CUlaunchAttribute and CUlaunchConfig. */
typedef struct rd_cu_launch_attribute {
    int id;
    union {
        int number;
        uint64_t room[8];
    } value;
} rd_cu_launch_attribute;

typedef struct rd_cu_launch {
    unsigned grid[3], block[3], dynamic_shared;
    rd_cu_stream stream;
    const rd_cu_launch_attribute *attributes;
    unsigned attribute_count;
} rd_cu_launch;

/* FUNCTION(name, symbol, parameters): the symbol differs from the name where the interface has been revised. */
/* clang-format off */
#define RD_CUDA_FUNCTIONS(FUNCTION) \
    FUNCTION(cuInit, "cuInit", (unsigned flags)) \
    FUNCTION(cuDriverGetVersion, "cuDriverGetVersion", (int *version)) \
    FUNCTION(cuGetErrorName, "cuGetErrorName", (rd_cu_result result, const char **name)) \
    FUNCTION(cuGetErrorString, "cuGetErrorString", (rd_cu_result result, const char **text)) \
    FUNCTION(cuDeviceGetCount, "cuDeviceGetCount", (int *count)) \
    FUNCTION(cuDeviceGet, "cuDeviceGet", (rd_cu_device *device, int ordinal)) \
    FUNCTION(cuDeviceGetName, "cuDeviceGetName", (char *name, int room, rd_cu_device device)) \
    FUNCTION(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, rd_cu_device device)) \
    FUNCTION(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *bytes, rd_cu_device device)) \
    FUNCTION(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (rd_cu_context *context, rd_cu_device device)) \
    FUNCTION(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (rd_cu_device device)) \
    FUNCTION(cuCtxGetCurrent, "cuCtxGetCurrent", (rd_cu_context *context)) \
    FUNCTION(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (rd_cu_context context)) \
    FUNCTION(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (rd_cu_context *context)) \
    FUNCTION(cuCtxGetDevice, "cuCtxGetDevice", (rd_cu_device *device)) \
    FUNCTION(cuCtxSetCurrent, "cuCtxSetCurrent", (rd_cu_context context)) \
    FUNCTION(cuCtxSynchronize, "cuCtxSynchronize", (void)) \
    FUNCTION(cuModuleLoadData, "cuModuleLoadData", (rd_cu_module *module, const void *image)) \
    FUNCTION(cuModuleUnload, "cuModuleUnload", (rd_cu_module module)) \
    FUNCTION(cuModuleGetFunction, "cuModuleGetFunction", \
             (rd_cu_function *function, rd_cu_module module, const char *name)) \
    FUNCTION(cuFuncGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, rd_cu_function function)) \
    FUNCTION(cuFuncSetAttribute, "cuFuncSetAttribute", (rd_cu_function function, int attribute, int value)) \
    FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor", \
             (int *blocks, rd_cu_function function, int threads, size_t dynamic_shared)) \
    FUNCTION(cuLaunchKernel, "cuLaunchKernel", \
             (rd_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
              unsigned block_y, unsigned block_z, unsigned dynamic_shared, rd_cu_stream stream, \
              void **arguments, void **extra)) \
    FUNCTION(cuPointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, rd_cu_address pointer)) \
    FUNCTION(cuMemGetInfo, "cuMemGetInfo_v2", (size_t *available, size_t *total)) \
    FUNCTION(cuMemAlloc, "cuMemAlloc_v2", (rd_cu_address *address, size_t bytes)) \
    FUNCTION(cuMemFree, "cuMemFree_v2", (rd_cu_address address)) \
    FUNCTION(cuMemHostAlloc, "cuMemHostAlloc", (void **pointer, size_t bytes, unsigned flags)) \
    FUNCTION(cuMemFreeHost, "cuMemFreeHost", (void *pointer)) \
    FUNCTION(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", \
             (rd_cu_address to, const void *from, size_t bytes, rd_cu_stream stream)) \
    FUNCTION(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", \
             (void *to, rd_cu_address from, size_t bytes, rd_cu_stream stream)) \
    FUNCTION(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", \
             (rd_cu_address to, rd_cu_address from, size_t bytes, rd_cu_stream stream)) \
    FUNCTION(cuMemsetD8Async, "cuMemsetD8Async", \
             (rd_cu_address to, unsigned char value, size_t count, rd_cu_stream stream)) \
    FUNCTION(cuMemsetD32Async, "cuMemsetD32Async", \
             (rd_cu_address to, unsigned value, size_t count, rd_cu_stream stream)) \
    FUNCTION(cuStreamCreate, "cuStreamCreate", (rd_cu_stream *stream, unsigned flags)) \
    FUNCTION(cuStreamDestroy, "cuStreamDestroy_v2", (rd_cu_stream stream)) \
    FUNCTION(cuStreamSynchronize, "cuStreamSynchronize", (rd_cu_stream stream)) \
    FUNCTION(cuStreamQuery, "cuStreamQuery", (rd_cu_stream stream)) \
    FUNCTION(cuStreamIsCapturing, "cuStreamIsCapturing", (rd_cu_stream stream, int *capturing)) \
    FUNCTION(cuEventCreate, "cuEventCreate", (rd_cu_event *event, unsigned flags)) \
    FUNCTION(cuEventDestroy, "cuEventDestroy_v2", (rd_cu_event event)) \
    FUNCTION(cuEventRecord, "cuEventRecord", (rd_cu_event event, rd_cu_stream stream)) \
    FUNCTION(cuEventSynchronize, "cuEventSynchronize", (rd_cu_event event)) \
    FUNCTION(cuEventElapsedTime, "cuEventElapsedTime", (float *milliseconds, rd_cu_event from, rd_cu_event to))
/* What not every driver has: null in one that does not. */
#define RD_CUDA_NEWER_FUNCTIONS(FUNCTION) \
    FUNCTION(cuCtxGetId, "cuCtxGetId", (rd_cu_context context, unsigned long long *id)) \
    FUNCTION(cuLaunchHostFunc, "cuLaunchHostFunc", (rd_cu_stream stream, void (*function)(void *), void *context)) \
    FUNCTION(cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters", \
             (int *clusters, rd_cu_function function, const rd_cu_launch *launch)) \
    FUNCTION(cuLaunchKernelEx, "cuLaunchKernelEx", \
             (const rd_cu_launch *launch, rd_cu_function function, void **arguments, void **extra))
/* clang-format on */

/* The oldest driver that will do: 11020 is CUDA 11.2. */
enum { RD_CUDA_VERSION_LEAST = 11020 };

typedef struct rd_cuda_driver {
#define RD_CUDA_MEMBER(name, symbol, parameters) rd_cu_result(*name) parameters;
    RD_CUDA_FUNCTIONS(RD_CUDA_MEMBER)
    RD_CUDA_NEWER_FUNCTIONS(RD_CUDA_MEMBER)
#undef RD_CUDA_MEMBER
    int version; /* 13000 for a driver that knows CUDA 13.0 */
    int devices; /* at least 1 */
} rd_cuda_driver;

/* The driver, opened and initialised on the first call, for the life of the process. Null where there is no driver, no
 * device, or a driver too old: `*why` (which may be null) is then one sentence that says so, in static storage.
 * Any number of threads may call this at once; all get the same answer. */
const rd_cuda_driver *rd_cuda_driver_open(const char **why);

/* What a result means: "out of memory (CUDA_ERROR_OUT_OF_MEMORY)", into `text`, which is returned. */
const char *rd_cuda_result_text(const rd_cuda_driver *driver, rd_cu_result result, char *text, size_t room);

/* Kernels that were compiled when the program was: what cmake/ReductCuda.cmake embeds. */
typedef struct rd_cuda_image {
    const char *name; /* "halving", from halving.cu; tables end with a null name */
    const void *data; /* for cuModuleLoadData() */
    unsigned least;   /* compute capability that it needs, 90 for 9.0; 0 for any */
} rd_cuda_image;

/* The image of that name in a table, or null. */
const rd_cuda_image *rd_cuda_image_find(const rd_cuda_image *images, const char *name);

#endif
