/* A libcuda.so.1 for machines without a GPU: the functions that the CUDA backend and its tests call, over host memory,
 * with the CPU's kernels in place of the GPU's. What is tested with it is all of the backend but its kernels: arguments,
 * contexts, lanes, staging of host data, workspaces, what is launched and what comes home.
 *
 * Not a model of CUDA: everything is done by the time that a call returns. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/backend.h"
#include "cuda/driver.h"
#include "cuda/kernels/call.h"
#include "exact/partial.h"

#define API __attribute__((visibility("default"))) rd_cu_result

extern const rd_cuda_image rd_cuda_images[]; /* the same table as in the program that loads this */

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, DESTROYED = 709 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is static and changes */

/* ---------------------------------------------------------------------------------------------------------------------
 * The device
 * ------------------------------------------------------------------------------------------------------------------ */

API cuInit(unsigned flags);
API cuInit(unsigned flags) {
    (void)flags;
    return RD_CU_SUCCESS;
}

#define GETTER(function, T, value)                                                                                     \
    API function(T *result);                                                                                           \
    API function(T *result) {                                                                                          \
        *result = value;                                                                                               \
        return RD_CU_SUCCESS;                                                                                          \
    }
GETTER(cuDriverGetVersion, int, 13000)
GETTER(cuDeviceGetCount, int, 1)

#define TEXT(function, value)                                                                                          \
    API function(rd_cu_result result, const char **text);                                                              \
    API function(rd_cu_result result, const char **text) {                                                             \
        (void)result;                                                                                                  \
        *text = value;                                                                                                 \
        return RD_CU_SUCCESS;                                                                                          \
    }
TEXT(cuGetErrorName, "FAKE_ERROR")
TEXT(cuGetErrorString, "the fake driver refuses")

API cuDeviceGet(rd_cu_device *device, int ordinal);
API cuDeviceGet(rd_cu_device *device, int ordinal) {
    *device = ordinal;
    return RD_CU_SUCCESS;
}

API cuDeviceGetName(char *name, int room, rd_cu_device device);
API cuDeviceGetName(char *name, int room, rd_cu_device device) {
    (void)device;
    strncpy(name, "fake", (size_t)room);
    return RD_CU_SUCCESS;
}

API cuDeviceGetAttribute(int *value, int attribute, rd_cu_device device);
API cuDeviceGetAttribute(int *value, int attribute, rd_cu_device device) {
    (void)device;
    *value = attribute == RD_CU_DEVICE_MULTIPROCESSORS ? 4 : attribute == RD_CU_DEVICE_CAPABILITY_MAJOR ? 9 : 0;
    return RD_CU_SUCCESS;
}

