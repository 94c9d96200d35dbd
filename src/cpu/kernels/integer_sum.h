/* Part of template.h: exact sums of integers. */

/* Sums over at most 2^15 elements fit these: PIECE terms of N bits in N + 15. */
enum { PIECE = 1 << 15 };

/* Terms that, PIECE of them at a time, fit a machine integer SUM: `term` in the words of x[i] and y[i]. */
#define NARROW_SUM(SUM, term)                                                                                          \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t end = count - done < PIECE ? count : done + PIECE;                                                  \
            SUM piece = 0;                                                                                             \
            for (size_t i = done; i < end; i++)                                                                        \
                piece += (SUM)(term);                                                                                  \
            total += piece;                                                                                            \
        }                                                                                                              \
    } while (0)

/* 64-bit terms, in halves; `bias` has been added to make them unsigned. */
#define WIDE_SUM(term, bias)                                                                                           \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t end = count - done < PIECE ? count : done + PIECE;                                                  \
            uint64_t low = 0, high = 0;                                                                                \
            for (size_t i = done; i < end; i++) {                                                                      \
                uint64_t v = (uint64_t)(term) + (bias);                                                                \
                low += v & 0xffffffff;                                                                                 \
                high += v >> 32;                                                                                       \
            }                                                                                                          \
            total += (rd_i128)low + ((rd_i128)high << 32) - (rd_i128)(bias) * (rd_i128)(end - done);                   \
        }                                                                                                              \
    } while (0)

#define SIGN_BIT ((uint64_t)1 << 63)

/* One element type: how its terms and its products are summed. */
#define INTEGER(name, T, U, SUM_TERMS, SUM_MAGNITUDES, SUM_PRODUCTS)                                                   \
    static rd_i128 sum_##name(const T *x, size_t count) {                                                              \
        rd_i128 total = 0;                                                                                             \
        SUM_TERMS;                                                                                                     \
        return total;                                                                                                  \
    }                                                                                                                  \
    static rd_i128 magnitude_##name(const T *x, size_t count) {                                                        \
        rd_i128 total = 0;                                                                                             \
        SUM_MAGNITUDES;                                                                                                \
        return total;                                                                                                  \
    }                                                                                                                  \
    static void products_##name(struct rd_sum *sum, const T *x, const T *y, size_t count) {                            \
        rd_i128 total = 0;                                                                                             \
        SUM_PRODUCTS;                                                                                                  \
        rd_sum_add(sum, total, 0);                                                                                     \
    }                                                                                                                  \
    static void add_##name(struct rd_partial *partial, enum rd_transform transform, const void *x, const void *y,      \
                           size_t count) {                                                                             \
        if (transform == RD_IDENTITY || transform == RD_MOMENTS)                                                       \
            rd_sum_add(&partial->sum, sum_##name(x, count), 0);                                                        \
        if (transform == RD_ABSOLUTE)                                                                                  \
            rd_sum_add(&partial->sum, magnitude_##name(x, count), 0);                                                  \
        if (transform == RD_SQUARE || transform == RD_TIMES)                                                           \
            products_##name(&partial->sum, x, transform == RD_SQUARE ? x : y, count);                                  \
        if (transform == RD_MOMENTS)                                                                                   \
            products_##name(&partial->squares, x, x, count);                                                           \
        if (transform == RD_WEIGHTED) {                                                                                \
            rd_sum_add(&partial->sum, sum_##name(y, count), 0);                                                        \
            products_##name(&partial->squares, x, y, count);                                                           \
        }                                                                                                              \
    }

/* Products of 64-bit elements: sums modulo 2^128, and what they carry beyond; a negative product, read as an unsigned
 * one, is 2^128 too large. */
#define WIDE_PRODUCTS(P, sign)                                                                                         \
    do {                                                                                                               \
        rd_u128 low = 0;                                                                                               \
        int64_t carries = 0;                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                                           \
            P product = (P)x[i] * (P)y[i];                                                                             \
            carries += __builtin_add_overflow(low, (rd_u128)product, &low);                                            \
            carries += (sign);                                                                                         \
        }                                                                                                              \
        rd_sum_add(sum, (rd_i128)(uint64_t)low, 0);                                                                    \
        rd_sum_add(sum, (rd_i128)(uint64_t)(low >> 64), 64);                                                           \
        rd_sum_add(sum, carries, 128);                                                                                 \
    } while (0)

/* Bytes, flipped to make them unsigned, four at a time: the even and the odd ones of a word as two 16-bit sums,
 * which go to two 32-bit sums. Compilers widen bytes one step at a time, at half the speed. */
#define BYTE_SUM(flip)                                                                                                 \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t length = count - done < PIECE ? count - done : PIECE, fours = length / 4;                           \
            const unsigned char *byte = (const unsigned char *)x + done;                                               \
            uint32_t low = 0, high = 0;                                                                                \
            for (size_t i = 0; i < fours; i++) {                                                                       \
                uint32_t four;                                                                                         \
                memcpy(&four, byte + 4 * i, sizeof four);                                                              \
                four ^= (flip)*0x01010101u;                                                                            \
                uint32_t pairs = (four & 0x00ff00ff) + (four >> 8 & 0x00ff00ff);                                       \
                low += pairs & 0xffff;                                                                                 \
                high += pairs >> 16;                                                                                   \
            }                                                                                                          \
            for (size_t i = 4 * fours; i < length; i++)                                                                \
                low += (uint32_t)(byte[i] ^ (flip));                                                                   \
            total += (rd_i128)low + high - (rd_i128)(flip) * (rd_i128)length;                                          \
        }                                                                                                              \
    } while (0)

