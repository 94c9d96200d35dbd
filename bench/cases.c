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

static uint64_t element_count(const bench_case *which) {
    return which->bytes / reduct_type_size(which->type);
}

static bool is_matrix(const bench_case *which) {
    return which->shape.kind != BENCH_WHOLE;
}

static uint64_t result_count(const bench_case *which) {
    return !is_matrix(which)                    ? 1
           : which->shape.kind == BENCH_COLUMNS ? which->shape.columns
                                                : element_count(which) / which->shape.columns;
}

/* The same case of as many elements as whole rows have. Returns 1 where results would have too few elements. */
static int cut_to_rows(bench_case *which) {
    const uint64_t row = is_matrix(which) ? which->shape.columns * reduct_type_size(which->type) : 1;
    which->bytes -= which->bytes % row;
    return which->bytes == 0 || element_count(which) / result_count(which) < (which->op == REDUCT_VAR ? 2 : 1);
}

typedef struct library_job {
    reduct_plan *plan;
    const void *inputs[2];
    void *workspace, *results;
} library_job;

static void stop(const char *what, reduct_status status, const reduct_error *error) {
    fprintf(stderr, "reduct: %s: %s%s%s\n", what, reduct_status_text(status), *error->message ? ": " : "",
            error->message);
    exit(1);
}

static reduct_shape shape_of(const bench_case *which) {
    const uint64_t n = element_count(which), columns = which->shape.columns;
    if (which->shape.kind == BENCH_ROWS)
        return (reduct_shape){n / columns, columns, 1, (int64_t)columns, 1, 0};
    if (which->shape.kind == BENCH_COLUMNS)
        return (reduct_shape){1, n / columns, columns, 0, (int64_t)columns, 1};
    return (reduct_shape){.outer = 1, .n = n, .inner = 1, .stride = 1};
}

