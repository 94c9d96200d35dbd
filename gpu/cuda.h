/* CUDA devices for kernels that are not the library's: memory, launches, events, what a kernel needs, what a device
 * can read. Built without CUDA; the driver is opened at run time.
 *
 * Errors. The first thing that fails is remembered, and from then on every call does nothing; so that a program asks
 * once, with gpu_cuda_error(), after a row's worth of work. A device is used by one thread at a time. */
#ifndef GPU_CUDA_H
#define GPU_CUDA_H

#include "measure/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gpu_cuda gpu_cuda;

/* What a device is. */
typedef struct gpu_cuda_facts {
    unsigned ordinal;
    char name[96];
    unsigned capability; /* 90 for compute capability 9.0 */
    unsigned driver;     /* 13000 for a driver that knows CUDA 13.0 */
    unsigned multiprocessors;
    unsigned threads_per_multiprocessor;
    unsigned shared_per_block; /* bytes, the most that a kernel can ask for */
    uint64_t l2;               /* bytes */
    uint64_t memory;           /* bytes */
    double nominal;            /* bytes per second: memory clock x bus width x 2; 0 where the driver does not tell */
} gpu_cuda_facts;

/* The devices here; 0 and one sentence in `*why` (static storage) where there are none. */
unsigned gpu_cuda_count(const char **why);

/* Opens device number `ordinal`. Null, and one sentence in `why`, where that cannot be. */
gpu_cuda *gpu_cuda_open(unsigned ordinal, char *why, size_t room);
void gpu_cuda_close(gpu_cuda *device);

const gpu_cuda_facts *gpu_cuda_describe(const gpu_cuda *device);

/* Bytes of device memory that are free now. */
uint64_t gpu_cuda_free_memory(gpu_cuda *device);

/* What failed first, as a sentence; null while nothing has. */
const char *gpu_cuda_error(const gpu_cuda *device);

/* Records a failure of a library that works in the device's stream, as a sentence. */
void gpu_cuda_fail(gpu_cuda *device, const char *what);

/* Forgets what failed. Returns false where the device cannot go on: after a fault in a kernel, say. */
bool gpu_cuda_forgive(gpu_cuda *device);

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory. Addresses are the device's; 0 is none. Work is queued in one stream, in order; download waits.
 * ------------------------------------------------------------------------------------------------------------------ */

uint64_t gpu_cuda_allocate(gpu_cuda *device, uint64_t bytes);
void gpu_cuda_free(gpu_cuda *device, uint64_t address);
void gpu_cuda_upload(gpu_cuda *device, uint64_t to, const void *from, uint64_t bytes);
void gpu_cuda_download(gpu_cuda *device, void *to, uint64_t from, uint64_t bytes);
void gpu_cuda_copy(gpu_cuda *device, uint64_t to, uint64_t from, uint64_t bytes);
void gpu_cuda_fill(gpu_cuda *device, uint64_t address, unsigned char value, uint64_t bytes);
void gpu_cuda_wait(gpu_cuda *device);

/* One array, many times over: as often as it takes to exceed three times the L2, so that runs which take the copies in
 * turn find none of them in cache. Where `rotate` is false there is one copy. */
typedef struct gpu_cuda_input {
    uint64_t address;
    uint64_t stride; /* bytes from copy to copy, a multiple of 256 */
    uint64_t bytes;  /* of one copy */
    uint64_t copies;
} gpu_cuda_input;

/* `bytes` at `from`, uploaded and copied. Copies take at most half of the memory that is free. */
gpu_cuda_input gpu_cuda_input_create(gpu_cuda *device, const void *from, uint64_t bytes, bool rotate);
void gpu_cuda_input_destroy(gpu_cuda *device, gpu_cuda_input *input);

/* Makes every copy equal to `from` again, after kernels that destroy what they read. */
void gpu_cuda_input_restore(gpu_cuda *device, const gpu_cuda_input *input, const void *from);

/* The copy that run number `run` reads. */
uint64_t gpu_cuda_input_at(const gpu_cuda_input *input, uint64_t run);

/* A texture of width * height floats, which kernels are given as its object, a cudaTextureObject_t. */
typedef struct gpu_cuda_texture {
    void *array;
    uint64_t object;
} gpu_cuda_texture;

/* From texels that lie row by row in device memory, which must stay until the stream has come so far. All zero on failure. */
gpu_cuda_texture gpu_cuda_texture_create(gpu_cuda *device, uint64_t texels, unsigned width, unsigned height);
/* Once nothing reads it. Also after a failure. */
void gpu_cuda_texture_destroy(gpu_cuda_texture *texture);

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct gpu_cuda_module gpu_cuda_module;