API cuDeviceTotalMem_v2(size_t *bytes, rd_cu_device device);
API cuDeviceTotalMem_v2(size_t *bytes, rd_cu_device device) {
    (void)device;
    *bytes = (size_t)1 << 30;
    return RD_CU_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Contexts. Made ones take turns in two places, so that a handle is soon another's.
 * ------------------------------------------------------------------------------------------------------------------ */

struct CUctx_st {
    bool alive;
    unsigned long long id;
};
enum { CONTEXTS = 2, DEPTH = 16 };
static struct CUctx_st primary = {true, 1}, made[CONTEXTS];
static unsigned long long last_id = 1;
static _Thread_local rd_cu_context stack[DEPTH];
static _Thread_local int depth;

API cuDevicePrimaryCtxRetain(rd_cu_context *context, rd_cu_device device);
API cuDevicePrimaryCtxRetain(rd_cu_context *context, rd_cu_device device) {
    (void)device;
    *context = &primary;
    return RD_CU_SUCCESS;
}

#define REFUSED(function, parameters)                                                                                  \
    API function parameters;                                                                                           \
    API function parameters {                                                                                          \
        return INVALID_VALUE;                                                                                          \
    }
#define ACCEPTED(function, parameters)                                                                                 \
    API function parameters;                                                                                           \
    API function parameters {                                                                                          \
        return RD_CU_SUCCESS;                                                                                          \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
ACCEPTED(cuDevicePrimaryCtxRelease_v2, (rd_cu_device device))
REFUSED(cuDevicePrimaryCtxReset_v2, (rd_cu_device device))
ACCEPTED(cuCtxSynchronize, (void))
ACCEPTED(cuModuleUnload, (rd_cu_module module))
ACCEPTED(cuFuncSetAttribute, (rd_cu_function function, int attribute, int value))
ACCEPTED(cuStreamSynchronize, (rd_cu_stream stream))
REFUSED(cuEventCreate, (rd_cu_event * event, unsigned flags))
REFUSED(cuEventDestroy_v2, (rd_cu_event event))
REFUSED(cuEventRecord, (rd_cu_event event, rd_cu_stream stream))
REFUSED(cuEventSynchronize, (rd_cu_event event))
REFUSED(cuEventElapsedTime, (float *milliseconds, rd_cu_event from, rd_cu_event to))
#pragma GCC diagnostic pop

API cuCtxCreate_v2(rd_cu_context *context, unsigned flags, rd_cu_device device);
API cuCtxCreate_v2(rd_cu_context *context, unsigned flags, rd_cu_device device) {
    (void)flags, (void)device;
    *context = &made[last_id % CONTEXTS];
    **context = (struct CUctx_st){true, ++last_id};
    stack[depth++] = *context;
    return RD_CU_SUCCESS;
}

API cuCtxDestroy_v2(rd_cu_context context);
API cuCtxDestroy_v2(rd_cu_context context) {
    context->alive = false;
    depth -= depth && stack[depth - 1] == context;
    return RD_CU_SUCCESS;
}

API cuCtxGetId(rd_cu_context context, unsigned long long *id);
API cuCtxGetId(rd_cu_context context, unsigned long long *id) {
    *id = context->id;
    return RD_CU_SUCCESS;
}

API cuCtxGetCurrent(rd_cu_context *context);
API cuCtxGetCurrent(rd_cu_context *context) {
    *context = depth ? stack[depth - 1] : NULL;
    return RD_CU_SUCCESS;
}

API cuCtxGetDevice(rd_cu_device *device);
API cuCtxGetDevice(rd_cu_device *device) {
    *device = 0;
    return depth ? RD_CU_SUCCESS : INVALID_CONTEXT;
}

API cuCtxPushCurrent_v2(rd_cu_context context);
API cuCtxPushCurrent_v2(rd_cu_context context) {
    if (!context || !context->alive || depth == DEPTH)
        return context ? DESTROYED : INVALID_CONTEXT;
    stack[depth++] = context;
    return RD_CU_SUCCESS;
}

API cuCtxPopCurrent_v2(rd_cu_context *context);
API cuCtxPopCurrent_v2(rd_cu_context *context) {
    if (!depth)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return RD_CU_SUCCESS;
}

API cuCtxSetCurrent(rd_cu_context context);
API cuCtxSetCurrent(rd_cu_context context) {
    depth -= depth > 0;
    return context ? cuCtxPushCurrent_v2(context) : RD_CU_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory: the host's, with a note of what kind it is
 * ------------------------------------------------------------------------------------------------------------------ */

struct block {
    uintptr_t at;
    size_t size;
    unsigned kind; /* RD_CU_MEMORY_HOST, _DEVICE, or MANAGED */
};
enum { BLOCKS = 4096, MANAGED = 3 };
static struct block blocks[BLOCKS];

static rd_cu_result allocate(size_t size, unsigned kind, uintptr_t *address) {
    struct block *free_block = blocks;
    void *memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    pthread_mutex_lock(&lock);
    while (free_block < blocks + BLOCKS && free_block->at)
        free_block++;
    bool found = memory && free_block < blocks + BLOCKS;
    if (found)
        *free_block = (struct block){*address = (uintptr_t)memory, size, kind};
    pthread_mutex_unlock(&lock);
    if (!found)
        free(memory);
    return found ? RD_CU_SUCCESS : RD_CU_ERROR_OUT_OF_MEMORY;
}

static rd_cu_result release(uintptr_t address) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BLOCKS && !found; i++)
        if (address && blocks[i].at == address) {
            blocks[i] = (struct block){0};
            found = true;
        }
    pthread_mutex_unlock(&lock);
    if (found)
        free((void *)address);
    return found ? RD_CU_SUCCESS : INVALID_VALUE;
}

API cuMemAlloc_v2(rd_cu_address *address, size_t bytes);
API cuMemAlloc_v2(rd_cu_address *address, size_t bytes) {
    return allocate(bytes, RD_CU_MEMORY_DEVICE, address);
}

API cuMemAllocManaged(rd_cu_address *address, size_t bytes, unsigned flags);
API cuMemAllocManaged(rd_cu_address *address, size_t bytes, unsigned flags) {
    (void)flags;
    return allocate(bytes, MANAGED, address);
}

API cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
API cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    (void)flags;
    uintptr_t address = 0;
    rd_cu_result result = allocate(bytes, RD_CU_MEMORY_HOST, &address);
    *pointer = (void *)address;
    return result;
}

