/* The smaller of two floats, by the instruction for it where there is one. */
#pragma once

namespace {

/* -0 before +0; NaN if either is. */
__device__ __forceinline__ float min_or_nan(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float least;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
#else
    const int i = __float_as_int(a), j = __float_as_int(b);
    if (a != a || b != b)
        return __uint_as_float(0x7fc00000);
    return (i ^ (i >> 31 & 0x7fffffff)) < (j ^ (j >> 31 & 0x7fffffff)) ? a : b;
#endif
}

} // namespace
