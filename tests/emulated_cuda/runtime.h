/* Whole CUDA programs on the emulated GPU: the functions of the runtime, as far as the single files of the ladder and the
 * judge of readers' kernels use them, for a compiler of the host. Included before each program, which program.py has
 * translated. Memory of the device is the host's; what it would not hold, a program of the tests does not ask for. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

/* Before the words of CUDA, some of which these have as names of their own. */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <link.h>
#include <string>
#include <type_traits>
#include <vector>

#include "language.h"

#define __host__

enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrL2CacheSize };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
typedef int *cudaEvent_t;

inline const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : "invalid argument";
}
inline cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
    return cudaSuccess;
}

template <class T> cudaError_t cudaMalloc(T **memory, size_t bytes) {
    *memory = static_cast<T *>(aligned_alloc(256, (bytes + 256) / 256 * 256));
    if (*memory)
        memset(*memory, EMULATED_FRESH, bytes);
    return *memory ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaFree(void *memory) {
    free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
    if (bytes)
        memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
    memset(to, byte, bytes);
    return cudaSuccess;
}

/* Time stands still but for a millisecond at each event. */
inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = new int(0);
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event) {
    static int now;
    *event = ++now;
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    *milliseconds = float(*end - *begin);
    return cudaSuccess;
}

/* In its turn, which is at once, as it is for all that is launched. */
inline cudaError_t cudaLaunchHostFunc(void *, void (*call)(void *argument), void *argument) {
    call(argument);
    return cudaSuccess;
}

/* Two multiprocessors, each of which holds two blocks of any kernel. */
inline cudaError_t cudaSetDevice(int device) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 1024;
    return cudaSuccess;
}
template <class Kernel> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t) {
    *blocks = 2;
    return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel *, cudaFuncAttribute, int) {
    return cudaSuccess;
}

/* kernel<<<blocks, threads, bytes>>>(...): `call` is the kernel with its arguments. Shared memory is the program's storage
 * of the running thread: in the program itself, which is the first that the loader names. */
template <class Call> void emulated_launch(const Call &call, unsigned blocks, unsigned threads, size_t dynamic = 0) {
    struct emulated_grid grid = {};
    grid.body = [](void *argument) { (*static_cast<const Call *>(argument))(); };
    grid.argument = const_cast<Call *>(&call);
    grid.blocks = blocks;
    grid.threads = threads;
    grid.dynamic_bytes = dynamic;
    emulated_shared(); /* so that this thread has any */
    dl_iterate_phdr(
        [](struct dl_phdr_info *info, size_t, void *to) {
            for (int i = 0; i < info->dlpi_phnum; i++)
                if (info->dlpi_phdr[i].p_type == PT_TLS) {
                    static_cast<emulated_grid *>(to)->shared = info->dlpi_tls_data;
                    static_cast<emulated_grid *>(to)->shared_bytes = info->dlpi_phdr[i].p_memsz;
                }
            return 1;
        },
        &grid);
    emulated_run(&grid);
}

/* The same, with what <<<...>>> has no word for; of which nothing needs to be done here, where launches follow each other. */
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    unsigned blocks, threads; /* in CUDA by the names of what kernels know as macros here */
    size_t dynamic;
    int stream;
    cudaLaunchAttribute *attributes;
    unsigned count;
};
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
    emulated_launch([&] { kernel(arguments...); }, config->blocks, config->threads, config->dynamic);
    return cudaSuccess;
}

#endif
