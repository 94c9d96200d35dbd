/* Rows gathered into sections, and what is said about them: one wording for the terminal, Markdown and HTML. */
#include "report/parts.h"

#include "program/memory.h"
#include "program/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------------------------------------------------ */

/* Three significant digits with the prefix that keeps 1 to 999 in front of the point. */
static void scaled_text(double value, const char *const *units, size_t count, char *text, size_t room) {
    size_t unit = 0;
    while (unit + 1 < count && value >= 999.5) {
        value /= 1000;
        unit++;
    }
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, room, "%.*f %s", decimals, value, units[unit]);
}

char *report_seconds_text(double seconds, char *text, size_t room) {
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    *text = '\0';
    if (seconds > 0)
        scaled_text(seconds * 1e9, units, 4, text, room);
    return text;
}

char *report_rate_text(double bytes_per_second, char *text, size_t room) {
    static const char *const units[] = {"MB/s", "GB/s", "TB/s"};
    *text = '\0';
    if (bytes_per_second > 0)
        scaled_text(bytes_per_second / 1e6, units, 3, text, room);
    return text;
}

char *report_ulp_text(double ulp, char *text, size_t room) {
    *text = '\0';
    if (ulp >= 0 && ulp < 999999.5)
        snprintf(text, room, "%.*f ulp", ulp == floor(ulp) || ulp >= 9.95 ? 0 : ulp >= 0.995 ? 1 : 2, ulp);
    else if (ulp >= 0)
        snprintf(text, room, "%.2g ulp", ulp);
    return text;
}

char *report_count_text(uint64_t n, char *text, size_t room) {
    static const char *const units[] = {"", " Ki", " Mi", " Gi", " Ti"};
    size_t unit = 0;
    while (unit < 4 && n && n % 1024 == 0) {
        n /= 1024;
        unit++;
    }
    snprintf(text, room, "%" PRIu64 "%s", n, units[unit]);
    return text;
}

