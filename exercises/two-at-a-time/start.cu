#define THREADS    256
#define PER_THREAD 1

template <typename T> __global__ void mine(const T *input, size_t n, T *sums) {
    __shared__ T shared[THREADS];
    unsigned tid = threadIdx.x;
    size_t i = size_t(blockIdx.x) * (2 * THREADS) + tid;

    shared[tid] = (i < n ? input[i] : T(0)) + (i < n ? input[i + THREADS] : T(0));
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = shared[0];
}
