/* What the library knows of number types and operators: the two tables as structures. The lines themselves are in
 * include/reduct/types.def and operators.def; nothing else in the library may list types or operators by hand. */
#ifndef RD_TABLES_H
#define RD_TABLES_H

#include <reduct/reduct.h>

#include <stdbool.h>

enum rd_class { RD_FLOAT, RD_SIGNED, RD_UNSIGNED };

struct rd_type {
    const char *name, *text;
    enum rd_class kind;
    uint8_t bytes, precision;
    int16_t max_exponent;
};

enum rd_transform { RD_IDENTITY, RD_ABSOLUTE, RD_SQUARE, RD_TIMES, RD_MOMENTS, RD_PRESENT, RD_NONZERO, RD_WEIGHTED };
enum rd_combine { RD_ADD, RD_LEAST, RD_GREATEST, RD_MULTIPLY, RD_BOTH, RD_AND, RD_OR, RD_XOR };
enum rd_finish { RD_VALUE, RD_MEAN, RD_ROOT, RD_ROOT_MEAN, RD_VARIANCE, RD_DEVIATION, RD_INDEX, RD_RANGE, RD_QUOTIENT };

struct rd_operator {
    const char *name, *text;
    uint8_t inputs, minimum;
    enum rd_transform transform;
    enum rd_combine combine;
    enum rd_finish finish;
};

/* Rows of each table. Their numbers are 1, 2, 3 and so on, so that one more is what arrays indexed by them need. */
enum rd_type_row {
#define REDUCT_TYPE(ID, ...) RD_TYPE_ROW_##ID,
#include <reduct/types.def>
    RD_TYPE_ROWS
};
enum rd_operator_row {
#define REDUCT_OPERATOR(ID, ...) RD_OPERATOR_ROW_##ID,
#include <reduct/operators.def>
    RD_OPERATOR_ROWS
};
enum { RD_TYPE_END = RD_TYPE_ROWS + 1, RD_OPERATOR_END = RD_OPERATOR_ROWS + 1 };

/* Null for what is not in the table. */
const struct rd_type *rd_type(reduct_type type);
const struct rd_operator *rd_operator(reduct_operator op);

/* Room for the name of any type, or for a number in its place. */
enum { RD_TYPE_LABEL = 16 };

/* The name of a type, for messages; the number of what is none. Returns `label`. */
const char *rd_type_label(reduct_type type, char label[RD_TYPE_LABEL]);

/* True where the result follows from the least or the greatest element, or from both. */
static inline bool rd_is_extreme(const struct rd_operator *op) {
    return op->combine == RD_LEAST || op->combine == RD_GREATEST || op->combine == RD_BOTH;
}

/* True where elements are counted. */
static inline bool rd_is_count(const struct rd_operator *op) {
    return op->combine == RD_ADD && (op->transform == RD_PRESENT || op->transform == RD_NONZERO);
}

/* True where the result is formed bit by bit, or of one bit for each element. */
static inline bool rd_is_bits(const struct rd_operator *op) {
    return op->combine == RD_AND || op->combine == RD_OR || op->combine == RD_XOR;
}

/* Values that a result consists of, one after another. */
static inline unsigned rd_outputs(const struct rd_operator *op) {
    return op->combine == RD_BOTH && op->finish == RD_VALUE ? 2 : 1;
}

#endif