double report_row_rate(const report_row *row) {
    return row->seconds > 0 ? (double)row->bytes / row->seconds : 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Verdicts
 * ------------------------------------------------------------------------------------------------------------------ */

const char *report_verdict_name(report_verdict verdict) {
    static const char *const names[] = {
        [REPORT_RIGHT] = "right", [REPORT_WITHIN_BOUND] = "within bound", [REPORT_WRONG] = "wrong",
        [REPORT_LUCKY] = "lucky", [REPORT_NOT_RUN] = "not run",           [REPORT_UNCHECKED] = "unchecked"};
    return names[verdict];
}

void report_finding_text(const report_row *row, char *text, size_t room) {
    char ulp[32] = "";
    if (row->verdict != REPORT_NOT_RUN && row->verdict != REPORT_UNCHECKED)
        report_ulp_text(row->ulp, ulp, sizeof ulp);
    snprintf(text, room, "%s%s%s", report_verdict_name(row->verdict), *ulp ? ", " : "", ulp);
}

void report_verdict_text(const report_row *row, char *text, size_t room) {
    int used = 0;
    switch (row->verdict) {
    case REPORT_WRONG:
        used = snprintf(text, room, "wrong: expected %s, got %s", row->expected, row->got);
        break;
    case REPORT_LUCKY:
        used = snprintf(text, room, "right here, by luck: not guaranteed");
        break;
    default:
        report_finding_text(row, text, room);
        used = (int)strlen(text);
    }
    if (*row->note && used >= 0 && (size_t)used < room && strcmp(row->note, text) != 0)
        snprintf(text + used, room - (size_t)used, "%s%s", row->verdict == REPORT_NOT_RUN ? ": " : "; ", row->note);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------------------------------------------------ */

static void write_name(const report_row *row, char *text, size_t room) {
    snprintf(text, room, "%s", row->name);
}

static void write_variant(const report_row *row, char *text, size_t room) {
    snprintf(text, room, "%s", row->variant);
}

static void write_language(const report_row *row, char *text, size_t room) {
    snprintf(text, room, "%s", row->language);
}

static void write_device(const report_row *row, char *text, size_t room) {
    snprintf(text, room, "%s", row->device);
}

static void write_time(const report_row *row, char *text, size_t room) {
    report_seconds_text(row->seconds, text, room);
}

static void write_spread(const report_row *row, char *text, size_t room) {
    if (row->seconds > 0)
        snprintf(text, room, "%.1f%%", 100 * row->spread);
}

/* Three digits, fewer behind a point where there are zeros in front. */
static void write_number(double number, char *text, size_t room) {
    if (number > 0 && number < 0.0995)
        snprintf(text, room, "%.2g", number);
    else if (number > 0)
        snprintf(text, room, "%.*f", number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2, number);
}

static void write_rate(const report_row *row, char *text, size_t room) {
    write_number(report_row_rate(row) / 1e9, text, room);
}

static void write_share(double share, char *text, size_t room) {
    if (share >= 0)
        snprintf(text, room, "%.*f%%", share < 0.0995 ? 1 : 0, 100 * share);
}

static void write_of_limit(const report_row *row, char *text, size_t room) {
    write_share(row->of_limit, text, room);
}

static void write_of_nominal(const report_row *row, char *text, size_t room) {
    write_share(row->of_nominal, text, room);
}

static void write_figure(measure_figure figure, double value, char *text, size_t room) {
    switch (measure_figures[figure].kind) {
    case MEASURE_COUNT:
        snprintf(text, room, "%.0f", value);
        break;
    case MEASURE_BYTES:
        program_size_text((uint64_t)value, text, room);
        break;
    case MEASURE_SHARE:
        snprintf(text, room, "%.0f%%", 100 * value);
        break;
    case MEASURE_COUNTER:
        snprintf(text, room, "%.4g", value);
        break;
    case MEASURE_RATIO:
        snprintf(text, room, "%.3f", value);
        break;
    case MEASURE_FACTOR:
        write_number(value, text, room);
        break;
    }
}

static const report_column name_columns[] = {
    {.heading = "what", .alignment = 'l', .write = write_name},
    {.heading = "how", .alignment = 'l', .write = write_variant},
    {.heading = "language", .alignment = 'l', .folds = true, .write = write_language},
    {.heading = "device", .alignment = 'l', .folds = true, .write = write_device},
};

static const report_column time_columns[] = {
    {.heading = "time", .alignment = 'r', .write = write_time},
    {.heading = "±", .alignment = 'r', .write = write_spread},
    {.heading = "GB/s", .alignment = 'r', .write = write_rate},
    {.heading = "of limit", .alignment = 'r', .write = write_of_limit},
    {.heading = "of nominal", .alignment = 'r', .write = write_of_nominal},
};

static const report_column verdict_column = {.heading = "result", .alignment = 'l', .write = report_verdict_text};

static report_column figure_column(size_t figure) {
    return (report_column){
        .heading = measure_figures[figure].heading, .alignment = 'r', .figure = (measure_figure)figure};
}

char *report_cell_text(const report_column *column, const report_row *row, char text[REPORT_CELL]) {
    *text = '\0';
    if (column->write) {
        column->write(row, text, REPORT_CELL);
    } else if (row->figure[column->figure] >= 0) {
        write_figure(column->figure, row->figure[column->figure], text, REPORT_CELL);
        size_t used = strlen(text);
        if (column->with_unit)
            snprintf(text + used, REPORT_CELL - used, " %s", measure_figures[column->figure].unit);
    }
    return text;
}

static bool is_same_everywhere(const report_column *column, const report_section *section) {
    char first[REPORT_CELL], other[REPORT_CELL];
    report_cell_text(column, section->rows[0], first);
    for (size_t i = 1; i < section->count; i++) {
        report_cell_text(column, section->rows[i], other);
        if (strcmp(first, other) != 0)
            return false;
    }
    return true;
}

static bool is_empty_everywhere(const report_column *column, const report_section *section) {
    char text[REPORT_CELL];
    report_cell_text(column, section->rows[0], text);
    return *text == '\0' && is_same_everywhere(column, section);
}

static size_t count_filled(const report_section *section, const report_column *column) {
    size_t filled = 0;
    char text[REPORT_CELL];
    for (size_t i = 0; i < section->count; i++)
        filled += *report_cell_text(column, section->rows[i], text) != '\0';
    return filled;
}

report_column report_ratio_column(const report_section *section) {
    static const measure_kind kinds[] = {MEASURE_RATIO, MEASURE_FACTOR};
    report_column best = {.heading = NULL};
    size_t most = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t f = 0; f < MEASURE_FIGURES; f++) {
            report_column column = figure_column(f);
            size_t filled = measure_figures[f].kind == kinds[k] ? count_filled(section, &column) : 0;
            if (filled > most) {
                most = filled;
                best = column;
            }
        }
    return best;
}

/* Adds those of some columns that say something about a section. */
static size_t add_columns(const report_section *section, const report_column *from, size_t count,
                          report_column *columns, size_t used) {
    for (size_t i = 0; i < count; i++) {
        bool folded = from[i].folds && is_same_everywhere(&from[i], section);
        if (!folded && !is_empty_everywhere(&from[i], section))
            columns[used++] = from[i];
    }
    return used;
}

static size_t add_figures(const report_section *section, measure_place place, report_column *columns, size_t used) {
    for (size_t f = 0; f < MEASURE_FIGURES; f++) {
        report_column column = figure_column(f);
        if (measure_figures[f].place == place)
            used = add_columns(section, &column, 1, columns, used);
    }
    return used;
}

size_t report_columns(const report_section *section, report_view view, report_column columns[REPORT_COLUMNS_MOST]) {
    size_t names = add_columns(section, name_columns, sizeof name_columns / sizeof *name_columns, columns, 0);
    size_t used = names;
    if (view == REPORT_RESULTS) {
        used = add_columns(section, time_columns, sizeof time_columns / sizeof *time_columns, columns, used);
        used = add_figures(section, MEASURE_RESULT, columns, used);
        used = add_columns(section, &verdict_column, 1, columns, used);
    } else {
        used = add_figures(section, MEASURE_LAUNCH, columns, used);
        used = add_figures(section, MEASURE_HARDWARE, columns, used);
    }
    return used > names ? used : 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sections
 * ------------------------------------------------------------------------------------------------------------------ */

static bool belongs(const report_section *section, const report_row *row) {
    const report_row *first = section->rows[0];
    return first->n == row->n && strcmp(first->type, row->type) == 0 && strcmp(first->group, row->group) == 0;
}

static void gather(report_section *section, const report_row *row) {
    double rate = report_row_rate(row);
    section->rows[section->count++] = row;
    if (rate > section->best)
        section->best = rate;
    if (row->seconds > section->slowest)
        section->slowest = row->seconds;
    /* Of several devices the greatest: every bar then fits. */
    if (rate > 0 && row->of_limit > 0 && rate / row->of_limit > section->limit)
        section->limit = rate / row->of_limit;
    if (rate > 0 && row->of_nominal > 0 && rate / row->of_nominal > section->nominal)
        section->nominal = rate / row->of_nominal;
}

report_section *report_sections(const report *r, size_t *count) {
    report_section *sections = program_allocate(r->row_count * sizeof *sections);
    *count = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        size_t s = 0;
        while (s < *count && !belongs(&sections[s], &r->rows[i]))
            s++;
        if (s == *count)
            sections[(*count)++] = (report_section){.rows = program_allocate(r->row_count * sizeof(report_row *))};
        gather(&sections[s], &r->rows[i]);
    }
    return sections;
}

void report_sections_free(report_section *sections, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(sections[i].rows);
    free(sections);
}

/* "16 MiB" where every row reads as much, "" otherwise. */
static const char *common_size(const report_section *section, char *text, size_t room) {
    for (size_t i = 1; i < section->count; i++) {
        if (section->rows[i]->bytes != section->rows[0]->bytes)
            return "";
    }
    return program_size_text(section->rows[0]->bytes, text, room);
}

char *report_section_text(const report_section *section, char *text, size_t room) {
    const report_row *row = section->rows[0];
    char count[32], buffer[32];
    const char *size = common_size(section, buffer, sizeof buffer);
    int used = snprintf(text, room, "%s", row->group);
    if (*row->type) /* else its rows say themselves what they are about */
        used = snprintf(text, room, "%s: %s, %s elements%s%s", row->group, row->type,
                        report_count_text(row->n, count, sizeof count), *size ? ", " : "", size);
    for (size_t i = 0; i < sizeof name_columns / sizeof *name_columns; i++) {
        char cell[REPORT_CELL];
        report_cell_text(&name_columns[i], row, cell);
        if (name_columns[i].folds && *cell && is_same_everywhere(&name_columns[i], section) && (size_t)used < room)
            used += snprintf(text + used, room - (size_t)used, ", %s", cell);
    }
    return text;
}

static void append(char *text, size_t room, const char *more) {
    size_t used = strlen(text);
    if (*more && used < room)
        snprintf(text + used, room - used, "%s%s", used ? ", " : "", more);
}

static void write_note(const report_row *row, char *text, size_t room) {
    snprintf(text, room, "%s", row->note);
}

/* Rows of which the first `count` columns say the same as of this one: itself, and what it could be taken for. */
static size_t count_alike(const report_section *section, const report_row *row, const report_column *columns,
                          size_t count) {
    size_t alike = 0;
    for (size_t i = 0; i < section->count; i++) {
        bool same = true;
        for (size_t c = 0; same && c < count; c++) {
            char mine[REPORT_CELL], other[REPORT_CELL];
            report_cell_text(&columns[c], row, mine);
            report_cell_text(&columns[c], section->rows[i], other);
            same = strcmp(mine, other) == 0;
        }
        alike += same;
    }
    return alike;
}

/* What may tell rows apart, in this order: the columns of names, figures that have a unit, the note. */
static size_t detail_columns(report_column columns[REPORT_COLUMNS_MOST]) {
    size_t count = sizeof name_columns / sizeof *name_columns;
    memcpy(columns, name_columns, sizeof name_columns);
    for (size_t f = 0; f < MEASURE_FIGURES; f++)
        if (measure_figures[f].unit) {
            columns[count] = figure_column(f);
            columns[count++].with_unit = true;
        }
    columns[count++] = (report_column){.write = write_note};
    return count;
}

char *report_detail_text(const report_section *section, const report_row *row, char *text, size_t room) {
    report_column columns[REPORT_COLUMNS_MOST];
    enum { ALWAYS = 2, NAMES = sizeof name_columns / sizeof *name_columns };
    size_t count = detail_columns(columns);
    char cell[REPORT_CELL];
    *text = '\0';
    for (size_t i = 1; i < count; i++) {
        bool says = i < ALWAYS || (i < NAMES && !is_same_everywhere(&columns[i], section)) ||
                    (i >= NAMES && count_alike(section, row, columns, i) > count_alike(section, row, columns, i + 1));
        if (says)
            append(text, room, report_cell_text(&columns[i], row, cell));
    }
    return text;
}

double report_section_scale(const report_section *section) {
    double scale = section->best;
    scale = section->limit > scale ? section->limit : scale;
    return section->nominal > scale ? section->nominal : scale;
}
