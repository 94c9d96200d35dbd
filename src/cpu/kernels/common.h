/* Part of template.h: what the families' files have in common. Vectors are as GCC and Clang have them, of the width of the set. */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#ifndef READ_AHEAD
#define READ_AHEAD(at) (void)(at)
#endif

/* LEAST, GREATEST: of exponent fields in 64-bit words, where a set has them of halves of words. WIDEN: floats to doubles,
 * which GCC's __builtin_convertvector does piece by piece. */
#if defined(__AVX512F__)
#define VECTOR_BYTES   64
#define LEAST(a, b)    (words) _mm512_min_epu32((__m512i)(a), (__m512i)(b))
#define GREATEST(a, b) (words) _mm512_max_epu32((__m512i)(a), (__m512i)(b))
#define WIDEN(floats)  (doubles) _mm512_cvtps_pd((__m256)(floats))
#elif defined(__AVX2__)
#define VECTOR_BYTES   32
#define LEAST(a, b)    (words) _mm256_min_epu32((__m256i)(a), (__m256i)(b))
#define GREATEST(a, b) (words) _mm256_max_epu32((__m256i)(a), (__m256i)(b))
#define WIDEN(floats)  (doubles) _mm256_cvtps_pd((__m128)(floats))
#else
#define VECTOR_BYTES   16
#define LEAST(a, b)    ((b) ^ (((a) ^ (b)) & (words)((halves)(a) < (halves)(b))))
#define GREATEST(a, b) ((b) ^ (((a) ^ (b)) & (words)((halves)(a) > (halves)(b))))
#define WIDEN(floats)  __builtin_convertvector(floats, doubles)
#endif
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(VECTOR_BYTES / 2))); /* as many */
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t halves __attribute__((vector_size(VECTOR_BYTES)));

static uint64_t bits_at(const double *x) {
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    return bits;
}

/* |x| of a signed integer as the unsigned one of its width, so that the most negative value fits. Without a branch
 * or a choice, which compilers fail to vectorise here. */
#define ABSOLUTE(U, v) ((U)(((U)(v) ^ (U) - (U)((v) < 0)) + (U)((v) < 0)))
