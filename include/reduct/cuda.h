/* reduct on data that is already on a CUDA device: asynchronous executions of plans.
 *
 *     reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .shape = {.n = n},
 *                                    .device = "cuda:0"};
 *     reduct_plan_create(&options, &plan, &error);
 *     reduct_cuda_execute(plan, (const void *[]){x}, (void *[]){total}, outcome, NULL, stream, &error);
 *
 * No CUDA header is needed: streams are passed as `struct CUstream_st *`, which is what both CUstream and cudaStream_t
 * are. The library opens the driver at run time; without one, plans for "cuda:N" fail with REDUCT_ERROR_NO_DEVICE.
 *
 * Contexts. A plan belongs to the context that is current where it is made, if that is one of the plan's device (as
 * after cudaSetDevice() and any call of the CUDA runtime), and otherwise to the device's primary context. Destroy it
 * before that context. After a reset of the device its executions fail with REDUCT_ERROR_DEVICE_LOST; it can still be
 * destroyed, and new plans work.
 *
 * reduct_plan_execute() and accumulators work on CUDA devices as well: their inputs may be in host memory, from which
 * data are streamed whatever their size, or in device memory; their results are in host memory. Plans of many results copy
 * inputs that are in host memory to the device as a whole; their results may be in device memory, too.
 *
 * Several devices. "cuda:0,1" is a list, without repetition, of any of the names above; "cuda:all" is all devices of the machine.
 * Whole arrays in host memory are streamed to all of them at once. What is in a device's memory is reduced there, so that an
 * accumulator takes slices of an array from each of them in turn; both arrays of a pair are on the same device. For slices to be
 * reduced at the same time, let a thread for each device add to an accumulator of its own, and merge those. Plans of many results
 * run on the device where their data are, which is then the same for all, or on the first. Executions in streams take plans of one
 * device; reduct/nccl.h reduces over several in streams.
 */
#ifndef REDUCT_CUDA_H
#define REDUCT_CUDA_H

#include <reduct/reduct.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* What became of an asynchronous execution, or of each of its results, written beside the result, after it. Of many results one
 * that failed is NaN or 0, and a segment that is not within the array fails with REDUCT_ERROR_ARGUMENT. Where an index is outside
 * the groups, and such are not skipped, all fail with REDUCT_ERROR_ARGUMENT and the index's place, and no result is written. */
typedef struct reduct_cuda_outcome {
    uint32_t status;   /* a reduct_status: REDUCT_OK; or _OVERFLOW, _NAN or _EMPTY, and the result is untouched */
    uint32_t reserved; /* 0 */
    uint64_t index;    /* of the first NaN with REDUCT_ERROR_NAN; see above; otherwise UINT64_MAX */
} reduct_cuda_outcome;

/* Bytes of workspace that an execution of the plan needs, in device memory, aligned to 256; 0 for plans of other
 * devices, and for plans of many results of which none is reduced in pieces, unless two of a whole array share a launch, or sums of
 * rows of f32 are found in two. It may hold anything before an execution, and holds anything after it: nothing need be cleared, and
 * between executions it can serve other ends. One workspace serves any number of plans of its context.
 *
 * Over groups a sum of f32 takes 20 bytes for each result, one of f64 28, of which the common case writes 8 and 16 for each that
 * has elements; beside them there is room for elements that lie far from the others, of up to four times the array's bytes, and, where
 * elements may be moved to buckets, for all of them: 8 bytes for each f32, 12 for each f64. There may be 2^32 - 2 results at most. */
REDUCT_API size_t reduct_cuda_workspace_size(const reduct_plan *plan);

