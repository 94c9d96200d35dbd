/* Data on the host: streamed in pieces through two channels of each device in turn, so that one piece is copied into page-locked
 * memory while those before go to their devices and are reduced. Pieces are dealt out to the devices in turn, and their results
 * are taken in the order of the data. */
#include "core/status.h"
#include "cpu/team.h"
#include "cuda/channel.h"
#include "cuda/kernels/tuning.h"
#include "cuda/partials.h"
#include "cuda/pieces.h"
#include "cuda/synchronous.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One piece under way. */
struct piece {
    const struct rd_cuda_launch *launch;
    struct rd_cuda_channel *channel; /* null until there is a first piece here */
    struct rd_cuda_array array;      /* in host memory; of no elements: none */
    struct rd_cuda_pieces *pieces;   /* of one that is taken so */
};

/* All of them, in turn. */
struct ring {
    unsigned pieces;
    struct piece piece[];
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

/* What a piece has come to. With the context current. */
static reduct_status take_result(struct piece *piece, struct rd_partial *partial, reduct_error *error) {
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_pieces *const pieces = piece->pieces;
    piece->pieces = NULL;
    bool known = true;
    if (pieces) {
        reduct_status status = rd_cuda_pieces_take(context, piece->channel, pieces, partial, &known, error);
        return status == REDUCT_OK && !known ? rd_cuda_add_by_cpu(context->device, &piece->array, false, partial, error)
                                             : status;
    }
    const rd_cu_result result = context->device->driver->cuStreamSynchronize(piece->channel->stream);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(context->device, result, "to reduce", error);
    rd_cuda_merge(partial, piece->channel->partial, piece->array.count);
    return REDUCT_OK;
}

/* Waits for a piece and adds its result. */
static reduct_status take_piece(struct piece *piece, struct rd_partial *partial, reduct_error *error) {
    if (!piece->array.count)
        return REDUCT_OK;
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    status = take_result(piece, partial, error);
    rd_cuda_leave(context->device, &stay);
    piece->array.count = 0;
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

/* Where the next array of a piece begins in a channel's buffer, one after so many bytes. */
static size_t place_after(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* Sends the arrays of a piece. With the context current, and a channel. */
static rd_cu_result send_piece(const struct piece *piece, const struct rd_crew *crew, struct rd_cuda_array *there) {
    const struct rd_cuda_array *array = &piece->array;
    const unsigned char *buffer = (const unsigned char *)(uintptr_t)piece->channel->buffer;
    const size_t bytes = (size_t)array->count * piece->launch->element_bytes, second = place_after(bytes),
                 third = array->y ? 2 * second : second,
                 of_mask = (size_t)rd_cuda_mask_bytes(array->kind, array->offset + array->count);
    *there = *array;
    there->x = buffer;
    there->y = array->y ? buffer + second : NULL;
    there->mask = of_mask ? buffer + third : NULL;
    rd_cu_result result = send(piece->launch, piece->channel, 0, array->x, bytes, crew);
    if (result == RD_CU_SUCCESS && array->y)
        result = send(piece->launch, piece->channel, second, array->y, bytes, crew);
    if (result == RD_CU_SUCCESS && of_mask)
        result = send(piece->launch, piece->channel, third, array->mask, of_mask, crew);
    return result;
}

static rd_cu_result queue_call(const struct piece *piece, const struct rd_cuda_array *there) {
    struct rd_cuda_channel *channel = piece->channel;
    struct rd_cuda_call call = piece->launch->call;
    call.x = there->x;
    call.y = there->y;
    call.count = there->count;
    call.workspace = (struct rd_cuda_workspace *)(uintptr_t)channel->workspace;
    call.partial = channel->partial;
    return rd_cuda_launch_start(piece->launch, &call, channel->stream);
}

static reduct_status queue_piece(struct piece *piece, const reduct_reduction *reduction, const struct rd_crew *crew,
                                 reduct_error *error) {
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_array there;
    rd_cu_result result = send_piece(piece, crew, &there);
    if (result == RD_CU_SUCCESS && rd_cuda_takes_pieces(piece->launch, &there))
        return rd_cuda_pieces_start(context, reduction, &there, piece->channel, &piece->pieces, error);
    if (result == RD_CU_SUCCESS)
        result = queue_call(piece, &there);
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(context->device, result, "to reduce", error);
}

static reduct_status start_piece(struct piece *piece, const reduct_reduction *reduction, const struct rd_crew *crew,
                                 reduct_error *error) {
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(context, &stay, error);
    if (status == REDUCT_OK) {
        if (!piece->channel)
            status = rd_cuda_channel_take(context, true, &piece->channel, error);
        if (status == REDUCT_OK)
            status = queue_piece(piece, reduction, crew, error);
        rd_cuda_leave(context->device, &stay);
    }
    if (status != REDUCT_OK)
        piece->array.count = 0;
    return status;
}

/* The most elements of a piece. Where there are several devices all of them get something to do, if there is enough. */
static uint64_t most_elements(const struct ring *ring, const struct rd_cuda_array *array, size_t bytes) {
    const size_t each = bytes * (array->y ? 2 : 1), all = array->kind ? each + 1 : each;
    const uint64_t most = RD_CUDA_STAGE_BYTES / all / 256 * 256, least = PIECE_LEAST / bytes,
                   share = (array->count - 1) / ring->pieces + 1;
    if (ring->pieces == 2)
        return most;
    return share < least ? least : share < most ? share : most;
}

static reduct_status stream_pieces(struct ring *ring, const struct rd_cuda_array *array, const struct rd_crew *crew,
                                   struct rd_partial *partial, reduct_error *error) {
    const unsigned bytes = ring->piece[0].launch->element_bytes;
    const uint64_t before = rd_cuda_elements_before(partial), most = most_elements(ring, array, bytes);
    reduct_status status = REDUCT_OK;
    unsigned turn = 0;
    for (uint64_t at = 0, some; at < array->count && status == REDUCT_OK;
         turn = (turn + 1) % ring->pieces, at += some) {
        struct piece *piece = &ring->piece[turn];
        some = rd_cuda_next_part(partial, before + at, array->count - at, most);
        status = take_piece(piece, partial, error);
        if (status == REDUCT_OK) {
            piece->array = rd_cuda_part_of(array, at, some, bytes);
            status = start_piece(piece, &partial->reduction, crew, error);
        }
    }
    for (unsigned i = 0; i < ring->pieces && status == REDUCT_OK; i++) /* in the order of the data */
        status = take_piece(&ring->piece[(turn + i) % ring->pieces], partial, error);
    return status;
}

/* After a failure what a channel still does has ended before its memory is freed. */
static void end_piece(struct piece *piece, bool failed) {
    struct rd_cuda_context *context = piece->launch->context;
    struct rd_cuda_stay stay;
    rd_cuda_pieces_drop(piece->pieces);
    if (piece->channel && !failed) {
        rd_cuda_channel_give(context, piece->channel);
    } else if (piece->channel) {
        const bool entered = rd_cuda_enter_context(context, &stay, NULL) == REDUCT_OK;
        rd_cuda_channel_destroy(context, piece->channel);
        if (entered)
            rd_cuda_leave(context->device, &stay);
    }
}

reduct_status rd_cuda_reduce_from_host(const struct rd_cuda_launch *const *launches, unsigned devices,
                                       const struct rd_cuda_array *array, const struct rd_crew *crew,
                                       struct rd_partial *partial, reduct_error *error) {
    const size_t bytes = sizeof(struct ring) + 2 * devices * sizeof(struct piece);
    struct ring *ring = malloc(bytes);
    if (!ring)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated", bytes);
    ring->pieces = 2 * devices;
    for (unsigned i = 0; i < ring->pieces; i++)
        ring->piece[i] = (struct piece){.launch = launches[i % devices]};
    reduct_status status = stream_pieces(ring, array, crew, partial, error);
    for (unsigned i = 0; i < ring->pieces; i++)
        end_piece(&ring->piece[i], status != REDUCT_OK);
    free(ring);
    return status;
}
