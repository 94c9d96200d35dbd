/* A libcuda.so.1 for machines without a GPU: the functions that the CUDA backend and its tests call, over host memory,
 * with the library's kernels compiled for the host (language.h), in grids that grid.h runs. So all of the backend is tested
 * with it: arguments, contexts, lanes, staging of host data, workspaces, what is launched and what kernels make of it.
 *
 * Kernels of the ladder run here as well: translate.py gives them a function that takes parameters as the driver's calls have
 * them. Those that need more than two blocks at the same time do not: clusters, launches that are cooperative.
 *
 * Not a model of CUDA's queues: everything is done by the time that a call returns. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cuda/kernels/each.h"
#include "cuda/kernels/groups.h"
#include "cuda/kernels/keys.h"
#include "cuda/kernels/many.h"
#include "cuda/kernels/numerals.h"
#include "cuda/kernels/ranks.h"
#include "cuda/kernels/several.h"
#include "drivers/cuda.h"
#include "grid.h"
#include "image.h"

#define API __attribute__((visibility("default"))) rd_cu_result

enum {
    INVALID_VALUE = 1,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    DESTROYED = 709
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that is static and changes */

/* ---------------------------------------------------------------------------------------------------------------------
 * The device: a small one, so that small data fill it. EMULATED_CUDA_DEVICES in the environment makes several of them, 1 unless
 * said. They share the host's memory, but each has its own: copies and launches of the library's kernels fail where an address
 * is in that of another device than the current context's, and so do streams and kernels of another context.
 * ------------------------------------------------------------------------------------------------------------------ */

enum { MULTIPROCESSORS = 4, BLOCKS_PER_MULTIPROCESSOR = 2, L2_BYTES = 8 << 10, DYNAMIC_MOST = 200 << 10 };

/* EMULATED_CUDA_CAPABILITY in the environment, as 75; otherwise what the build says. */
static int capability(void) {
    const char *text = getenv("EMULATED_CUDA_CAPABILITY");
    return text ? atoi(text) : EMULATED_CUDA_CAPABILITY;
}

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
enum { DEVICES = 8 };
static int device_count(void) {
    const char *text = getenv("EMULATED_CUDA_DEVICES");
    const int count = text ? atoi(text) : 1;
    return count < 1 ? 1 : count < DEVICES ? count : DEVICES;
}
GETTER(cuDriverGetVersion, int, 13000)
GETTER(cuDeviceGetCount, int, device_count())

#define TEXT(function, value)                                                                                          \
    API function(rd_cu_result result, const char **text);                                                              \
    API function(rd_cu_result result, const char **text) {                                                             \
        (void)result;                                                                                                  \
        *text = value;                                                                                                 \
        return RD_CU_SUCCESS;                                                                                          \
    }
TEXT(cuGetErrorName, "EMULATED_ERROR")
TEXT(cuGetErrorString, "the emulated driver refuses")

API cuDeviceGet(rd_cu_device *device, int ordinal);
API cuDeviceGet(rd_cu_device *device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < device_count() ? RD_CU_SUCCESS : INVALID_DEVICE;
}

API cuDeviceGetName(char *name, int room, rd_cu_device device);
API cuDeviceGetName(char *name, int room, rd_cu_device device) {
    (void)device;
    snprintf(name, (size_t)room, "emulated CUDA device");
    return RD_CU_SUCCESS;
}

/* How much slower f64 arithmetic is than f32's: EMULATED_CUDA_DOUBLE_RATIO in the environment. */
enum { DOUBLE_RATIO = 87 };
static int double_ratio(void) {
    const char *named = getenv("EMULATED_CUDA_DOUBLE_RATIO");
    return named ? atoi(named) : 2;
}

