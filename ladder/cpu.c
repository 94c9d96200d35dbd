/* The CPU's ladder: every rung on the same data, timed in turn, checked, beside what reading alone takes. */
#include "ladder/ladder.h"

#include "ladder/cpu/cpu.h"
#include "measure/machine.h"
#include "measure/timing.h"
#include "program/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum rung {
#define LADDER_CPU(ID, name, idea) RUNG_##ID,
#include "ladder/rungs.def"
    RUNGS,
    READ = RUNGS, /* not rungs: reading alone, by one thread and by all, without and with asking for memory ahead */
    READ_AHEAD,
    READ_THREADS,
    READ_THREADS_AHEAD,
    JOBS
};

static const char *const rung_names[] = {
#define LADDER_CPU(ID, name, idea) name,
#include "ladder/rungs.def"
};

static const double sample_seconds = 2e-3;

typedef struct lab {
    const ladder_options *options;
    report *r;
    ladder_data data;
    int type; /* CPU_I32, CPU_F32 or CPU_F64 */
    size_t n; /* elements to sum: all, or fewer in a sweep */
    const cpu_vectors *vectors;
    cpu_team team;
    cpu_exact *exact;
} lab;

/* Something to time. */
typedef struct job {
    const lab *lab;
    enum rung rung;
    cpu_sum *sum;                        /* where the rung is a loop */
    _Alignas(8) unsigned char result[8]; /* of the last run */
} job;

static void run_job(void *context) {
    job *j = context;
    const lab *l = j->lab;
    size_t words = l->n * reduct_type_size(l->data.type) / 8;
    switch ((int)j->rung) {
    case RUNG_EXACT:
        cpu_exact_sum(l->exact, l->data.values, j->result);
        break;
    case RUNG_THREADS:
        cpu_threads_sum(l->vectors->sum[l->type], l->type, l->data.values, l->n, &l->team, j->result);
        break;
    case READ:
    case READ_AHEAD:
        l->vectors->read[j->rung == READ_AHEAD](l->data.values, words, j->result);
        break;
    case READ_THREADS:
    case READ_THREADS_AHEAD:
        cpu_threads_read(l->vectors->read[j->rung == READ_THREADS_AHEAD], l->data.values, words, &l->team, j->result);
        break;
    default:
        j->sum(l->data.values, l->n, j->result);
    }
}

static cpu_sum *loop_of(const lab *l, enum rung rung) {
    switch ((int)rung) {
    case RUNG_PLAIN:
        return cpu_plain[l->type];
    case RUNG_ACCUMULATORS:
        return cpu_accumulators[l->type];
    case RUNG_VECTORS:
        return l->vectors->sum[l->type];
    case RUNG_KAHAN:
        return cpu_kahan[l->type];
    case RUNG_PAIRWISE:
        return cpu_pairwise[l->type];
    default:
        return NULL;
    }
}

static bool is_loop(enum rung rung) {
    return rung < RUNGS && rung != RUNG_THREADS && rung != RUNG_EXACT;
}

static bool is_wanted(const lab *l, enum rung rung) {
    return rung >= RUNGS || !l->options->rung || strcmp(l->options->rung, rung_names[rung]) == 0;
}

/* The jobs that this run is about: the wanted rungs that the type has, and reading. */
static size_t list_jobs(const lab *l, job jobs[JOBS]) {
    size_t count = 0;
    for (int rung = 0; rung < JOBS; rung++) {
        cpu_sum *loop = loop_of(l, (enum rung)rung);
        if (is_wanted(l, (enum rung)rung) && (loop || !is_loop((enum rung)rung)))
            jobs[count++] = (job){.lab = l, .rung = (enum rung)rung, .sum = loop};
    }
    return count;
}

/* By job, 0 where there was none: medians, spreads, and the best of all rounds. */
typedef struct timings {
    double seconds[JOBS], spread[JOBS], least[JOBS];
} timings;

