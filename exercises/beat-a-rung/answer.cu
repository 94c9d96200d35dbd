#define THREADS    256
#define PER_THREAD 0

template <typename T> __global__ void mine(const T *input, size_t n, T *sums) {
    __shared__ T slots[32];
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;

    T sum = 0;
    for (size_t i = size_t(blockIdx.x) * THREADS + tid; i < n; i += size_t(gridDim.x) * THREADS)
        sum += input[i];
    for (unsigned d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0)
        slots[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < THREADS / 32 ? slots[lane] : T(0);
        for (unsigned d = 16; d > 0; d /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, d);
        if (tid == 0)
            sums[blockIdx.x] = sum;
    }
}
