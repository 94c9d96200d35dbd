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

static void write_block(const report_row *row, char *text, size_t room) {
    if (row->block)
        snprintf(text, room, "%u", row->block);
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

static void write_speedup(const report_row *row, char *text, size_t room) {
    write_number(row->speedup, text, room);
}

static void write_ratio(double ratio, char *text, size_t room) {
    if (ratio > 0)
        snprintf(text, room, "%.3f", ratio);
}

static void write_to_plain(const report_row *row, char *text, size_t room) {
    write_ratio(row->to_plain, text, room);
}

static void write_to_fast(const report_row *row, char *text, size_t room) {
    write_ratio(row->to_fast, text, room);
}

static void write_to_peer(const report_row *row, char *text, size_t room) {
    write_ratio(row->to_peer, text, room);
}

static void write_to_gpu_to_gpu(const report_row *row, char *text, size_t room) {
    write_ratio(row->to_gpu_to_gpu, text, room);
}

static void write_to_sum(const report_row *row, char *text, size_t room) {
    write_ratio(row->to_sum, text, room);
}

static void write_registers(const report_row *row, char *text, size_t room) {
    if (row->registers >= 0)
        snprintf(text, room, "%d", row->registers);
}

static void write_shared(const report_row *row, char *text, size_t room) {
    if (row->shared_bytes >= 0)
        program_size_text((uint64_t)row->shared_bytes, text, room);
}

static void write_occupancy(const report_row *row, char *text, size_t room) {
    if (row->occupancy >= 0)
        snprintf(text, room, "%.0f%%", 100 * row->occupancy);
}

static void write_counter(double counter, char *text, size_t room) {
    if (counter >= 0)
        snprintf(text, room, "%.4g", counter);
}

static void write_conflicts(const report_row *row, char *text, size_t room) {
    write_counter(row->bank_conflicts, text, room);
}

static void write_transactions(const report_row *row, char *text, size_t room) {
    write_counter(row->shared_transactions, text, room);
}

static void write_divergence(const report_row *row, char *text, size_t room) {
    write_counter(row->divergence, text, room);
}

static const report_column name_columns[] = {
    {"what", 'l', false, write_name},
    {"how", 'l', false, write_variant},
    {"language", 'l', true, write_language},
    {"device", 'l', true, write_device},
};

static const report_column result_columns[] = {
    {"time", 'r', false, write_time},
    {"±", 'r', false, write_spread},
    {"GB/s", 'r', false, write_rate},
    {"of limit", 'r', false, write_of_limit},
    {"of nominal", 'r', false, write_of_nominal},
    {"speed-up", 'r', false, write_speedup},
    {"to plain", 'r', false, write_to_plain},
    {"to fast", 'r', false, write_to_fast},
    {"to peer", 'r', false, write_to_peer},
    {"to gpu_to_gpu", 'r', false, write_to_gpu_to_gpu},
    {"to sum", 'r', false, write_to_sum},
    {"result", 'l', false, report_verdict_text},
};

/* Of which charts show one. */
static const report_column ratio_columns[] = {
    {"to plain", 'r', false, write_to_plain}, {"to fast", 'r', false, write_to_fast},
    {"to peer", 'r', false, write_to_peer},   {"to gpu_to_gpu", 'r', false, write_to_gpu_to_gpu},
    {"to sum", 'r', false, write_to_sum},     {"speed-up", 'r', false, write_speedup},
};

static const report_column hardware_columns[] = {
    {"block", 'r', false, write_block},
    {"registers", 'r', false, write_registers},
    {"shared", 'r', false, write_shared},
    {"occupancy", 'r', false, write_occupancy},
    {"shared transactions", 'r', false, write_transactions},
    {"bank conflicts", 'r', false, write_conflicts},
    {"divergence", 'r', false, write_divergence},
};

static void cell_text(const report_column *column, const report_row *row, char text[REPORT_CELL]) {
    *text = '\0';
    column->write(row, text, REPORT_CELL);
}

static bool is_same_everywhere(const report_column *column, const report_section *section) {
    char first[REPORT_CELL], other[REPORT_CELL];
    cell_text(column, section->rows[0], first);
    for (size_t i = 1; i < section->count; i++) {
        cell_text(column, section->rows[i], other);
        if (strcmp(first, other) != 0)
            return false;
    }
    return true;
}

static bool is_empty_everywhere(const report_column *column, const report_section *section) {
    char text[REPORT_CELL];
    cell_text(column, section->rows[0], text);
    return *text == '\0' && is_same_everywhere(column, section);
}

const report_column *report_ratio_column(const report_section *section) {
    const report_column *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < sizeof ratio_columns / sizeof *ratio_columns; i++) {
        size_t filled = 0;
        for (size_t row = 0; row < section->count; row++) {
            char text[REPORT_CELL];
            cell_text(&ratio_columns[i], section->rows[row], text);
            filled += *text != '\0';
        }
        if (filled > most) {
            most = filled;
            best = &ratio_columns[i];
        }
    }
    return best;
}

static size_t select_columns(const report_section *section, const report_column *from, size_t count,
                             const report_column **columns) {
    size_t selected = 0;
    for (size_t i = 0; i < count; i++) {
        bool folded = from[i].folds && is_same_everywhere(&from[i], section);
        if (!folded && !is_empty_everywhere(&from[i], section))
            columns[selected++] = &from[i];
    }
    return selected;
}

size_t report_columns(const report_section *section, report_view view, const report_column **columns) {
    size_t names = select_columns(section, name_columns, sizeof name_columns / sizeof *name_columns, columns);
    bool results = view == REPORT_RESULTS;
    size_t others = select_columns(section, results ? result_columns : hardware_columns,
                                   results ? sizeof result_columns / sizeof *result_columns
                                           : sizeof hardware_columns / sizeof *hardware_columns,
                                   columns + names);
    return others ? names + others : 0;
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
    int used = snprintf(text, room, "%s: %s, %s elements%s%s", row->group, row->type,
                        report_count_text(row->n, count, sizeof count), *size ? ", " : "", size);
    for (size_t i = 0; i < sizeof name_columns / sizeof *name_columns; i++) {
        char cell[REPORT_CELL];
        cell_text(&name_columns[i], row, cell);
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

/* The block, in words. */
static void write_block_text(const report_row *row, char *text, size_t room) {
    if (row->block)
        snprintf(text, room, "%u threads per block", row->block);
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
            cell_text(&columns[c], row, mine);
            cell_text(&columns[c], section->rows[i], other);
            same = strcmp(mine, other) == 0;
        }
        alike += same;
    }
    return alike;
}

char *report_detail_text(const report_section *section, const report_row *row, char *text, size_t room) {
    static const report_column columns[] = {{.write = write_name},       {.write = write_variant},
                                            {.write = write_language},   {.write = write_device},
                                            {.write = write_block_text}, {.write = write_note}};
    enum { ALWAYS = 2, FOLDED = 4, ALL = sizeof columns / sizeof *columns };
    char cell[REPORT_CELL];
    *text = '\0';
    for (size_t i = 1; i < ALL; i++) {
        bool says = i < ALWAYS || (i < FOLDED && !is_same_everywhere(&columns[i], section)) ||
                    (i >= FOLDED && count_alike(section, row, columns, i) > count_alike(section, row, columns, i + 1));
        cell_text(&columns[i], row, cell);
        if (says)
            append(text, room, cell);
    }
    return text;
}

double report_section_scale(const report_section *section) {
    double scale = section->best;
    scale = section->limit > scale ? section->limit : scale;
    return section->nominal > scale ? section->nominal : scale;
}
