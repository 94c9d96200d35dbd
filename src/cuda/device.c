/* Devices, contexts and kernels: see device.h. */
#include "cuda/device.h"

#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const rd_cuda_image rd_cuda_images[]; /* made by cmake/ReductCuda.cmake; empty without nvcc */

reduct_status rd_cuda_fail(const struct rd_cuda_device *device, rd_cu_result result, const char *doing,
                           reduct_error *error) {
    char text[160];
    rd_cuda_result_text(device->driver, result, text, sizeof text);
    if (result == RD_CU_ERROR_OUT_OF_MEMORY)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%s: not enough memory %s", device->names[0].text, doing);
    return rd_fail(error, REDUCT_ERROR_DEVICE_LOST, "%s: the device failed %s: %s", device->names[0].text, doing, text);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rd_cuda_device *devices[RD_CUDA_DEVICES_MAX];

/* f64 runs at 1/2 of f32's rate on devices for computing and at 1/32 or 1/64 on others. */
enum { RD_CU_DEVICE_DOUBLE_RATIO = 87, SLOW_RATIO = 8 };

static const struct {
    const char *suffix;
    bool integers;
} ways[RD_CUDA_NAMES] = {{"", false}, {":double", false}, {":integer", true}};

static reduct_status make_device(const rd_cuda_driver *driver, int ordinal, struct rd_cuda_device **made,
                                 reduct_error *error) {
    struct rd_cuda_device *device = calloc(1, sizeof *device);
    if (!device)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "device: %zu bytes could not be allocated", sizeof *device);
    device->driver = driver;
    device->ordinal = ordinal;
    pthread_mutex_init(&device->lock, NULL);
    int major = 0, minor = 0, ratio = 0;
    rd_cu_result result = driver->cuDeviceGet(&device->handle, ordinal);
    if (result == RD_CU_SUCCESS)
        result = driver->cuDeviceGetAttribute(&device->multiprocessors, RD_CU_DEVICE_MULTIPROCESSORS, device->handle);
    if (result == RD_CU_SUCCESS)
        result = driver->cuDeviceGetAttribute(&major, RD_CU_DEVICE_CAPABILITY_MAJOR, device->handle);
    if (result == RD_CU_SUCCESS)
        result = driver->cuDeviceGetAttribute(&minor, RD_CU_DEVICE_CAPABILITY_MINOR, device->handle);
    if (result == RD_CU_SUCCESS)
        result = driver->cuDeviceGetAttribute(&device->l2_bytes, RD_CU_DEVICE_L2_BYTES, device->handle);
    if (result == RD_CU_SUCCESS)
        result = driver->cuDeviceGetAttribute(&ratio, RD_CU_DEVICE_DOUBLE_RATIO, device->handle);
    if (result == RD_CU_SUCCESS)
        result = driver->cuDevicePrimaryCtxRetain(&device->primary, device->handle);
    device->capability = 10 * major + minor;
    for (int i = 0; i < RD_CUDA_NAMES; i++) {
        struct rd_cuda_name *name = &device->names[i];
        name->device = device;
        name->integers = i == 0 ? ratio > SLOW_RATIO : ways[i].integers;
        snprintf(name->text, sizeof name->text, "cuda:%d%s", ordinal, ways[i].suffix);
    }
    if (result != RD_CU_SUCCESS) {
        reduct_status status = rd_cuda_fail(device, result, "to start", error);
        free(device);
        return status;
    }
    *made = device;
    return REDUCT_OK;
}

/* Reads "7" or "7:integer"; false for what is no name. */
static bool read_name(const char *rest, int *ordinal, int *way) {
    *ordinal = *way = 0;
    if (!rest)
        return true;
    size_t digits = strspn(rest, "0123456789");
    if (digits < 1 || digits > 3)
        return false;
    *ordinal = atoi(rest);
    while (*way < RD_CUDA_NAMES && strcmp(rest + digits, ways[*way].suffix) != 0)
        ++*way;
    return *way < RD_CUDA_NAMES;
}

