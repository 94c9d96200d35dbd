/* The one judge: see judge.h. What rounding took off is found with the library's own accumulators, which are exact:
 * the rounded result goes in with the sign changed, and what comes out is what is missing. */
#include "report/judge.h"

#include "program/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------------------------------------------------ */

/* Of a floating-point type: bits of a significand, the hidden one included, and the exponent of the smallest number. */
typedef struct format {
    int digits, least;
} format;

static format format_of(reduct_type type) {
    switch (type) {
    case REDUCT_F16:
        return (format){11, -24};
    case REDUCT_BF16:
        return (format){8, -133};
    case REDUCT_F32:
        return (format){24, -149};
    default:
        return (format){53, -1074};
    }
}

double judge_roundoff(reduct_type type) {
    return ldexp(1, -format_of(type).digits);
}

double judge_unit(reduct_type type, double value) {
    const format of = format_of(type);
    int exponent;
    if (value == 0)
        return ldexp(1, of.least);
    frexp(value, &exponent);
    return ldexp(1, exponent - of.digits > of.least ? exponent - of.digits : of.least);
}

/* A float of 16 bits. */
static double half_of(reduct_type type, const void *value) {
    const int stored = format_of(type).digits - 1, most = (1 << (15 - stored)) - 1;
    uint16_t bits;
    memcpy(&bits, value, sizeof bits);
    const int field = bits >> stored & most, significand = bits & ((1 << stored) - 1);
    double magnitude = field ? ldexp(significand + (1 << stored), field - 1) : significand;
    magnitude = field == most ? (significand ? (double)NAN : INFINITY) : ldexp(magnitude, format_of(type).least);
    return bits >> 15 ? -magnitude : magnitude;
}

/* An integer of any width, brought to 64 bits with its sign. */
static int64_t integer_of(reduct_type type, const void *value) {
    uint64_t bits = 0;
    size_t size = reduct_type_size(type), shift = size < sizeof bits ? 64 - 8 * size : 0;
    memcpy(&bits, value, size < sizeof bits ? size : sizeof bits);
    return (int64_t)(bits << shift) >> shift;
}

static uint64_t magnitude_of(reduct_type type, const void *value) {
    uint64_t bits = 0;
    size_t size = reduct_type_size(type);
    memcpy(&bits, value, size < sizeof bits ? size : sizeof bits);
    return bits;
}

static bool is_signed(reduct_type type) {
    return type == REDUCT_I8 || type == REDUCT_I16 || type == REDUCT_I32 || type == REDUCT_I64;
}

double judge_real(reduct_type type, const void *value) {
    if (type == REDUCT_F32)
        return (double)*(const float *)value;
    if (type == REDUCT_F64)
        return *(const double *)value;
    if (reduct_type_is_float(type))
        return half_of(type, value);
    return is_signed(type) ? (double)integer_of(type, value) : (double)magnitude_of(type, value);
}

/* Whether text is the number when it is read as one of the type; of 16 bits, surely. */
static bool reads_back(reduct_type type, const char *text, double real) {
    switch (type) {
    case REDUCT_F16:
    case REDUCT_BF16:
        return isfinite(real) ? fabs(strtod(text, NULL) - real) < judge_unit(type, real) / 4
                              : strtod(text, NULL) == real;
    case REDUCT_F32:
        return (double)strtof(text, NULL) == real;
    default:
        return strtod(text, NULL) == real;
    }
}

static void real_text(reduct_type type, double real, char *text, size_t room) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, room, "%.*g", digits, real);
        if (reads_back(type, text, real))
            return;
    }
}

