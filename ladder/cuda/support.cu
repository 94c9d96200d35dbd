// What the ladder needs besides rungs: the one-block sum of a second launch, data made on the device.
#include "rung.cuh"

// One block adds up what the blocks of another launch have stored: the finish second-launch.
#define FINISH(TYPE)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(1024)                                                                 \
        finish_##TYPE(const TYPE *partials, uint64_t count, TYPE *result) {                                            \
        TYPE sum = sum_by_block(partials, count);                                                                      \
        if (threadIdx.x == 0)                                                                                          \
            *result = sum;                                                                                             \
    }
FINISH(i32)
FINISH(f32)
FINISH(f64)

// Element i of the data for arrays too large to make on the host: 0 to 255, so that sums can be formed there without
// the array. (splitmix64, as measure_random_at() in measure/data.c.)
__device__ unsigned small_number(uint64_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return unsigned(z >> 56);
}

#define MAKE(TYPE)                                                                                                     \
    extern "C" __global__ void make_##TYPE(TYPE *to, uint64_t n) {                                                     \
        for (uint64_t i = global_thread(); i < n; i += grid_threads())                                                 \
            to[i] = TYPE(small_number(i));                                                                             \
    }
MAKE(i32)
MAKE(f32)
MAKE(f64)
