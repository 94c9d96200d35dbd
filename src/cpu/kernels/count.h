/* Part of template.h: how many elements are zero or NaN; and, or, exclusive or of bits. */

/* Counts elements of a type, U as unsigned integers of that width, for which `test`, a comparison of vectors v, holds. A comparison
 * gives -1 in each lane where it does, so that lanes count down; as often as a lane holds, they are added up. The rest is looked at
 * as a vector that is filled up with ones, which are neither zero nor NaN in any type. */
#define COUNT_SUCH(name, V, U, test)                                                                                   \
    static size_t name(const void *data, size_t count) {                                                               \
        typedef V vector __attribute__((vector_size(VECTOR_BYTES)));                                                   \
        typedef U lanes __attribute__((vector_size(VECTOR_BYTES)));                                                    \
        enum { IN = VECTOR_BYTES / sizeof(U), TURNS = sizeof(U) == 1 ? UINT8_MAX : INT16_MAX };                        \
        const unsigned char *at = data;                                                                                \
        size_t found = 0, left = count * sizeof(U);                                                                    \
        while (left >= VECTOR_BYTES) {                                                                                 \
            lanes such[4] = {{0}, {0}, {0}, {0}};                                                                      \
            size_t turns = left / (4 * VECTOR_BYTES) < TURNS ? left / (4 * VECTOR_BYTES) : TURNS;                      \
            for (size_t i = 0; i < turns; i++, at += 4 * VECTOR_BYTES)                                                 \
                for (size_t j = 0; j < 4; j++) {                                                                       \
                    vector v;                                                                                          \
                    memcpy(&v, at + j * VECTOR_BYTES, sizeof v);                                                       \
                    such[j] -= (lanes)(test);                                                                          \
                }                                                                                                      \
            left -= turns * 4 * VECTOR_BYTES;                                                                          \
            for (size_t j = 0; !turns && j < 4 && left >= VECTOR_BYTES;                                                \
                 j++, at += VECTOR_BYTES, left -= VECTOR_BYTES) {                                                      \
                vector v;                                                                                              \
                memcpy(&v, at, sizeof v);                                                                              \
                such[j] -= (lanes)(test);                                                                              \
            }                                                                                                          \
            for (size_t j = 0; j < 4; j++)                                                                             \
                for (size_t l = 0; l < IN; l++)                                                                        \
                    found += such[j][l];                                                                               \
        }                                                                                                              \
        if (left) {                                                                                                    \
            vector v = (vector){0} + 1;                                                                                \
            memcpy(&v, at, left);                                                                                      \
            lanes such = (lanes){0} - (lanes)(test);                                                                   \
            for (size_t l = 0; l < IN; l++)                                                                            \
                found += such[l];                                                                                      \
        }                                                                                                              \
        return found;                                                                                                  \
    }
COUNT_SUCH(count_zeros_f64, double, uint64_t, v == 0)
COUNT_SUCH(count_zeros_f32, float, uint32_t, v == 0)
COUNT_SUCH(count_zeros_8, uint8_t, uint8_t, v == 0)
COUNT_SUCH(count_zeros_16, uint16_t, uint16_t, v == 0)
COUNT_SUCH(count_zeros_32, uint32_t, uint32_t, v == 0)
COUNT_SUCH(count_zeros_64, uint64_t, uint64_t, v == 0)
COUNT_SUCH(count_zeros_half, int16_t, uint16_t, (v & 0x7fff) == 0)
COUNT_SUCH(count_nans_f16, int16_t, uint16_t, (v & 0x7fff) > 0x7c00)
COUNT_SUCH(count_nans_bf16, int16_t, uint16_t, (v & 0x7fff) > 0x7f80)
COUNT_SUCH(count_nans_f64, double, uint64_t, v != v)
COUNT_SUCH(count_nans_f32, float, uint32_t, v != v)

/* Bits by words, whatever the elements: what words come to is then halved down to one element. `rest` fills up the last word so that
 * it changes nothing. */
#define COMBINE_BITS(name, operation, identity)                                                                        \
    static uint64_t name(const unsigned char *x, size_t size, size_t bytes) {                                          \
        uint64_t all = identity, rest = identity;                                                                      \
        for (size_t i = 0; i < size / 8; i++) {                                                                        \
            uint64_t word;                                                                                             \
            memcpy(&word, x + 8 * i, sizeof word);                                                                     \
            all operation word;                                                                                        \
        }                                                                                                              \
        memcpy(&rest, x + size / 8 * 8, size % 8);                                                                     \
        all operation rest;                                                                                            \
        for (size_t half = 4; half >= bytes; half /= 2)                                                                \
            all operation all >> (8 * half);                                                                           \
        return bytes < 8 ? all & (((uint64_t)1 << (8 * bytes)) - 1) : all;                                             \
    }
COMBINE_BITS(and_bits, &=, UINT64_MAX)
COMBINE_BITS(or_bits, |=, 0)
COMBINE_BITS(xor_bits, ^=, 0)

static uint64_t combine_bits(const void *x, size_t count, size_t bytes, enum rd_combine combine) {
    return combine == RD_AND  ? and_bits(x, count * bytes, bytes)
           : combine == RD_OR ? or_bits(x, count * bytes, bytes)
                              : xor_bits(x, count * bytes, bytes);
}
