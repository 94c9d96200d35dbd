/* Part of template.h: extremes. */

/* Where something is first: HITS(lanes) says in which of so many lanes two vectors are EQUAL, or UNEQUAL. */
#if defined(__AVX512F__)
#define HITS(lanes)                 __mmask##lanes
#define EQUAL(width, lanes, a, b)   _mm512_cmpeq_epi##width##_mask((__m512i)(a), (__m512i)(b))
#define UNEQUAL(width, lanes, a, b) _mm512_cmpneq_epi##width##_mask((__m512i)(a), (__m512i)(b))
#define OR_HITS(lanes, a, b)        _kor_mask##lanes(a, b)
#define ANY_HIT(lanes, hits)        (!_kortestz_mask##lanes##_u8(hits, hits))
#define FIRST_HIT(lanes, hits)      (size_t) __builtin_ctzll(HITS_##lanes(hits))
#define HITS_8(hits)                _cvtmask8_u32(hits)
#define HITS_16(hits)               _cvtmask16_u32(hits)
#define HITS_32(hits)               _cvtmask32_u32(hits)
#define HITS_64(hits)               _cvtmask64_u64(hits)
#else
#define FIRST_HIT(lanes, hits)      0 /* at the earliest: it is then looked for one by one */
#define HITS(lanes)                 words
#define EQUAL(width, lanes, a, b)   (words)((a) == (b))
#define UNEQUAL(width, lanes, a, b) (words)((a) ^ (b))
#define OR_HITS(lanes, a, b)        ((a) | (b))
#if defined(__AVX2__)
#define ANY_HIT(lanes, hits) (!_mm256_testz_si256((__m256i)(hits), (__m256i)(hits)))
#else
#define ANY_HIT(lanes, hits) (((hits)[0] | (hits)[1]) != 0)
#endif
#endif

