/* Plain loops for AVX2. */
#if !defined(__AVX2__) || !defined(__F16C__)
#error "compile this file with -mavx2 -mf16c"
#endif
#include <immintrin.h>

#define PLAIN_SET                avx2
#define PLAIN_BYTES              32
#define PLAIN_LEAST_f64(a, b)    ((vec)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define PLAIN_GREATEST_f64(a, b) ((vec)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define PLAIN_LEAST_f32(a, b)    ((vec)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define PLAIN_GREATEST_f32(a, b) ((vec)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define PLAIN_LEAST_i32(a, b)    ((vec)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define PLAIN_GREATEST_i32(a, b) ((vec)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define PLAIN_LOAD_f16(at)       _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at)))
#define PLAIN_WIDEN_i32(at)      _mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(at)))

#include "plain_set.h"
