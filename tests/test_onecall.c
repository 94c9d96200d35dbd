/* The calls of one line, for every operator and element type, bit for bit against the oracle; linked with the shared
 * library, so that each is exported, too. */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

#undef bool /* a part of names here, not the macro of stdbool.h */

enum { MOST = 3000 };

/* A call by name with the types that the header promises, seen through untyped pointers. */
typedef reduct_status call(const void *x, const void *y, size_t count, void *result);

#define ONE(op, name, T, RESULT)                                                                                       \
    static reduct_status call_##op##_##name(const void *x, const void *y, size_t count, void *result) {                \
        RESULT typed;                                                                                                  \
        const T *elements = x;                                                                                         \
        (void)y;                                                                                                       \
        memcpy(&typed, result, sizeof typed);                                                                          \
        const reduct_status status = reduct_##op##_##name(elements, count, &typed);                                    \
        memcpy(result, &typed, sizeof typed);                                                                          \
        return status;                                                                                                 \
    }
#define TWO(op, name, T, RESULT)                                                                                       \
    static reduct_status call_##op##_##name(const void *x, const void *y, size_t count, void *result) {                \
        RESULT typed;                                                                                                  \
        const T *first = x, *second = y;                                                                               \
        memcpy(&typed, result, sizeof typed);                                                                          \
        const reduct_status status = reduct_##op##_##name(first, second, count, &typed);                               \
        memcpy(result, &typed, sizeof typed);                                                                          \
        return status;                                                                                                 \
    }
#define PAIR(op, name, T)                                                                                              \
    static reduct_status call_##op##_##name(const void *x, const void *y, size_t count, void *result) {                \
        T typed[2];                                                                                                    \
        const T *elements = x;                                                                                         \
        (void)y;                                                                                                       \
        memcpy(typed, result, sizeof typed);                                                                           \
        const reduct_status status = reduct_##op##_##name(elements, count, typed);                                     \
        memcpy(result, typed, sizeof typed);                                                                           \
        return status;                                                                                                 \
    }
#define BITS(name, T)                                                                                                  \
    ONE(and, name, T, T)                                                                                               \
    ONE(or, name, T, T)                                                                                                \
    ONE(xor, name, T, T)
#define LIST_BITS(name)  [REDUCT_AND] = call_and_##name, [REDUCT_OR] = call_or_##name, [REDUCT_XOR] = call_xor_##name,
#define NO_BITS(name, T) /* for floats, of which these mean nothing */
#define LIST_NO_BITS(name)
#define ALL(name, ID, T, SUM, MAGNITUDE, REAL, ABSOLUTE, BITS)                                                         \
    ONE(sum, name, T, SUM)                                                                                             \
    ONE(mean, name, T, REAL)                                                                                           \
    ONE(var, name, T, REAL)                                                                                            \
    ONE(std, name, T, REAL)                                                                                            \
    ONE(sumsq, name, T, MAGNITUDE)                                                                                     \
    ONE(norm1, name, T, MAGNITUDE)                                                                                     \
    ONE(norm2, name, T, REAL)                                                                                          \
    ONE(norminf, name, T, ABSOLUTE)                                                                                    \
    ONE(rms, name, T, REAL)                                                                                            \
    TWO(dot, name, T, SUM)                                                                                             \
    ONE(product, name, T, SUM)                                                                                         \
    ONE(min, name, T, T)                                                                                               \
    ONE(max, name, T, T)                                                                                               \
    ONE(argmin, name, T, uint64_t)                                                                                     \
    ONE(argmax, name, T, uint64_t)                                                                                     \
    ONE(count, name, T, uint64_t)                                                                                      \
    ONE(count_nonzero, name, T, uint64_t)                                                                              \
    ONE(any, name, T, uint8_t)                                                                                         \
    ONE(all, name, T, uint8_t)                                                                                         \
    BITS(name, T)                                                                                                      \
    PAIR(minmax, name, T)                                                                                              \
    ONE(ptp, name, T, ABSOLUTE)                                                                                        \
    TWO(weighted_mean, name, T, REAL)                                                                                  \
    static call *const calls_##name[] = {[REDUCT_SUM] = call_sum_##name,                                               \
                                         [REDUCT_MEAN] = call_mean_##name,                                             \
                                         [REDUCT_VAR] = call_var_##name,                                               \
                                         [REDUCT_STD] = call_std_##name,                                               \
                                         [REDUCT_SUMSQ] = call_sumsq_##name,                                           \
                                         [REDUCT_NORM1] = call_norm1_##name,                                           \
                                         [REDUCT_NORM2] = call_norm2_##name,                                           \
                                         [REDUCT_NORMINF] = call_norminf_##name,                                       \
                                         [REDUCT_RMS] = call_rms_##name,                                               \
                                         [REDUCT_DOT] = call_dot_##name,                                               \
                                         [REDUCT_MIN] = call_min_##name,                                               \
                                         [REDUCT_MAX] = call_max_##name,                                               \
                                         [REDUCT_ARGMIN] = call_argmin_##name,                                         \
                                         [REDUCT_ARGMAX] = call_argmax_##name,                                         \
                                         [REDUCT_PRODUCT] = call_product_##name,                                       \
                                         [REDUCT_COUNT] = call_count_##name,                                           \
                                         [REDUCT_COUNT_NONZERO] = call_count_nonzero_##name,                           \
                                         [REDUCT_ANY] = call_any_##name,                                               \
                                         [REDUCT_ALL] = call_all_##name,                                               \
                                         [REDUCT_MINMAX] = call_minmax_##name,                                         \
                                         [REDUCT_PTP] = call_ptp_##name,                                               \
                                         [REDUCT_WEIGHTED_MEAN] = call_weighted_mean_##name,                           \
                                         LIST_##BITS(name)};
