/* Memory and streams of synchronous calls: see channel.h. */
#include "cuda/channel.h"

#include "core/status.h"
#include "cuda/kernels/tuning.h"

#include <stdlib.h>

static void free_failures(const rd_cuda_driver *driver, struct rd_cuda_channel *channel) {
    if (channel->failures)
        driver->cuMemFree(channel->failures);
    if (channel->failed)
        driver->cuMemFreeHost(channel->failed);
    channel->failures = 0;
    channel->failed = NULL;
    channel->failure_room = 0;
}

void rd_cuda_channel_destroy(struct rd_cuda_context *context, struct rd_cuda_channel *channel) {
    const rd_cuda_driver *driver = context->device->driver;
    free_failures(driver, channel);
    if (channel->buffer)
        driver->cuMemFree(channel->buffer);
    if (channel->staging)
        driver->cuMemFreeHost(channel->staging);
    if (channel->partial)
        driver->cuMemFreeHost(channel->partial);
    if (channel->workspace)
        driver->cuMemFree(channel->workspace);
    if (channel->stream)
        driver->cuStreamDestroy(channel->stream);
    free(channel);
}

static rd_cu_result fill_channel(struct rd_cuda_context *context, struct rd_cuda_channel *channel) {
    const rd_cuda_driver *driver = context->device->driver;
    rd_cu_result result = driver->cuStreamCreate(&channel->stream, RD_CU_STREAM_NON_BLOCKING);
    if (result == RD_CU_SUCCESS)
        result = rd_cuda_workspaces_make(context, 1, channel->stream, &channel->workspace);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemHostAlloc((void **)&channel->partial, sizeof *channel->partial, 0);
    return result;
}

static rd_cu_result fill_staging(const rd_cuda_driver *driver, struct rd_cuda_channel *channel) {
    rd_cu_result result = RD_CU_SUCCESS;
    if (!channel->staging)
        result = driver->cuMemHostAlloc(&channel->staging, RD_CUDA_STAGE_BYTES, 0);
    if (result == RD_CU_SUCCESS && !channel->buffer)
        result = driver->cuMemAlloc(&channel->buffer, RD_CUDA_STAGE_BYTES);
    return result;
}

reduct_status rd_cuda_channel_take(struct rd_cuda_context *context, bool staging, struct rd_cuda_channel **taken,
                                   reduct_error *error) {
    const rd_cuda_driver *driver = context->device->driver;
    pthread_mutex_lock(&context->lock);
    struct rd_cuda_channel *channel = context->free_channels;
    if (channel)
        context->free_channels = channel->next;
    pthread_mutex_unlock(&context->lock);
    rd_cu_result result = RD_CU_SUCCESS;
    if (!channel) {
        channel = calloc(1, sizeof *channel);
        if (!channel)
            return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated", sizeof *channel);
        result = fill_channel(context, channel);
    }
    if (result == RD_CU_SUCCESS && staging)
        result = fill_staging(driver, channel);
    if (result != RD_CU_SUCCESS) {
        rd_cuda_channel_destroy(context, channel);
        return rd_cuda_fail(context->device, result, "for a workspace", error);
    }
    *taken = channel;
    return REDUCT_OK;
}

reduct_status rd_cuda_channel_failures(const struct rd_cuda_context *context, struct rd_cuda_channel *channel,
                                       size_t count, reduct_error *error) {
    const rd_cuda_driver *driver = context->device->driver;
    const size_t bytes = count * sizeof *channel->failed;
    if (count <= channel->failure_room)
        return REDUCT_OK;
    free_failures(driver, channel);
    rd_cu_result result = driver->cuMemHostAlloc((void **)&channel->failed, bytes, 0);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemAlloc(&channel->failures, bytes);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemsetD8Async(channel->failures, 0xff, bytes, channel->stream);
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(channel->stream);
    channel->failure_room = result == RD_CU_SUCCESS ? count : 0;
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(context->device, result, "for a workspace", error);
}

void rd_cuda_channel_give(struct rd_cuda_context *context, struct rd_cuda_channel *channel) {
    pthread_mutex_lock(&context->lock);
    channel->next = context->free_channels;
    context->free_channels = channel;
    pthread_mutex_unlock(&context->lock);
}
