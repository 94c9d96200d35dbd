/* Results of a CUDA device as tables on the terminal, and as rows and curves of a report. */
#ifndef BENCH_CUDA_REPORT_H
#define BENCH_CUDA_REPORT_H

#include "cuda_cases.h"

#include <stdio.h>

/* Prints results under a title. */
void cuda_report_table(const char *title, const cuda_result *results, size_t count, double read_limit, FILE *stream);

/* Adds what a device is, and how it is measured. */
void cuda_report_facts(report *r, const cuda_lab *lab);

/* Adds a row for each way of each result, and curves over the number of elements for sums. */
void cuda_report_fill(report *r, const cuda_lab *lab, const cuda_result *results, size_t count);

#endif
