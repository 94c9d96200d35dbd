/* `reduct bench`: the library beside plain vectorised loops, by operator, type, data, size, device and threads. */
#ifndef REDUCT_CLI_BENCH_H
#define REDUCT_CLI_BENCH_H

#include "message.h"

/* Runs `reduct bench` with the command line that follows "reduct". It fails when a result was wrong or could not be written;
 * the command line is wrong also where it names a device that is not here. */
enum outcome bench_command(int argc, char **argv);

#endif
