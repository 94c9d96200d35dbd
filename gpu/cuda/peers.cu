// CUB and Thrust: see peers.h.
#include "peers.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <limits>
#include <type_traits>

// CCCL 3.2 brought segments of one length.
#define HAS_LENGTH (CUB_VERSION >= 300200)

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

template <typename T> constexpr bool IS_HALF = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

// GPU_PEERS_FEW: one type of each kind alone, and null for the others, for builds that only see whether this compiles.
#ifdef GPU_PEERS_FEW
template <typename T>
constexpr bool IS_COMPILED = std::is_same_v<T, double> || std::is_same_v<T, int32_t> || std::is_same_v<T, __half>;
#else
template <typename T> constexpr bool IS_COMPILED = true;
#endif

// Floats of 16 bits are added as f32: in their own type sums of many would be of no use.
struct PlusFloat {
    __host__ __device__ float operator()(float a, float b) const {
        return a + b;
    }
};

template <typename T> int sum_of(void *scratch, size_t *bytes, const T *x, void *to, uint64_t n, cudaStream_t stream) {
    if constexpr (IS_HALF<T>)
        return cub::DeviceReduce::Reduce(scratch, *bytes, x, static_cast<T *>(to), n, PlusFloat(), 0.0f, stream);
    else
        return cub::DeviceReduce::Sum(scratch, *bytes, x, static_cast<Sum<T> *>(to), n, stream);
}

template <typename T>
int reduce_of(gpu_peer_op op, void *scratch, size_t *bytes, const void *from, void *to, uint64_t n,
              cudaStream_t stream) {
    const T *x = static_cast<const T *>(from);
    T *result = static_cast<T *>(to), *extreme = reinterpret_cast<T *>(static_cast<int64_t *>(to) + 1);
    int64_t *index = static_cast<int64_t *>(to);
    switch (op) {
    case GPU_PEER_SUM:
        return sum_of(scratch, bytes, x, to, n, stream);
    case GPU_PEER_MIN:
        return cub::DeviceReduce::Min(scratch, *bytes, x, result, n, stream);
    case GPU_PEER_MAX:
        return cub::DeviceReduce::Max(scratch, *bytes, x, result, n, stream);
    case GPU_PEER_ARGMIN:
        return cub::DeviceReduce::ArgMin(scratch, *bytes, x, extreme, index, static_cast<int64_t>(n), stream);
    default:
        return cub::DeviceReduce::ArgMax(scratch, *bytes, x, extreme, index, static_cast<int64_t>(n), stream);
    }
}

using Reduce = int(gpu_peer_op, void *, size_t *, const void *, void *, uint64_t, cudaStream_t);

template <typename T> constexpr Reduce *reduce_if_compiled() {
    if constexpr (IS_COMPILED<T>)
        return reduce_of<T>;
    else
        return nullptr;
}

int reduce(gpu_peer_op op, gpu_peer_type type, void *scratch, size_t *bytes, const void *from, void *to, uint64_t n,
           void *stream) {
    static Reduce *const functions[] = {
        reduce_if_compiled<double>(),   reduce_if_compiled<float>(),    reduce_if_compiled<int8_t>(),
        reduce_if_compiled<int16_t>(),  reduce_if_compiled<int32_t>(),  reduce_if_compiled<int64_t>(),
        reduce_if_compiled<uint8_t>(),  reduce_if_compiled<uint16_t>(), reduce_if_compiled<uint32_t>(),
        reduce_if_compiled<uint64_t>(), reduce_if_compiled<__half>(),   reduce_if_compiled<__nv_bfloat16>()};
    return functions[type] ? functions[type](op, scratch, bytes, from, to, n, static_cast<cudaStream_t>(stream))
                           : cudaErrorNotSupported;
}

#if !HAS_LENGTH
// Where segment number i begins.
struct Begin {
    int64_t length;
    __host__ __device__ int64_t operator()(int64_t i) const {
        return i * length;
    }
};
#endif

