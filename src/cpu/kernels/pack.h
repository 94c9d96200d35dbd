/* Part of template.h: elements that a mask keeps, moved together. */

#define PACK(U)                                                                                                        \
    do {                                                                                                               \
        const U *element = x;                                                                                          \
        U *next = to;                                                                                                  \
        for (size_t at = 0; at < count; at += 64, element += 64)                                                       \
            for (uint64_t left = keep[at / 64]; left; left &= left - 1)                                                \
                *next++ = element[__builtin_ctzll(left)];                                                              \
        return (size_t)(next - (U *)to);                                                                               \
    } while (0)

#ifdef __AVX512F__
static size_t pack_words(const uint64_t *x, const uint64_t *keep, size_t count, uint64_t *to) {
    uint64_t *next = to;
    for (size_t at = 0; at < count; at += 8) {
        const __mmask8 mask = (__mmask8)(keep[at / 64] >> at % 64);
        const __mmask8 inside = (__mmask8)(count - at < 8 ? (1u << (count - at)) - 1 : 0xff);
        _mm512_storeu_si512(next, _mm512_maskz_compress_epi64(mask, _mm512_maskz_loadu_epi64(inside, x + at)));
        next += __builtin_popcount(_cvtmask8_u32(mask));
    }
    return (size_t)(next - to);
}

static size_t pack_halves(const uint32_t *x, const uint64_t *keep, size_t count, uint32_t *to) {
    uint32_t *next = to;
    for (size_t at = 0; at < count; at += 16) {
        const __mmask16 mask = (__mmask16)(keep[at / 64] >> at % 64);
        const __mmask16 inside = (__mmask16)(count - at < 16 ? (1u << (count - at)) - 1 : 0xffff);
        _mm512_storeu_si512(next, _mm512_maskz_compress_epi32(mask, _mm512_maskz_loadu_epi32(inside, x + at)));
        next += __builtin_popcount(_cvtmask16_u32(mask));
    }
    return (size_t)(next - to);
}
#endif

static size_t pack(const void *x, const uint64_t *keep, size_t count, size_t bytes, void *to) {
    switch (bytes) {
    case 1:
        PACK(uint8_t);
    case 2:
        PACK(uint16_t);
#ifdef __AVX512F__
    case 4:
        return pack_halves(x, keep, count, to);
    default:
        return pack_words(x, keep, count, to);
#else
    case 4:
        PACK(uint32_t);
    default:
        PACK(uint64_t);
#endif
    }
}