char *judge_text(reduct_type type, const void *value, char *text, size_t room) {
    if (reduct_type_is_float(type))
        real_text(type, judge_real(type, value), text, room);
    else if (is_signed(type))
        snprintf(text, room, "%" PRId64, integer_of(type, value));
    else
        snprintf(text, room, "%" PRIu64, magnitude_of(type, value));
    return text;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What rounding takes off
 * ------------------------------------------------------------------------------------------------------------------ */

/* An exact result of elements of at most 32 bits once more as f64: its 29 more bits, or more, show what rounding took off. */
static reduct_status rest_by_f64(judge_exact *exact, reduct_operator op, reduct_type element, const void *x,
                                 const void *y, uint64_t n) {
    reduct_reduction wider = {.op = op, .element = element, .result = REDUCT_F64};
    reduct_plan_options options = {.reductions = &wider,
                                   .reduction_count = 1,
                                   .shape = {.outer = 1, .n = n, .inner = 1, .stride = 1},
                                   .device = "cpu"};
    reduct_plan *plan;
    double value = 0;
    void *result = &value;
    reduct_status status = reduct_plan_create(&options, &plan, NULL);
    if (status != REDUCT_OK)
        return status;
    status = reduct_plan_execute(plan, (const void *[]){x, y}, &result, NULL, NULL);
    reduct_plan_destroy(plan);
    if (status == REDUCT_OK)
        exact->rest = value - judge_real(exact->type, &exact->value);
    return status;
}

/* A result v as the solution of divisor * v = sum, or divisor * v^2 = sum: a sum of products, or one of squares of what is
 * left when the mean is taken away. */
typedef struct equation {
    enum { TERM_OF_X, TERM_OF_MAGNITUDE, TERM_OF_SQUARE, TERM_OF_PRODUCT } term;
    double divisor;
    bool root, centred;
} equation;

static bool find_equation(reduct_operator op, double n, equation *found) {
    switch (op) {
    case REDUCT_SUM:
        *found = (equation){TERM_OF_X, 1, false, false};
        return true;
    case REDUCT_MEAN:
        *found = (equation){TERM_OF_X, n, false, false};
        return true;
    case REDUCT_NORM1:
        *found = (equation){TERM_OF_MAGNITUDE, 1, false, false};
        return true;
    case REDUCT_SUMSQ:
        *found = (equation){TERM_OF_SQUARE, 1, false, false};
        return true;
    case REDUCT_NORM2:
        *found = (equation){TERM_OF_SQUARE, 1, true, false};
        return true;
    case REDUCT_RMS:
        *found = (equation){TERM_OF_SQUARE, n, true, false};
        return true;
    case REDUCT_DOT:
        *found = (equation){TERM_OF_PRODUCT, 1, false, false};
        return true;
    case REDUCT_VAR:
        *found = (equation){TERM_OF_SQUARE, n - 1, false, true};
        return true;
    case REDUCT_STD:
        *found = (equation){TERM_OF_SQUARE, n - 1, true, true};
        return true;
    default:
        return false;
    }
}

/* An exact sum of products, and the first failure. */
typedef struct ledger {
    reduct_accumulator *accumulator;
    reduct_status status;
} ledger;

static ledger ledger_open(void) {
    reduct_reduction dot = {.op = REDUCT_DOT, .element = REDUCT_F64};
    ledger l = {.accumulator = NULL};
    l.status = reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &dot, .device = "cpu"},
                                         &l.accumulator, NULL);
    return l;
}

static void ledger_add(ledger *l, const double *x, const double *y, uint64_t n) {
    if (l->status == REDUCT_OK)
        l->status = reduct_accumulator_add(l->accumulator, x, y, n, NULL);
}

/* a * b * c: of the product of two both halves, which together are exact. */
static void ledger_add_triple(ledger *l, double a, double b, double c) {
    double product = a * b;
    ledger_add(l, (const double[]){product, fma(a, b, -product)}, (const double[]){c, c}, 2);
}

static double ledger_total(ledger *l) {
    double total = NAN;
    if (l->status == REDUCT_OK)
        l->status = reduct_accumulator_result(l->accumulator, REDUCT_F64, &total, NULL);
    return total;
}

/* Adds the terms of all elements. */
static void ledger_add_terms(ledger *l, const double *x, const double *y, uint64_t n, int term) {
    enum { PIECE = 1 << 14 };
    double *factors = program_allocate(PIECE * sizeof *factors);
    for (uint64_t i = 0; i < PIECE; i++)
        factors[i] = 1;
    for (uint64_t begin = 0; begin < n; begin += PIECE) {
        uint64_t count = n - begin < PIECE ? n - begin : PIECE;
        for (uint64_t i = 0; term == TERM_OF_MAGNITUDE && i < count; i++)
            factors[i] = copysign(1, x[begin + i]);
        ledger_add(l, x + begin,
                   term == TERM_OF_SQUARE    ? x + begin
                   : term == TERM_OF_PRODUCT ? y + begin
                                             : factors,
                   count);
    }
    free(factors);
}

