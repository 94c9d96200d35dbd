// Application mean: add, divide by n once, at the end. (D)
#include "operator.cuh"

template <typename T> struct mean : addition<T> {
    static __device__ T term(const T *x, const T *, uint64_t i) {
        return x[i];
    }
    static __device__ T finish(T total, uint64_t n) {
        return total / T(n);
    }
};

APPLICATION(mean, f32)
APPLICATION(mean, f64)
