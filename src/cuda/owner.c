/* See owner.h. In a file of its own, because it is asked before any device is opened. */
#include "cuda/owner.h"

#include "drivers/cuda.h"

#include <stdint.h>

int rd_cuda_owner(const void *memory) {
    const char *why;
    const rd_cuda_driver *driver = rd_cuda_driver_open(&why);
    unsigned type = 0;
    int ordinal = -1;
    rd_cu_address address = (rd_cu_address)(uintptr_t)memory;
    if (!driver || driver->cuPointerGetAttribute(&type, RD_CU_POINTER_MEMORY_TYPE, address) != RD_CU_SUCCESS ||
        type != RD_CU_MEMORY_DEVICE ||
        driver->cuPointerGetAttribute(&ordinal, RD_CU_POINTER_DEVICE_ORDINAL, address) != RD_CU_SUCCESS)
        return -1;
    return ordinal;
}
