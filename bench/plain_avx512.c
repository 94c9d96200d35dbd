/* Plain loops for AVX-512 (F, DQ, BW, VL), in full 512-bit vectors. */
#if !defined(__AVX512F__) || !defined(__AVX512DQ__) || !defined(__AVX512BW__) || !defined(__AVX512VL__)
#error "compile this file with -mavx512f -mavx512dq -mavx512bw -mavx512vl"
#endif
#include <immintrin.h>

#define PLAIN_SET                avx512
#define PLAIN_BYTES              64
#define PLAIN_LEAST_f64(a, b)    ((vec)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define PLAIN_GREATEST_f64(a, b) ((vec)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define PLAIN_LEAST_f32(a, b)    ((vec)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define PLAIN_GREATEST_f32(a, b) ((vec)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define PLAIN_LEAST_i32(a, b)    ((vec)_mm512_min_epi32((__m512i)(a), (__m512i)(b)))
#define PLAIN_GREATEST_i32(a, b) ((vec)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#define PLAIN_LEAST_i64(a, b)    ((vec)_mm512_min_epi64((__m512i)(a), (__m512i)(b)))
#define PLAIN_GREATEST_i64(a, b) ((vec)_mm512_max_epi64((__m512i)(a), (__m512i)(b)))
#define PLAIN_WIDEN_i32(at)      _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(at)))
#define PLAIN_LOAD_f16(at)       _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(at)))

#include "plain_set.h"
