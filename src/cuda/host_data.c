/* Data on the host: streamed in pieces through two channels in turn, so that one piece is copied into page-locked memory
 * while the one before goes to the device and is reduced. */
#include "cpu/team.h"
#include "cuda/channel.h"
#include "cuda/kernels/tuning.h"
#include "cuda/partials.h"
#include "cuda/synchronous.h"

#include <stdatomic.h>
#include <string.h>

/* One piece under way. */
struct piece {
    struct rd_cuda_channel *channel;
    uint64_t count; /* 0: none */
};

/* A copy that threads share out. */
struct copy {
    unsigned char *to;
    const unsigned char *from;
    size_t bytes;
    atomic_size_t next;
};

static void copy_steps(void *context) {
    struct copy *copy = context;
    size_t at;
    while ((at = atomic_fetch_add_explicit(&copy->next, RD_CUDA_COPY_STEP, memory_order_relaxed)) < copy->bytes) {
        size_t left = copy->bytes - at;
        memcpy(copy->to + at, copy->from + at, left < RD_CUDA_COPY_STEP ? left : RD_CUDA_COPY_STEP);
    }
}

static void copy_with_threads(void *to, const void *from, size_t bytes, const struct rd_crew *crew) {
    struct copy copy = {.to = to, .from = from, .bytes = bytes};
    atomic_init(&copy.next, 0);
    uint64_t useful = bytes / (4 * RD_CUDA_COPY_STEP) + 1;
    unsigned threads = rd_team_threads(crew, useful < RD_CUDA_COPY_THREADS ? useful : RD_CUDA_COPY_THREADS, bytes);
    rd_team_run(crew, threads, copy_steps, &copy);
}

/* Waits for a piece and adds its result. */
static rd_cu_result take_piece(const struct rd_cuda_launch *launch, struct piece *piece, struct rd_partial *partial) {
    if (!piece->count)
        return RD_CU_SUCCESS;
    rd_cu_result result = launch->context->device->driver->cuStreamSynchronize(piece->channel->stream);
    if (result == RD_CU_SUCCESS)
        rd_cuda_merge(partial, piece->channel->partial, piece->count);
    piece->count = 0;
    return result;
}

/* Queues the transfer of one array of a piece, at an offset of the channel's buffers, which is where it will be. */
static rd_cu_result send(const struct rd_cuda_launch *launch, struct rd_cuda_channel *channel, size_t offset,
                         const void *from, size_t bytes, const struct rd_crew *crew) {
    const struct rd_cuda_device *device = launch->context->device;
    const void *source = from;
    if (!rd_cuda_page_locked(device, from)) {
        copy_with_threads((unsigned char *)channel->staging + offset, from, bytes, crew);
        source = (unsigned char *)channel->staging + offset;
    }
    return device->driver->cuMemcpyHtoDAsync(channel->buffer + offset, source, bytes, channel->stream);
}

static rd_cu_result start_piece(const struct rd_cuda_launch *launch, struct piece *piece, const unsigned char *x,
                                const unsigned char *y, uint64_t count, const struct rd_crew *crew) {
    struct rd_cuda_channel *channel = piece->channel;
    struct rd_cuda_call call = launch->call;
    size_t bytes = (size_t)count * launch->element_bytes, half = RD_CUDA_STAGE_BYTES / 2;
    call.x = (const void *)(uintptr_t)channel->buffer;
    call.y = y ? (const void *)(uintptr_t)(channel->buffer + half) : NULL;
    call.count = count;
    call.workspace = (struct rd_cuda_workspace *)(uintptr_t)channel->workspace;
    call.partial = channel->partial;
    rd_cu_result result = send(launch, channel, 0, x, bytes, crew);
    if (result == RD_CU_SUCCESS && y)
        result = send(launch, channel, half, y, bytes, crew);
    if (result == RD_CU_SUCCESS)
        result = rd_cuda_launch_start(launch, &call, channel->stream);
    piece->count = result == RD_CU_SUCCESS ? count : 0;
    return result;
}

static rd_cu_result stream_pieces(const struct rd_cuda_launch *launch, struct piece piece[2], const unsigned char *x,
                                  const unsigned char *y, uint64_t count, const struct rd_crew *crew,
                                  struct rd_partial *partial) {
    const size_t bytes = launch->element_bytes;
    const uint64_t before = rd_cuda_elements_before(partial);
    uint64_t most = RD_CUDA_STAGE_BYTES / (y ? 2 : 1) / bytes, at = 0, some;
    rd_cu_result result = RD_CU_SUCCESS;
    unsigned turn = 0;
    for (; at < count && result == RD_CU_SUCCESS; turn ^= 1, at += some) {
        some = rd_cuda_next_part(partial, before + at, count - at, most);
        result = take_piece(launch, &piece[turn], partial);
        if (result == RD_CU_SUCCESS)
            result = start_piece(launch, &piece[turn], x + at * bytes, y ? y + at * bytes : NULL, some, crew);
    }
    for (int i = 0; i < 2 && result == RD_CU_SUCCESS; i++) /* in the order of the data */
        result = take_piece(launch, &piece[turn ^ (unsigned)i], partial);
    return result;
}

reduct_status rd_cuda_reduce_from_host(const struct rd_cuda_launch *launch, const void *x, const void *y,
                                       uint64_t count, const struct rd_crew *crew, struct rd_partial *partial,
                                       reduct_error *error) {
    struct rd_cuda_context *context = launch->context;
    struct piece piece[2] = {{0}};
    reduct_status status = rd_cuda_channel_take(context, true, &piece[0].channel, error);
    if (status == REDUCT_OK)
        status = rd_cuda_channel_take(context, true, &piece[1].channel, error);
    rd_cu_result result = RD_CU_SUCCESS;
    if (status == REDUCT_OK)
        result = stream_pieces(launch, piece, x, y, count, crew, partial);
    for (int i = 0; i < 2; i++) {
        if (piece[i].channel && result == RD_CU_SUCCESS)
            rd_cuda_channel_give(context, piece[i].channel);
        else if (piece[i].channel)
            rd_cuda_channel_destroy(context, piece[i].channel);
    }
    return result == RD_CU_SUCCESS ? status : rd_cuda_fail(context->device, result, "to reduce", error);
}