template <typename T>
int segmented_of(gpu_peer_op op, void *scratch, size_t *bytes, const void *from, void *to, int64_t segments,
                 int64_t length, cudaStream_t stream) {
    const T *x = static_cast<const T *>(from);
    T *results = static_cast<T *>(to);
#if HAS_LENGTH
    const int size = static_cast<int>(length);
    if (size != length)
        return cudaErrorNotSupported;
    switch (op) {
    case GPU_PEER_SUM:
        if constexpr (IS_HALF<T>)
            return cub::DeviceSegmentedReduce::Reduce(scratch, *bytes, x, results, segments, size, PlusFloat(), 0.0f,
                                                      stream);
        else
            return cub::DeviceSegmentedReduce::Sum(scratch, *bytes, x, results, segments, size, stream);
    case GPU_PEER_MIN:
        return cub::DeviceSegmentedReduce::Min(scratch, *bytes, x, results, segments, size, stream);
    case GPU_PEER_MAX:
        return cub::DeviceSegmentedReduce::Max(scratch, *bytes, x, results, segments, size, stream);
    default:
        return cudaErrorNotSupported;
    }
#else
    const auto begins = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), Begin{length});
    switch (op) {
    case GPU_PEER_SUM:
        if constexpr (IS_HALF<T>)
            return cub::DeviceSegmentedReduce::Reduce(scratch, *bytes, x, results, segments, begins, begins + 1,
                                                      PlusFloat(), 0.0f, stream);
        else
            return cub::DeviceSegmentedReduce::Sum(scratch, *bytes, x, results, segments, begins, begins + 1, stream);
    case GPU_PEER_MIN:
        return cub::DeviceSegmentedReduce::Min(scratch, *bytes, x, results, segments, begins, begins + 1, stream);
    case GPU_PEER_MAX:
        return cub::DeviceSegmentedReduce::Max(scratch, *bytes, x, results, segments, begins, begins + 1, stream);
    default:
        return cudaErrorNotSupported;
    }
#endif
}

int segmented(gpu_peer_op op, gpu_peer_type type, void *scratch, size_t *bytes, const void *from, void *to,
              uint64_t segments, uint64_t length, void *stream) {
    const auto function = type == GPU_PEER_F64    ? segmented_of<double>
                          : type == GPU_PEER_F32  ? segmented_of<float>
                          : type == GPU_PEER_F16  ? segmented_of<__half>
                          : type == GPU_PEER_BF16 ? segmented_of<__nv_bfloat16>
                                                  : nullptr;
    return function ? function(op, scratch, bytes, from, to, static_cast<int64_t>(segments),
                               static_cast<int64_t>(length), static_cast<cudaStream_t>(stream))
                    : cudaErrorNotSupported;
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

int gpu_to_gpu_sum(gpu_peer_type type, void *scratch, size_t *bytes, const void *from, void *to, uint64_t n,
                   void *stream) {
    return (type == GPU_PEER_F64
                ? gpu_to_gpu_sum_of<double>
                : gpu_to_gpu_sum_of<float>)(scratch, bytes, from, to, n, static_cast<cudaStream_t>(stream));
}

#else

constexpr decltype(gpu_peers::gpu_to_gpu_sum) gpu_to_gpu_sum = nullptr;

#endif

// Sums of the groups that there are, to where they belong.
template <typename S, typename T> __global__ void spread(const uint32_t *group, const S *sum, const int *count, T *to) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < *count; i += gridDim.x * blockDim.x)
        to[group[i]] = sum[i];
}

// Hands out parts of the scratch memory; of none it only counts.
struct Parts {
    char *base;
    size_t used;

    template <typename T> T *take(size_t count) {
        const size_t at = used;
        used += (count * sizeof(T) + 255) / 256 * 256;
        return base ? reinterpret_cast<T *>(base + at) : nullptr;
    }
};

