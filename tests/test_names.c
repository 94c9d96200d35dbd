/* Names, texts, parsers and numbers of the tables, the statuses and the version. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Numbers that are on disk and in other people's programs: they never change. */
_Static_assert(REDUCT_OK == 0 && REDUCT_ERROR_ARGUMENT == 1 && REDUCT_ERROR_UNSUPPORTED == 2 &&
                   REDUCT_ERROR_OUT_OF_MEMORY == 3 && REDUCT_ERROR_EMPTY == 4 && REDUCT_ERROR_OVERFLOW == 5 &&
                   REDUCT_ERROR_NAN == 6 && REDUCT_ERROR_NO_DEVICE == 7 && REDUCT_ERROR_DEVICE_LOST == 8 &&
                   REDUCT_ERROR_TOO_LARGE == 9 && REDUCT_ERROR_CORRUPT == 10 && REDUCT_ERROR_VERSION == 11 &&
                   REDUCT_ERROR_MISMATCH == 12 && REDUCT_ERROR_CALLBACK == 13,
               "statuses are pinned");
_Static_assert(REDUCT_F64 == 1 && REDUCT_F32 == 2 && REDUCT_F16 == 3 && REDUCT_BF16 == 4 && REDUCT_I8 == 5 &&
                   REDUCT_I16 == 6 && REDUCT_I32 == 7 && REDUCT_I64 == 8 && REDUCT_U8 == 9 && REDUCT_U16 == 10 &&
                   REDUCT_U32 == 11 && REDUCT_U64 == 12 && REDUCT_I128 == 13 && REDUCT_U128 == 14 &&
                   REDUCT_I256 == 15 && REDUCT_BOOL == 16,
               "types are pinned");
_Static_assert(REDUCT_SUM == 1 && REDUCT_MEAN == 2 && REDUCT_VAR == 3 && REDUCT_STD == 4 && REDUCT_SUMSQ == 5 &&
                   REDUCT_NORM1 == 6 && REDUCT_NORM2 == 7 && REDUCT_NORMINF == 8 && REDUCT_RMS == 9 &&
                   REDUCT_DOT == 10 && REDUCT_MIN == 11 && REDUCT_MAX == 12 && REDUCT_ARGMIN == 13 &&
                   REDUCT_ARGMAX == 14 && REDUCT_PRODUCT == 15 && REDUCT_COUNT == 16 && REDUCT_COUNT_NONZERO == 17 &&
                   REDUCT_ANY == 18 && REDUCT_ALL == 19 && REDUCT_AND == 20 && REDUCT_OR == 21 && REDUCT_XOR == 22 &&
                   REDUCT_MINMAX == 23 && REDUCT_PTP == 24 && REDUCT_WEIGHTED_MEAN == 25,
               "operators are pinned");

static void types(void **state) {
    (void)state;
    for (size_t i = 0; i < test_type_count; i++) {
        const struct test_type *type = &test_types[i];
        reduct_type parsed = (reduct_type)77;
        assert_string_equal(reduct_type_name(type->type), type->name);
        test_status(reduct_type_parse(type->name, &parsed), REDUCT_OK);
        assert_int_equal(parsed, type->type);
        assert_int_equal(reduct_type_size(type->type), oracle_type_size(type->type));
        assert_int_equal(reduct_type_is_float(type->type), type->class == FLOAT);
        assert_non_null(reduct_type_text(type->type));
        assert_true(strlen(reduct_type_text(type->type)) > 5);
    }
}

static void operators(void **state) {
    (void)state;
    for (size_t i = 0; i < test_operator_count; i++) {
        const struct test_operator *op = &test_operators[i];
        reduct_operator parsed = (reduct_operator)77;
        assert_string_equal(reduct_operator_name(op->op), op->name);
        test_status(reduct_operator_parse(op->name, &parsed), REDUCT_OK);
        assert_int_equal(parsed, op->op);
        assert_int_equal(reduct_operator_inputs(op->op), oracle_inputs(op->op));
        assert_int_equal(reduct_operator_outputs(op->op), op->op == REDUCT_MINMAX ? 2 : 1);
        assert_non_null(reduct_operator_text(op->op));
        assert_true(strlen(reduct_operator_text(op->op)) > 5);
    }
}

