/* Thrust and CUB, behind an interface in C: peers.cu is compiled by nvcc into a shared object of its own, which the
 * ladder loads if it lies beside the program. Numbers that functions return are cudaError_t: 0 is success. */
#ifndef LADDER_CUDA_PEERS_H
#define LADDER_CUDA_PEERS_H

#include <stddef.h>
#include <stdint.h>

enum ladder_peer_type { LADDER_PEER_I32, LADDER_PEER_F32, LADDER_PEER_F64 };

typedef struct ladder_peers {
    int cub_version, thrust_version; /* 300000 for 3.0.0, as their headers say */

    /* Makes device number `ordinal` the calling thread's. */
    int (*open)(int ordinal);

    /* cub::DeviceReduce::Sum: with `scratch` null only *scratch_bytes is written. `to` is on the device. */
    int (*cub_sum)(enum ladder_peer_type type, void *scratch, size_t *scratch_bytes, const void *from, void *to,
                   uint64_t n, void *stream);

    /* thrust::reduce, which allocates, waits, and returns to the host. */
    int (*thrust_sum)(enum ladder_peer_type type, const void *from, void *host_result, uint64_t n, void *stream);

    const char *(*text)(int error);
} ladder_peers;

/* What the shared object exports. */
#define LADDER_PEERS_SYMBOL "ladder_cuda_peers"
typedef const ladder_peers *ladder_cuda_peers_function(void);

#endif
