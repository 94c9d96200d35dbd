// CUB on the benchmark's data: see peers.h.
#include "peers.h"

#include <cub/device/device_reduce.cuh>
#include <type_traits>

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

int open_device(int ordinal) {
    return cudaSetDevice(ordinal);
}

const char *text(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

} // namespace

extern "C" __attribute__((visibility("default"))) const bench_peers *bench_cuda_peers(void) {
    static const bench_peers peers = {CUB_VERSION, open_device, reduce, text};
    return &peers;
}
