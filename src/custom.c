/* Custom operators: the caller's functions in the tree of products (arithmetic/product.h): blocks of 4096 elements, each folded
 * in order, then an aligned binary tree over the blocks.
 *
 * The blocks are shared out among threads in pieces of 2^level of them, which are subtrees, so that threads do not show in
 * the result. Errors do not depend on threads either: pieces are taken in order, and those before one that failed are
 * worked to their end, so the failure that is reported is the first one. */
#include "core/options.h"
#include "core/status.h"
#include "cpu/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, PIECES_MAX = 256, ALIGNMENT = 64 };

/* What a function of the caller's returned, other than 0. */
struct failure {
    const char *function;
    int code;
    uint64_t piece, first, count; /* elements of the block; no count where it was not about elements */
};

struct job {
    const reduct_custom *custom;
    const unsigned char *elements;
    uint64_t count, blocks, pieces;
    unsigned level;                   /* a piece is 2^level blocks */
    size_t stride;                    /* bytes from one state to the next */
    unsigned char *piece;             /* the state of each piece */
    unsigned char *stacks;            /* level + 1 states for each thread */
    atomic_uint_fast64_t next, limit; /* the next piece; pieces from `limit` on do not matter any more */
    atomic_uint next_stack;
    pthread_mutex_t lock; /* of `failure` */
    struct failure failure;
};

static void note_failure(struct job *job, struct failure failure) {
    pthread_mutex_lock(&job->lock);
    if (failure.piece < job->failure.piece)
        job->failure = failure;
    atomic_store(&job->limit, job->failure.piece);
    pthread_mutex_unlock(&job->lock);
}

/* One block of elements into a state. */
static bool fold_block(struct job *job, uint64_t piece, uint64_t block, void *state) {
    const reduct_custom *custom = job->custom;
    uint64_t first = block * BLOCK, left = job->count - first, count = left < BLOCK ? left : BLOCK;
    int code = custom->identity(state, custom->context);
    if (code) {
        note_failure(job, (struct failure){"identity", code, piece, 0, 0});
        return false;
    }
    if (!count)
        return true;
    code = custom->accumulate(state, job->elements + first * custom->element_size, (size_t)count, custom->context);
    if (code)
        note_failure(job, (struct failure){"accumulate", code, piece, first, count});
    return !code;
}

static bool combine(struct job *job, uint64_t piece, void *left, const void *right) {
    int code = job->custom->combine(left, right, job->custom->context);
    if (code)
        note_failure(job, (struct failure){"combine", code, piece, 0, 0});
    return !code;
}

/* The subtree of one piece, on a stack of as many states as the piece has levels, and one; its state ends at the bottom.
 * After 2^k blocks in a row the top two states are subtrees of the same size. */
static bool reduce_piece(struct job *job, uint64_t piece, unsigned char *stack) {
    uint64_t begin = piece << job->level, depth = 0;
    for (uint64_t i = 0; i >> job->level == 0 && begin + i < job->blocks; i++) {
        if (!fold_block(job, piece, begin + i, stack + depth++ * job->stride))
            return false;
        for (uint64_t pairs = i; pairs & 1; pairs >>= 1) {
            depth--;
            if (!combine(job, piece, stack + (depth - 1) * job->stride, stack + depth * job->stride))
                return false;
        }
    }
    for (; depth > 1; depth--) /* an unpaired last one passes up */
        if (!combine(job, piece, stack + (depth - 2) * job->stride, stack + (depth - 1) * job->stride))
            return false;
    return true;
}

static void work(void *context) {
    struct job *job = context;
    unsigned char *stack = job->stacks + atomic_fetch_add(&job->next_stack, 1) * (job->level + 1) * job->stride;
    for (;;) {
        uint64_t piece = atomic_fetch_add(&job->next, 1);
        if (piece >= job->pieces || piece >= atomic_load(&job->limit) || !reduce_piece(job, piece, stack))
            return;
        memcpy(job->piece + piece * job->stride, stack, job->custom->state_size);
    }
}

