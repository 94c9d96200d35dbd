/* The command line of a reduction. */
#ifndef REDUCT_CLI_OPTIONS_H
#define REDUCT_CLI_OPTIONS_H

#include <stdio.h>

#include "readers/reader.h"

/* The most operators of one command line, and axes that are named. */
enum { OPERATORS_MOST = 16, AXES_MOST = LAYOUT_MOST };

/* What stands for the operator's name in that of a file. */
#define OPERATOR_MARK "%s"

struct options {
    reduct_operator ops[OPERATORS_MOST]; /* of one pass */
    size_t op_count;
    int axes[AXES_MOST]; /* to reduce, as said: from the end where negative */
    size_t axis_count;   /* 0: the array as a whole */
    bool rows, columns;  /* of a matrix */
    const char *mask;    /* file that says which elements count, or null */
    const char *by;      /* file with the number of each element's group, or null */
    const char *keys;    /* file with the key of each element's group, or null */
    bool unsorted;       /* keys in order of first appearance */
    const char *output_keys;
    bool has_groups, skip_outside;
    uint64_t groups; /* with has_groups: how many groups there are */
    const char
        *output; /* file for several results, with OPERATOR_MARK for the operator's name; null: they are printed */
    const char *missing; /* what is written for a result of too few elements; null where that is an error */
    reduct_mode mode;
    reduct_nan nan;
    reduct_type result; /* REDUCT_DEFAULT if not said */
    const char *device;
    bool population, wrap, hex, quiet;
    struct input_options input;
    const char *const *paths; /* "-" is standard input */
    size_t path_count;
};

/* Whether some axes are reduced, and there are as many results as the others have places. */
static inline bool options_have_axes(const struct options *options) {
    return options->axis_count || options->rows || options->columns;
}

/* The file that says what group an element is of, or null. */
static inline const char *options_groups_file(const struct options *options) {
    return options->by ? options->by : options->keys;
}

/* Whether results are those of places or of groups, and not of all elements. */
static inline bool options_have_results(const struct options *options) {
    return options_have_axes(options) || options_groups_file(options);
}

/* How many arrays are read together: where an operator reads two, those that read one read the first. */
size_t options_inputs(const struct options *options);

/* Parses argv[0], an operator or several separated by commas, and what follows. --help, --usage and --version end the
 * process. */
enum outcome options_parse(int argc, char **argv, struct options *options);

/* Prints the operators, for the help. */
void options_print_operators(FILE *stream);

/* Prints all options, and how inputs are understood. */
void options_print(FILE *stream);
void options_print_usage(FILE *stream);

#endif
