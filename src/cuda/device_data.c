/* Data on the device: launches over all of it. */
#include "cuda/channel.h"
#include "cuda/partials.h"
#include "cuda/pieces.h"
#include "cuda/synchronous.h"

/* One launch, and what it left. */
static rd_cu_result reduce_part(const struct rd_cuda_launch *launch, const struct rd_cuda_channel *channel,
                                const struct rd_cuda_array *array, struct rd_partial *partial) {
    struct rd_cuda_call call = launch->call;
    call.x = array->x;
    call.y = array->y;
    call.count = array->count;
    call.workspace = (struct rd_cuda_workspace *)(uintptr_t)channel->workspace;
    call.partial = channel->partial;
    rd_cu_result result = rd_cuda_launch_start(launch, &call, channel->stream);
    if (result == RD_CU_SUCCESS)
        result = launch->context->device->driver->cuStreamSynchronize(channel->stream);
    if (result == RD_CU_SUCCESS)
        rd_cuda_merge(partial, channel->partial, array->count);
    return result;
}

static reduct_status reduce_parts(const struct rd_cuda_launch *launch, const struct rd_cuda_channel *channel,
                                  const struct rd_cuda_array *array, struct rd_partial *partial, reduct_error *error) {
    rd_cu_result result = RD_CU_SUCCESS;
    /* There is one part, but for products of floats, which have no y. */
    for (uint64_t at = 0, some; at < array->count && result == RD_CU_SUCCESS; at += some) {
        some = rd_cuda_next_part(partial, rd_cuda_elements_before(partial), array->count - at, UINT64_MAX);
        const struct rd_cuda_array part = rd_cuda_part_of(array, at, some, launch->element_bytes);
        result = reduce_part(launch, channel, &part, partial);
    }
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(launch->context->device, result, "to reduce", error);
}

/* Elements that the CPU adds in little time; and into how many parts an array of more is cut of which tables do not tell all. */
enum { LEAST = 1 << 18, PARTS = 8 };

static reduct_status reduce_pieces(const struct rd_cuda_launch *launch, struct rd_cuda_channel *channel,
                                   const struct rd_cuda_array *array, struct rd_partial *partial, reduct_error *error) {
    struct rd_cuda_context *context = launch->context;
    reduct_status status = REDUCT_OK;
    uint64_t at = 0, most = array->count;
    while (status == REDUCT_OK && at < array->count) {
        struct rd_cuda_pieces *pieces;
        bool known = false;
        const uint64_t left = array->count - at, some = left < most ? left : most;
        const struct rd_cuda_array part = rd_cuda_part_of(array, at, some, launch->element_bytes);
        status = rd_cuda_pieces_start(context, &partial->reduction, &part, channel, &pieces, error);
        if (status == REDUCT_OK)
            status = rd_cuda_pieces_take(context, channel, pieces, partial, &known, error);
        if (status == REDUCT_OK && !known && some > LEAST) {
            most = some / PARTS > LEAST ? some / PARTS : LEAST;
            continue;
        }
        if (status == REDUCT_OK && !known)
            status = rd_cuda_add_by_cpu(context->device, &part, true, partial, error);
        at += some;
        most = most < left / PARTS ? most * PARTS : left;
    }
    return status;
}

reduct_status rd_cuda_reduce_there(const struct rd_cuda_launch *launch, const struct rd_cuda_array *array,
                                   struct rd_partial *partial, reduct_error *error) {
    struct rd_cuda_context *context = launch->context;
    struct rd_cuda_channel *channel;
    reduct_status status = rd_cuda_channel_take(context, false, &channel, error);
    if (status != REDUCT_OK)
        return status;
    status = rd_cuda_takes_pieces(launch, array) ? reduce_pieces(launch, channel, array, partial, error)
                                                 : reduce_parts(launch, channel, array, partial, error);
    if (status == REDUCT_OK)
        rd_cuda_channel_give(context, channel);
    else
        rd_cuda_channel_destroy(context, channel);
    return status;
}
