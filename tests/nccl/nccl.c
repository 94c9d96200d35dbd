/* A libnccl.so.2 for machines without a GPU: the functions that the library and its tests call, for ranks that are threads of
 * one process, or all of one thread, on the emulated GPU (tests/emulated_cuda). Collectives are queued in streams and captured in
 * graphs as kernels are; each is done when all ranks have come to it.
 *
 * What ranks disagree on, counts, types, kinds of calls, and what real communicators would wait for for ever, ends the program with a
 * message: all are errors of whoever calls. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/nccl.h"

#define API __attribute__((visibility("default")))

enum { RANKS = 64, ROUNDS = 8, OPERATIONS = 2 * RANKS, PATIENCE = 60 };
enum { EVERYONE = -1 };
enum { INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };

int cuLaunchHostFunc(struct CUstream_st *stream, void (*call)(void *argument), void *argument);

struct operation {
    bool gathers;
    const void *sent;
    void *received;
    size_t count;
    int type, operation, root; /* root: whose result it is, or EVERYONE's */
    struct ncclComm *comm;
    struct CUstream_st *stream;
};

/* Ranks that belong together. What each does for the k-th time is round k. */
struct group {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int size, left; /* left: communicators that are not yet destroyed */
    uint64_t completed;
    bool broken;    /* whether a test has broken it: nothing is moved any more */
    uint64_t lasts; /* it breaks when a rank asks for more rounds than these */
    struct round {
        int arrived;
        struct operation of[RANKS];
    } rounds[ROUNDS];
};

struct ncclComm {
    struct group *group;
    int rank, device;
    uint64_t posted;
};

static _Noreturn void complain(const char *what) {
    fprintf(stderr, "emulated NCCL: %s\n", what);
    abort();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A round, when all ranks have come
 * ------------------------------------------------------------------------------------------------------------------ */

static void add_all(const struct group *group, const struct round *round) {
    const size_t count = round->of[0].count;
    uint64_t *sums = calloc(count ? count : 1, sizeof *sums);
    if (!sums)
        complain("no memory");
    for (int r = 0; r < group->size; r++)
        for (size_t i = 0; i < count; i++)
            sums[i] += ((const uint64_t *)round->of[r].sent)[i];
    for (int r = 0; r < group->size; r++)
        if (round->of[r].root == EVERYONE || round->of[r].root == r)
            memcpy(round->of[r].received, sums, count * sizeof *sums);
    free(sums);
}

static void find_greatest(const struct group *group, const struct round *round) {
    for (size_t i = 0; i < round->of[0].count; i++) {
        int32_t greatest = INT32_MIN;
        for (int r = 0; r < group->size; r++) {
            const int32_t own = ((const int32_t *)round->of[r].sent)[i];
            greatest = own > greatest ? own : greatest;
        }
        for (int r = 0; r < group->size; r++)
            ((int32_t *)round->of[r].received)[i] = greatest;
    }
}

static void find_least(const struct group *group, const struct round *round) {
    for (size_t i = 0; i < round->of[0].count; i++) {
        int64_t least = INT64_MAX;
        for (int r = 0; r < group->size; r++) {
            const int64_t own = ((const int64_t *)round->of[r].sent)[i];
            least = own < least ? own : least;
        }
        for (int r = 0; r < group->size; r++)
            ((int64_t *)round->of[r].received)[i] = least;
    }
}

static void add_all_doubles(const struct group *group, const struct round *round) {
    for (size_t i = 0; i < round->of[0].count; i++) {
        double sum = 0;
        for (int r = 0; r < group->size; r++)
            sum += ((const double *)round->of[r].sent)[i];
        for (int r = 0; r < group->size; r++)
            ((double *)round->of[r].received)[i] = sum;
    }
}

static void gather_all(const struct group *group, const struct round *round) {
    const size_t bytes = round->of[0].count * sizeof(uint64_t), all = bytes * (size_t)group->size;
    unsigned char *gathered = malloc(all ? all : 1);
    if (!gathered)
        complain("no memory");
    for (int r = 0; r < group->size; r++)
        memcpy(gathered + (size_t)r * bytes, round->of[r].sent, bytes);
    for (int r = 0; r < group->size; r++)
        memcpy(round->of[r].received, gathered, all);
    free(gathered);
}

static void complete(struct group *group, struct round *round) {
    for (int r = 1; r < group->size; r++)
        if (round->of[r].gathers != round->of[0].gathers || round->of[r].count != round->of[0].count ||
            round->of[r].type != round->of[0].type || round->of[r].operation != round->of[0].operation ||
            round->of[r].root != round->of[0].root)
            complain("ranks call different functions, or with other counts, types, operations or roots");
    if (round->of[0].gathers)
        gather_all(group, round);
    else if (round->of[0].operation == RD_NCCL_MAX)
        find_greatest(group, round);
    else if (round->of[0].operation == RD_NCCL_MIN)
        find_least(group, round);
    else if (round->of[0].type == RD_NCCL_FLOAT64)
        add_all_doubles(group, round);
    else
        add_all(group, round);
    round->arrived = 0;
    group->completed++;
    pthread_cond_broadcast(&group->done);
}

/* With the group locked. */
static void wait_until(struct group *group, uint64_t completed) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += PATIENCE;
    while (group->completed < completed)
        if (pthread_cond_timedwait(&group->done, &group->lock, &limit) != 0)
            complain("some ranks never came to a call that others wait in");
}