/* Times the jobs in turn. */
static timings time_jobs(job *jobs, size_t count, size_t rounds) {
    timings times = {.seconds = {0}};
    measure_variant variants[JOBS];
    double *samples = program_allocate(JOBS * rounds * sizeof *samples);
    for (size_t i = 0; i < count; i++)
        variants[i] = (measure_variant){run_job, &jobs[i], samples + i * rounds};
    measure_time(variants, count, rounds, sample_seconds);
    for (size_t i = 0; i < count; i++) {
        measure_statistics statistics = measure_variant_seconds(&variants[i], rounds);
        times.seconds[jobs[i].rung] = statistics.median;
        times.spread[jobs[i].rung] = measure_spread(&statistics);
        times.least[jobs[i].rung] = statistics.least;
    }
    free(samples);
    return times;
}

/* The longest chain of additions that an element can pass through; 0 where the result is exact. Loops over vectors also
 * add their lanes and up to as many elements that are left over. */
static double terms_of(const lab *l, enum rung rung) {
    double n = (double)l->n, unit = l->type == CPU_F32 ? 0x1p-24 : 0x1p-53;
    double step = 8.0 * (double)l->vectors->bytes / (double)reduct_type_size(l->data.type);
    switch ((int)rung) {
    case RUNG_PLAIN:
        return n + 1;
    case RUNG_ACCUMULATORS:
        return n / 8 + 16;
    case RUNG_VECTORS:
        return n / step + 2 * step;
    case RUNG_THREADS:
        return n / step + 2 * step + l->team.members;
    case RUNG_KAHAN: /* 2 u + O(n u^2), Higham, Accuracy and Stability of Numerical Algorithms, section 4.3 */
        return 3 + 8 * n * unit;
    case RUNG_PAIRWISE:
        return 32 + log2(n + 1);
    default:
        return 0;
    }
}

static void describe(const lab *l, enum rung rung, report_row *row) {
    snprintf(row->group, sizeof row->group, "rungs");
    snprintf(row->name, sizeof row->name, "%s", rung_names[rung]);
    snprintf(row->type, sizeof row->type, "%s", reduct_type_name(l->data.type));
    snprintf(row->device, sizeof row->device, "cpu");
    snprintf(row->language, sizeof row->language, "c");
    if (rung == RUNG_VECTORS)
        snprintf(row->variant, sizeof row->variant, "%s", l->vectors->name);
    else if (rung == RUNG_THREADS)
        snprintf(row->variant, sizeof row->variant, "%s, %u threads", l->vectors->name, l->team.members);
    else if (rung == RUNG_EXACT)
        snprintf(row->variant, sizeof row->variant, "%s", cpu_exact_device(l->exact));
    row->n = l->n;
    row->bytes = l->n * reduct_type_size(l->data.type);
}

/* What reading alone takes: a limit is the best that was seen, in any way. */
static double least_seconds(const timings *times) {
    double least = times->least[READ];
    for (int way = READ; way < JOBS; way++)
        least = times->least[way] < least ? times->least[way] : least;
    return least;
}

static const job *find_job(const job *jobs, size_t count, enum rung rung) {
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].rung == rung)
            return &jobs[i];
    }
    return NULL;
}

/* Rungs that the type does not have are said not to be run, so that nobody looks for them. */
static void add_row(const lab *l, enum rung rung, const job *ran, const timings *times) {
    report_row row = report_row_empty();
    describe(l, rung, &row);
    if (ran) {
        double seconds = times->seconds[rung], plain = times->seconds[RUNG_PLAIN];
        row.seconds = seconds;
        row.spread = times->spread[rung];
        row.of_limit = row.bytes >= 64 ? least_seconds(times) / seconds : -1;
        row.speedup = plain > 0 ? plain / seconds : 0;
        ladder_judge(&row, &l->data, ran->result, terms_of(l, rung));
    } else {
        row.verdict = REPORT_NOT_RUN;
        snprintf(row.note, sizeof row.note, "for floats; integer sums round nothing off");
    }
    report_add_row(l->r, &row);
}

static void warn_of_noise(const lab *l, const timings *times) {
    char count[32];
    int noisy = 0;
    for (int rung = 0; rung < RUNGS; rung++)
        noisy += times->spread[rung] > 0.1;
    if (noisy)
        report_warning(
            l->r, "%s, %s elements: times of %d of the rungs spread over more than 10%%; is something else running?",
            reduct_type_name(l->data.type), report_count_text(l->n, count, sizeof count), noisy);
}