/* Queues one execution in a stream: one launch of one kernel for each reduction of the plan, over groups and segments several, and
 * two for sums of rows of f32 that fill a good part of the L2 cache. Of several reductions of one array, those that follow from its sum,
 * its squares, its extremes and its NaNs share a launch that reads it, and one that rounds their results; of rows, columns, other axes
 * and segments of floats without a mask, up to 16 of those share one launch, or two. Allocates nothing, waits for nothing, and can be
 * captured in a CUDA graph. On compute capability 9.0 and later its blocks may come while the kernel before it in the stream ends
 * (programmatic dependent launch, "CUDA C++ Programming Guide"); they wait for that kernel before they touch memory. A graph then has
 * an edge of that kind between the two.
 *
 *   inputs     as many arrays as the operators read, each in memory that the device can access, aligned to its element;
 *              then, for segments with an index type, the offsets, or the begins and the ends, for groups the indices; then the mask,
 *              if there is one; then the initial values of groups, if there are any: all of which only the device reads
 *   results    one pointer for each reduction, to results as reduct_plan_execute() has them, aligned to their type, in memory
 *              that the device can access: device memory, managed memory, or page-locked host memory
 *   outcome    likewise, or null; of many results one for each, those of the first reduction first
 *   workspace  device memory (see above); null: the plan's own. Executions that share one must not overlap, so
 *              executions in several streams at once need one each. The library knows workspaces by their addresses. A
 *              context has room for 8 addresses, and for more, up to 64, when plans are made while few are left; an
 *              execution with another address queues a memset of the workspace before the kernel
 *   stream     of the plan's context; null for its default stream
 *
 * The bits of the result are those that reduct_plan_execute() gives; in exact mode those of every other device.
 * Fails with REDUCT_ERROR_ARGUMENT or REDUCT_ERROR_DEVICE_LOST; nothing is then queued. What depends on the data is
 * reported in `outcome`. Threads may execute a plan at once, each with its own workspace. */
REDUCT_API reduct_status reduct_cuda_execute(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                             reduct_cuda_outcome *outcome, void *workspace, struct CUstream_st *stream,
                                             reduct_error *error);

/* The same execution, waited for: returns when it has ended, with what the data made of it in place of outcomes, as
 * reduct_plan_execute() has it: REDUCT_ERROR_EMPTY, _OVERFLOW, _NAN, or _ARGUMENT for indices and segments outside, and the message
 * of the first failure; error->index is that of reduct_cuda_outcome, and of an index outside its place. Of many results those that
 * did not fail are written, and those that did are NaN or 0; of a whole array the result is then untouched, and where an index is
 * outside none is written. Without a workspace it takes one of its own, or, of many results, the plan's, with which such calls take
 * turns. Keeps 8 bytes of device memory for each reduction for later calls, and under REDUCT_NAN_ERROR takes 16 for each of many
 * results. Fails as reduct_cuda_execute() does, with REDUCT_ERROR_UNSUPPORTED while the stream is captured, with
 * REDUCT_ERROR_OUT_OF_MEMORY without that memory, with REDUCT_ERROR_DEVICE_LOST where the device broke. Threads may execute a plan
 * so at once. */