/* Turns a sum of squares into that of what is left of the elements without their mean, which is less by S^2 / n for the sum
 * S = n * mean + left: of those three terms the last is tiny, and may be rounded. */
static void ledger_take_mean(ledger *l, const double *x, uint64_t n) {
    ledger sum = ledger_open();
    double count = (double)n;
    ledger_add_terms(&sum, x, NULL, n, TERM_OF_X);
    double mean = ledger_total(&sum) / count;
    ledger_add(&sum, &(double){-mean}, &count, 1);
    double left = ledger_total(&sum);
    ledger_add_triple(l, count, mean, -mean);
    ledger_add(l, (const double[]){-2 * mean, -left}, (const double[]){left, left / count}, 2);
    l->status = l->status == REDUCT_OK ? sum.status : l->status;
    reduct_accumulator_destroy(sum.accumulator);
}

static reduct_status rest_by_ledger(judge_exact *exact, const equation *of, const double *x, const double *y,
                                    uint64_t n) {
    double value = exact->value.f64;
    ledger l = ledger_open();
    ledger_add_terms(&l, x, y, n, of->term);
    if (of->centred)
        ledger_take_mean(&l, x, n);
    if (of->root)
        ledger_add_triple(&l, of->divisor, value, -value);
    else
        ledger_add(&l, &of->divisor, &(double){-value}, 1);
    exact->rest = ledger_total(&l) / of->divisor;
    if (of->root && exact->rest != 0) /* w^2 - v^2 = (w - v) (w + v) */
        exact->rest /= 2 * value;
    reduct_accumulator_destroy(l.accumulator);
    return l.status;
}

reduct_status judge_find_rest(judge_exact *exact, reduct_operator op, reduct_type element, const void *x, const void *y,
                              uint64_t n) {
    static const reduct_operator choosing[] = {REDUCT_MIN, REDUCT_MAX, REDUCT_NORMINF}; /* and so rounding nothing */
    bool chooses = !reduct_type_is_float(exact->type);
    reduct_status status = REDUCT_OK;
    equation of;
    for (size_t i = 0; i < sizeof choosing / sizeof *choosing; i++)
        chooses = chooses || op == choosing[i];
    exact->rest = 0;
    if (chooses)
        return REDUCT_OK;
    exact->rest = NAN;
    if (!isfinite(judge_real(exact->type, &exact->value)))
        return REDUCT_OK;
    if (reduct_type_is_float(element) && element != REDUCT_F64 && exact->type == element)
        status = rest_by_f64(exact, op, element, x, y, n);
    else if (element == REDUCT_F64 && exact->type == REDUCT_F64 && find_equation(op, (double)n, &of))
        status = rest_by_ledger(exact, &of, x, y, n);
    if (!isfinite(exact->rest))
        exact->rest = NAN;
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Verdicts
 * ------------------------------------------------------------------------------------------------------------------ */

static void judge_float(const judge_exact *exact, double got, double bound, judge_finding *finding) {
    double expected = judge_real(exact->type, &exact->value), rest = isfinite(exact->rest) ? exact->rest : 0;
    double error = fabs(got - expected - rest);
    if (isfinite(exact->rest) && isfinite(error))
        finding->ulp = error / judge_unit(exact->type, expected);
    if (finding->verdict == REPORT_RIGHT)
        return;
    if (bound == INFINITY)
        finding->verdict = REPORT_UNCHECKED;
    else if (error <= bound) /* a NaN is wrong */
        finding->verdict = REPORT_WITHIN_BOUND;
}

judge_finding judge_result(const judge_exact *exact, const void *result, double bound) {
    bool same = memcmp(&exact->value, result, reduct_type_size(exact->type)) == 0;
    judge_finding finding = {.verdict = same ? REPORT_RIGHT : REPORT_WRONG, .ulp = -1};
    judge_text(exact->type, &exact->value, finding.expected, sizeof finding.expected);
    judge_text(exact->type, result, finding.got, sizeof finding.got);
    if (reduct_type_is_float(exact->type))
        judge_float(exact, judge_real(exact->type, result), bound, &finding);
    return finding;
}

void judge_fill(report_row *row, const judge_finding *finding) {
    row->verdict = finding->verdict;
    row->ulp = finding->ulp;
    snprintf(row->expected, sizeof row->expected, "%s", finding->expected);
    snprintf(row->got, sizeof row->got, "%s", finding->got);
}
