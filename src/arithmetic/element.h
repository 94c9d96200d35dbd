/* Elements of floating-point types, one at a time. Vectors of them are the kernels' business. */
#ifndef RD_ELEMENT_H
#define RD_ELEMENT_H

#include <reduct/reduct.h>

#include <string.h>

#ifdef __CUDACC__
#define RD_ELEMENT static __device__ __forceinline__
#else
#define RD_ELEMENT static inline
#endif

/* A number of binary16 from its bits. Its exponent and significand, moved to where binary64 has them, are 2^1008 times too
 * small, subnormal numbers as well; the largest exponent, that of infinities and NaNs, must stay the largest. Without a
 * branch, for compilers to vectorise. */
RD_ELEMENT double rd_f16_value(uint16_t half) {
    uint64_t sign = (uint64_t)(half >> 15) << 63, magnitude = half & 0x7fff, bits = magnitude << 42;
    double value;
    memcpy(&value, &bits, sizeof value);
    value *= 0x1p1008;
    memcpy(&bits, &value, sizeof bits);
    bits |= sign | (magnitude >= 0x7c00 ? (uint64_t)0x7ff << 52 : 0);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A number of bfloat16, the upper half of one of binary32. */
RD_ELEMENT double rd_bf16_value(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Element i of floats at x: a double holds any of them. Run within rd_environment_enter(). */
RD_ELEMENT double rd_element_value(reduct_type element, const void *x, uint64_t i) {
    switch ((int)element) { /* floats */
    case REDUCT_F16:
        return rd_f16_value(((const uint16_t *)x)[i]);
    case REDUCT_BF16:
        return rd_bf16_value(((const uint16_t *)x)[i]);
    case REDUCT_F32:
        return (double)((const float *)x)[i];
    default:
        return ((const double *)x)[i];
    }
}

#endif
