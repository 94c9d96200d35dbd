/* The CUDA ladder: each rung with its finishes, verified and timed as gpu.c does; then what was asked for besides. */
#include "ladder/cuda_groups.h"
#include "ladder/cuda_rows.h"

#include "program/memory.h"
#include "program/sizes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * How things are done here: see gpu.h
 * ------------------------------------------------------------------------------------------------------------------ */

static const char *rung_at(size_t i) {
    return cuda_rung_at(i) ? ladder_rungs[cuda_rung_at(i)->step].name : NULL;
}

static bool has_rung(void *lab, size_t i, reduct_type type) {
    (void)lab;
    (void)i;
    (void)type;
    return true;
}

static report_row row(void *lab, const char *group, const char *name, reduct_type type, uint64_t n) {
    return cuda_row(lab, group, name, type, n);
}

static void create_input(void *context, const void *values, uint64_t bytes) {
    cuda_lab *lab = context;
    lab->input = gpu_cuda_input_create(lab->device, values, bytes, !cuda_profile_is_watched());
}

static void restore_input(void *context, const void *values, uint64_t bytes) {
    cuda_lab *lab = context;
    (void)bytes;
    gpu_cuda_input_restore(lab->device, &lab->input, values);
}

static void destroy_input(void *context) {
    cuda_lab *lab = context;
    gpu_cuda_input_destroy(lab->device, &lab->input);
}

static bool prepare(void *context, size_t i, ladder_finish finish, reduct_type type, uint64_t n, unsigned block,
                    char *why, size_t room) {
    cuda_lab *lab = context;
    return cuda_run_prepare(&lab->run, lab, cuda_rung_at(i), finish, type, n, block, why, room);
}

static ladder_finish finish(void *context) {
    return ((cuda_lab *)context)->run.finish;
}

static bool destroys_input(void *context) {
    return ((cuda_lab *)context)->run.rung->destroys_input;
}

static void describe(void *context, report_row *described) {
    cuda_run_describe(&((cuda_lab *)context)->run, described);
}

static double terms(void *context) {
    return cuda_run_terms(&((cuda_lab *)context)->run);
}

static void run_once(void *context, uint64_t number) {
    cuda_lab *lab = context;
    cuda_run_once(&lab->run, gpu_cuda_input_at(&lab->input, number));
}

static void result(void *context, void *to) {
    cuda_run_result(&((cuda_lab *)context)->run, to);
}

static measure_statistics time_run(void *context, unsigned rounds) {
    cuda_lab *lab = context;
    return gpu_cuda_time(lab->device, run_once, lab, rounds);
}

static double read_limit(void *context) {
    return gpu_cuda_read_limit(((cuda_lab *)context)->device);
}

static uint64_t free_memory(void *context) {
    return gpu_cuda_free_memory(((cuda_lab *)context)->device);
}

static const char *error_of(void *context) {
    return gpu_cuda_error(((cuda_lab *)context)->device);
}

static bool forgive(void *context) {
    return gpu_cuda_forgive(((cuda_lab *)context)->device);
}

static void add_points(void *context, const ladder_options *options, uint64_t n, unsigned rounds, report *r) {
    cuda_lab *lab = context;
    if (options->peers)
        cuda_add_peer_points(lab, options, n, rounds, &lab->input, r);
}

