/* Many sums judged at once: see many.h. */
#include "ladder/many.h"

#include "report/judge.h"

#include <math.h>
#include <string.h>

static const double UNITS = 0x1p53;

many_units many_units_at(const ladder_data *data, uint64_t i) {
    if (data->type == REDUCT_I32)
        return ((const uint32_t *)data->values)[i];
    double value =
        data->type == REDUCT_F32 ? (double)((const float *)data->values)[i] : ((const double *)data->values)[i];
    return (uint64_t)(value * UNITS); /* 64 bits are enough for one, and far quicker to convert to */
}

/* As the judge takes it: rounded once by the conversion, and what that took off. */
static judge_exact exact_of(reduct_type type, many_units units) {
    judge_exact exact = {.type = type};
    many_units rounded;
    if (type == REDUCT_I32) {
        exact.value.i32 = (int32_t)(uint32_t)units;
        return exact;
    }
    if (type == REDUCT_F32) {
        exact.value.f32 = (float)units * 0x1p-53f;
        rounded = (many_units)(float)units;
    } else {
        exact.value.f64 = (double)units * 0x1p-53;
        rounded = (many_units)(double)units;
    }
    exact.rest = (units > rounded ? (double)(units - rounded) : -(double)(rounded - units)) / UNITS;
    return exact;
}

/* How bad a result is: 0 for the right bits, then the distance in bounds. */
static double badness(const judge_exact *exact, const void *got, double bound) {
    if (memcmp(&exact->value, got, reduct_type_size(exact->type)) == 0)
        return 0;
    double off = judge_real(exact->type, got) - judge_real(exact->type, &exact->value) - exact->rest;
    return bound > 0 && fabs(off) <= bound ? fabs(off) / bound : INFINITY;
}

void many_judge(const many_results *results, report_row *row) {
    double worst = -1;
    if (!results->count)
        row->verdict = REPORT_RIGHT;
    for (uint64_t i = 0; i < results->count; i++) {
        const unsigned char *got = (const unsigned char *)results->values + i * results->bytes;
        judge_exact exact = exact_of(results->type, results->sums[i]);
        double value = judge_real(results->type, &exact.value), bound = 0;
        if (results->terms > 0 && results->type != REDUCT_I32)
            bound = results->terms * judge_roundoff(results->type) * value + judge_unit(results->type, value) / 2;
        double bad = badness(&exact, got, bound);
        if (bad <= worst)
            continue;
        worst = bad;
        judge_finding finding = judge_result(&exact, got, bound);
        judge_fill(row, &finding);
    }
}
