/* NCCL, opened at run time: one binary runs with and without it, and builds without its header.
 *
 * Only what is called is declared, under the names of NVIDIA's "NCCL" manual. The library, its benchmark and its tests share it. */
#ifndef RD_NCCL_DRIVER_H
#define RD_NCCL_DRIVER_H

#include <stddef.h>

struct ncclComm;
struct CUstream_st;

/* Numbers of nccl.h that are used. */
enum { RD_NCCL_SUCCESS = 0, RD_NCCL_IN_PROGRESS = 7 };
enum { RD_NCCL_INT32 = 2, RD_NCCL_INT64 = 4, RD_NCCL_UINT64 = 5, RD_NCCL_FLOAT64 = 8 };
enum { RD_NCCL_SUM = 0, RD_NCCL_MAX = 2, RD_NCCL_MIN = 3 };

/* FUNCTION(name, parameters): each returns an ncclResult_t. */
/* clang-format off */
#define RD_NCCL_FUNCTIONS(FUNCTION) \
    FUNCTION(ncclCommCount, (struct ncclComm *comm, int *count)) \
    FUNCTION(ncclCommUserRank, (struct ncclComm *comm, int *rank)) \
    FUNCTION(ncclCommCuDevice, (struct ncclComm *comm, int *device)) \
    FUNCTION(ncclCommGetAsyncError, (struct ncclComm *comm, int *error)) \
    FUNCTION(ncclCommInitAll, (struct ncclComm **comms, int count, const int *devices)) \
    FUNCTION(ncclCommDestroy, (struct ncclComm *comm)) \
    FUNCTION(ncclGroupStart, (void)) \
    FUNCTION(ncclGroupEnd, (void)) \
    FUNCTION(ncclAllReduce, (const void *sent, void *received, size_t count, int type, int operation, \
                             struct ncclComm *comm, struct CUstream_st *stream)) \
    FUNCTION(ncclReduce, (const void *sent, void *received, size_t count, int type, int operation, int root, \
                          struct ncclComm *comm, struct CUstream_st *stream)) \
    FUNCTION(ncclAllGather, (const void *sent, void *received, size_t count, int type, struct ncclComm *comm, \
                             struct CUstream_st *stream))
/* clang-format on */

typedef struct rd_nccl {
#define RD_NCCL_MEMBER(name, parameters) int(*name) parameters;
    RD_NCCL_FUNCTIONS(RD_NCCL_MEMBER)
#undef RD_NCCL_MEMBER
    const char *(*ncclGetErrorString)(int result);
} rd_nccl;

/* NCCL, found on the first call, for the life of the process: the program's own where it is linked with one, whose communicators are
 * no other's; otherwise libnccl.so.2, which is the one that the program has loaded, if it has. Null where there is none: `*why`
 * (which may be null) is then one sentence that says so, in static storage. Any number of threads may call this at once. */
const rd_nccl *rd_nccl_open(const char **why);

#endif
