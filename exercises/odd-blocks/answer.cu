#define THREADS 96

template <typename T> __global__ void mine(const T *input, size_t n, T *sums) {
    __shared__ T shared[THREADS];
    unsigned tid = threadIdx.x;
    size_t i = size_t(blockIdx.x) * THREADS + tid;

    shared[tid] = i < n ? input[i] : T(0);
    __syncthreads();
    for (unsigned active = THREADS; active > 1; active = (active + 1) / 2) {
        unsigned half = (active + 1) / 2;
        if (tid + half < active)
            shared[tid] += shared[tid + half];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = shared[0];
}
