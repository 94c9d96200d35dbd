// Application norm2: square, add, take the root. Squares of numbers beyond 1e19 overflow in f32, those below 1e-23
// vanish; the library's norm2 knows neither. (B)
#include "operator.cuh"

template <typename T> struct norm2 : addition<T> {
    static __device__ T term(const T *x, const T *, uint64_t i) {
        return x[i] * x[i];
    }
    static __device__ T finish(T total, uint64_t) {
        return sqrt(total);
    }
};

APPLICATION(norm2, f32)
APPLICATION(norm2, f64)
