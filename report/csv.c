/* Reports as comma-separated values (RFC 4180): the rows, one per line, all fields; empty where not known. */
#include "report/parts.h"

#include <inttypes.h>
#include <string.h>

/* Quotes a text where it holds what would end a field. */
static void write_text(const char *text, FILE *stream) {
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void write_value(const report_value *value, FILE *stream) {
    switch (value->kind) {
    case REPORT_TEXT:
        write_text(value->text, stream);
        break;
    case REPORT_WHOLE:
        fprintf(stream, "%" PRIu64, value->whole);
        break;
    case REPORT_REAL:
        fprintf(stream, "%.9g", value->real);
        break;
    case REPORT_NOTHING:
        break;
    }
}

/* A row, or with `names` the heading. */
static void write_line(const report_row *row, bool names, FILE *stream) {
    report_value value;
    const char *name;
    for (size_t i = 0; (name = report_field(row, i, &value)); i++) {
        if (i)
            fputc(',', stream);
        if (names)
            fputs(name, stream);
        else
            write_value(&value, stream);
    }
    fputs("\r\n", stream);
}

int report_write_csv(const report *r, FILE *stream) {
    report_row none = report_row_empty();
    write_line(&none, true, stream);
    for (size_t i = 0; i < r->row_count; i++)
        write_line(&r->rows[i], false, stream);
    return fflush(stream) != 0 || ferror(stream) ? -1 : 0;
}
