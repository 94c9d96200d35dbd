/* The climb of a GPU's ladder: see gpu.h. */
#include "ladder/gpu.h"

#include "measure/timing.h"
#include "program/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * What is wanted
 * ------------------------------------------------------------------------------------------------------------------ */

const ladder_rung *gpu_rung_named(const char *name) {
    for (size_t i = 0; i < LADDER_RUNGS; i++)
        if ((ladder_rungs[i].kind == LADDER_RUNG_GPU || ladder_rungs[i].kind == LADDER_RUNG_SPECIMEN) &&
            strcmp(ladder_rungs[i].name, name) == 0)
            return &ladder_rungs[i];
    return NULL;
}

const char *gpu_file_name(ladder_step step, char *text, size_t room) {
    snprintf(text, room, "%s", ladder_rungs[step].name);
    for (char *c = text; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return text;
}

/* Whether what is climbed, the ladder or that of rows or groups, has a rung of that name. */
static bool has_rung(const ladder_options *options) {
    if (!options->columns && !options->groups)
        return gpu_rung_named(options->rung) != NULL;
    ladder_rung_kind kind = options->columns ? LADDER_RUNG_ROWS : LADDER_RUNG_GROUPS;
    for (size_t i = 0; i < LADDER_RUNGS; i++)
        if (ladder_rungs[i].kind == kind && strcmp(ladder_rungs[i].name, options->rung) == 0)
            return true;
    return false;
}

reduct_status gpu_check_options(const ladder_options *options, const char *ladder, reduct_error *error) {
    if (options->type != REDUCT_I32 && options->type != REDUCT_F32 && options->type != REDUCT_F64)
        return ladder_fail(error, REDUCT_ERROR_UNSUPPORTED, "the ladder is for i32, f32 and f64");
    if (options->rung && !has_rung(options))
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "there is no rung '%s' on the %s ladder", options->rung,
                           ladder);
    return REDUCT_OK;
}

