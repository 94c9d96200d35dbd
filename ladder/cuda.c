/* The CUDA ladder: each rung with its finishes, verified and timed; then what was asked for besides. */
#include "ladder/cuda_ladder.h"

#include "measure/memory.h"
#include "measure/sizes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A run of the ladder. */
typedef struct climb {
    cuda_lab *lab;
    const ladder_options *options;
    report *r;
    ladder_data data;
    measure_cuda_input input;
    cuda_counters *counters;
    size_t counter_count;
    double first_seconds; /* of the first rung, for speed-ups */
    unsigned timed, noisy;
} climb;

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------------------------------ */

static void add_counters(const climb *c, const cuda_run *run, report_row *row) {
    for (size_t i = 0; i < c->counter_count; i++) {
        if (strcmp(c->counters[i].kernel, run->kernel_name) != 0)
            continue;
        row->bank_conflicts = c->counters[i].bank_conflicts;
        row->shared_transactions = c->counters[i].shared_transactions;
        row->divergence = c->counters[i].divergence;
        return; /* the first launch: later ones work on what it left */
    }
}

/* Runs on the first copy and judges; a row that was wrong once stays wrong. */
static void verify(const climb *c, cuda_run *run, report_row *row) {
    unsigned char result[8];
    report_row before = *row;
    cuda_run_once(run, measure_cuda_input_at(&c->input, 0));
    cuda_run_result(run, result);
    ladder_judge(row, &c->data, result, cuda_run_terms(run));
    if (before.verdict == REPORT_WRONG)
        *row = before;
}

typedef struct timed_run {
    cuda_run *run;
    const measure_cuda_input *input;
} timed_run;

static void run_for_time(void *context, uint64_t number) {
    timed_run *timed = context;
    cuda_run_once(timed->run, measure_cuda_input_at(timed->input, number));
}

/* Verifies, times, and verifies again: what a thousand runs leave behind must not matter. */
static void measure_rung(climb *c, cuda_run *run, report_row *row) {
    measure_cuda *device = c->lab->device;
    verify(c, run, row);
    timed_run timed = {run, &c->input};
    measure_statistics seconds = measure_cuda_time(device, run_for_time, &timed, c->options->rounds);
    if (run->rung->destroys_input)
        measure_cuda_input_restore(device, &c->input, c->data.values);
    verify(c, run, row);
    if (run->rung->destroys_input)
        measure_cuda_input_restore(device, &c->input, c->data.values);
    cuda_row_time(c->lab, row, &seconds);
    if (c->first_seconds <= 0)
        c->first_seconds = seconds.median;
    row->speedup = seconds.median > 0 ? c->first_seconds / seconds.median : 0;
    c->timed++;
    c->noisy += measure_cuda_is_noisy(row->spread);
}

/* A failure of the device becomes the row's; false where the device cannot go on. */
static bool settle(cuda_lab *lab, report_row *row) {
    if (!measure_cuda_error(lab->device))
        return true;
    if (row->verdict != REPORT_NOT_RUN) /* which has said why */
        snprintf(row->note, sizeof row->note, "%s", measure_cuda_error(lab->device));
    row->verdict = REPORT_NOT_RUN;
    return measure_cuda_forgive(lab->device);
}

static bool add_rung(climb *c, const cuda_rung *rung, ladder_finish finish) {
    cuda_run run;
    report_row row = cuda_row(c->lab, "rungs", rung->name, c->options->type, c->data.n);
    bool ready = cuda_run_prepare(&run, c->lab, rung, finish, c->options->type, c->data.n, c->options->block, row.note,
                                  sizeof row.note);
    if (ready) {
        cuda_run_describe(&run, &row);
        add_counters(c, &run, &row);
        measure_rung(c, &run, &row);
    } else {
        snprintf(row.variant, sizeof row.variant, "%s", ladder_finish_name(run.finish));
        row.verdict = REPORT_NOT_RUN;
    }
    bool alive = settle(c->lab, &row);
    report_add_row(c->r, &row);
    return alive;
}

static bool is_wanted(const climb *c, const char *rung) {
    return !c->options->rung || strcmp(c->options->rung, rung) == 0;
}

