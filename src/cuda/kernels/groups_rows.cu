/* Long rows by groups, in the order of their groups (groups.h): each row's rank among those of its group, where groups begin, and what rows follow
 * each other. Atomic additions say in which order groups, and rows of one, come: any will do, as exact sums of integers commute. So nothing is
 * sorted, and each row is looked at twice. groups_gather (groups_sums.cuh) adds them up. */
#include "groups.cuh"
#include "meeting.cuh"

namespace {

constexpr int ORDER_THREADS = RD_CUDA_GROUPS_ORDER_THREADS, ORDER_WARPS = ORDER_THREADS / 32;
static_assert(ORDER_WARPS == 32, "a warp has a lane for each warp of a block");

/* Rows of a warp that are of one group are counted at once, for so many groups: where a group has many of all rows, that is likely one of
 * these. */
constexpr int TOGETHER = 2;

/* How many rows of a lane's group came before its own. By whole warps; of no group nothing is counted. */
__device__ __forceinline__ unsigned find_rank(uint32_t *count, unsigned group) {
    unsigned rank = NOWHERE, left = __ballot_sync(ALL, group != NOWHERE);
#pragma unroll
    for (int i = 0; i < TOGETHER; i++) {
        const int first = left ? __ffs((int)left) - 1 : 0;
        const unsigned of_first = __shfl_sync(ALL, group, first),
                       same = __ballot_sync(ALL, left != 0 && group == of_first && group != NOWHERE);
        unsigned before = 0;
        if (same && lane_index() == first)
            before = atomicAdd(count + of_first, (unsigned)__popc(same));
        before = __shfl_sync(ALL, before, first);
        if (same >> lane_index() & 1)
            rank = before + (unsigned)__popc(same & ((1u << lane_index()) - 1));
        left &= ~same;
    }
    if (left >> lane_index() & 1)
        rank = atomicAdd(count + group, 1u);
    return rank;
}

/* What comes before a thread's own, of all threads of its block; `all`: what these have. */
__device__ __forceinline__ unsigned sum_before(unsigned own, unsigned (&of_warp)[ORDER_WARPS], unsigned &all) {
    unsigned up_to = own;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const unsigned other = __shfl_up_sync(ALL, up_to, by);
        up_to += lane_index() >= by ? other : 0;
    }
    __syncthreads(); /* the room has been read before */
    if (lane_index() == 31)
        of_warp[warp_index()] = up_to;
    __syncthreads();
    const unsigned sum = of_warp[lane_index()];
    unsigned up_to_warp = sum;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const unsigned other = __shfl_up_sync(ALL, up_to_warp, by);
        up_to_warp += lane_index() >= by ? other : 0;
    }
    all = __shfl_sync(ALL, up_to_warp, 31);
    return __shfl_sync(ALL, up_to_warp - sum, warp_index()) + up_to - own;
}

/* Numbers from a block's threads on, for as many turns as all blocks need, up to a multiple of a block. */
template <class Take> __device__ __forceinline__ void for_turns(u64 count, Take take) {
    for (u64 first = (u64)blockIdx.x * ORDER_THREADS; first < count; first += (u64)gridDim.x * ORDER_THREADS)
        take(first + threadIdx.x);
}

} // namespace

/* The first launch over rows: an index outside is refused here. */
extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_ORDER_THREADS)
    groups_rank(const __grid_constant__ rd_cuda_groups groups) {
    wait_for_previous();
    let_next_come();
    for_turns(groups.rows, [&](u64 row) {
        const unsigned group = row < groups.rows ? group_of(groups, row) : NOWHERE;
        const unsigned rank = find_rank(groups.gathered.begin, group);
        if (row >= groups.rows)
            return;
        if (group == NOWHERE)
            refuse(groups, row);
        groups.gathered.rank[row] = rank;
    });
}

/* Groups take their places as blocks come. */
extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_ORDER_THREADS)
    groups_place(const __grid_constant__ rd_cuda_groups groups) {
    __shared__ unsigned of_warp[ORDER_WARPS];
    __shared__ u64 place;
    const u64 count = groups.results / groups.width;
    wait_for_previous();
    let_next_come();
    for_turns(count, [&](u64 group) {
        unsigned all;
        const unsigned before = sum_before(group < count ? groups.gathered.begin[group] : 0, of_warp, all);
        if (threadIdx.x == 0)
            place = atomicAdd(reinterpret_cast<u64 *>(groups.gathered.placed), (u64)all);
        __syncthreads();
        if (group < count)
            groups.gathered.begin[group] = (unsigned)place + before;
    });
}

extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_ORDER_THREADS)
    groups_order(const __grid_constant__ rd_cuda_groups groups) {
    wait_for_previous();
    let_next_come();
    for_turns(groups.rows, [&](u64 row) {
        const unsigned rank = row < groups.rows ? groups.gathered.rank[row] : NOWHERE;
        if (rank != NOWHERE)
            groups.gathered.number[groups.gathered.begin[group_of(groups, row)] + rank] = (unsigned)row;
    });
}
