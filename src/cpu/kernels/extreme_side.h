/* Part of template.h: extremes of many results side by side. Elements become keys, signed integers of their own width that order
 * as is asked for, so that the largest key is the extreme: with -0 below +0, and NaNs above all else, or below where they are
 * ignored. Plain loops, which compilers vectorise. */

/* Rows of columns that are read at a time, and columns; see trial.h. */
enum { KEY_ROWS = 4, KEY_COLUMNS = 64 };

#ifdef TRIAL_READ_AHEAD
#define KEY_READ_AHEAD(at) TRIAL_READ_AHEAD(at)
#else
#define KEY_READ_AHEAD(at) (void)(at)
#endif

/* `sign`: its sign bit. What is xor-ed turns the order round, and makes unsigned numbers signed ones. */
#define KEY_SIGN(T)           ((T)((uint64_t)1 << (8 * sizeof(T) - 1)))
#define KEY_NEGATIVE(T, bits) ((T)((bits) >> (8 * sizeof(T) - 1)))
/* The magnitude of the least number is its own bits: hence unsigned arithmetic, which wraps. */
#define SIGNED_KEY(T, bits)                                                                                            \
    ((T)((uint64_t)((bits) ^ (KEY_NEGATIVE(T, bits) & magnitude)) - (uint64_t)(KEY_NEGATIVE(T, bits) & magnitude)) ^   \
     turn)
#define UNSIGNED_KEY(T, bits) (T)((bits) ^ turn)
/* INFINITE: the bits of infinity. */
#define FLOAT_KEY(T, bits, INFINITE)                                                                                   \
    ((T)((bits) & ~KEY_SIGN(T)) > (T)(INFINITE)                                                                        \
         ? nan                                                                                                         \
         : (T)(((bits)&kept) ^ (KEY_NEGATIVE(T, (bits)&kept) & (T)~KEY_SIGN(T)) ^ turn))
#define KEY_f64(T, bits)  FLOAT_KEY(T, bits, (uint64_t)0x7ff << 52)
#define KEY_f32(T, bits)  FLOAT_KEY(T, bits, (uint32_t)0xff << 23)
#define KEY_f16(T, bits)  FLOAT_KEY(T, bits, 0x7c00)
#define KEY_bf16(T, bits) FLOAT_KEY(T, bits, 0x7f80)

/* The bits that a key was made of: not of a NaN, nor where magnitudes are asked for. */
#define BITS_OF_KEY(T, key)       ((T)((key) ^ turn))
#define BITS_OF_FLOAT_KEY(T, key) (BITS_OF_KEY(T, key) ^ (KEY_NEGATIVE(T, BITS_OF_KEY(T, key)) & (T)~KEY_SIGN(T)))

/* Some rows of columns; how many is a constant. */
#define KEY_COLUMNS_OF(T, KEY, some)                                                                                   \
    for (size_t c = 0; c < wide; c++) {                                                                                \
        T most = k[c];                                                                                                 \
        for (size_t r = 0; r < (some); r++) {                                                                          \
            const T bits = x[(ptrdiff_t)r * step + (ptrdiff_t)c], v = KEY(T, bits);                                    \
            most = v > most ? v : most;                                                                                \
        }                                                                                                              \
        k[c] = most;                                                                                                   \
    }

/* T: of keys. SPAN: elements whose number a key's type holds. BITS: one of these. Indices are asked for of least and greatest
 * values, never of magnitudes. */
