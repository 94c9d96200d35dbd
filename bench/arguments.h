/* Numbers on the command lines of benchmarks that are programs of their own (gpus.c, keys.c, mpi.c, nccl.c). */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <stdbool.h>
#include <stdlib.h>

/* Reads a number from `least` to `most`, and nothing behind it; false if it is none. */
static inline bool read_number(const char *text, double least, double most, double *number) {
    char *end = NULL;
    *number = strtod(text, &end);
    return end != text && !*end && *number >= least && *number <= most;
}

/* The most seconds that a case is given. */
enum { SECONDS_MOST = 86400 };

#endif
