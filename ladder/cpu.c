/* The CPU's ladder: every rung on the same data, timed in turn, checked, beside what reading alone takes. */
#include "ladder/ladder.h"

#include "ladder/cpu/cpu.h"
#include "measure/machine.h"
#include "measure/timing.h"
#include "program/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is timed: the CPU's rungs, which are the first of the list, and more. */
enum {
    RUNGS = LADDER_EXACT + 1,
    READ = RUNGS, /* not rungs: reading alone, by one thread and by all, without and with asking for memory ahead */
    READ_AHEAD,
    READ_THREADS,
    READ_THREADS_AHEAD,
    JOBS
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
    int rung;
    cpu_sum *sum;                        /* where the rung is a loop */
    _Alignas(8) unsigned char result[8]; /* of the last run */
} job;

static void run_job(void *context) {
    job *j = context;
    const lab *l = j->lab;
    size_t words = l->n * reduct_type_size(l->data.type) / 8;
    switch (j->rung) {
    case LADDER_EXACT:
        cpu_exact_sum(l->exact, l->data.values, j->result);
        break;
    case LADDER_THREADS:
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

static cpu_sum *loop_of(const lab *l, int rung) {
    switch (rung) {
    case LADDER_PLAIN:
        return cpu_plain[l->type];
    case LADDER_ACCUMULATORS:
        return cpu_accumulators[l->type];
    case LADDER_VECTORS:
        return l->vectors->sum[l->type];
    case LADDER_KAHAN:
        return cpu_kahan[l->type];
    case LADDER_PAIRWISE:
        return cpu_pairwise[l->type];
    case LADDER_STD_ACCUMULATE:
        return cpu_std_accumulate[l->type];
    case LADDER_STD_REDUCE:
        return cpu_std_reduce[l->type];
    case LADDER_STD_REDUCE_PAR:
        return cpu_std_reduce_par[l->type];
    default:
        return NULL;
    }
}

static bool is_loop(int rung) {
    return rung < RUNGS && rung != LADDER_THREADS && rung != LADDER_EXACT;
}

/* What a build may lack is left out, unless it is asked for by name. */
static bool is_wanted(const lab *l, int rung) {
    if (rung == LADDER_STD_REDUCE_PAR && !cpu_std_reduce_par[l->type] && !l->options->rung)
        return false;
    return rung >= RUNGS || ladder_wants(l->options->rung, ladder_rungs[rung].name);
}

/* The jobs that this run is about: the wanted rungs that the type has, and reading. */
static size_t list_jobs(const lab *l, job jobs[JOBS]) {
    size_t count = 0;
    for (int rung = 0; rung < JOBS; rung++) {
        cpu_sum *loop = loop_of(l, rung);
        if (is_wanted(l, rung) && (loop || !is_loop(rung)))
            jobs[count++] = (job){.lab = l, .rung = rung, .sum = loop};
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
static double terms_of(const lab *l, int rung) {
    double n = (double)l->n, unit = l->type == CPU_F32 ? 0x1p-24 : 0x1p-53;
    double step = 8.0 * (double)l->vectors->bytes / (double)reduct_type_size(l->data.type);
    switch (rung) {
    case LADDER_PLAIN:
    case LADDER_STD_ACCUMULATE:
    case LADDER_STD_REDUCE: /* in an order that is the library's, so that any chain is possible */
    case LADDER_STD_REDUCE_PAR:
        return n + 1;
    case LADDER_ACCUMULATORS:
        return n / 8 + 16;
    case LADDER_VECTORS:
        return n / step + 2 * step;
    case LADDER_THREADS:
        return n / step + 2 * step + l->team.members;
    case LADDER_KAHAN: /* 2 u + O(n u^2), Higham, Accuracy and Stability of Numerical Algorithms, section 4.3 */
        return 3 + 8 * n * unit;
    case LADDER_PAIRWISE:
        return 32 + log2(n + 1);
    default:
        return 0;
    }
}

static void describe(const lab *l, int rung, report_row *row) {
    *row = ladder_row("rungs", ladder_rungs[rung].name, "cpu", "c", l->data.type, l->n);
    if (rung == LADDER_VECTORS)
        snprintf(row->variant, sizeof row->variant, "%s", l->vectors->name);
    else if (rung == LADDER_THREADS)
        snprintf(row->variant, sizeof row->variant, "%s, %u threads", l->vectors->name, l->team.members);
    else if (rung == LADDER_EXACT)
        snprintf(row->variant, sizeof row->variant, "%s", cpu_exact_device(l->exact));
}

/* What reading alone takes: a limit is the best that was seen, in any way. */
static double least_seconds(const timings *times) {
    double least = times->least[READ];
    for (int way = READ; way < JOBS; way++)
        least = times->least[way] < least ? times->least[way] : least;
    return least;
}

static const job *find_job(const job *jobs, size_t count, int rung) {
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].rung == rung)
            return &jobs[i];
    }
    return NULL;
}

/* Rungs that the type does not have are said not to be run, so that nobody looks for them. */
static void add_row(const lab *l, int rung, const job *ran, const timings *times) {
    report_row row;
    describe(l, rung, &row);
    if (ran) {
        double seconds = times->seconds[rung], plain = times->seconds[LADDER_PLAIN];
        row.seconds = seconds;
        row.spread = times->spread[rung];
        row.of_limit = row.bytes >= 64 ? least_seconds(times) / seconds : -1;
        report_set(&row, MEASURE_SPEEDUP, plain / seconds);
        ladder_judge(&row, &l->data, ran->result, terms_of(l, rung));
    } else {
        row.verdict = REPORT_NOT_RUN;
        snprintf(row.note, sizeof row.note, "%s",
                 rung == LADDER_STD_REDUCE_PAR
                     ? "this build has no parallel algorithms: they need oneTBB (-DREDUCT_TBB=ON)"
                     : "for floats; integer sums round nothing off");
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
        if (is_wanted(l, rung))
            add_row(l, rung, find_job(jobs, count, rung), &times);
    }
    warn_of_noise(l, &times);
    cpu_exact_close(l->exact);
    return REDUCT_OK;
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
            ladder_add_point(l->r, ladder_rungs[rung].name, l->data.type, l->n, times.seconds[rung]);
    }
    ladder_add_point(l->r, "reading alone", l->data.type, l->n, least_seconds(&times));
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
    if (ladder_data_create_for(options, &l.data) != 0)
        return ladder_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "there is no memory for %llu elements",
                           (unsigned long long)options->n);
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