#define KEY_EXTREMES(name, T, KEY, BITS, SPAN, is_signed)                                                              \
    static void extreme_columns_##name(const struct rd_keys *keys, const void *from, ptrdiff_t step, size_t rows,      \
                                       size_t columns, void *room, void *best, uint64_t *index) {                      \
        KEY_CONSTANTS(T, is_signed);                                                                                   \
        T *const found = best, *restrict key = index ? room : best, *restrict place = (T *)room + columns;             \
        for (size_t c = 0; keys->first == 0 && c < columns; c++)                                                       \
            found[c] = KEY_SIGN(T);                                                                                    \
        for (size_t first = 0; first < rows; first += (SPAN)) {                                                        \
            const size_t end = rows - first < (SPAN) ? rows : first + (SPAN);                                          \
            for (size_t c = 0; index && c < columns; c++) {                                                            \
                key[c] = KEY_SIGN(T);                                                                                  \
                place[c] = 0;                                                                                          \
            }                                                                                                          \
            for (size_t row = first, some; row < end; row += some) {                                                   \
                some = end - row >= KEY_ROWS ? KEY_ROWS : end - row >= 2 ? 2 : 1;                                      \
                const T number = (T)(row - first);                                                                     \
                for (size_t at = 0; at < columns; at += KEY_COLUMNS) {                                                 \
                    const size_t wide = columns - at < KEY_COLUMNS ? columns - at : KEY_COLUMNS;                       \
                    const T *x = (const T *)from + (ptrdiff_t)row * step + at;                                         \
                    T *restrict k = key + at, *restrict p = place + at;                                                \
                    for (size_t r = 0; columns > 4 * KEY_COLUMNS && r < some && row + r + KEY_ROWS < rows; r++)        \
                        for (size_t b = 0; b < sizeof(T) * KEY_COLUMNS; b += 64)                                       \
                            KEY_READ_AHEAD((const char *)(x + (ptrdiff_t)(r + KEY_ROWS) * step) + b);                  \
                    if (index)                                                                                         \
                        for (size_t r = 0; r < some; r++, x += step)                                                   \
                            for (size_t c = 0; c < wide; c++) {                                                        \
                                const T bits = x[c], v = KEY(T, bits);                                                 \
                                p[c] = v > k[c] ? (T)(number + (T)r) : p[c];                                           \
                                k[c] = v > k[c] ? v : k[c];                                                            \
                            }                                                                                          \
                    else if (some == KEY_ROWS)                                                                         \
                        KEY_COLUMNS_OF(T, KEY, KEY_ROWS)                                                               \
                    else if (some == 2)                                                                                \
                        KEY_COLUMNS_OF(T, KEY, 2)                                                                      \
                    else                                                                                               \
                        KEY_COLUMNS_OF(T, KEY, 1)                                                                      \
                }                                                                                                      \
            }                                                                                                          \
            const uint64_t from_here = keys->first + first;                                                            \
            for (size_t c = 0; index && c < columns; c++) {                                                            \
                const bool more = key[c] > found[c];                                                                   \
                index[c] = more ? from_here + (uint64_t)place[c] : from_here ? index[c] : 0;                           \
                found[c] = more ? key[c] : found[c];                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void extreme_rows_##name(const struct rd_keys *keys, const void *from, ptrdiff_t step, size_t rows,         \
                                    size_t count, void *best, uint64_t *index) {                                       \
        KEY_CONSTANTS(T, is_signed);                                                                                   \
        const T *x = from;                                                                                             \
        T *const found = best;                                                                                         \
        for (size_t row = 0; row < rows; row++, x += step) {                                                           \
            T so_far = keys->first ? found[row] : KEY_SIGN(T);                                                         \
            if (index && !keys->first)                                                                                 \
                index[row] = 0;                                                                                        \
            for (size_t first = 0; first < count; first += (SPAN)) {                                                   \
                const size_t end = count - first < (SPAN) ? count : first + (SPAN);                                    \
                T most = KEY_SIGN(T), place = (T)(end - first - 1);                                                    \
                for (size_t i = first; i < end; i++) {                                                                 \
                    const T bits = x[i], v = KEY(T, bits);                                                             \
                    most = v > most ? v : most;                                                                        \
                }                                                                                                      \
                if (index && most > so_far && !(keys->is_float && most == nan)) {                                      \
                    const T bits = BITS(T, most);                                                                      \
                    index[row] = keys->first + first + find_bytes(x + first, end - first, (uint64_t)bits, sizeof(T));  \
                } else if (index && most > so_far) {                                                                   \
                    for (size_t i = first; i < end; i++) {                                                             \
                        const T bits = x[i], v = KEY(T, bits);                                                         \
                        const T here = v == most ? (T)(i - first) : place;                                             \
                        place = here < place ? here : place;                                                           \
                    }                                                                                                  \
                    index[row] = keys->first + first + (uint64_t)place;                                                \
                }                                                                                                      \
                so_far = most > so_far ? most : so_far;                                                                \
            }                                                                                                          \
            found[row] = so_far;                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    static bool bits_of_keys_##name(const struct rd_keys *keys, const void *best, size_t count, void *to) {            \
        KEY_CONSTANTS(T, is_signed);                                                                                   \
        typedef T result __attribute__((aligned(1), may_alias));                                                       \
        const T *restrict key = best, special = keys->is_float ? (T)-1 : (T)0, not_number = (T)keys->nan_bits;         \
        result *restrict bits = to;                                                                                    \
        T odd = 0;                                                                                                     \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const T is_nan = (T)(key[i] == nan ? special : (T)0), ordinary = (T)BITS(T, key[i]);                       \
            bits[i] = is_nan ? not_number : ordinary;                                                                  \
            odd |= is_nan;                                                                                             \
        }                                                                                                              \
        return odd;                                                                                                    \
    }

/* What the keys of a type are made with; those that a kind of type does not need are not read. */
#define KEY_CONSTANTS(T, is_signed)                                                                                    \
    const bool offset = !(is_signed) || (keys->which == RD_LARGEST && !keys->is_float);                                \
    const T turn = (T)((keys->which == RD_LOWEST ? (T)-1 : (T)0) ^ (offset ? KEY_SIGN(T) : (T)0));                     \
    const T magnitude = keys->which == RD_LARGEST ? (T)-1 : (T)0;                                                      \
    const T kept = keys->which == RD_LARGEST ? (T)~KEY_SIGN(T) : (T)-1;                                                \
    const T nan = keys->ignore_nan ? KEY_SIGN(T) : (T)~KEY_SIGN(T);                                                    \
    (void)magnitude;                                                                                                   \
    (void)kept;                                                                                                        \
    (void)nan

enum { SPAN_8 = 124, SPAN_16 = 32764, SPAN_WIDE = 1 << 30 };
KEY_EXTREMES(i8, int8_t, SIGNED_KEY, BITS_OF_KEY, SPAN_8, true)
KEY_EXTREMES(i16, int16_t, SIGNED_KEY, BITS_OF_KEY, SPAN_16, true)
KEY_EXTREMES(i32, int32_t, SIGNED_KEY, BITS_OF_KEY, SPAN_WIDE, true)
KEY_EXTREMES(i64, int64_t, SIGNED_KEY, BITS_OF_KEY, SPAN_WIDE, true)
KEY_EXTREMES(u8, int8_t, UNSIGNED_KEY, BITS_OF_KEY, SPAN_8, false)
KEY_EXTREMES(u16, int16_t, UNSIGNED_KEY, BITS_OF_KEY, SPAN_16, false)
KEY_EXTREMES(u32, int32_t, UNSIGNED_KEY, BITS_OF_KEY, SPAN_WIDE, false)
KEY_EXTREMES(u64, int64_t, UNSIGNED_KEY, BITS_OF_KEY, SPAN_WIDE, false)
KEY_EXTREMES(f32, int32_t, KEY_f32, BITS_OF_FLOAT_KEY, SPAN_WIDE, true)
KEY_EXTREMES(f64, int64_t, KEY_f64, BITS_OF_FLOAT_KEY, SPAN_WIDE, true)
KEY_EXTREMES(f16, int16_t, KEY_f16, BITS_OF_FLOAT_KEY, SPAN_16, true)
KEY_EXTREMES(bf16, int16_t, KEY_bf16, BITS_OF_FLOAT_KEY, SPAN_16, true)
