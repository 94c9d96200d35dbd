// Application norm2: square, add, take the root. Squares of numbers beyond 1e19 overflow in f32, those below 1e-23
// vanish; the library's norm2 knows neither. (B)
#include "operator.cuh"

template <typename T> struct norm2 {
    const T *x, *y;

    using part = T;
    using result = T;
    static __device__ part identity() {
        return 0;
    }
    __device__ part term(uint64_t i) const {
        return x[i] * x[i];
    }
    static __device__ part combine(part a, part b) {
        return a + b;
    }
    __device__ result finish(part total, uint64_t) const {
        return sqrt(total);
    }
};

APPLICATION(norm2, f32)
APPLICATION(norm2, f64)
