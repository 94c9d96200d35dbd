/* The command line of reduct_bench. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "matrix.h"

typedef struct bench_options {
    bench_settings settings;
    const char *lists[LISTS]; /* as written, checked; null where the command line says nothing */
} bench_options;

/* Reads the command line; ends the program with a message and status 2 when it is wrong, and with 0 after --help. */
void bench_options_read(bench_options *options, int argc, char **argv);

#endif
