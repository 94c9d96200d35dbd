/* From the last block to the host or the result. */
#pragma once

#include "block.cuh"
#include "finish.cuh"

namespace {

/* Leaves a partial result, in shared memory, for the host. By the whole block. */
__device__ __forceinline__ void hand_over(const rd_cuda_call &call, const rd_cuda_partial &partial) {
    __syncthreads();
    const u64 *from = reinterpret_cast<const u64 *>(&partial);
    u64 *to = reinterpret_cast<u64 *>(call.partial);
    for (int i = threadIdx.x; i < (int)(sizeof(rd_cuda_partial) / sizeof(u64)); i += THREADS)
        to[i] = from[i];
}

/* The last block's end: the partial result to where it is wanted, or rounded. `first` is that of the sums' limbs. */
template <Source SOURCE, unsigned FINISHES>
__device__ void deliver(const rd_cuda_call &call, Block &block, FinishRoom &room, int first_of_terms,
                        int first_of_squares) {
    if (call.partial) {
        hand_over(call, block.partial);
        return;
    }
    __syncthreads();
    if (warp_index() == 0)
        finish<SOURCE, FINISHES>(call, block.partial, room, first_of_terms, first_of_squares);
}

} // namespace
