// Specimen two-levels: a second reduction by one subgroup, assumed to suffice.
//
// The mistake: 32 lanes, and at most 1024 threads: two levels always do, on NVIDIA's hardware. Shader code carries the
// assumption to devices whose subgroups have 4 or 8 lanes: there 256 threads leave 64 sums, and one subgroup adds up 4
// of them. D sets this as an exercise. CUDA shows it with shuffles of width 4.
//
// The repair: as many levels as it takes, until one sum is left.
#include "../rung.cuh"

constexpr unsigned WIDTH = 4; // lanes of a subgroup, as on a small GPU or a CPU that plays one

template <typename T> __device__ T subgroup_sum(T sum) {
    for (unsigned d = WIDTH / 2; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d, WIDTH);
    return sum;
}

// `levels`: reductions by subgroups after the first. Blocks of whole warps.
template <typename T>
__device__ void reduce_by_subgroups(const T *input, uint64_t n, unsigned levels, const outlet<T> &out) {
    T *slots = shared_memory<T>();
    unsigned tid = threadIdx.x, left = blockDim.x;

    T sum = 0;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        sum += input[i];
    sum = subgroup_sum(sum);
    for (unsigned level = 0; level < levels && left > WIDTH; level++) {
        left = (left + WIDTH - 1) / WIDTH; // sums that are held by the first lanes of `left` subgroups
        if (tid % WIDTH == 0 && tid / WIDTH < left)
            slots[tid / WIDTH] = sum;
        __syncthreads();
        sum = subgroup_sum(tid < left ? slots[tid] : T(0));
        __syncthreads();
    }
    deliver<STORE>(sum, out);
}

template <typename T> __device__ void two_levels(const T *input, uint64_t n, outlet<T> out) {
    reduce_by_subgroups(input, n, 1, out);
}

template <typename T> __device__ void all_levels(const T *input, uint64_t n, outlet<T> out) {
    reduce_by_subgroups(input, n, ~0u, out);
}

#define SPECIMEN(TYPE)                                                                                                 \
    RUNG_KERNEL(two_levels_##TYPE##_store, two_levels, TYPE)                                                           \
    RUNG_KERNEL(all_levels_##TYPE##_store, all_levels, TYPE)
SPECIMEN(i32)
SPECIMEN(f32)
SPECIMEN(f64)
