/* A line on the terminal while work takes long: how much is done, how fast, how long it still takes. */
#ifndef REDUCT_CLI_PROGRESS_H
#define REDUCT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the clock. `total`: bytes to come, 0 if unknown. Nothing is ever shown unless standard error is a terminal,
 * nor with `quiet`. */
void progress_start(uint64_t total, bool quiet);

/* Bytes done since the start. Shows them when it is time to. */
void progress_update(uint64_t done);

/* Takes the line away. Safe in a signal handler. */
void progress_erase(void);

#endif