REDUCT_API reduct_status reduct_cuda_execute_checked(const reduct_plan *plan, const void *const *inputs,
                                                     void *const *results, void *workspace, struct CUstream_st *stream,
                                                     reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------------------------------------------------ */

/* Keys in device memory, as those of reduct_keys are in the host's: numbers for plans of groups, or runs for plans of segments,
 * found in a stream and without the host.
 *
 *     reduct_cuda_keys_options options = {.type = REDUCT_U64, .count = n, .room = 1000, .device = "cuda:0"};
 *     reduct_cuda_keys_create(&options, &keys, &error);
 *     cudaMalloc(&workspace, reduct_cuda_keys_workspace_size(keys));
 *     reduct_cuda_keys_group(keys, array, indices, unique, found, workspace, stream, &error);
 *     reduct_cuda_execute(plan, (const void *[]){x, indices}, (void *[]){sums}, NULL, NULL, stream, &error);
 *
 * where the plan is one of 1000 groups, with u32 indices: results number 0 to *found - 1 are those of the keys in `unique`, and
 * groups beyond are empty. An object is immutable: threads may use it at once, each with a workspace of its own. It belongs to a
 * context as a plan does. */
typedef struct reduct_cuda_keys reduct_cuda_keys;

typedef enum reduct_cuda_keys_kind {
    REDUCT_CUDA_KEYS_FIRST = 0,     /* numbers in order of first appearance, those of reduct_keys_add() */
    REDUCT_CUDA_KEYS_ASCENDING = 1, /* numbers in ascending order of the keys */
    REDUCT_CUDA_KEYS_RUNS = 2       /* runs of equal keys, one after another, in an array that need not be sorted */
} reduct_cuda_keys_kind;

/* Zero-initialise it, then set what matters. */
typedef struct reduct_cuda_keys_options {
    reduct_cuda_keys_kind kind;
    reduct_type type; /* of keys: REDUCT_I32, REDUCT_U32, REDUCT_I64 or REDUCT_U64 */
    uint64_t count;   /* keys in an array, up to 2^40 */
    uint64_t room; /* how many different keys, or runs (up to 2^40), there is room for; 0: for all that there can be */
    const char *device;   /* "cuda:0" and so on; null: "cuda" */
    uint64_t reserved[4]; /* zero */
} reduct_cuda_keys_options;

/* Prepares a device. Destroy the object when done, before its context; null is allowed there. For numbers there is room for up to
 * 2^30 different keys. Fails with REDUCT_ERROR_ARGUMENT, _TOO_LARGE, _NO_DEVICE, _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_cuda_keys_create(const reduct_cuda_keys_options *options, reduct_cuda_keys **keys,
                                                 reduct_error *error);
REDUCT_API void reduct_cuda_keys_destroy(reduct_cuda_keys *keys);

/* Bytes of workspace that a call needs, in device memory, aligned to 256. It may hold anything before a call, and holds anything
 * after it; calls that share one must not overlap. For runs it is 1/512 of the count and 17 KiB. For numbers it is 3/16 of the
 * count (bits, and how many are set), and a hash table, whose slots are a power of two that is at least twice the room, of 8 bytes
 * each for keys of 32 bits, fewer than 2^32 of them, and otherwise of 16; in ascending order also 21 bytes for each key that there
 * is room for, or 29 of 64 bits. */
REDUCT_API size_t reduct_cuda_keys_workspace_size(const reduct_cuda_keys *keys);

/* Queues that the keys of an array get numbers, of either order: several launches. Allocates nothing, waits for nothing, and can be
 * captured in a CUDA graph. The numbers are the same on every run.
 *
 *   array     `count` keys, in memory that the device can access, aligned to the key, as all arrays here are to their elements
 *   indices   `count` numbers, u32, for plans of groups; they must not overlap the keys
 *   unique    room for `room` keys: each at its number; null: not wanted
 *   found     how many different keys there are. Where these are more than there is room for, it is UINT64_MAX, all
 *             indices are UINT32_MAX, which no group has, and `unique` is of no use
 *   stream    of the object's context; null for its default stream
 *
 * Fails with REDUCT_ERROR_ARGUMENT or REDUCT_ERROR_DEVICE_LOST; nothing is queued where an argument is wrong. */
REDUCT_API reduct_status reduct_cuda_keys_group(const reduct_cuda_keys *keys, const void *array, uint32_t *indices,
                                                void *unique, uint64_t *found, void *workspace,
                                                struct CUstream_st *stream, reduct_error *error);

/* Queues that the runs of equal keys in an array are found, likewise; it is read once.
 *
 *   offsets   room for `room` + 1: where each run begins, and `count` in all that follow. So they are the offsets of a
 *             plan of `room` segments with index type REDUCT_U64, of which those that are not there are empty; null: not wanted
 *   unique    room for `room` keys: the key of each run; what lies beyond the last is not written; null: not wanted
 *   found     how many runs there are. Where these are more than there is room for, the first ones are written, with their ends
 *
 * Fails with REDUCT_ERROR_ARGUMENT or REDUCT_ERROR_DEVICE_LOST; nothing is queued where an argument is wrong. */
REDUCT_API reduct_status reduct_cuda_keys_runs(const reduct_cuda_keys *keys, const void *array, uint64_t *offsets,
                                               void *unique, uint64_t *found, void *workspace,
                                               struct CUstream_st *stream, reduct_error *error);

#ifdef __cplusplus
}
#endif
#endif
