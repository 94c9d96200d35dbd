// Sums of a warp and of a block without a tree in shared memory: what the rung `shuffle` teaches, and what every later
// rung and the last-block finish use.
//
// A warp is 32 threads that can read each other's registers: __shfl_down_sync(mask, x, d) gives each lane the x of the
// lane d above it. Every lane named in the mask must take part, and a lane may only be read if it does. The last warp
// of a block of 1000 threads has 8 lanes: a mask of all 32 would name lanes that do not exist, and the sum would take
// in whatever a read of such a lane gives.
#pragma once

// Lanes of this thread's warp: 32, but for the last warp of a block that is no multiple of 32.
__device__ inline unsigned warp_lanes() {
    unsigned first = threadIdx.x & ~31u;
    return min(32u, blockDim.x - first);
}

__device__ inline unsigned lane_mask(unsigned lanes) {
    return lanes == 32 ? ~0u : (1u << lanes) - 1;
}

// The sum over the lanes of a warp, held by lane 0: five steps, no shared memory, no barrier.
//
//   lane      0   1   2   3 ...  16  17 ...
//   d = 16    0+16 1+17 ...                     the upper half is added to the lower
//   d = 8     0+16+8+24 ...                     and so on down to d = 1
template <typename T> __device__ T warp_sum(T sum, unsigned lanes) {
    unsigned lane = threadIdx.x % 32, mask = lane_mask(lanes);
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) {
        T above = __shfl_down_sync(mask, sum, d);
        if (lane + d < lanes)
            sum += above;
    }
    return sum;
}

// The sum over a block, held by thread 0: each warp leaves its sum in a slot, and the first warp, which is always
// whole, adds up the slots. One barrier, where a tree in shared memory needs ten.
template <typename T> __device__ T block_sum(T sum) {
    __shared__ T slots[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    sum = warp_sum(sum, warp_lanes());
    if (lane == 0)
        slots[warp] = sum;
    __syncthreads();
    if (warp == 0)
        sum = warp_sum(lane < warps ? slots[lane] : T(0), 32);
    return sum;
}
