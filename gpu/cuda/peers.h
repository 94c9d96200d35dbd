/* What the kernels here are compared with, CUB and Thrust, behind an interface in C: peers.cu is compiled by nvcc into a
 * shared object of its own, which gpu/cuda_peers.h loads if it lies beside the program. Numbers that functions return are
 * cudaError_t: 0 is success. */
#ifndef GPU_CUDA_PEERS_INTERFACE_H
#define GPU_CUDA_PEERS_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

enum gpu_peer_op { GPU_PEER_SUM, GPU_PEER_MIN, GPU_PEER_MAX, GPU_PEER_ARGMIN, GPU_PEER_ARGMAX };

/* Forms of Thrust: reduce() with maximum and its identity, inner_product(), transform_reduce() with a functor that squares. */
enum gpu_peer_form { GPU_PEER_MAXIMUM, GPU_PEER_DOT, GPU_PEER_NORM2, GPU_PEER_FORMS };

enum gpu_peer_type {
    GPU_PEER_F64,
    GPU_PEER_F32,
    GPU_PEER_I8,
    GPU_PEER_I16,
    GPU_PEER_I32,
    GPU_PEER_I64,
    GPU_PEER_U8,
    GPU_PEER_U16,
    GPU_PEER_U32,
    GPU_PEER_U64,
    GPU_PEER_F16,
    GPU_PEER_BF16
};

/* Keys of 4 or 8 bytes on the device, and what is to be found: sums of f32 by key, or how long each run of equal keys is. */
struct gpu_peer_keys {
    const void *keys;
    size_t key_bytes;
    uint64_t n;     /* fewer than 2^31 */
    const float *x; /* what is summed; null: runs */
    int sorts;      /* 1: keys come in any order, and are sorted first, with what is summed */
    void *unique;   /* n keys */
    void *results;  /* n f32, or u32 for runs */
    uint64_t *found;
};

typedef struct gpu_peers {
    int cub_version, thrust_version; /* 300000 for 3.0.0, as their headers say */

    /* Makes device number `ordinal` the calling thread's. */
    int (*open)(int ordinal);

    /* cub::DeviceReduce: with `scratch` null only *scratch_bytes is written. `to` is on the device, 16 bytes aligned to 16:
     * the result comes first, of the element type; for sums of integers i64 or u64, so that it fits; for indices i64,
     * with the extreme behind it. Floats of 16 bits are added as f32, here and below, and the sum is rounded to theirs. */
    int (*reduce)(enum gpu_peer_op op, enum gpu_peer_type type, void *scratch, size_t *scratch_bytes, const void *from,
                  void *to, uint64_t n, void *stream);

    /* cub::DeviceSegmentedReduce of floats: Sum, Min or Max of `segments` stretches of `length` elements each, one after
     * another, otherwise as `reduce`. With CUB's functions for one length, or, where this CUB has none, with offsets that
     * are computed as they are read. */
    int (*segmented)(enum gpu_peer_op op, enum gpu_peer_type type, void *scratch, size_t *scratch_bytes,
                     const void *from, void *to, uint64_t segments, uint64_t length, void *stream);
    int segmented_has_length; /* 1 if this CUB has functions for one length */

    /* cub::DeviceRadixSort::SortPairs and cub::DeviceReduce::ReduceByKey of floats, and of i32 (modulo 2^32): sums by the
     * numbers of the groups that elements are of, fewer than 2^31 of both, to where each group's belongs, in the element
     * type; 0 for groups without elements. Otherwise as `reduce`. */
    int (*sum_by_group)(enum gpu_peer_type type, void *scratch, size_t *scratch_bytes, const uint32_t *group,
                        const void *from, void *to, uint64_t n, uint64_t groups, void *stream);

    /* cub::DeviceReduce::ReduceByKey, with cub::DeviceRadixSort::SortPairs before it if told so, or
     * cub::DeviceRunLengthEncode::Encode; scratch as for `reduce`. */
    int (*by_key)(const struct gpu_peer_keys *keys, void *scratch, size_t *scratch_bytes, void *stream);

    /* cub::DeviceReduce::Sum in the element type, otherwise as `reduce`: of i32 (modulo 2^32), f32 and f64. */
    int (*sum_in_type)(enum gpu_peer_type type, void *scratch, size_t *scratch_bytes, const void *from, void *to,
                       uint64_t n, void *stream);

    /* cub::DeviceReduce::Sum of f64 or f32 with the same bits on every GPU, determinism gpu_to_gpu, otherwise as `reduce`.
     * Null where this CUB has none. */
    int (*gpu_to_gpu_sum)(enum gpu_peer_type type, void *scratch, size_t *scratch_bytes, const void *from, void *to,
                          uint64_t n, void *stream);

    /* thrust::reduce of i32 (modulo 2^32), f32 and f64, which allocates, waits, and returns to the host. */
    int (*thrust_sum)(enum gpu_peer_type type, const void *from, void *host_result, uint64_t n, void *stream);

    /* Its other forms, of f32 and f64, likewise; `y`: of two arrays the second. */
    int (*thrust_form)(enum gpu_peer_form form, enum gpu_peer_type type, const void *x, const void *y,
                       void *host_result, uint64_t n, void *stream);

    const char *(*text)(int error);
} gpu_peers;

/* What the shared object exports. The number changes with the interface, as the file may be of an older build. */
#define GPU_PEERS_FILE   "gpu_cuda_peers.so"
#define GPU_PEERS_SYMBOL "gpu_cuda_peers_6"
typedef const gpu_peers *gpu_cuda_peers_function(void);

#endif
