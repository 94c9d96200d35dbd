/* Threads for one call: created for it, joined before it returns. Nothing outlives a call, so there is nothing to set
 * up, and a fork is safe. */
#ifndef RD_PARALLEL_H
#define RD_PARALLEL_H

#include <stdint.h>

/* Processors that this process may run on, at least 1. */
unsigned rd_processors(void);

/* Threads that pay for so many pieces of work on so many bytes: at most `requested`, or one per processor where that is
 * 0, and never more than pieces. */
unsigned rd_parallel_threads(unsigned requested, uint64_t pieces, uint64_t bytes);

/* Runs work(context) on up to `threads` threads, the calling one among them, and waits for all. If threads cannot be
 * created, fewer run; work must share out what there is to do among those that come. */
void rd_parallel(unsigned threads, void (*work)(void *context), void *context);

#endif