static bool add_rungs(climb *c) {
    bool alive = true;
    for (size_t i = 0; alive && cuda_rung_at(i); i++) {
        if (!is_wanted(c, cuda_rung_at(i)->name))
            continue;
        if (!c->options->every_finish) {
            alive = add_rung(c, cuda_rung_at(i), c->options->finish);
            continue;
        }
        for (int finish = LADDER_FINISH_HOST; alive && finish <= LADDER_FINISH_LAST_BLOCK; finish++)
            alive = add_rung(c, cuda_rung_at(i), (ladder_finish)finish);
    }
    return alive;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Bandwidth over n
 * ------------------------------------------------------------------------------------------------------------------ */

enum { SWEEP_ROUNDS_MOST = 5 };

static unsigned sweep_rounds(const climb *c) {
    return c->options->rounds < SWEEP_ROUNDS_MOST ? c->options->rounds : SWEEP_ROUNDS_MOST;
}

static void add_point(climb *c, const cuda_rung *rung) {
    cuda_run run;
    char why[120];
    report_row row = report_row_empty();
    if (!cuda_run_prepare(&run, c->lab, rung, c->options->finish, c->options->type, c->data.n, c->options->block, why,
                          sizeof why))
        return;
    verify(c, &run, &row);
    timed_run timed = {&run, &c->input};
    double seconds = measure_cuda_time(c->lab->device, run_for_time, &timed, sweep_rounds(c)).median;
    if (rung->destroys_input)
        measure_cuda_input_restore(c->lab->device, &c->input, c->data.values);
    if (row.verdict == REPORT_WRONG)
        report_warning(c->r, "%s is wrong for %llu elements: %s instead of %s", rung->name,
                       (unsigned long long)c->data.n, row.got, row.expected);
    cuda_add_point(c->r, rung->name, c->options->type, c->data.n, seconds);
}

/* Powers of two from 2^10 to 2^28, as far as memory goes; each size has data of its own, and is verified. */
static void sweep(climb *all) {
    enum { FIRST = 10, LAST = 28 };
    cuda_lab *lab = all->lab;
    uint64_t size = reduct_type_size(all->options->type);
    for (unsigned log = FIRST; log <= LAST && !measure_cuda_error(lab->device); log++) {
        climb c = *all;
        if ((size << log) * 3 > measure_cuda_free_memory(lab->device) ||
            ladder_data_create(&c.data, c.options->type, UINT64_C(1) << log) != 0)
            break;
        c.input = measure_cuda_input_create(lab->device, c.data.values, size << log, true);
        for (size_t i = 0; cuda_rung_at(i) && !measure_cuda_error(lab->device); i++)
            if (is_wanted(&c, cuda_rung_at(i)->name))
                add_point(&c, cuda_rung_at(i));
        if (c.options->peers && !c.options->rung)
            cuda_add_peer_points(lab, c.options, c.data.n, sweep_rounds(&c), &c.input, c.r);
        measure_cuda_input_destroy(lab->device, &c.input);
        ladder_data_destroy(&c.data);
    }
    if (measure_cuda_error(lab->device))
        report_warning(all->r, "the sweep ended early: %s", measure_cuda_error(lab->device));
    measure_cuda_forgive(lab->device);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The run as a whole
 * ------------------------------------------------------------------------------------------------------------------ */

static double read_limit(cuda_lab *lab) {
    char why[160];
    measure_cuda_kernel kernel = cuda_lab_kernel(lab, "support", "read_limit", 0, why, sizeof why);
    return kernel.function ? measure_cuda_read_limit(lab->device, &kernel) : 0;
}

static void add_facts(const cuda_lab *lab, report *r) {
    const measure_cuda_facts *facts = lab->facts;
    char l2[32], memory[32];
    report_fact(r, "GPU", "%s, compute capability %u.%u, %u multiprocessors", facts->name, facts->capability / 10,
                facts->capability % 10, facts->multiprocessors);
    report_fact(r, "memory", "%s, L2 cache %s", measure_size_text(facts->memory, memory, sizeof memory),
                measure_size_text(facts->l2, l2, sizeof l2));
    if (facts->nominal > 0)
        report_fact(r, "nominal bandwidth", "%.0f GB/s, from memory clock and bus width", facts->nominal / 1e9);
    report_fact(r, "read limit", "%.0f GB/s, measured: 16-byte loads and next to no arithmetic", lab->read_limit / 1e9);
    report_fact(r, "driver", "for CUDA %u.%u", facts->driver / 1000, facts->driver % 1000 / 10);
    if (*LADDER_CUDA_TOOLKIT)
        report_fact(r, "kernels", "compiled by nvcc %s", LADDER_CUDA_TOOLKIT);
    report_fact(r, "data", "as many copies as exceed three times the L2 cache, read in turn");
    report_fact(r, "time", "per run, runs queued back to back, between events on the device");
}

static void add_warnings(climb *c) {
    double again = read_limit(c->lab);
    if (c->noisy)
        report_warning(c->r,
                       "the times of %u of %u rows spread by more than %.0f%%: something else uses the device, or "
                       "its clocks move",
                       c->noisy, c->timed, 100 * MEASURE_CUDA_NOISY);
    if (measure_cuda_has_slowed(c->lab->read_limit, again))
        report_warning(c->r,
                       "the read limit was %.0f GB/s at first and %.0f GB/s at the end: the device is throttling "
                       "or shared",
                       c->lab->read_limit / 1e9, again / 1e9);
}

static void load_counters(climb *c) {
    char why[200];
    c->counters = measure_allocate(CUDA_COUNTERS_MOST * sizeof *c->counters);
    c->counter_count = cuda_profile(c->options, c->counters, why, sizeof why);
    if (!c->counter_count)
        report_warning(c->r, "no profiler's counters: %s", why);
}

/* What a profiler watches: each wanted kernel once. Nobody waits for a report of this process. */
static void run_watched(climb *c) {
    for (size_t i = 0; cuda_rung_at(i); i++) {
        cuda_run run;
        char why[120];
        const cuda_rung *rung = cuda_rung_at(i);
        int first = c->options->every_finish ? LADDER_FINISH_HOST : (int)c->options->finish;
        int last = c->options->every_finish ? LADDER_FINISH_LAST_BLOCK : first;
        for (int finish = first; is_wanted(c, rung->name) && finish <= last; finish++)
            if (cuda_run_prepare(&run, c->lab, rung, (ladder_finish)finish, c->options->type, c->data.n,
                                 c->options->block, why, sizeof why))
                cuda_run_once(&run, measure_cuda_input_at(&c->input, 0));
    }
    measure_cuda_wait(c->lab->device);
    _exit(measure_cuda_error(c->lab->device) ? 1 : 0);
}

/* The ladder's entry of that name, CUDA's rungs and specimens alone; null for any other. */
static const ladder_rung *find_rung(const char *name) {
    for (size_t i = 0; ladder_rung_at(i); i++)
        if (ladder_rung_at(i)->kind != LADDER_RUNG_CPU && strcmp(ladder_rung_at(i)->name, name) == 0)
            return ladder_rung_at(i);
    return NULL;
}

static void run_all(climb *c) {
    cuda_lab *lab = c->lab;
    const ladder_options *options = c->options;
    bool whole = !options->rung;
    bool specimens = options->specimens || (!whole && find_rung(options->rung)->kind == LADDER_RUNG_SPECIMEN);
    lab->read_limit = read_limit(lab);
    add_facts(lab, c->r);
    bool alive = add_rungs(c);
    if (alive && options->peers && whole)
        cuda_run_peers(lab, options, &c->data, &c->input, c->r);
    measure_cuda_input_destroy(lab->device, &c->input);
    if (alive && options->applications && whole)
        cuda_run_applications(lab, options, c->r);
    if (alive && options->sweep)
        sweep(c);
    if (alive)
        add_warnings(c);
    else
        report_warning(c->r, "the device stopped: %s", measure_cuda_error(lab->device));
    if (alive && specimens) /* at the very end: they are what might stop a device */
        cuda_run_specimens(lab, options, c->r);
}

static reduct_status fail(reduct_error *error, reduct_status status, const char *format, const char *what) {
    if (error) {
        *error = (reduct_error){.status = status, .index = UINT64_MAX};
        snprintf(error->message, sizeof error->message, format, what);
    }
    return status;
}

reduct_status ladder_cuda_run(const ladder_options *options, report *r, reduct_error *error) {
    cuda_lab lab;
    climb c = {.lab = &lab, .options = options, .r = r};
    if (options->type != REDUCT_I32 && options->type != REDUCT_F32 && options->type != REDUCT_F64)
        return fail(error, REDUCT_ERROR_UNSUPPORTED, "the ladder is for i32, f32 and f64%s", "");
    if (options->rung && !find_rung(options->rung))
        return fail(error, REDUCT_ERROR_ARGUMENT, "there is no rung '%s' on the CUDA ladder", options->rung);
    if (cuda_profile_is_watched() && !cuda_profile_is_for(options))
        return REDUCT_OK;
    reduct_status status = cuda_lab_open(&lab, options->device, error);
    if (status != REDUCT_OK)
        return status;
    if (ladder_data_create(&c.data, options->type, options->n) != 0) {
        cuda_lab_close(&lab);
        return fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "there is no memory for so many elements%s", "");
    }
    if (options->profile && !cuda_profile_is_watched())
        load_counters(&c);
    c.input = measure_cuda_input_create(lab.device, c.data.values, c.data.n * reduct_type_size(options->type),
                                        !cuda_profile_is_watched());
    if (measure_cuda_error(lab.device))
        status = fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "the data do not fit on the device: %s",
                      measure_cuda_error(lab.device));
    else if (cuda_profile_is_watched())
        run_watched(&c);
    else
        run_all(&c);
    measure_cuda_input_destroy(lab.device, &c.input);
    ladder_data_destroy(&c.data);
    free(c.counters);
    cuda_lab_close(&lab);
    return status;
}
