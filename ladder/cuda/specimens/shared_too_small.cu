// Specimen shared-too-small: shared memory sized for another block.
//
// The mistake: a kernel keeps two arrays in shared memory, sums and counts, and places the second where the first would
// end if a block had 128 threads. Launched with more, the arrays overlap: some of the counts are written over sums. The
// same happens where the size is computed with sizeof(float) and the kernel is then run for double.
//
// Both arrays lie within the memory that the launch asked for, so that this can be watched: sums vanish in silence.
// With less memory than the kernel touches, a GPU of today stops the program, which is the kinder outcome.
//
// The repair: the size from blockDim.x and sizeof(T), as shared-sized-right does below.
#include "../rung.cuh"

constexpr unsigned ASSUMED = 128;

// Sums the elements, and counts those that are there; the counts are of no further use here.
template <typename T> __device__ void sum_and_count(const T *input, uint64_t n, unsigned room, outlet<T> out) {
    T *sums = shared_memory<T>(), *counts = sums + room;
    unsigned tid = threadIdx.x;

    sums[tid] = load(input, global_thread(), n);
    __syncthreads();
    counts[tid] = global_thread() < n ? T(1) : T(0);
    __syncthreads();
    for (unsigned active = blockDim.x; active > 1;) {
        unsigned half = (active + 1) / 2;
        if (tid + half < active)
            sums[tid] += sums[tid + half];
        __syncthreads();
        if (tid + half < active)
            counts[tid] += counts[tid + half];
        __syncthreads();
        active = half;
    }
    deliver<STORE>(sums[0], out);
}

template <typename T> __device__ void shared_too_small(const T *input, uint64_t n, outlet<T> out) {
    sum_and_count(input, n, ASSUMED, out);
}

template <typename T> __device__ void shared_sized_right(const T *input, uint64_t n, outlet<T> out) {
    sum_and_count(input, n, blockDim.x, out);
}

#define SPECIMEN(TYPE)                                                                                                 \
    RUNG_KERNEL(shared_too_small_##TYPE##_store, shared_too_small, TYPE)                                               \
    RUNG_KERNEL(shared_sized_right_##TYPE##_store, shared_sized_right, TYPE)
SPECIMEN(i32)
SPECIMEN(f32)
SPECIMEN(f64)