static reduct_status climb(lab *l, reduct_error *error) {
    job jobs[JOBS];
    reduct_status status = cpu_exact_open(l->data.type, l->n, &l->exact, error);
    if (status != REDUCT_OK)
        return status;
    size_t count = list_jobs(l, jobs);
    timings times = time_jobs(jobs, count, l->options->rounds);
    for (int rung = 0; rung < RUNGS; rung++) {
        if (is_wanted(l, (enum rung)rung))
            add_row(l, (enum rung)rung, find_job(jobs, count, (enum rung)rung), &times);
    }
    warn_of_noise(l, &times);
    cpu_exact_close(l->exact);
    return REDUCT_OK;
}

static void add_point(const lab *l, const char *name, double seconds) {
    char full[48];
    snprintf(full, sizeof full, "%s %s", name, reduct_type_name(l->data.type));
    report_series *series = report_series_named(l->r, full);
    if (series->count == sizeof series->x / sizeof *series->x)
        return;
    series->x[series->count] = (double)l->n;
    series->y[series->count++] = (double)(l->n * reduct_type_size(l->data.type)) / seconds / 1e9;
}

/* A point of every rung's curve at l->n elements. */
static reduct_status sweep_at(lab *l, reduct_error *error) {
    enum { ROUNDS_MOST = 5 };
    job jobs[JOBS];
    reduct_status status = cpu_exact_open(l->data.type, l->n, &l->exact, error);
    if (status != REDUCT_OK)
        return status;
    size_t count = list_jobs(l, jobs), rounds = l->options->rounds < ROUNDS_MOST ? l->options->rounds : ROUNDS_MOST;
    timings times = time_jobs(jobs, count, rounds);
    for (int rung = 0; rung < RUNGS; rung++) {
        if (times.seconds[rung] > 0)
            add_point(l, rung_names[rung], times.seconds[rung]);
    }
    add_point(l, "reading alone", least_seconds(&times));
    cpu_exact_close(l->exact);
    return REDUCT_OK;
}

/* Powers of two from 1 Ki up to the number of elements asked for. */
static reduct_status sweep(lab *l, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (l->n = 1024; l->n <= l->data.n && status == REDUCT_OK; l->n *= 2)
        status = sweep_at(l, error);
    return status;
}

static void add_facts(report *r) {
    report_add_machine(r);
    report_fact(r, "data", "the same array every time: what fits in a cache stays there, for the read limit as well");
}

const cpu_vectors *cpu_vectors_best(void) {
#if defined(LADDER_X86)
    if (__builtin_cpu_supports("avx512f"))
        return &cpu_vectors_avx512;
    if (__builtin_cpu_supports("avx2"))
        return &cpu_vectors_avx2;
#endif
    return &cpu_vectors_baseline;
}

reduct_status ladder_cpu_run(const ladder_options *options, report *r, reduct_error *error) {
    measure_machine machine;
    measure_machine_describe(&machine);
    lab l = {.options = options,
             .r = r,
             .type = options->type == REDUCT_I32   ? CPU_I32
                     : options->type == REDUCT_F32 ? CPU_F32
                                                   : CPU_F64,
             .n = options->n,
             .vectors = cpu_vectors_best()};
    if (ladder_data_create(&l.data, options->type, options->n) != 0) {
        *error = (reduct_error){.status = REDUCT_ERROR_OUT_OF_MEMORY, .index = UINT64_MAX};
        snprintf(error->message, sizeof error->message, "there is no memory for %llu elements",
                 (unsigned long long)options->n);
        return REDUCT_ERROR_OUT_OF_MEMORY;
    }
    l.team.members = machine.processors < CPU_THREADS_MOST ? machine.processors : CPU_THREADS_MOST;
    l.team.team = measure_team_create(l.team.members);
    add_facts(r);
    reduct_status status = climb(&l, error);
    if (status == REDUCT_OK && options->sweep)
        status = sweep(&l, error);
    measure_team_destroy(l.team.team);
    ladder_data_destroy(&l.data);
    return status;
}