API cuDeviceGetAttribute(int *value, int attribute, rd_cu_device device);
API cuDeviceGetAttribute(int *value, int attribute, rd_cu_device device) {
    (void)device;
    *value = attribute == RD_CU_DEVICE_MULTIPROCESSORS    ? MULTIPROCESSORS
             : attribute == RD_CU_DEVICE_CAPABILITY_MAJOR ? capability() / 10
             : attribute == RD_CU_DEVICE_CAPABILITY_MINOR ? capability() % 10
             : attribute == RD_CU_DEVICE_L2_BYTES         ? L2_BYTES
             : attribute == DOUBLE_RATIO                  ? double_ratio()
                                                          : 0;
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
    rd_cu_device device;
};
enum { CONTEXTS = 2, DEPTH = 16 };
static struct CUctx_st primary[DEVICES] = {{true, 1, 0}, {true, 2, 1}, {true, 3, 2}, {true, 4, 3},
                                           {true, 5, 4}, {true, 6, 5}, {true, 7, 6}, {true, 8, 7}},
                       made[CONTEXTS];
static unsigned long long last_id = DEVICES;
static _Thread_local rd_cu_context stack[DEPTH];
static _Thread_local int depth;

API cuDevicePrimaryCtxRetain(rd_cu_context *context, rd_cu_device device);
API cuDevicePrimaryCtxRetain(rd_cu_context *context, rd_cu_device device) {
    *context = &primary[device];
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
ACCEPTED(cuStreamSynchronize, (rd_cu_stream stream))
ACCEPTED(cuStreamQuery, (rd_cu_stream stream))
ACCEPTED(cuEventSynchronize, (rd_cu_event event))
#pragma GCC diagnostic pop

API cuCtxCreate_v2(rd_cu_context *context, unsigned flags, rd_cu_device device);
API cuCtxCreate_v2(rd_cu_context *context, unsigned flags, rd_cu_device device) {
    (void)flags;
    *context = &made[last_id % CONTEXTS];
    **context = (struct CUctx_st){true, ++last_id, device};
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
    *device = depth ? stack[depth - 1]->device : 0;
    return depth ? RD_CU_SUCCESS : INVALID_CONTEXT;
}

/* The device of the current context, the first one where there is none. */
static rd_cu_device current_device(void) {
    return depth ? stack[depth - 1]->device : 0;
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
 * Memory: the host's, with a note of what kind it is. Each piece has pages before and behind it that must not be touched,
 * and ends as close to the latter as its alignment allows; no address is of any use once it is free.
 * ------------------------------------------------------------------------------------------------------------------ */

struct block {
    uintptr_t at;
    size_t size;
    unsigned kind; /* RD_CU_MEMORY_HOST, _DEVICE, or MANAGED */
    rd_cu_device device;
};
enum { BLOCKS = 4096, MANAGED = 3, PAGE = 4096, ALIGNMENT = 256 };
static struct block blocks[BLOCKS];

/* As much of fresh memory as is filled: larger pieces are buffers, most of which is never used. */
enum { FILLED = 1 << 20 };

static size_t round_up(size_t size, size_t to) {
    return (size + to - 1) / to * to;
}

/* The size of what is mapped for a piece, guards included. */
static size_t mapped(size_t size) {
    return round_up(size, PAGE) + 2 * PAGE;
}

static void *map(size_t size) {
    unsigned char *memory = mmap(NULL, mapped(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (mprotect(memory + PAGE, mapped(size) - 2 * PAGE, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, mapped(size));
        return NULL;
    }
    unsigned char *piece = memory + mapped(size) - PAGE - round_up(size, ALIGNMENT);
    memset(piece, EMULATED_FRESH, size < FILLED ? round_up(size, ALIGNMENT) : FILLED);
    return piece;
}

static void unmap(uintptr_t at, size_t size) {
    munmap((void *)(at + round_up(size, ALIGNMENT) + PAGE - mapped(size)), mapped(size));
}

static rd_cu_result allocate(size_t size, unsigned kind, uintptr_t *address) {
    struct block *free_block = blocks;
    void *memory = size ? map(size) : NULL;
    pthread_mutex_lock(&lock);
    while (free_block < blocks + BLOCKS && free_block->at)
        free_block++;
    bool found = memory && free_block < blocks + BLOCKS;
    if (found)
        *free_block = (struct block){*address = (uintptr_t)memory, size, kind, current_device()};
    pthread_mutex_unlock(&lock);
    if (!found && memory)
        unmap((uintptr_t)memory, size);
    return found ? RD_CU_SUCCESS : RD_CU_ERROR_OUT_OF_MEMORY;
}

static rd_cu_result release(uintptr_t address) {
    struct block found = {0};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BLOCKS && !found.at; i++)
        if (address && blocks[i].at == address) {
            found = blocks[i];
            blocks[i] = (struct block){0};
        }
    pthread_mutex_unlock(&lock);
    if (found.at)
        unmap(found.at, found.size);
    return found.at ? RD_CU_SUCCESS : INVALID_VALUE;
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

/* What is known of an address; nothing of memory that the driver did not allocate. */
static struct block block_of(uintptr_t pointer) {
    struct block found = {0};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BLOCKS; i++)
        if (pointer >= blocks[i].at && pointer - blocks[i].at < blocks[i].size)
            found = blocks[i];
    pthread_mutex_unlock(&lock);
    return found;
}

/* Whether the current context's device can access it. */
static bool is_near(uintptr_t pointer) {
    if (device_count() == 1)
        return true;
    const struct block block = block_of(pointer);
    return block.kind != RD_CU_MEMORY_DEVICE || block.device == current_device();
}

API cuPointerGetAttribute(void *value, int attribute, rd_cu_address pointer);
API cuPointerGetAttribute(void *value, int attribute, rd_cu_address pointer) {
    const struct block block = block_of(pointer);
    const unsigned answer = attribute == RD_CU_POINTER_IS_MANAGED       ? block.kind == MANAGED
                            : attribute == RD_CU_POINTER_DEVICE_ORDINAL ? (unsigned)block.device
                            : block.kind == MANAGED                     ? RD_CU_MEMORY_DEVICE
                                                                        : block.kind;
    if (block.kind)
        memcpy(value, &answer, sizeof answer);
    return block.kind ? RD_CU_SUCCESS : INVALID_VALUE;
}

struct CUstream_st {
    struct CUgraph_st *captured; /* null while nothing is */
    rd_cu_device device;
};

/* Whether the current context is one of a stream's device; null stands for the current context's own. */
static bool is_stream_here(const struct CUstream_st *stream) {
    return depth && (!stream || stream->device == current_device());
}

/* Copies so far, for tests to ask. */
static unsigned long long copies;

__attribute__((visibility("default"))) unsigned long long emulated_cuda_copies(void);
unsigned long long emulated_cuda_copies(void) {
    return __atomic_load_n(&copies, __ATOMIC_RELAXED);
}

static rd_cu_result copy(uintptr_t to, uintptr_t from, size_t bytes, const struct CUstream_st *stream) {
    __atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
    if (!is_stream_here(stream))
        return INVALID_HANDLE;
    if (!is_near(to) || !is_near(from))
        return INVALID_VALUE;
    memmove((void *)to, (const void *)from, bytes);
    return RD_CU_SUCCESS;
}

API cuMemcpyHtoDAsync_v2(rd_cu_address to, const void *from, size_t bytes, rd_cu_stream stream);
API cuMemcpyHtoDAsync_v2(rd_cu_address to, const void *from, size_t bytes, rd_cu_stream stream) {
    return copy(to, (uintptr_t)from, bytes, stream);
}

API cuMemcpyDtoHAsync_v2(void *to, rd_cu_address from, size_t bytes, rd_cu_stream stream);
API cuMemcpyDtoHAsync_v2(void *to, rd_cu_address from, size_t bytes, rd_cu_stream stream) {
    return copy((uintptr_t)to, from, bytes, stream);
}

API cuMemcpyDtoDAsync_v2(rd_cu_address to, rd_cu_address from, size_t bytes, rd_cu_stream stream);
API cuMemcpyDtoDAsync_v2(rd_cu_address to, rd_cu_address from, size_t bytes, rd_cu_stream stream) {
    return copy(to, from, bytes, stream);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels: an image is a mark with a name, its module a shared object of that name beside this one
 * ------------------------------------------------------------------------------------------------------------------ */

struct CUfunc_st {
    union {
        void (*kernel)(struct rd_cuda_call call);
        void (*many_kernel)(struct rd_cuda_many many);            /* of kernels that are called many_... */
        void (*masked_kernel)(struct rd_cuda_masked masked);      /* masked_... */
        void (*groups_kernel)(struct rd_cuda_groups groups);      /* groups_add_..., groups_special_... */
        void (*all_groups_kernel)(struct rd_cuda_groups_all all); /* other groups_... */
        void (*ranks_kernel)(struct rd_cuda_ranks ranks);         /* ranks_... */
        void (*answers_kernel)(struct rd_cuda_answers answers);   /* answers_... */
        void (*together_kernel)(struct rd_cuda_together all);     /* together_... */
        void (*each_kernel)(struct rd_cuda_each each);            /* each_... */
        void (*keys_kernel)(struct rd_cuda_keys keys);            /* keys_... */
        void (*numerals_kernel)(struct rd_cuda_numerals all);     /* numerals_... */
        void (*planes_kernel)(struct rd_cuda_numeral_planes all); /* planes_... */
    };
    bool takes_many, takes_masked, takes_groups, takes_all_groups, takes_ranks, takes_answers, takes_together,
        takes_each, takes_keys, takes_numerals, takes_planes;
    void (*call)(void **arguments); /* of kernels that are not the library's; else null */
    unsigned dynamic_most;          /* bytes of dynamic shared memory that it may be launched with */
    rd_cu_module module;
    rd_cu_function next;
};

struct CUmod_st {
    rd_cu_device device;
    void *library;
    void *(*shared)(void); /* where this thread has shared memory for kernels of the module */
    size_t shared_bytes;
    rd_cu_function functions;
};

/* ISO C has no conversion from object to function pointers, POSIX promises that the bytes are the same. */
static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* dl_iterate_phdr(): the size of the thread storage of the module with a number. */
struct storage {
    size_t number, bytes;
};
static int note_storage(struct dl_phdr_info *info, size_t size, void *noted) {
    (void)size;
    struct storage *storage = noted;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_tls_modid == storage->number && info->dlpi_phdr[i].p_type == PT_TLS)
            storage->bytes = info->dlpi_phdr[i].p_memsz;
    return 0;
}

static bool open_library(rd_cu_module module, const char *name) {
    char path[4096];
    Dl_info own;
    struct storage storage = {0};
    if (!dladdr(&lock, &own))
        return false;
    snprintf(path, sizeof path, "%.*s/%s.sm_%d.so", (int)(strrchr(own.dli_fname, '/') - own.dli_fname), own.dli_fname,
             name, capability());
    module->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module->library || !find(module->library, "emulated_shared", &module->shared)) {
        fprintf(stderr, "emulated CUDA: an image cannot be loaded: %s\n", dlerror());
        return false;
    }
    dlinfo(module->library, RTLD_DI_TLS_MODID, &storage.number);
    dl_iterate_phdr(note_storage, &storage);
    module->shared_bytes = storage.bytes;
    return true;
}

API cuModuleUnload(rd_cu_module module);
API cuModuleUnload(rd_cu_module module) {
    while (module->functions) {
        rd_cu_function function = module->functions;
        module->functions = function->next;
        free(function);
    }
    if (module->library)
        dlclose(module->library);
    free(module);
    return RD_CU_SUCCESS;
}

/* Images that were ever loaded, for tests to ask: no real driver tells. */
enum { IMAGES = 256 };
static const char *loaded[IMAGES];
static size_t loaded_count;

__attribute__((visibility("default"))) bool emulated_cuda_has_loaded(const char *image);
bool emulated_cuda_has_loaded(const char *image) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < loaded_count; i++)
        found = found || strcmp(loaded[i], image) == 0;
    pthread_mutex_unlock(&lock);
    return found;
}

