/* Opening the CUDA driver: see cuda.h. */
#include "drivers/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static rd_cuda_driver table;
static char failure[256]; /* empty when all is well */

/* Fills the table; the name of the first function that the library lacks, or null. */
static const char *find_functions(void *library) {
    /* ISO C has no conversion from object to function pointers, POSIX promises that the bytes are the same. */
#define RD_CUDA_FIND(name, symbol, parameters)                                                                         \
    do {                                                                                                               \
        void *found = dlsym(library, symbol);                                                                          \
        if (!found)                                                                                                    \
            return symbol;                                                                                             \
        memcpy(&table.name, &found, sizeof found);                                                                     \
    } while (0);
    RD_CUDA_FUNCTIONS(RD_CUDA_FIND)
#undef RD_CUDA_FIND
#define RD_CUDA_FIND(name, symbol, parameters)                                                                         \
    do {                                                                                                               \
        void *found = dlsym(library, symbol);                                                                          \
        memcpy(&table.name, &found, sizeof found);                                                                     \
    } while (0);
    RD_CUDA_NEWER_FUNCTIONS(RD_CUDA_FIND)
#undef RD_CUDA_FIND
    return NULL;
}

static void explain_start(rd_cu_result result) {
    char text[128];
    switch (result) {
    case RD_CU_ERROR_NO_DEVICE:
        snprintf(failure, sizeof failure, "an NVIDIA driver is installed, but it finds no CUDA device");
        break;
    case RD_CU_ERROR_STUB_LIBRARY:
        snprintf(failure, sizeof failure, "libcuda.so.1 is the toolkit's stub: no NVIDIA driver is installed");
        break;
    case RD_CU_ERROR_SYSTEM_DRIVER_MISMATCH:
        snprintf(failure, sizeof failure,
                 "the NVIDIA driver and libcuda.so.1 are of different versions: a restart is due");
        break;
    default:
        snprintf(failure, sizeof failure, "the NVIDIA driver does not start: %s",
                 rd_cuda_result_text(&table, result, text, sizeof text));
    }
}

/* Opened once and never closed: closing a driver while one of its threads runs would crash the process. */
static void open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(failure, sizeof failure, "no NVIDIA driver is installed: libcuda.so.1 cannot be opened");
        return;
    }
    const char *missing = find_functions(library);
    if (missing) {
        snprintf(failure, sizeof failure, "the NVIDIA driver is too old: it lacks %s", missing);
        return;
    }
    rd_cu_result result = table.cuInit(0);
    if (result == RD_CU_SUCCESS)
        result = table.cuDriverGetVersion(&table.version);
    if (result == RD_CU_SUCCESS)
        result = table.cuDeviceGetCount(&table.devices);
    if (result == RD_CU_SUCCESS && table.devices < 1)
        result = RD_CU_ERROR_NO_DEVICE;
    if (result != RD_CU_SUCCESS)
        explain_start(result);
    else if (table.version < RD_CUDA_VERSION_LEAST)
        snprintf(failure, sizeof failure, "the NVIDIA driver is too old: it knows CUDA %d.%d, and %d.%d is needed",
                 table.version / 1000, table.version % 1000 / 10, RD_CUDA_VERSION_LEAST / 1000,
                 RD_CUDA_VERSION_LEAST % 1000 / 10);
}

const rd_cuda_driver *rd_cuda_driver_open(const char **why) {
    pthread_once(&once, open_driver);
    if (failure[0] == 0)
        return &table;
    if (why)
        *why = failure;
    return NULL;
}

const char *rd_cuda_result_text(const rd_cuda_driver *driver, rd_cu_result result, char *text, size_t room) {
    const char *name = NULL, *sentence = NULL;
    if (driver->cuGetErrorName(result, &name) != RD_CU_SUCCESS || !name)
        name = "unknown";
    if (driver->cuGetErrorString(result, &sentence) != RD_CU_SUCCESS || !sentence)
        sentence = "error";
    snprintf(text, room, "%s (%s)", sentence, name);
    return text;
}

const rd_cuda_image *rd_cuda_image_find(const rd_cuda_image *images, const char *name) {
    while (images->name && strcmp(images->name, name) != 0)
        images++;
    return images->name ? images : NULL;
}
