/* Single elements, where the command has to look at them itself. */
#ifndef REDUCT_CLI_ELEMENT_H
#define REDUCT_CLI_ELEMENT_H

#include <reduct/reduct.h>

#include <stdbool.h>

/* A number that grows with the element: -infinity, ..., -0, +0, ..., +infinity. NaNs are all 0, below -infinity. */
uint64_t element_key(reduct_type type, const void *element);

bool element_is_nan(reduct_type type, const void *element);

#endif