bool gpu_wants_specimens(const ladder_options *options) {
    const ladder_rung *rung = options->rung ? gpu_rung_named(options->rung) : NULL;
    return options->specimens || (rung && rung->kind == LADDER_RUNG_SPECIMEN);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------------------------------ */

/* Runs on the first copy and judges; a row that was wrong once stays wrong. */
static void verify(const gpu_climb *c, report_row *row) {
    _Alignas(8) unsigned char result[8] = {0};
    report_row before = *row;
    c->device->run_once(c->lab, 0);
    c->device->result(c->lab, result);
    ladder_judge(row, &c->data, result, c->device->terms(c->lab));
    if (before.verdict == REPORT_WRONG)
        *row = before;
}

static void restore(const gpu_climb *c) {
    if (c->device->destroys_input(c->lab))
        c->device->restore_input(c->lab, c->data.values, c->data.n * reduct_type_size(c->data.type));
}

/* Verifies, times, and verifies again: a result must not depend on the runs before it. */
static void measure_rung(gpu_climb *c, report_row *row) {
    verify(c, row);
    measure_statistics seconds = c->device->time(c->lab, c->options->rounds);
    restore(c);
    verify(c, row);
    restore(c);
    gpu_row_time(row, &seconds, c->limit, c->device->nominal);
    if (c->first_seconds <= 0) {
        c->first_seconds = seconds.median;
        snprintf(c->first_finish, sizeof c->first_finish, "%s", row->variant);
    }
    c->finishes_differ |= strcmp(row->variant, c->first_finish) != 0;
    report_set(row, MEASURE_SPEEDUP, seconds.median > 0 ? c->first_seconds / seconds.median : 0);
    c->timed++;
    c->noisy += row->spread > GPU_NOISY;
}

/* A failure of the device becomes the row's; false where the device cannot go on. */
static bool settle(const gpu_climb *c, report_row *row) {
    const char *error = c->device->error(c->lab);
    if (row->verdict != REPORT_NOT_RUN) /* which has said why */
        gpu_row_error(row, "", error);
    return !error || c->device->forgive(c->lab);
}

static bool add_rung(gpu_climb *c, size_t i, ladder_finish finish) {
    report_row row = c->device->row(c->lab, "rungs", c->device->rung_at(i), c->options->type, c->data.n);
    if (c->device->prepare(c->lab, i, finish, c->options->type, c->data.n, c->options->block, row.note,
                           sizeof row.note)) {
        c->device->describe(c->lab, &row);
        measure_rung(c, &row);
    } else {
        snprintf(row.variant, sizeof row.variant, "%s", ladder_finish_name(c->device->finish(c->lab)));
        row.verdict = REPORT_NOT_RUN;
    }
    bool alive = settle(c, &row);
    report_add_row(c->r, &row);
    return alive;
}

static bool is_climbed(const gpu_climb *c, size_t i) {
    return ladder_wants(c->options->rung, c->device->rung_at(i)) && c->device->has_rung(c->lab, i, c->options->type);
}

bool gpu_add_rungs(gpu_climb *c) {
    bool alive = true;
    for (size_t i = 0; alive && c->device->rung_at(i); i++) {
        if (!is_climbed(c, i))
            continue;
        if (!c->options->every_finish) {
            alive = add_rung(c, i, c->options->finish);
            continue;
        }
        for (int finish = LADDER_FINISH_DEFAULT + 1; alive && finish < LADDER_FINISHES; finish++)
            alive = add_rung(c, i, (ladder_finish)finish);
    }
    if (c->finishes_differ && !c->options->every_finish && c->options->finish == LADDER_FINISH_DEFAULT)
        report_fact(c->r, "speed-up",
                    "over the first rung, each rung with its own finish; --finish second-launch sets like beside like");
    return alive;
}

void gpu_row_time(report_row *row, const measure_statistics *seconds, double limit, double nominal) {
    row->seconds = seconds->median;
    row->spread = measure_spread(seconds);
    if (seconds->median <= 0 || row->bytes == 0)
        return;
    double rate = (double)row->bytes / seconds->median;
    if (limit > 0)
        row->of_limit = rate / limit;
    if (nominal > 0)
        row->of_nominal = rate / nominal;
}

void gpu_row_error(report_row *row, const char *where, const char *error) {
    if (!error)
        return;
    row->verdict = REPORT_NOT_RUN;
    snprintf(row->note, sizeof row->note, "%s%s", where, error);
}

gpu_passes gpu_plan_passes(uint64_t blocks, uint64_t (*blocks_for)(const void *run, uint64_t n), const void *run) {
    gpu_passes passes = {.count = 1, .blocks = {blocks}};
    for (; blocks > 1 && passes.count < GPU_PASSES_MOST; passes.count++)
        passes.blocks[passes.count] = blocks = blocks_for(run, blocks);
    return passes;
}

void gpu_sum_on_host(reduct_type type, const void *partials, uint64_t count, void *sum) {
    if (type == REDUCT_I32) {
        uint32_t all = 0;
        for (uint64_t i = 0; i < count; i++)
            all += ((const uint32_t *)partials)[i];
        memcpy(sum, &all, sizeof all);
    } else if (type == REDUCT_F32) {
        float all = 0;
        for (uint64_t i = 0; i < count; i++)
            all += ((const float *)partials)[i];
        memcpy(sum, &all, sizeof all);
    } else {
        double all = 0;
        for (uint64_t i = 0; i < count; i++)
            all += ((const double *)partials)[i];
        memcpy(sum, &all, sizeof all);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Bandwidth over n
 * ------------------------------------------------------------------------------------------------------------------ */

enum { SWEEP_ROUNDS_MOST = 5 };

static unsigned sweep_rounds(const gpu_climb *c) {
    return c->options->rounds < SWEEP_ROUNDS_MOST ? c->options->rounds : SWEEP_ROUNDS_MOST;
}

/* CUDA's curves are called like the rungs; those of shaders have the language behind the name. */
void gpu_add_point(report *r, const char *name, const char *language, reduct_type type, uint64_t n, double seconds) {
    char text[96];
    bool plain = strcmp(language, "cuda") == 0;
    snprintf(text, sizeof text, "%s%s%s", name, plain ? "" : " ", plain ? "" : language);
    ladder_add_point(r, text, type, n, seconds);
}

static void add_point(const gpu_climb *c, size_t i) {
    char why[160];
    const char *rung = c->device->rung_at(i);
    report_row row = c->device->row(c->lab, "", rung, c->options->type, c->data.n);
    if (!c->device->prepare(c->lab, i, c->options->finish, c->options->type, c->data.n, c->options->block, why,
                            sizeof why))
        return;
    verify(c, &row);
    double seconds = c->device->time(c->lab, sweep_rounds(c)).median;
    restore(c);
    if (row.verdict == REPORT_WRONG)
        report_warning(c->r, "%s in %s is wrong for %llu elements: %s instead of %s", rung, row.language,
                       (unsigned long long)c->data.n, row.got, row.expected);
    gpu_add_point(c->r, rung, row.language, c->options->type, c->data.n, seconds);
}

/* A curve shows the first way of doing a rung. */
static bool is_second_of_its_name(const gpu_device *device, size_t i) {
    return i > 0 && strcmp(device->rung_at(i), device->rung_at(i - 1)) == 0;
}

void gpu_sweep(const gpu_climb *all) {
    enum { FIRST = 10, LAST = 28 };
    const gpu_device *device = all->device;
    void *lab = all->lab;
    uint64_t size = reduct_type_size(all->options->type),
             most = all->sweep_most ? all->sweep_most : UINT64_C(1) << LAST;
    for (unsigned log = FIRST; UINT64_C(1) << log <= most && !device->error(lab); log++) {
        gpu_climb c = *all;
        if ((size << log) * 3 > device->free_memory(lab) ||
            ladder_data_create(&c.data, c.options->type, UINT64_C(1) << log) != 0)
            break;
        device->create_input(lab, c.data.values, size << log);
        for (size_t i = 0; device->rung_at(i) && !device->error(lab); i++)
            if (is_climbed(&c, i) && !is_second_of_its_name(device, i))
                add_point(&c, i);
        if (device->add_points)
            device->add_points(lab, c.options, c.data.n, sweep_rounds(&c), c.r);
        device->destroy_input(lab);
        ladder_data_destroy(&c.data);
    }
    if (device->error(lab))
        report_warning(all->r, "the sweep ended early: %s", device->error(lab));
    device->forgive(lab);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Warnings
 * ------------------------------------------------------------------------------------------------------------------ */

char *gpu_rate_text(double bytes_per_second, char *text, size_t room) {
    double rate = bytes_per_second / 1e9;
    snprintf(text, room, "%.*f GB/s", rate < 10 ? 2 : rate < 100 ? 1 : 0, rate);
    return text;
}

void gpu_add_warnings(const gpu_climb *c) {
    char first[32], last[32];
    double again = c->device->read_limit(c->lab);
    if (c->noisy)
        report_warning(c->r,
                       "the times of %u of %u rows spread by more than %.0f%%: something else uses the device, or "
                       "its clocks move",
                       c->noisy, c->timed, 100 * GPU_NOISY);
    if (measure_has_slowed(c->limit, again))
        report_warning(c->r, "the read limit was %s at first and %s at the end: the device is throttling or shared",
                       gpu_rate_text(c->limit, first, sizeof first), gpu_rate_text(again, last, sizeof last));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Textures
 * ------------------------------------------------------------------------------------------------------------------ */

const gpu_texture gpu_textures[GPU_TEXTURE_WAYS] = {
    [GPU_TEXTURE_ARRAY] = {"array", "from an array"},
    [GPU_TEXTURE_ROWS] = {"rows", "texels by rows"},
    [GPU_TEXTURE_TILES] = {"tiles", "texels by tiles"},
};

enum { TEXTURE_TILE = 16 };

gpu_texture_shape gpu_texture_shape_of(uint64_t n) {
    uint64_t width = TEXTURE_TILE;
    while (width * width < n && width < UINT32_C(1) << 24)
        width *= 2;
    uint64_t rows = n / width + (n % width != 0), tiles = rows / TEXTURE_TILE + (rows % TEXTURE_TILE != 0);
    return (gpu_texture_shape){(unsigned)width, (unsigned)(tiles ? tiles : 1) * TEXTURE_TILE};
}

uint64_t gpu_texture_tiles(const gpu_texture_shape *shape) {
    return (uint64_t)shape->width / TEXTURE_TILE * (shape->height / TEXTURE_TILE);
}

double gpu_texture_terms(const gpu_texture_shape *shape, uint64_t groups, unsigned group) {
    double threads = (double)groups * group, texels = (double)shape->width * shape->height;
    return texels / threads + 1 + (double)groups / group + 1 + 2.0 * group;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Specimens
 * ------------------------------------------------------------------------------------------------------------------ */

const gpu_maximum gpu_maxima[GPU_MAXIMA] = {
    {"max-of-bits", "atomicMax on bits", true, false, -FLT_MAX, false},
    {"max-of-bits", "repair: ordered bits", false, true, -INFINITY, false},
    {"max-from-lowest", "from -FLT_MAX", true, true, -FLT_MAX, true},
    {"max-from-lowest", "repair: from -infinity", false, true, -INFINITY, true},
};

void *gpu_specimen_values(const ladder_data *data) {
    const int32_t i32 = 1000;
    const float f32 = 1000;
    const double f64 = 1000;
    const void *strange = data->type == REDUCT_I32   ? (const void *)&i32
                          : data->type == REDUCT_F32 ? (const void *)&f32
                                                     : (const void *)&f64;
    size_t size = reduct_type_size(data->type), all = (size_t)GPU_SPECIMEN_ELEMENTS + GPU_SPECIMEN_BEYOND;
    unsigned char *values = program_allocate(all * size);
    memcpy(values, data->values, GPU_SPECIMEN_ELEMENTS * size);
    for (size_t i = GPU_SPECIMEN_ELEMENTS; i < all; i++)
        memcpy(values + i * size, strange, size);
    return values;
}

float *gpu_specimen_negatives(bool infinite, float *most) {
    float *values = program_allocate(GPU_SPECIMEN_ELEMENTS * sizeof *values);
    *most = -INFINITY;
    for (uint32_t i = 0; i < GPU_SPECIMEN_ELEMENTS; i++) {
        uint32_t bits = (i + 1) * UINT32_C(2654435761) >> 8;
        values[i] = infinite ? -INFINITY : -1 - (float)bits * 0x1p-24f;
        if (values[i] > *most)
            *most = values[i];
    }
    return values;
}

void gpu_specimen_call(report_row *row, const ladder_data *data, const void *result) {
    double error = 0;
    if (report_verdict_is_good(row->verdict)) {
        row->verdict = REPORT_LUCKY;
        return;
    }
    if (data->type == REDUCT_I32)
        error = (double)*(const int32_t *)result - (double)data->integer;
    else if (data->type == REDUCT_F32)
        error = (double)*(const float *)result - data->real;
    else
        error = *(const double *)result - data->real;
    snprintf(row->note, sizeof row->note, "wrong by %.3g", fabs(error));
}

void gpu_specimen_call_maximum(report_row *row, bool is_mistake, float most, float got) {
    snprintf(row->expected, sizeof row->expected, "%.9g", (double)most);
    snprintf(row->got, sizeof row->got, "%.9g", (double)got);
    row->verdict = got == most ? REPORT_RIGHT : REPORT_WRONG;
    if (is_mistake && got == most)
        row->verdict = REPORT_LUCKY;
    else if (is_mistake)
        snprintf(row->note, sizeof row->note, "wrong by %.3g", fabs((double)got - (double)most));
}
