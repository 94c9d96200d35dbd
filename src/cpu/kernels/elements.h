/* How the kernels of one instruction set load floating-point elements, of any type, as doubles. Included before the set's own
 * functions; what else families have in common is in common.h. Vectors are as GCC and Clang have them, of the width of the set. */
#include "arithmetic/element.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(VECTOR_BYTES / 2))); /* as many */
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t halves __attribute__((vector_size(VECTOR_BYTES)));

/* Of a normal double. */
static inline double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Elements of a vector of doubles. */
enum { IN_VECTOR = VECTOR_BYTES / 8 };

/* WIDEN: floats to doubles, which GCC's __builtin_convertvector does piece by piece. F16_AT, BF16_AT: as many numbers as
 * doubles. */
#if defined(__AVX512F__)
#define WIDEN(floats) (doubles) _mm512_cvtps_pd((__m256)(floats))
#define F16_AT(at)    _mm256_cvtph_ps(_mm_loadu_si128((const void *)(at)))
#define BF16_AT(at)   _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(at))), 16)
#elif defined(__AVX2__)
#define WIDEN(floats) (doubles) _mm256_cvtps_pd((__m128)(floats))
#define F16_AT(at)    _mm_cvtph_ps(_mm_loadl_epi64((const void *)(at)))
#define BF16_AT(at)   _mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadl_epi64((const void *)(at))), 16)
#else
#define WIDEN(floats) __builtin_convertvector(floats, doubles)
#endif

/* Bytes of an element, which is a constant wherever this is used. */
ALWAYS_INLINE size_t size_of(reduct_type element) {
    return element == REDUCT_F64 ? 8 : element == REDUCT_F32 ? 4 : 2;
}

/* As many floats as a vector of doubles holds numbers, from elements narrower than f64. */
ALWAYS_INLINE floats load_floats(const void *at, reduct_type element) {
    floats narrow;
    if (element == REDUCT_F32) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
#ifdef F16_AT
    return element == REDUCT_F16 ? (floats)F16_AT(at) : (floats)BF16_AT(at);
#else
    for (int l = 0; l < IN_VECTOR; l++)
        narrow[l] = (float)rd_element_value(element, at, (uint64_t)l);
    return narrow;
#endif
}

ALWAYS_INLINE doubles load_doubles(const void *at, reduct_type element) {
    doubles wide;
    if (element == REDUCT_F64) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    floats narrow = load_floats(at, element);
    return WIDEN(narrow);
}