API cuModuleLoadData(rd_cu_module *module, const void *data);
API cuModuleLoadData(rd_cu_module *module, const void *data) {
    const size_t length = sizeof EMULATED_CUDA_MARK - 1;
    if (strncmp(data, EMULATED_CUDA_MARK, length) != 0)
        return INVALID_IMAGE;
    *module = calloc(1, sizeof **module);
    if (!*module)
        return RD_CU_ERROR_OUT_OF_MEMORY;
    (*module)->device = current_device();
    if (open_library(*module, (const char *)data + length)) {
        pthread_mutex_lock(&lock);
        if (loaded_count < IMAGES)
            loaded[loaded_count++] = (const char *)data + length;
        pthread_mutex_unlock(&lock);
        return RD_CU_SUCCESS;
    }
    cuModuleUnload(*module);
    *module = NULL;
    return INVALID_IMAGE;
}

API cuModuleGetFunction(rd_cu_function *function, rd_cu_module module, const char *name);
API cuModuleGetFunction(rd_cu_function *function, rd_cu_module module, const char *name) {
    struct CUfunc_st wanted = {.dynamic_most = 48 << 10,
                               .module = module,
                               .takes_many = strncmp(name, "many_", 5) == 0,
                               .takes_masked = strncmp(name, "masked_", 7) == 0,
                               .takes_groups =
                                   strncmp(name, "groups_add_", 11) == 0 || strncmp(name, "groups_special_", 15) == 0,
                               .takes_all_groups = strncmp(name, "groups_", 7) == 0,
                               .takes_ranks = strncmp(name, "ranks_", 6) == 0,
                               .takes_answers = strncmp(name, "answers_", 8) == 0,
                               .takes_together = strncmp(name, "together_", 9) == 0,
                               .takes_each = strncmp(name, "each_", 5) == 0,
                               .takes_keys = strncmp(name, "keys_", 5) == 0,
                               .takes_numerals = strncmp(name, "numerals_", 9) == 0,
                               .takes_planes = strncmp(name, "planes_", 7) == 0};
    char call[128];
    snprintf(call, sizeof call, "%s_call", name);
    if (!find(module->library, name, &wanted.kernel))
        return NOT_FOUND;
    find(module->library, call, &wanted.call);
    pthread_mutex_lock(&lock);
    rd_cu_function found = module->functions;
    while (found && found->kernel != wanted.kernel)
        found = found->next;
    if (!found && (found = malloc(sizeof *found))) {
        wanted.next = module->functions;
        *found = wanted;
        module->functions = found;
    }
    pthread_mutex_unlock(&lock);
    *function = found;
    return found ? RD_CU_SUCCESS : RD_CU_ERROR_OUT_OF_MEMORY;
}

