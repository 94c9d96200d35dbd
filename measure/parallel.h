/* A few threads that wait for work: the simplest pool that starts a task on all of them in microseconds. */
#ifndef MEASURE_PARALLEL_H
#define MEASURE_PARALLEL_H

#include <stddef.h>

typedef struct measure_team measure_team;

/* What each member does; `member` runs from 0 to `members` - 1. */
typedef void measure_task(void *context, unsigned member, unsigned members);

/* A team of `members` (at least 1), the caller being number 0. When threads cannot be created, the program ends with a
 * message. One thread at a time may use a team. */
measure_team *measure_team_create(unsigned members);
void measure_team_destroy(measure_team *team);

/* Runs a task on every member and returns when all are done. */
void measure_team_run(measure_team *team, measure_task *task, void *context);

/* The part of `count` elements that belongs to a member: contiguous, of nearly equal size, in multiples of `grain`
 * except for the last. */
void measure_share(size_t count, size_t grain, unsigned member, unsigned members, size_t *begin, size_t *end);

#endif