/* The tree over the pieces; their states end in the first one. */
static bool combine_pieces(struct job *job) {
    for (uint64_t step = 1; step < job->pieces; step *= 2)
        for (uint64_t i = 0; i + step < job->pieces; i += 2 * step)
            if (!combine(job, i, job->piece + i * job->stride, job->piece + (i + step) * job->stride))
                return false;
    return true;
}

static reduct_status report(const struct failure *failure, reduct_error *error) {
    if (!failure->count)
        return rd_fail(error, REDUCT_ERROR_CALLBACK, "%s: the operator's function returned %d", failure->function,
                       failure->code);
    return rd_fail_at(error, REDUCT_ERROR_CALLBACK, failure->first,
                      "%s: the operator's function returned %d for elements %llu to %llu", failure->function,
                      failure->code, (unsigned long long)failure->first,
                      (unsigned long long)(failure->first + failure->count - 1));
}

static reduct_status run(struct job *job, const struct rd_crew *crew, unsigned threads, void *result,
                         reduct_error *error) {
    uint64_t states = job->pieces + (uint64_t)threads * (job->level + 1);
    if (job->stride > PTRDIFF_MAX / states)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "state_size: %llu states of %zu bytes exceed an address space",
                       (unsigned long long)states, job->custom->state_size);
    job->piece = aligned_alloc(ALIGNMENT, (size_t)states * job->stride);
    if (!job->piece)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "states: %llu bytes could not be allocated",
                       (unsigned long long)states * job->stride);
    job->stacks = job->piece + job->pieces * job->stride;
    pthread_mutex_init(&job->lock, NULL);
    rd_team_run(crew, threads, work, job);
    bool done = job->failure.piece == UINT64_MAX && combine_pieces(job);
    pthread_mutex_destroy(&job->lock);
    if (done)
        memcpy(result, job->piece, job->custom->state_size);
    free(job->piece);
    return done ? REDUCT_OK : report(&job->failure, error);
}

static reduct_status check(const reduct_custom *custom, const void *elements, uint64_t count, const void *result,
                           reduct_error *error) {
    if (!custom)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "custom: null pointer");
    if (!custom->element_size || !custom->state_size)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: 0; expected the bytes of one",
                       custom->element_size ? "state_size" : "element_size");
    if (!custom->identity || !custom->accumulate || !custom->combine)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer; expected a function",
                       !custom->identity     ? "identity"
                       : !custom->accumulate ? "accumulate"
                                             : "combine");
    reduct_status status = RD_CHECK_RESERVED("reserved", custom, error);
    if (status == REDUCT_OK)
        status = rd_check_executor(custom->executor, error);
    if (status != REDUCT_OK)
        return status;
    if ((!elements && count) || !result)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", result ? "elements" : "result");
    if (count > (uint64_t)PTRDIFF_MAX / custom->element_size)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu elements of %zu bytes exceed an address space",
                       (unsigned long long)count, custom->element_size);
    if (custom->state_size > PTRDIFF_MAX - ALIGNMENT)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "state_size: %zu bytes exceed an address space",
                       custom->state_size);
    return REDUCT_OK;
}

reduct_status reduct_reduce_custom(const reduct_custom *custom, const void *elements, uint64_t count, void *result,
                                   reduct_error *error) {
    reduct_status status = check(custom, elements, count, result, error);
    if (status != REDUCT_OK)
        return status;
    struct job job = {.custom = custom, .elements = elements, .count = count, .failure = {.piece = UINT64_MAX}};
    job.blocks = count ? (count - 1) / BLOCK + 1 : 1; /* one of no elements is the identity */
    while ((job.blocks - 1) >> job.level >= PIECES_MAX)
        job.level++;
    job.pieces = ((job.blocks - 1) >> job.level) + 1;
    job.stride = (custom->state_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    atomic_init(&job.next, 0);
    atomic_init(&job.limit, UINT64_MAX);
    atomic_init(&job.next_stack, 0);
    uint64_t bytes =
        custom->threads ? UINT64_MAX : count * custom->element_size; /* who asks knows what an element costs */
    struct rd_crew crew = {custom->threads, custom->executor};
    unsigned threads = rd_team_threads(&crew, job.pieces, bytes);
    return run(&job, &crew, threads, result, error);
}
