/* The benchmark: the library beside plain vectorised loops, or on one GPU beside CUB, by operator, type, data, size, device and
 * threads. cli/bench.c reads the command line of `reduct bench`. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "bench/matrix.h"
#include "report/report.h"

typedef struct bench_options {
    bench_settings settings;
    const char *lists[LISTS]; /* as written, each checked with matrix_set(); null where nothing is asked for */
    report_writer *write;     /* of the report on standard output; null: tables as they come */
    const char *html;         /* file for a page, or null */
    int gpu;                  /* measure a GPU, the one of the list of devices */
} bench_options;

/* Measures, and reports. Returns the exit status: 0, or 1 when a result was wrong or could not be written. */
int bench_compare(const bench_options *options);

#endif
