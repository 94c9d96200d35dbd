// What it costs that global memory is ordered for the whole device: the tree of `global-halving` with loads from L1 and past it,
// and with barriers that order for the block and for the device. For docs/ladder/cells.md.
#include "experiment.cuh"

constexpr unsigned THREADS = 256;

template <bool PAST_L1, bool FOR_DEVICE> __global__ void halve(float *input, float *sums) {
    float *x = input + uint64_t(blockIdx.x) * blockDim.x;
    volatile float *past = x;
    unsigned tid = threadIdx.x;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half && PAST_L1)
            past[tid] = past[tid] + past[tid + half];
        else if (tid < half)
            x[tid] += x[tid + half];
        if (FOR_DEVICE)
            __threadfence();
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = x[0];
}

int main() {
    const unsigned n = 32 << 20, blocks = n / THREADS;
    float *input = zeros<float>(n), *sums = zeros<float>(blocks);
    auto show = [&](const char *what, auto kernel) {
        printf("%-30s %7.1f us\n", what, microseconds([&] { kernel<<<blocks, THREADS>>>(input, sums); }, 4));
    };
    show("in L1; within the block", halve<false, false>);
    show("past L1; within the block", halve<true, false>);
    show("in L1; on the device", halve<false, true>);
    show("past L1; on the device", halve<true, true>);
    return 0;
}
