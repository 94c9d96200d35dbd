/* The fields of a row for programs, each once: JSON and CSV are written from this list, in this order. */
#include "report/parts.h"

static report_value text_value(const char *text) {
    return (report_value){.kind = *text ? REPORT_TEXT : REPORT_NOTHING, .text = text};
}

static report_value whole_value(uint64_t whole) {
    return (report_value){.kind = REPORT_WHOLE, .whole = whole};
}

static report_value real_if(bool known, double real) {
    return (report_value){.kind = known ? REPORT_REAL : REPORT_NOTHING, .real = real};
}

static report_value real_if_known(double real) {
    return real_if(real >= 0, real);
}

static report_value figure_value(const report_row *row, size_t figure) {
    measure_kind kind = measure_figures[figure].kind;
    double value = row->figure[figure];
    if (value >= 0 && (kind == MEASURE_COUNT || kind == MEASURE_BYTES))
        return whole_value((uint64_t)value);
    return real_if_known(value);
}

/* FIELD(name, value); FIGURES(place): the figures of a place, in the order of their list. */
#define FIELDS                                                                                                         \
    FIELD("group", text_value(row->group))                                                                             \
    FIELD("name", text_value(row->name))                                                                               \
    FIELD("variant", text_value(row->variant))                                                                         \
    FIELD("type", text_value(row->type))                                                                               \
    FIELD("device", text_value(row->device))                                                                           \
    FIELD("language", text_value(row->language))                                                                       \
    FIELD("n", whole_value(row->n))                                                                                    \
    FIELD("bytes", whole_value(row->bytes))                                                                            \
    FIGURES(MEASURE_LAUNCH)                                                                                            \
    FIELD("seconds", real_if(row->seconds > 0, row->seconds))                                                          \
    FIELD("spread", real_if(row->seconds > 0, row->spread))                                                            \
    FIELD("bytes_per_second", real_if(row->seconds > 0, report_row_rate(row)))                                         \
    FIELD("of_limit", real_if_known(row->of_limit))                                                                    \
    FIELD("of_nominal", real_if_known(row->of_nominal))                                                                \
    FIGURES(MEASURE_RESULT)                                                                                            \
    FIELD("verdict", text_value(report_verdict_name(row->verdict)))                                                    \
    FIELD("expected", text_value(row->expected))                                                                       \
    FIELD("got", text_value(row->got))                                                                                 \
    FIELD("ulp", real_if_known(row->ulp))                                                                              \
    FIGURES(MEASURE_HARDWARE)                                                                                          \
    FIELD("note", text_value(row->note))

const char *report_field(const report_row *row, size_t i, report_value *value) {
    size_t field = 0;
#define FIELD(name, expression)                                                                                        \
    if (i == field++) {                                                                                                \
        *value = expression;                                                                                           \
        return name;                                                                                                   \
    }
#define FIGURES(where)                                                                                                 \
    for (size_t f = 0; f < MEASURE_FIGURES; f++)                                                                       \
        if (measure_figures[f].place == where && i == field++) {                                                       \
            *value = figure_value(row, f);                                                                             \
            return measure_figures[f].field;                                                                           \
        }
    FIELDS
#undef FIELD
#undef FIGURES
    return NULL;
}
