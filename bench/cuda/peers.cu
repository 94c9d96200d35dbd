// CUB on the benchmark's data: see peers.h.
#include "peers.h"

#include <cub/device/device_reduce.cuh>
#include <type_traits>

// CCCL 3.1 brought sums with the same bits on every GPU.
#define HAS_GPU_TO_GPU (CUB_VERSION >= 300100)
#if HAS_GPU_TO_GPU
#include <cstddef>
#include <cuda/memory_resource>
#include <cuda/std/execution>
#include <cuda/stream_ref>
#endif

namespace {

// Sums of integers in 64 bits, as ours are; floats in their own type.
template <typename T>
using Sum =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <typename T>
int reduce_of(bench_peer_op op, void *scratch, size_t *bytes, const void *from, void *to, uint64_t n,
              cudaStream_t stream) {
    const T *x = static_cast<const T *>(from);
    T *result = static_cast<T *>(to), *extreme = reinterpret_cast<T *>(static_cast<int64_t *>(to) + 1);
    int64_t *index = static_cast<int64_t *>(to);
    switch (op) {
    case BENCH_PEER_SUM:
        return cub::DeviceReduce::Sum(scratch, *bytes, x, static_cast<Sum<T> *>(to), n, stream);
    case BENCH_PEER_MIN:
        return cub::DeviceReduce::Min(scratch, *bytes, x, result, n, stream);
    case BENCH_PEER_MAX:
        return cub::DeviceReduce::Max(scratch, *bytes, x, result, n, stream);
    case BENCH_PEER_ARGMIN:
        return cub::DeviceReduce::ArgMin(scratch, *bytes, x, extreme, index, static_cast<int64_t>(n), stream);
    default:
        return cub::DeviceReduce::ArgMax(scratch, *bytes, x, extreme, index, static_cast<int64_t>(n), stream);
    }
}

int reduce(bench_peer_op op, bench_peer_type type, void *scratch, size_t *bytes, const void *from, void *to, uint64_t n,
           void *stream) {
    using function = int(bench_peer_op, void *, size_t *, const void *, void *, uint64_t, cudaStream_t);
    static function *const functions[] = {
        reduce_of<double>,  reduce_of<float>,   reduce_of<int8_t>,   reduce_of<int16_t>,  reduce_of<int32_t>,
        reduce_of<int64_t>, reduce_of<uint8_t>, reduce_of<uint16_t>, reduce_of<uint32_t>, reduce_of<uint64_t>};
    return functions[type](op, scratch, bytes, from, to, n, static_cast<cudaStream_t>(stream));
}

#if HAS_GPU_TO_GPU

// Scratch memory that was allocated before, as a memory resource. No overload of Sum takes both requirements and scratch
// memory: the one with an environment, used here, asks that for a memory resource in each call. Without memory this one
// notes the size, and null makes CUB do no more than tell the size once again.
struct Scratch {
    void *memory;
    size_t room, *asked;

    void *allocate(cuda::stream_ref, size_t bytes, size_t = alignof(std::max_align_t)) {
        return allocate_sync(bytes);
    }
    void deallocate(cuda::stream_ref, void *, size_t, size_t = alignof(std::max_align_t)) {
    }
    void *allocate_sync(size_t bytes, size_t = alignof(std::max_align_t)) {
        *asked = bytes;
        return bytes <= room ? memory : nullptr;
    }
    void deallocate_sync(void *, size_t, size_t = alignof(std::max_align_t)) {
    }
    bool operator==(const Scratch &other) const {
        return memory == other.memory;
    }
    bool operator!=(const Scratch &other) const {
        return memory != other.memory;
    }
};

// Environments answer queries. The one for the memory resource was __get_memory_resource at first, now it is
// get_memory_resource; both can also be put to an object with a member get_memory_resource(), which tells them from all
// other queries.
struct HasScratch {
    Scratch scratch;
    const Scratch &get_memory_resource() const noexcept {
        return scratch;
    }
};
struct Memory {
    HasScratch has;
    template <typename Query, std::enable_if_t<std::is_invocable_v<Query, const HasScratch &>, int> = 0>
    Scratch query(Query) const noexcept {
        return has.scratch;
    }
};

template <typename T>
int gpu_to_gpu_sum_of(void *scratch, size_t *bytes, const void *from, void *to, uint64_t n, cudaStream_t stream) {
    size_t asked = 0;
    const cuda::std::execution::env environment{cuda::stream_ref{stream},
                                                cuda::execution::require(cuda::execution::determinism::gpu_to_gpu),
                                                Memory{{{scratch, *bytes, &asked}}}};
    cudaError_t error = cub::DeviceReduce::Sum(static_cast<const T *>(from), static_cast<T *>(to), n, environment);
    if (error == cudaSuccess && asked == 0) // it has allocated by itself, which would be timed
        return cudaErrorNotSupported;
    if (error == cudaSuccess && scratch && asked > *bytes)
        return cudaErrorMemoryAllocation;
    if (!scratch)
        *bytes = asked;
    return error;
}

int gpu_to_gpu_sum(bench_peer_type type, void *scratch, size_t *bytes, const void *from, void *to, uint64_t n,
                   void *stream) {
    return (type == BENCH_PEER_F64
                ? gpu_to_gpu_sum_of<double>
                : gpu_to_gpu_sum_of<float>)(scratch, bytes, from, to, n, static_cast<cudaStream_t>(stream));
}

#else

constexpr decltype(bench_peers::gpu_to_gpu_sum) gpu_to_gpu_sum = nullptr;

#endif

int open_device(int ordinal) {
    return cudaSetDevice(ordinal);
}

const char *text(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

} // namespace

extern "C" __attribute__((visibility("default"))) const bench_peers *bench_cuda_peers_2(void) {
    static const bench_peers peers = {CUB_VERSION, open_device, reduce, text, gpu_to_gpu_sum};
    return &peers;
}