API cuMemFree_v2(rd_cu_address address);
API cuMemFree_v2(rd_cu_address address) {
    return release(address);
}

API cuMemFreeHost(void *pointer);
API cuMemFreeHost(void *pointer) {
    return release((uintptr_t)pointer);
}

API cuMemGetInfo_v2(size_t *available, size_t *total);
API cuMemGetInfo_v2(size_t *available, size_t *total) {
    *available = *total = (size_t)1 << 30;
    return RD_CU_SUCCESS;
}

API cuPointerGetAttribute(void *value, int attribute, rd_cu_address pointer);
API cuPointerGetAttribute(void *value, int attribute, rd_cu_address pointer) {
    unsigned kind = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BLOCKS; i++)
        if (pointer >= blocks[i].at && pointer - blocks[i].at < blocks[i].size)
            kind = blocks[i].kind;
    pthread_mutex_unlock(&lock);
    unsigned type = kind == MANAGED ? RD_CU_MEMORY_DEVICE : kind, managed = kind == MANAGED;
    if (kind)
        memcpy(value, attribute == RD_CU_POINTER_IS_MANAGED ? &managed : &type, sizeof type);
    return kind ? RD_CU_SUCCESS : INVALID_VALUE;
}

static rd_cu_result copy(uintptr_t to, uintptr_t from, size_t bytes) {
    memmove((void *)to, (const void *)from, bytes);
    return RD_CU_SUCCESS;
}

API cuMemcpyHtoDAsync_v2(rd_cu_address to, const void *from, size_t bytes, rd_cu_stream stream);
API cuMemcpyHtoDAsync_v2(rd_cu_address to, const void *from, size_t bytes, rd_cu_stream stream) {
    (void)stream;
    return copy(to, (uintptr_t)from, bytes);
}

API cuMemcpyDtoHAsync_v2(void *to, rd_cu_address from, size_t bytes, rd_cu_stream stream);
API cuMemcpyDtoHAsync_v2(void *to, rd_cu_address from, size_t bytes, rd_cu_stream stream) {
    (void)stream;
    return copy((uintptr_t)to, from, bytes);
}

API cuMemcpyDtoDAsync_v2(rd_cu_address to, rd_cu_address from, size_t bytes, rd_cu_stream stream);
API cuMemcpyDtoDAsync_v2(rd_cu_address to, rd_cu_address from, size_t bytes, rd_cu_stream stream) {
    (void)stream;
    return copy(to, from, bytes);
}

API cuMemsetD8Async(rd_cu_address to, unsigned char value, size_t count, rd_cu_stream stream);
API cuMemsetD8Async(rd_cu_address to, unsigned char value, size_t count, rd_cu_stream stream) {
    (void)stream;
    memset((void *)(uintptr_t)to, value, count);
    return RD_CU_SUCCESS;
}

