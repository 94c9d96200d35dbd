// Rung harris-seven: the kernel at which Harris's ladder ends, in the form that he gave it.
//
// Idea: everything so far at once. A template, so that the block's size is known when compiling; a fixed grid that walks
// over the array; two elements per thread and turn, a block apart; a straight line for the tree.
//
//   turn 1    block 0: [0 1 2 3][4 5 6 7]   block 1: [8 9 10 11][12 13 14 15]      thread 0 adds 0 and 4, 1 adds 1 and 5
//   turn 2    block 0: [16 ...              a turn of the grid is 2 x B x blocks elements
//
// Phases: walk and add two at a time; unrolled_sum() of unrolled.cuh; deliver.
//
// What it fixes: beside grid-stride, two loads are under way per turn, and no loop is left above 64 values.
//
// When it loses: two loads of 4 bytes are still few; and there is a kernel per block size.
//
// Two things are not as he wrote them in 2007, since they are wrong today: his loop reads a second element without
// asking whether it exists, which takes an n that is a multiple of 2 B, and his last warp has no synchronisation.
//
// Elsewhere: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007, kernel 7, "Final Optimized Kernel" (A #7).
#include "rung.cuh"
#include "unrolled.cuh"

template <typename T> __device__ T sum_pairs(const T *input, uint64_t n) {
    T sum = 0;
    uint64_t i = uint64_t(blockIdx.x) * (2 * blockDim.x) + threadIdx.x;
    for (; i < n; i += 2 * grid_threads())
        sum += input[i] + load(input, i + blockDim.x, n);
    return sum;
}

template <typename T, finish F, unsigned B> __device__ void harris_seven(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    shared[threadIdx.x] = sum_pairs(input, n);
    deliver<F>(unrolled_sum<B>(shared), out);
}

template <typename T, finish F> __device__ void harris_seven_any(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    shared[threadIdx.x] = sum_pairs(input, n);
    deliver<F>(tree_sum(shared), out);
}

UNROLLED_RUNG(harris_seven)
