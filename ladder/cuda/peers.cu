// The peers on the ladder's data: see peers.h.
#include "peers.h"

#include <cub/device/device_reduce.cuh>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

namespace {

int open_device(int ordinal) {
    return cudaSetDevice(ordinal);
}

template <typename T>
int cub_sum_of(void *scratch, size_t *scratch_bytes, const void *from, void *to, uint64_t n, void *stream) {
    return cub::DeviceReduce::Sum(scratch, *scratch_bytes, static_cast<const T *>(from), static_cast<T *>(to), n,
                                  static_cast<cudaStream_t>(stream));
}

int cub_sum(ladder_peer_type type, void *scratch, size_t *scratch_bytes, const void *from, void *to, uint64_t n,
            void *stream) {
    switch (type) {
    case LADDER_PEER_I32:
        return cub_sum_of<unsigned>(scratch, scratch_bytes, from, to, n, stream);
    case LADDER_PEER_F32:
        return cub_sum_of<float>(scratch, scratch_bytes, from, to, n, stream);
    default:
        return cub_sum_of<double>(scratch, scratch_bytes, from, to, n, stream);
    }
}

template <typename T> int thrust_sum_of(const void *from, void *host_result, uint64_t n, void *stream) {
    thrust::device_ptr<const T> begin(static_cast<const T *>(from));
    try {
        *static_cast<T *>(host_result) =
            thrust::reduce(thrust::cuda::par.on(static_cast<cudaStream_t>(stream)), begin, begin + n, T(0));
    } catch (...) { // memory, or the device
        cudaError_t error = cudaGetLastError();
        return error == cudaSuccess ? cudaErrorMemoryAllocation : error;
    }
    return cudaSuccess;
}

int thrust_sum(ladder_peer_type type, const void *from, void *host_result, uint64_t n, void *stream) {
    switch (type) {
    case LADDER_PEER_I32:
        return thrust_sum_of<unsigned>(from, host_result, n, stream);
    case LADDER_PEER_F32:
        return thrust_sum_of<float>(from, host_result, n, stream);
    default:
        return thrust_sum_of<double>(from, host_result, n, stream);
    }
}

const char *text(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

} // namespace

extern "C" __attribute__((visibility("default"))) const ladder_peers *ladder_cuda_peers(void) {
    static const ladder_peers peers = {CUB_VERSION, THRUST_VERSION, open_device, cub_sum, thrust_sum, text};
    return &peers;
}
