/* Exact sums of arrays over the ranks of an NCCL communicator, element by element: see reduct/nccl.h.
 *
 * A call goes five steps, all in the caller's stream: a kernel finds the exponents in each window of elements, NCCL the greatest of
 * all ranks; a kernel writes words (cuda/kernels/each.h), NCCL adds them; a kernel rounds. */
#include "core/environment.h"
#include "core/options.h"
#include "core/status.h"
#include "core/tables.h"
#include "cuda/backend.h"
#include "cuda/kernels/each.h"
#include "cuda/launch.h"
#include "nccl/calls.h"

#include <reduct/nccl.h>

#include <stdio.h>

enum { WORDS_F64 = 3, WORDS_F32 = 2, ALIGNMENT = 256, SHARES = 4 /* of a window, one for each block */ };

#define COUNT_MOST ((uint64_t)1 << 41) /* which is as many blocks as a launch has */

/* One rank's part in a call. */
struct rank {
    const rd_nccl *nccl;
    const reduct_nccl_each *of;
    struct rd_cuda_device *device;
    struct rd_cuda_each launch;
    size_t windows, bytes; /* bytes: of workspace */
};

static size_t round_up(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* What can be said without NCCL. */
static reduct_status check_shape(const reduct_nccl_each *part, size_t i, reduct_error *error) {
    if (part->type != REDUCT_F64 && part->type != REDUCT_F32)
        return rd_fail(error, reduct_type_name(part->type) ? REDUCT_ERROR_UNSUPPORTED : REDUCT_ERROR_ARGUMENT,
                       "parts[%zu].type: expected f64 or f32", i);
    if (part->words > RD_CUDA_EACH_WORDS)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "parts[%zu].words: %u; expected %d at most", i, part->words,
                       RD_CUDA_EACH_WORDS);
    if (part->count > COUNT_MOST)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "parts[%zu].count: %llu elements; expected 2^41 at most", i,
                       (unsigned long long)part->count);
    if (!part->comm)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "parts[%zu].comm: null pointer", i);
    return RD_CHECK_RESERVED("parts: reserved", part, error);
}

static void place(struct rank *rank, int rank_bits) {
    const reduct_nccl_each *part = rank->of;
    unsigned char *at = part->workspace;
    const size_t window = ALIGNMENT, windows = (size_t)((part->count + RD_CUDA_EACH_WINDOW - 1) / RD_CUDA_EACH_WINDOW),
                 words = part->words                ? part->words
                         : part->type == REDUCT_F64 ? WORDS_F64
                                                    : WORDS_F32;
    rank->windows = windows ? windows : 1;
    const size_t word = window + round_up(rank->windows * 2 * sizeof(int32_t));
    rank->bytes = word + words * (size_t)part->count * sizeof(int64_t);
    rank->launch = (struct rd_cuda_each){.x = part->x,
                                         .results = part->results,
                                         .count = part->count,
                                         .outcome = (struct rd_cuda_outcome *)part->outcome,
                                         .words = (int32_t)words,
                                         .rank_bits = rank_bits};
    if (!at)
        return;
    rank->launch.unfit = (uint64_t *)(void *)at;
    rank->launch.window = (int32_t *)(void *)(at + window);
    rank->launch.word = (int64_t *)(void *)(at + word);
}

static reduct_status open_rank(const reduct_nccl_each *part, size_t i, struct rank *rank, reduct_error *error) {
    const char *why = NULL;
    struct rd_nccl_place at = {0};
    int rank_bits = 0;
    char text[16];
    const struct rd_cuda_name *name;
    *rank = (struct rank){.of = part};
    reduct_status status = check_shape(part, i, error);
    if (status != REDUCT_OK)
        return status;
    rank->nccl = rd_nccl_open(&why);
    if (!rank->nccl)
        return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "%s", why);
    status = rd_nccl_find_place(rank->nccl, part->comm, &at, error);
    if (status != REDUCT_OK)
        return status;
    while (1 << rank_bits < at.ranks)
        rank_bits++;
    if (rank_bits > RD_CUDA_EACH_RANK_BITS)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "parts[%zu].comm: has %d ranks; expected %d at most", i,
                       at.ranks, 1 << RD_CUDA_EACH_RANK_BITS);
    snprintf(text, sizeof text, "%d", at.device);
    status = rd_cuda_device_open(text, &name, error);
    if (status != REDUCT_OK)
        return status;
    rank->device = name->device;
    place(rank, rank_bits);
    return REDUCT_OK;
}

static reduct_status check_rank(const reduct_nccl_each *parts, size_t i, reduct_error *error) {
    const reduct_nccl_each *part = &parts[i];
    struct rank rank;
    reduct_status status = open_rank(part, i, &rank, error);
    if (status != REDUCT_OK)
        return status;
    const size_t size = reduct_type_size(part->type);
    if (part->type != parts->type || part->words != parts->words || part->count != parts->count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "parts[%zu]: type, words or count are not those of parts[0]", i);
    status = rd_cuda_check_address_in("parts", i, "workspace", part->workspace, ALIGNMENT, error);
    if (status == REDUCT_OK && part->count)
        status = rd_cuda_check_address_in("parts", i, "x", part->x, size, error);
    if (status == REDUCT_OK && part->count)
        status = rd_cuda_check_address_in("parts", i, "results", part->results, size, error);
    if (status == REDUCT_OK && part->outcome)
        status = rd_cuda_check_address_in("parts", i, "outcome", part->outcome, _Alignof(reduct_cuda_outcome), error);
    return status;
}