reduct_status rd_cuda_device_open(const char *rest, const struct rd_cuda_name **name, reduct_error *error) {
    int ordinal, way;
    if (!read_name(rest, &ordinal, &way))
        return rd_fail(
            error, REDUCT_ERROR_NO_DEVICE,
            "device: \"cuda:%s\" is no device; expected cuda:N, cuda:N:double or cuda:N:integer, as in cuda:0, "
            "several of them, as in cuda:0,1, or cuda:all",
            rest);
    if (!rd_cuda_images[0].name)
        return rd_fail(error, REDUCT_ERROR_NO_DEVICE,
                       "device: \"cuda:%d\" cannot be used: this library was built without CUDA kernels", ordinal);
    const char *why = NULL;
    const rd_cuda_driver *driver = rd_cuda_driver_open(&why);
    if (!driver)
        return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "device: \"cuda:%d\" is not here: %s", ordinal, why);
    int count = driver->devices < RD_CUDA_DEVICES_MAX ? driver->devices : RD_CUDA_DEVICES_MAX;
    if (ordinal >= count)
        return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "device: \"cuda:%d\" is not here: found %d CUDA device%s",
                       ordinal, count, count == 1 ? ", cuda:0" : "s, from cuda:0 on");
    pthread_mutex_lock(&devices_lock);
    reduct_status status = REDUCT_OK;
    if (!devices[ordinal])
        status = make_device(driver, ordinal, &devices[ordinal], error);
    if (status == REDUCT_OK)
        *name = &devices[ordinal]->names[way];
    pthread_mutex_unlock(&devices_lock);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Contexts
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned long long id_of(const struct rd_cuda_device *device, rd_cu_context handle) {
    unsigned long long id = 0;
    if (device->driver->cuCtxGetId && device->driver->cuCtxGetId(handle, &id) != RD_CU_SUCCESS)
        id = 0;
    return id;
}

/* With room for a module of each image. */
static size_t context_bytes(void) {
    size_t images = 0;
    while (rd_cuda_images[images].name)
        images++;
    return sizeof(struct rd_cuda_context) + images * sizeof(rd_cu_module);
}

/* With the device locked; null if there is none. */
static struct rd_cuda_context *find_context(const struct rd_cuda_device *device, rd_cu_context handle,
                                            unsigned long long id) {
    struct rd_cuda_context *context = device->contexts;
    while (context && (context->handle != handle || context->id != id))
        context = context->next;
    return context;
}

/* What is known of a context of any device; null if it is not known to be of this one, as it never is where contexts have no
 * ids: then a handle may have become another device's. */
static struct rd_cuda_context *known_context(struct rd_cuda_device *device, rd_cu_context handle) {
    const unsigned long long id = id_of(device, handle);
    pthread_mutex_lock(&device->lock);
    struct rd_cuda_context *context = id ? find_context(device, handle, id) : NULL;
    pthread_mutex_unlock(&device->lock);
    return context;
}

/* What is known of a context of the device, found or made. */
static struct rd_cuda_context *context_of(struct rd_cuda_device *device, rd_cu_context handle) {
    unsigned long long id = id_of(device, handle);
    pthread_mutex_lock(&device->lock);
    struct rd_cuda_context *context = find_context(device, handle, id);
    if (!context && (context = calloc(1, context_bytes()))) {
        context->device = device;
        context->handle = handle;
        context->id = id;
        pthread_mutex_init(&context->lock, NULL);
        context->next = device->contexts;
        device->contexts = context;
    }
    pthread_mutex_unlock(&device->lock);
    return context;
}

/* Makes the primary context current. It is asked for every time, as a reset of the device replaces it and an old one can
 * be made current all the same; what is held of it stays one reference. */
static rd_cu_result push_primary(struct rd_cuda_device *device, rd_cu_context *handle) {
    const rd_cuda_driver *driver = device->driver;
    pthread_mutex_lock(&device->lock);
    rd_cu_result result = driver->cuDevicePrimaryCtxRetain(handle, device->handle);
    if (result == RD_CU_SUCCESS && *handle == device->primary)
        driver->cuDevicePrimaryCtxRelease(device->handle);
    else if (result == RD_CU_SUCCESS)
        device->primary = *handle;
    pthread_mutex_unlock(&device->lock);
    return result == RD_CU_SUCCESS ? driver->cuCtxPushCurrent(*handle) : result;
}

static rd_cu_context current_context(const struct rd_cuda_device *device) {
    rd_cu_context handle = NULL;
    return device->driver->cuCtxGetCurrent(&handle) == RD_CU_SUCCESS ? handle : NULL;
}

static bool is_of_device(const struct rd_cuda_device *device, rd_cu_context current) {
    rd_cu_device owner;
    return current && device->driver->cuCtxGetDevice(&owner) == RD_CU_SUCCESS && owner == device->handle;
}

