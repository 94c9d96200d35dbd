/* Data on the host: streamed in pieces through two channels of each device in turn, so that one piece is copied into page-locked
 * memory while those before go to their devices and are reduced. Pieces are dealt out to the devices in turn, and their results
 * are taken in the order of the data. */
#include "cpu/team.h"
#include "cuda/channel.h"
#include "cuda/kernels/tuning.h"
#include "cuda/partials.h"
#include "cuda/synchronous.h"

#include <stdatomic.h>
#include <string.h>

/* One piece under way. */
struct piece {
    const struct rd_cuda_launch *launch;
    struct rd_cuda_channel *channel; /* null until there is a first piece here */
    uint64_t count;                  /* 0: none */
};

/* All of them, in turn. */
struct ring {
    unsigned pieces;
    struct piece piece[2 * RD_CUDA_DEVICES_MAX];
};

/* The least bytes of an array that are a piece for one of several devices: they take longer to copy than a launch to queue. */
enum { PIECE_LEAST = 1 << 20 };

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
static reduct_status take_piece(struct piece *piece, struct rd_partial *partial, reduct_error *error) {
    if (!piece->count)
        return REDUCT_OK;
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    const rd_cu_result result = context->device->driver->cuStreamSynchronize(piece->channel->stream);
    if (result == RD_CU_SUCCESS)
        rd_cuda_merge(partial, piece->channel->partial, piece->count);
    else
        status = rd_cuda_fail(context->device, result, "to reduce", error);
    rd_cuda_leave(context->device, &stay);
    piece->count = 0;
    return status;
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

/* With the context current, and a channel. */
static rd_cu_result queue_piece(const struct piece *piece, const unsigned char *x, const unsigned char *y,
                                uint64_t count, const struct rd_crew *crew) {
    const struct rd_cuda_launch *launch = piece->launch;
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
    return result == RD_CU_SUCCESS ? rd_cuda_launch_start(launch, &call, channel->stream) : result;
}

static reduct_status start_piece(struct piece *piece, const unsigned char *x, const unsigned char *y, uint64_t count,
                                 const struct rd_crew *crew, reduct_error *error) {
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    if (!piece->channel)
        status = rd_cuda_channel_take(context, true, &piece->channel, error);
    if (status == REDUCT_OK) {
        const rd_cu_result result = queue_piece(piece, x, y, count, crew);
        if (result != RD_CU_SUCCESS)
            status = rd_cuda_fail(context->device, result, "to reduce", error);
    }
    rd_cuda_leave(context->device, &stay);
    piece->count = status == REDUCT_OK ? count : 0;
    return status;
}

/* The most elements of a piece. Where there are several devices all of them get something to do, if there is enough. */
static uint64_t most_elements(const struct ring *ring, uint64_t count, size_t bytes, unsigned arrays) {
    const uint64_t most = RD_CUDA_STAGE_BYTES / arrays / bytes, least = PIECE_LEAST / bytes,
                   each = (count - 1) / ring->pieces + 1;
    if (ring->pieces == 2)
        return most;
    return each < least ? least : each < most ? each : most;
}

static reduct_status stream_pieces(struct ring *ring, const unsigned char *x, const unsigned char *y, uint64_t count,
                                   const struct rd_crew *crew, struct rd_partial *partial, reduct_error *error) {
    const size_t bytes = ring->piece[0].launch->element_bytes;
    const uint64_t before = rd_cuda_elements_before(partial), most = most_elements(ring, count, bytes, y ? 2 : 1);
    reduct_status status = REDUCT_OK;
    unsigned turn = 0;
    for (uint64_t at = 0, some; at < count && status == REDUCT_OK; turn = (turn + 1) % ring->pieces, at += some) {
        some = rd_cuda_next_part(partial, before + at, count - at, most);
        status = take_piece(&ring->piece[turn], partial, error);
        if (status == REDUCT_OK)
            status = start_piece(&ring->piece[turn], x + at * bytes, y ? y + at * bytes : NULL, some, crew, error);
    }
    for (unsigned i = 0; i < ring->pieces && status == REDUCT_OK; i++) /* in the order of the data */
        status = take_piece(&ring->piece[(turn + i) % ring->pieces], partial, error);
    return status;
}

/* After a failure what a channel still does has ended before its memory is freed. */
static void end_piece(struct piece *piece, bool failed) {
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_stay stay;
    if (piece->channel && !failed) {
        rd_cuda_channel_give(context, piece->channel);
    } else if (piece->channel) {
        const bool entered = rd_cuda_enter_context(context, &stay, NULL) == REDUCT_OK;
        rd_cuda_channel_destroy(context, piece->channel);
        if (entered)
            rd_cuda_leave(context->device, &stay);
    }
}

reduct_status rd_cuda_reduce_from_host(const struct rd_cuda_launch *const *launches, unsigned devices, const void *x,
                                       const void *y, uint64_t count, const struct rd_crew *crew,
                                       struct rd_partial *partial, reduct_error *error) {
    struct ring ring;
    ring.pieces = 2 * devices;
    for (unsigned i = 0; i < ring.pieces; i++)
        ring.piece[i] = (struct piece){.launch = launches[i % devices]};
    reduct_status status = stream_pieces(&ring, x, y, count, crew, partial, error);
    for (unsigned i = 0; i < ring.pieces; i++)
        end_piece(&ring.piece[i], status != REDUCT_OK);
    return status;
}
