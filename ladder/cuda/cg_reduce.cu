// Rung cg-reduce: the toolkit's own words for a warp.
//
// Idea: cooperative groups are CUDA's library for threads that do something together. tiled_partition<32>() cuts a block
// into warps, each an object, and reduce() adds up what its threads bring. Which instructions it takes is decided by the
// type: one redux.sync for 32-bit integers, five shuffles for floats.
//
// Phases: walk and add, as in grid-stride; reduce() in each warp; a slot per warp; reduce() once more in the first warp.
//
// What it fixes: masks, lane numbers and distances, all of which one can get wrong, are gone from the source.
//
// When it loses: a tile of 32 threads must be whole, so blocks must be multiples of 32. That makes the machine code shorter
// than that of warp-reduce, but only at the end of a block, where it hardly shows.
//
// Elsewhere: NVIDIA's sample reductionMultiBlockCG; none of the tutorials.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "rung.cuh"

namespace cg = cooperative_groups;

template <typename T, finish F> __device__ void cg_reduce(const T *input, uint64_t n, outlet<T> out) {
    T sum = 0;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        sum += input[i];

    __shared__ T slots[32];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    sum = cg::reduce(warp, sum, cg::plus<T>());
    if (warp.thread_rank() == 0)
        slots[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        unsigned lane = warp.thread_rank();
        sum = cg::reduce(warp, lane < warp.meta_group_size() ? slots[lane] : T(0), cg::plus<T>());
    }
    deliver<F>(sum, out);
}

RUNG(cg_reduce)
