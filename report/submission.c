/* A report as docs/results/ collects them: the machine, what was run, how long it took and how steadily, whether it was right.
 * One line per row, so that a file is short and two can be compared by eye:
 *
 *     {"format": "reduct ladder results 1",
 *      "facts": {name: value},
 *      "warnings": [text],
 *      "rows": [
 *     {"group", "name", "variant", "device", "language", "type", "n", "seconds", "spread", "of_limit", "verdict"},
 *     ...]}
 */
#include "report/parts.h"

#include <errno.h>
#include <jansson.h>

/* Building fails only without memory, which the writer notices at the end. */
static json_t *row_json(const report_row *row) {
    json_t *limit = row->of_limit >= 0 ? json_real(row->of_limit) : json_null();
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:o, s:s}", "group", row->group, "name", row->name,
                     "variant", row->variant, "device", row->device, "language", row->language, "type", row->type, "n",
                     (json_int_t)row->n, "seconds", row->seconds, "spread", row->spread > 0 ? row->spread : 0.0,
                     "of_limit", limit, "verdict", report_verdict_name(row->verdict));
}

static bool write_and_free(json_t *value, FILE *stream) {
    bool done = value && json_dumpf(value, stream, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(4)) == 0;
    json_decref(value);
    return done;
}

int report_write_submission(const report *r, FILE *stream) {
    json_t *facts = json_object(), *warnings = json_array();
    for (size_t i = 0; i < r->fact_count; i++)
        json_object_set_new(facts, r->facts[i].name, json_string(r->facts[i].value));
    for (size_t i = 0; i < r->warning_count; i++)
        json_array_append_new(warnings, json_string(r->warnings[i]));
    fputs("{\"format\": \"reduct ladder results 1\",\n\"facts\": ", stream);
    bool done = write_and_free(facts, stream);
    fputs(",\n\"warnings\": ", stream);
    done = write_and_free(warnings, stream) && done;
    fputs(",\n\"rows\": [", stream);
    const char *between = "\n";
    for (size_t i = 0; i < r->row_count; i++) {
        if (r->rows[i].seconds <= 0)
            continue;
        fputs(between, stream);
        done = write_and_free(row_json(&r->rows[i]), stream) && done;
        between = ",\n";
    }
    fputs("\n]}\n", stream);
    if (!done)
        errno = ENOMEM;
    return done && fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
