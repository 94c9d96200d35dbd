/* Vulkan devices for shaders: memory, pipelines, dispatches, timestamps, what a device offers. The loader is opened at
 * run time (through volk). Built only where volk's headers are, as cmake/ReductVulkan.cmake says.
 *
 * Errors. The first thing that fails is remembered, and from then on every call does nothing; so that a program asks
 * once, with gpu_vulkan_error(), after a row's worth of work. A device is used by one thread at a time.
 *
 * Order. Work is recorded in order, and each command sees all that the ones before it wrote: a barrier stands between
 * any two. It runs when gpu_vulkan_wait() or a download asks for it, or when enough has gathered.
 *
 * Features. Every one that a device has of those below is switched on; a shader that needs another, or one that is not
 * there, must not be made into a kernel: drivers run such shaders in silence, and wrongly. Ask the facts first.
 *
 * Validation. With REDUCT_VULKAN_VALIDATION=1 in the environment the Khronos validation layer watches, with GPU-assisted
 * and synchronisation checks; its first message, if only a warning, is a failure like any other. */
#ifndef GPU_VULKAN_H
#define GPU_VULKAN_H

#include "drivers/shader.h"
#include "measure/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gpu_vulkan gpu_vulkan;

/* What a device is and offers. */
typedef struct gpu_vulkan_facts {
    unsigned ordinal;
    char name[256];            /* "NVIDIA H200", "llvmpipe (LLVM 15.0.6, 256 bits)" */
    char driver[520];          /* name and version of the driver */
    unsigned api;              /* VK_API_VERSION: major << 22 | minor << 12 */
    bool is_software;          /* it is this machine's CPU */
    uint64_t memory;           /* bytes, device-local */
    unsigned processors;       /* multiprocessors or compute units; 0 where the driver does not tell */
    unsigned processor_warps;  /* subgroups that each of them holds at once; 0 likewise */
    unsigned registers_shared; /* registers of a processor that these share; 0 likewise */

    unsigned group_most;  /* invocations per group, along x */
    unsigned groups_most; /* groups along x, and along y */
    unsigned shared;      /* bytes of shared memory per group */
    uint64_t range;       /* bytes, the largest binding of a storage buffer */
    uint64_t allocation;  /* bytes, the largest buffer */
    unsigned alignment;   /* of the offset of a binding; 256 at most */
    unsigned buffers;     /* storage buffers that a shader can have */
    unsigned push_bytes;  /* of push constants */
    unsigned image_side;  /* texels along a side of a texture */
    unsigned image_layers;

    unsigned subgroup; /* invocations, as the device states them; shaders must not rely on it */
    unsigned subgroup_least, subgroup_greatest; /* where the driver chooses; both equal to `subgroup` elsewhere */
    bool subgroup_arithmetic, subgroup_shuffle, subgroup_shuffle_relative, subgroup_ballot, subgroup_vote;

    bool f64, i64;                               /* shaderFloat64, shaderInt64 */
    bool i64_atomics, i64_shared_atomics;        /* 64-bit integers in storage buffers; in shared memory */
    bool f32_atomic_add, f64_atomic_add;         /* on storage buffers */
    bool rte_f32, rte_f64;                       /* a shader can demand rounding to nearest even */
    bool denormals_f32, denormals_f64;           /* a shader can demand that denormals are kept */
    bool exact_specials_f32, exact_specials_f64; /* that signed zeros, infinities and NaNs are kept */
    bool memory_model;                           /* vulkanMemoryModel with device scope */
    bool
        local_size_id; /* maintenance4: a group's size as the execution mode LocalSizeId, which newer compilers write */

    bool has_timestamps; /* otherwise times are the host's, and include the submission */
    bool is_validated;   /* the validation layer watches */
} gpu_vulkan_facts;

/* The devices here; 0 and one sentence in `why` where there are none. */
unsigned gpu_vulkan_count(char *why, size_t room);

/* Opens a device by number, "0", or by a part of its name or its driver's, in either case: "llvmpipe", "swiftshader",
 * "h200". Null, and one sentence in `why`, where that cannot be. */
gpu_vulkan *gpu_vulkan_open(const char *number_or_name, char *why, size_t room);
void gpu_vulkan_close(gpu_vulkan *device);

const gpu_vulkan_facts *gpu_vulkan_describe(const gpu_vulkan *device);

/* Bytes of device memory that can be had now, as far as the driver tells. */
uint64_t gpu_vulkan_free_memory(gpu_vulkan *device);

/* What failed first, as a sentence; null while nothing has. */
const char *gpu_vulkan_error(const gpu_vulkan *device);

/* Forgets what failed. Returns false where the device cannot go on. */
bool gpu_vulkan_forgive(gpu_vulkan *device);

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory: buffers on the device, reached through staging
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct gpu_vulkan_buffer gpu_vulkan_buffer;

/* Device-local storage; null on failure. Sizes are rounded up to multiples of 16. */
gpu_vulkan_buffer *gpu_vulkan_allocate(gpu_vulkan *device, uint64_t bytes);
/* Waits for what is recorded; null is fine. Also after a failure. */
void gpu_vulkan_free(gpu_vulkan *device, gpu_vulkan_buffer *buffer);

/* Offsets and sizes of fills are multiples of 4, as Vulkan wants; uploads and downloads take any. Download waits. */
void gpu_vulkan_upload(gpu_vulkan *device, gpu_vulkan_buffer *to, uint64_t at, const void *from, uint64_t bytes);
void gpu_vulkan_download(gpu_vulkan *device, void *to, gpu_vulkan_buffer *from, uint64_t at, uint64_t bytes);
void gpu_vulkan_copy(gpu_vulkan *device, gpu_vulkan_buffer *to, uint64_t to_at, gpu_vulkan_buffer *from,
                     uint64_t from_at, uint64_t bytes);
