/* The charts of the HTML page. Bars, dots and labels are elements placed in percent, so that text keeps its size while
 * the chart takes the width there is; curves are an SVG stretched behind the labels. */
#include "report/parts.h"

#include "program/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hues follow the order of the series, so that neighbours have similar colours. */
static int hue_of(size_t i, size_t count) {
    return (int)(275 - 255 * (double)i / (double)(count > 1 ? count - 1 : 1) + 360) % 360;
}

/* A round rate, without the zeros behind its point. */
static char *tick_text(double bytes_per_second, char *text, size_t room) {
    report_rate_text(bytes_per_second, text, room);
    char *point = strchr(text, '.'), *space = strchr(text, ' '), *end = space;
    if (!point || !space)
        return text;
    while (end[-1] == '0')
        end--;
    end -= end[-1] == '.';
    memmove(end, space, strlen(space) + 1);
    return text;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Bars: time and bandwidth of a section, side by side behind one name
 * ------------------------------------------------------------------------------------------------------------------ */

/* A limit in the heading of the bars, its name to the left of the line. */
static void write_limit_name(const char *style, const char *name, double limit, double scale, FILE *stream) {
    char rate[32];
    if (limit > 0)
        fprintf(stream,
                "<div class=\"row head\"><span class=\"track rate\"><em class=\"%s\" style=\"left:%.2f%%\">%s "
                "%s</em></span></div>\n",
                style, 100 * limit / scale, name, report_rate_text(limit, rate, sizeof rate));
}

static void write_limit_line(const char *style, double limit, double scale, FILE *stream) {
    if (limit > 0)
        fprintf(stream, "<i class=\"%s\" style=\"left:%.2f%%\"></i>", style, 100 * limit / scale);
}

static void write_small(const char *text, FILE *stream) {
    if (!*text)
        return;
    fputs(" <small>", stream);
    report_html_text(text, stream);
    fputs("</small>", stream);
}

static void write_name(const report_section *section, const report_row *row, FILE *stream) {
    char detail[REPORT_CELL];
    fputs("<span class=\"label\">", stream);
    report_html_text(row->name, stream);
    write_small(report_detail_text(section, row, detail, sizeof detail), stream);
    fputs("</span>", stream);
}

/* What a row costs beside others, and what came out. */
static void write_outcome(const report_row *row, const report_column *ratio, FILE *stream) {
    char text[REPORT_CELL] = "";
    if (ratio->heading)
        report_cell_text(ratio, row, text);
    fputs("<span class=\"value ratio\">", stream);
    report_html_text(text, stream);
    write_small(*text ? ratio->heading : "", stream); /* for screens too narrow for a heading */
    report_finding_text(row, text, sizeof text);
    fputs("</span><span class=\"verdict\">", stream);
    report_html_text(text, stream);
    fputs("</span>", stream);
}

/* `begins`: on another device or in another language than the row above. */
static void write_bars(const report_section *section, const report_row *row, const report_column *ratio, bool begins,
                       FILE *stream) {
    char text[32];
    double scale = report_section_scale(section), rate = report_row_rate(row);
    fprintf(stream, "<div class=\"row %s%s\">", report_verdict_class(row->verdict), begins ? " begins" : "");
    write_name(section, row, stream);
    fprintf(stream,
            "<span class=\"track time\"><b style=\"width:%.2f%%\"></b></span><span class=\"value time\">%s</span>",
            100 * row->seconds / section->slowest, report_seconds_text(row->seconds, text, sizeof text));
    fprintf(stream, "<span class=\"track rate\"><b style=\"width:%.2f%%\"></b>", 100 * rate / scale);
    write_limit_line("nominal", section->nominal, scale, stream);
    write_limit_line("limit", section->limit, scale, stream);
    fprintf(stream, "</span><span class=\"value rate\">%s</span>", report_rate_text(rate, text, sizeof text));
    write_outcome(row, ratio, stream);
    fputs("</div>\n", stream);
}

void report_html_bars(const report_section *section, FILE *stream) {
    double scale = report_section_scale(section);
    const report_column ratio = report_ratio_column(section);
    const report_row *above = NULL;
    if (section->best == 0)
        return;
    fprintf(stream,
            "<div class=\"bars\" role=\"img\" aria-label=\"Time and bandwidth, as in the table below\">\n"
            "<div class=\"row head\"><span class=\"title time\">time</span><span class=\"title rate\">bandwidth</span>"
            "<span class=\"title ratio\">%s</span><span class=\"title verdict\">result</span></div>\n",
            ratio.heading ? ratio.heading : "");
    write_limit_name("nominal", "nominal", section->nominal, scale, stream);
    write_limit_name("limit", "read limit", section->limit, scale, stream);
    for (size_t i = 0; i < section->count; i++) {
        const report_row *row = section->rows[i];
        if (row->seconds <= 0)
            continue;
        bool begins = above && (strcmp(above->device, row->device) != 0 || strcmp(above->language, row->language) != 0);
        write_bars(section, row, &ratio, begins, stream);
        above = row;
    }
    fputs("</div>\n", stream);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Curves: bandwidth over elements, a chart for all series whose names end in the same word
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct plot {
    const report_series **series;
    size_t count;
    const char *word;   /* that the names end in */
    double least, most; /* of log2 of the elements */
    double top;         /* of GB/s: a round number */
    double step;        /* between its ticks */
} plot;

static const char *last_word(const char *name) {
    const char *space = strrchr(name, ' ');
    return space ? space + 1 : "";
}

/* The name without the word that all have in common. */
static void write_series_name(const report_series *series, FILE *stream) {
    char name[sizeof series->name];
    snprintf(name, sizeof name, "%s", series->name);
    char *space = strrchr(name, ' ');
    if (space)
        *space = '\0';
    report_html_text(name, stream);
}

/* The largest of 1, 2 and 5 times a power of ten that gives at least four steps up to `most`. */
static double round_step(double most) {
    double power = pow(10, floor(log10(most / 4)));
    double times = most / 4 / power;
    return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}

/* The series that end like number `first`; `p->series` has room for all. */
static void frame(const report *r, size_t first, plot *p) {
    double best = 0;
    p->word = last_word(r->series[first]->name);
    p->count = 0;
    p->least = INFINITY;
    p->most = -INFINITY;
    p->top = 0;
    for (size_t s = first; s < r->series_count; s++) {
        const report_series *series = r->series[s];
        if (strcmp(last_word(series->name), p->word) != 0 || series->count == 0)
            continue;
        p->series[p->count++] = series;
        for (size_t i = 0; i < series->count; i++) {
            double x = log2(fmax(series->x[i], 1));
            p->least = fmin(p->least, x);
            p->most = fmax(p->most, x);
            best = fmax(best, series->y[i]);
        }
    }
    if (best > 0) {
        p->step = round_step(best);
        p->top = p->step * ceil(best / p->step);
    }
}

static double left_of(const plot *p, double elements) {
    return 100 * (log2(fmax(elements, 1)) - p->least) / (p->most - p->least);
}

static void write_axes(const plot *p, FILE *stream) {
    char text[32];
    for (double y = 0; y <= p->top * 1.0001; y += p->step)
        fprintf(stream, "<span class=\"y\" style=\"bottom:%.2f%%\"><em>%s</em></span>", 100 * y / p->top,
                y > 0 ? tick_text(y * 1e9, text, sizeof text) : "0");
    int least = (int)ceil(p->least), most = (int)floor(p->most), stride = (most - least) / 12 + 1;
    for (int x = least; x <= most; x += stride)
        fprintf(stream, "<span class=\"x%s\" style=\"left:%.2f%%\"><em>%s</em></span>",
                (x - least) / stride % 2 ? " odd" : "", 100 * (x - p->least) / (p->most - p->least),
                report_count_text((uint64_t)1 << x, text, sizeof text));
    fputc('\n', stream);
}

/* A line, and a dot at each point: a stroke of no length with round ends stays round however the chart is stretched. */
static void write_curve(const plot *p, size_t which, FILE *stream) {
    const report_series *series = p->series[which];
    fprintf(stream, "<g style=\"--h:%d\"><title>", hue_of(which, p->count));
    write_series_name(series, stream);
    fputs("</title><path class=\"curve\" d=\"", stream);
    for (size_t i = 0; i < series->count; i++)
        fprintf(stream, "%c%.3f %.3f", i ? 'L' : 'M', left_of(p, series->x[i]), 100 - 100 * series->y[i] / p->top);
    fputs("\"/><path class=\"points\" d=\"", stream);
    for (size_t i = 0; i < series->count; i++)
        fprintf(stream, "M%.3f %.3fh0", left_of(p, series->x[i]), 100 - 100 * series->y[i] / p->top);
    fputs("\"/></g>\n", stream);
}

/* Names that fit beside a chart of the usual height; more make it higher, as style.c says. */
enum { LABELS = 22 };

typedef struct end_label {
    size_t which;
    double bottom; /* percent */
} end_label;

static int compare_labels(const void *a, const void *b) {
    double x = ((const end_label *)a)->bottom, y = ((const end_label *)b)->bottom;
    return (x > y) - (x < y);
}

/* Names at the ends of the curves, pushed apart where they would overlap: up from the lowest, then down from the top. */
static void write_end_labels(const plot *p, FILE *stream) {
    const double gap = p->count > LABELS ? 100.0 / (double)p->count : 100.0 / LABELS, top = 100;
    end_label *labels = program_allocate(p->count * sizeof *labels);
    for (size_t i = 0; i < p->count; i++)
        labels[i] = (end_label){i, 100 * p->series[i]->y[p->series[i]->count - 1] / p->top};
    qsort(labels, p->count, sizeof *labels, compare_labels);
    for (size_t i = 1; i < p->count; i++)
        labels[i].bottom = fmax(labels[i].bottom, labels[i - 1].bottom + gap);
    labels[p->count - 1].bottom = fmin(labels[p->count - 1].bottom, top);
    for (size_t i = p->count; i-- > 1;)
        labels[i - 1].bottom = fmin(labels[i - 1].bottom, labels[i].bottom - gap);
    for (size_t i = 0; i < p->count; i++) {
        fprintf(stream, "<span class=\"end\" style=\"bottom:%.2f%%;--h:%d\">", labels[i].bottom,
                hue_of(labels[i].which, p->count));
        write_series_name(p->series[labels[i].which], stream);
        fputs("</span>\n", stream);
    }
    free(labels);
}

/* The names once more, for screens too narrow for labels at the curves' ends. */
static void write_legend(const plot *p, FILE *stream) {
    fputs("<p class=\"legend narrow\">", stream);
    for (size_t i = 0; i < p->count; i++) {
        fprintf(stream, "<span style=\"--h:%d\">", hue_of(i, p->count));
        write_series_name(p->series[i], stream);
        fputs("</span> ", stream);
    }
    fputs("</p>\n", stream);
}

static void write_plot(const plot *p, FILE *stream) {
    fprintf(stream, "<section>\n<h2>Bandwidth over the number of elements%s", *p->word ? ": " : "");
    report_html_text(p->word, stream);
    fprintf(stream, "</h2>\n<figure><div class=\"area\" style=\"--names:%zu\">\n", p->count);
    write_axes(p, stream);
    fputs("<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" role=\"img\" "
          "aria-label=\"Bandwidth over the number of elements\">\n",
          stream);
    for (size_t i = 0; i < p->count; i++)
        write_curve(p, i, stream);
    fputs("</svg>\n", stream);
    write_end_labels(p, stream);
    fputs("</div></figure>\n", stream);
    write_legend(p, stream);
    fputs("</section>\n", stream);
}

void report_html_series(const report *r, FILE *stream) {
    plot p = {.series = program_allocate(r->series_count * sizeof(report_series *))};
    for (size_t s = 0; s < r->series_count; s++) {
        size_t before = 0;
        while (before < s && strcmp(last_word(r->series[before]->name), last_word(r->series[s]->name)) != 0)
            before++;
        if (before < s)
            continue; /* in a chart that has been written */
        frame(r, s, &p);
        if (p.top > 0 && p.most > p.least)
            write_plot(&p, stream);
    }
    free(p.series);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Dots: this run beside published figures, on a logarithmic scale of bandwidth
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct dots {
    const report *r;
    const report_section *ours; /* may be null */
    char (*names)[40];          /* of the lines: ours first, then what only the references have */
    size_t count;
    double least, most; /* of log10 of bytes per second, whole decades */
} dots;

static void add_name(dots *d, const char *name) {
    for (size_t i = 0; i < d->count; i++) {
        if (strcmp(d->names[i], name) == 0)
            return;
    }
    d->names = program_reallocate(d->names, (d->count + 1) * sizeof *d->names);
    snprintf(d->names[d->count++], sizeof *d->names, "%s", name);
}

static void stretch(dots *d, double rate) {
    if (rate > 0) {
        d->least = fmin(d->least, floor(log10(rate)));
        d->most = fmax(d->most, ceil(log10(rate)));
    }
}

static dots gather(const report *r, const report_section *ours) {
    dots d = {.r = r, .ours = ours, .least = INFINITY, .most = -INFINITY};
    for (size_t i = 0; ours && i < ours->count; i++) {
        if (report_row_rate(ours->rows[i]) > 0)
            add_name(&d, ours->rows[i]->name);
        stretch(&d, report_row_rate(ours->rows[i]));
    }
    for (size_t i = 0; i < r->reference_count; i++)
        for (size_t p = 0; p < r->references[i].count; p++) {
            add_name(&d, r->references[i].point[p].name);
            stretch(&d, r->references[i].point[p].bytes_per_second);
        }
    return d;
}

/* Sources are told apart by colour and by shape. */
static void write_mark(size_t source, size_t sources, FILE *stream) {
    static const char *const shapes[] = {"square", "diamond", "ring", "slat"};
    fprintf(stream, "class=\"%s\" style=\"--h:%d", shapes[source % 4], hue_of(source, sources));
}

static void write_dot(const dots *d, double rate, FILE *stream) {
    fprintf(stream, ";left:%.2f%%\"></i>", 100 * (log10(rate) - d->least) / (d->most - d->least));
}

static void write_dot_line(const dots *d, const char *name, FILE *stream) {
    fputs("<div class=\"row\"><span class=\"label\">", stream);
    report_html_text(name, stream);
    fputs("</span><span class=\"track\">", stream);
    for (double decade = d->least; decade <= d->most; decade++)
        fprintf(stream, "<i class=\"grid\" style=\"left:%.2f%%\"></i>",
                100 * (decade - d->least) / (d->most - d->least));
    for (size_t i = 0; i < d->r->reference_count; i++) {
        const report_reference *reference = &d->r->references[i];
        for (size_t p = 0; p < reference->count; p++) {
            if (strcmp(reference->point[p].name, name) != 0 || !(reference->point[p].bytes_per_second > 0))
                continue;
            fputs("<i ", stream);
            write_mark(i, d->r->reference_count, stream);
            write_dot(d, reference->point[p].bytes_per_second, stream);
        }
    }
    for (size_t i = 0; d->ours && i < d->ours->count; i++) {
        if (strcmp(d->ours->rows[i]->name, name) == 0 && report_row_rate(d->ours->rows[i]) > 0) {
            fputs("<i class=\"ours\" style=\"", stream);
            write_dot(d, report_row_rate(d->ours->rows[i]), stream);
        }
    }
    fputs("</span></div>\n", stream);
}

static const char *heading_of(const report_reference *reference, char *text, size_t room) {
    snprintf(text, room, "%s, %s", reference->source, reference->machine);
    return text;
}

static void write_sources(const report *r, bool ours, FILE *stream) {
    char text[REPORT_CELL];
    fputs("<p class=\"legend\">", stream);
    if (ours)
        fputs("<span><i class=\"ours\"></i>this run</span> ", stream);
    for (size_t i = 0; i < r->reference_count; i++) {
        fputs("<span><i ", stream);
        write_mark(i, r->reference_count, stream);
        fputs("\"></i>", stream);
        report_html_text(heading_of(&r->references[i], text, sizeof text), stream);
        fputs("</span> ", stream);
    }
    fputs("</p>\n", stream);
}

static void write_reference_cell(const report_reference *reference, const char *name, FILE *stream) {
    char text[32];
    fputs("<td class=\"r\">", stream);
    for (size_t p = 0; p < reference->count; p++) {
        if (strcmp(reference->point[p].name, name) != 0)
            continue;
        if (reference->point[p].seconds > 0)
            fprintf(stream, "%s<br>", report_seconds_text(reference->point[p].seconds, text, sizeof text));
        fprintf(stream, "<small>%s</small>", report_rate_text(reference->point[p].bytes_per_second, text, sizeof text));
    }
    fputs("</td>", stream);
}

static bool is_referred_to(const report *r, const char *name) {
    for (size_t i = 0; i < r->reference_count; i++)
        for (size_t p = 0; p < r->references[i].count; p++) {
            if (strcmp(r->references[i].point[p].name, name) == 0)
                return true;
        }
    return false;
}

/* Each source's figures as it gave them, one column per source. */
static void write_reference_table(const dots *d, FILE *stream) {
    char text[160];
    fputs("<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\" scope=\"col\">what</th>", stream);
    for (size_t i = 0; i < d->r->reference_count; i++) {
        fputs("<th class=\"r wraps\" scope=\"col\">", stream);
        report_html_text(heading_of(&d->r->references[i], text, sizeof text), stream);
        fputs("</th>", stream);
    }
    fputs("</tr></thead>\n<tbody>\n", stream);
    for (size_t line = 0; line < d->count; line++) {
        if (!is_referred_to(d->r, d->names[line]))
            continue;
        fputs("<tr><td class=\"l\">", stream);
        report_html_text(d->names[line], stream);
        fputs("</td>", stream);
        for (size_t i = 0; i < d->r->reference_count; i++)
            write_reference_cell(&d->r->references[i], d->names[line], stream);
        fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div>\n", stream);
}

/* Dots of one section, which may be null, and of the references, on that scale. */
static void write_dots(const dots *scale, const report_section *ours, FILE *stream) {
    char text[REPORT_CELL];
    dots d = gather(scale->r, ours);
    d.least = scale->least;
    d.most = scale->most;
    fputs("<figure><figcaption>", stream);
    if (ours) {
        report_html_text(report_section_text(ours, text, sizeof text), stream);
        fputs(": ", stream);
    }
    fputs("bandwidth (logarithmic: each line is ten times the one before)</figcaption>\n<div class=\"dotted\">\n"
          "<div class=\"row head\"><span class=\"track\">",
          stream);
    for (double decade = d.least; decade <= d.most; decade++)
        fprintf(stream, "<em class=\"decade\" style=\"left:%.2f%%\">%s</em>",
                100 * (decade - d.least) / (d.most - d.least), tick_text(pow(10, decade), text, sizeof text));
    fputs("</span></div>\n", stream);
    for (size_t i = 0; i < d.count; i++)
        write_dot_line(&d, d.names[i], stream);
    fputs("</div></figure>\n", stream);
    free(d.names);
}

/* Sections of the first group, of which something was timed. */
static bool is_charted(const report_section *sections, size_t i) {
    return sections[i].best > 0 && strcmp(sections[i].rows[0]->group, sections[0].rows[0]->group) == 0;
}

void report_html_references(const report *r, const report_section *sections, size_t count, FILE *stream) {
    size_t charts = 0;
    dots all = gather(r, NULL);
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; is_charted(sections, i) && row < sections[i].count; row++)
            stretch(&all, report_row_rate(sections[i].rows[row]));
    if (all.most > all.least) {
        fputs("<section>\n<h2>Beside published figures</h2>\n", stream);
        for (size_t i = 0; i < count; i++) {
            if (is_charted(sections, i)) {
                write_dots(&all, &sections[i], stream);
                charts++;
            }
        }
        if (!charts)
            write_dots(&all, NULL, stream);
        write_sources(r, charts > 0, stream);
        write_reference_table(&all, stream);
        fputs("</section>\n", stream);
    }
    free(all.names);
}
