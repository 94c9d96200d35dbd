/* The ladder of rows on CUDA: a rung made ready for a matrix, run, and judged. cuda_rows.c has it, cuda.c climbs it,
 * cuda_check.c verifies it. */
#ifndef LADDER_CUDA_ROWS_H
#define LADDER_CUDA_ROWS_H

#include "ladder/cuda_ladder.h"
#include "ladder/rows.h"

/* The rungs in order. */
size_t cuda_rows_count(void);
const char *cuda_rows_name(size_t i);

typedef struct cuda_rows_run {
    cuda_lab *lab;
    ladder_step step;
    reduct_type type;
    uint64_t rows, columns, results; /* results: as many as there are rows, or columns */
    uint64_t down;                   /* of column-tiles: how many tiles lie above each other */
    unsigned lanes, blocks;          /* lanes: threads that share a row; 0 in the library's */
    gpu_cuda_kernel kernel, last_step;
    reduct_plan *plan; /* of the exact rung */
    uint64_t result;   /* on the device */
    size_t result_bytes;
    double terms;
} cuda_rows_run;

/* Makes rung number i ready for a matrix; false, and one sentence in `why`, where it cannot be run. To be released either
 * way. */
bool cuda_rows_prepare(cuda_rows_run *run, cuda_lab *lab, size_t i, reduct_type type, uint64_t rows, uint64_t columns,
                       char *why, size_t room);
void cuda_rows_release(cuda_rows_run *run);

/* Queues it once on the matrix at `input`. */
void cuda_rows_once(cuda_rows_run *run, uint64_t input);

/* Fills in what came of the last run: the worst of its results. */
void cuda_rows_judge(cuda_rows_run *run, const rows_sums *sums, report_row *row);

/* Adds a row of the report for each rung: data->n / options->columns rows of the ladder's data, which are the lab's input. */
void cuda_run_rows(cuda_lab *lab, const ladder_options *options, const ladder_data *data, report *r);

#endif
