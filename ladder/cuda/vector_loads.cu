// Rung vector-loads: ask for more at once.
//
// Idea: memory is far away but wide. A thread that loads 16 bytes at a time, four times before it adds anything, keeps
// sixteen times as many bytes on their way as one that loads a float and adds it.
//
// Phases: walk with four 16-byte loads in flight into four sums (sum_vectors, in vector_loads.cuh); then as shuffle.
//
// What it fixes: the wait for memory, which is what is left of the time. From here on the limit is the memory itself.
//
// When it loses: arrays that do not begin at a multiple of 16 bytes need a prologue, which the ladder leaves out and
// the library has.
//
// Elsewhere: none of the tutorials goes here; CUB does.
#include "rung.cuh"
#include "vector_loads.cuh"

template <typename T, finish F> __device__ void vector_loads(const T *input, uint64_t n, outlet<T> out) {
    deliver<F>(block_sum(sum_vectors(input, n)), out);
}

RUNG(vector_loads)