/* The index of the first of `count` elements whose bits are equal, or unequal, to these; `count` if there is none. */
#define FIND(name, width, lanes, comparison)                                                                           \
    typedef uint##width##_t vector_of_##name __attribute__((vector_size(VECTOR_BYTES)));                               \
    ALWAYS_INLINE HITS(lanes) hits_##name(const uint##width##_t *at, vector_of_##name bits) {                          \
        vector_of_##name v;                                                                                            \
        memcpy(&v, at, sizeof v);                                                                                      \
        return comparison(width, lanes, v, bits);                                                                      \
    }                                                                                                                  \
    static size_t find_##name(const void *data, size_t count, uint##width##_t bits) {                                  \
        enum { IN = VECTOR_BYTES / sizeof bits };                                                                      \
        const uint##width##_t *x = data;                                                                               \
        const vector_of_##name all = (vector_of_##name){0} + bits;                                                     \
        size_t i = 0;                                                                                                  \
        for (; i + 4 * IN <= count; i += 4 * IN) {                                                                     \
            HITS(lanes) low = OR_HITS(lanes, hits_##name(x + i, all), hits_##name(x + i + IN, all));                   \
            HITS(lanes) high = OR_HITS(lanes, hits_##name(x + i + 2 * IN, all), hits_##name(x + i + 3 * IN, all));     \
            HITS(lanes) hits = OR_HITS(lanes, low, high);                                                              \
            if (ANY_HIT(lanes, hits))                                                                                  \
                break;                                                                                                 \
        }                                                                                                              \
        for (; i + IN <= count; i += IN) {                                                                             \
            HITS(lanes) hits = hits_##name(x + i, all);                                                                \
            if (ANY_HIT(lanes, hits)) {                                                                                \
                i += FIRST_HIT(lanes, hits);                                                                           \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        while (i < count && !IS_##comparison(x[i], bits))                                                              \
            i++;                                                                                                       \
        return i;                                                                                                      \
    }
#define IS_EQUAL(a, b)   ((a) == (b))
#define IS_UNEQUAL(a, b) ((a) != (b))
FIND(8, 8, 64, EQUAL)
FIND(16, 16, 32, EQUAL)
FIND(32, 32, 16, EQUAL)
FIND(64, 64, 8, EQUAL)
FIND(other_8, 8, 64, UNEQUAL)

ALWAYS_INLINE size_t find_bytes(const void *x, size_t count, uint64_t bits, size_t bytes) {
    switch (bytes) {
    case 1:
        return find_8(x, count, (uint8_t)bits);
    case 2:
        return find_16(x, count, (uint16_t)bits);
    case 4:
        return find_32(x, count, (uint32_t)bits);
    default:
        return find_64(x, count, bits);
    }
}

static size_t find(const void *x, size_t count, uint64_t bits, reduct_type element) {
    if (element == REDUCT_BOOL && bits)
        return find_other_8(x, count, 0);
    return find_bytes(x, count, bits, (size_t)rd_type(element)->bytes);
}

/* Of integers: `magnitude` is the absolute value of x[i]. */
#define INTEGER_EXTREMES(name, T, U, magnitude)                                                                        \
    static void extreme_##name(const void *data, size_t count, enum rd_extreme which, struct rd_found *found) {        \
        const T *x = data;                                                                                             \
        T best = x[0];                                                                                                 \
        U largest = 0;                                                                                                 \
        if (which == RD_LARGEST)                                                                                       \
            for (size_t i = 0; i < count; i++) {                                                                       \
                U v = magnitude;                                                                                       \
                largest = v > largest ? v : largest;                                                                   \
            }                                                                                                          \
        else if (which == RD_LOWEST)                                                                                   \
            for (size_t i = 0; i < count; i++)                                                                         \
                best = x[i] < best ? x[i] : best;                                                                      \
        else                                                                                                           \
            for (size_t i = 0; i < count; i++)                                                                         \
                best = x[i] > best ? x[i] : best;                                                                      \
        *found = (struct rd_found){which == RD_LARGEST ? largest : (U)best, false};                                    \
    }
INTEGER_EXTREMES(i8, int8_t, uint8_t, ABSOLUTE(uint8_t, x[i]))
INTEGER_EXTREMES(u8, uint8_t, uint8_t, x[i])
INTEGER_EXTREMES(i16, int16_t, uint16_t, ABSOLUTE(uint16_t, x[i]))
INTEGER_EXTREMES(u16, uint16_t, uint16_t, x[i])
INTEGER_EXTREMES(i32, int32_t, uint32_t, ABSOLUTE(uint32_t, x[i]))
INTEGER_EXTREMES(u32, uint32_t, uint32_t, x[i])
INTEGER_EXTREMES(i64, int64_t, uint64_t, ABSOLUTE(uint64_t, x[i]))
INTEGER_EXTREMES(u64, uint64_t, uint64_t, x[i])

static void extreme_bool(const void *x, size_t count, enum rd_extreme which, struct rd_found *found) {
    size_t place = which == RD_LOWEST ? find_8(x, count, 0) : find_other_8(x, count, 0);
    *found = (struct rd_found){(place < count) == (which != RD_LOWEST), false};
}

/* Of f32 and f64, with the processor's own minimum and maximum, a < b ? a : b and a > b ? a : b. These do not tell zeros apart,
 * so where the answer is a zero its sign is looked for; and they lose NaNs, which are looked for on the way. EITHER_NAN is a
 * mask of the lanes in which one of two vectors is NaN. */
#if defined(__AVX512F__)
/* Masks of their own types, with their own operations: as integers, gcc 12 spills them as bytes and reads them as words. */
typedef __mmask8 nans_f64;
typedef __mmask16 nans_f32;
#define EITHER_NAN_f64(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_UNORD_Q)
#define EITHER_NAN_f32(a, b) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_UNORD_Q)
#define OR_NANS_f64(a, b)    _kor_mask8(a, b)
#define OR_NANS_f32(a, b)    _kor_mask16(a, b)
#define ANY_NAN_f64(mask)    (!_kortestz_mask8_u8(mask, mask))
#define ANY_NAN_f32(mask)    (!_kortestz_mask16_u8(mask, mask))
#define LOWER_f64(a, b)      (vector_f64) _mm512_min_pd((__m512d)(a), (__m512d)(b))
#define HIGHER_f64(a, b)     (vector_f64) _mm512_max_pd((__m512d)(a), (__m512d)(b))
#define LOWER_f32(a, b)      (vector_f32) _mm512_min_ps((__m512)(a), (__m512)(b))
#define HIGHER_f32(a, b)     (vector_f32) _mm512_max_ps((__m512)(a), (__m512)(b))
#elif defined(__AVX2__)
typedef __m256i nans_f64, nans_f32;
#define EITHER_NAN_f64(a, b) _mm256_castpd_si256(_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_UNORD_Q))
#define EITHER_NAN_f32(a, b) _mm256_castps_si256(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_UNORD_Q))
#define OR_NANS_f64(a, b)    _mm256_or_si256(a, b)
#define OR_NANS_f32(a, b)    _mm256_or_si256(a, b)
#define ANY_NAN_f64(mask)    (!_mm256_testz_si256(mask, mask))
#define ANY_NAN_f32(mask)    ANY_NAN_f64(mask)
#define LOWER_f64(a, b)      (vector_f64) _mm256_min_pd((__m256d)(a), (__m256d)(b))
#define HIGHER_f64(a, b)     (vector_f64) _mm256_max_pd((__m256d)(a), (__m256d)(b))
#define LOWER_f32(a, b)      (vector_f32) _mm256_min_ps((__m256)(a), (__m256)(b))
#define HIGHER_f32(a, b)     (vector_f32) _mm256_max_ps((__m256)(a), (__m256)(b))
#else
typedef words nans_f64, nans_f32;
#define EITHER_NAN_f64(a, b) ((words)((a) != (a)) | (words)((b) != (b)))
#define EITHER_NAN_f32(a, b) EITHER_NAN_f64(a, b)
#define OR_NANS_f64(a, b)    ((a) | (b))
#define OR_NANS_f32(a, b)    ((a) | (b))
#define ANY_NAN_f64(mask)    (((mask)[0] | (mask)[1]) != 0)
#define ANY_NAN_f32(mask)    ANY_NAN_f64(mask)
#define CHOOSE(mask, a, b)   ((words)(mask) & (words)(a)) | (~(words)(mask) & (words)(b))
#define LOWER_f64(a, b)      (vector_f64)(CHOOSE((a) < (b), a, b))
#define HIGHER_f64(a, b)     (vector_f64)(CHOOSE((a) > (b), a, b))
#define LOWER_f32(a, b)      (vector_f32)(CHOOSE((a) < (b), a, b))
#define HIGHER_f32(a, b)     (vector_f32)(CHOOSE((a) > (b), a, b))
#endif

#define FLOAT_EXTREMES(name, T, U)                                                                                     \
    typedef T vector_##name __attribute__((vector_size(VECTOR_BYTES)));                                                \
    enum { IN_VECTOR_##name = VECTOR_BYTES / sizeof(T) };                                                              \
    ALWAYS_INLINE vector_##name load_##name(const unsigned char *at, bool absolute) {                                  \
        vector_##name v;                                                                                               \
        memcpy(&v, at, sizeof v);                                                                                      \
        return absolute ? (vector_##name)((words)v & MAGNITUDES_##name) : v;                                           \
    }                                                                                                                  \
    ALWAYS_INLINE void body_##name(const unsigned char *x, size_t count, enum rd_extreme which,                        \
                                   struct rd_found *found) {                                                           \
        const bool absolute = which == RD_LARGEST, least = which == RD_LOWEST;                                         \
        const size_t step = VECTOR_BYTES, end = count * sizeof(T) / step * step, rest = count * sizeof(T) - end;       \
        vector_##name padded, best[4], v[4];                                                                           \
        for (int l = 0; l < IN_VECTOR_##name; l++)                                                                     \
            memcpy((char *)&padded + (size_t)l * sizeof(T), x, sizeof(T));                                             \
        memcpy(&padded, x + end, rest);                                                                                \
        padded = load_##name((const unsigned char *)&padded, absolute);                                                \
        for (int j = 0; j < 4; j++)                                                                                    \
            best[j] = padded;                                                                                          \
        nans_##name nan = EITHER_NAN_##name(padded, padded);                                                           \
        size_t at = 0;                                                                                                 \
        for (; at + 4 * step <= end; at += 4 * step) {                                                                 \
            for (size_t j = 0; j < 4; j++) {                                                                           \
                v[j] = load_##name(x + at + j * step, absolute);                                                       \
                best[j] = least ? LOWER_##name(v[j], best[j]) : HIGHER_##name(v[j], best[j]);                          \
            }                                                                                                          \
            nan = OR_NANS_##name(nan, OR_NANS_##name(EITHER_NAN_##name(v[0], v[1]), EITHER_NAN_##name(v[2], v[3])));   \
        }                                                                                                              \
        for (; at < end; at += step) {                                                                                 \
            v[0] = load_##name(x + at, absolute);                                                                      \
            best[0] = least ? LOWER_##name(v[0], best[0]) : HIGHER_##name(v[0], best[0]);                              \
            nan = OR_NANS_##name(nan, EITHER_NAN_##name(v[0], v[0]));                                                  \
        }                                                                                                              \
        for (int j = 1; j < 4; j++)                                                                                    \
            best[0] = least ? LOWER_##name(best[j], best[0]) : HIGHER_##name(best[j], best[0]);                        \
        T one = best[0][0];                                                                                            \
        for (int l = 1; l < IN_VECTOR_##name; l++)                                                                     \
            one = (least ? best[0][l] < one : best[0][l] > one) ? best[0][l] : one;                                    \
        U bits, minus = (U)((U)1 << (8 * sizeof(T) - 1));                                                              \
        memcpy(&bits, &one, sizeof bits);                                                                              \
        if (one == 0 && !absolute)                                                                                     \
            bits = (FIND_##name(x, count, least ? minus : 0) < count) == least ? minus : 0;                            \
        *found = (struct rd_found){bits, ANY_NAN_##name(nan)};                                                         \
    }                                                                                                                  \
    static void extreme_##name(const void *x, size_t count, enum rd_extreme which, struct rd_found *found) {           \
        if (which == RD_LARGEST)                                                                                       \
            body_##name(x, count, RD_LARGEST, found);                                                                  \
        else if (which == RD_LOWEST)                                                                                   \
            body_##name(x, count, RD_LOWEST, found);                                                                   \
        else                                                                                                           \
            body_##name(x, count, RD_HIGHEST, found);                                                                  \
    }
#define MAGNITUDES_f64 (((words){0} - 1) >> 1)
#define MAGNITUDES_f32 (MAGNITUDES_f64 & ~((words){0} + ((uint64_t)1 << 31)))
#define FIND_f64       find_64
#define FIND_f32       find_32
FLOAT_EXTREMES(f64, double, uint64_t)
FLOAT_EXTREMES(f32, float, uint32_t)

/* Of 16-bit floats, as integers that order as they do, -0 below +0. NaNs are those whose magnitudes are greater than that of
 * infinity. */
ALWAYS_INLINE int16_t half_order(int16_t bits) {
    return (int16_t)(bits ^ (bits >> 15 & 0x7fff));
}

#define HALF_EXTREMES(name, infinity)                                                                                  \
    static void extreme_##name(const void *data, size_t count, enum rd_extreme which, struct rd_found *found) {        \
        const int16_t *x = data;                                                                                       \
        int16_t best = half_order(x[0]), largest = 0;                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            int16_t magnitude = (int16_t)(x[i] & 0x7fff);                                                              \
            largest = magnitude > largest ? magnitude : largest;                                                       \
        }                                                                                                              \
        if (which == RD_LOWEST)                                                                                        \
            for (size_t i = 0; i < count; i++)                                                                         \
                best = half_order(x[i]) < best ? half_order(x[i]) : best;                                              \
        else if (which == RD_HIGHEST)                                                                                  \
            for (size_t i = 0; i < count; i++)                                                                         \
                best = half_order(x[i]) > best ? half_order(x[i]) : best;                                              \
        *found = (struct rd_found){which == RD_LARGEST ? (uint16_t)largest : (uint16_t)half_order(best),               \
                                   largest > infinity};                                                                \
    }
HALF_EXTREMES(f16, 0x7c00)
HALF_EXTREMES(bf16, 0x7f80)
