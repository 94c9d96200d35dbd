/* The ladder of rows on Vulkan devices. Shaders are in glsl/rows/. */
#include "ladder/vulkan_rows.h"

#include "gpu/whole.h"
#include "program/memory.h"

#include <stdlib.h>
#include <string.h>

/* As in rows.glsl. */
typedef struct push {
    uint32_t rows, columns, groups, in_line;
} push;

/* ---------------------------------------------------------------------------------------------------------------------
 * Making ready
 * ------------------------------------------------------------------------------------------------------------------ */

static rows_matrix matrix_of(const vulkan_rows_run *run) {
    return (rows_matrix){
        .type = run->type, .rows = run->rows, .columns = run->columns, .by_columns = run->step == LADDER_COLUMN_TILES};
}

/* What this device lacks for a rung, or null. */
static const char *lack(const vulkan_rows_run *run, rows_cover cover) {
    const gpu_vulkan_facts *facts = run->lab->facts;
    bool subgroups = cover == A_WARP || cover == SOME_LANES || cover == VECTOR_LANES;
    if (run->type == REDUCT_F64 && !facts->f64)
        return "this device has no f64";
    if (facts->group_most < ROWS_THREADS)
        return "a group of this device has fewer than 256 invocations";
    if (run->rows * run->columns * reduct_type_size(run->type) > facts->range)
        return "the matrix is larger than a binding";
    if (subgroups && (!facts->subgroup_shuffle_relative || facts->subgroup_least < 2))
        return "no shuffles of subgroups here";
    return NULL;
}

/* Mesa's llvmpipe leaves a shader's loops after so many turns, all loops together, and says nothing: sums lack what is left. */
enum { LLVMPIPE_TURNS = 65535 };

static bool has_turns(const vulkan_rows_run *run, rows_cover cover) {
    if (cover == TILES)
        return gpu_ceil_divide(run->rows, run->down * (ROWS_THREADS / ROWS_TILE)) < LLVMPIPE_TURNS;
    uint64_t rows = gpu_ceil_divide(run->rows, run->groups * (ROWS_THREADS / run->lanes));
    uint64_t turns = gpu_ceil_divide(run->columns, run->lanes);
    if (cover == VECTOR_LANES)
        turns = gpu_ceil_divide(turns * reduct_type_size(run->type), ROWS_VECTOR);
    return rows * (turns + 1) <= LLVMPIPE_TURNS;
}

static gpu_vulkan_kernel *kernel_of(const vulkan_rows_run *run, const char *variant, char *why, size_t room) {
    char file[40], name[96];
    snprintf(name, sizeof name, "glsl/%s_%s%s", gpu_file_name(run->step, file, sizeof file), variant,
             reduct_type_name(run->type));
    const uint32_t constants[] = {ROWS_THREADS, run->lanes};
    const gpu_vulkan_setup setup = {.shader = rd_vulkan_shader_find(ladder_vulkan_shaders, name),
                                    .buffers = 2,
                                    .push_bytes = sizeof(push),
                                    .constants = constants,
                                    .constant_count = 2};
    gpu_vulkan_kernel *kernel = setup.shader ? gpu_vulkan_kernel_create(run->lab->device, &setup) : NULL;
    if (!setup.shader)
        snprintf(why, room, "this build has no shader %s", name);
    else if (!kernel)
        snprintf(why, room, "%s: %s", name, gpu_vulkan_error(run->lab->device));
    return kernel;
}

bool vulkan_rows_prepare(vulkan_rows_run *run, vulkan_lab *lab, size_t i, reduct_type type, uint64_t rows,
                         uint64_t columns, char *why, size_t room) {
    const rows_cover cover = rows_rungs[i].cover;
    *run = (vulkan_rows_run){.lab = lab, .step = rows_rungs[i].step, .type = type, .rows = rows, .columns = columns};
    const rows_matrix matrix = matrix_of(run);
    const char *lacks = lack(run, cover);
    if (lacks)
        snprintf(why, room, "%s", lacks);
    if (lacks || (cover == VECTOR_LANES && !rows_begin_at_vectors(&matrix, why, room)))
        return false;
    run->lanes = cover == TILES ? 1 : rows_lanes(&matrix, cover, lab->facts->subgroup_least);
    run->results = cover == TILES ? columns : rows;
    run->kernel = kernel_of(run, "", why, room);
    run->last_step = run->kernel && cover == TILES ? kernel_of(run, "finish_", why, room) : NULL;
    if (!run->kernel || (cover == TILES && !run->last_step))
        return false;
    uint64_t resident = vulkan_lab_resident_groups(lab, ROWS_THREADS, gpu_vulkan_kernel_registers(run->kernel));
    run->groups = gpu_least(gpu_ceil_divide(rows, ROWS_THREADS / run->lanes), resident);
    if (cover == TILES) {
        run->down = rows_tiles(&matrix, resident);
        run->groups = gpu_ceil_divide(columns, ROWS_TILE) * run->down;
    }
    if (run->groups && strncmp(lab->facts->name, "llvmpipe", 8) == 0 && !has_turns(run, cover)) {
        snprintf(why, room, "this driver ends loops after %d turns", LLVMPIPE_TURNS);
        return false;
    }
    run->terms = rows_terms(&matrix, run->lanes, run->down);
    size_t size = reduct_type_size(type);
    run->result = gpu_vulkan_allocate(lab->device, (run->results ? run->results : 1) * size);
    if (run->down > 1)
        run->tiles = gpu_vulkan_allocate(lab->device, run->down * columns * size);
    if (gpu_vulkan_error(lab->device))
        snprintf(why, room, "%s", gpu_vulkan_error(lab->device));
    return !gpu_vulkan_error(lab->device);
}

