/* The ladder of rows: one sum for each row of a matrix, or, in column-tiles, for each column. Kernels are in cuda/rows/. */
#include "ladder/cuda_rows.h"

#include "gpu/whole.h"
#include "program/memory.h"

#include <stdlib.h>

enum { LANES = 32 }; /* of a warp */

size_t cuda_rows_count(void) {
    return ROWS_RUNGS;
}

const char *cuda_rows_name(size_t i) {
    return ladder_rungs[rows_rungs[i].step].name;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Making ready
 * ------------------------------------------------------------------------------------------------------------------ */

static rows_matrix matrix_of(const cuda_rows_run *run) {
    return (rows_matrix){
        .type = run->type, .rows = run->rows, .columns = run->columns, .by_columns = run->step == LADDER_COLUMN_TILES};
}

static bool prepare_kernel(cuda_rows_run *run, rows_cover cover, char *why, size_t room) {
    char file[40], image[48], name[64], lanes[16] = "";
    gpu_file_name(run->step, file, sizeof file);
    rows_matrix matrix = matrix_of(run);
    run->lanes = rows_lanes(&matrix, cover, LANES);
    if (cover == SOME_LANES || cover == VECTOR_LANES)
        snprintf(lanes, sizeof lanes, "_%u", run->lanes);
    snprintf(image, sizeof image, "rows/%s", file);
    snprintf(name, sizeof name, "%s_%s%s", file, reduct_type_name(run->type), lanes);
    run->kernel = cuda_lab_kernel(run->lab, image, name, 0, why, room);
    if (cover == TILES && run->kernel.function) {
        snprintf(name, sizeof name, "column_finish_%s", reduct_type_name(run->type));
        run->last_step = cuda_lab_kernel(run->lab, image, name, 0, why, room);
    }
    return run->kernel.function && (cover != TILES || run->last_step.function);
}

/* The library's sum of each row. */
static bool prepare_exact(cuda_rows_run *run, char *why, size_t room) {
    const reduct_reduction reduction = {.op = REDUCT_SUM, .element = run->type};
    const reduct_plan_options options = {.reductions = &reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_SHAPE,
                                         .shape = {.outer = run->rows,
                                                   .n = run->columns,
                                                   .inner = 1,
                                                   .outer_stride = (int64_t)run->columns,
                                                   .stride = 1},
                                         .device = run->lab->name};
    reduct_error error;
    if (reduct_plan_create(&options, &run->plan, &error) == REDUCT_OK)
        return true;
    snprintf(why, room, "%s", error.message);
    return false;
}

bool cuda_rows_prepare(cuda_rows_run *run, cuda_lab *lab, size_t i, reduct_type type, uint64_t rows, uint64_t columns,
                       char *why, size_t room) {
    const rows_cover cover = rows_rungs[i].cover;
    *run = (cuda_rows_run){.lab = lab, .step = rows_rungs[i].step, .type = type, .rows = rows, .columns = columns};
    run->results = cover == TILES ? columns : rows;
    run->result_bytes = cover == LIBRARY && type == REDUCT_I32 ? 8 : reduct_type_size(type); /* i64: of no overflow */
    rows_matrix matrix = matrix_of(run);
    if (cover == VECTOR_LANES && !rows_begin_at_vectors(&matrix, why, room))
        return false;
    if (!(cover == LIBRARY ? prepare_exact(run, why, room) : prepare_kernel(run, cover, why, room)))
        return false;
    if (cover != LIBRARY) {
        uint64_t resident =
            (uint64_t)lab->facts->multiprocessors * gpu_cuda_resident_blocks(lab->device, &run->kernel, ROWS_THREADS);
        uint64_t wanted = gpu_ceil_divide(rows, ROWS_THREADS / run->lanes);
        run->blocks = (unsigned)(gpu_least(wanted, resident) ? gpu_least(wanted, resident) : 1);
        if (cover == TILES) {
            run->down = rows_tiles(&matrix, resident);
            run->blocks = (unsigned)(gpu_ceil_divide(columns, ROWS_TILE) * run->down);
        }
        run->terms = rows_terms(&matrix, run->lanes, run->down);
        cuda_lab_reserve(lab, run->down * columns * reduct_type_size(type));
    }
    run->result = gpu_cuda_allocate(lab->device, run->results * run->result_bytes);
    if (gpu_cuda_error(lab->device))
        snprintf(why, room, "%s", gpu_cuda_error(lab->device));
    return !gpu_cuda_error(lab->device);
}

void cuda_rows_release(cuda_rows_run *run) {
    gpu_cuda_free(run->lab->device, run->result);
    reduct_plan_destroy(run->plan);
    *run = (cuda_rows_run){.lab = run->lab};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running
 * ------------------------------------------------------------------------------------------------------------------ */

void cuda_rows_once(cuda_rows_run *run, uint64_t input) {
    gpu_cuda *device = run->lab->device;
    if (run->plan) {
        cuda_lab_execute_into(run->lab, run->plan, input, 0, run->result);
        return;
    }
    if (!run->blocks) /* a matrix without columns has no sums of columns */
        return;
    bool tiles = run->last_step.function != NULL;
    uint64_t to = tiles && run->down > 1 ? run->lab->partials[0] : run->result;
    gpu_cuda_launch(device, &run->kernel, run->blocks, ROWS_THREADS,
                    (void *[]){&input, &run->rows, &run->columns, &to});
    if (to != run->result)
        gpu_cuda_launch(device, &run->last_step, (unsigned)gpu_ceil_divide(run->columns, ROWS_THREADS), ROWS_THREADS,
                        (void *[]){&to, &run->down, &run->columns, &run->result});
}

static void run_once(void *context, uint64_t number) {
    cuda_rows_run *run = context;
    cuda_rows_once(run, gpu_cuda_input_at(&run->lab->input, number));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Judging
 * ------------------------------------------------------------------------------------------------------------------ */

void cuda_rows_judge(cuda_rows_run *run, const rows_sums *sums, report_row *row) {
    unsigned char *values = program_allocate(run->results * run->result_bytes + 8);
    gpu_cuda_download(run->lab->device, values, run->result, run->results * run->result_bytes);
    const many_results results = {.type = run->type,
                                  .values = values,
                                  .bytes = run->result_bytes,
                                  .count = run->results,
                                  .terms = run->terms,
                                  .sums = run->step == LADDER_COLUMN_TILES ? sums->columns : sums->rows};
    many_judge(&results, row);
    free(values);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The climb
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct climb {
    cuda_lab *lab;
    const ladder_options *options;
    const ladder_data *data;
    uint64_t rows;
    rows_sums sums;
    report *r;
    double first;
} climb;

static void add_rung(climb *c, size_t i) {
    cuda_rows_run run;
    char group[48];
    snprintf(group, sizeof group, "rows of %llu", (unsigned long long)c->options->columns);
    report_row row = cuda_row(c->lab, group, cuda_rows_name(i), c->options->type, c->data->n);
    if (cuda_rows_prepare(&run, c->lab, i, c->options->type, c->rows, c->options->columns, row.note, sizeof row.note)) {
        rows_describe(run.lanes, run.down, &row);
        cuda_row_kernel(c->lab, &row, &run.kernel, ROWS_THREADS);
        measure_statistics seconds = gpu_cuda_time(c->lab->device, run_once, &run, c->options->rounds);
        cuda_rows_once(&run, c->lab->input.address);
        cuda_rows_judge(&run, &c->sums, &row);
        cuda_row_time(c->lab, &row, &seconds);
        c->first = c->first > 0 ? c->first : seconds.median;
        report_set(&row, MEASURE_SPEEDUP, seconds.median > 0 ? c->first / seconds.median : 0);
        gpu_row_error(&row, "", gpu_cuda_error(c->lab->device));
    } else {
        row.verdict = REPORT_NOT_RUN;
    }
    cuda_rows_release(&run);
    if (gpu_cuda_error(c->lab->device))
        gpu_cuda_forgive(c->lab->device);
    report_add_row(c->r, &row);
}

void cuda_run_rows(cuda_lab *lab, const ladder_options *options, const ladder_data *data, report *r) {
    climb c = {.lab = lab, .options = options, .data = data, .rows = data->n / options->columns, .r = r};
    c.sums = rows_sums_create(data, c.rows, options->columns);
    for (size_t i = 0; i < cuda_rows_count(); i++)
        if (ladder_wants(options->rung, cuda_rows_name(i)))
            add_rung(&c, i);
    rows_sums_destroy(&c.sums);
}
