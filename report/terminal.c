/* Reports on the terminal: a table per section, with bars of bandwidth up to the read limit. */
#include "report/parts.h"

#include "program/colour.h"
#include "program/table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { BAR_CELLS = 20 };

/* A bar of eighths of a character cell: what is above 0 shows. */
static const char *bar(double share, char text[3 * BAR_CELLS + 1]) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int length = (int)lround(share * BAR_CELLS * 8);
    length = length < 1 ? share > 0 : length > BAR_CELLS * 8 ? BAR_CELLS * 8 : length;
    *text = '\0';
    for (int i = 0; i < length / 8; i++)
        strcat(text, "█");
    return strcat(text, eighths[length % 8]);
}

static const char *style_of(const report_row *row, FILE *stream) {
    switch (row->verdict) {
    case REPORT_RIGHT:
        return program_style_on(stream, PROGRAM_GOOD);
    case REPORT_WITHIN_BOUND:
        return "";
    case REPORT_WRONG:
        return program_style_on(stream, PROGRAM_BAD);
    case REPORT_LUCKY:
        return program_style_on(stream, PROGRAM_BOLD);
    default:
        return program_style_on(stream, PROGRAM_DIM);
    }
}

static void add_cells(program_table *table, const report_section *section, const report_row *row,
                      const report_column *columns, size_t count, bool bars, FILE *stream) {
    const char *plain = program_style_on(stream, PROGRAM_PLAIN);
    for (size_t i = 0; i < count; i++) {
        char text[REPORT_CELL] = "", blocks[3 * BAR_CELLS + 1];
        bool verdict = columns[i].write == report_verdict_text;
        double scale = report_section_scale(section);
        if (verdict && bars)
            program_table_cell(table, "%s", scale > 0 ? bar(report_row_rate(row) / scale, blocks) : "");
        report_cell_text(&columns[i], row, text);
        if (verdict)
            program_table_cell(table, "%s%s%s", style_of(row, stream), text, plain);
        else
            program_table_cell(table, "%s", text);
    }
}

/* The bars stand before the verdict, which may be long. */
static void print_view(const report_section *section, report_view view, FILE *stream) {
    report_column columns[REPORT_COLUMNS_MOST];
    char alignments[REPORT_COLUMNS_MOST + 2], scale[32], heading[64];
    size_t count = report_columns(section, view, columns), used = 0;
    bool bars = view == REPORT_RESULTS && section->best > 0;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (bars && i + 1 == count)
            alignments[used++] = 'l';
        alignments[used++] = columns[i].alignment;
    }
    alignments[used] = '\0';
    program_table *table = program_table_create(alignments);
    for (size_t i = 0; i < count; i++) {
        snprintf(heading, sizeof heading, "to %s",
                 report_rate_text(report_section_scale(section), scale, sizeof scale));
        if (bars && i + 1 == count)
            program_table_cell(table, "%s", heading);
        program_table_cell(table, "%s", columns[i].heading);
    }
    for (size_t i = 0; i < section->count; i++)
        add_cells(table, section, section->rows[i], columns, count, bars, stream);
    program_table_print(table, stream, 0);
    program_table_destroy(table);
    fputc('\n', stream);
}

static void print_section(const report_section *section, FILE *stream) {
    char text[REPORT_CELL], limit[32], nominal[32];
    fprintf(stream, "%s%s%s", program_style_on(stream, PROGRAM_BOLD), report_section_text(section, text, sizeof text),
            program_style_on(stream, PROGRAM_PLAIN));
    if (section->limit > 0)
        fprintf(stream, "; read limit %s", report_rate_text(section->limit, limit, sizeof limit));
    if (section->nominal > 0)
        fprintf(stream, "; nominal %s", report_rate_text(section->nominal, nominal, sizeof nominal));
    fputs("\n\n", stream);
    print_view(section, REPORT_RESULTS, stream);
    print_view(section, REPORT_HARDWARE, stream);
}

/* One character per point, as high as its bandwidth beside the best of all. */
static void add_sparkline(program_table *table, const report_series *series, double best) {
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    char text[3 * sizeof series->x / sizeof *series->x + 1] = "";
    for (size_t i = 0; i < series->count; i++) {
        int height = (int)(series->y[i] / best * 8);
        strcat(text, heights[height < 0 ? 0 : height > 7 ? 7 : height]);
    }
    program_table_cell(table, "%s", text);
}