static void modes_and_policies(void **state) {
    (void)state;
    static const char *const modes[] = {"exact", "fast"}, *const policies[] = {"propagate", "ignore", "error"};
    for (int i = 0; i < 2; i++) {
        reduct_mode parsed = (reduct_mode)77;
        assert_string_equal(reduct_mode_name((reduct_mode)i), modes[i]);
        test_status(reduct_mode_parse(modes[i], &parsed), REDUCT_OK);
        assert_int_equal(parsed, i);
    }
    for (int i = 0; i < 3; i++) {
        reduct_nan parsed = (reduct_nan)77;
        assert_string_equal(reduct_nan_name((reduct_nan)i), policies[i]);
        test_status(reduct_nan_parse(policies[i], &parsed), REDUCT_OK);
        assert_int_equal(parsed, i);
    }
}

/* Numbers outside the tables have no names. */
static void no_such_number(void **state) {
    (void)state;
    static const int numbers[] = {-1, 26, 27, 100, 255, 256, 1000000, INT32_MAX, INT32_MIN};
    assert_null(reduct_type_name(REDUCT_DEFAULT));
    assert_null(reduct_operator_name((reduct_operator)0));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_null(reduct_type_name((reduct_type)numbers[i]));
        assert_null(reduct_type_text((reduct_type)numbers[i]));
        assert_int_equal(reduct_type_size((reduct_type)numbers[i]), 0);
        assert_int_equal(reduct_type_is_float((reduct_type)numbers[i]), 0);
        assert_null(reduct_operator_name((reduct_operator)numbers[i]));
        assert_null(reduct_operator_text((reduct_operator)numbers[i]));
        assert_int_equal(reduct_operator_inputs((reduct_operator)numbers[i]), 0);
        assert_int_equal(reduct_operator_outputs((reduct_operator)numbers[i]), 0);
        assert_null(reduct_mode_name((reduct_mode)numbers[i]));
        assert_null(reduct_nan_name((reduct_nan)numbers[i]));
    }
}

/* Names outside the tables have no numbers. */
static void no_such_name(void **state) {
    (void)state;
    static const char *const names[] = {"",           " ",   "F64",  "f64 ",  " f64",    "f6",
                                        "f640",       "SUM", "sum ", "summ",  "default", "Exact",
                                        "propagates", "nan", "i1",   "float", "(null)"};
    for (size_t i = 0; i <= sizeof names / sizeof *names; i++) {
        const char *name = i < sizeof names / sizeof *names ? names[i] : NULL;
        reduct_type type = (reduct_type)77;
        reduct_operator op = (reduct_operator)77;
        reduct_mode mode = (reduct_mode)77;
        reduct_nan policy = (reduct_nan)77;
        test_status(reduct_type_parse(name, &type), REDUCT_ERROR_ARGUMENT);
        test_status(reduct_operator_parse(name, &op), REDUCT_ERROR_ARGUMENT);
        test_status(reduct_mode_parse(name, &mode), REDUCT_ERROR_ARGUMENT);
        test_status(reduct_nan_parse(name, &policy), REDUCT_ERROR_ARGUMENT);
        assert_true((int)type == 77 && (int)op == 77 && (int)mode == 77 && (int)policy == 77);
    }
    test_status(reduct_type_parse("f64", NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_operator_parse("sum", NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_mode_parse("exact", NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_nan_parse("error", NULL), REDUCT_ERROR_ARGUMENT);
}

/* Every status has a sentence of its own; other numbers have one, too. */
static void statuses(void **state) {
    (void)state;
    for (int i = REDUCT_OK; i <= REDUCT_ERROR_CALLBACK; i++) {
        const char *text = reduct_status_text((reduct_status)i);
        assert_non_null(text);
        assert_true(text[0] != 0 && strcmp(text, reduct_status_text((reduct_status)99)) != 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, reduct_status_text((reduct_status)j));
    }
    static const int numbers[] = {-1, 14, 99, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_non_null(reduct_status_text((reduct_status)numbers[i]));
}

static void version(void **state) {
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", REDUCT_VERSION_MAJOR, REDUCT_VERSION_MINOR, REDUCT_VERSION_PATCH);
    assert_string_equal(reduct_version(), text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),          cmocka_unit_test(operators),    cmocka_unit_test(modes_and_policies),
        cmocka_unit_test(no_such_number), cmocka_unit_test(no_such_name), cmocka_unit_test(statuses),
        cmocka_unit_test(version),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
