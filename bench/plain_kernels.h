/* Plain loops for one element type and one instruction set. Included by plain_set.h once per type, which defines
 *
 *   TYPE, TYPE_NAME  element type: double, f64
 *   INDEX_TYPE       the signed integer as wide as TYPE
 *   FIELD            of plain_partial that takes an extreme: real, integer
 *   IS_FLOAT         1, 0
 *   LEAST(a, b), GREATEST(a, b)  optional: of two vectors, lane by lane, by one instruction
 *   WIDEN(address)   optional: half a vector of integers as a vector of 64-bit ones, by one instruction
 *   STORED           optional: what elements are in memory, where they are taken as TYPE; and with it
 *   LOAD(address)    as many of them as a vector, and
 *   ONE(stored)      one of them
 *
 * and, from its own includer, PLAIN_SET and PLAIN_BYTES. Everything here is undefined again at the end.
 *
 * `body` functions are inlined into two instances each, with `prefetch` (and `kind`) constants. */
#define NAME(thing)     PLAIN_PASTE(thing, TYPE_NAME, PLAIN_SET)
#define LANES           (PLAIN_BYTES / sizeof(TYPE))
#define vec             NAME(vec)
#define index_vec       NAME(index_vec)
#define SELECT(m, a, b) ((vec)(((index_vec)(a) & (m)) | ((index_vec)(b) & ~(m))))
#ifndef LEAST
#define LEAST(a, b) SELECT((a) < (b), a, b)
#endif
#ifndef GREATEST
#define GREATEST(a, b) SELECT((a) > (b), a, b)
#endif
#ifndef STORED
#define STORED        TYPE
#define LOAD(address) (*(const vec *)(address))
#define ONE(stored)   (stored)
#endif

typedef PLAIN_VECTOR(TYPE, LANES) vec;
typedef PLAIN_VECTOR(INDEX_TYPE, LANES) index_vec;

#if IS_FLOAT

/* What is added up: the element, its absolute value, its square, its product with the other array's. Where there is no other
 * array, y is x. */
PLAIN_INLINE vec NAME(term)(plain_kind kind, const STORED *x, const STORED *y) {
    vec value = LOAD(x);
    switch (kind) {
    case PLAIN_NORM1: /* all bits but the sign */
        return (vec)((index_vec)value & (INDEX_TYPE)(((uint64_t)1 << (8 * sizeof(TYPE) - 1)) - 1));
    case PLAIN_SQUARES:
        return value * value;
    case PLAIN_DOT:
        return value * LOAD(y);
    default:
        return value;
    }
}

PLAIN_INLINE TYPE NAME(term_alone)(plain_kind kind, TYPE x, TYPE y) {
    return kind == PLAIN_NORM1 ? (x < 0 ? -x : x) : kind == PLAIN_SQUARES ? x * x : kind == PLAIN_DOT ? x * y : x;
}

PLAIN_INLINE TYPE NAME(total)(const vec *sums, int count) {
    TYPE total = 0;
    for (int j = 0; j < count; j++)
        for (size_t lane = 0; lane < LANES; lane++)
            total += sums[j][lane];
    return total;
}

PLAIN_INLINE void NAME(add_body)(plain_kind kind, int prefetch, const STORED *x, const STORED *y, size_t count,
                                 plain_partial *partial) {
    vec sums[8] = {{0}};
    size_t i = 0;
    for (; i + 8 * LANES <= count; i += 8 * LANES) {
        PLAIN_UNROLL(8)
        for (size_t j = 0; j < 8; j++) {
            plain_fetch(x + i + j * LANES, prefetch);
            if (kind == PLAIN_DOT)
                plain_fetch(y + i + j * LANES, prefetch);
            sums[j] += NAME(term)(kind, x + i + j * LANES, y + i + j * LANES);
        }
    }
    TYPE total = NAME(total)(sums, 8);
    for (; i < count; i++)
        total += NAME(term_alone)(kind, ONE(x[i]), kind == PLAIN_DOT ? ONE(y[i]) : 0);
    partial->real = (double)total;
}

PLAIN_INLINE void NAME(moments_body)(int prefetch, const STORED *x, size_t count, plain_partial *partial) {
    vec sums[4] = {{0}}, squares[4] = {{0}};
    size_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
        PLAIN_UNROLL(4)
        for (size_t j = 0; j < 4; j++) {
            plain_fetch(x + i + j * LANES, prefetch);
            vec value = LOAD(x + i + j * LANES);
            sums[j] += value;
            squares[j] += value * value;
        }
    }
    TYPE total = NAME(total)(sums, 4), total_squares = NAME(total)(squares, 4);
    for (; i < count; i++) {
        total += ONE(x[i]);
        total_squares += ONE(x[i]) * ONE(x[i]);
    }
    partial->real = (double)total;
    partial->squares = (double)total_squares;
}

PLAIN_INSTANCES(sum, NAME(add_body)(PLAIN_SUM, prefetch, x, x, count, partial))
PLAIN_INSTANCES(norm1, NAME(add_body)(PLAIN_NORM1, prefetch, x, x, count, partial))
PLAIN_INSTANCES(squares, NAME(add_body)(PLAIN_SQUARES, prefetch, x, x, count, partial))
PLAIN_INSTANCES(dot, NAME(add_body)(PLAIN_DOT, prefetch, x, y, count, partial))
PLAIN_INSTANCES(moments, NAME(moments_body)(prefetch, x, count, partial))

