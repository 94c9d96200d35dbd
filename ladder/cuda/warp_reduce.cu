// Rung warp-reduce: let the hardware add up a warp.
//
// Idea: since Ampere (2020) one instruction, redux.sync, sums a 32-bit integer over a warp and gives every lane the
// result: __reduce_add_sync(). One instruction replaces five shuffles and five additions.
//
// Phases: as in shuffle, with phase 2 and the second half of phase 3 in hardware.
//
// What it fixes: a few instructions per block.
//
// When it loses: there is none for the sum of floats, whose order of additions would have to be fixed, nor for 64-bit
// numbers, nor before Ampere: there this is the rung shuffle under another name. Shader languages have one call for all
// types (WaveActiveSum, subgroupAdd) and leave the rest to the driver.
//
// Elsewhere: D WaveActiveSum.
#include "rung.cuh"

template <typename T> __device__ T hardware_warp_sum(T sum, unsigned lanes) {
    return warp_sum(sum, lanes);
}

#if __CUDA_ARCH__ >= 800
template <> __device__ i32 hardware_warp_sum(i32 sum, unsigned lanes) {
    return __reduce_add_sync(lane_mask(lanes), sum);
}
#endif

template <typename T, finish F> __device__ void warp_reduce(const T *input, uint64_t n, outlet<T> out) {
    T sum = 0;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        sum += input[i];

    __shared__ T slots[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    sum = hardware_warp_sum(sum, warp_lanes());
    if (lane == 0)
        slots[warp] = sum;
    __syncthreads();
    if (warp == 0)
        sum = hardware_warp_sum(lane < warps ? slots[lane] : T(0), 32);
    deliver<F>(sum, out);
}

RUNG(warp_reduce)
