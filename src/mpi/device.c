/* Memory of GPUs: see device.h. */
#include "mpi/device.h"

#include "drivers/cuda.h"
#include "mpi/agree.h"

static rd_cu_address address_of(const void *memory) {
    return (rd_cu_address)(uintptr_t)memory;
}

/* The driver where memory is a GPU's; otherwise null. */
static const rd_cuda_driver *driver_of(const void *memory) {
    const rd_cuda_driver *driver = rd_cuda_driver_open(NULL);
    unsigned type = 0;
    return driver && memory &&
                   driver->cuPointerGetAttribute(&type, RD_CU_POINTER_MEMORY_TYPE, address_of(memory)) ==
                       RD_CU_SUCCESS &&
                   type == RD_CU_MEMORY_DEVICE
               ? driver
               : NULL;
}

bool rm_on_device(const void *memory) {
    return driver_of(memory) != NULL;
}

/* Makes a context current: that of the memory's device, if there is none. */
static rd_cu_result enter(const rd_cuda_driver *driver, const void *memory, rd_cu_device *device, bool *entered) {
    rd_cu_context context = NULL;
    int ordinal = 0;
    *entered = false;
    rd_cu_result result = driver->cuCtxGetCurrent(&context);
    if (result != RD_CU_SUCCESS || context)
        return result;
    result = driver->cuPointerGetAttribute(&ordinal, RD_CU_POINTER_DEVICE_ORDINAL, address_of(memory));
    if (result == RD_CU_SUCCESS)
        result = driver->cuDeviceGet(device, ordinal);
    if (result == RD_CU_SUCCESS)
        result = driver->cuDevicePrimaryCtxRetain(&context, *device);
    if (result != RD_CU_SUCCESS)
        return result;
    result = driver->cuCtxPushCurrent(context);
    *entered = result == RD_CU_SUCCESS;
    if (!*entered)
        driver->cuDevicePrimaryCtxRelease(*device);
    return result;
}

static void leave(const rd_cuda_driver *driver, rd_cu_device device, bool entered) {
    rd_cu_context popped;
    if (!entered)
        return;
    driver->cuCtxPopCurrent(&popped);
    driver->cuDevicePrimaryCtxRelease(device);
}

static bool report(const rd_cuda_driver *driver, rd_cu_result result, reduct_error *error) {
    char text[160];
    if (result != RD_CU_SUCCESS)
        rm_fail(error, REDUCT_ERROR_DEVICE_LOST, "the GPU failed to copy: %.160s",
                rd_cuda_result_text(driver, result, text, sizeof text));
    return result == RD_CU_SUCCESS;
}

bool rm_from_device(void *host, const void *device, size_t bytes, reduct_error *error) {
    const rd_cuda_driver *driver = driver_of(device);
    rd_cu_device owner = 0;
    bool entered;
    rd_cu_result result = enter(driver, device, &owner, &entered);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemcpyDtoHAsync(host, address_of(device), bytes, NULL);
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(NULL);
    leave(driver, owner, entered);
    return report(driver, result, error);
}

bool rm_to_device(void *device, const void *host, size_t bytes, reduct_error *error) {
    const rd_cuda_driver *driver = driver_of(device);
    rd_cu_device owner = 0;
    bool entered;
    rd_cu_result result = enter(driver, device, &owner, &entered);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemcpyHtoDAsync(address_of(device), host, bytes, NULL);
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(NULL);
    leave(driver, owner, entered);
    return report(driver, result, error);
}
