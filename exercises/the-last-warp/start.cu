#define THREADS 256

template <typename T> __global__ void mine(const T *input, size_t n, T *sums) {
    __shared__ T shared[THREADS];
    unsigned tid = threadIdx.x;
    size_t i = size_t(blockIdx.x) * THREADS + tid;

    shared[tid] = i < n ? input[i] : T(0);
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 32; s /= 2) {
        if (tid < s)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        shared[tid] += shared[tid + 32];
        shared[tid] += shared[tid + 16];
        shared[tid] += shared[tid + 8];
        shared[tid] += shared[tid + 4];
        shared[tid] += shared[tid + 2];
        shared[tid] += shared[tid + 1];
    }
    if (tid == 0)
        sums[blockIdx.x] = shared[0];
}
