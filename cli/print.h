/* Results on standard output. */
#ifndef REDUCT_CLI_PRINT_H
#define REDUCT_CLI_PRINT_H

#include <reduct/reduct.h>

#include <stdbool.h>

#include "message.h"

/* The number alone, on a line. */
void print_result(reduct_type type, const void *value, bool hex);

/* Sees to it that all that was printed has arrived: a full disk or a closed pipe is only noticed now. */
enum outcome print_finish(void);

#endif
