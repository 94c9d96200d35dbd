// Rung group-runs: neighbours of the same key are added up before they queue.
//
// Idea: where keys are sorted, or come in runs, a warp that reads 32 neighbours mostly finds one key. As long as it is the same, each
// lane adds to a register, and nobody queues for anything. Where the key changes, the lanes of each run add up by shuffles, and the
// first lane of a run makes one atomic addition for all of it.
//
//   keys    4 4 4 4 4 4 4 4   4 4 4 5 5 5 5 7      first 8 lanes: registers; then three runs: 4, 5, 7, an addition each
//
// Phases: each warp takes one stretch of the array; registers, while all lanes have the key of the lane before; otherwise what the
// registers hold goes to the result, and then a sum per run: in every round a lane adds what the lane d further on has, if that
// one is of the same run.
//
// What it fixes: sorted keys into any number of groups cost one atomic addition per run and warp.
//
// When it loses: keys in no order make runs of one element, for which shuffles are wasted. Sorting them first, as libraries do,
// reads and writes keys and values several times.
#include "groups.cuh"
#include "../rows/rows.cuh"

// The key of lanes beyond the end, which no group has.
constexpr unsigned NONE = ~0u;

// What a lane has to give to a group.
template <typename T> __device__ void give(unsigned key, T sum, T *result) {
    if (key != NONE)
        atomicAdd(&result[key], sum);
}

// A sum per run of equal keys, given by the run's first lane. All lanes of the warp must come.
template <typename T> __device__ void give_runs(unsigned key, T sum, T *result) {
    unsigned lane = lane_of_warp(), before = __shfl_up_sync(~0u, key, 1);
    bool first = lane == 0 || before != key;
    unsigned later = __ballot_sync(~0u, first) >> lane >> 1; // first lanes behind this one
    unsigned left = later ? __ffs(later) - 1 : 31 - lane;    // lanes of this run behind this one
    for (unsigned d = 1; d < 32; d *= 2) {
        T other = __shfl_down_sync(~0u, sum, d);
        if (d <= left)
            sum += other;
    }
    if (first)
        give(key, sum, result);
}

template <typename T>
__device__ void group_runs(const unsigned *keys, const T *values, uint64_t n, uint64_t groups, T *result) {
    uint64_t warp = global_thread() / 32, warps = grid_threads() / 32, stretch = (n / warps / 32 + 1) * 32;
    unsigned current = NONE;
    T sum = 0; // of this lane, for `current`
    for (uint64_t first = warp * stretch; first < (warp + 1) * stretch && first < n; first += 32) {
        uint64_t i = first + lane_of_warp();
        unsigned key = i < n ? keys[i] : NONE;
        T value = load(values, i, n);
        if (__all_sync(~0u, key == current)) {
            sum += value;
            continue;
        }
        sum = group_sum<32>(sum);
        if (lane_of_warp() == 0)
            give(current, sum, result);
        give_runs(key, value, result);
        current = __shfl_sync(~0u, key, 31);
        sum = 0;
    }
    sum = group_sum<32>(sum);
    if (lane_of_warp() == 0)
        give(current, sum, result);
}

GROUPS(group_runs)
