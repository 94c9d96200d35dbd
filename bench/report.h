/* Tables of results, and the verdict on the target. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "cases.h"

#include <stddef.h>
#include <stdio.h>

/* Prints results under a title. */
void bench_report_table(const char *title, const bench_result *results, size_t count, FILE *stream);

/* Prints whether exact f64 and f32 sums of 256 MiB take at most 1.05 times as long as plain ones, on one thread and on
 * `all`, with the kernels `best`; and a line about each other set of kernels. */
void bench_report_verdict(const bench_result *results, size_t count, const char *best, unsigned all, FILE *stream);

#endif
