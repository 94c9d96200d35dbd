// Application dot: multiply pairs, add. (B)
#include "operator.cuh"

template <typename T> struct dot {
    const T *x, *y;

    using part = T;
    using result = T;
    static __device__ part identity() {
        return 0;
    }
    __device__ part term(uint64_t i) const {
        return x[i] * y[i];
    }
    static __device__ part combine(part a, part b) {
        return a + b;
    }
    __device__ result finish(part total, uint64_t) const {
        return total;
    }
};

APPLICATION(dot, f32)
APPLICATION(dot, f64)
