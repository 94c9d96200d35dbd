/* The command line of a reduction. */
#ifndef REDUCT_CLI_OPTIONS_H
#define REDUCT_CLI_OPTIONS_H

#include <stdio.h>

#include "readers/reader.h"

struct options {
    reduct_operator op;
    reduct_mode mode;
    reduct_nan nan;
    reduct_type result; /* REDUCT_DEFAULT if not said */
    const char *device;
    bool population, wrap, hex, quiet;
    struct input_options input;
    const char *const *paths; /* "-" is standard input */
    size_t path_count;
};

/* Parses what follows the operator. --help, --usage and --version end the process. */
enum outcome options_parse(reduct_operator op, int argc, char **argv, struct options *options);

/* Prints the operators, for the help. */
void options_print_operators(FILE *stream);

/* Prints all options, and how inputs are understood. */
void options_print(FILE *stream);
void options_print_usage(FILE *stream);

#endif
