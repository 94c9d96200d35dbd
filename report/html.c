/* Reports as one HTML page that needs nothing else: no script, no font, no request. It follows the reader's choice of
 * dark or light, and folds for a phone. Charts are in charts.c, their looks in style.c. */
#include "report/parts.h"

#include <string.h>

void report_html_text(const char *text, FILE *stream) {
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", stream);
            break;
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            fputc(*text, stream);
        }
    }
}

const char *report_verdict_class(report_verdict verdict) {
    static const char *const classes[] = {
        [REPORT_RIGHT] = "right", [REPORT_WITHIN_BOUND] = "within-bound", [REPORT_WRONG] = "wrong",
        [REPORT_LUCKY] = "lucky", [REPORT_NOT_RUN] = "not-run",           [REPORT_UNCHECKED] = "unchecked"};
    return classes[verdict];
}

static void write_element(const char *open, const char *text, const char *close, FILE *stream) {
    fputs(open, stream);
    report_html_text(text, stream);
    fputs(close, stream);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The most important figures
 * ------------------------------------------------------------------------------------------------------------------ */

static void write_tile(const char *figure, const char *style, const char *text, FILE *stream) {
    fprintf(stream, "<div class=\"tile%s\">", style);
    write_element("<strong>", figure, "</strong>", stream);
    write_element("<span>", text, "</span></div>\n", stream);
}

static const report_row *fastest(const report_section *section) {
    const report_row *best = NULL;
    for (size_t i = 0; i < section->count; i++) {
        const report_row *row = section->rows[i];
        if (report_verdict_is_good(row->verdict) && row->seconds > 0 && (!best || row->seconds < best->seconds))
            best = row;
    }
    return best;
}

static void write_verdict_tile(const report_section *section, FILE *stream) {
    size_t right = 0, within = 0, wrong = 0;
    char figure[64];
    for (size_t i = 0; i < section->count; i++) {
        right += section->rows[i]->verdict == REPORT_RIGHT;
        within += section->rows[i]->verdict == REPORT_WITHIN_BOUND;
        wrong += section->rows[i]->verdict == REPORT_WRONG;
    }
    snprintf(figure, sizeof figure, "%zu of %zu", right + within, right + within + wrong);
    write_tile(figure, wrong ? " bad" : " good", within ? "results right or within bound" : "results are right",
               stream);
}

static void write_tiles(const report_section *section, FILE *stream) {
    const report_row *best = fastest(section), *first = section->rows[0];
    char figure[64], text[128];
    if (!best)
        return;
    fputs("<div class=\"tiles\">\n", stream);
    snprintf(text, sizeof text, "%s, the fastest", best->name);
    write_tile(report_rate_text(report_row_rate(best), figure, sizeof figure), "", text, stream);
    if (best->of_limit > 0) {
        snprintf(figure, sizeof figure, "%.0f%%", 100 * best->of_limit);
        write_tile(figure, "", "of the measured read limit", stream);
    }
    if (best != first && first->seconds > 0) {
        snprintf(figure, sizeof figure, "%.3g×", first->seconds / best->seconds);
        snprintf(text, sizeof text, "as fast as %s", first->name);
        write_tile(figure, "", text, stream);
    }
    write_verdict_tile(section, stream);
    fputs("</div>\n", stream);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------------------------------------------------ */

static void write_view(const report_section *section, report_view view, FILE *stream) {
    report_column columns[REPORT_COLUMNS_MOST];
    size_t count = report_columns(section, view, columns);
    if (count == 0)
        return;
    fputs("<div class=\"scroll\"><table>\n<thead><tr>", stream);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "<th class=\"%c\" scope=\"col\">%s</th>", columns[i].alignment, columns[i].heading);
    fputs("</tr></thead>\n<tbody>\n", stream);
    for (size_t row = 0; row < section->count; row++) {
        fprintf(stream, "<tr class=\"%s\">", report_verdict_class(section->rows[row]->verdict));
        for (size_t i = 0; i < count; i++) {
            char text[REPORT_CELL] = "", open[64];
            report_cell_text(&columns[i], section->rows[row], text);
            snprintf(open, sizeof open, "<td class=\"%c%s\">", columns[i].alignment,
                     columns[i].write == report_verdict_text ? " verdict" : "");
            write_element(open, text, "</td>", stream);
        }
        fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div>\n", stream);
}

/* Behind a click, which its headings promise. */
static void write_hardware(const report_section *section, FILE *stream) {
    report_column columns[REPORT_COLUMNS_MOST];
    size_t count = report_columns(section, REPORT_HARDWARE, columns);
    if (count == 0)
        return;
    fputs("<details><summary>Of the kernels: ", stream);
    for (size_t i = 0, said = 0; i < count; i++)
        if (!columns[i].write) {
            fputs(said++ ? ", " : "", stream);
            report_html_text(columns[i].heading, stream);
        }
    fputs("</summary>\n", stream);
    write_view(section, REPORT_HARDWARE, stream);
    fputs("</details>\n", stream);
}

static void write_section(const report *r, const report_section *section, FILE *stream) {
    char text[REPORT_CELL];
    fputs("<section>\n", stream);
    write_element("<h2>", report_section_text(section, text, sizeof text), "</h2>\n", stream);
    if (r->featured && strcmp(section->rows[0]->group, r->featured) == 0)
        write_tiles(section, stream);
    report_html_bars(section, stream);
    write_view(section, REPORT_RESULTS, stream);
    write_hardware(section, stream);
    fputs("</section>\n", stream);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The page
 * ------------------------------------------------------------------------------------------------------------------ */

static void write_head(const report *r, FILE *stream) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n",
          stream);
    write_element("<title>", r->title, "</title>\n", stream);
    fputs("<style>\n", stream);
    report_html_style(stream);
    fputs("</style>\n</head>\n<body>\n<main>\n<header>\n", stream);
    write_element("<h1>", r->title, "</h1>\n", stream);
    if (*r->subtitle)
        write_element("<p>", r->subtitle, "</p>\n", stream);
    fputs("</header>\n", stream);
    for (size_t i = 0; i < r->warning_count; i++)
        write_element("<p class=\"warning\"><strong>Warning:</strong> ", r->warnings[i], "</p>\n", stream);
}

static void write_facts(const report *r, FILE *stream) {
    if (r->fact_count == 0)
        return;
    fputs("<section>\n<h2>Measured on</h2>\n<dl>\n", stream);
    for (size_t i = 0; i < r->fact_count; i++) {
        write_element("<dt>", r->facts[i].name, "</dt>", stream);
        write_element("<dd>", r->facts[i].value, "</dd>\n", stream);
    }
    fputs("</dl>\n</section>\n", stream);
}

int report_write_html(const report *r, FILE *stream) {
    size_t count;
    write_head(r, stream);
    report_section *sections = report_sections(r, &count);
    for (size_t i = 0; i < count; i++)
        write_section(r, &sections[i], stream);
    report_html_series(r, stream);
    if (r->reference_count)
        report_html_references(r, sections, count, stream);
    report_sections_free(sections, count);
    write_facts(r, stream);
    fputs("</main>\n</body>\n</html>\n", stream);
    return fflush(stream) != 0 || ferror(stream) ? -1 : 0;
}

int report_write_file(const report *r, report_writer *write, const char *path) {
    FILE *file = fopen(path, "w");
    int failed = !file || write(r, file) != 0;
    failed = (file && fclose(file) != 0) || failed;
    return failed ? -1 : 0;
}

int report_write_page(const report *r, const char *path) {
    return report_write_file(r, report_write_html, path);
}
