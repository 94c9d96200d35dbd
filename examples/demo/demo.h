/* The parts of the demonstration. Each prints what it does and returns 0, or 1 when something was not as promised. */
#ifndef DEMO_H
#define DEMO_H

#include <reduct/reduct.h>

#include <stddef.h>

/* Means and standard deviations of NIST's reference data beside the certified ones. */
int demo_nist(const char *data_folder);

/* The sum of `count` doubles: exact beside plain, in several orders, on one thread and on all. */
int demo_large(size_t count);

/* The command, on the reference data and on a file written for the purpose. */
int demo_command(const char *command, const char *data_folder);

/* A heading. */
void demo_title(const char *text);

/* Ends the program with a message unless `status` is REDUCT_OK. */
void demo_require(reduct_status status, const char *what);

#endif
