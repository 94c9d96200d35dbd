// Rung cooperative: a barrier for the whole grid.
//
// Idea: a cooperative launch promises that all of its blocks are on the device at the same time. Then blocks may wait for
// each other, and grid.sync() is to the grid what __syncthreads() is to a block: after it, every block sees what all
// blocks wrote before it.
//
// Phases:
//   1. as vector-loads, down to one sum per block, which thread 0 stores
//   2. grid.sync(): everybody waits for everybody
//   3. block 0 adds up the sums
//
// What it fixes: there is no ticket to draw and no fence to forget. Where more than one block has something to do after
// the barrier (an iteration of a solver, say) it saves a launch for each.
//
// When it loses: here only one block works after the barrier, and yet all of them wait at it; in one-launch they leave. The
// grid must fit on the device at once: a launch of more blocks is refused.
//
// Elsewhere: NVIDIA's sample reductionMultiBlockCG.
#include <cooperative_groups.h>

#include "rung.cuh"
#include "vector_loads.cuh"

template <typename T> __device__ void cooperative(const T *input, uint64_t n, outlet<T> out) {
    T sum = block_sum(sum_vectors(input, n));
    if (threadIdx.x == 0)
        out.partials[blockIdx.x] = sum;

    cooperative_groups::this_grid().sync();
    if (blockIdx.x > 0)
        return;
    T total = sum_by_block(out.partials, gridDim.x);
    if (threadIdx.x == 0)
        *out.result = total;
}

// It is its own finish: the one that takes the place of last-block.
RUNG_KERNEL(cooperative_i32_last, cooperative<i32>, i32)
RUNG_KERNEL(cooperative_f32_last, cooperative<f32>, f32)
RUNG_KERNEL(cooperative_f64_last, cooperative<f64>, f64)
