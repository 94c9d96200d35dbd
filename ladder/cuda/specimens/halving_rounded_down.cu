// Specimens halving-rounded-down and halving-against-n: block sizes that are not powers of two.
//
// The mistake: s = blockDim.x / 2, s / 2 and so on loses an element wherever s is odd: 96 threads go 48, 24, 12, 6, 3,
// 1 and one third of the sum is gone. B's remedy is a check against n, the length of the array, where the size of the
// block is at stake: it changes nothing but in the last block.
//
// The repair: round up, as the rung halving does; or launch powers of two only.
#include "../rung.cuh"

template <typename T> __device__ void halving_rounded_down(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;

    shared[tid] = load(input, global_thread(), n);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    deliver<STORE>(shared[0], out);
}

template <typename T> __device__ void halving_against_n(const T *input, uint64_t n, outlet<T> out) {
    T *shared = shared_memory<T>();
    unsigned tid = threadIdx.x;

    shared[tid] = load(input, global_thread(), n);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s && global_thread() + s < n)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    deliver<STORE>(shared[0], out);
}

#define SPECIMEN(TYPE)                                                                                                 \
    RUNG_KERNEL(halving_rounded_down_##TYPE##_store, halving_rounded_down, TYPE)                                       \
    RUNG_KERNEL(halving_against_n_##TYPE##_store, halving_against_n, TYPE)
SPECIMEN(i32)
SPECIMEN(f32)
SPECIMEN(f64)