static reduct_status make_plan(const bench_case *which, reduct_mode mode, reduct_plan **plan, reduct_error *error) {
    reduct_reduction reduction = {.op = which->op, .element = which->type, .result = which->result, .mode = mode};
    reduct_plan_options options = {
        .reductions = &reduction,
        .reduction_count = 1,
        .kind = is_matrix(which) ? REDUCT_SHAPE : 0,
        .shape = shape_of(which),
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
    job->results = program_allocate(result_count(which) * reduct_type_size(reduct_plan_result_type(job->plan, 0)));
    return 0;
}

static void close_job(library_job *job) {
    reduct_plan_destroy(job->plan);
    free(job->workspace);
    free(job->results);
}

static void run_library(void *context) {
    library_job *job = context;
    reduct_error error = {0};
    reduct_status status = reduct_plan_execute(job->plan, job->inputs, &job->results, job->workspace, &error);
    if (status != REDUCT_OK)
        stop("cannot execute", status, &error);
}

/* ---- checks ---- */

/* The exact results of the portable kernels on one thread. `count` is 0 where there are none. */
typedef struct expectation {
    reduct_type type;
    uint64_t count;
    unsigned char *values;
} expectation;

static expectation run_portable(const bench_lab *lab, const bench_case *which, reduct_operator op, const void *x) {
    bench_case portable = *which;
    library_job job;
    portable.op = op;
    portable.device = "cpu:portable";
    portable.threads = 1;
    if (open_job(&job, lab, &portable, REDUCT_EXACT) != 0)
        return (expectation){.type = REDUCT_F64};
    job.inputs[0] = x;
    run_library(&job);
    expectation expected = {reduct_plan_result_type(job.plan, 0), result_count(which), job.results};
    job.results = NULL;
    close_job(&job);
    return expected;
}

static judge_exact expected_at(const expectation *expected, uint64_t at) {
    judge_exact exact = {.type = expected->type, .rest = NAN};
    const size_t size = reduct_type_size(expected->type);
    if (at < expected->count)
        memcpy(&exact.value, expected->values + at * size, size);
    else
        exact.value.f64 = NAN;
    return exact;
}

/* Of floats; as f64, which holds what may leave the range of their type. */
static double *run_real(const bench_lab *lab, const bench_case *which, reduct_operator op, const void *x) {
    bench_case as_f64 = *which;
    as_f64.result = REDUCT_F64;
    return (double *)(void *)run_portable(lab, &as_f64, op, x).values;
}

/* What rounding errors of the operator are relative to, of each result: the sum of absolute terms, or a bound of it. */
static double *scales_of(const bench_lab *lab, const bench_case *which, const expectation *expected) {
    const double length = (double)(element_count(which) / expected->count);
    const bool sums = which->op == REDUCT_SUM || (which->op == REDUCT_MEAN && reduct_type_is_float(which->type)),
               products = which->op == REDUCT_DOT || which->op == REDUCT_VAR;
    double *scales, *others = NULL;
    if (sums) {
        scales = run_real(lab, which, REDUCT_NORM1, lab->x.values);
    } else if (products) {
        scales = run_real(lab, which, REDUCT_NORM2, lab->x.values);
        others = which->op == REDUCT_DOT ? run_real(lab, which, REDUCT_NORM2, lab->y.values) : NULL;
    } else {
        scales = program_allocate(expected->count * sizeof *scales);
    }
    for (uint64_t i = 0; i < expected->count; i++)
        if (which->op == REDUCT_DOT) /* by Cauchy and Schwarz */
            scales[i] *= others[i];
        else if (which->op == REDUCT_VAR) /* of the difference of two sums that are at most this large */
            scales[i] = 3 * pow(scales[i], 2) / (length - 1);
        else if (sums)
            scales[i] /= which->op == REDUCT_MEAN ? length : 1;
        else {
            const judge_exact exact = expected_at(expected, i);
            scales[i] = fabs(judge_real(expected->type, &exact.value));
        }
    free(others);
    return scales;
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

/* The worst of results, as a part of what each may be off: `factor` times its scale, and `last` units in its last place. The first that is off where
 * nothing may be. Of a single one the rest is known. */
static judge_finding judge_all(const expectation *expected, double rest, const double *scales, double factor,
                               double last, const void *results) {
    const size_t size = reduct_type_size(expected->type);
    uint64_t worst = 0;
    double worst_off = 0, worst_bound = 0;
    for (uint64_t i = 0; i < expected->count; i++) {
        const unsigned char *wanted = expected->values + i * size, *got = (const unsigned char *)results + i * size;
        const double real = judge_real(expected->type, wanted),
                     bound = scales ? bound_of(expected->type, got,
                                               factor * scales[i] + last * judge_unit(expected->type, real))
                                    : 0,
                     distance = fabs(judge_real(expected->type, got) - real),
                     off = memcmp(wanted, got, size) == 0 ? 0
                           : bound == 0                   ? INFINITY
                           : isfinite(distance)           ? distance / bound
                                                          : 1;
        if (i == 0 || off > worst_off) {
            worst = i;
            worst_off = off;
            worst_bound = bound;
        }
    }
    judge_exact exact = expected_at(expected, worst);
    exact.rest = expected->count == 1 ? rest : NAN;
    return judge_result(&exact, (const unsigned char *)results + worst * size, worst_bound);
}

/* What the plain loop's longest chain of additions rounds: one lane of eight (four) vectors of 16 bytes, then all lanes. */
static double plain_bound(const plain_job *plain) {
    return (double)plain->count / 4 / (16.0 / (double)reduct_type_size(plain->type)) + 256;
}

static void check(const bench_lab *lab, const bench_case *which, const library_job *exact, const library_job *fast,
                  const plain_job *plain, bench_result *result) {
    bench_case whole = *which;
    whole.shape.kind = BENCH_WHOLE;
    expectation expected = run_portable(lab, which, which->op, lab->x.values),
                of_whole = is_matrix(which) ? run_portable(lab, &whole, which->op, lab->x.values) : expected;
    judge_exact first = expected_at(&of_whole, 0);
    reduct_error error = {.message = ""};
    reduct_status status =
        judge_find_rest(&first, which->op, which->type, exact->inputs[0], exact->inputs[1], element_count(which));
    if (status != REDUCT_OK)
        stop("cannot check", status, &error);
    int selects = is_selected(which->op), rounds = reduct_type_is_float(expected.type);
    /* Floats of 16 bits are added as f32, and the result is rounded once more: by half a unit of it, or a whole one where errors before
     * have carried it over. */
    int halves = rounds && reduct_type_size(which->type) == 2;
    double unit = !rounds || selects ? 0 : judge_roundoff(halves ? REDUCT_F32 : expected.type);
    double last = unit > 0 && halves ? 1 : 0;
    double *scales = unit > 0 ? scales_of(lab, which, &expected) : NULL,
           *scales_of_whole = unit > 0 && is_matrix(which) ? scales_of(lab, &whole, &of_whole) : scales;
    judge_value summed = {.u64 = 0};
    plain_result(plain, of_whole.type, &summed);
    result->runs[BENCH_EXACT].finding = judge_all(&expected, first.rest, NULL, 0, 0, exact->results);
    if (fast)
        result->runs[BENCH_FAST].finding =
            judge_all(&expected, first.rest, scales, fast_bound * unit, last, fast->results);
    result->runs[BENCH_PLAIN].finding =
        judge_all(&of_whole, first.rest, scales_of_whole, plain_bound(plain) * unit, last, &summed);
    if (is_matrix(which)) {
        free(of_whole.values);
        free(scales_of_whole);
    }
    free(scales);
    free(expected.values);
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

int bench_measure(bench_lab *lab, const bench_case *asked, bench_result *result) {
    library_job exact, fast = {0};
    bench_case cut = *asked;
    const bench_case *which = &cut;
    if (cut_to_rows(&cut) != 0)
        return 1;
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
            .count = element_count(which),
            .team = lab->team,
            .members = which->threads,
        };
    time_all(lab, &exact, &fast, plain, result);
    check(lab, which, &exact, result->has_fast ? &fast : NULL, &plain[result->prefetched], result);
    close_job(&exact);
    close_job(&fast);
    return 0;
}
