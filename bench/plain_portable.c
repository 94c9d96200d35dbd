/* Plain loops for the instruction set that the compiler assumes by itself: SSE2 on x86-64, NEON on AArch64. */
#define PLAIN_SET   portable
#define PLAIN_BYTES 16

#if defined(__SSE2__)
#include <emmintrin.h>
#define PLAIN_LEAST_f64(a, b)    ((vec)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#define PLAIN_GREATEST_f64(a, b) ((vec)_mm_max_pd((__m128d)(a), (__m128d)(b)))
#define PLAIN_LEAST_f32(a, b)    ((vec)_mm_min_ps((__m128)(a), (__m128)(b)))
#define PLAIN_GREATEST_f32(a, b) ((vec)_mm_max_ps((__m128)(a), (__m128)(b)))
#define PLAIN_WIDEN_i32(at)      widen(at)

/* The sign, repeated, is the upper half of a wider integer. */
static inline __m128i widen(const void *address) {
    __m128i narrow = _mm_loadl_epi64((const __m128i *)address);
    return _mm_unpacklo_epi32(narrow, _mm_srai_epi32(narrow, 31));
}
#endif

#include "plain_set.h"
