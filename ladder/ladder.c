/* What all ladders share: names, data with known answers, the judge, the number of passes. See ladder.h. */
#include "ladder/ladder.h"

#include "measure/data.h"
#include "measure/parallel.h"
#include "report/judge.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------------------------------ */

const ladder_rung ladder_rungs[] = {
#define LADDER_CPU(ID, name, idea)                      {LADDER_RUNG_CPU, name, LADDER_FINISH_DEFAULT, idea, false},
#define LADDER_GPU(ID, name, FINISH, BEFORE, idea)      {LADDER_RUNG_GPU, name, LADDER_FINISH_##FINISH, idea, false},
#define LADDER_GPU_CUDA(ID, name, FINISH, BEFORE, idea) {LADDER_RUNG_GPU, name, LADDER_FINISH_##FINISH, idea, true},
#define LADDER_GPU_SPECIMEN(ID, name, FINISH, BEFORE, idea)                                                            \
    {LADDER_RUNG_SPECIMEN, name, LADDER_FINISH_##FINISH, idea, false},
#define LADDER_ROWS(ID, name, idea)   {LADDER_RUNG_ROWS, name, LADDER_FINISH_DEFAULT, idea, false},
#define LADDER_GROUPS(ID, name, idea) {LADDER_RUNG_GROUPS, name, LADDER_FINISH_DEFAULT, idea, true},
#include "ladder/rungs.def"
};

static const char *const finish_names[LADDER_FINISHES] = {
    "default",
#define LADDER_FINISH(ID, name, idea) name,
#include "ladder/finishes.def"
};

const char *ladder_finish_name(ladder_finish finish) {
    return finish_names[finish];
}

int ladder_finish_parse(const char *name, ladder_finish *finish) {
    for (int i = LADDER_FINISH_DEFAULT + 1; i < LADDER_FINISHES; i++) {
        if (strcmp(name, finish_names[i]) == 0) {
            *finish = (ladder_finish)i;
            return 0;
        }
    }
    return -1;
}

bool ladder_wants(const char *asked, const char *rung) {
    return !asked || strcmp(asked, rung) == 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Errors, rows and curves
 * ------------------------------------------------------------------------------------------------------------------ */

reduct_status ladder_fail(reduct_error *error, reduct_status status, const char *format, ...) {
    if (error) {
        *error = (reduct_error){.status = status, .index = UINT64_MAX};
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

report_row ladder_row(const char *group, const char *name, const char *device, const char *language, reduct_type type,
                      uint64_t n) {
    report_row row = report_row_empty();
    snprintf(row.group, sizeof row.group, "%s", group);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.type, sizeof row.type, "%s", reduct_type_name(type));
    snprintf(row.device, sizeof row.device, "%s", device);
    snprintf(row.language, sizeof row.language, "%s", language);
    row.n = n;
    row.bytes = n * reduct_type_size(type);
    return row;
}

void ladder_add_point(report *r, const char *curve, reduct_type type, uint64_t n, double seconds) {
    char name[96];
    snprintf(name, sizeof name, "%s %s", curve, reduct_type_name(type));
    report_series *series = report_series_named(r, name);
    if (seconds > 0)
        report_add_point(series, (double)n, (double)(n * reduct_type_size(type)) / seconds / 1e9);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Data
 * ------------------------------------------------------------------------------------------------------------------ */

/* A number from 0 to 1, in steps of 2^-53, or of 2^-24 where that is what the type has. */
static double uniform(reduct_type type, uint64_t bits) {
    return type == REDUCT_F32 ? (double)(bits >> 40) * 0x1p-24 : (double)(bits >> 11) * 0x1p-53;
}

/* Element i of floats that cancel: see ladder.h. The place from the nearer end decides what a pair is. */
static double cancelling_at(const ladder_data *data, uint64_t i) {
    uint64_t mirrored = data->n - 1 - i, place = i < mirrored ? i : mirrored;
    if (place % 8 == 7 || i == mirrored)
        return uniform(data->type, measure_random_at(i)) * 0x1p-8;
    uint64_t bits = measure_random_at(place);
    double size = uniform(data->type, bits) * (double)(UINT32_C(1) << (bits & 15));
    return i < mirrored ? size : -size;
}

static void fill_cancelling(void *context, unsigned member, unsigned members) {
    const ladder_data *data = context;
    size_t begin, end;
    measure_share(data->n, 4096, member, members, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        if (data->type == REDUCT_F32)
            ((float *)data->values)[i] = (float)cancelling_at(data, i);
        else
            ((double *)data->values)[i] = cancelling_at(data, i);
    }
}

static void fill_share(void *context, unsigned member, unsigned members) {
    const ladder_data *data = context;
    size_t begin, end;
    measure_share(data->n, 4096, member, members, &begin, &end);
    switch (data->type) {
    case REDUCT_I32:
        for (size_t i = begin; i < end; i++)
            ((int32_t *)data->values)[i] = (int32_t)(measure_random_at(i) >> 54) - 512;
        break;
    case REDUCT_F32:
        for (size_t i = begin; i < end; i++)
            ((float *)data->values)[i] = (float)(measure_random_at(i) >> 40) * 0x1p-24f;
        break;
    default:
        for (size_t i = begin; i < end; i++)
            ((double *)data->values)[i] = (double)(measure_random_at(i) >> 11) * 0x1p-53;
    }
}

/* The exact sum as the judge takes it. */
static judge_exact exact_of(const ladder_data *data) {
    judge_exact exact = {.type = data->type, .rest = data->rest};
    if (data->type == REDUCT_I32)
        exact.value.i32 = (int32_t)data->integer;
    else if (data->type == REDUCT_F32)
        exact.value.f32 = (float)data->real;
    else
        exact.value.f64 = data->real;
    return exact;
}

/* The sums that judge: in i64 or the element type, exact in every case. */
static reduct_status sum_up(ladder_data *data) {
    union {
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
    } sum, magnitude;
    reduct_status status = reduct_reduce(REDUCT_SUM, data->type, data->values, NULL, data->n, &sum);
    if (status == REDUCT_OK)
        status = reduct_reduce(REDUCT_NORM1, data->type, data->values, NULL, data->n, &magnitude);
    if (status != REDUCT_OK)
        return status;
    if (data->type == REDUCT_I32) {
        int32_t wrapped = (int32_t)(uint32_t)sum.i64;
        data->integer = wrapped;
        data->magnitude = (double)magnitude.u64;
        judge_text(data->type, &wrapped, data->exact, sizeof data->exact);
    } else {
        bool single = data->type == REDUCT_F32;
        data->real = single ? (double)sum.f32 : sum.f64;
        data->magnitude = single ? (double)magnitude.f32 : magnitude.f64;
        judge_text(data->type, &sum, data->exact, sizeof data->exact);
        judge_exact exact = exact_of(data);
        status = judge_find_rest(&exact, REDUCT_SUM, data->type, data->values, NULL, data->n);
        data->rest = exact.rest;
    }
    return status;
}

static int create(ladder_data *data, reduct_type type, uint64_t n, bool cancelling) {
    size_t size = reduct_type_size(type);
    *data = (ladder_data){.type = type, .cancelling = cancelling && reduct_type_is_float(type), .n = n};
    if (n > (SIZE_MAX - 64) / size)
        return -1;
    data->values = aligned_alloc(64, (n * size / 64 + 1) * 64);
    if (!data->values)
        return -1;
    measure_team *team = measure_team_create(n < 1 << 20 ? 1 : 4);
    measure_team_run(team, data->cancelling ? fill_cancelling : fill_share, data);
    measure_team_destroy(team);
    if (sum_up(data) == REDUCT_OK)
        return 0;
    ladder_data_destroy(data);
    return -1;
}

int ladder_data_create(ladder_data *data, reduct_type type, uint64_t n) {
    return create(data, type, n, false);
}

int ladder_data_create_cancelling(ladder_data *data, reduct_type type, uint64_t n) {
    return create(data, type, n, true);
}

int ladder_data_create_for(const ladder_options *options, ladder_data *data) {
    return create(data, options->type, options->n, options->cancelling);
}

void ladder_data_destroy(ladder_data *data) {
    free(data->values);
    *data = (ladder_data){0};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The judge
 * ------------------------------------------------------------------------------------------------------------------ */

void ladder_judge(report_row *row, const ladder_data *data, const void *result, double terms) {
    judge_exact exact = exact_of(data);
    double bound = 0;
    if (terms > 0 && reduct_type_is_float(data->type)) /* and the rounding of the result to its type */
        bound = terms * judge_roundoff(data->type) * data->magnitude + judge_unit(data->type, data->real) / 2;
    judge_finding finding = judge_result(&exact, result, bound);
    judge_fill(row, &finding);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Passes
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned bit_length(uint64_t x) {
    unsigned bits = 0;
    for (; x; x >>= 1)
        bits++;
    return bits;
}

/* With g = 2^b, each pass takes b bits off n - 1, rounded up: n becomes ceil(n / 2^b), n - 1 becomes (n - 1) >> b. */
unsigned ladder_passes(uint64_t n, uint64_t g) {
    if (n <= 1 || g < 2)
        return 0;
    if ((g & (g - 1)) == 0) {
        unsigned a = bit_length(n - 1), b = bit_length(g - 1);
        return (a + b - 1) / b;
    }
    unsigned passes = 0;
    for (; n > 1; passes++)
        n = n / g + (n % g != 0);
    return passes;
}
