/* The command line of `reduct bench`. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "matrix.h"

#include "measure/report.h"

typedef int bench_format(const report *r, FILE *stream);

typedef struct bench_options {
    bench_settings settings;
    const char *lists[LISTS]; /* as written, checked; null where the command line says nothing */
    bench_format *write;      /* of the report on standard output; null: tables as they come */
    const char *html;         /* file for a page, or null */
    int gpu;                  /* measure a GPU, the one of the list of devices */
} bench_options;

/* Reads the command line. Returns 0, or the exit status after saying what is wrong: 2, also where a device is not here.
 * --help, --usage and --version end the program. */
int bench_options_read(bench_options *options, int argc, char **argv);

#endif