static void print_series(const report *r, FILE *stream) {
    char count[32], rate[32];
    double best = 0;
    for (size_t s = 0; s < r->series_count; s++)
        for (size_t i = 0; i < r->series[s]->count; i++)
            best = r->series[s]->y[i] > best ? r->series[s]->y[i] : best;
    if (best == 0)
        return;
    fprintf(stream, "%sGB/s over elements%s\n\n", program_style_on(stream, PROGRAM_BOLD),
            program_style_on(stream, PROGRAM_PLAIN));
    program_table *table = program_table_create("lrlrrr");
    static const char *const headings[] = {"what", "from", "", "to", "best", "at"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        program_table_cell(table, "%s", headings[i]);
    for (size_t s = 0; s < r->series_count; s++) {
        const report_series *series = r->series[s];
        size_t top = 0;
        for (size_t i = 1; i < series->count; i++)
            top = series->y[i] > series->y[top] ? i : top;
        if (series->count == 0)
            continue;
        program_table_cell(table, "%s", series->name);
        program_table_cell(table, "%s", report_count_text((uint64_t)series->x[0], count, sizeof count));
        add_sparkline(table, series, best);
        program_table_cell(table, "%s", report_count_text((uint64_t)series->x[series->count - 1], count, sizeof count));
        program_table_cell(table, "%s", report_rate_text(series->y[top] * 1e9, rate, sizeof rate));
        program_table_cell(table, "%s", report_count_text((uint64_t)series->x[top], count, sizeof count));
    }
    program_table_print(table, stream, 0);
    program_table_destroy(table);
    fputc('\n', stream);
}

static void print_reference(const report_reference *reference, FILE *stream) {
    char text[32];
    bool timed = false;
    for (size_t i = 0; i < reference->count; i++)
        timed = timed || reference->point[i].seconds > 0;
    fprintf(stream, "%sFor reference: %s, %s%s\n\n", program_style_on(stream, PROGRAM_DIM), reference->source,
            reference->machine, program_style_on(stream, PROGRAM_PLAIN));
    program_table *table = program_table_create(timed ? "lrr" : "lr");
    program_table_cell(table, "what");
    if (timed)
        program_table_cell(table, "time");
    program_table_cell(table, "bandwidth");
    for (size_t i = 0; i < reference->count; i++) {
        program_table_cell(table, "%s", reference->point[i].name);
        if (timed)
            program_table_cell(table, "%s", report_seconds_text(reference->point[i].seconds, text, sizeof text));
        program_table_cell(table, "%s", report_rate_text(reference->point[i].bytes_per_second, text, sizeof text));
    }
    program_table_print(table, stream, 0);
    program_table_destroy(table);
    fputc('\n', stream);
}

int report_write_terminal(const report *r, FILE *stream) {
    size_t count, widest = 0;
    fprintf(stream, "%s%s%s\n", program_style_on(stream, PROGRAM_BOLD), r->title,
            program_style_on(stream, PROGRAM_PLAIN));
    if (*r->subtitle)
        fprintf(stream, "%s\n", r->subtitle);
    fputc('\n', stream);
    for (size_t i = 0; i < r->fact_count; i++)
        widest = strlen(r->facts[i].name) > widest ? strlen(r->facts[i].name) : widest;
    for (size_t i = 0; i < r->fact_count; i++)
        fprintf(stream, "%-*s  %s\n", (int)widest, r->facts[i].name, r->facts[i].value);
    for (size_t i = 0; i < r->warning_count; i++)
        fprintf(stream, "%swarning: %s%s\n", program_style_on(stream, PROGRAM_BAD), r->warnings[i],
                program_style_on(stream, PROGRAM_PLAIN));
    fputc('\n', stream);
    report_section *sections = report_sections(r, &count);
    for (size_t i = 0; i < count; i++)
        print_section(&sections[i], stream);
    report_sections_free(sections, count);
    print_series(r, stream);
    for (size_t i = 0; i < r->reference_count; i++)
        print_reference(&r->references[i], stream);
    return fflush(stream) != 0 || ferror(stream) ? -1 : 0;
}