template <typename T>
int sum_by_group_of(void *scratch, size_t *bytes, const uint32_t *group, const void *from, void *to, int n,
                    int64_t groups, cudaStream_t stream) {
    using S = std::conditional_t<IS_HALF<T>, float, T>;
    const std::conditional_t<IS_HALF<T>, PlusFloat, ::cuda::std::plus<>> plus; // for its own CUB is tuned
    const T *x = static_cast<const T *>(from);
    T *result = static_cast<T *>(to);
    Parts parts = {static_cast<char *>(scratch), 0};
    uint32_t *sorted_group = parts.take<uint32_t>(n), *found = parts.take<uint32_t>(groups);
    T *sorted = parts.take<T>(n);
    S *sum = parts.take<S>(groups);
    int *count = parts.take<int>(1), bits = 1;
    size_t to_sort = 0, to_reduce = 0;
    while (bits < 32 && (groups - 1) >> bits)
        bits++;
    int error = cub::DeviceRadixSort::SortPairs(nullptr, to_sort, group, sorted_group, x, sorted, n, 0, bits, stream);
    if (!error)
        error = cub::DeviceReduce::ReduceByKey(nullptr, to_reduce, sorted_group, found, sorted, sum, count, plus, n,
                                               stream);
    char *room = parts.take<char>(to_sort > to_reduce ? to_sort : to_reduce);
    if (!scratch)
        *bytes = parts.used;
    if (error || !scratch)
        return error;
    error = cub::DeviceRadixSort::SortPairs(room, to_sort, group, sorted_group, x, sorted, n, 0, bits, stream);
    if (!error)
        error =
            cub::DeviceReduce::ReduceByKey(room, to_reduce, sorted_group, found, sorted, sum, count, plus, n, stream);
    if (!error)
        error = cudaMemsetAsync(result, 0, groups * sizeof(T), stream);
    if (!error)
        spread<<<512, 256, 0, stream>>>(found, sum, count, result);
    return error ? error : cudaGetLastError();
}

int sum_by_group(gpu_peer_type type, void *scratch, size_t *bytes, const uint32_t *group, const void *from, void *to,
                 uint64_t n, uint64_t groups, void *stream) {
    if (n >> 31 || groups >> 31)
        return cudaErrorInvalidValue;
    const auto function = type == GPU_PEER_F64    ? sum_by_group_of<double>
                          : type == GPU_PEER_F32  ? sum_by_group_of<float>
                          : type == GPU_PEER_I32  ? sum_by_group_of<uint32_t>
                          : type == GPU_PEER_F16  ? sum_by_group_of<__half>
                          : type == GPU_PEER_BF16 ? sum_by_group_of<__nv_bfloat16>
                                                  : nullptr;
    return function ? function(scratch, bytes, group, from, to, static_cast<int>(n), static_cast<int64_t>(groups),
                               static_cast<cudaStream_t>(stream))
                    : cudaErrorNotSupported;
}

template <typename K> int by_key_of(const gpu_peer_keys &of, void *scratch, size_t *bytes, cudaStream_t stream) {
    const K *keys = static_cast<const K *>(of.keys);
    K *unique = static_cast<K *>(of.unique);
    const float *x = of.x;
    const int n = static_cast<int>(of.n);
    Parts parts = {static_cast<char *>(scratch), 0};
    K *sorted_keys = parts.take<K>(of.sorts ? n : 0);
    float *sorted = parts.take<float>(of.sorts ? n : 0), *sums = static_cast<float *>(of.results);
    size_t to_sort = 0, to_reduce = 0;
    int error = 0;
    const auto reduce = [&](void *room) -> int {
        if (!x)
            return cub::DeviceRunLengthEncode::Encode(room, to_reduce, keys, unique,
                                                      static_cast<uint32_t *>(of.results), of.found, n, stream);
        return cub::DeviceReduce::ReduceByKey(room, to_reduce, of.sorts ? sorted_keys : keys, unique,
                                              of.sorts ? sorted : x, sums, of.found, ::cuda::std::plus<>(), n, stream);
    };
    if (of.sorts)
        error = cub::DeviceRadixSort::SortPairs(nullptr, to_sort, keys, sorted_keys, x, sorted, n, 0, 8 * sizeof(K),
                                                stream);
    if (!error)
        error = reduce(nullptr);
    char *room = parts.take<char>(to_sort > to_reduce ? to_sort : to_reduce);
    if (!scratch)
        *bytes = parts.used;
    if (error || !scratch)
        return error;
    if (of.sorts)
        error =
            cub::DeviceRadixSort::SortPairs(room, to_sort, keys, sorted_keys, x, sorted, n, 0, 8 * sizeof(K), stream);
    return error ? error : reduce(room);
}

