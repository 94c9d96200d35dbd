// Rung producer-warp: one warp orders the copies, the others add.
//
// Idea: in bulk-copy thread 0 adds like everybody else, and orders the next copy only when the slowest warp has read the
// stage; until then its own warp waits. Give the job to a warp that has nothing else to do. It runs ahead through the
// ring as far as there are free stages; the others never wait for anything but data. This division of labour is called
// producer and consumer, or warp specialisation.
//
//   warp 0        order order order order order order  wait order  wait order ...
//   warps 1 to 7  wait  add         add         add          add ...
//
// Phases:
//   1. thread 0 sets up two barriers per stage, "arrived" and "read"
//   2. warp 0: for each tile, wait until the stage has been read, order the copy. All other warps: wait until the tile has
//      arrived, add it, say that it is read
//   3. what fills no tile is read directly; then as shuffle
//
// What it fixes: whoever adds does not wait for whoever adds; copies are ordered as early as possible.
//
// When it loses: a warp of eight adds nothing; blocks must have two warps at least. Otherwise as bulk-copy.
//
// Elsewhere: none of the tutorials. Matrix multiplications of today (CUTLASS calls them warp-specialised) are built so.
#include "ring.cuh"

template <typename T, finish F> __device__ void producer_warp(const T *input, uint64_t n, outlet<T> out) {
#if __CUDA_ARCH__ >= 900
    __shared__ uint64_t arrived[STAGES], read[STAGES];
    constexpr unsigned PRODUCERS = 32; // threads of the warp that orders
    ring<T> ring(arrived, read, (blockDim.x + 31) / 32 - 1);
    uint64_t tiles = n / ring.PER_TILE;

    unsigned stage = 0, parity = 0;
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (threadIdx.x == 0) {
            mbarrier_wait(&read[stage], parity ^ 1); // in the first round all stages are free: this does not wait
            ring.order(input, tile, stage);
        } else if (threadIdx.x >= PRODUCERS) {
            ring.add(stage, parity, threadIdx.x - PRODUCERS, blockDim.x - PRODUCERS);
        }
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    deliver<F>(block_sum(ring.finish(input, n)), out);
#endif
}

RUNG(producer_warp)