/* The kernels, in order. */
enum step { FIND, PACK, UNPACK };

static const char *kernel_of(enum step step, reduct_type type) {
    static const char *const names[][2] = {{"each_window_f64", "each_window_f32"},
                                           {"each_pack_f64", "each_pack_f32"},
                                           {"each_unpack_f64", "each_unpack_f32"}};
    return names[step][type == REDUCT_F32];
}

/* Loads a kernel, and launches it unless it is only to be there. */
static reduct_status run(struct rank *rank, enum step step, bool launches, reduct_error *error) {
    struct rd_cuda_stay stay;
    rd_cu_function function;
    reduct_status status = rd_cuda_enter(rank->device, &stay, error);
    if (status != REDUCT_OK)
        return status;
    status = rd_cuda_kernel(stay.context, "kernels/each", kernel_of(step, rank->of->type), &function, error);
    if (status == REDUCT_OK && launches) {
        const unsigned blocks = (unsigned)rank->windows * (step == FIND ? 1 : SHARES);
        const rd_cu_result result = rd_cuda_start_kernel(rank->device->driver, function, false, blocks, RD_CUDA_THREADS,
                                                         0, rank->of->stream, &rank->launch);
        if (result != RD_CU_SUCCESS)
            status = rd_cuda_fail(rank->device, result, "to launch a kernel", error);
    }
    rd_cuda_leave(rank->device, &stay);
    return status;
}

static reduct_status run_all(const reduct_nccl_each *parts, size_t count, enum step step, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; status == REDUCT_OK && i < count; i++) {
        struct rank rank;
        status = open_rank(&parts[i], i, &rank, error);
        if (status == REDUCT_OK)
            status = run(&rank, step, true, error);
    }
    return status;
}

/* Of windows the greatest numbers of all ranks; of words the sums. */
static reduct_status exchange(const reduct_nccl_each *parts, size_t count, bool words, reduct_error *error) {
    const rd_nccl *nccl = rd_nccl_open(NULL);
    reduct_status status = REDUCT_OK;
    if (!parts->count)
        return REDUCT_OK;
    int result = nccl->ncclGroupStart();
    for (size_t i = 0; status == REDUCT_OK && result == RD_NCCL_SUCCESS && i < count; i++) {
        struct rank rank;
        status = open_rank(&parts[i], i, &rank, error);
        if (status != REDUCT_OK)
            break;
        void *at = words ? (void *)rank.launch.word : (void *)rank.launch.window;
        const size_t numbers = words ? (size_t)rank.launch.words * (size_t)rank.launch.count : 2 * rank.windows;
        result = nccl->ncclAllReduce(at, at, numbers, words ? RD_NCCL_INT64 : RD_NCCL_INT32,
                                     words ? RD_NCCL_SUM : RD_NCCL_MAX, parts[i].comm, parts[i].stream);
    }
    const int ended = nccl->ncclGroupEnd();
    return status != REDUCT_OK ? status : rd_nccl_fail(nccl, result != RD_NCCL_SUCCESS ? result : ended, error);
}

/* All parts are checked before anything is queued. */
static reduct_status reduce(const reduct_nccl_each *parts, size_t count, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; status == REDUCT_OK && i < count; i++)
        status = check_rank(parts, i, error);
    if (status == REDUCT_OK)
        status = run_all(parts, count, FIND, error);
    if (status == REDUCT_OK)
        status = exchange(parts, count, false, error);
    if (status == REDUCT_OK)
        status = run_all(parts, count, PACK, error);
    if (status == REDUCT_OK)
        status = exchange(parts, count, true, error);
    if (status == REDUCT_OK)
        status = run_all(parts, count, UNPACK, error);
    return status;
}

reduct_status reduct_nccl_allreduce_each(const reduct_nccl_each *parts, size_t part_count, reduct_error *error) {
    if (!parts || !part_count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s",
                       parts ? "part_count: 0; expected one part at least" : "parts: null pointer");
    rd_environment caller = rd_environment_enter();
    reduct_status status = reduce(parts, part_count, error);
    rd_environment_leave(caller);
    return status;
}

reduct_status reduct_nccl_prepare_each(const reduct_nccl_each *part, size_t *workspace_bytes, reduct_error *error) {
    struct rank rank;
    if (!part || !workspace_bytes)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", part ? "workspace_bytes" : "part");
    rd_environment caller = rd_environment_enter();
    reduct_status status = open_rank(part, 0, &rank, error);
    if (status == REDUCT_OK)
        status = run(&rank, FIND, false, error); /* all kernels are in one image */
    rd_environment_leave(caller);
    if (status == REDUCT_OK)
        *workspace_bytes = rank.bytes;
    return status;
}
