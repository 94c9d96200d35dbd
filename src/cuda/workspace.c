/* Workspaces and what stands in for those of callers: see workspace.h. */
#include "cuda/workspace.h"

#include "cuda/device.h"

rd_cu_result rd_cuda_workspaces_make(const struct rd_cuda_context *context, unsigned count, rd_cu_stream stream,
                                     rd_cu_address *memory) {
    const rd_cuda_driver *driver = context->device->driver;
    const size_t bytes = (size_t)count * RD_CUDA_WORKSPACE_STRIDE;
    rd_cu_address made;
    *memory = 0;
    rd_cu_result result = driver->cuMemAlloc(&made, bytes);
    if (result != RD_CU_SUCCESS)
        return result;
    result = driver->cuMemsetD8Async(made, 0, bytes, stream);
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(stream);
    if (result == RD_CU_SUCCESS)
        *memory = made;
    else
        driver->cuMemFree(made);
    return result;
}

static unsigned count_left(struct rd_cuda_stand_ins *stand_ins, unsigned made) {
    unsigned left = 0;
    for (unsigned i = 0; i < made; i++)
        left += atomic_load_explicit(&stand_ins->caller[i], memory_order_relaxed) == 0;
    return left;
}

void rd_cuda_stand_ins_reserve(struct rd_cuda_context *context) {
    struct rd_cuda_stand_ins *stand_ins = &context->stand_ins;
    pthread_mutex_lock(&context->lock);
    const unsigned made = atomic_load_explicit(&stand_ins->made, memory_order_relaxed);
    if (made < RD_CUDA_STAND_INS && count_left(stand_ins, made) < RD_CUDA_STAND_INS_STEP &&
        rd_cuda_workspaces_make(context, RD_CUDA_STAND_INS_STEP, NULL,
                                &stand_ins->memory[made / RD_CUDA_STAND_INS_STEP]) == RD_CU_SUCCESS)
        atomic_store_explicit(&stand_ins->made, made + RD_CUDA_STAND_INS_STEP, memory_order_release);
    pthread_mutex_unlock(&context->lock);
}

struct rd_cuda_workspace *rd_cuda_stand_in(struct rd_cuda_context *context, const void *workspace) {
    struct rd_cuda_stand_ins *stand_ins = &context->stand_ins;
    const unsigned made = atomic_load_explicit(&stand_ins->made, memory_order_acquire);
    /* Addresses are added behind those that are there and never taken out, so that each is found where it was before,
     * whatever other threads add meanwhile. */
    for (unsigned i = 0; i < made; i++) {
        uintptr_t caller = atomic_load_explicit(&stand_ins->caller[i], memory_order_relaxed);
        const bool taken =
            caller == 0 && atomic_compare_exchange_strong(&stand_ins->caller[i], &caller, (uintptr_t)workspace);
        if (taken || caller == (uintptr_t)workspace)
            return (struct rd_cuda_workspace *)(uintptr_t)(stand_ins->memory[i / RD_CUDA_STAND_INS_STEP] +
                                                           i % RD_CUDA_STAND_INS_STEP * RD_CUDA_WORKSPACE_STRIDE);
    }
    return NULL;
}
