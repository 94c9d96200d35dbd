/* All plain loops of one instruction set. Included once by a .c file compiled for that set, which defines
 *
 *   PLAIN_SET                 its name: portable, avx2, avx512
 *   PLAIN_BYTES               bytes of a vector
 *   PLAIN_LEAST_<type>(a, b), PLAIN_GREATEST_<type>(a, b)
 *                             of two vectors, lane by lane; only where there is an instruction for it
 *   PLAIN_WIDEN_i32(address)  a vector of 64-bit integers from as many 32-bit ones; where compilers need to be told
 *   PLAIN_LOAD_f16(address)   a vector of f32 from as many f16; only where there is an instruction for it
 *
 * The loops are written with the vector extension of gcc and clang, so one text serves every set. */
#include "plain.h"

#include <string.h>

#define PLAIN_PASTE2(a, b, c) a##_##b##_##c
#define PLAIN_PASTE(a, b, c)  PLAIN_PASTE2(a, b, c)
#define PLAIN_PRAGMA(text)    _Pragma(#text)
#define PLAIN_INLINE          static inline __attribute__((always_inline))
#if defined(__clang__)
#define PLAIN_UNROLL(times) PLAIN_PRAGMA(unroll times)
#else
#define PLAIN_UNROLL(times) PLAIN_PRAGMA(GCC unroll times)
#endif

/* `n` elements as one vector, at any address that suits the element. */
#define PLAIN_VECTOR(T, n) T __attribute__((vector_size(sizeof(T) * (n)), aligned(sizeof(T)), may_alias))

/* The two instances of a loop; `body` is a call that may use x, y, count, partial and the constant `prefetch`. */
#define PLAIN_INSTANCE(name, PREFETCH, body)                                                                           \
    static void name(const void *x, const void *y, size_t count, plain_partial *partial) {                             \
        enum { prefetch = PREFETCH };                                                                                  \
        (void)y;                                                                                                       \
        body;                                                                                                          \
    }