int by_key(const gpu_peer_keys *keys, void *scratch, size_t *bytes, void *stream) {
    if (keys->n >> 31)
        return cudaErrorInvalidValue;
    return (keys->key_bytes == 4 ? by_key_of<uint32_t> : by_key_of<uint64_t>)(*keys, scratch, bytes,
                                                                              static_cast<cudaStream_t>(stream));
}

// In the element type; i32 are added as unsigned numbers, which wrap.
template <typename T>
int sum_in_type_of(void *scratch, size_t *scratch_bytes, const void *from, void *to, uint64_t n, void *stream) {
    return cub::DeviceReduce::Sum(scratch, *scratch_bytes, static_cast<const T *>(from), static_cast<T *>(to), n,
                                  static_cast<cudaStream_t>(stream));
}

int sum_in_type(gpu_peer_type type, void *scratch, size_t *scratch_bytes, const void *from, void *to, uint64_t n,
                void *stream) {
    switch (type) {
    case GPU_PEER_I32:
        return sum_in_type_of<unsigned>(scratch, scratch_bytes, from, to, n, stream);
    case GPU_PEER_F32:
        return sum_in_type_of<float>(scratch, scratch_bytes, from, to, n, stream);
    default:
        return sum_in_type_of<double>(scratch, scratch_bytes, from, to, n, stream);
    }
}

// What Thrust throws, as an error: memory, or the device.
template <typename Work> int caught(Work work) {
    try {
        work();
    } catch (...) {
        cudaError_t error = cudaGetLastError();
        return error == cudaSuccess ? cudaErrorMemoryAllocation : error;
    }
    return cudaSuccess;
}

template <typename T> int thrust_sum_of(const void *from, void *host_result, uint64_t n, void *stream) {
    thrust::device_ptr<const T> begin(static_cast<const T *>(from));
    return caught([&] {
        *static_cast<T *>(host_result) =
            thrust::reduce(thrust::cuda::par.on(static_cast<cudaStream_t>(stream)), begin, begin + n, T(0));
    });
}

// A functor of one's own, for both sides: policies of the host call it as well.
template <typename T> struct square {
    __host__ __device__ T operator()(T x) const {
        return x * x;
    }
};

template <typename T>
int thrust_form_of(gpu_peer_form form, const void *x, const void *y, void *host_result, uint64_t n, void *stream) {
    thrust::device_ptr<const T> begin(static_cast<const T *>(x)), other(static_cast<const T *>(y));
    T *result = static_cast<T *>(host_result);
    return caught([&] {
        const auto policy = thrust::cuda::par.on(static_cast<cudaStream_t>(stream));
        if (form == GPU_PEER_MAXIMUM)
            *result =
                thrust::reduce(policy, begin, begin + n, -std::numeric_limits<T>::infinity(), thrust::maximum<T>());
        else if (form == GPU_PEER_DOT)
            *result = thrust::inner_product(policy, begin, begin + n, other, T(0));
        else
            *result =
                std::sqrt(thrust::transform_reduce(policy, begin, begin + n, square<T>(), T(0), thrust::plus<T>()));
    });
}

int thrust_form(gpu_peer_form form, gpu_peer_type type, const void *x, const void *y, void *host_result, uint64_t n,
                void *stream) {
    return (type == GPU_PEER_F64 ? thrust_form_of<double> : thrust_form_of<float>)(form, x, y, host_result, n, stream);
}

int thrust_sum(gpu_peer_type type, const void *from, void *host_result, uint64_t n, void *stream) {
    switch (type) {
    case GPU_PEER_I32:
        return thrust_sum_of<unsigned>(from, host_result, n, stream);
    case GPU_PEER_F32:
        return thrust_sum_of<float>(from, host_result, n, stream);
    default:
        return thrust_sum_of<double>(from, host_result, n, stream);
    }
}

int open_device(int ordinal) {
    return cudaSetDevice(ordinal);
}

const char *text(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

} // namespace

extern "C" __attribute__((visibility("default"))) const gpu_peers *gpu_cuda_peers_6(void) {
    static const gpu_peers peers = {CUB_VERSION, THRUST_VERSION, open_device, reduce,      segmented,
                                    HAS_LENGTH,  sum_by_group,   by_key,      sum_in_type, gpu_to_gpu_sum,
                                    thrust_sum,  thrust_form,    text};
    return &peers;
}
