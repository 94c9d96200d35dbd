// Rung bulk-copy: a copy engine fetches, threads only add.
//
// Idea: since Hopper (2022) one instruction of one thread copies kilobytes from global to shared memory while everybody
// does something else. A ring of stages keeps copies on their way; registers hold no loads in flight any more.
//
//   stage     0        1        2        3        4        5
//   tile      k        k+1      k+2      k+3      k+4      k+5        tiles of this block; while tile k is added, five
//             adding   arriving ...                                   are on their way; then tile k + 6 into stage 0
//
// Phases:
//   1. thread 0 sets up two barriers per stage, "arrived" and "read", and orders the first copies
//   2. for each tile: wait until it has arrived, add it, say that it is read; when all warps have said so, thread 0 orders
//      the next tile into the same stage. (__syncthreads() would not do: it does not wait for loads from shared memory
//      that are queued, and the copy engine may overtake them)
//   3. what fills no tile is read directly; then as shuffle
//
// What it fixes: what ordinary loads can have under way is limited by registers and by the queues of the load units.
//
// When it loses: small n, where setting up costs more than it brings; and everything before compute capability 9.0,
// where it does not exist.
//
// Elsewhere: none of the tutorials; the copy engine is younger than they are.
#include "ring.cuh"

template <typename T, finish F> __device__ void bulk_copy(const T *input, uint64_t n, outlet<T> out) {
#if __CUDA_ARCH__ >= 900
    __shared__ uint64_t arrived[STAGES], read[STAGES];
    ring<T> ring(arrived, read, (blockDim.x + 31) / 32);
    uint64_t tiles = n / ring.PER_TILE;
    auto order = [&](uint64_t tile, unsigned stage) {
        if (threadIdx.x == 0 && tile < tiles)
            ring.order(input, tile, stage);
    };
    for (unsigned stage = 0; stage < STAGES; stage++)
        order(blockIdx.x + uint64_t(stage) * gridDim.x, stage);

    unsigned stage = 0, parity = 0;
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        ring.add(stage, parity, threadIdx.x, blockDim.x);
        if (threadIdx.x == 0)
            mbarrier_wait(&read[stage], parity);
        order(tile + uint64_t(STAGES) * gridDim.x, stage);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    deliver<F>(block_sum(ring.finish(input, n)), out);
#endif
}

RUNG(bulk_copy)
