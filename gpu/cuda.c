/* CUDA devices through the driver's interface: see cuda.h. */
#include "gpu/cuda.h"

#include "drivers/cuda.h"
#include "measure/clock.h"
#include "program/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const rd_cuda_image gpu_cuda_images[]; /* of the kernels in cuda/; empty where nvcc was not there */

struct gpu_cuda {
    const rd_cuda_driver *driver;
    gpu_cuda_facts facts;
    rd_cu_device ordinal;
    rd_cu_stream stream;
    rd_cu_event begin, end;
    atomic_bool queued; /* all runs of a sample: see hold() */
    bool failed;
    char error[240];
};

/* Calls of the driver go through DO: nothing once something has failed, and the first failure is remembered. */
#define DO(device, function, ...)                                                                                      \
    ((device)->failed ? false : check(device, #function, (device)->driver->function(__VA_ARGS__)))

static bool check(gpu_cuda *device, const char *function, rd_cu_result result) {
    if (result == RD_CU_SUCCESS)
        return true;
    char text[160];
    device->failed = true;
    snprintf(device->error, sizeof device->error, "%s: %s", function,
             rd_cuda_result_text(device->driver, result, text, sizeof text));
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------------------------------------------------ */

unsigned gpu_cuda_count(const char **why) {
    const rd_cuda_driver *driver = rd_cuda_driver_open(why);
    return driver ? (unsigned)driver->devices : 0;
}

static unsigned attribute(gpu_cuda *device, int which) {
    int value = 0;
    DO(device, cuDeviceGetAttribute, &value, which, device->ordinal);
    return value > 0 ? (unsigned)value : 0;
}

static void describe(gpu_cuda *device) {
    gpu_cuda_facts *facts = &device->facts;
    size_t memory = 0;
    DO(device, cuDeviceGetName, facts->name, (int)sizeof facts->name, device->ordinal);
    DO(device, cuDeviceTotalMem, &memory, device->ordinal);
    facts->memory = memory;
    facts->driver = (unsigned)device->driver->version;
    facts->capability = 10 * attribute(device, RD_CU_DEVICE_CAPABILITY_MAJOR);
    facts->capability += attribute(device, RD_CU_DEVICE_CAPABILITY_MINOR);
    facts->multiprocessors = attribute(device, RD_CU_DEVICE_MULTIPROCESSORS);
    facts->threads_per_multiprocessor = attribute(device, RD_CU_DEVICE_THREADS_PER_MULTIPROCESSOR);
    facts->shared_per_block = attribute(device, RD_CU_DEVICE_MAX_SHARED_OPT_IN);
    facts->l2 = attribute(device, RD_CU_DEVICE_L2_BYTES);
    /* Two transfers per clock, as all memory on GPUs does. */
    facts->nominal = 2e3 * attribute(device, RD_CU_DEVICE_MEMORY_CLOCK_KHZ) *
                     (attribute(device, RD_CU_DEVICE_MEMORY_BUS_BITS) / 8.0);
}

gpu_cuda *gpu_cuda_open(unsigned ordinal, char *why, size_t room) {
    const char *reason = NULL;
    const rd_cuda_driver *driver = rd_cuda_driver_open(&reason);
    if (!driver) {
        snprintf(why, room, "%s", reason);
        return NULL;
    }
    if (ordinal >= (unsigned)driver->devices) {
        snprintf(why, room, "there is no cuda:%u here: the last one is cuda:%d", ordinal, driver->devices - 1);
        return NULL;
    }
    gpu_cuda *device = program_allocate(sizeof *device);
    *device = (gpu_cuda){.driver = driver, .facts.ordinal = ordinal};
    rd_cu_context context = NULL;
    DO(device, cuDeviceGet, &device->ordinal, (int)ordinal);
    if (DO(device, cuDevicePrimaryCtxRetain, &context, device->ordinal)) {
        DO(device, cuCtxSetCurrent, context);
        DO(device, cuStreamCreate, &device->stream, RD_CU_STREAM_NON_BLOCKING);
        DO(device, cuEventCreate, &device->begin, RD_CU_EVENT_DEFAULT);
        DO(device, cuEventCreate, &device->end, RD_CU_EVENT_DEFAULT);
        describe(device);
        if (!device->failed)
            return device;
        driver->cuDevicePrimaryCtxRelease(device->ordinal);
    }
    snprintf(why, room, "cuda:%u cannot be used: %s", ordinal, device->error);
    free(device);
    return NULL;
}

void gpu_cuda_close(gpu_cuda *device) {
    if (!device)
        return;
    const rd_cuda_driver *driver = device->driver;
    driver->cuStreamSynchronize(device->stream);
    driver->cuEventDestroy(device->begin);
    driver->cuEventDestroy(device->end);
    driver->cuStreamDestroy(device->stream);
    driver->cuDevicePrimaryCtxRelease(device->ordinal);
    free(device);
}

const gpu_cuda_facts *gpu_cuda_describe(const gpu_cuda *device) {
    return &device->facts;
}

uint64_t gpu_cuda_free_memory(gpu_cuda *device) {
    size_t available = 0, total = 0;
    DO(device, cuMemGetInfo, &available, &total);
    return available;
}

const char *gpu_cuda_error(const gpu_cuda *device) {
    return device->failed ? device->error : NULL;
}

void gpu_cuda_fail(gpu_cuda *device, const char *what) {
    if (device->failed)
        return;
    device->failed = true;
    snprintf(device->error, sizeof device->error, "%s", what);
}

bool gpu_cuda_forgive(gpu_cuda *device) {
    if (device->driver->cuCtxSynchronize() != RD_CU_SUCCESS)
        return false;
    device->failed = false;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------------------------------------------------ */

uint64_t gpu_cuda_allocate(gpu_cuda *device, uint64_t bytes) {
    rd_cu_address address = 0;
    DO(device, cuMemAlloc, &address, bytes ? bytes : 1);
    return address;
}

/* Also after a failure: memory is given back whatever happened. */
void gpu_cuda_free(gpu_cuda *device, uint64_t address) {
    if (address)
        device->driver->cuMemFree(address);
}

void gpu_cuda_upload(gpu_cuda *device, uint64_t to, const void *from, uint64_t bytes) {
    if (bytes)
        DO(device, cuMemcpyHtoDAsync, to, from, bytes, device->stream);
}

void gpu_cuda_download(gpu_cuda *device, void *to, uint64_t from, uint64_t bytes) {
    if (bytes)
        DO(device, cuMemcpyDtoHAsync, to, from, bytes, device->stream);
    gpu_cuda_wait(device);
}

void gpu_cuda_copy(gpu_cuda *device, uint64_t to, uint64_t from, uint64_t bytes) {
    if (bytes)
        DO(device, cuMemcpyDtoDAsync, to, from, bytes, device->stream);
}

void gpu_cuda_fill(gpu_cuda *device, uint64_t address, unsigned char value, uint64_t bytes) {
    if (bytes)
        DO(device, cuMemsetD8Async, address, value, bytes, device->stream);
}

void gpu_cuda_wait(gpu_cuda *device) {
    DO(device, cuStreamSynchronize, device->stream);
}

static uint64_t copies_wanted(gpu_cuda *device, uint64_t stride) {
    uint64_t wanted = 3 * device->facts.l2 / stride + 2, most = gpu_cuda_free_memory(device) / 2 / stride;
    return most < 1 ? 1 : wanted < most ? wanted : most;
}

gpu_cuda_input gpu_cuda_input_create(gpu_cuda *device, const void *from, uint64_t bytes, bool rotate) {
    gpu_cuda_input input = {.bytes = bytes, .stride = (bytes / 256 + 1) * 256, .copies = 1};
    if (rotate)
        input.copies = copies_wanted(device, input.stride);
    input.address = gpu_cuda_allocate(device, input.copies * input.stride);
    gpu_cuda_fill(device, input.address, 0, input.copies * input.stride);
    gpu_cuda_input_restore(device, &input, from);
    return input;
}

/* One upload; then what is there is doubled until all is there. */
void gpu_cuda_input_restore(gpu_cuda *device, const gpu_cuda_input *input, const void *from) {
    gpu_cuda_upload(device, input->address, from, input->bytes);
    for (uint64_t done = 1; done < input->copies && !device->failed; done *= 2) {
        uint64_t more = input->copies - done < done ? input->copies - done : done;
        gpu_cuda_copy(device, input->address + done * input->stride, input->address, more * input->stride);
    }
    gpu_cuda_wait(device);
}

void gpu_cuda_input_destroy(gpu_cuda *device, gpu_cuda_input *input) {
    gpu_cuda_free(device, input->address);
    *input = (gpu_cuda_input){0};
}

uint64_t gpu_cuda_input_at(const gpu_cuda_input *input, uint64_t run) {
    return input->address + run % input->copies * input->stride;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------------ */

gpu_cuda_module *gpu_cuda_module_load(gpu_cuda *device, const void *image) {
    rd_cu_module module = NULL;
    DO(device, cuModuleLoadData, &module, image);
    return (gpu_cuda_module *)module;
}

void gpu_cuda_module_unload(gpu_cuda *device, gpu_cuda_module *module) {
    if (module)
        device->driver->cuModuleUnload((rd_cu_module)module);
}

gpu_cuda_kernel gpu_cuda_kernel_of(gpu_cuda *device, void *function, unsigned dynamic_shared) {
    gpu_cuda_kernel kernel = {.dynamic_shared = dynamic_shared};
    int registers = 0, shared = 0, threads = 0;
    DO(device, cuFuncGetAttribute, &registers, RD_CU_FUNCTION_REGISTERS, function);
    DO(device, cuFuncGetAttribute, &shared, RD_CU_FUNCTION_SHARED_BYTES, function);
    DO(device, cuFuncGetAttribute, &threads, RD_CU_FUNCTION_MAX_THREADS, function);
    if (device->failed)
        return kernel;
    kernel.function = function;
    kernel.registers = (unsigned)registers;
    kernel.static_shared = (unsigned)shared;
    kernel.max_threads = (unsigned)threads;
    return kernel;
}

gpu_cuda_kernel gpu_cuda_kernel_named(gpu_cuda *device, gpu_cuda_module *module, const char *name,
                                      unsigned dynamic_shared) {
    rd_cu_function function = NULL;
    DO(device, cuModuleGetFunction, &function, (rd_cu_module)module, name);
    gpu_cuda_kernel kernel = gpu_cuda_kernel_of(device, function, dynamic_shared);
    if (dynamic_shared + kernel.static_shared > 48 << 10 && /* more than any device gives unasked */
        !DO(device, cuFuncSetAttribute, function, RD_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)dynamic_shared))
        kernel.function = NULL;
    return kernel;
}

unsigned gpu_cuda_resident_blocks(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned threads) {
    int blocks = 0;
    DO(device, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, kernel->function, (int)threads,
       kernel->dynamic_shared);
    return blocks > 0 ? (unsigned)blocks : 0;
}

double gpu_cuda_occupancy(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned threads) {
    unsigned whole_warps = (threads + 31) / 32 * 32, most = device->facts.threads_per_multiprocessor;
    return most ? (double)gpu_cuda_resident_blocks(device, kernel, threads) * whole_warps / most : -1;
}

unsigned gpu_cuda_resident_clusters(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned cluster,
                                    unsigned threads) {
    const rd_cu_launch launch = {
        .grid = {cluster, 1, 1}, .block = {threads, 1, 1}, .dynamic_shared = kernel->dynamic_shared};
    int clusters = 0;
    if (!device->driver->cuOccupancyMaxActiveClusters)
        gpu_cuda_fail(device, "this driver does not know clusters");
    DO(device, cuOccupancyMaxActiveClusters, &clusters, kernel->function, &launch);
    return clusters > 0 ? (unsigned)clusters : 0;
}

/* A launch with the attribute that its way asks for. */
static void launch_in_its_way(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned blocks, unsigned threads,
                              void **arguments) {
    const rd_cu_launch_attribute attribute = {
        .id = kernel->way == GPU_CUDA_COOPERATIVE ? RD_CU_LAUNCH_COOPERATIVE : RD_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION,
        .value.number = 1};
    const rd_cu_launch launch = {.grid = {blocks, 1, 1},
                                 .block = {threads, 1, 1},
                                 .dynamic_shared = kernel->dynamic_shared,
                                 .stream = device->stream,
                                 .attributes = &attribute,
                                 .attribute_count = 1};
    if (!device->driver->cuLaunchKernelEx)
        gpu_cuda_fail(device, "this driver knows plain launches alone");
    DO(device, cuLaunchKernelEx, &launch, kernel->function, arguments, NULL);
}

void gpu_cuda_launch(gpu_cuda *device, const gpu_cuda_kernel *kernel, unsigned blocks, unsigned threads,
                     void **arguments) {
    if (kernel->way != GPU_CUDA_PLAIN) {
        launch_in_its_way(device, kernel, blocks, threads, arguments);
        return;
    }
    DO(device, cuLaunchKernel, kernel->function, blocks, 1, 1, threads, 1, 1, kernel->dynamic_shared, device->stream,
       arguments, NULL);
}

void *gpu_cuda_stream(const gpu_cuda *device) {
    return device->stream;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Time
 * ------------------------------------------------------------------------------------------------------------------ */

/* What comes first in the stream: keeps the device from beginning before the host has queued all runs, as a host that takes longer to
 * queue a launch than the device to run it would be what is measured. Not for long: a stream takes only so many launches, and a
 * library that is measured may wait by itself. */
static void hold(void *context) {
    gpu_cuda *device = context;
    const struct timespec pause = {.tv_nsec = 20000};
    for (double until = measure_seconds() + 5e-3; !atomic_load(&device->queued) && measure_seconds() < until;)
        nanosleep(&pause, NULL);
}

static double time_runs(gpu_cuda *device, const gpu_cuda_variant *variant, uint64_t *run, uint64_t runs) {
    float milliseconds = 0;
    atomic_store(&device->queued, false);
    if (device->driver->cuLaunchHostFunc && !variant->waits)
        DO(device, cuLaunchHostFunc, device->stream, hold, device);
    DO(device, cuEventRecord, device->begin, device->stream);
    for (uint64_t i = 0; i < runs; i++)
        variant->work(variant->context, (*run)++);
    DO(device, cuEventRecord, device->end, device->stream);
    atomic_store(&device->queued, true);
    DO(device, cuEventSynchronize, device->end);
    DO(device, cuEventElapsedTime, &milliseconds, device->begin, device->end);
    return milliseconds * 1e-3 / (double)runs;
}

/* Runs that make up one sample: doubled until they last long enough. The first run loads the kernel, the last trial warms
 * up. */
static uint64_t calibrate(gpu_cuda *device, const gpu_cuda_variant *variant, double sample_seconds) {
    uint64_t run = 0, runs = 1;
    time_runs(device, variant, &run, 1);
    while (!device->failed && time_runs(device, variant, &run, runs) * (double)runs < sample_seconds)
        runs *= 2;
    return runs;
}

bool gpu_cuda_time_in_turns(gpu_cuda *device, const gpu_cuda_variant *variants, size_t count, unsigned rounds,
                            double sample_seconds) {
    enum { VARIANTS_MOST = 16 };
    uint64_t runs[VARIANTS_MOST], run[VARIANTS_MOST] = {0};
    for (size_t v = 0; v < count; v++)
        runs[v] = calibrate(device, &variants[v], sample_seconds);
    for (unsigned round = 0; round < rounds; round++)
        for (size_t turn = 0; turn < count; turn++) {
            size_t v = (turn + round) % count;
            variants[v].seconds[round] = time_runs(device, &variants[v], &run[v], runs[v]);
        }
    return !device->failed;
}

measure_statistics gpu_cuda_time(gpu_cuda *device, gpu_cuda_work *work, void *context, unsigned rounds) {
    enum { ROUNDS_MOST = 1000 };
    double seconds[ROUNDS_MOST];
    const gpu_cuda_variant only = {work, context, seconds, false};
    if (rounds > ROUNDS_MOST)
        rounds = ROUNDS_MOST;
    return gpu_cuda_time_in_turns(device, &only, 1, rounds, 1e-3) ? measure_summarise(seconds, rounds)
                                                                  : (measure_statistics){0};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What a device can read
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct read_run {
    gpu_cuda *device;
    gpu_cuda_kernel kernel;
    uint64_t from, vectors, sink;
    unsigned blocks, threads;
} read_run;

static void read_once(void *context, uint64_t run) {
    read_run *read = context;
    (void)run;
    gpu_cuda_launch(read->device, &read->kernel, read->blocks, read->threads,
                    (void *[]){&read->from, &read->vectors, &read->sink});
}

/* The best of several numbers of threads and blocks, in bytes per second. */
static double best_rate(read_run *read) {
    static const unsigned threads[] = {256, 512, 1024};
    double best = 0, bytes = 16 * (double)read->vectors;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        read->threads = threads[i];
        unsigned resident = gpu_cuda_resident_blocks(read->device, &read->kernel, read->threads);
        for (unsigned blocks = 1; blocks <= resident; blocks *= 2) {
            read->blocks = blocks * read->device->facts.multiprocessors;
            double seconds = gpu_cuda_time(read->device, read_once, read, 5).median;
            if (seconds > 0 && bytes / seconds > best)
                best = bytes / seconds;
        }
    }
    return best;
}

double gpu_cuda_read_limit(gpu_cuda *device) {
    const rd_cuda_image *image = rd_cuda_image_find(gpu_cuda_images, "cuda/read_limit");
    if (!image)
        return 0;
    uint64_t bytes = UINT64_C(4) << 30, room = gpu_cuda_free_memory(device);
    while (bytes > room / 2)
        bytes /= 2;
    gpu_cuda_module *module = gpu_cuda_module_load(device, image->data);
    read_run read = {.device = device, .vectors = bytes / 16};
    read.kernel = gpu_cuda_kernel_named(device, module, "read_limit", 0);
    read.from = gpu_cuda_allocate(device, bytes);
    read.sink = gpu_cuda_allocate(device, 4);
    gpu_cuda_fill(device, read.from, 0, bytes);
    double best = best_rate(&read);
    gpu_cuda_free(device, read.from);
    gpu_cuda_free(device, read.sink);
    gpu_cuda_module_unload(device, module);
    return best;
}
