/* Measuring one case, and checking that what was measured is right: the exact result must be bit for bit the one of the
 * portable kernels on one thread; fast and plain results must lie within the error bound of their way of adding. */
#include "cases.h"

#include "plain.h"

#include "measure/timing.h"
#include "program/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ---- */

typedef struct bench_array {
    void *values;
    uint64_t room, filled; /* bytes */
    reduct_type type;
    measure_data data;
} bench_array;

struct bench_lab {
    bench_settings settings;
    bench_array x, y;
    measure_team *team;
    unsigned members;
};

bench_lab *bench_lab_create(bench_settings settings) {
    bench_lab *lab = program_allocate(sizeof *lab);
    *lab = (bench_lab){.settings = settings};
    return lab;
}

void bench_lab_destroy(bench_lab *lab) {
    measure_team_destroy(lab->team);
    free(lab->x.values);
    free(lab->y.values);
    free(lab);
}

static void set_team(bench_lab *lab, unsigned members) {
    if (lab->members == members)
        return;
    measure_team_destroy(lab->team);
    lab->team = measure_team_create(members);
    lab->members = members;
}

/* Makes an array hold at least `bytes` of the data asked for; what fits already is kept. */
static void prepare(bench_array *array, const bench_case *which, uint64_t seed, measure_team *team) {
    if (array->type == which->type && array->data == which->data && array->filled >= which->bytes)
        return;
    if (array->room < which->bytes || !array->values) {
        free(array->values);
        array->values = program_allocate(which->bytes);
        array->room = which->bytes;
    }
    size_t count = which->bytes / reduct_type_size(which->type);
    if (which->type == REDUCT_F64)
        measure_fill_f64(array->values, count, which->data, seed, team);
    else if (which->type == REDUCT_F32)
        measure_fill_f32(array->values, count, which->data, seed, team);
    else if (which->type == REDUCT_F16)
        measure_fill_f16(array->values, count, which->data, seed, team);
    else if (which->type == REDUCT_BF16)
        measure_fill_bf16(array->values, count, which->data, seed, team);
    else if (which->type == REDUCT_I64)
        measure_fill_i64(array->values, count, seed, team);
    else
        measure_fill_i32(array->values, count, seed, team);
    array->type = which->type;
    array->data = which->data;
    array->filled = which->bytes;
}

/* ---- the library ---- */

typedef struct library_job {
    reduct_plan *plan;
    const void *inputs[2];
    void *workspace;
    judge_value result;
} library_job;

static void stop(const char *what, reduct_status status, const reduct_error *error) {
    fprintf(stderr, "reduct: %s: %s%s%s\n", what, reduct_status_text(status), *error->message ? ": " : "",
            error->message);
    exit(1);
}

static reduct_status make_plan(const bench_case *which, reduct_mode mode, reduct_plan **plan, reduct_error *error) {
    reduct_reduction reduction = {.op = which->op, .element = which->type, .result = which->result, .mode = mode};
    reduct_plan_options options = {
        .reductions = &reduction,
        .reduction_count = 1,
        .shape = {.outer = 1, .n = which->bytes / reduct_type_size(which->type), .inner = 1, .stride = 1},
        .device = which->device,
        .threads = which->threads,
    };
    return reduct_plan_create(&options, plan, error);
}

/* Returns 0, or 1 when the case does not exist here. */
static int open_job(library_job *job, const bench_lab *lab, const bench_case *which, reduct_mode mode) {
    *job = (library_job){.inputs = {lab->x.values, which->op == REDUCT_DOT ? lab->y.values : NULL}};
    reduct_error error = {0};
    reduct_status status = make_plan(which, mode, &job->plan, &error);
    if (status == REDUCT_ERROR_NO_DEVICE || status == REDUCT_ERROR_EMPTY)
        return 1;
    if (status != REDUCT_OK)
        stop("cannot plan", status, &error);
    job->workspace = program_allocate(reduct_plan_workspace_size(job->plan));
    return 0;
}

static void close_job(library_job *job) {
    reduct_plan_destroy(job->plan);
    free(job->workspace);
}

static void run_library(void *context) {
    library_job *job = context;
    reduct_error error = {0};
    void *result = &job->result;
    reduct_status status = reduct_plan_execute(job->plan, job->inputs, &result, job->workspace, &error);
    if (status != REDUCT_OK)
        stop("cannot execute", status, &error);
}

/* ---- checks ---- */

