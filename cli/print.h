/* Results on standard output. */
#ifndef REDUCT_CLI_PRINT_H
#define REDUCT_CLI_PRINT_H

#include <reduct/reduct.h>

#include <stdbool.h>

#include "message.h"

/* Call first. Makes room for all that is ever printed, so that it fails to arrive, if it does, where print_finish() can
 * tell why. */
void print_prepare(void);

/* The number alone, or so many side by side, without the end of the line. */
void print_numbers(reduct_type type, const void *values, int count, bool hex);

/* In place of numbers that do not exist. */
void print_missing(const char *text, int count);

/* Sees to it that all that was printed has arrived: a full disk or a closed pipe is only noticed now. */
enum outcome print_finish(void);

#endif
