/* The same work on several items at once. */
#ifndef REDUCT_CLI_PARALLEL_H
#define REDUCT_CLI_PARALLEL_H

#include <stddef.h>

/* Threads to use where the command line says `requested`: 0 stands for one per processor that this process may use. */
unsigned parallel_threads(unsigned requested);

/* The most items that parallel_for() takes. */
#define PARALLEL_MOST 64

/* Calls work(item) for each of `count` items of `size` bytes, each on a thread of its own; returns when all are done.
 * Where threads cannot be had, the calling thread does the work. */
void parallel_for(void *items, size_t count, size_t size, void (*work)(void *item));

#endif
