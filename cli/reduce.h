/* The subcommand that every operator is, and every list of operators. */
#ifndef REDUCT_CLI_REDUCE_H
#define REDUCT_CLI_REDUCE_H

#include "ranks.h"

/* Runs `reduct OP[,OP...] ...`; argv[0] is the operator, or the list; `ranks` are what a launcher says. */
enum outcome reduce_command(int argc, char **argv, struct ranks ranks);

#endif