API cuFuncGetAttribute(int *value, int attribute, rd_cu_function function);
API cuFuncGetAttribute(int *value, int attribute, rd_cu_function function) {
    (void)function;
    *value = attribute == RD_CU_FUNCTION_COMPILED_FOR ? capability() : 32;
    return RD_CU_SUCCESS;
}

API cuFuncSetAttribute(rd_cu_function function, int attribute, int value);
API cuFuncSetAttribute(rd_cu_function function, int attribute, int value) {
    if (attribute != RD_CU_FUNCTION_MAX_DYNAMIC_SHARED || value < 0 || value > DYNAMIC_MOST)
        return INVALID_VALUE;
    __atomic_store_n(&function->dynamic_most, (unsigned)value, __ATOMIC_RELAXED);
    return RD_CU_SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, rd_cu_function function, int threads, size_t shared);
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, rd_cu_function function, int threads, size_t shared) {
    (void)function, (void)threads, (void)shared;
    *count = BLOCKS_PER_MULTIPROCESSOR;
    return RD_CU_SUCCESS;
}

/* A kernel is a symbol of its module. */
API cuFuncGetName(const char **name, rd_cu_function function);
API cuFuncGetName(const char **name, rd_cu_function function) {
    Dl_info own;
    void *address;
    memcpy(&address, &function->kernel, sizeof address);
    if (!dladdr(address, &own) || !own.dli_sname)
        return NOT_FOUND;
    *name = own.dli_sname;
    return RD_CU_SUCCESS;
}

