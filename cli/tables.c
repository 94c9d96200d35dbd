/* Names and numbers: see tables.h. */
#include "tables.h"

#include <stdio.h>
#include <string.h>

#include "readers/reader.h"

/* Room for the name of any operator. */
enum { OPERATOR_NAME = 32 };

static void replace(char *text, char from, char to) {
    for (; *text; text++)
        *text = *text == from ? to : *text;
}

const char *operator_table(int number) {
    static char names[TABLE_MOST][OPERATOR_NAME];
    const char *name = reduct_operator_name((reduct_operator)number);
    if (!name)
        return NULL;
    snprintf(names[number], OPERATOR_NAME, "%s", name);
    replace(names[number], '_', '-');
    return names[number];
}

bool operator_find(const char *name, reduct_operator *op) {
    char copy[OPERATOR_NAME];
    snprintf(copy, sizeof copy, "%s", name);
    replace(copy, '-', '_');
    return strlen(name) < sizeof copy && reduct_operator_parse(copy, op) == REDUCT_OK;
}

const char *population_table(int number) {
    return operator_traits((reduct_operator)number).population ? operator_table(number) : NULL;
}

const char *wide_table(int number) {
    return operator_traits((reduct_operator)number).wide ? operator_table(number) : NULL;
}

const char *result_table(int number) {
    return reduct_type_name((reduct_type)number);
}

/* Types are elements if the library reduces them. */
const char *element_table(int number) {
    reduct_reduction sum = {.op = REDUCT_SUM, .element = (reduct_type)number};
    reduct_accumulator *accumulator;
    if (reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &sum, .threads = 1}, &accumulator, NULL) !=
        REDUCT_OK)
        return NULL;
    reduct_accumulator_destroy(accumulator);
    return reduct_type_name((reduct_type)number);
}

const char *mode_table(int number) {
    return reduct_mode_name((reduct_mode)number);
}

const char *nan_table(int number) {
    return reduct_nan_name((reduct_nan)number);
}

const char *format_table(int number) {
    static const char *const NAMES[] = {
        [FORMAT_AUTO] = "auto", [FORMAT_NPY] = "npy", [FORMAT_RAW] = "raw", [FORMAT_TEXT] = "text"};
    return number >= 0 && number < (int)(sizeof NAMES / sizeof *NAMES) ? NAMES[number] : NULL;
}

const char *order_table(int number) {
    static const char *const NAMES[] = {[ORDER_LITTLE] = "little", [ORDER_BIG] = "big", [ORDER_NATIVE] = "native"};
    return number >= 0 && number < (int)(sizeof NAMES / sizeof *NAMES) ? NAMES[number] : NULL;
}

const char *table_list(table *names, char list[TABLE_LIST]) {
    const char *all[TABLE_MOST];
    size_t count = 0, used = 0;
    for (int number = 0; number < TABLE_MOST; number++) {
        if (names(number))
            all[count++] = names(number);
    }
    list[0] = 0;
    for (size_t i = 0; i < count && used < TABLE_LIST; i++) {
        const char *separator = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        used += (size_t)snprintf(list + used, TABLE_LIST - used, "%s%s", separator, all[i]);
    }
    return list;
}

bool table_find(table *names, const char *name, int *number) {
    for (int i = 0; i < TABLE_MOST; i++) {
        const char *candidate = names(i);
        if (candidate && strcmp(candidate, name) == 0) {
            *number = i;
            return true;
        }
    }
    return false;
}

enum {
    TRANSFORM_IDENTITY,
    TRANSFORM_ABSOLUTE,
    TRANSFORM_SQUARE,
    TRANSFORM_TIMES,
    TRANSFORM_MOMENTS,
    TRANSFORM_PRESENT,
    TRANSFORM_NONZERO,
    TRANSFORM_WEIGHTED
};
enum {
    COMBINE_ADD,
    COMBINE_LEAST,
    COMBINE_GREATEST,
    COMBINE_MULTIPLY,
    COMBINE_BOTH,
    COMBINE_AND,
    COMBINE_OR,
    COMBINE_XOR
};
enum {
    FINISH_VALUE,
    FINISH_MEAN,
    FINISH_ROOT,
    FINISH_ROOT_MEAN,
    FINISH_VARIANCE,
    FINISH_DEVIATION,
    FINISH_INDEX,
    FINISH_RANGE,
    FINISH_QUOTIENT
};

struct operator_traits operator_traits(reduct_operator op) {
    switch (op) {
#define REDUCT_OPERATOR(ID, name, number, inputs, transform, combine, finish, ...)                                     \
    case REDUCT_##ID:                                                                                                  \
        return (struct operator_traits){                                                                               \
            .index = FINISH_##finish == FINISH_INDEX,                                                                  \
            .least = COMBINE_##combine == COMBINE_LEAST,                                                               \
            .wide = (COMBINE_##combine == COMBINE_ADD || COMBINE_##combine == COMBINE_MULTIPLY) &&                     \
                    TRANSFORM_##transform < TRANSFORM_PRESENT && FINISH_##finish == FINISH_VALUE,                      \
            .integers = COMBINE_##combine >= COMBINE_AND && TRANSFORM_##transform == TRANSFORM_IDENTITY,               \
            .ordered = COMBINE_##combine == COMBINE_MULTIPLY,                                                          \
            .population = FINISH_##finish == FINISH_VARIANCE || FINISH_##finish == FINISH_DEVIATION};
#include <reduct/operators.def>
    }
    return (struct operator_traits){.index = false};
}