#define PLAIN_INSTANCES(kind, body)                                                                                    \
    PLAIN_INSTANCE(NAME(kind), 0, body)                                                                                \
    PLAIN_INSTANCE(NAME(kind##_prefetch), 1, body)

/* How far ahead to prefetch: far enough to hide the latency of memory, near enough to stay in the first cache. */
#define PLAIN_AHEAD 4096

PLAIN_INLINE void plain_fetch(const void *address, int prefetch) {
    if (prefetch)
        __builtin_prefetch((const char *)address + PLAIN_AHEAD);
}

#define TYPE       double
#define TYPE_NAME  f64
#define INDEX_TYPE int64_t
#define FIELD      real
#define IS_FLOAT   1
#ifdef PLAIN_LEAST_f64
#define LEAST PLAIN_LEAST_f64
#endif
#ifdef PLAIN_GREATEST_f64
#define GREATEST PLAIN_GREATEST_f64
#endif
#include "plain_kernels.h"

#define TYPE       float
#define TYPE_NAME  f32
#define INDEX_TYPE int32_t
#define FIELD      real
#define IS_FLOAT   1
#ifdef PLAIN_LEAST_f32
#define LEAST PLAIN_LEAST_f32
#endif
#ifdef PLAIN_GREATEST_f32
#define GREATEST PLAIN_GREATEST_f32
#endif
#include "plain_kernels.h"

/* Floats of 16 bits, as f32. */
typedef PLAIN_VECTOR(uint16_t, PLAIN_BYTES / 4) plain_halves;
typedef PLAIN_VECTOR(uint32_t, PLAIN_BYTES / 4) plain_words;
typedef PLAIN_VECTOR(float, PLAIN_BYTES / 4) plain_floats;

PLAIN_INLINE plain_words plain_widened(const uint16_t *address) {
    return __builtin_convertvector(*(const plain_halves *)address, plain_words);
}

PLAIN_INLINE plain_floats plain_load_bf16(const uint16_t *address) {
    return (plain_floats)(plain_widened(address) << 16);
}

/* Exponent and significand, moved to where f32 has them, are 2^112 times too small; the largest exponent stays. */
PLAIN_INLINE plain_floats plain_load_f16(const uint16_t *address) {
    const plain_words bits = plain_widened(address), magnitude = bits & 0x7fff;
    const plain_floats value = (plain_floats)(magnitude << 13) * 0x1p112f;
    return (plain_floats)((plain_words)value | ((plain_words)(magnitude >= 0x7c00) & 0x7f800000) |
                          (bits & 0x8000) << 16);
}

PLAIN_INLINE float plain_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

PLAIN_INLINE float plain_one_f16(uint16_t bits) {
    const uint32_t magnitude = bits & 0x7fff;
    const float value =
        magnitude < 0x7c00 ? plain_float(magnitude << 13) * 0x1p112f : plain_float(magnitude << 13 | 0x7f800000);
    return bits & 0x8000 ? -value : value;
}

#define TYPE        float
#define TYPE_NAME   f16
#define INDEX_TYPE  int32_t
#define FIELD       real
#define IS_FLOAT    1
#define STORED      uint16_t
#define ONE(stored) plain_one_f16(stored)
#ifdef PLAIN_LOAD_f16
#define LOAD(address) ((vec)PLAIN_LOAD_f16(address))
#else
#define LOAD(address) ((vec)plain_load_f16(address))
#endif
#ifdef PLAIN_LEAST_f32
#define LEAST PLAIN_LEAST_f32
#endif
#ifdef PLAIN_GREATEST_f32
#define GREATEST PLAIN_GREATEST_f32
#endif
#include "plain_kernels.h"

#define TYPE          float
#define TYPE_NAME     bf16
#define INDEX_TYPE    int32_t
#define FIELD         real
#define IS_FLOAT      1
#define STORED        uint16_t
#define ONE(stored)   plain_float((uint32_t)(stored) << 16)
#define LOAD(address) ((vec)plain_load_bf16(address))
#ifdef PLAIN_LEAST_f32
#define LEAST PLAIN_LEAST_f32
#endif
#ifdef PLAIN_GREATEST_f32
#define GREATEST PLAIN_GREATEST_f32
#endif
#include "plain_kernels.h"

#define TYPE       int64_t
#define TYPE_NAME  i64
#define INDEX_TYPE int64_t
#define FIELD      integer
#define IS_FLOAT   0
#ifdef PLAIN_LEAST_i64
#define LEAST PLAIN_LEAST_i64
#endif
#ifdef PLAIN_GREATEST_i64
#define GREATEST PLAIN_GREATEST_i64
#endif
#include "plain_kernels.h"

#define TYPE       int32_t
#define TYPE_NAME  i32
#define INDEX_TYPE int32_t
#define FIELD      integer
#define IS_FLOAT   0
#ifdef PLAIN_LEAST_i32
#define LEAST PLAIN_LEAST_i32
#endif
#ifdef PLAIN_GREATEST_i32
#define GREATEST PLAIN_GREATEST_i32
#endif
#ifdef PLAIN_WIDEN_i32
#define WIDEN PLAIN_WIDEN_i32
#endif
#include "plain_kernels.h"

#define ENTRY(kind, type)                                                                                              \
    { PLAIN_PASTE(kind, type, PLAIN_SET), PLAIN_PASTE(kind##_prefetch, type, PLAIN_SET) }
#define FLOATS(kind)                                                                                                   \
    {                                                                                                                  \
        [PLAIN_F64] = ENTRY(kind, f64), [PLAIN_F32] = ENTRY(kind, f32), [PLAIN_F16] = ENTRY(kind, f16),                \
        [PLAIN_BF16] = ENTRY(kind, bf16)                                                                               \
    }
#define ALL(kind)                                                                                                      \
    {                                                                                                                  \
        [PLAIN_F64] = ENTRY(kind, f64), [PLAIN_F32] = ENTRY(kind, f32), [PLAIN_F16] = ENTRY(kind, f16),                \
        [PLAIN_BF16] = ENTRY(kind, bf16), [PLAIN_I64] = ENTRY(kind, i64), [PLAIN_I32] = ENTRY(kind, i32)               \
    }

/* clang-format off */
const plain_set PLAIN_PASTE(plain, set, PLAIN_SET) = {.kernels = {
    [PLAIN_SUM]     = ALL(sum),
    [PLAIN_NORM1]   = FLOATS(norm1),
    [PLAIN_SQUARES] = FLOATS(squares),
    [PLAIN_DOT]     = FLOATS(dot),
    [PLAIN_MOMENTS] = FLOATS(moments),
    [PLAIN_MIN]     = ALL(min),
    [PLAIN_MAX]     = ALL(max),
    [PLAIN_ARGMIN]  = ALL(argmin),
}};
/* clang-format on */
