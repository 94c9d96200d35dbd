/* A reader's kernel: compiled with the judge of ladder/mine/, run by a process of its own, and placed on the ladder. */
#ifndef LADDER_MINE_H
#define LADDER_MINE_H

#include "ladder/ladder.h"

typedef struct ladder_mine ladder_mine;

/* Compiles the kernel in a file by nvcc, or by what REDUCT_NVCC names, for a device such as "cuda:0". Null, with a sentence in `error`, where that cannot be;
 * what the compiler has to say goes to standard error. */
ladder_mine *ladder_mine_create(const char *path, const char *device, reduct_error *error);
void ladder_mine_destroy(ladder_mine *mine);

/* Its share of the read limit, as the rungs beside it in the report tell the limit; and a note of the nearest of them: the
 * fastest of the slower, the slowest of the faster. Where there are rungs whose block sums take further launches, as its own
 * do, it is placed among these. */
void ladder_mine_place(report_row *mine, const report *r);

/* Adds a row per type that says whether all results are right, and one per tool of compute-sanitizer. */
reduct_status ladder_mine_check(const ladder_mine *mine, report *r, reduct_error *error);

/* Adds its row to the rungs of options->n elements and options->type that the report has, with a note of its place; where it
 * gives sums of rows, whose rungs are another ladder's, to a group of its own. */
reduct_status ladder_mine_time(const ladder_mine *mine, const ladder_options *options, report *r, reduct_error *error);

#endif
