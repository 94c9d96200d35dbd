/* Reports as Markdown tables, as GitHub shows them. */
#include "report/parts.h"

#include <string.h>

/* Keeps a text from being read as markup: what ends a cell or begins emphasis, code, a link or a tag. */
static void write_text(const char *text, FILE *stream) {
    for (; *text; text++) {
        if (strchr("|*_`[]<>\\", *text))
            fputc('\\', stream);
        fputc(*text == '\n' ? ' ' : *text, stream);
    }
}

static void write_view(const report_section *section, report_view view, FILE *stream) {
    report_column columns[REPORT_COLUMNS_MOST];
    size_t count = report_columns(section, view, columns);
    if (count == 0)
        return;
    fputc('|', stream);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, " %s |", columns[i].heading);
    fputs("\n|", stream);
    for (size_t i = 0; i < count; i++)
        fputs(columns[i].alignment == 'r' ? "---:|" : "---|", stream);
    fputc('\n', stream);
    for (size_t row = 0; row < section->count; row++) {
        fputc('|', stream);
        for (size_t i = 0; i < count; i++) {
            char text[REPORT_CELL] = "";
            report_cell_text(&columns[i], section->rows[row], text);
            fputc(' ', stream);
            write_text(text, stream);
            fputs(" |", stream);
        }
        fputc('\n', stream);
    }
    fputc('\n', stream);
}

static void write_section(const report_section *section, FILE *stream) {
    char text[REPORT_CELL];
    fputs("## ", stream);
    write_text(report_section_text(section, text, sizeof text), stream);
    fputs("\n\n", stream);
    if (section->limit > 0)
        fprintf(stream, "Read limit %s. ", report_rate_text(section->limit, text, sizeof text));
    if (section->nominal > 0)
        fprintf(stream, "Nominal bandwidth %s.", report_rate_text(section->nominal, text, sizeof text));
    if (section->limit > 0 || section->nominal > 0)
        fputs("\n\n", stream);
    write_view(section, REPORT_RESULTS, stream);
    write_view(section, REPORT_HARDWARE, stream);
}

static void write_series(const report *r, FILE *stream) {
    char count[32];
    if (r->series_count)
        fputs("## GB/s over elements\n\n| what | elements | GB/s |\n|---|---:|---:|\n", stream);
    for (size_t s = 0; s < r->series_count; s++)
        for (size_t i = 0; i < r->series[s]->count; i++) {
            fputs("| ", stream);
            write_text(r->series[s]->name, stream);
            fprintf(stream, " | %s | %.3g |\n", report_count_text((uint64_t)r->series[s]->x[i], count, sizeof count),
                    r->series[s]->y[i]);
        }
    if (r->series_count)
        fputc('\n', stream);
}

static void write_reference(const report_reference *reference, FILE *stream) {
    char seconds[32], rate[32];
    fputs("## For reference: ", stream);
    write_text(reference->source, stream);
    fputs(", ", stream);
    write_text(reference->machine, stream);
    fputs("\n\n| what | time | bandwidth |\n|---|---:|---:|\n", stream);
    for (size_t i = 0; i < reference->count; i++)
        fprintf(stream, "| %s | %s | %s |\n", reference->point[i].name,
                report_seconds_text(reference->point[i].seconds, seconds, sizeof seconds),
                report_rate_text(reference->point[i].bytes_per_second, rate, sizeof rate));
    fputc('\n', stream);
}

int report_write_markdown(const report *r, FILE *stream) {
    size_t count;
    fputs("# ", stream);
    write_text(r->title, stream);
    fputs("\n\n", stream);
    if (*r->subtitle) {
        write_text(r->subtitle, stream);
        fputs("\n\n", stream);
    }
    for (size_t i = 0; i < r->fact_count; i++) {
        fprintf(stream, "- %s: ", r->facts[i].name);
        write_text(r->facts[i].value, stream);
        fputc('\n', stream);
    }
    for (size_t i = 0; i < r->warning_count; i++) {
        fputs("- **warning:** ", stream);
        write_text(r->warnings[i], stream);
        fputc('\n', stream);
    }
    fputc('\n', stream);
    report_section *sections = report_sections(r, &count);
    for (size_t i = 0; i < count; i++)
        write_section(&sections[i], stream);
    report_sections_free(sections, count);
    write_series(r, stream);
    for (size_t i = 0; i < r->reference_count; i++)
        write_reference(&r->references[i], stream);
    return fflush(stream) != 0 || ferror(stream) ? -1 : 0;
}
