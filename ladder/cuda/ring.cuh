// A ring of stages in shared memory that the copy engine fills: what the rungs `bulk-copy` and `producer-warp` share.
// They differ in who orders the copies.
#pragma once

#include "bulk.cuh"
#include "rung.cuh"

// Also known to the host, which asks for the shared memory: cuda_rungs.c.
constexpr unsigned STAGES = 6, STAGE_BYTES = 16 << 10;

#if __CUDA_ARCH__ >= 900
template <typename T> struct ring {
    static constexpr unsigned PER_TILE = STAGE_BYTES / sizeof(T), PER_VECTOR = 16 / sizeof(T);
    T *stages;
    uint64_t *arrived, *read; // a barrier of each kind per stage: the tile is there; all who add have read it
    T sum[PER_VECTOR];        // of this thread

    // By all threads of the block; `readers` warps say that they have read.
    __device__ ring(uint64_t *arrived, uint64_t *read, unsigned readers)
        : stages(shared_memory<T>()), arrived(arrived), read(read), sum{} {
        if (threadIdx.x == 0) {
            for (unsigned stage = 0; stage < STAGES; stage++) {
                mbarrier_init(&arrived[stage], 1);
                mbarrier_init(&read[stage], readers);
            }
            mbarrier_init_fence();
        }
        __syncthreads();
    }

    // By one thread: tile number `tile` of the input into a stage.
    __device__ void order(const T *input, uint64_t tile, unsigned stage) {
        bulk_copy_begin(stages + stage * PER_TILE, input + tile * PER_TILE, STAGE_BYTES, &arrived[stage]);
    }

    // By whole warps, `threads` threads in all, of which this one is number `thread`: waits for a tile, adds it, says that
    // it is read.
    __device__ void add(unsigned stage, unsigned parity, unsigned thread, unsigned threads) {
        mbarrier_wait(&arrived[stage], parity);
        const uint4 *vectors = reinterpret_cast<const uint4 *>(stages + stage * PER_TILE);
#pragma unroll 4
        for (unsigned i = thread; i < STAGE_BYTES / 16; i += threads) {
            T value[PER_VECTOR];
            uint4 bits = vectors[i];
            memcpy(value, &bits, sizeof bits);
#pragma unroll
            for (unsigned k = 0; k < PER_VECTOR; k++)
                sum[k] += value[k];
        }
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&read[stage]);
    }

    // By all threads of the block, at the end: the sum of this one, with its share of the elements that fill no tile.
    __device__ T finish(const T *input, uint64_t n) {
        for (uint64_t i = n / PER_TILE * PER_TILE + global_thread(); i < n; i += grid_threads())
            sum[0] += input[i];
        for (unsigned k = 1; k < PER_VECTOR; k++)
            sum[0] += sum[k];
        __syncthreads(); // nobody waits on the barriers any more
        if (threadIdx.x < STAGES) {
            mbarrier_invalidate(&arrived[threadIdx.x]);
            mbarrier_invalidate(&read[threadIdx.x]);
        }
        return sum[0];
    }
};
#endif
