/* The command under an MPI launcher: every rank reads a part of the inputs, and rank 0 alone prints.
 *
 * What cannot be cut into parts, or fails, rank 0 does alone from the beginning, so that what is said of an error is what one
 * process says. The others wait, and end with the same status. */
#ifndef REDUCT_CLI_RANKS_H
#define REDUCT_CLI_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "message.h"

struct ranks {
    int rank, size; /* 0 and 1 where there is no launcher */
};

/* Looks for a launcher. Ranks but the first then say nothing until ranks_open(), and never print. With REDUCT_RANKS=alone in the
 * environment there is none. */
struct ranks ranks_find(void);

/* Connects the ranks, where there are several, and sees to it that they were given the same command line. */
enum outcome ranks_open(struct ranks *ranks, int argc, char **argv);

/* Before a rank ends with a failure that all have, but no connection to say so: launchers end all ranks as soon as one has
 * failed, and the first must have had the time to say why. */
void ranks_linger(const struct ranks *ranks);

/* Whether all ranks say so. */
bool ranks_all(bool mine);

/* Whether all ranks have the same words. */
bool ranks_same(size_t count, const char *const *words);

/* Rank 0 gets `size` bytes of each rank, one after another. */
void ranks_gather(const void *mine, size_t size, void *all);

/* Ends all ranks with the outcome of rank 0, which is returned. */
enum outcome ranks_close(enum outcome outcome);

#endif