struct launch {
    rd_cu_function function;
    unsigned blocks, threads, dynamic_bytes;
    union {
        struct rd_cuda_call call;
        struct rd_cuda_many many;
        struct rd_cuda_masked masked;
        struct rd_cuda_groups groups;
        struct rd_cuda_groups_all all_groups;
        struct rd_cuda_ranks ranks;
        struct rd_cuda_answers answers;
        struct rd_cuda_together together;
        struct rd_cuda_each each;
        struct rd_cuda_keys keys;
        struct rd_cuda_numerals numerals;
        struct rd_cuda_numeral_planes planes;
        struct {
            void (*call)(void *argument); /* on the host; then there is no function */
            void *argument;
        } host;
        struct { /* memory that is set; then there is neither, and words are of 1 or 4 bytes */
            rd_cu_address to;
            size_t count, word;
            unsigned value;
        } set;
    };
    bool sets;
    void **arguments; /* of kernels that are not the library's */
};

static void run_thread(void *argument) {
    const struct launch *launch = argument;
    if (launch->function->call)
        launch->function->call(launch->arguments);
    else if (launch->function->takes_many)
        launch->function->many_kernel(launch->many);
    else if (launch->function->takes_masked)
        launch->function->masked_kernel(launch->masked);
    else if (launch->function->takes_groups)
        launch->function->groups_kernel(launch->groups);
    else if (launch->function->takes_all_groups)
        launch->function->all_groups_kernel(launch->all_groups);
    else if (launch->function->takes_ranks)
        launch->function->ranks_kernel(launch->ranks);
    else if (launch->function->takes_answers)
        launch->function->answers_kernel(launch->answers);
    else if (launch->function->takes_together)
        launch->function->together_kernel(launch->together);
    else if (launch->function->takes_each)
        launch->function->each_kernel(launch->each);
    else if (launch->function->takes_keys)
        launch->function->keys_kernel(launch->keys);
    else if (launch->function->takes_numerals)
        launch->function->numerals_kernel(launch->numerals);
    else if (launch->function->takes_planes)
        launch->function->planes_kernel(launch->planes);
    else
        launch->function->kernel(launch->call);
}

