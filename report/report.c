/* The model of a report: text is copied, lists grow, nothing is judged or written here. */
#include "report/parts.h"

#include "program/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(program_reallocate(NULL, size), text, size);
}

static char *format_copy(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = program_reallocate(NULL, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

report *report_create(const char *title, const char *subtitle) {
    report *r = program_allocate(sizeof *r);
    *r = (report){.title = copy(title), .subtitle = copy(subtitle ? subtitle : "")};
    return r;
}

void report_destroy(report *r) {
    if (!r)
        return;
    for (size_t i = 0; i < r->fact_count; i++) {
        free(r->facts[i].name);
        free(r->facts[i].value);
    }
    for (size_t i = 0; i < r->warning_count; i++)
        free(r->warnings[i]);
    for (size_t i = 0; i < r->series_count; i++)
        free(r->series[i]);
    free(r->title);
    free(r->subtitle);
    free(r->featured);
    free(r->facts);
    free(r->warnings);
    free(r->rows);
    free(r->series);
    free(r->references);
    free(r);
}

void report_fact(report *r, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *value = format_copy(format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < r->fact_count; i++) {
        if (strcmp(r->facts[i].name, name) == 0) {
            free(r->facts[i].value);
            r->facts[i].value = value;
            return;
        }
    }
    r->facts = program_reallocate(r->facts, (r->fact_count + 1) * sizeof *r->facts);
    r->facts[r->fact_count++] = (report_pair){copy(name), value};
}

void report_warning(report *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = format_copy(format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < r->warning_count; i++) {
        if (strcmp(r->warnings[i], text) == 0) {
            free(text);
            return;
        }
    }
    r->warnings = program_reallocate(r->warnings, (r->warning_count + 1) * sizeof *r->warnings);
    r->warnings[r->warning_count++] = text;
}

report_row report_row_empty(void) {
    report_row row = {.of_limit = -1, .of_nominal = -1, .verdict = REPORT_UNCHECKED, .ulp = -1};
    for (size_t i = 0; i < MEASURE_FIGURES; i++)
        row.figure[i] = (double)NAN;
    return row;
}

void report_set(report_row *row, measure_figure figure, double value) {
    measure_kind kind = measure_figures[figure].kind;
    bool needs_more = kind == MEASURE_RATIO || kind == MEASURE_FACTOR;
    row->figure[figure] = value > 0 || (value == 0 && !needs_more) ? value : (double)NAN;
}

void report_feature(report *r, const char *group) {
    free(r->featured);
    r->featured = copy(group);
}

/* Rows hold texts from elsewhere (compilers, drivers): no control character may reach a terminal or break a line. */
static void clean(char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = ' ';
    }
}

void report_add_row(report *r, const report_row *row) {
    r->rows = program_reallocate(r->rows, (r->row_count + 1) * sizeof *r->rows);
    report_row *added = &r->rows[r->row_count++];
    *added = *row;
    char *const texts[] = {added->group,    added->name,     added->variant, added->type, added->device,
                           added->language, added->expected, added->got,     added->note};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        clean(texts[i]);
}

void report_add_reference(report *r, const report_reference *reference) {
    for (size_t i = 0; i < r->reference_count; i++) {
        if (strcmp(r->references[i].source, reference->source) == 0)
            return;
    }
    r->references = program_reallocate(r->references, (r->reference_count + 1) * sizeof *r->references);
    r->references[r->reference_count++] = *reference;
}

report_series *report_series_named(report *r, const char *name) {
    for (size_t i = 0; i < r->series_count; i++) {
        if (strcmp(r->series[i]->name, name) == 0)
            return r->series[i];
    }
    report_series *series = program_allocate(sizeof *series);
    *series = (report_series){.count = 0};
    snprintf(series->name, sizeof series->name, "%s", name);
    r->series = program_reallocate(r->series, (r->series_count + 1) * sizeof(report_series *));
    r->series[r->series_count++] = series;
    return series;
}

void report_add_point(report_series *series, double x, double y) {
    size_t at = series->count;
    while (at > 0 && series->x[at - 1] >= x)
        at--;
    bool is_there = at < series->count && series->x[at] == x;
    if (!is_there && series->count == sizeof series->x / sizeof *series->x)
        return;
    if (!is_there) {
        memmove(&series->x[at + 1], &series->x[at], (series->count - at) * sizeof *series->x);
        memmove(&series->y[at + 1], &series->y[at], (series->count - at) * sizeof *series->y);
        series->count++;
    }
    series->x[at] = x;
    series->y[at] = y;
}

size_t report_row_count(const report *r) {
    return r->row_count;
}

const report_row *report_row_at(const report *r, size_t i) {
    return i < r->row_count ? &r->rows[i] : NULL;
}

bool report_verdict_is_good(report_verdict verdict) {
    return verdict == REPORT_RIGHT || verdict == REPORT_WITHIN_BOUND;
}

int report_has_wrong(const report *r) {
    for (size_t i = 0; i < r->row_count; i++) {
        if (r->rows[i].verdict == REPORT_WRONG && !r->rows[i].may_be_wrong)
            return 1;
    }
    return 0;
}