#else

/* Integers are widened to 64 bits before they are added. */
PLAIN_INLINE void NAME(add_body)(int prefetch, const TYPE *x, size_t count, plain_partial *partial) {
    enum { WIDE = PLAIN_BYTES / sizeof(int64_t) };
    typedef PLAIN_VECTOR(int64_t, WIDE) wide_vec;
#ifndef WIDEN
    typedef PLAIN_VECTOR(TYPE, WIDE) narrow_vec;
#define WIDEN(address) __builtin_convertvector(*(const narrow_vec *)(address), wide_vec)
#endif
    wide_vec sums[8] = {{0}};
    size_t i = 0;
    for (; i + 8 * WIDE <= count; i += 8 * WIDE) {
        PLAIN_UNROLL(8)
        for (size_t j = 0; j < 8; j++) {
            plain_fetch(x + i + j * WIDE, prefetch);
            sums[j] += (wide_vec)WIDEN(x + i + j * WIDE);
        }
    }
    int64_t total = 0;
    for (int j = 0; j < 8; j++)
        for (int lane = 0; lane < WIDE; lane++)
            total += sums[j][lane];
    for (; i < count; i++)
        total += x[i];
    partial->integer = total;
}

PLAIN_INSTANCES(sum, NAME(add_body)(prefetch, x, count, partial))

#endif

PLAIN_INLINE vec NAME(all)(TYPE value) {
    return (vec){0} + value;
}

PLAIN_INLINE vec NAME(better)(plain_kind kind, vec a, vec b) {
    return kind == PLAIN_MIN ? LEAST(a, b) : GREATEST(a, b);
}

PLAIN_INLINE TYPE NAME(better_alone)(plain_kind kind, TYPE a, TYPE b) {
    return (kind == PLAIN_MIN ? a < b : a > b) ? a : b;
}

PLAIN_INLINE void NAME(extreme_body)(plain_kind kind, int prefetch, const STORED *x, size_t count,
                                     plain_partial *partial) {
    vec best[8];
    for (int j = 0; j < 8; j++)
        best[j] = NAME(all)(ONE(x[0]));
    size_t i = 0;
    for (; i + 8 * LANES <= count; i += 8 * LANES) {
        PLAIN_UNROLL(8)
        for (size_t j = 0; j < 8; j++) {
            plain_fetch(x + i + j * LANES, prefetch);
            vec value = LOAD(x + i + j * LANES);
            best[j] = NAME(better)(kind, value, best[j]);
        }
    }
    TYPE result = ONE(x[0]);
    for (int j = 0; j < 8; j++)
        for (size_t lane = 0; lane < LANES; lane++)
            result = NAME(better_alone)(kind, best[j][lane], result);
    for (; i < count; i++)
        result = NAME(better_alone)(kind, ONE(x[i]), result);
    partial->FIELD = result;
}

/* Each lane remembers the number of the step at which it last found something smaller: 2^31 steps of four vectors are
 * more than any array here has. */
PLAIN_INLINE void NAME(argmin_body)(int prefetch, const STORED *x, size_t count, plain_partial *partial) {
    vec least[4];
    index_vec found[4] = {{0}};
    for (int j = 0; j < 4; j++)
        least[j] = NAME(all)(ONE(x[0]));
    size_t i = 0;
    index_vec step = {0};
    for (; i + 4 * LANES <= count; i += 4 * LANES, step += 1) {
        PLAIN_UNROLL(4)
        for (size_t j = 0; j < 4; j++) {
            plain_fetch(x + i + j * LANES, prefetch);
            vec value = LOAD(x + i + j * LANES);
            index_vec smaller = value < least[j];
            least[j] = SELECT(smaller, value, least[j]);
            found[j] = (step & smaller) | (found[j] & ~smaller);
        }
    }
    TYPE result = ONE(x[0]);
    uint64_t index = 0;
    for (int j = 0; j < 4; j++)
        for (size_t lane = 0; lane < LANES; lane++) {
            uint64_t at = ((uint64_t)found[j][lane] * 4 + (uint64_t)j) * LANES + lane;
            if (least[j][lane] < result || (least[j][lane] == result && at < index)) {
                result = least[j][lane];
                index = at;
            }
        }
    for (; i < count; i++)
        if (ONE(x[i]) < result) {
            result = ONE(x[i]);
            index = i;
        }
    partial->FIELD = result;
    partial->index = index;
}

PLAIN_INSTANCES(min, NAME(extreme_body)(PLAIN_MIN, prefetch, x, count, partial))
PLAIN_INSTANCES(max, NAME(extreme_body)(PLAIN_MAX, prefetch, x, count, partial))
PLAIN_INSTANCES(argmin, NAME(argmin_body)(prefetch, x, count, partial))

#undef NAME
#undef LANES
#undef vec
#undef index_vec
#undef SELECT
#undef LEAST
#undef GREATEST
#undef WIDEN
#undef STORED
#undef LOAD
#undef ONE
#undef TYPE
#undef TYPE_NAME
#undef INDEX_TYPE
#undef FIELD
#undef IS_FLOAT
