// Rung shuffle: from register to register.
//
// Idea: the lanes of a warp can read each other's registers (Kepler, 2012). A warp reduces itself in five steps without
// shared memory; a block of 1024 threads needs 32 shared slots and one barrier instead of 1024 slots and ten barriers.
//
// Phases:
//   1. walk and add, as in grid-stride
//   2. each warp reduces itself with __shfl_down_sync (warp_sum, in shuffle.cuh)
//   3. lane 0 of each warp leaves the warp's sum in a slot; barrier; the first warp reduces the slots (block_sum)
//   4. deliver
//
// What it fixes: shared memory as a bottleneck, and the space that it takes from other blocks.
//
// When it loses: where subgroups are as small as 4 or 8, as on some other devices, two levels are not enough.
//
// Elsewhere: B shuffle, D shuffle, E warp.
#include "rung.cuh"

template <typename T, finish F> __device__ void shuffle(const T *input, uint64_t n, outlet<T> out) {
    T sum = 0;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        sum += input[i];

    deliver<F>(block_sum(sum), out);
}

RUNG(shuffle)
