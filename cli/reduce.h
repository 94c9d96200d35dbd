/* The subcommand that every operator is. */
#ifndef REDUCT_CLI_REDUCE_H
#define REDUCT_CLI_REDUCE_H

#include <reduct/reduct.h>

#include "message.h"

/* Runs `reduct OP ...`; argv[0] is the operator. */
enum outcome reduce_command(reduct_operator op, int argc, char **argv);

#endif