static void set_memory(const struct launch *launch) {
    unsigned char *to = (unsigned char *)(uintptr_t)launch->set.to;
    if (launch->set.word == 1)
        memset(to, (int)launch->set.value, launch->set.count);
    for (size_t i = 0; launch->set.word > 1 && i < launch->set.count; i++)
        memcpy(to + i * launch->set.word, &launch->set.value, launch->set.word);
}

static rd_cu_result run(const struct launch *launch) {
    if (launch->sets) {
        set_memory(launch);
        return RD_CU_SUCCESS;
    }
    if (!launch->function) {
        launch->host.call(launch->host.argument);
        return RD_CU_SUCCESS;
    }
    struct emulated_grid grid = {.body = run_thread,
                                 .argument = (void *)(uintptr_t)launch,
                                 .blocks = launch->blocks,
                                 .threads = launch->threads,
                                 .shared_bytes = launch->function->module->shared_bytes,
                                 .dynamic_bytes = launch->dynamic_bytes};
    launch->function->module->shared(); /* so that this thread has any */
    if (dlinfo(launch->function->module->library, RTLD_DI_TLS_DATA, &grid.shared) != 0 || !grid.shared)
        return INVALID_IMAGE;
    emulated_run(&grid);
    return RD_CU_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Streams and graphs
 * ------------------------------------------------------------------------------------------------------------------ */

enum { NODES = 512 };
struct CUgraph_st {
    size_t count;
    struct launch nodes[NODES];
};
typedef struct CUgraph_st *graph;

API cuStreamCreate(rd_cu_stream *stream, unsigned flags);
API cuStreamCreate(rd_cu_stream *stream, unsigned flags) {
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    if (*stream)
        (*stream)->device = current_device();
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

API cuStreamIsCapturing(rd_cu_stream stream, int *capturing);
API cuStreamIsCapturing(rd_cu_stream stream, int *capturing) {
    *capturing = stream && stream->captured;
    return RD_CU_SUCCESS;
}

/* Runs it, or notes it in the graph that is captured. */
static rd_cu_result queue(const struct launch *launch, rd_cu_stream stream) {
    graph into = stream ? stream->captured : NULL;
    if (!into)
        return run(launch);
    if (into->count == NODES)
        return INVALID_VALUE;
    into->nodes[into->count++] = *launch;
    return RD_CU_SUCCESS;
}

/* Memory that is set, likewise. */
static rd_cu_result queue_set(rd_cu_address to, unsigned value, size_t word, size_t count, rd_cu_stream stream) {
    const struct launch launch = {.sets = true, .set = {.to = to, .value = value, .word = word, .count = count}};
    return is_stream_here(stream) && is_near(to) ? queue(&launch, stream) : INVALID_VALUE;
}

API cuMemsetD8Async(rd_cu_address to, unsigned char value, size_t count, rd_cu_stream stream);
API cuMemsetD8Async(rd_cu_address to, unsigned char value, size_t count, rd_cu_stream stream) {
    return queue_set(to, value, 1, count, stream);
}

API cuMemsetD32Async(rd_cu_address to, unsigned value, size_t count, rd_cu_stream stream);
API cuMemsetD32Async(rd_cu_address to, unsigned value, size_t count, rd_cu_stream stream) {
    return queue_set(to, value, 4, count, stream);
}

/* Whether the device can access what a launch is told of, which launches of many results begin with, too. */
static bool reaches(const struct rd_cuda_call *call) {
    return is_near((uintptr_t)call->x) && is_near((uintptr_t)call->y) && is_near((uintptr_t)call->workspace) &&
           is_near((uintptr_t)call->partial) && is_near((uintptr_t)call->result);
}

/* Launches on each device so far, for tests to ask. */
static unsigned long long launches[DEVICES];

__attribute__((visibility("default"))) unsigned long long emulated_cuda_launches(int device);
unsigned long long emulated_cuda_launches(int device) {
    return __atomic_load_n(&launches[device], __ATOMIC_RELAXED);
}

API cuLaunchKernel(rd_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, rd_cu_stream stream, void **arguments,
                   void **extra);
API cuLaunchKernel(rd_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, rd_cu_stream stream, void **arguments,
                   void **extra) {
    (void)extra;
    bool any_shape = (function->call != NULL || function->takes_all_groups || function->takes_each ||
                      function->takes_keys || function->takes_numerals || function->takes_planes) &&
                     block_x % EMULATED_WARP == 0 && block_x <= EMULATED_THREADS_MOST;
    bool any_grid = any_shape || ((function->takes_many || function->takes_masked || function->takes_together) &&
                                  block_x == RD_CUDA_THREADS);
    bool fits = grid_x >= 1 && (any_grid || (grid_x <= RD_CUDA_BLOCKS && block_x == RD_CUDA_THREADS)) && grid_y == 1 &&
                grid_z == 1 && block_x >= 1 && block_y == 1 && block_z == 1 &&
                shared <= __atomic_load_n(&function->dynamic_most, __ATOMIC_RELAXED);
    if (!fits)
        return INVALID_VALUE;
    if (function->module->device != current_device() || !is_stream_here(stream))
        return INVALID_HANDLE;
    struct launch launch = {
        .function = function, .blocks = grid_x, .threads = block_x, .dynamic_bytes = shared, .arguments = arguments};
    if (!function->call && function->takes_many)
        launch.many = *(const struct rd_cuda_many *)arguments[0];
    else if (!function->call && function->takes_masked)
        launch.masked = *(const struct rd_cuda_masked *)arguments[0];
    else if (!function->call && function->takes_groups)
        launch.groups = *(const struct rd_cuda_groups *)arguments[0];
    else if (!function->call && function->takes_all_groups)
        launch.all_groups = *(const struct rd_cuda_groups_all *)arguments[0];
    else if (!function->call && function->takes_ranks)
        launch.ranks = *(const struct rd_cuda_ranks *)arguments[0];
    else if (!function->call && function->takes_answers)
        launch.answers = *(const struct rd_cuda_answers *)arguments[0];
    else if (!function->call && function->takes_together)
        launch.together = *(const struct rd_cuda_together *)arguments[0];
    else if (!function->call && function->takes_each)
        launch.each = *(const struct rd_cuda_each *)arguments[0];
    else if (!function->call && function->takes_keys)
        launch.keys = *(const struct rd_cuda_keys *)arguments[0];
    else if (!function->call && function->takes_numerals)
        launch.numerals = *(const struct rd_cuda_numerals *)arguments[0];
    else if (!function->call && function->takes_planes)
        launch.planes = *(const struct rd_cuda_numeral_planes *)arguments[0];
    else if (!function->call)
        launch.call = *(const struct rd_cuda_call *)arguments[0];
    if (!function->call && !function->takes_all_groups && !function->takes_ranks && !function->takes_each &&
        !function->takes_keys && !function->takes_numerals && !function->takes_planes && !reaches(&launch.call))
        return INVALID_VALUE;
    __atomic_fetch_add(&launches[current_device()], 1, __ATOMIC_RELAXED);
    if (function->call && stream && stream->captured) /* whose arguments are gone when the graph is launched */
        return INVALID_VALUE;
    return queue(&launch, stream);
}

/* What libraries that are emulated, too, queue in a stream: a function of the host. */
API cuLaunchHostFunc(rd_cu_stream stream, void (*call)(void *argument), void *argument);
API cuLaunchHostFunc(rd_cu_stream stream, void (*call)(void *argument), void *argument) {
    const struct launch launch = {.host = {call, argument}};
    return queue(&launch, stream);
}

API cuLaunchKernelEx(const rd_cu_launch *launch, rd_cu_function function, void **arguments, void **extra);
API cuLaunchKernelEx(const rd_cu_launch *launch, rd_cu_function function, void **arguments, void **extra) {
    for (unsigned i = 0; i < launch->attribute_count; i++)
        if (launch->attributes[i].id == RD_CU_LAUNCH_COOPERATIVE)
            return INVALID_VALUE;
    return cuLaunchKernel(function, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                          launch->block[1], launch->block[2], launch->dynamic_shared, launch->stream, arguments, extra);
}

API cuGraphGetNodes(graph from, void **nodes, size_t *count);
API cuGraphGetNodes(graph from, void **nodes, size_t *count) {
    for (size_t i = 0; nodes && i < from->count && i < *count; i++)
        nodes[i] = &from->nodes[i];
    *count = from->count;
    return RD_CU_SUCCESS;
}

/* Nodes are launches, memory that is set, or functions of the host. */
API cuGraphNodeGetType(const struct launch *node, int *type);
API cuGraphNodeGetType(const struct launch *node, int *type) {
    *type = node->function ? 0 : node->sets ? 2 : 3;
    return RD_CU_SUCCESS;
}

/* CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h. */
struct node_parameters {
    rd_cu_function function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra, *kernel;
    rd_cu_context context;
};

API cuGraphKernelNodeGetParams_v2(const struct launch *node, struct node_parameters *what);
API cuGraphKernelNodeGetParams_v2(const struct launch *node, struct node_parameters *what) {
    *what = (struct node_parameters){.function = node->function,
                                     .grid = {node->blocks, 1, 1},
                                     .block = {node->threads, 1, 1},
                                     .shared = node->dynamic_bytes,
                                     .context = &primary[node->function->module->device]};
    return RD_CU_SUCCESS;
}

API cuKernelGetFunction(rd_cu_function *function, void *kernel);
API cuKernelGetFunction(rd_cu_function *function, void *kernel) {
    (void)function, (void)kernel;
    return INVALID_VALUE; /* there are none but functions */
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
        result = run(&exec->nodes[i]);
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

/* ---------------------------------------------------------------------------------------------------------------------
 * Events: moments of the host's clock
 * ------------------------------------------------------------------------------------------------------------------ */

struct CUevent_st {
    struct timespec at;
};

API cuEventCreate(rd_cu_event *event, unsigned flags);
API cuEventCreate(rd_cu_event *event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? RD_CU_SUCCESS : RD_CU_ERROR_OUT_OF_MEMORY;
}

API cuEventDestroy_v2(rd_cu_event event);
API cuEventDestroy_v2(rd_cu_event event) {
    free(event);
    return RD_CU_SUCCESS;
}

API cuEventRecord(rd_cu_event event, rd_cu_stream stream);
API cuEventRecord(rd_cu_event event, rd_cu_stream stream) {
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return RD_CU_SUCCESS;
}

API cuEventElapsedTime(float *milliseconds, rd_cu_event from, rd_cu_event to);
API cuEventElapsedTime(float *milliseconds, rd_cu_event from, rd_cu_event to) {
    *milliseconds =
        (float)((double)(to->at.tv_sec - from->at.tv_sec) * 1e3 + (double)(to->at.tv_nsec - from->at.tv_nsec) * 1e-6);
    return RD_CU_SUCCESS;
}
