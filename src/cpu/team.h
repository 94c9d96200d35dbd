/* The team: threads that help calls, and stay for the next one. They are created when a call first wants them, sleep when
 * there has been nothing to do for a while, and run where the caller may run. After a fork the child's team is empty again.
 * All calls of the process share it; whoever comes while it is busy gets those who are free, and works himself. */
#ifndef RD_TEAM_H
#define RD_TEAM_H

#include "core/backend.h"
#include "core/status.h"

/* The stack of its threads, in bytes; the most threads of a call, the calling one included. */
enum { RD_TEAM_STACK = 1 << 19, RD_TEAM_MAX = 256 };

/* The number of the thread that asks: 1 and so on for the team's, and in turn for an executor's; 0 for all others. */
unsigned rd_team_number(void);

/* Every job calls these two in this order. */

/* Threads that pay for so many pieces of work on so many bytes: at most as many as are asked for, or one per processor where
 * that is 0; never more than an executor has, or than pieces. */
unsigned rd_team_threads(const struct rd_crew *crew, uint64_t pieces, uint64_t bytes);

/* Runs work(context) on up to `threads` threads, and waits for all: the calling one and others of the team, in its floating-point
 * environment, or those of an executor, in whatever environment these have. Fewer run where threads cannot be created or are busy;
 * work must share out what there is to do among those that come. */
void rd_team_run(const struct rd_crew *crew, unsigned threads, void (*work)(void *context), void *context);

/* Whether somebody may want the work to be given up, and does. To be asked by all who do parts of it, and once more at its end; they
 * leave undone what is left. */
static inline bool rd_team_may_stop(const struct rd_crew *crew) {
    return crew->executor && crew->executor->stop;
}

static inline bool rd_team_stops(const struct rd_crew *crew) {
    return rd_team_may_stop(crew) && crew->executor->stop(crew->executor->context);
}

/* The failure of a call that was given up. */
static inline reduct_status rd_team_stopped(reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_CALLBACK, "executor: stop() returned other than 0");
}

#endif
