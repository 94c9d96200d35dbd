/* What a block shares: its partial result, in shared memory, and how a kernel begins. */
#pragma once

#include "tiles.cuh"

namespace {

/* A block's own partial result, in shared memory. NaN indices are kept as in the workspace: complemented, 0 for none. */
struct Block {
    rd_cuda_partial partial;
    u64 nan_below;
    unsigned used;     /* limbs or counts may not be zero */
    unsigned begun;    /* the launch before has ended; set only for fetch_late() */
    unsigned any_used; /* in the last block of the grid: some block's may not be zero */
    bool last;         /* of the grid */
};

/* Sets a flag. Any thread may, at any time, beside others that do: hence atomically. */
template <class F> __device__ __forceinline__ void raise_flag(F &flag) {
    atomicOr(&flag, 1);
}

__device__ void count(uint64_t &counter, u64 amount) {
    atomicAdd(reinterpret_cast<u64 *>(&counter), amount);
}

/* Notes a NaN at an index. */
__device__ void note_nan(Block &block, u64 index) {
    atomicMax(&block.nan_below, ~index);
    raise_flag(block.used);
}

/* Calls put(i) for i < N, shared out over the block: once for each thread, or a few times, hence unrolled. */
template <int N, class Put> __device__ __forceinline__ void for_words(Put put) {
#pragma unroll
    for (int first = 0; first < N; first += THREADS)
        if (first + (int)threadIdx.x < N)
            put(first + (int)threadIdx.x);
}

/* By the whole block. */
__device__ __forceinline__ void open_block(Block &block) {
    static_assert(sizeof(Block) % sizeof(u64) == 0, "a block is words");
    constexpr int NAN_INDEX = offsetof(Block, partial.nan_index) / sizeof(u64);
    for_words<sizeof(Block) / sizeof(u64)>(
        [&](int i) { reinterpret_cast<u64 *>(&block)[i] = i == NAN_INDEX ? UINT64_MAX : 0; });
    __syncthreads();
}

/* Arrays whose first tiles are fetched early, in vectors. */
constexpr u64 FETCH_MOST = RD_CUDA_FETCH_MOST / 16, FETCH_LATE_MOST = RD_CUDA_FETCH_LATE_MOST / 16;

/* Waits a while, then fetches; by the last warp. It fetches nothing if the other warps, which wait for the launch before, have
 * gone on by then: then there was none to wait for, and they load the tile themselves. */
template <bool PAIRS, int V, class T>
__device__ __forceinline__ void fetch_late(const rd_cuda_call &call, const Span<T> &span, Block &block) {
#if __CUDA_ARCH__ >= 900
    if (lane_index() == 0) {
        const i64 start = clock64();
        bool begun = false;
        while (!begun && clock64() - start < RD_CUDA_FETCH_DELAY)
            begun = atomicOr(&block.begun, 0);
        if (!begun)
            fetch_first_tile<PAIRS, V>(call, span);
    }
    __syncwarp(); /* otherwise lane 0 could stay apart, and its loads would not be one with those of the others */
#endif
}

/* The beginning of a kernel that reads one array, or two, by tiles. From its end on blocks of the next launch may come. */
template <bool PAIRS, int V, class T>
__device__ __forceinline__ void begin(const rd_cuda_call &call, const Span<T> &span, Block &block) {
    const bool late = span.vectors > FETCH_MOST && span.vectors <= FETCH_LATE_MOST / (PAIRS ? 2 : 1);
    if (threadIdx.x == 0 && span.vectors <= FETCH_MOST)
        fetch_first_tile<PAIRS, V>(call, span);
    open_block(block);
    if (late && warp_index() == WARPS - 1)
        fetch_late<PAIRS, V>(call, span, block);
    wait_for_previous();
    if (late && threadIdx.x == 0)
        raise_flag(block.begun);
    let_next_come();
}

} // namespace
