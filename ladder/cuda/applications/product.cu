// Application product: multiply everything. (A, B)
//
// The product of a million numbers below 1 is zero in any floating-point type, and that of a million above 1 is
// infinity. So a part is a significand in [1/2, 1) and an exponent as an integer: what is rounded is the significand
// alone, and nothing overflows on the way.
#include "operator.cuh"

template <typename T> struct scaled {
    T significand; // 0, or of magnitude in [1/2, 1)
    long long exponent;
};

template <typename T> struct product {
    using part = scaled<T>;
    struct result {
        double significand;
        long long exponent;
    };
    static __device__ part identity() {
        return {T(0.5), 1};
    }
    static __device__ part term(const T *x, const T *, uint64_t i) {
        int exponent;
        T significand = frexp(x[i], &exponent);
        return {significand, exponent};
    }
    static __device__ part combine(part a, part b) {
        part ab = {a.significand * b.significand, a.exponent + b.exponent}; // a magnitude in [1/4, 1)
        if (ab.significand < T(0.5) && ab.significand > T(-0.5)) {
            ab.significand *= 2; // exact
            ab.exponent--;
        }
        return ab;
    }
    static __device__ result finish(part total, uint64_t) {
        return {double(total.significand), total.exponent};
    }
};

APPLICATION(product, f32)
APPLICATION(product, f64)
