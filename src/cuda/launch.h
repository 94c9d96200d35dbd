/* Launches of the library's kernels: which kernel reduces what, with which grid. Found once for a reduction and a context;
 * each launch then says where its data are, where its blocks meet and where its result goes. */
#ifndef RD_CUDA_LAUNCH_H
#define RD_CUDA_LAUNCH_H

#include "cuda/device.h"

struct rd_cuda_launch {
    struct rd_cuda_context *context;
    unsigned element_bytes;
    rd_cu_function function; /* null: there is none, nor anything of what follows */
    unsigned most_blocks,
        most_ringed;          /* of use; the latter where launches are given a ring, which they may unless it is 0 */
    unsigned tile_bytes;      /* of each array, that a block takes at a time */
    uint64_t ring_from;       /* bytes of an array from which on a ring is of use */
    bool claims;              /* blocks with a ring claim the last tiles */
    bool overlaps;            /* launches may begin while the one before ends: the kernel waits for it */
    struct rd_cuda_call call; /* what every launch is told */
};

/* Whether there is a kernel of whole arrays for the operator. Element types are not looked at. */
bool rd_cuda_has_kernel(const reduct_reduction *reduction);

/* `integers` as in struct rd_cuda_name. Where there is no kernel, only what is said below is known. With the context current. */
reduct_status rd_cuda_launch_make(struct rd_cuda_context *context, bool integers, const reduct_reduction *reduction,
                                  struct rd_cuda_launch *launch, reduct_error *error);

/* The launch of a kernel that takes several reductions of one array in one pass, which reads it as exact sums do. With the context
 * current. */
struct rd_cuda_several_kernels {
    char image[32], pass[32], answers[32]; /* the last rounds what the pass comes to */
    bool halves;                           /* elements of 16 bits are taken as f32 */
};
reduct_status rd_cuda_launch_make_several(struct rd_cuda_context *context, reduct_type element,
                                          const struct rd_cuda_several_kernels *kernels, bool squares,
                                          struct rd_cuda_launch *launch, reduct_error *error);

/* A transform as kernels are named. A magnitude of an unsigned integer is that integer. */
const char *rd_cuda_transform_name(const struct rd_operator *op, const struct rd_type *element);

/* A resolved reduction as kernels are told it; the rest is zero. */
struct rd_cuda_call rd_cuda_describe(const reduct_reduction *reduction);

/* Whether the kernel is the one for newer devices, which waits for what it overlaps with: older machine code may run on them, too. With
 * the context current. */
bool rd_cuda_is_newer(const rd_cuda_driver *driver, rd_cu_function function);

/* Whether launches of it, of a kernel that waits for what it overlaps with, may begin while the one before ends. With the context
 * current. */
bool rd_cuda_may_overlap(const rd_cuda_driver *driver, rd_cu_function function);

/* Queues a kernel of one parameter, in blocks of so many threads. With the context current. */
rd_cu_result rd_cuda_start_kernel(const rd_cuda_driver *driver, rd_cu_function function, bool overlaps, unsigned blocks,
                                  unsigned threads, unsigned shared, rd_cu_stream stream, void *parameter);

/* Queues one launch for a call whose array has call->count elements; sets call->turns. With the context current. */
rd_cu_result rd_cuda_launch_start(const struct rd_cuda_launch *launch, struct rd_cuda_call *call, rd_cu_stream stream);

/* The same for a launch that meets in a workspace of the caller's, whatever that holds. */
rd_cu_result rd_cuda_launch_in(const struct rd_cuda_launch *launch, struct rd_cuda_call *call, void *workspace,
                               rd_cu_stream stream);

#endif
