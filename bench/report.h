/* Tables of results, the verdict on the target, and results as a report. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "cases.h"

#include "report/report.h"

#include <stddef.h>
#include <stdio.h>

/* Prints results under a title. */
void bench_report_table(const char *title, const bench_result *results, size_t count, FILE *stream);

/* Prints whether exact f64 and f32 sums of 256 MiB take at most 1.05 times as long as plain ones, on one thread and on
 * `all`, with the kernels `best`; and a line about each other set of kernels. */
void bench_report_verdict(const bench_result *results, size_t count, const char *best, unsigned all, FILE *stream);

/* Adds the same verdict to a report, as a fact. */
void bench_report_target(report *r, const bench_result *results, size_t count, const char *best, unsigned all);

/* Adds results to a report: a row for each way of each, the plain loop first, and curves over the number of elements
 * where several were measured, those of the kernels `best` if they ran. */
void bench_report_fill(report *r, const bench_result *results, size_t count, const char *best);

#endif
