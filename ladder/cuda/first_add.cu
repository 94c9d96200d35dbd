// Rung first-add: the first addition happens while loading.
//
// Idea: a block takes on twice as many elements as it has threads; each thread loads two and adds them in a register.
// Half as many blocks do the work.
//
// Phases: load two and add; halving as before; deliver.
//
// What it fixes: threads that only load. The first step of the tree costs no barrier and no shared memory any more.
//
// When it loses: the tree still has as many steps as before, each with a barrier, and most threads idle in most steps.
//
// Elsewhere: Harris's kernel 4 (A #4, B v3, C 4.0, D opt 01).
#include "halving.cuh"
#include "rung.cuh"

template <typename T, finish F> __device__ void first_add(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;
    uint64_t i = uint64_t(blockIdx.x) * (2 * blockDim.x) + tid;

    shared[tid] = load(input, i, n) + load(input, i + blockDim.x, n);
    __syncthreads();

    halve(shared, blockDim.x, 1);
    deliver<F>(shared[0], out);
}

RUNG(first_add)
