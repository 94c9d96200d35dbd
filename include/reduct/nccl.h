/* reduct with NCCL: arrays that are spread over GPUs, reduced exactly.
 *
 * Every rank of a communicator gives its part, in its GPU's memory, and in the order of the ranks the parts are one array, however
 * long each is, none included. The results are those of one device that has it all, to the last bit: NCCL adds integers,
 * which do not depend on how it does so. Only exact results are so formed; products of floats are refused, because what
 * some parts come to does not say what they do in another place, and so is mode fast.
 *
 *     reduct_nccl_field field = {.plan = plan, .x = x, .count = count, .result = total, .outcome = outcome};
 *     status = reduct_nccl_prepare(&field, 1, comm, &bytes, &error);
 *     cudaMalloc(&workspace, bytes);
 *     status = reduct_nccl_allreduce(&field, 1, comm, workspace, stream, &error);
 *
 * No NCCL header is needed: communicators are passed as `struct ncclComm *`, which is what ncclComm_t is. The library is opened at
 * run time: the one that the program is linked with or has loaded, otherwise libnccl.so.2. Without it functions fail with
 * REDUCT_ERROR_NO_DEVICE.
 *
 * The functions that reduce are collective, as those of NCCL are: all ranks call them, in the same order, with as many fields,
 * of the same reductions. But for those of tables of accumulators (below), they are queued in a stream, allocate nothing and
 * wait for nothing, and can be captured in a CUDA graph. What depends on the data, a NaN that is refused, an overflow, is the
 * same on all ranks and in all ranks' outcomes. A call that fails with REDUCT_ERROR_ARGUMENT or _UNSUPPORTED has queued
 * nothing; the other ranks then wait for this one, as they do where a call of NCCL fails, until ncclCommAbort().
 *
 * Communicators are blocking ones (the default), and plans those of the context that the CUDA runtime uses. Do not call from
 * within ncclGroupStart() and ncclGroupEnd(), which would put off what the results are made of: where one thread has several
 * communicators, reduct_nccl_allreduce_ranks() is for all of them. Threads may call at once, each with its own communicators.
 */
#ifndef REDUCT_NCCL_H
#define REDUCT_NCCL_H

#include <reduct/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ncclComm;

/* A reduction of an array that is spread over GPUs. Zero-initialise it, then set what matters. */
typedef struct reduct_nccl_field {
    const reduct_plan *plan; /* of a whole array, on the communicator's device; its own n does not matter */
    const void *x, *y;       /* this rank's part, as inputs in reduct/cuda.h; y of operators that read two arrays */
    uint64_t count;          /* of elements in it, on each rank another if need be */
    void *result;            /* as results in reduct/cuda.h */
    reduct_cuda_outcome *outcome; /* likewise, or null; the index is that of an element of the whole array */
    uint64_t reserved[4];         /* zero */
} reduct_nccl_field;

/* Makes the device ready for calls with these fields, so that the first of them can be captured, and writes the bytes of
 * workspace that they need. Of the fields only the plans are looked at. Not collective. Fails with REDUCT_ERROR_ARGUMENT,
 * _UNSUPPORTED, _NO_DEVICE or _DEVICE_LOST. */
REDUCT_API reduct_status reduct_nccl_prepare(const reduct_nccl_field *fields, size_t count, struct ncclComm *comm,
                                             size_t *workspace_bytes, reduct_error *error);

/* Queues the reduction of each of the fields over all ranks; every rank gets all results. One call of NCCL serves all fields, and one
 * more, in a group with it, those of which places or what is not a sum are wanted: extremes, bits, products, and all for which a
 * NaN is an error.
 *
 *   workspace  in the device's memory, aligned to 256; calls that share one must not overlap
 *   stream     of the plans' context; null for its default stream
 *
 * Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _NO_DEVICE or _DEVICE_LOST (also where NCCL fails). */
REDUCT_API reduct_status reduct_nccl_allreduce(const reduct_nccl_field *fields, size_t count, struct ncclComm *comm,
                                               void *workspace, struct CUstream_st *stream, reduct_error *error);

/* The same with results for rank `root` alone; others' `result` may be null. It takes as long: all ranks learn the outcome. */
REDUCT_API reduct_status reduct_nccl_reduce(const reduct_nccl_field *fields, size_t count, int root,
                                            struct ncclComm *comm, void *workspace, struct CUstream_st *stream,
                                            reduct_error *error);

/* What one of several ranks gives that a thread has. */
typedef struct reduct_nccl_rank {
    const reduct_nccl_field *fields;
    struct ncclComm *comm;
    void *workspace;
    struct CUstream_st *stream;
    uint64_t reserved[4]; /* zero */
} reduct_nccl_rank;

/* reduct_nccl_allreduce() of several ranks, each with `field_count` fields, by one thread, such as those that ncclCommInitAll()
 * makes. */
REDUCT_API reduct_status reduct_nccl_allreduce_ranks(const reduct_nccl_rank *ranks, size_t rank_count,
                                                     size_t field_count, reduct_error *error);

