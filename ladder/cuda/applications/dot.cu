// Application dot: multiply pairs, add. (B)
#include "operator.cuh"

template <typename T> struct dot : addition<T> {
    static __device__ T term(const T *x, const T *y, uint64_t i) {
        return x[i] * y[i];
    }
};

APPLICATION(dot, f32)
APPLICATION(dot, f64)
