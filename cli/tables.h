/* The names that the command line knows: operators, types, modes and policies from the library's tables, and the
 * command's own. Help, parsing and messages all go through here. */
#ifndef REDUCT_CLI_TABLES_H
#define REDUCT_CLI_TABLES_H

#include <reduct/reduct.h>

#include <stdbool.h>

/* Numbers below this are asked for their names; the tables have gaps. */
#define TABLE_MOST 256

/* The name that a number has in a table; null if it has none. Operators are written with hyphens, as in count-nonzero, where the
 * library has underscores. */
typedef const char *table(int number);

table operator_table, element_table, result_table, mode_table, nan_table, format_table, order_table;

/* The operators that have the trait of that name. */
table population_table, wide_table;

/* Room for any list of names. */
#define TABLE_LIST 512

/* "this, that or other". Returns `list`. */
const char *table_list(table *names, char list[TABLE_LIST]);

/* Finds the number of a name. */
bool table_find(table *names, const char *name, int *number);

/* What the command has to know of an operator beside what the library's functions say. */
struct operator_traits {
    bool index;      /* the result is the place of an element */
    bool least;      /* of the smallest, rather than the largest */
    bool wide;       /* of integers an integer, which may be wide */
    bool ordered;    /* of floats, the result depends on the order of the elements */
    bool population; /* divided by n or n - 1 */
    bool integers;   /* means nothing for floats */
};

struct operator_traits operator_traits(reduct_operator op);

/* Finds the operator of a name, be it written with hyphens or with underscores. */
bool operator_find(const char *name, reduct_operator *op);

#endif