/* Returns how many rounds are complete when it is. */
static uint64_t post(const struct operation *operation) {
    struct ncclComm *comm = operation->comm;
    struct group *group = comm->group;
    pthread_mutex_lock(&group->lock);
    const uint64_t number = comm->posted++;
    if (number >= ROUNDS)
        wait_until(group, number - ROUNDS + 1);
    struct round *round = &group->rounds[number % ROUNDS];
    round->of[comm->rank] = *operation;
    if (++round->arrived == group->size)
        complete(group, round);
    pthread_mutex_unlock(&group->lock);
    return number + 1;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Groups of calls
 * ------------------------------------------------------------------------------------------------------------------ */

struct calls {
    size_t count;
    struct operation of[OPERATIONS];
};
static _Thread_local int depth;
static _Thread_local struct calls pending;

static bool is_broken(struct group *group) {
    pthread_mutex_lock(&group->lock);
    const bool broken = group->broken;
    pthread_mutex_unlock(&group->lock);
    return broken;
}

static void wear(const struct ncclComm *comm) {
    pthread_mutex_lock(&comm->group->lock);
    comm->group->broken = comm->group->broken || comm->posted >= comm->group->lasts;
    pthread_mutex_unlock(&comm->group->lock);
}

static void perform(void *argument) {
    const struct calls *calls = argument;
    uint64_t completed[OPERATIONS];
    wear(calls->of[0].comm);
    if (is_broken(calls->of[0].comm->group))
        return;
    for (size_t i = 0; i < calls->count; i++)
        completed[i] = post(&calls->of[i]);
    for (size_t i = 0; i < calls->count; i++) {
        struct group *group = calls->of[i].comm->group;
        pthread_mutex_lock(&group->lock);
        wait_until(group, completed[i]);
        pthread_mutex_unlock(&group->lock);
    }
}

/* Graphs keep what is queued, so that nobody knows when it may be freed: a list does. */
static struct kept {
    struct kept *next;
    struct calls calls;
} * all_kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static int flush(void) {
    if (!pending.count)
        return RD_NCCL_SUCCESS;
    struct kept *kept = malloc(sizeof *kept);
    if (!kept)
        complain("no memory");
    kept->calls = pending;
    pending.count = 0;
    pthread_mutex_lock(&kept_lock);
    kept->next = all_kept;
    all_kept = kept;
    pthread_mutex_unlock(&kept_lock);
    return cuLaunchHostFunc(kept->calls.of[0].stream, perform, &kept->calls) == 0 ? RD_NCCL_SUCCESS : INVALID_USAGE;
}

API int ncclGroupStart(void);
API int ncclGroupStart(void) {
    depth++;
    return RD_NCCL_SUCCESS;
}

API int ncclGroupEnd(void);
API int ncclGroupEnd(void) {
    if (depth == 0)
        return INVALID_USAGE;
    return --depth ? RD_NCCL_SUCCESS : flush();
}

static int add(const struct operation *operation) {
    if (!operation->comm || pending.count == OPERATIONS)
        return INVALID_ARGUMENT;
    pending.of[pending.count++] = *operation;
    return depth ? RD_NCCL_SUCCESS : flush();
}

API int ncclAllReduce(const void *sent, void *received, size_t count, int type, int operation, struct ncclComm *comm,
                      struct CUstream_st *stream);
API int ncclAllReduce(const void *sent, void *received, size_t count, int type, int operation, struct ncclComm *comm,
                      struct CUstream_st *stream) {
    if (operation == RD_NCCL_MAX ? type != RD_NCCL_INT32
        : operation == RD_NCCL_MIN
            ? type != RD_NCCL_INT64
            : operation != RD_NCCL_SUM || (type != RD_NCCL_INT64 && type != RD_NCCL_UINT64 && type != RD_NCCL_FLOAT64))
        return INVALID_ARGUMENT;
    return add(&(struct operation){false, sent, received, count, type, operation, EVERYONE, comm, stream});
}

API int ncclReduce(const void *sent, void *received, size_t count, int type, int operation, int root,
                   struct ncclComm *comm, struct CUstream_st *stream);
API int ncclReduce(const void *sent, void *received, size_t count, int type, int operation, int root,
                   struct ncclComm *comm, struct CUstream_st *stream) {
    if (operation != RD_NCCL_SUM || type != RD_NCCL_UINT64 || root < 0 || root >= comm->group->size)
        return INVALID_ARGUMENT;
    return add(&(struct operation){false, sent, received, count, type, operation, root, comm, stream});
}

API int ncclAllGather(const void *sent, void *received, size_t count, int type, struct ncclComm *comm,
                      struct CUstream_st *stream);
API int ncclAllGather(const void *sent, void *received, size_t count, int type, struct ncclComm *comm,
                      struct CUstream_st *stream) {
    if (type != RD_NCCL_UINT64)
        return INVALID_ARGUMENT;
    return add(&(struct operation){true, sent, received, count, type, -1, EVERYONE, comm, stream});
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Communicators. Any number of ranks may share a device, which real ones refuse.
 * ------------------------------------------------------------------------------------------------------------------ */

API int ncclCommInitAll(struct ncclComm **comms, int count, const int *devices);
API int ncclCommInitAll(struct ncclComm **comms, int count, const int *devices) {
    struct group *group = calloc(1, sizeof *group);
    if (!group || count < 1 || count > RANKS)
        return INVALID_ARGUMENT;
    group->size = group->left = count;
    group->lasts = UINT64_MAX;
    pthread_mutex_init(&group->lock, NULL);
    pthread_cond_init(&group->done, NULL);
    for (int r = 0; r < count; r++) {
        comms[r] = calloc(1, sizeof *comms[r]);
        if (!comms[r])
            complain("no memory");
        *comms[r] = (struct ncclComm){.group = group, .rank = r, .device = devices ? devices[r] : r};
    }
    return RD_NCCL_SUCCESS;
}

API int ncclCommDestroy(struct ncclComm *comm);
API int ncclCommDestroy(struct ncclComm *comm) {
    struct group *group = comm->group;
    pthread_mutex_lock(&group->lock);
    const bool last = --group->left == 0;
    pthread_mutex_unlock(&group->lock);
    free(comm);
    if (last)
        free(group);
    return RD_NCCL_SUCCESS;
}

#define GETTER(function, value)                                                                                        \
    API int function(struct ncclComm *comm, int *result);                                                              \
    API int function(struct ncclComm *comm, int *result) {                                                             \
        *result = value;                                                                                               \
        return RD_NCCL_SUCCESS;                                                                                        \
    }
GETTER(ncclCommCount, comm->group->size)
GETTER(ncclCommUserRank, comm->rank)
GETTER(ncclCommCuDevice, comm->device)

GETTER(ncclCommGetAsyncError, is_broken(comm->group) ? REMOTE_ERROR : RD_NCCL_SUCCESS)

/* As if a rank of a communicator, and the cable to it, were no more. For tests. */
API void emulated_nccl_break(struct ncclComm *comm);
API void emulated_nccl_break(struct ncclComm *comm) {
    pthread_mutex_lock(&comm->group->lock);
    comm->group->broken = true;
    pthread_mutex_unlock(&comm->group->lock);
}

/* The same after so many rounds more, when a rank comes to the next one. */
API void emulated_nccl_break_after(struct ncclComm *comm, int rounds);
API void emulated_nccl_break_after(struct ncclComm *comm, int rounds) {
    pthread_mutex_lock(&comm->group->lock);
    comm->group->lasts = comm->group->completed + (uint64_t)rounds;
    pthread_mutex_unlock(&comm->group->lock);
}

API const char *ncclGetErrorString(int result);
API const char *ncclGetErrorString(int result) {
    (void)result;
    return "the emulated NCCL refuses";
}