static gpu_device cuda_device(const cuda_lab *lab) {
    return (gpu_device){
        .rung_at = rung_at,
        .has_rung = has_rung,
        .row = row,
        .create_input = create_input,
        .restore_input = restore_input,
        .destroy_input = destroy_input,
        .prepare = prepare,
        .finish = finish,
        .destroys_input = destroys_input,
        .describe = describe,
        .terms = terms,
        .run_once = run_once,
        .result = result,
        .time = time_run,
        .read_limit = read_limit,
        .nominal = lab->facts->nominal,
        .free_memory = free_memory,
        .error = error_of,
        .forgive = forgive,
        .add_points = add_points,
    };
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The run as a whole
 * ------------------------------------------------------------------------------------------------------------------ */

static void add_facts(const cuda_lab *lab, report *r) {
    const gpu_cuda_facts *facts = lab->facts;
    char l2[32], memory[32];
    report_fact(r, "GPU", "%s, compute capability %u.%u, %u multiprocessors", facts->name, facts->capability / 10,
                facts->capability % 10, facts->multiprocessors);
    report_fact(r, "memory", "%s, L2 cache %s", program_size_text(facts->memory, memory, sizeof memory),
                program_size_text(facts->l2, l2, sizeof l2));
    if (facts->nominal > 0)
        report_fact(r, "nominal bandwidth", "%.0f GB/s, from memory clock and bus width", facts->nominal / 1e9);
    report_fact(r, "read limit", "%.0f GB/s, measured: 16-byte loads and next to no arithmetic", lab->read_limit / 1e9);
    report_fact(r, "driver", "for CUDA %u.%u", facts->driver / 1000, facts->driver % 1000 / 10);
    if (*LADDER_CUDA_TOOLKIT)
        report_fact(r, "kernels", "compiled by nvcc %s", LADDER_CUDA_TOOLKIT);
    report_fact(r, "data", "as many copies as exceed three times the L2 cache, read in turn");
    report_fact(r, "time", "per run, runs queued back to back, between events on the device");
}

static void load_counters(const ladder_options *options, cuda_lab *lab, report *r) {
    char why[200];
    lab->counters = program_allocate(CUDA_COUNTERS_MOST * sizeof *lab->counters);
    lab->counter_count = cuda_profile(options, lab->counters, why, sizeof why);
    if (!lab->counter_count)
        report_warning(r, "no profiler's counters: %s", why);
}

/* What a profiler watches: each wanted kernel once. It writes no report. */
static void run_watched(gpu_climb *c) {
    const ladder_options *options = c->options;
    cuda_lab *lab = c->lab;
    for (size_t i = 0; cuda_rung_at(i); i++) {
        char why[120];
        int first = options->every_finish ? LADDER_FINISH_DEFAULT + 1 : (int)options->finish;
        int last = options->every_finish ? LADDER_FINISHES - 1 : first;
        for (int way = first; ladder_wants(options->rung, rung_at(i)) && way <= last; way++)
            if (prepare(lab, i, (ladder_finish)way, options->type, c->data.n, options->block, why, sizeof why))
                run_once(lab, 0);
    }
    gpu_cuda_wait(lab->device);
    _exit(gpu_cuda_error(lab->device) ? 1 : 0);
}

static void run_all(gpu_climb *c) {
    cuda_lab *lab = c->lab;
    const ladder_options *options = c->options;
    c->limit = lab->read_limit = read_limit(lab);
    add_facts(lab, c->r);
    if (options->columns) {
        cuda_run_rows(lab, options, &c->data, c->r);
        return;
    }
    if (options->groups) {
        cuda_run_groups(lab, options, &c->data, c->r);
        return;
    }
    bool alive = gpu_add_rungs(c);
    if (alive && options->peers)
        cuda_run_peers(lab, options, &c->data, &lab->input, c->r);
    destroy_input(lab);
    if (alive && options->applications)
        cuda_run_applications(lab, options, c->r);
    if (alive && options->sweep)
        gpu_sweep(c);
    if (alive)
        gpu_add_warnings(c);
    else
        report_warning(c->r, "the device stopped: %s", gpu_cuda_error(lab->device));
    if (alive && gpu_wants_specimens(options)) /* last, as they may stop the device */
        cuda_run_specimens(lab, options, c->r);
}

reduct_status ladder_cuda_run(const ladder_options *options, report *r, reduct_error *error) {
    cuda_lab lab;
    reduct_status status = gpu_check_options(options, "CUDA", error);
    if (status != REDUCT_OK)
        return status;
    if (cuda_profile_is_watched() && !cuda_profile_is_for(options))
        return REDUCT_OK;
    status = cuda_lab_open(&lab, options->device, error);
    if (status != REDUCT_OK)
        return status;
    gpu_device device = cuda_device(&lab);
    gpu_climb c = {.device = &device, .lab = &lab, .options = options, .r = r};
    if (ladder_data_create_for(options, &c.data) != 0) {
        cuda_lab_close(&lab);
        return ladder_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "there is no memory for so many elements");
    }
    if (options->profile && !cuda_profile_is_watched())
        load_counters(options, &lab, r);
    create_input(&lab, c.data.values, c.data.n * reduct_type_size(options->type));
    if (gpu_cuda_error(lab.device))
        status = ladder_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "the data do not fit on the device: %s",
                             gpu_cuda_error(lab.device));
    else if (cuda_profile_is_watched())
        run_watched(&c);
    else
        run_all(&c);
    destroy_input(&lab);
    ladder_data_destroy(&c.data);
    cuda_lab_close(&lab);
    return status;
}
