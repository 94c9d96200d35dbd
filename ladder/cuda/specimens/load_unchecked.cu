// Specimens load-unchecked and grid-not-halved: elements that are not there.
//
// The mistakes: A's #1 to #7, B's v1 to v5 and C load input[i] without asking whether i < n, which is right only where
// n is a multiple of what a block takes. And who adds the first addition during load, but goes on launching as many
// blocks as before, reads twice the array.
//
// Here the array is followed by memory that belongs to the program and is full of thousands, so that what is read in
// excess shows, and nothing faults. Elsewhere it may be another array, zeros for years, or the end of the program.
//
// The repair: load() in rung.cuh; half as many blocks.
#include "../rung.cuh"

template <typename T> __device__ void tree(T *shared, const outlet<T> &out) {
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    deliver<STORE>(shared[0], out);
}

template <typename T> __device__ void load_unchecked(const T *input, uint64_t, outlet<T> out) {
    T *shared = shared_memory<T>();
    shared[threadIdx.x] = input[global_thread()];
    tree(shared, out);
}

template <typename T> __device__ void first_add_unchecked(const T *input, uint64_t, outlet<T> out) {
    T *shared = shared_memory<T>();
    uint64_t i = uint64_t(blockIdx.x) * (2 * blockDim.x) + threadIdx.x;
    shared[threadIdx.x] = input[i] + input[i + blockDim.x];
    tree(shared, out);
}

#define SPECIMEN(TYPE)                                                                                                 \
    RUNG_KERNEL(load_unchecked_##TYPE##_store, load_unchecked, TYPE)                                                   \
    RUNG_KERNEL(first_add_unchecked_##TYPE##_store, first_add_unchecked, TYPE)
SPECIMEN(i32)
SPECIMEN(f32)
SPECIMEN(f64)
