/* The ladder of rows on Vulkan devices, in GLSL: a rung made ready for a matrix, run, and judged. vulkan_rows.c has it, vulkan.c
 * climbs it, vulkan_check.c verifies it. The shaders, in glsl/rows/, are given
 *
 *   binding 0   elements   of the matrix, which one binding must hold
 *   binding 1   sums       of rows, or columns
 *   push constants         as in rows.glsl
 *
 * and are specialised by 0 the group's size, 1 the lanes that share a row. */
#ifndef LADDER_VULKAN_ROWS_H
#define LADDER_VULKAN_ROWS_H

#include "ladder/rows.h"
#include "ladder/vulkan_ladder.h"

/* The rungs in order: those of rows.h but the library's. */
enum { VULKAN_ROWS_COUNT = ROWS_RUNGS - 1 };

typedef struct vulkan_rows_run {
    vulkan_lab *lab;
    ladder_step step;
    reduct_type type;
    uint64_t rows, columns, results; /* results: as many as there are rows, or columns */
    uint64_t down;                   /* of column-tiles: how many tiles lie above each other */
    unsigned lanes;                  /* that share a row */
    uint64_t groups;
    gpu_vulkan_kernel *kernel, *last_step;
    gpu_vulkan_buffer *tiles, *result; /* tiles: sums of the columns of each, where some lie above each other */
    double terms;
} vulkan_rows_run;

/* Makes rung number i ready for a matrix; false, and one sentence in `why`, where it cannot be run. To be released either
 * way. */
bool vulkan_rows_prepare(vulkan_rows_run *run, vulkan_lab *lab, size_t i, reduct_type type, uint64_t rows,
                         uint64_t columns, char *why, size_t room);
void vulkan_rows_release(vulkan_rows_run *run);

/* Records it once on the matrix in `elements`. */
void vulkan_rows_once(vulkan_rows_run *run, gpu_vulkan_slice elements);

/* Fills in what came of the last run: the worst of its results. */
void vulkan_rows_judge(vulkan_rows_run *run, const rows_sums *sums, report_row *row);

/* Adds a row of the report for each rung: data->n / options->columns rows of the ladder's data, which are the lab's input. */
void vulkan_run_rows(vulkan_lab *lab, const ladder_options *options, const ladder_data *data, report *r);

#endif
