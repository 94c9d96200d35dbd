/* Reductions along axes of arrays, by groups, and of elements that a mask lets count. */
#ifndef REDUCT_CLI_AXES_H
#define REDUCT_CLI_AXES_H

#include "options.h"

/* Reads the whole array, reduces the axes that the options name, or all of them, and prints the results or writes them to a
 * file. */
enum outcome axes_command(const struct options *options);

#endif
