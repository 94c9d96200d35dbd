/* Data on the device: launches over all of it. */
#include "cuda/channel.h"
#include "cuda/partials.h"
#include "cuda/synchronous.h"

/* One launch, and what it left. */
static rd_cu_result reduce_part(const struct rd_cuda_launch *launch, const struct rd_cuda_channel *channel,
                                const void *x, const void *y, uint64_t count, struct rd_partial *partial) {
    struct rd_cuda_call call = launch->call;
    call.x = x;
    call.y = y;
    call.count = count;
    call.workspace = (struct rd_cuda_workspace *)(uintptr_t)channel->workspace;
    call.partial = channel->partial;
    rd_cu_result result = rd_cuda_launch_start(launch, &call, channel->stream);
    if (result == RD_CU_SUCCESS)
        result = launch->context->device->driver->cuStreamSynchronize(channel->stream);
    if (result == RD_CU_SUCCESS)
        rd_cuda_merge(partial, channel->partial, count);
    return result;
}

reduct_status rd_cuda_reduce_there(const struct rd_cuda_launch *launch, const void *x, const void *y, uint64_t count,
                                   struct rd_partial *partial, reduct_error *error) {
    struct rd_cuda_context *context = launch->context;
    struct rd_cuda_channel *channel;
    reduct_status status = rd_cuda_channel_take(context, false, &channel, error);
    if (status != REDUCT_OK)
        return status;
    const unsigned char *from = x;
    rd_cu_result result = RD_CU_SUCCESS;
    /* There is one part, but for products of floats, which have no y. */
    for (uint64_t part; count && result == RD_CU_SUCCESS; count -= part, from += part * launch->element_bytes) {
        part = rd_cuda_next_part(partial, rd_cuda_elements_before(partial), count, UINT64_MAX);
        result = reduce_part(launch, channel, from, y, part, partial);
    }
    if (result == RD_CU_SUCCESS) {
        rd_cuda_channel_give(context, channel);
        return REDUCT_OK;
    }
    rd_cuda_channel_destroy(context, channel);
    return rd_cuda_fail(context->device, result, "to reduce", error);
}