ALL(f64, F64, double, double, double, double, double, NO_BITS)
ALL(f32, F32, float, float, float, float, float, NO_BITS)
ALL(f16, F16, reduct_f16, reduct_f16, reduct_f16, reduct_f16, reduct_f16, NO_BITS)
ALL(bf16, BF16, reduct_bf16, reduct_bf16, reduct_bf16, reduct_bf16, reduct_bf16, NO_BITS)
ALL(i8, I8, int8_t, int64_t, uint64_t, double, uint8_t, BITS)
ALL(i16, I16, int16_t, int64_t, uint64_t, double, uint16_t, BITS)
ALL(i32, I32, int32_t, int64_t, uint64_t, double, uint32_t, BITS)
ALL(i64, I64, int64_t, int64_t, uint64_t, double, uint64_t, BITS)
ALL(u8, U8, uint8_t, uint64_t, uint64_t, double, uint8_t, BITS)
ALL(u16, U16, uint16_t, uint64_t, uint64_t, double, uint16_t, BITS)
ALL(u32, U32, uint32_t, uint64_t, uint64_t, double, uint32_t, BITS)
ALL(u64, U64, uint64_t, uint64_t, uint64_t, double, uint64_t, BITS)
ALL(bool, BOOL, reduct_bool, uint64_t, uint64_t, double, reduct_bool, BITS)

static call *const *const calls[] = {
    [REDUCT_F64] = calls_f64,   [REDUCT_F32] = calls_f32, [REDUCT_F16] = calls_f16, [REDUCT_BF16] = calls_bf16,
    [REDUCT_BOOL] = calls_bool, [REDUCT_I8] = calls_i8,   [REDUCT_I16] = calls_i16, [REDUCT_I32] = calls_i32,
    [REDUCT_I64] = calls_i64,   [REDUCT_U8] = calls_u8,   [REDUCT_U16] = calls_u16, [REDUCT_U32] = calls_u32,
    [REDUCT_U64] = calls_u64,
};

/* One array through the call by name and through reduct_reduce. */
static void check_calls(const struct test_type *type, const struct test_operator *op, const void *x, const void *y,
                        size_t count, struct oracle *oracle, const char *name) {
    const void *second = op->inputs == 2 ? y : NULL;
    const reduct_reduction reduction = test_reduction(op->op, type->type, REDUCT_DEFAULT);
    oracle_read(oracle, type->type, x, second, count);
    const struct oracle_result expected = oracle_expect(oracle, &reduction);
    struct test_outcome got = test_outcome();
    got.status = calls[type->type][op->op](x, second, count, got.bytes);
    test_check(&got, &expected, &reduction, "%zu %s, by name", count, name);
    got = test_outcome();
    got.status = reduct_reduce(op->op, type->type, x, second, count, got.bytes);
    test_check(&got, &expected, &reduction, "%zu %s, by reduct_reduce", count, name);
}

static void by_name(void **state) {
    (void)state;
    static double x[MOST], y[MOST];
    struct rng rng = rng_of(test_seed());
    struct oracle oracle;
    oracle_init(&oracle);
    for (size_t t = 0; t < test_type_count; t++)
        for (size_t d = 0; d < distribution_count; d++)
            for (uint64_t round = test_scaled(8, 2); round-- > 0;) {
                const struct test_type *type = &test_types[t];
                if (!type->required || !distribution_suits(&distributions[d], type))
                    continue;
                const size_t count = rng_below(&rng, rng_below(&rng, 4) ? 40 : MOST);
                distributions[d].fill(&rng, type, x, y, count);
                for (size_t o = 0; o < test_operator_count; o++)
                    if (oracle_has(test_operators[o].op, type->type))
                        check_calls(type, &test_operators[o], x, y, count, &oracle, distributions[d].name);
            }
    oracle_clear(&oracle);
}

/* What a call by name can be given wrongly. */
static void bad_calls(void **state) {
    (void)state;
    const double x[2] = {1, 2};
    double result = 77;
    test_status(reduct_sum_f64(NULL, 2, &result), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_sum_f64(x, 2, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_dot_f64(x, NULL, 2, &result), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_dot_f64(NULL, x, 2, &result), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_sum_f64(x, SIZE_MAX / 8 + 1, &result), REDUCT_ERROR_TOO_LARGE);
    test_status(reduct_reduce((reduct_operator)0, REDUCT_F64, x, NULL, 2, &result), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduce(REDUCT_SUM, REDUCT_DEFAULT, x, NULL, 2, &result), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduce(REDUCT_SUM, REDUCT_I256, x, NULL, 2, &result), REDUCT_ERROR_UNSUPPORTED);
    test_status(reduct_reduce(REDUCT_SUM, REDUCT_F64, x, x, 2, &result), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduce(REDUCT_XOR, REDUCT_F64, x, NULL, 2, &result), REDUCT_ERROR_UNSUPPORTED);
    test_status(reduct_mean_f64(x, 0, &result), REDUCT_ERROR_EMPTY);
    assert_true(result == 77);
    test_status(reduct_sum_f64(NULL, 0, &result), REDUCT_OK);
    assert_true(result == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),
        cmocka_unit_test(bad_calls),
    };
    return cmocka_run_group_tests_name("onecall", tests, NULL, NULL);
}
