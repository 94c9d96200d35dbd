// Specimen partial-warp: a full mask, and only some lanes there.
//
// The mistake: a block of 256 threads leaves eight sums of warps, so eight lanes add them up, with a shuffle whose mask
// says that all 32 take part (E's second stage). A lane that does not take part has no value to give: what is read is
// undefined, and the hardware may wait for the missing lanes as long as they live.
//
// The repair: let the whole warp take part, lanes without a sum contributing zero: block_sum() in shuffle.cuh.
#include "../rung.cuh"

template <typename T> __device__ void partial_warp(const T *input, uint64_t n, outlet<T> out) {
    __shared__ T slots[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;

    T sum = 0;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        sum += input[i];
    sum = warp_sum(sum, warp_lanes());
    if (lane == 0)
        slots[warp] = sum;
    __syncthreads();
    if (threadIdx.x < warps) {
        sum = slots[threadIdx.x];
        for (unsigned d = 16; d > 0; d /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0)
            out.partials[blockIdx.x] = sum;
    }
}

#define SPECIMEN(TYPE) RUNG_KERNEL(partial_warp_##TYPE##_store, partial_warp, TYPE)
SPECIMEN(i32)
SPECIMEN(f32)
SPECIMEN(f64)
