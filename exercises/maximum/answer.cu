#include <limits>

#define TASK    MAXIMUM
#define THREADS 256

template <typename T> __global__ void mine(const T *input, size_t n, T *largest) {
    __shared__ T shared[THREADS];
    unsigned tid = threadIdx.x;
    size_t i = size_t(blockIdx.x) * THREADS + tid;

    using limits = std::numeric_limits<T>;
    constexpr T least = limits::has_infinity ? -limits::infinity() : limits::lowest();
    shared[tid] = i < n ? input[i] : least;
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s && shared[tid + s] > shared[tid])
            shared[tid] = shared[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        largest[blockIdx.x] = shared[0];
}
