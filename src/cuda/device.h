/* CUDA devices and contexts as the backend uses them, and the kernels that are loaded.
 *
 * Everything here lives as long as the process and may be used by any thread; what changes is behind a lock. Functions
 * that say so run with the context current: between rd_cuda_enter() and rd_cuda_leave(). */
#ifndef RD_CUDA_DEVICE_H
#define RD_CUDA_DEVICE_H

#include "core/backend.h"
#include "drivers/cuda.h"
#include "cuda/kernels/call.h"
#include "cuda/workspace.h"

#include <pthread.h>

enum { RD_CUDA_DEVICES_MAX = 64 };

struct rd_cuda_context {
    struct rd_cuda_device *device;
    rd_cu_context handle;
    unsigned long long id; /* tells a context from one that was destroyed and had the same handle */
    pthread_mutex_t lock;  /* of what follows */
    struct rd_cuda_channel *free_channels;
    struct rd_cuda_stand_ins stand_ins;
    struct rd_cuda_context *next;
    rd_cu_module modules[]; /* one for each image; null until it is loaded */
};

/* A device under one of its names, which say how exact sums of floats are formed: "cuda:0", as suits the device;
 * "cuda:0:double", in f64; "cuda:0:integer", without f64 arithmetic. The bits are the same. */
struct rd_cuda_name {
    struct rd_cuda_device *device;
    bool integers;
    char text[32];
};

enum { RD_CUDA_NAMES = 3 };

struct rd_cuda_device {
    const rd_cuda_driver *driver;
    rd_cu_device handle;
    int ordinal, multiprocessors, capability, l2_bytes;
    struct rd_cuda_name names[RD_CUDA_NAMES]; /* "cuda:0" first, which messages use */
    rd_cu_context primary;
    pthread_mutex_t lock; /* of the list of contexts */
    struct rd_cuda_context *contexts;
};

/* The device that is called so, without "cuda:"; null is 0. The same object every time. */
reduct_status rd_cuda_device_open(const char *rest, const struct rd_cuda_name **name, reduct_error *error);

/* A stay in a context, which is current meanwhile. */
struct rd_cuda_stay {
    struct rd_cuda_context *context;
    bool pushed; /* it was not current before */
};

/* Makes current the context that calls for this device belong to: the current one if it is of this device, else the
 * primary. Every success must be followed by rd_cuda_leave(). */
reduct_status rd_cuda_enter(struct rd_cuda_device *device, struct rd_cuda_stay *stay, reduct_error *error);

/* Makes a known context current. */
reduct_status rd_cuda_enter_context(struct rd_cuda_context *context, struct rd_cuda_stay *stay, reduct_error *error);
void rd_cuda_leave(const struct rd_cuda_device *device, const struct rd_cuda_stay *stay);

/* A kernel by image and name, loaded when it is first asked for. With the context current. */
reduct_status rd_cuda_kernel(struct rd_cuda_context *context, const char *image, const char *name,
                             rd_cu_function *function, reduct_error *error);

/* What a driver's failure is to a caller. `doing` completes "the device failed ...". */
reduct_status rd_cuda_fail(const struct rd_cuda_device *device, rd_cu_result result, const char *doing,
                           reduct_error *error);

/* That a stream can be waited for, as one that is being captured cannot. With its context current. */
reduct_status rd_cuda_check_stream(const struct rd_cuda_device *device, rd_cu_stream stream, reduct_error *error);

/* Whether kernels can read at an address: device or managed memory. */
bool rd_cuda_on_device(const struct rd_cuda_device *device, const void *pointer);

/* Whether it is page-locked host memory, which copies can read directly. */
bool rd_cuda_page_locked(const struct rd_cuda_device *device, const void *pointer);

#endif
