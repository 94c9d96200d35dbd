// Rung grid-stride: a fixed grid, many elements per thread.
//
// Idea: launch as many blocks as the device holds at once and no more; every thread walks over the array in steps of
// the whole grid, adding in a register. The tree comes once per thread of the grid, not once per element.
//
//   element   0 1 2 3 | 4 5 6 7 | 8 9 ...       a grid of four threads:
//   thread    0 1 2 3 | 0 1 2 3 | 0 1 ...       lanes stay next to each other in memory
//
// Phases: walk and add; tree with the last warp; deliver.
//
// What it fixes: nearly all of the cost of trees, barriers and block launches; the number of partial sums no longer
// grows with n.
//
// When it loses: each thread has one load under way at a time unless the compiler unrolls; small n leaves most of the
// grid idle.
//
// Elsewhere: Harris's kernel 7 (A #7). His keeps the straight line of kernel 6; this one keeps the loop, and so takes
// any block size. In shader languages, where a group cannot ask for the size of the grid, the count of groups is a
// constant or a push constant.
#include "last_warp.cuh"
#include "rung.cuh"

template <typename T, finish F> __device__ void grid_stride(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();

    T sum = 0;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        sum += input[i];

    shared[threadIdx.x] = sum;
    deliver<F>(tree_sum(shared), out);
}

RUNG(grid_stride)