/* Products of bytes, widened a block at a time to 16 bits, for which processors have a multiply-and-add-pairs. */
#define BYTE_PRODUCTS                                                                                                  \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += RD_BLOCK) {                                                        \
            size_t length = count - done < RD_BLOCK ? count - done : RD_BLOCK;                                         \
            int16_t a[RD_BLOCK], b[RD_BLOCK];                                                                          \
            int32_t piece = 0;                                                                                         \
            for (size_t i = 0; i < length; i++) {                                                                      \
                a[i] = x[done + i];                                                                                    \
                b[i] = y[done + i];                                                                                    \
            }                                                                                                          \
            for (size_t i = 0; i < length; i++)                                                                        \
                piece += (int32_t)a[i] * b[i];                                                                         \
            total += piece;                                                                                            \
        }                                                                                                              \
    } while (0)

/* Products of 16 bits, in halves of 16 bits, so that the sums fit 32. */
#define HALF_PRODUCTS(P)                                                                                               \
    do {                                                                                                               \
        for (size_t done = 0; done < count; done += PIECE) {                                                           \
            size_t end = count - done < PIECE ? count : done + PIECE;                                                  \
            uint32_t low = 0;                                                                                          \
            P high = 0;                                                                                                \
            for (size_t i = done; i < end; i++) {                                                                      \
                P product = (P)x[i] * y[i];                                                                            \
                low += (uint32_t)product & 0xffff;                                                                     \
                high += product >> 16;                                                                                 \
            }                                                                                                          \
            total += (rd_i128)low + (rd_i128)high * 65536;                                                             \
        }                                                                                                              \
    } while (0)

INTEGER(i8, int8_t, uint8_t, BYTE_SUM(0x80u), NARROW_SUM(int32_t, ABSOLUTE(uint8_t, x[i])), BYTE_PRODUCTS)
INTEGER(u8, uint8_t, uint8_t, BYTE_SUM(0u), BYTE_SUM(0u), BYTE_PRODUCTS)
INTEGER(i16, int16_t, uint16_t, NARROW_SUM(int32_t, x[i]), NARROW_SUM(int32_t, ABSOLUTE(uint16_t, x[i])),
        HALF_PRODUCTS(int32_t))
INTEGER(u16, uint16_t, uint16_t, NARROW_SUM(uint32_t, x[i]), NARROW_SUM(uint32_t, x[i]), HALF_PRODUCTS(uint32_t))
INTEGER(i32, int32_t, uint32_t, NARROW_SUM(int64_t, x[i]), NARROW_SUM(int64_t, ABSOLUTE(uint32_t, x[i])),
        WIDE_SUM((int64_t)x[i] * y[i], SIGN_BIT))
INTEGER(u32, uint32_t, uint32_t, NARROW_SUM(uint64_t, x[i]), NARROW_SUM(uint64_t, x[i]),
        WIDE_SUM((uint64_t)x[i] * y[i], (uint64_t)0))
INTEGER(i64, int64_t, uint64_t, WIDE_SUM(x[i], SIGN_BIT), WIDE_SUM(ABSOLUTE(uint64_t, x[i]), (uint64_t)0),
        WIDE_PRODUCTS(rd_i128, (int64_t)(product >> 127)))
INTEGER(u64, uint64_t, uint64_t, WIDE_SUM(x[i], (uint64_t)0), WIDE_SUM(x[i], (uint64_t)0), WIDE_PRODUCTS(rd_u128, 0))

/* Of pairs, how many have no zero byte: in vectors of bytes, of which as many are added up as a byte counts. */
static size_t count_true(const unsigned char *x, const unsigned char *y, size_t count) {
    typedef unsigned char bytes __attribute__((vector_size(VECTOR_BYTES)));
    const size_t ahead = bytes_ahead(count);
    size_t total = 0, i = 0;
    while (count - i >= VECTOR_BYTES) {
        bytes found = {0}, a, b;
        for (int row = 0; row < 255 && count - i >= VECTOR_BYTES; row++, i += VECTOR_BYTES) {
            memcpy(&a, x + i, sizeof a);
            memcpy(&b, y + i, sizeof b);
            READ_AHEAD(x + i, count - i > ahead ? ahead : 0);
            found -= (bytes)((a != 0) & (b != 0)); /* a comparison gives -1 */
        }
        for (int l = 0; l < VECTOR_BYTES; l++)
            total += found[l];
    }
    for (; i < count; i++)
        total += x[i] && y[i];
    return total;
}

/* bool: 1 where a byte is not 0. Squares and absolute values are the same. */
static void add_bool(struct rd_partial *partial, enum rd_transform transform, const void *x, const void *y,
                     size_t count) {
    const bool pairs = transform == RD_TIMES || transform == RD_WEIGHTED;
    const size_t ones = count_true(x, pairs ? y : x, count);
    rd_sum_add(&partial->sum, transform == RD_WEIGHTED ? (rd_i128)count_true(y, y, count) : (rd_i128)ones, 0);
    if (transform == RD_MOMENTS || transform == RD_WEIGHTED)
        rd_sum_add(&partial->squares, (rd_i128)ones, 0);
}
