#define TASK    ROWS
#define THREADS 128

// One block adds up one row: sums[row] is the sum of input[row * columns] to input[row * columns + columns - 1].
template <typename T> __global__ void mine(const T *input, size_t rows, size_t columns, T *sums) {
    __shared__ T shared[THREADS];
    unsigned tid = threadIdx.x;
    size_t row = blockIdx.x;

    shared[tid] = tid < columns ? input[row * columns + tid] : T(0);
    __syncthreads();
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid == 0 && row < rows)
        sums[row] = shared[0];
}
