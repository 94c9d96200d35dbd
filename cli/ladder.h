/* `reduct ladder`: every step of parallel reduction, run, checked and measured on this machine. */
#ifndef REDUCT_CLI_LADDER_H
#define REDUCT_CLI_LADDER_H

#include "message.h"

/* Runs `reduct ladder` with the command line that follows "reduct". A rung that claims to be right and is not makes it
 * fail. */
enum outcome ladder_command(int argc, char **argv);

#endif