void gpu_vulkan_fill(gpu_vulkan *device, gpu_vulkan_buffer *buffer, uint64_t at, uint32_t word, uint64_t bytes);
void gpu_vulkan_wait(gpu_vulkan *device);

/* A part of a buffer, as a shader sees it: `at` a multiple of facts->alignment, `bytes` above 0 and at most
 * facts->range. */
typedef struct gpu_vulkan_slice {
    gpu_vulkan_buffer *buffer;
    uint64_t at, bytes;
} gpu_vulkan_slice;

/* One array, in as many pieces as the limits of the device demand (a binding, and a buffer, have a largest size), and
 * as many copies as exceed every cache, so that runs which take them in turn find none of them in cache. */
typedef struct gpu_vulkan_input {
    uint64_t bytes;       /* of one copy */
    uint64_t stride;      /* bytes from copy to copy where a buffer holds several */
    uint64_t piece_bytes; /* of every piece but the last; a multiple of 256 */
    uint64_t copies, copies_per_buffer;
    size_t pieces; /* of a copy: 1 also of an empty array */
    gpu_vulkan_buffer **buffers;
    size_t buffer_count;
} gpu_vulkan_input;

/* `bytes` at `from`, uploaded and copied. `piece_most` limits pieces further, 0 for not at all: what takes gigabytes on
 * one device is tested with kilobytes on another. */
gpu_vulkan_input gpu_vulkan_input_create(gpu_vulkan *device, const void *from, uint64_t bytes, bool rotate,
                                         uint64_t piece_most);
void gpu_vulkan_input_destroy(gpu_vulkan *device, gpu_vulkan_input *input);

/* Makes every copy equal to `from` again, after shaders that destroy what they read. */
void gpu_vulkan_input_restore(gpu_vulkan *device, const gpu_vulkan_input *input, const void *from);

/* Piece number `piece` of the copy that run number `run` reads, and its bytes of data, which may be 0 where those of
 * the slice may not. */
gpu_vulkan_slice gpu_vulkan_input_piece(const gpu_vulkan_input *input, uint64_t run, size_t piece, uint64_t *bytes);

/* A texture of floats, in layers of width * height texels, which a shader sees as a texture2DArray without a sampler and reads
 * by texelFetch or Load. Null on failure. */
typedef struct gpu_vulkan_image gpu_vulkan_image;
gpu_vulkan_image *gpu_vulkan_image_create(gpu_vulkan *device, unsigned width, unsigned height, unsigned layers);
/* Waits for what is recorded; null is fine. Also after a failure. */
void gpu_vulkan_image_destroy(gpu_vulkan *device, gpu_vulkan_image *image);

/* Every layer from a buffer that has its texels row by row. Waits. */
void gpu_vulkan_image_fill(gpu_vulkan *device, gpu_vulkan_image *image, gpu_vulkan_buffer *texels);

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels: compute pipelines
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct gpu_vulkan_kernel gpu_vulkan_kernel;

typedef struct gpu_vulkan_setup {
    const rd_vulkan_shader *shader;
    unsigned buffers;          /* storage buffers at bindings 0, 1, ... of set 0 */
    bool has_image;            /* a texture at the binding behind them */
    unsigned push_bytes;       /* of push constants, from offset 0 */
    const uint32_t *constants; /* specialisation constants with ids 0, 1, ..., 32 bits each */
    unsigned constant_count;
} gpu_vulkan_setup;

/* Null on failure. */
gpu_vulkan_kernel *gpu_vulkan_kernel_create(gpu_vulkan *device, const gpu_vulkan_setup *setup);
void gpu_vulkan_kernel_destroy(gpu_vulkan *device, gpu_vulkan_kernel *kernel);

/* Registers per invocation, or -1 where the driver does not tell. */
int gpu_vulkan_kernel_registers(const gpu_vulkan_kernel *kernel);

/* How a number of groups is dispatched on this device: rows of `*row` groups, as few as hold `groups`. Where that is
 * one row it has exactly as many; otherwise the last row may have some too many, which must find that out: group number
 * = y * row + x, compared with `groups`. */
void gpu_vulkan_grid(const gpu_vulkan *device, uint64_t groups, unsigned *row, unsigned *rows);

/* Records a dispatch of that many groups, in a grid as above. `slices` has an entry per binding; `push` has push_bytes. */
void gpu_vulkan_dispatch(gpu_vulkan *device, gpu_vulkan_kernel *kernel, uint64_t groups, const gpu_vulkan_slice *slices,
                         const void *push);
/* The same of a kernel that has a texture. */
void gpu_vulkan_dispatch_with_image(gpu_vulkan *device, gpu_vulkan_kernel *kernel, uint64_t groups,
                                    const gpu_vulkan_slice *slices, const gpu_vulkan_image *image, const void *push);

/* ---------------------------------------------------------------------------------------------------------------------
 * Time
 * ------------------------------------------------------------------------------------------------------------------ */

/* Records the work once; `run` counts from 0 and chooses the copy of the input. */
typedef void gpu_vulkan_work(void *context, uint64_t run);

/* Seconds per run, between timestamps on the device: after a warm-up, `rounds` samples of as many runs, back to back,
 * as last a millisecond or so. All zero when something failed. */
measure_statistics gpu_vulkan_time(gpu_vulkan *device, gpu_vulkan_work *work, void *context, unsigned rounds);

#endif