/* The exact result of the portable kernels on one thread. */
static judge_exact run_once(const bench_lab *lab, const bench_case *which, reduct_operator op, const void *x) {
    bench_case portable = *which;
    library_job job;
    portable.op = op;
    portable.device = "cpu:portable";
    portable.threads = 1;
    if (open_job(&job, lab, &portable, REDUCT_EXACT) != 0)
        return (judge_exact){.type = REDUCT_F64, .value.f64 = NAN};
    job.inputs[0] = x;
    run_library(&job);
    judge_exact exact = {.type = reduct_plan_result_type(job.plan, 0), .value = job.result};
    close_job(&job);
    return exact;
}

/* Of floats; as f64, which holds what may leave the range of their type. */
static double run_real(const bench_lab *lab, const bench_case *which, reduct_operator op, const void *x) {
    bench_case as_f64 = *which;
    as_f64.result = REDUCT_F64;
    return run_once(lab, &as_f64, op, x).value.f64;
}

/* What rounding errors of the operator are relative to: the sum of absolute terms, or a bound of it. */
static double scale(const bench_lab *lab, const bench_case *which, double exact) {
    double count = (double)(which->bytes / reduct_type_size(which->type));
    switch (which->op) {
    case REDUCT_SUM:
        return run_real(lab, which, REDUCT_NORM1, lab->x.values);
    case REDUCT_MEAN: /* of integers the sum is exact */
        return reduct_type_is_float(which->type) ? run_real(lab, which, REDUCT_NORM1, lab->x.values) / count
                                                 : fabs(exact);
    case REDUCT_DOT: /* by Cauchy and Schwarz */
        return run_real(lab, which, REDUCT_NORM2, lab->x.values) * run_real(lab, which, REDUCT_NORM2, lab->y.values);
    case REDUCT_VAR: /* of the difference of two sums that are at most this large */
        return 3 * pow(run_real(lab, which, REDUCT_NORM2, lab->x.values), 2) / (count - 1);
    default:
        return fabs(exact);
    }
}

/* Whether the result is one of the elements, or the place of one: the same in both modes. */
static bool is_selected(reduct_operator op) {
    return op == REDUCT_MIN || op == REDUCT_MAX || op == REDUCT_ARGMIN;
}

/* Of fast sums, as reduct.h states it, and some for the rounding of the result. */
static const double fast_bound = 140 + 4;

/* What a result that adds in floating point may be off by; infinite where it overflowed, as no bound
 * covers that. */
static double bound_of(reduct_type type, const void *result, double bound) {
    return isfinite(judge_real(type, result)) && isfinite(bound) ? bound : INFINITY;
}

static void check(const bench_lab *lab, const bench_case *which, const library_job *exact, const library_job *fast,
                  const plain_job *plain, bench_result *result) {
    judge_exact expected = run_once(lab, which, which->op, lab->x.values);
    size_t size = reduct_type_size(which->type);
    reduct_error error = {.message = ""};
    reduct_status status =
        judge_find_rest(&expected, which->op, which->type, exact->inputs[0], exact->inputs[1], which->bytes / size);
    if (status != REDUCT_OK)
        stop("cannot check", status, &error);
    int selects = is_selected(which->op), rounds = reduct_type_is_float(expected.type);
    /* Floats of 16 bits are added as f32, and the result is rounded once more: by half a unit of it, or a whole one where errors before
     * have carried it over. */
    int halves = rounds && size == 2;
    double unit = !rounds || selects ? 0 : judge_roundoff(halves ? REDUCT_F32 : expected.type);
    double last = unit > 0 && halves ? judge_unit(expected.type, judge_real(expected.type, &expected.value)) : 0;
    double scaled = unit > 0 ? unit * scale(lab, which, judge_real(expected.type, &expected.value)) : 0;
    /* A plain loop's longest chain of additions: one lane of eight (four) vectors of 16 bytes, then all lanes. */
    double chain = (double)plain->count / 4 / (16.0 / (double)size) + 256;
    judge_value summed = {.u64 = 0};
    plain_result(plain, expected.type, &summed);
    result->runs[BENCH_EXACT].finding = judge_result(&expected, &exact->result, 0);
    if (fast)
        result->runs[BENCH_FAST].finding =
            judge_result(&expected, &fast->result, bound_of(expected.type, &fast->result, fast_bound * scaled + last));
    result->runs[BENCH_PLAIN].finding =
        judge_result(&expected, &summed, rounds ? bound_of(expected.type, &summed, chain * scaled + last) : 0);
}