API cuMemsetD32Async(rd_cu_address to, unsigned value, size_t count, rd_cu_stream stream);
API cuMemsetD32Async(rd_cu_address to, unsigned value, size_t count, rd_cu_stream stream) {
    (void)stream;
    for (size_t i = 0; i < count; i++)
        ((unsigned *)(uintptr_t)to)[i] = value;
    return RD_CU_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels: known by the image that holds them and by name, such as exact_identity in kernels/exact_f64, or
 * integer_product_u8. What to reduce how is in the call.
 * ------------------------------------------------------------------------------------------------------------------ */

struct CUfunc_st {
    reduct_type element;
};

API cuModuleLoadData(rd_cu_module *module, const void *data);
API cuModuleLoadData(rd_cu_module *module, const void *data) {
    const uint64_t *words = data; /* a fat binary: the second word counts the bytes after the second */
    for (const rd_cuda_image *image = rd_cuda_images; image->name; image++) {
        const uint64_t *own = image->data;
        if (own[1] == words[1] && memcmp(own, words, words[1]) == 0) {
            *module = (rd_cu_module)(uintptr_t)image;
            return RD_CU_SUCCESS;
        }
    }
    return INVALID_VALUE;
}

API cuModuleGetFunction(rd_cu_function *function, rd_cu_module module, const char *name);
API cuModuleGetFunction(rd_cu_function *function, rd_cu_module module, const char *name) {
    static struct CUfunc_st functions[REDUCT_U64 + 1];
    const rd_cuda_image *image = (const void *)module;
    const char *in_name = strrchr(name, '_') + 1, *in_image = strrchr(image->name, '_');
    reduct_type element;
    if (reduct_type_parse(in_name, &element) != REDUCT_OK &&
        (!in_image || reduct_type_parse(in_image + 1, &element) != REDUCT_OK))
        return INVALID_VALUE;
    *function = &functions[element];
    pthread_mutex_lock(&lock);
    (*function)->element = element;
    pthread_mutex_unlock(&lock);
    return RD_CU_SUCCESS;
}

API cuFuncGetAttribute(int *value, int attribute, rd_cu_function function);
API cuFuncGetAttribute(int *value, int attribute, rd_cu_function function) {
    (void)attribute, (void)function;
    *value = 32;
    return RD_CU_SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, rd_cu_function function, int threads, size_t shared);
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, rd_cu_function function, int threads, size_t shared) {
    (void)function, (void)threads, (void)shared;
    *count = 2;
    return RD_CU_SUCCESS;
}

/* The reduction that a call describes. */
static reduct_reduction reduction_of(reduct_type element, const struct rd_cuda_call *call) {
    reduct_reduction reduction = {.element = element,
                                  .mode = call->exact ? REDUCT_EXACT : REDUCT_FAST,
                                  .nan = (reduct_nan)call->nan,
                                  .flags = (call->population ? REDUCT_POPULATION : 0) | (call->wrap ? REDUCT_WRAP : 0)};
    for (int i = REDUCT_SUM; i <= REDUCT_ARGMAX; i++) {
        const struct rd_operator *op = rd_operator((reduct_operator)i);
        if (op->transform == call->transform && op->combine == call->combine && op->finish == call->finish)
            reduction.op = (reduct_operator)i;
    }
    for (int i = REDUCT_F64; i <= REDUCT_I256; i++) {
        const struct rd_type *type = rd_type((reduct_type)i);
        if (type->kind == call->result_class && type->bytes == call->result_bytes &&
            type->precision == call->result_precision && type->max_exponent == call->result_max_exponent)
            reduction.result = (reduct_type)i;
    }
    return reduction;
}

static void leave_partial(const struct rd_partial *from, struct rd_cuda_partial *to) {
    const struct rd_operator *op = rd_operator(from->reduction.op);
    *to = (struct rd_cuda_partial){.ignored = from->ignored,
                                   .nans = from->nans,
                                   .plus_infinities = from->plus_infinities,
                                   .minus_infinities = from->minus_infinities,
                                   .nan_index = from->nan_index,
                                   .high = from->high,
                                   .low = from->low,
                                   .extreme = from->extreme,
                                   .index = from->index,
                                   .nonzero = from->nonzero,
                                   .found = from->found};
    if (op->combine != RD_ADD || !rd_is_exact(&from->reduction))
        return;
    memcpy(to->limb[0], from->sum.limb, (size_t)from->sum.length * sizeof(int64_t));
    if (op->transform == RD_MOMENTS)
        memcpy(to->limb[1], from->squares.limb, (size_t)from->squares.length * sizeof(int64_t));
}

static void finish(const struct rd_partial *partial, const struct rd_cuda_call *call) {
    unsigned char result[32];
    bool nan = partial->reduction.nan == REDUCT_NAN_ERROR && partial->nan_index != UINT64_MAX;
    reduct_status status = nan ? REDUCT_ERROR_NAN : rd_partial_finish(partial, partial->reduction.result, result, NULL);
    if (status == REDUCT_OK)
        memcpy(call->result, result, call->result_bytes);
    if (call->outcome)
        *call->outcome = (struct rd_cuda_outcome){.status = status, .index = nan ? partial->nan_index : UINT64_MAX};
}

