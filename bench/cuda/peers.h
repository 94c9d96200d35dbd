/* CUB's reductions, behind an interface in C: peers.cu is compiled by nvcc into a shared object of its own, which the
 * benchmark loads if it lies beside the program. Numbers that functions return are cudaError_t: 0 is success. */
#ifndef BENCH_CUDA_PEERS_H
#define BENCH_CUDA_PEERS_H

#include <stddef.h>
#include <stdint.h>

enum bench_peer_op { BENCH_PEER_SUM, BENCH_PEER_MIN, BENCH_PEER_MAX, BENCH_PEER_ARGMIN, BENCH_PEER_ARGMAX };

enum bench_peer_type {
    BENCH_PEER_F64,
    BENCH_PEER_F32,
    BENCH_PEER_I8,
    BENCH_PEER_I16,
    BENCH_PEER_I32,
    BENCH_PEER_I64,
    BENCH_PEER_U8,
    BENCH_PEER_U16,
    BENCH_PEER_U32,
    BENCH_PEER_U64
};

typedef struct bench_peers {
    int cub_version; /* 300000 for 3.0.0, as its headers say */

    /* Makes device number `ordinal` the calling thread's. */
    int (*open)(int ordinal);

    /* cub::DeviceReduce: with `scratch` null only *scratch_bytes is written. `to` is on the device, 16 bytes aligned to 16:
     * the result comes first, of the element type; for sums of integers i64 or u64, so that it fits; for indices i64,
     * with the extreme behind it. */
    int (*reduce)(enum bench_peer_op op, enum bench_peer_type type, void *scratch, size_t *scratch_bytes,
                  const void *from, void *to, uint64_t n, void *stream);

    const char *(*text)(int error);

    /* cub::DeviceReduce::Sum of f64 or f32 with the same bits on every GPU, determinism gpu_to_gpu, otherwise as `reduce`.
     * Null where this CUB has none. */
    int (*gpu_to_gpu_sum)(enum bench_peer_type type, void *scratch, size_t *scratch_bytes, const void *from, void *to,
                          uint64_t n, void *stream);
} bench_peers;

/* What the shared object exports. The number changes with the interface, as the file may be of an older build. */
#define BENCH_PEERS_FILE   "bench_cuda_peers.so"
#define BENCH_PEERS_SYMBOL "bench_cuda_peers_2"
typedef const bench_peers *bench_cuda_peers_function(void);

#endif
