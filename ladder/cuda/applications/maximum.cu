// Application maximum: keep the larger; a NaN wins, so that it is not lost in the crowd. The identity is -infinity, not
// the most negative finite number. (B)
#include "operator.cuh"

#include <math.h>

template <typename T> struct maximum {
    using part = T;
    using result = T;
    static __device__ part identity() {
        return -T(INFINITY);
    }
    static __device__ part term(const T *x, const T *, uint64_t i) {
        return x[i];
    }
    static __device__ part combine(part a, part b) {
        return a > b || a != a ? a : b;
    }
    static __device__ result finish(part total, uint64_t) {
        return total;
    }
};

APPLICATION(maximum, f32)
APPLICATION(maximum, f64)
