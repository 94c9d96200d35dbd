// Rung last-warp: the last 64 values need no barrier of the block.
//
// Idea: once 64 values are left, one warp does all that remains; the other warps are done and need not be waited for.
//
// Phases: load two and add; halve with barriers down to 64 values (tree_sum); six steps by the first warp, which
// synchronises with itself alone (last_warp_sum, in last_warp.cuh).
//
// What it fixes: six barriers of the whole block become steps of one warp.
//
// When it loses: a warp's synchronisation still costs a few cycles, and shared memory is still in the way: see shuffle.
//
// Elsewhere: Harris's kernel 5 (A #5, B v4, C 5.0, D warp unroll), which leaves the synchronisation out because warps
// ran in step in 2007. They have not since Volta (2017): that version is the specimen last-warp-implicit.
#include "last_warp.cuh"
#include "rung.cuh"

template <typename T, finish F> __device__ void last_warp(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;
    uint64_t i = uint64_t(blockIdx.x) * (2 * blockDim.x) + tid;

    shared[tid] = load(input, i, n) + load(input, i + blockDim.x, n);
    deliver<F>(tree_sum(shared), out);
}

RUNG(last_warp)