reduct_status rd_cuda_enter(struct rd_cuda_device *device, struct rd_cuda_stay *stay, reduct_error *error) {
    rd_cu_context handle = current_context(device);
    stay->pushed = false;
    stay->context = handle ? known_context(device, handle) : NULL;
    if (stay->context)
        return REDUCT_OK;
    if (!is_of_device(device, handle)) {
        const rd_cu_result result = push_primary(device, &handle);
        if (result != RD_CU_SUCCESS)
            return rd_cuda_fail(device, result, "to make its context current", error);
        stay->pushed = true;
    }
    stay->context = context_of(device, handle);
    if (stay->context)
        return REDUCT_OK;
    rd_cuda_leave(device, stay);
    return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "device: %zu bytes could not be allocated", context_bytes());
}

reduct_status rd_cuda_enter_context(struct rd_cuda_context *context, struct rd_cuda_stay *stay, reduct_error *error) {
    const struct rd_cuda_device *device = context->device;
    *stay = (struct rd_cuda_stay){context, false};
    if (current_context(device) == context->handle && id_of(device, context->handle) == context->id)
        return REDUCT_OK;
    const rd_cu_result result = device->driver->cuCtxPushCurrent(context->handle);
    stay->pushed = result == RD_CU_SUCCESS;
    return stay->pushed ? REDUCT_OK : rd_cuda_fail(device, result, "to make the plan's context current", error);
}

void rd_cuda_leave(const struct rd_cuda_device *device, const struct rd_cuda_stay *stay) {
    rd_cu_context popped;
    if (stay->pushed)
        device->driver->cuCtxPopCurrent(&popped);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status load_image(struct rd_cuda_context *context, const rd_cuda_image *image, rd_cu_module *module,
                                reduct_error *error) {
    rd_cu_result result = RD_CU_SUCCESS;
    pthread_mutex_lock(&context->lock);
    if (!*module)
        result = context->device->driver->cuModuleLoadData(module, image->data);
    pthread_mutex_unlock(&context->lock);
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(context->device, result, "to load kernels", error);
}

reduct_status rd_cuda_kernel(struct rd_cuda_context *context, const char *image, const char *name,
                             rd_cu_function *function, reduct_error *error) {
    const rd_cuda_image *found = rd_cuda_image_find(rd_cuda_images, image);
    if (!found)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "%s: this library has no CUDA kernels named %s",
                       context->device->names[0].text, image);
    rd_cu_module *module = &context->modules[found - rd_cuda_images];
    reduct_status status = load_image(context, found, module, error);
    if (status != REDUCT_OK)
        return status;
    rd_cu_result result = context->device->driver->cuModuleGetFunction(function, *module, name);
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(context->device, result, "to find a kernel", error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Pointers
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned memory_type(const struct rd_cuda_device *device, const void *pointer) {
    unsigned type = 0; /* memory that the driver does not know is the host's */
    rd_cu_address address = (rd_cu_address)(uintptr_t)pointer;
    if (device->driver->cuPointerGetAttribute(&type, RD_CU_POINTER_MEMORY_TYPE, address) != RD_CU_SUCCESS)
        type = 0;
    return type;
}

reduct_status rd_cuda_check_stream(const struct rd_cuda_device *device, rd_cu_stream stream, reduct_error *error) {
    int capturing = 0;
    const rd_cu_result result = device->driver->cuStreamIsCapturing(stream, &capturing);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(device, result, "to look at the stream", error);
    return capturing ? rd_fail(error, REDUCT_ERROR_UNSUPPORTED,
                               "stream: is being captured, and cannot be waited for; expected one that can")
                     : REDUCT_OK;
}

bool rd_cuda_on_device(const struct rd_cuda_device *device, const void *pointer) {
    unsigned managed = 0;
    rd_cu_address address = (rd_cu_address)(uintptr_t)pointer;
    if (memory_type(device, pointer) == RD_CU_MEMORY_DEVICE) /* the usual answer, of one call */
        return true;
    return device->driver->cuPointerGetAttribute(&managed, RD_CU_POINTER_IS_MANAGED, address) == RD_CU_SUCCESS &&
           managed;
}

bool rd_cuda_page_locked(const struct rd_cuda_device *device, const void *pointer) {
    return memory_type(device, pointer) == RD_CU_MEMORY_HOST;
}