int bench_is_wrong(const bench_result *result) {
    int wrong = 0;
    for (int way = 0; way < BENCH_WAYS; way++)
        wrong |= result->runs[way].finding.verdict == REPORT_WRONG;
    return wrong;
}

/* ---- measuring ---- */

int bench_has(reduct_operator op, reduct_type type) {
    return plain_find("cpu:portable", op, type, 0) != NULL;
}

const char *bench_device(const char *name, reduct_error *error) {
    static char device[32];
    reduct_plan *plan;
    bench_case probe = {.op = REDUCT_SUM, .type = REDUCT_F64, .device = name, .threads = 1};
    if (make_plan(&probe, REDUCT_EXACT, &plan, error) != REDUCT_OK)
        return NULL;
    snprintf(device, sizeof device, "%s", reduct_plan_device(plan));
    reduct_plan_destroy(plan);
    return device;
}

static void run_plain(void *context) {
    plain_run(context);
}

enum { EXACT, PLAIN, PLAIN_PREFETCH, FAST, VARIANTS };

static void summarise(const measure_variant *variants, size_t rounds, bench_result *result) {
    measure_statistics bare = measure_variant_seconds(&variants[PLAIN], rounds);
    measure_statistics prefetching = measure_variant_seconds(&variants[PLAIN_PREFETCH], rounds);
    result->prefetched = prefetching.median < bare.median;
    result->runs[BENCH_PLAIN].seconds = result->prefetched ? prefetching : bare;
    const measure_variant *plain = &variants[result->prefetched ? PLAIN_PREFETCH : PLAIN];
    result->runs[BENCH_EXACT].seconds = measure_variant_seconds(&variants[EXACT], rounds);
    result->runs[BENCH_EXACT].to_plain = measure_variant_ratio(&variants[EXACT], plain, rounds);
    if (result->has_fast) {
        result->runs[BENCH_FAST].seconds = measure_variant_seconds(&variants[FAST], rounds);
        result->runs[BENCH_FAST].to_plain = measure_variant_ratio(&variants[FAST], plain, rounds);
    }
}

static void time_all(const bench_lab *lab, library_job *exact, library_job *fast, plain_job plain[2],
                     bench_result *result) {
    size_t rounds = lab->settings.rounds;
    double *seconds = program_allocate(VARIANTS * rounds * sizeof *seconds);
    measure_variant variants[VARIANTS] = {
        [EXACT] = {run_library, exact, seconds},
        [PLAIN] = {run_plain, &plain[0], seconds + rounds},
        [PLAIN_PREFETCH] = {run_plain, &plain[1], seconds + 2 * rounds},
        [FAST] = {run_library, fast, seconds + 3 * rounds},
    };
    measure_time(variants, result->has_fast ? VARIANTS : VARIANTS - 1, rounds, lab->settings.sample_seconds);
    summarise(variants, rounds, result);
    free(seconds);
}

int bench_measure(bench_lab *lab, const bench_case *which, bench_result *result) {
    library_job exact, fast = {0};
    set_team(lab, which->threads);
    prepare(&lab->x, which, lab->settings.seed, lab->team);
    if (which->op == REDUCT_DOT)
        prepare(&lab->y, which, lab->settings.seed + 1, lab->team);
    if (open_job(&exact, lab, which, REDUCT_EXACT) != 0)
        return 1;
    *result = (bench_result){.which = *which, .has_fast = reduct_type_is_float(which->type) && !is_selected(which->op)};
    if (result->has_fast)
        open_job(&fast, lab, which, REDUCT_FAST);
    snprintf(result->device, sizeof result->device, "%s", reduct_plan_device(exact.plan));
    result->bytes_read = which->bytes * (uint64_t)reduct_operator_inputs(which->op);
    plain_job plain[2];
    for (int prefetch = 0; prefetch < 2; prefetch++)
        plain[prefetch] = (plain_job){
            .kernel = plain_find(result->device, which->op, which->type, prefetch),
            .op = which->op,
            .type = which->type,
            .x = exact.inputs[0],
            .y = exact.inputs[1],
            .count = which->bytes / reduct_type_size(which->type),
            .team = lab->team,
            .members = which->threads,
        };
    time_all(lab, &exact, &fast, plain, result);
    check(lab, which, &exact, result->has_fast ? &fast : NULL, &plain[result->prefetched], result);
    close_job(&exact);
    close_job(&fast);
    return 0;
}
