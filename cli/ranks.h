/* The command under an MPI launcher: every rank reads a part of the inputs, and rank 0 alone prints.
 *
 * What cannot be cut into parts, or fails, rank 0 does alone from the beginning, so that what is said of an error is what one
 * process says. The others wait, and end with the same status. */
#ifndef REDUCT_CLI_RANKS_H
#define REDUCT_CLI_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"

struct ranks {
    int rank, size; /* 0 and 1 where there is no launcher */
};

/* Looks for a launcher. What ranks but the first say is then kept until ranks_open(), and they never print. With REDUCT_RANKS=alone in the
 * environment there is none; no other value is known. */
enum outcome ranks_find(struct ranks *ranks);

/* Connects the ranks, where there are several, and sees to it that none has failed before and that they were given the same command
 * line. */
enum outcome ranks_open(struct ranks *ranks, int argc, char **argv);

/* Ends a rank that failed, also before it was connected, in a way that ends the others; returns the outcome of all. The first rank that failed
 * says why. */
enum outcome ranks_fail(const struct ranks *ranks, enum outcome outcome);

/* Whether all ranks say so. */
bool ranks_all(bool mine);

/* Whether all ranks have the same words. */
bool ranks_same(size_t count, const char *const *words);

/* Refuses files of the same names that have other sizes on some rank than on rank 0, which says so. */
enum outcome ranks_check_sizes(const struct ranks *ranks, size_t count, const char *const *names,
                               const uint64_t *sizes);

/* Rank 0 gets `size` bytes of each rank, one after another. */
void ranks_gather(const void *mine, size_t size, void *all);

/* Ends all ranks with the outcome of rank 0, which is returned. */
enum outcome ranks_close(enum outcome outcome);

#endif
