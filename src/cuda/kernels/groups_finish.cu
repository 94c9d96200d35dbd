/* The beginning and the end of passes over groups, for all types of elements.
 *
 * groups_begin clears what must be zero, while a block of each scan of floats guesses where its window lies.
 *
 * groups_finish rounds. Where something was put aside, which the headers say, it is added before, by all blocks of the launch. These must wait for
 * each other then, but no block waits for one that has not begun: a step's shares are claimed, by whichever blocks are there, and a block
 * that finds none left waits for those that claimed them, which run and wait for nobody. So it ends however many blocks a device holds
 * at once, and whatever else runs on it. */
#include "groups_ends.cuh"
#include "meeting.cuh"

namespace {

/* Threads of a block that rounds: few, as each warp has room for sums of any size. */
constexpr int ROUNDING_THREADS = RD_CUDA_GROUPS_ROUNDING, ROUNDING_WARPS = ROUNDING_THREADS / 32;

/* Blocks that a multiprocessor shall hold, for the compiler to take the registers that rounding needs. */
constexpr int ROUNDING_RESIDENT = 6;

/* Calls take(share, shares) for shares of a step as long as there are any, and waits until all have been done. By the whole block. */
template <class Take>
__device__ __forceinline__ void share_out(rd_cuda_groups_header &header, unsigned step, u64 &claimed, Take take) {
    for (;;) {
        __syncthreads(); /* all have read the claim before */
        if (threadIdx.x == 0)
            claimed = atomicAdd(reinterpret_cast<u64 *>(&header.claimed[step]), 1ull);
        __syncthreads();
        const unsigned share = (unsigned)claimed;
        if (share >= gridDim.x)
            break;
        take(share, gridDim.x);
        __syncthreads();
        if (threadIdx.x == 0)
            take_ticket(&header.done[step], 1);
    }
    if (threadIdx.x == 0)
        while (take_ticket(&header.done[step], 0) < gridDim.x)
            ;
    __syncthreads();
}

/* Fills the rest of the planes for the results in question. By all blocks of a launch. */
__device__ __noinline__ void fill_rest(const rd_cuda_groups_all &all) {
    __shared__ u64 claimed;
    rd_cuda_groups_header &header = *all.of[0][0].grid[0].header;
    share_out(header, RD_CUDA_GROUPS_CLEAR, claimed,
              [&](unsigned share, unsigned shares) { clear_share(all, share, shares); });
    share_out(header, RD_CUDA_GROUPS_FILL, claimed,
              [&](unsigned share, unsigned shares) { fill_share(all, share, shares); });
    if (threadIdx.x == 0 && take_ticket(&header.left, 1) == gridDim.x) { /* nobody looks at these any more */
        for (int step = 0; step < RD_CUDA_GROUPS_REST_STEPS; step++)
            header.claimed[step] = header.done[step] = 0;
        header.left = 0;
    }
}

template <Finished FINISHED> __device__ __forceinline__ void finish(const rd_cuda_groups_all &all) {
    __shared__ FinishRoom rooms[ROUNDING_WARPS];
    const rd_cuda_groups &groups = all.of[0][0];
    wait_for_previous();
    let_next_come();
    if (is_refused(groups))
        return;
    if (has_aside(all))
        fill_rest(all);
    finish_results<FINISHED, ROUNDING_WARPS, ROUNDING_WARPS>(groups, rooms);
}

} // namespace

/* The first blocks have a scan each. */
extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)
    groups_begin(const __grid_constant__ rd_cuda_groups_all all) {
    constexpr unsigned HEADER = RD_CUDA_GROUPS_HEADER_BYTES / sizeof(uint4);
    const rd_cuda_groups &first = all.of[0][0];
    wait_for_previous();
    let_next_come();
    if (blockIdx.x >= all.scans) {
        clear_zeros(first, all.scans * HEADER, first.zero_vectors, blockIdx.x - all.scans, gridDim.x - all.scans);
        return;
    }
    const rd_cuda_groups &groups = all.of[blockIdx.x][first.call.count == 0 && all.with_initial];
    clear_zeros(first, blockIdx.x * HEADER, (blockIdx.x + 1) * HEADER, 0, 1);
    __syncthreads();
    if (groups.grid[0].rest)
        guess(groups);
}

extern "C" __global__ void __launch_bounds__(ROUNDING_THREADS, ROUNDING_RESIDENT)
    groups_finish(const __grid_constant__ rd_cuda_groups_all all) {
    finish<SUMS>(all);
}

extern "C" __global__ void __launch_bounds__(ROUNDING_THREADS, ROUNDING_RESIDENT)
    groups_finish_weighted(const __grid_constant__ rd_cuda_groups_all all) {
    finish<WEIGHTED_MEANS>(all);
}

/* The rest of the planes alone, where these are fetched. */
extern "C" __global__ void __launch_bounds__(ROUNDING_THREADS)
    groups_rest(const __grid_constant__ rd_cuda_groups_all all) {
    if (has_aside(all))
        fill_rest(all);
}
