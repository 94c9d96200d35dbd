// Specimen last-warp-implicit: the last warp without synchronisation.
//
// The mistake: until 2017 the threads of a warp ran in step, and the tutorials use that: `if (tid < 32)` six additions
// follow each other with nothing in between. Since Volta each thread has its own program counter; the compiler may
// always move loads before stores to other addresses. Nothing promises that lane 16 has written before lane 0 reads.
//
// With `volatile` (Harris, B's v4) the compiler keeps the order of each thread's accesses, which is only half of what
// is needed. Without (A #5, C 5.0, D) not even that; D and C report wrong sums.
//
// The repair: the rung last-warp.
#include "../rung.cuh"

// For powers of two from 64, as in the tutorials.
template <typename T, typename SHARED> __device__ void implicit(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;
    uint64_t i = uint64_t(blockIdx.x) * (2 * blockDim.x) + tid;

    shared[tid] = load(input, i, n) + load(input, i + blockDim.x, n);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (tid < s)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        SHARED *last = shared;
        last[tid] += last[tid + 32];
        last[tid] += last[tid + 16];
        last[tid] += last[tid + 8];
        last[tid] += last[tid + 4];
        last[tid] += last[tid + 2];
        last[tid] += last[tid + 1];
    }
    deliver<STORE>(shared[0], out);
}

#define SPECIMEN(TYPE)                                                                                                 \
    RUNG_KERNEL(last_warp_implicit_##TYPE##_store, (implicit<TYPE, TYPE>), TYPE)                                       \
    RUNG_KERNEL(last_warp_volatile_##TYPE##_store, (implicit<TYPE, volatile TYPE>), TYPE)
SPECIMEN(i32)
SPECIMEN(f32)
SPECIMEN(f64)
