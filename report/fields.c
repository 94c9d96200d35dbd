/* The fields of a row for programs, each once: JSON and CSV are written from this list, in this order. */
#include "report/parts.h"

static report_value text_value(const char *text) {
    return (report_value){.kind = *text ? REPORT_TEXT : REPORT_NOTHING, .text = text};
}

static report_value whole_value(uint64_t whole) {
    return (report_value){.kind = REPORT_WHOLE, .whole = whole};
}

/* Registers and the like: negative if not known. */
static report_value whole_if_known(int whole) {
    return whole < 0 ? (report_value){.kind = REPORT_NOTHING} : whole_value((uint64_t)whole);
}

static report_value real_if(bool known, double real) {
    return (report_value){.kind = known ? REPORT_REAL : REPORT_NOTHING, .real = real};
}

static report_value real_if_known(double real) {
    return real_if(real >= 0, real);
}

/* FIELD(name, value) */
#define FIELDS                                                                                                         \
    FIELD("group", text_value(row->group))                                                                             \
    FIELD("name", text_value(row->name))                                                                               \
    FIELD("variant", text_value(row->variant))                                                                         \
    FIELD("type", text_value(row->type))                                                                               \
    FIELD("device", text_value(row->device))                                                                           \
    FIELD("language", text_value(row->language))                                                                       \
    FIELD("n", whole_value(row->n))                                                                                    \
    FIELD("bytes", whole_value(row->bytes))                                                                            \
    FIELD("block", whole_if_known(row->block ? (int)row->block : -1))                                                  \
    FIELD("seconds", real_if(row->seconds > 0, row->seconds))                                                          \
    FIELD("spread", real_if(row->seconds > 0, row->spread))                                                            \
    FIELD("bytes_per_second", real_if(row->seconds > 0, report_row_rate(row)))                                         \
    FIELD("of_limit", real_if_known(row->of_limit))                                                                    \
    FIELD("of_nominal", real_if_known(row->of_nominal))                                                                \
    FIELD("speedup", real_if(row->speedup > 0, row->speedup))                                                          \
    FIELD("to_plain", real_if(row->to_plain > 0, row->to_plain))                                                       \
    FIELD("to_fast", real_if(row->to_fast > 0, row->to_fast))                                                          \
    FIELD("to_peer", real_if(row->to_peer > 0, row->to_peer))                                                          \
    FIELD("to_gpu_to_gpu", real_if(row->to_gpu_to_gpu > 0, row->to_gpu_to_gpu))                                        \
    FIELD("to_sum", real_if(row->to_sum > 0, row->to_sum))                                                             \
    FIELD("verdict", text_value(report_verdict_name(row->verdict)))                                                    \
    FIELD("expected", text_value(row->expected))                                                                       \
    FIELD("got", text_value(row->got))                                                                                 \
    FIELD("ulp", real_if_known(row->ulp))                                                                              \
    FIELD("registers", whole_if_known(row->registers))                                                                 \
    FIELD("shared_bytes", whole_if_known(row->shared_bytes))                                                           \
    FIELD("occupancy", real_if_known(row->occupancy))                                                                  \
    FIELD("bank_conflicts", real_if_known(row->bank_conflicts))                                                        \
    FIELD("shared_transactions", real_if_known(row->shared_transactions))                                              \
    FIELD("divergence", real_if_known(row->divergence))                                                                \
    FIELD("note", text_value(row->note))

const char *report_field(const report_row *row, size_t i, report_value *value) {
    size_t field = 0;
#define FIELD(name, expression)                                                                                        \
    if (i == field++) {                                                                                                \
        *value = expression;                                                                                           \
        return name;                                                                                                   \
    }
    FIELDS
#undef FIELD
    return NULL;
}