/* How a kernel is launched. */
typedef enum gpu_cuda_way {
    GPU_CUDA_PLAIN,
    GPU_CUDA_OVERLAPPED, /* its blocks may come before the launch before has ended, for which they wait themselves */
    GPU_CUDA_COOPERATIVE /* all blocks are on the device at the same time, so that they may wait for each other */
} gpu_cuda_way;

typedef struct gpu_cuda_kernel {
    void *function; /* null if it could not be had */
    unsigned registers, static_shared, max_threads;
    unsigned dynamic_shared; /* bytes that launches add */
    gpu_cuda_way way;        /* plain unless it is set afterwards */
} gpu_cuda_kernel;

/* A module from an image in memory: a cubin, a fatbin or PTX. Null on failure. */
gpu_cuda_module *gpu_cuda_module_load(gpu_cuda *device, const void *image);
void gpu_cuda_module_unload(gpu_cuda *device, gpu_cuda_module *module);

/* A kernel of a module, with as much dynamic shared memory as its launches will ask for. */
gpu_cuda_kernel gpu_cuda_kernel_named(gpu_cuda *device, gpu_cuda_module *module, const char *name,
                                      unsigned dynamic_shared);

/* A kernel that others loaded. */
gpu_cuda_kernel gpu_cuda_kernel_of(gpu_cuda *device, void *function, unsigned dynamic_shared);

/* Blocks of `threads` that a multiprocessor holds at once; and the share of its threads that they are. */
unsigned gpu_cuda_resident_blocks(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned threads);
double gpu_cuda_occupancy(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned threads);

/* Clusters of `cluster` blocks, for which the kernel was compiled, that the device holds at once. A cluster lies in one part
 * of the chip, and parts need not have room for a whole number: these may be fewer blocks than without clusters. */
unsigned gpu_cuda_resident_clusters(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned cluster,
                                    unsigned threads);

/* Queues a launch in the kernel's way; `arguments` are pointers to the kernel's parameters in order. Fails where the driver
 * knows plain launches alone (before CUDA 11.8). */
void gpu_cuda_launch(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned blocks, unsigned threads,
                     void **arguments);

/* An address as libraries take it. */
static inline void *gpu_cuda_pointer(uint64_t address) {
    return (void *)(uintptr_t)address;
}

/* The stream that work is queued in, for libraries that take a CUstream or cudaStream_t. */
void *gpu_cuda_stream(const gpu_cuda *device);

/* ---------------------------------------------------------------------------------------------------------------------
 * Time
 * ------------------------------------------------------------------------------------------------------------------ */

/* Queues the work once; `run` counts from 0 and chooses the copy of the input. */
typedef void gpu_cuda_work(void *context, uint64_t run);

/* Seconds per run, between events on the device's own clock: after a warm-up, `rounds` samples of as many runs, back to
 * back, as last a millisecond or so; the device begins once all of a sample are queued. All zero when something failed. */
measure_statistics gpu_cuda_time(gpu_cuda *device, gpu_cuda_work *work, void *context, unsigned rounds);

/* One of several ways of doing the same thing. */
typedef struct gpu_cuda_variant {
    gpu_cuda_work *work;
    void *context;
    double *seconds; /* out: per run, in each round; room for as many as there are rounds */
    bool waits;      /* a run waits for the device: it begins at once, as there is nothing else to be queued */
} gpu_cuda_variant;

/* Times variants side by side, as measure/timing.h does and for its reasons: in every round each has one sample, in an order
 * that rotates. A sample is as many runs, back to back, as last `sample_seconds`. False when something failed. */
bool gpu_cuda_time_in_turns(gpu_cuda *device, const gpu_cuda_variant *variants, size_t count, unsigned rounds,
                            double sample_seconds);

/* What a work launches, as a CUDA graph of it shows. */
typedef struct gpu_cuda_launches {
    char kernel[64]; /* the first kernel's name, without namespaces and parameters; empty where it is not known */
    unsigned kernels, others; /* nodes of the graph that are kernels, and that are not */
    unsigned blocks, threads; /* of the first kernel */
    gpu_cuda_kernel needs;    /* of the first kernel; its function null where it is not known */
} gpu_cuda_launches;

/* Captures one run of a work, which is not executed. All zero where the driver cannot tell (before CUDA 12.3) or the work
 * cannot be captured. */
gpu_cuda_launches gpu_cuda_watch(gpu_cuda *device, gpu_cuda_work *work, void *context);

/* Bytes per second that this device can read: the best of several launch shapes of the kernel in cuda/read_limit.cu. Up to
 * 4 GiB are read, as memory allows. 0 in a build without kernels, and on failure. */
double gpu_cuda_read_limit(gpu_cuda *device);

#endif
