/* Reports as JSON, through jansson: everything that a report holds, null where not known.
 *
 *     {"title", "subtitle", "facts": {name: value}, "warnings": [text],
 *      "rows": [{"group", "name", ... "note"}],
 *      "series": [{"name", "points": [[elements, GB/s]]}],
 *      "references": [{"source", "machine", "points": [{"name", "seconds", "bytes_per_second"}]}]}
 */
#include "report/parts.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

/* Building fails only without memory: null values are then passed on, and the writer notices at the end. */
static json_t *real_or_null(double real) {
    return isfinite(real) && real > 0 ? json_real(real) : json_null();
}

/* A text cut off within a character is not UTF-8, which JSON must be. */
static json_t *text_json(const char *text) {
    json_t *string = json_string(text);
    return string ? string : json_null();
}

static json_t *value_json(const report_value *value) {
    switch (value->kind) {
    case REPORT_TEXT:
        return text_json(value->text);
    case REPORT_WHOLE:
        return json_integer((json_int_t)value->whole);
    case REPORT_REAL:
        return isfinite(value->real) ? json_real(value->real) : json_null();
    case REPORT_NOTHING:
        break;
    }
    return json_null();
}

static json_t *row_json(const report_row *row) {
    json_t *object = json_object();
    report_value value;
    const char *name;
    for (size_t i = 0; (name = report_field(row, i, &value)); i++)
        json_object_set_new(object, name, value_json(&value));
    return object;
}

static json_t *series_json(const report_series *series) {
    json_t *points = json_array();
    for (size_t i = 0; i < series->count; i++)
        json_array_append_new(points, json_pack("[I, f]", (json_int_t)series->x[i], series->y[i]));
    return json_pack("{s:s, s:o}", "name", series->name, "points", points);
}

static json_t *reference_json(const report_reference *reference) {
    json_t *points = json_array();
    for (size_t i = 0; i < reference->count; i++)
        json_array_append_new(points, json_pack("{s:s, s:o, s:o}", "name", reference->point[i].name, "seconds",
                                                real_or_null(reference->point[i].seconds), "bytes_per_second",
                                                real_or_null(reference->point[i].bytes_per_second)));
    return json_pack("{s:s, s:s, s:o}", "source", reference->source, "machine", reference->machine, "points", points);
}

static json_t *report_json(const report *r) {
    json_t *facts = json_object(), *warnings = json_array(), *rows = json_array(), *series = json_array(),
           *references = json_array();
    for (size_t i = 0; i < r->fact_count; i++)
        json_object_set_new(facts, r->facts[i].name, text_json(r->facts[i].value));
    for (size_t i = 0; i < r->warning_count; i++)
        json_array_append_new(warnings, text_json(r->warnings[i]));
    for (size_t i = 0; i < r->row_count; i++)
        json_array_append_new(rows, row_json(&r->rows[i]));
    for (size_t i = 0; i < r->series_count; i++)
        json_array_append_new(series, series_json(r->series[i]));
    for (size_t i = 0; i < r->reference_count; i++)
        json_array_append_new(references, reference_json(&r->references[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "title", r->title, "subtitle", r->subtitle, "facts", facts,
                     "warnings", warnings, "rows", rows, "series", series, "references", references);
}

int report_write_json(const report *r, FILE *stream) {
    json_t *whole = report_json(r);
    if (!whole) {
        errno = ENOMEM;
        return -1;
    }
    int failed = json_dumpf(whole, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(whole);
    fputc('\n', stream);
    return failed || fflush(stream) != 0 || ferror(stream) ? -1 : 0;
}
