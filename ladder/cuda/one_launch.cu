// Rung one-launch: the last block finishes the job.
//
// Idea: a second launch costs a few microseconds, in which the memory of a large GPU delivers megabytes. Let each block
// store its sum and draw a ticket from a counter; the block that draws the last one knows that all sums are there, and
// adds them up.
//
// Phases:
//   1. as vector-loads, down to one sum per block
//   2. thread 0 stores the sum, makes it visible to the whole device (__threadfence) and takes a ticket (atomicInc)
//   3. blocks that are not last are done
//   4. the last block adds up the sums in a fixed order: the result has the same bits on every run, which a finish by
//      atomicAdd cannot promise for floats
// Steps 2 to 4 are is_last_block() and deliver() in rung.cuh: every other rung can have them too (finish last-block).
// What distinguishes this rung is that the grid fits on the device at once, so that there are few sums to add up.
//
// What it fixes: the second launch; the clearing before an atomic finish.
//
// When it loses: the last block works alone, while the rest of the device idles.
//
// Elsewhere: NVIDIA's sample threadFenceReduction.
#include "rung.cuh"
#include "vector_loads.cuh"

template <typename T, finish F> __device__ void one_launch(const T *input, uint64_t n, outlet<T> out) {
    deliver<F>(block_sum(sum_vectors(input, n)), out);
}

RUNG(one_launch)
