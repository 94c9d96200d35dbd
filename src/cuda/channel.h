/* Channels: memory and a stream for one synchronous call at a time. A context keeps those that were made for the calls to
 * come. */
#ifndef RD_CUDA_CHANNEL_H
#define RD_CUDA_CHANNEL_H

#include "cuda/device.h"

struct rd_cuda_channel {
    rd_cu_stream stream;
    rd_cu_address workspace;
    struct rd_cuda_partial *partial; /* page-locked: kernels write it where the host reads it */
    void *staging;                   /* page-locked, RD_CUDA_STAGE_BYTES; null until data come from the host */
    rd_cu_address buffer;            /* as much on the device */
    rd_cu_address failures; /* words that kernels report failures in (kernels/many.h), UINT64_MAX between calls */
    uint64_t *failed;       /* page-locked, as many: null with those until a call asks for them */
    size_t failure_room;
    struct rd_cuda_channel *next; /* of those that are free */
};

/* A channel that nobody else uses, with staging memory if asked for. With the context current. To be given back, or, after
 * a failure of the device, thrown away. */
reduct_status rd_cuda_channel_take(struct rd_cuda_context *context, bool staging, struct rd_cuda_channel **channel,
                                   reduct_error *error);

/* Makes sure that it has so many words for failures. With the context current. */
reduct_status rd_cuda_channel_failures(const struct rd_cuda_context *context, struct rd_cuda_channel *channel,
                                       size_t count, reduct_error *error);
void rd_cuda_channel_give(struct rd_cuda_context *context, struct rd_cuda_channel *channel);
void rd_cuda_channel_destroy(struct rd_cuda_context *context, struct rd_cuda_channel *channel);

#endif
