/* Long rows by groups, in the order of their groups (groups.h): each row's rank among those of its group, where groups begin, and what rows follow
 * each other. Atomic additions say in which order groups, and rows of one, come: any will do, as exact sums of integers commute. So nothing is
 * sorted, and each row is looked at twice. groups_gather (groups_sums.cuh) adds them up. */
#include "groups.cuh"
#include "meeting.cuh"

namespace {

constexpr int ORDER_THREADS = RD_CUDA_GROUPS_ORDER_THREADS, ORDER_WARPS = ORDER_THREADS / 32;
static_assert(ORDER_WARPS == 32, "a warp has a lane for each warp of a block");

/* Rows that a block ranks at a time, of each thread, and slots for their groups: those without one go to memory one by one. */
constexpr int RANKED = 4, SLOTS = 4096;
static_assert((SLOTS & (SLOTS - 1)) == 0, "a hash takes its lowest bits");

/* Groups as they come, and how many rows they have: of each the first of all these rows to be counted in memory. */
struct RankTable {
    unsigned owner[SLOTS], count[SLOTS];

    __device__ __forceinline__ void clear() {
        for (int slot = threadIdx.x; slot < SLOTS; slot += ORDER_THREADS) {
            owner[slot] = NOWHERE;
            count[slot] = 0;
        }
        __syncthreads();
    }
    /* Counts a row. Returns how many of its group came before, here or, if no slot is left, anywhere. */
    __device__ __forceinline__ unsigned enter(uint32_t *counts, unsigned group, unsigned &slot) {
        slot = group * 2654435769u >> 20 & (SLOTS - 1);
        unsigned own = *const_cast<volatile unsigned *>(owner + slot);
        if (own == NOWHERE) {
            own = atomicCAS(owner + slot, NOWHERE, group);
            own = own == NOWHERE ? group : own;
        }
        if (own == group)
            return atomicAdd(count + slot, 1u);
        slot = NOWHERE;
        return atomicAdd(counts + group, 1u);
    }
    /* Then: counts become what came before in memory. */
    __device__ __forceinline__ void leave(uint32_t *counts) {
        __syncthreads();
        for (int slot = threadIdx.x; slot < SLOTS; slot += ORDER_THREADS)
            if (owner[slot] != NOWHERE)
                count[slot] = atomicAdd(counts + owner[slot], count[slot]);
        __syncthreads();
    }
};

/* Whether a mask lets any element of a row count. */
__device__ __noinline__ bool any_counts(const rd_cuda_groups &groups, u64 row) {
    bool any = !groups.mask;
    for (u64 i = 0; i < groups.width && !any; i++)
        any = is_counted(groups, row * groups.width + i);
    return any;
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
    __shared__ RankTable table;
    constexpr u64 ROWS = ORDER_THREADS * RANKED;
    wait_for_previous();
    let_next_come();
    for (u64 first = blockIdx.x * ROWS; first < groups.rows; first += gridDim.x * ROWS) {
        unsigned rank[RANKED], slot[RANKED];
        table.clear();
#pragma unroll
        for (int i = 0; i < RANKED; i++) {
            const u64 row = first + i * ORDER_THREADS + threadIdx.x;
            const unsigned group = row < groups.rows ? group_of(groups, row) : NOWHERE;
            rank[i] = slot[i] = NOWHERE;
            if (group != NOWHERE)
                rank[i] = table.enter(groups.gathered.begin, group, slot[i]);
            else if (row < groups.rows && any_counts(groups, row))
                refuse(groups, row);
        }
        table.leave(groups.gathered.begin);
#pragma unroll
        for (int i = 0; i < RANKED; i++) {
            const u64 row = first + i * ORDER_THREADS + threadIdx.x;
            if (row < groups.rows)
                groups.gathered.rank[row] = slot[i] == NOWHERE ? rank[i] : rank[i] + table.count[slot[i]];
        }
        __syncthreads(); /* all have read the table */
    }
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
