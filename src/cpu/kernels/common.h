/* Part of template.h: what the families' files have in common. */

#include "cpu/kernels/ahead.h"

#ifndef READ_AHEAD
#define READ_AHEAD(at, ahead) (void)(at), (void)(ahead)
#endif

/* LEAST, GREATEST: of exponent fields in 64-bit words, where a set has them of halves of words. */
#if defined(__AVX512F__)
#define LEAST(a, b)    (words) _mm512_min_epu32((__m512i)(a), (__m512i)(b))
#define GREATEST(a, b) (words) _mm512_max_epu32((__m512i)(a), (__m512i)(b))
#elif defined(__AVX2__)
#define LEAST(a, b)    (words) _mm256_min_epu32((__m256i)(a), (__m256i)(b))
#define GREATEST(a, b) (words) _mm256_max_epu32((__m256i)(a), (__m256i)(b))
#else
#define LEAST(a, b)    ((b) ^ (((a) ^ (b)) & (words)((halves)(a) < (halves)(b))))
#define GREATEST(a, b) ((b) ^ (((a) ^ (b)) & (words)((halves)(a) > (halves)(b))))
#endif

static uint64_t bits_at(const double *x) {
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    return bits;
}

/* |x| of a signed integer as the unsigned one of its width, so that the most negative value fits. Without a branch
 * or a choice, which compilers fail to vectorise here. */
#define ABSOLUTE(U, v) ((U)(((U)(v) ^ (U) - (U)((v) < 0)) + (U)((v) < 0)))
