/* Arrays that no kernel of whole arrays takes: of which a mask leaves out elements, or whose operator has none. The kernels of many
 * results take them as the one result of a plan, of which one piece more is waited for than comes: so nobody rounds it, and what all
 * pieces come to stays in their table, for the host. Fast sums are exact there, as in such plans. */
#ifndef RD_CUDA_PIECES_H
#define RD_CUDA_PIECES_H

#include "cuda/array.h"
#include "cuda/channel.h"
#include "cuda/launch.h"
#include "state/partial.h"

/* Under way in the stream of a channel, in whose workspace the tables are. */
struct rd_cuda_pieces;

/* Whether an array is reduced so. */
bool rd_cuda_takes_pieces(const struct rd_cuda_launch *launch, const struct rd_cuda_array *array);

/* Queues the reduction of an array on the device; not of products of floats. With the context current. */
reduct_status rd_cuda_pieces_start(struct rd_cuda_context *context, const reduct_reduction *reduction,
                                   const struct rd_cuda_array *array, struct rd_cuda_channel *channel,
                                   struct rd_cuda_pieces **pieces, reduct_error *error);

/* Waits for it and adds what it came to, and frees what it was. There are data of which the tables do not tell all: a sum that is
 * wider than they are, numbers that are not finite, zeros alone. Then nothing is added, and `known` is false. On failure the channel is
 * of no use. With the context current. */
reduct_status rd_cuda_pieces_take(struct rd_cuda_context *context, struct rd_cuda_channel *channel,
                                  struct rd_cuda_pieces *pieces, struct rd_partial *partial, bool *known,
                                  reduct_error *error);

/* Frees one that failed. */
void rd_cuda_pieces_drop(struct rd_cuda_pieces *pieces);

#endif