static rd_cu_result run(rd_cu_function function, const struct rd_cuda_call *call) {
    struct rd_device cpu;
    struct rd_partial partial;
    const unsigned char *workspace = (const unsigned char *)call->workspace;
    for (size_t i = 0; i < offsetof(struct rd_cuda_workspace, slot); i++)
        if (workspace[i])
            return INVALID_VALUE;
    reduct_reduction reduction = reduction_of(function->element, call);
    rd_partial_init(&partial, &reduction);
    if (rd_cpu_backend.open("portable", &cpu, NULL) != REDUCT_OK)
        return INVALID_VALUE;
    if (call->count && rd_cpu_backend.accumulate(&cpu, call->x, call->y, call->count, 1, NULL, &partial, NULL))
        return INVALID_VALUE;
    partial.seen = call->count;
    if (call->partial)
        leave_partial(&partial, call->partial);
    else
        finish(&partial, call);
    return RD_CU_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Streams and graphs
 * ------------------------------------------------------------------------------------------------------------------ */

enum { NODES = 16 };
struct CUgraph_st {
    size_t count;
    struct {
        rd_cu_function function;
        struct rd_cuda_call call;
    } nodes[NODES];
};
typedef struct CUgraph_st *graph;

struct CUstream_st {
    graph captured; /* null while nothing is */
};

API cuStreamCreate(rd_cu_stream *stream, unsigned flags);
API cuStreamCreate(rd_cu_stream *stream, unsigned flags) {
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    return *stream ? RD_CU_SUCCESS : RD_CU_ERROR_OUT_OF_MEMORY;
}

API cuStreamDestroy_v2(rd_cu_stream stream);
API cuStreamDestroy_v2(rd_cu_stream stream) {
    free(stream);
    return RD_CU_SUCCESS;
}

API cuStreamBeginCapture_v2(rd_cu_stream stream, int mode);
API cuStreamBeginCapture_v2(rd_cu_stream stream, int mode) {
    (void)mode;
    stream->captured = calloc(1, sizeof *stream->captured);
    return stream->captured ? RD_CU_SUCCESS : RD_CU_ERROR_OUT_OF_MEMORY;
}

API cuStreamEndCapture(rd_cu_stream stream, graph *captured);
API cuStreamEndCapture(rd_cu_stream stream, graph *captured) {
    *captured = stream->captured;
    stream->captured = NULL;
    return RD_CU_SUCCESS;
}

API cuLaunchKernel(rd_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, rd_cu_stream stream, void **arguments,
                   void **extra);
API cuLaunchKernel(rd_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, rd_cu_stream stream, void **arguments,
                   void **extra) {
    (void)shared, (void)extra;
    bool fits = grid_x >= 1 && grid_x <= RD_CUDA_BLOCKS && grid_y == 1 && grid_z == 1 && block_x == RD_CUDA_THREADS &&
                block_y == 1 && block_z == 1;
    if (!fits)
        return INVALID_VALUE;
    if (!stream || !stream->captured)
        return run(function, arguments[0]);
    graph into = stream->captured;
    if (into->count == NODES)
        return INVALID_VALUE;
    into->nodes[into->count].function = function;
    into->nodes[into->count++].call = *(const struct rd_cuda_call *)arguments[0];
    return RD_CU_SUCCESS;
}

API cuGraphGetNodes(graph from, void **nodes, size_t *count);
API cuGraphGetNodes(graph from, void **nodes, size_t *count) {
    for (size_t i = 0; nodes && i < from->count && i < *count; i++)
        nodes[i] = &from->nodes[i];
    *count = from->count;
    return RD_CU_SUCCESS;
}

API cuGraphInstantiateWithFlags(graph *exec, graph from, unsigned long long flags);
API cuGraphInstantiateWithFlags(graph *exec, graph from, unsigned long long flags) {
    (void)flags;
    *exec = malloc(sizeof **exec);
    if (!*exec)
        return RD_CU_ERROR_OUT_OF_MEMORY;
    **exec = *from;
    return RD_CU_SUCCESS;
}

API cuGraphLaunch(graph exec, rd_cu_stream stream);
API cuGraphLaunch(graph exec, rd_cu_stream stream) {
    (void)stream;
    rd_cu_result result = RD_CU_SUCCESS;
    for (size_t i = 0; i < exec->count && result == RD_CU_SUCCESS; i++)
        result = run(exec->nodes[i].function, &exec->nodes[i].call);
    return result;
}

#define FREE_GRAPH(function)                                                                                           \
    API function(graph what);                                                                                          \
    API function(graph what) {                                                                                         \
        free(what);                                                                                                    \
        return RD_CU_SUCCESS;                                                                                          \
    }
FREE_GRAPH(cuGraphExecDestroy)
FREE_GRAPH(cuGraphDestroy)