/* Tables of accumulators (reduct_table): in the place of what each group held comes what that group holds on all ranks together,
 * in their order; argmin and argmax tell places in all that the ranks' tables were given. Sums are exact, to the last bit those of
 * one table that was given everything. Group g means the same everywhere; tables with fewer groups get as many as the largest one
 * has. All reductions that tables have are so reduced, of tables on any device: what groups hold in host memory goes through the
 * communicator's GPUs. Where all that the ranks' tables hold is still in the memory of these, as batches of sums leave it there, it is
 * reduced there, in place, and comes to no host.
 *
 * These functions wait, unlike all others here. Ranks have to look at what they hold, to agree for each 4096 groups on the range
 * of bits in which these lie; a group's sum then takes one word of a message, or a few, and those that range far more widely than
 * others go apart. Everything is queued in the stream, after what is there already, and is done when the function returns. Memory
 * is allocated: on the host for what is asked, and 32 MiB each on the device and page-locked, which the context keeps for calls to
 * come. A stream that is being captured is refused.
 *
 * Whatever a rank that has a communicator and a stream has wrong, no table, other reductions than the others, a root that is no
 * rank, no memory, it takes part: all ranks return the same status and the same message, which names the first rank that failed,
 * and what the tables held is then as it was, but there may be more groups that hold nothing. A rank that cannot take part, as its
 * communicator is null, its stream is being captured, NCCL or the device is not there, or the device has no memory, returns
 * without the others, which wait for it until ncclCommAbort().
 *
 * Where NCCL or a device fails, the status is REDUCT_ERROR_DEVICE_LOST on those ranks that see it. NCCL is asked while a call
 * waits (ncclCommGetAsyncError()), so that a rank that is gone ends the call if NCCL notices. The communicator is then to be
 * aborted, and the table is of no use until it is reset.
 *
 * No other thread may use the tables or the communicator meanwhile. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _MISMATCH
 * (other reductions, or another root), _TOO_LARGE (more than 2^63 elements in all), _NO_DEVICE, _DEVICE_LOST or _OUT_OF_MEMORY.
 *
 *   stream     of the context that the CUDA runtime uses; null for its default stream */
REDUCT_API reduct_status reduct_nccl_allreduce_table(reduct_table *table, struct ncclComm *comm,
                                                     struct CUstream_st *stream, reduct_error *error);

/* The same for rank `root` alone, whose table holds what all do; the others' are as they were. It takes as long: all ranks learn the
 * outcome. */
REDUCT_API reduct_status reduct_nccl_reduce_table(reduct_table *table, int root, struct ncclComm *comm,
                                                  struct CUstream_st *stream, reduct_error *error);

/* What one of several ranks gives that a thread has. */
typedef struct reduct_nccl_table {
    reduct_table *table; /* another for each rank */
    struct ncclComm *comm;
    struct CUstream_st *stream;
    uint64_t reserved[4]; /* zero */
} reduct_nccl_table;

/* reduct_nccl_allreduce_table() of several ranks by one thread, such as those that ncclCommInitAll() makes. */
REDUCT_API reduct_status reduct_nccl_allreduce_table_ranks(const reduct_nccl_table *ranks, size_t rank_count,
                                                           reduct_error *error);

/* Arrays that are summed element by element, as ncclAllReduce() does with ncclSum, but exactly: one rank's part in it.
 * Zero-initialise it, then set what matters. */
typedef struct reduct_nccl_each {
    reduct_type type;             /* REDUCT_F64 or REDUCT_F32 */
    unsigned words;               /* of 64 bits that are sent for each element, up to 42; 0: three of f64, two of f32 */
    const void *x;                /* this rank's array, as inputs in reduct/cuda.h */
    void *results;                /* results[i] is the sum of x[i] of all ranks, rounded once; may be x */
    uint64_t count;               /* of elements, the same on all ranks */
    reduct_cuda_outcome *outcome; /* one, as in reduct/cuda.h, or null */
    struct ncclComm *comm;
    void *workspace;            /* in the device's memory, aligned to 256; calls that share one must not overlap */
    struct CUstream_st *stream; /* of the context that the CUDA runtime uses; null for its default stream */
    uint64_t reserved[4];       /* zero */
} reduct_nccl_each;

/* Makes the device ready for such a call, so that it can be captured, and writes the bytes of workspace that it needs. Of the part
 * type, words, count and comm are looked at. Not collective. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _NO_DEVICE or
 * _DEVICE_LOST. */
REDUCT_API reduct_status reduct_nccl_prepare_each(const reduct_nccl_each *part, size_t *workspace_bytes,
                                                  reduct_error *error);

/* Queues the sums of all elements, for the rank, or the ranks, that the calling thread has. Type, words and count are the same on all
 * ranks. A small exchange comes first, of which exponents there are, then one of all words.
 *
 * Elements go in windows of 4096. How far apart the exponents of those of a window may be that are finite and not zero, of all ranks
 * together, depends on the words: with three, on 2 ranks, largest and smallest of doubles may be 2^125 apart, on 8 ranks 2^111, on 1024
 * ranks 2^62; with two words 2^63, 2^51 and 2^9. 34 words are enough for any doubles on 2 ranks, 42 on any number of ranks. Where a window is wider, no
 * result is written, and the outcome on all ranks is REDUCT_ERROR_UNSUPPORTED with the index of the first element of the first such
 * window. NaNs and infinities may be anywhere.
 *
 * Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED (other types; more than 2048 ranks), _NO_DEVICE or _DEVICE_LOST. */
REDUCT_API reduct_status reduct_nccl_allreduce_each(const reduct_nccl_each *parts, size_t part_count,
                                                    reduct_error *error);

#ifdef __cplusplus
}
#endif
#endif
