/* What the writers of reports share: the model's inside, rows gathered into sections, columns of tables, numbers as text.
 * Only for the .c files of report/. */
#ifndef REPORT_REPORT_PARTS_H
#define REPORT_REPORT_PARTS_H

#include "report/report.h"

#include <stdbool.h>

typedef struct report_pair {
    char *name, *value;
} report_pair;

struct report {
    char *title, *subtitle, *featured; /* featured: a group, or null */
    report_pair *facts;
    char **warnings;
    report_row *rows;
    report_series **series; /* each in memory of its own, since callers hold on to them */
    report_reference *references;
    size_t fact_count, warning_count, row_count, series_count, reference_count;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Sections: rows of the same group, element type and number of elements, which can be compared
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct report_section {
    const report_row **rows;
    size_t count;
    double limit, nominal; /* bytes per second, as the rows' shares of them tell; 0 if they do not */
    double best;           /* the greatest bytes per second */
    double slowest;        /* the longest seconds */
} report_section;

/* All sections, in the order in which they began; `*count` of them. Free with report_sections_free(). */
report_section *report_sections(const report *r, size_t *count);
void report_sections_free(report_section *sections, size_t count);

/* "rungs: f32, 4 Mi elements, 16 MiB, cuda:0": what the rows of a section have in common. Returns `text`. */
char *report_section_text(const report_section *section, char *text, size_t room);

/* What tells a row from all others of its section, besides its name: "exact, cpu:avx2 x 2 threads". Returns `text`. */
char *report_detail_text(const report_section *section, const report_row *row, char *text, size_t room);

/* The scale of bars of bandwidth: the limits and every row fit. */
double report_section_scale(const report_section *section);

/* Bytes per second; 0 if not known. */
double report_row_rate(const report_row *row);

/* ---------------------------------------------------------------------------------------------------------------------
 * Columns of the tables that people read
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct report_column {
    const char *heading;
    char alignment; /* 'l' or 'r' */
    bool folds;     /* said in the section's heading when it is the same in every row */
    void (*write)(const report_row *row, char *text, size_t room); /* empty if not known; null for a figure: */
    measure_figure figure;
    bool with_unit; /* as a figure has in a sentence */
} report_column;

enum { REPORT_COLUMNS_MOST = 10 + MEASURE_FIGURES, REPORT_CELL = 320 };

/* What a row has in a column. Returns `text`. */
char *report_cell_text(const report_column *column, const report_row *row, char text[REPORT_CELL]);

/* Which table of a section. */
typedef enum report_view {
    REPORT_RESULTS, /* time, bandwidth, verdict */
    REPORT_HARDWARE /* how kernels were launched and what they use */
} report_view;

/* The columns of a view that say something about this section: at most REPORT_COLUMNS_MOST; 0 if there is nothing but
 * names to show. The last column of the results is the verdict. */
size_t report_columns(const report_section *section, report_view view, report_column columns[REPORT_COLUMNS_MOST]);

/* The column that compares most of a section's rows, of ratios first, then of factors; without a heading if there is none. */
report_column report_ratio_column(const report_section *section);

/* ---------------------------------------------------------------------------------------------------------------------
 * Text
 * ------------------------------------------------------------------------------------------------------------------ */

/* Each writes and returns `text`; empty where there is nothing to tell. */
char *report_seconds_text(double seconds, char *text, size_t room);       /* "4.94 µs" */
char *report_rate_text(double bytes_per_second, char *text, size_t room); /* "4.65 TB/s" */

/* In few words: "within bound, 3 ulp". */
void report_finding_text(const report_row *row, char *text, size_t room);

/* A sentence: "within bound, 3 ulp", "wrong: expected 5, got 4", with the row's note. */
void report_verdict_text(const report_row *row, char *text, size_t room);

/* ---------------------------------------------------------------------------------------------------------------------
 * Fields of a row for programs: JSON and CSV
 * ------------------------------------------------------------------------------------------------------------------ */

typedef enum report_value_kind { REPORT_NOTHING, REPORT_TEXT, REPORT_WHOLE, REPORT_REAL } report_value_kind;
typedef struct report_value {
    report_value_kind kind;
    const char *text;
    uint64_t whole;
    double real;
} report_value;

/* The name and value of field i of a row; null beyond the last. */
const char *report_field(const report_row *row, size_t i, report_value *value);

/* ---------------------------------------------------------------------------------------------------------------------
 * Charts in HTML
 * ------------------------------------------------------------------------------------------------------------------ */

/* Text in HTML, with what has a meaning there escaped. */
void report_html_text(const char *text, FILE *stream);

/* A verdict as a class of elements: "within-bound". */
const char *report_verdict_class(report_verdict verdict);

/* The style sheet. */
void report_html_style(FILE *stream);

/* Time and bandwidth of the rows of a section. */
void report_html_bars(const report_section *section, FILE *stream);

/* A chart for all series whose names end in the same word. */
void report_html_series(const report *r, FILE *stream);

/* The published figures beside this run: a chart for each section of the first group, so for each type and size. */
void report_html_references(const report *r, const report_section *sections, size_t count, FILE *stream);

#endif