void vulkan_rows_release(vulkan_rows_run *run) {
    gpu_vulkan *device = run->lab->device;
    gpu_vulkan_free(device, run->result);
    gpu_vulkan_free(device, run->tiles);
    if (run->kernel)
        gpu_vulkan_kernel_destroy(device, run->kernel);
    if (run->last_step)
        gpu_vulkan_kernel_destroy(device, run->last_step);
    *run = (vulkan_rows_run){.lab = run->lab};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running and judging
 * ------------------------------------------------------------------------------------------------------------------ */

static void dispatch(vulkan_rows_run *run, gpu_vulkan_kernel *kernel, gpu_vulkan_slice from, gpu_vulkan_slice to,
                     uint64_t rows, uint64_t groups) {
    unsigned lines;
    push constants = {(uint32_t)rows, (uint32_t)run->columns, (uint32_t)groups, 0};
    gpu_vulkan_grid(run->lab->device, groups, &constants.in_line, &lines);
    gpu_vulkan_dispatch(run->lab->device, kernel, groups, (gpu_vulkan_slice[]){from, to}, &constants);
}

void vulkan_rows_once(vulkan_rows_run *run, gpu_vulkan_slice elements) {
    size_t size = reduct_type_size(run->type);
    if (!run->groups) /* there is nothing to sum */
        return;
    const gpu_vulkan_slice result = {run->result, 0, run->results * size};
    if (!run->tiles) {
        dispatch(run, run->kernel, elements, result, run->rows, run->groups);
        return;
    }
    const gpu_vulkan_slice tiles = {run->tiles, 0, run->down * run->columns * size};
    dispatch(run, run->kernel, elements, tiles, run->rows, run->groups);
    dispatch(run, run->last_step, tiles, result, run->down, gpu_ceil_divide(run->columns, ROWS_THREADS));
}

void vulkan_rows_judge(vulkan_rows_run *run, const rows_sums *sums, report_row *row) {
    size_t size = reduct_type_size(run->type);
    unsigned char *values = program_allocate(run->results * size + 8);
    if (run->results)
        gpu_vulkan_download(run->lab->device, values, run->result, 0, run->results * size);
    const many_results results = {.type = run->type,
                                  .values = values,
                                  .bytes = size,
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
    vulkan_lab *lab;
    const ladder_options *options;
    const ladder_data *data;
    uint64_t rows;
    rows_sums sums;
    report *r;
    double first;
    vulkan_rows_run run;
} climb;

static void run_once(void *context, uint64_t number) {
    climb *c = context;
    uint64_t bytes;
    vulkan_rows_once(&c->run, gpu_vulkan_input_piece(&c->lab->input, number, 0, &bytes));
}

static void add_rung(climb *c, size_t i) {
    char group[48];
    snprintf(group, sizeof group, "rows of %llu", (unsigned long long)c->options->columns);
    gpu_vulkan *device = c->lab->device;
    report_row row = vulkan_row(c->lab, group, ladder_rungs[rows_rungs[i].step].name, c->options->type, c->data->n);
    if (vulkan_rows_prepare(&c->run, c->lab, i, c->options->type, c->rows, c->options->columns, row.note,
                            sizeof row.note)) {
        rows_describe(c->run.lanes, c->run.down, &row);
        report_set(&row, MEASURE_BLOCK, ROWS_THREADS);
        report_set(&row, MEASURE_REGISTERS, gpu_vulkan_kernel_registers(c->run.kernel));
        measure_statistics seconds = gpu_vulkan_time(device, run_once, c, c->options->rounds);
        run_once(c, 0);
        vulkan_rows_judge(&c->run, &c->sums, &row);
        gpu_row_time(&row, &seconds, c->lab->read_limit, 0);
        c->first = c->first > 0 ? c->first : seconds.median;
        report_set(&row, MEASURE_SPEEDUP, seconds.median > 0 ? c->first / seconds.median : 0);
        gpu_row_error(&row, "", gpu_vulkan_error(device));
    } else {
        row.verdict = REPORT_NOT_RUN;
    }
    vulkan_rows_release(&c->run);
    if (gpu_vulkan_error(device))
        gpu_vulkan_forgive(device);
    report_add_row(c->r, &row);
}

void vulkan_run_rows(vulkan_lab *lab, const ladder_options *options, const ladder_data *data, report *r) {
    climb c = {.lab = lab, .options = options, .data = data, .rows = data->n / options->columns, .r = r};
    c.sums = rows_sums_create(data, c.rows, options->columns);
    for (size_t i = 0; i < VULKAN_ROWS_COUNT; i++)
        if (ladder_wants(options->rung, ladder_rungs[rows_rungs[i].step].name))
            add_rung(&c, i);
    rows_sums_destroy(&c.sums);
}
