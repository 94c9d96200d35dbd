// Application mean: add, divide by n once, at the end. (D)
#include "operator.cuh"

template <typename T> struct mean {
    const T *x, *y;

    using part = T;
    using result = T;
    static __device__ part identity() {
        return 0;
    }
    __device__ part term(uint64_t i) const {
        return x[i];
    }
    static __device__ part combine(part a, part b) {
        return a + b;
    }
    __device__ result finish(part total, uint64_t n) const {
        return total / T(n);
    }
};

APPLICATION(mean, f32)
APPLICATION(mean, f64)
