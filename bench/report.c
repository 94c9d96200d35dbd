/* Tables of rows and columns and one verdict; and the same results as rows and curves of a report. */
#include "report.h"

#include "matrix.h"

#include "program/colour.h"
#include "program/sizes.h"
#include "program/table.h"

#include <string.h>

static const double target_ratio = 1.05;
static const uint64_t target_bytes = (uint64_t)256 << 20;

static const char *const way_names[BENCH_WAYS] = {
    [BENCH_EXACT] = "exact", [BENCH_FAST] = "fast", [BENCH_PLAIN] = "plain"};

static double rate(const bench_result *result, bench_way way) {
    return (double)result->bytes_read / result->runs[way].seconds.median / 1e9;
}

static const char *data_name(const bench_case *which) {
    return reduct_type_is_float(which->type) ? measure_data_name(which->data) : "uniform";
}

static void add_ratio(program_table *table, const measure_statistics *ratio) {
    program_table_cell(table, "%.2f", ratio->median);
    program_table_cell(table, "%.2f", measure_spread(ratio) * ratio->median);
}

/* "right, 0.42 ulp" */
static void add_finding(program_table *table, const judge_finding *finding) {
    char ulp[32];
    report_ulp_text(finding->ulp, ulp, sizeof ulp);
    program_table_cell(table, "%s%s%s", report_verdict_name(finding->verdict), *ulp ? ", " : "", ulp);
}

static void add_row(program_table *table, const bench_result *result, bool has_shapes) {
    char size[32], shape[48];
    const bench_case *which = &result->which;
    program_table_cell(table, "%s", reduct_operator_name(which->op));
    program_table_cell(table, "%s", reduct_type_name(which->type));
    program_table_cell(table, "%s", data_name(which));
    program_table_cell(table, "%s", program_size_text(which->bytes, size, sizeof size));
    if (has_shapes)
        program_table_cell(table, "%s", matrix_shape_text(which->shape, shape, sizeof shape));
    program_table_cell(table, "%u", which->threads);
    program_table_cell(table, "%s", result->device);
    program_table_cell(table, "%.1f", rate(result, BENCH_PLAIN));
    program_table_cell(table, "%s", result->prefetched ? "p" : "");
    program_table_cell(table, "%.1f", rate(result, BENCH_EXACT));
    add_ratio(table, &result->runs[BENCH_EXACT].to_plain);
    if (result->has_fast) {
        program_table_cell(table, "%.1f", rate(result, BENCH_FAST));
        add_ratio(table, &result->runs[BENCH_FAST].to_plain);
    } else {
        for (int i = 0; i < 3; i++)
            program_table_cell(table, "-");
    }
    add_finding(table, &result->runs[BENCH_EXACT].finding);
    if (result->has_fast)
        add_finding(table, &result->runs[BENCH_FAST].finding);
    else
        program_table_cell(table, "-");
    add_finding(table, &result->runs[BENCH_PLAIN].finding);
}

void bench_report_table(const char *title, const bench_result *results, size_t count, FILE *stream) {
    static const char *const headings[] = {"op",        "type",       "data", "size",       "shape",       "threads",
                                           "kernels",   "plain GB/s", "",     "exact GB/s", "exact/plain", "+-",
                                           "fast GB/s", "fast/plain", "+-",   "exact is",   "fast is",     "plain is"};
    enum { SHAPE = 4 };
    bool has_shapes = false;
    for (size_t i = 0; i < count; i++)
        has_shapes = has_shapes || results[i].which.shape.kind != BENCH_WHOLE;
    program_table *table = program_table_create(has_shapes ? "lllrlrlrlrrrrrrlll" : "lllrrlrlrrrrrrlll");
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (i != SHAPE || has_shapes)
            program_table_cell(table, "%s", headings[i]);
    for (size_t i = 0; i < count; i++)
        add_row(table, &results[i], has_shapes);
    fprintf(stream, "%s%s%s\n\n", program_style_on(stream, PROGRAM_BOLD), title,
            program_style_on(stream, PROGRAM_PLAIN));
    program_table_print(table, stream, 0);
    fputc('\n', stream);
    program_table_destroy(table);
    for (size_t i = 0; i < count; i++)
        for (int way = 0; way < BENCH_WAYS; way++)
            if (results[i].runs[way].finding.verdict == REPORT_WRONG)
                fprintf(stream, "WRONG: row %zu: %s gave %s, expected %s\n", i + 1, way_names[way],
                        results[i].runs[way].finding.got, results[i].runs[way].finding.expected);
}

/* What the results say about the target, for one set of kernels. */
typedef struct verdict {
    int seen[2][2]; /* f64 and f32, on one thread and on all */
    int wrong;
    const bench_result *worst; /* null where nothing was seen */
} verdict;

/* The target speaks of exact sums of 256 MiB of normal data. */
static verdict judge(const bench_result *results, size_t count, const char *device, unsigned all) {
    verdict found = {0};
    for (size_t i = 0; i < count; i++) {
        const bench_case *which = &results[i].which;
        int is_single = which->type == REDUCT_F32;
        if (which->op != REDUCT_SUM || (which->type != REDUCT_F64 && !is_single) || which->data != MEASURE_NORMAL ||
            which->shape.kind != BENCH_WHOLE || which->bytes != target_bytes || strcmp(results[i].device, device) != 0)
            continue;
        found.seen[is_single][0] |= which->threads == 1;
        found.seen[is_single][1] |= which->threads == all;
        found.wrong |= bench_is_wrong(&results[i]);
        if (!found.worst ||
            results[i].runs[BENCH_EXACT].to_plain.median > found.worst->runs[BENCH_EXACT].to_plain.median)
            found.worst = &results[i];
    }
    return found;
}

static void write_worst(const bench_result *worst, char *text, size_t room) {
    const measure_statistics *ratio = &worst->runs[BENCH_EXACT].to_plain;
    snprintf(text, room, "%s at worst %.3f +- %.3f, %s on %u", worst->device, ratio->median,
             measure_spread(ratio) * ratio->median, reduct_type_name(worst->which.type), worst->which.threads);
}

static const char *outcome_of(const verdict *found) {
    if (!found->seen[0][0] || !found->seen[0][1] || !found->seen[1][0] || !found->seen[1][1])
        return "not measured";
    return !found->wrong && found->worst->runs[BENCH_EXACT].to_plain.median <= target_ratio ? "met" : "missed";
}

static char *write_target(unsigned all, char *text, size_t room) {
    snprintf(
        text, room,
        "exact f64 and f32 sums of 256 MiB in at most %.2f times the time of plain ones with the same instruction set, "
        "on 1 and on all %u threads",
        target_ratio, all);
    return text;
}

void bench_report_verdict(const bench_result *results, size_t count, const char *best, unsigned all, FILE *stream) {
    static const char *const others[] = {"cpu:portable", "cpu:avx2", "cpu:avx512"};
    char text[256];
    verdict found = judge(results, count, best, all);
    const char *outcome = outcome_of(&found);
    fprintf(stream, "Target: %s: ", write_target(all, text, sizeof text));
    if (strcmp(outcome, "not measured") == 0) {
        fprintf(stream, "%s\n", outcome);
        return;
    }
    write_worst(found.worst, text, sizeof text);
    fprintf(stream, "%s%s%s (%s)\n", program_style_on(stream, strcmp(outcome, "met") == 0 ? PROGRAM_GOOD : PROGRAM_BAD),
            outcome, program_style_on(stream, PROGRAM_PLAIN), text);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        verdict other = judge(results, count, others[i], all);
        if (!other.worst || strcmp(others[i], best) == 0)
            continue;
        write_worst(other.worst, text, sizeof text);
        fprintf(stream, "Beside it: %s\n", text);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reports
 * ------------------------------------------------------------------------------------------------------------------ */

static void add_report_row(report *r, const bench_result *result, bench_way way) {
    const bench_case *which = &result->which;
    const bench_run *run = &result->runs[way];
    const char *plain = result->prefetched ? "with prefetch" : "";
    report_row row = report_row_empty();
    char shape[48];
    matrix_shape_text(which->shape, shape, sizeof shape);
    snprintf(row.group, sizeof row.group, "%s, %s data%s%s", reduct_operator_name(which->op), data_name(which),
             *shape ? ", " : "", shape);
    snprintf(row.name, sizeof row.name, "%s", way == BENCH_PLAIN ? "plain loop" : reduct_operator_name(which->op));
    snprintf(row.variant, sizeof row.variant, "%s", way == BENCH_PLAIN ? plain : way_names[way]);
    snprintf(row.type, sizeof row.type, "%s", reduct_type_name(which->type));
    snprintf(row.device, sizeof row.device, "%.20s x %u thread%s", result->device, which->threads,
             which->threads == 1 ? "" : "s");
    snprintf(row.language, sizeof row.language, "c");
    row.n = which->bytes / reduct_type_size(which->type);
    row.bytes = result->bytes_read;
    row.seconds = run->seconds.median;
    row.spread = measure_spread(&run->seconds);
    report_set(&row, MEASURE_TO_PLAIN, way == BENCH_PLAIN ? 1 : run->to_plain.median);
    judge_fill(&row, &run->finding);
    if (row.verdict == REPORT_UNCHECKED)
        snprintf(row.note, sizeof row.note, "overflowed, which no bound covers");
    report_add_row(r, &row);
}

/* Curves are drawn for the best kernels and the most threads measured; more curves would hide each other. */
static int is_drawn(const bench_result *results, size_t count, const bench_result *result, const char *best) {
    int has_best = 0, has_sizes = 0;
    for (size_t i = 0; i < count; i++) {
        const bench_case *a = &results[i].which, *b = &result->which;
        if (a->threads > b->threads)
            return 0;
        has_best |= strcmp(results[i].device, best) == 0;
        has_sizes |= a->op == b->op && a->type == b->type && a->data == b->data && a->bytes != b->bytes;
    }
    return has_sizes && result->which.shape.kind == BENCH_WHOLE && result->which.bytes > 0 &&
           strcmp(result->device, has_best ? best : results[0].device) == 0;
}

void bench_report_target(report *r, const bench_result *results, size_t count, const char *best, unsigned all) {
    char target[256], worst[160] = "";
    verdict found = judge(results, count, best, all);
    const char *outcome = outcome_of(&found);
    if (strcmp(outcome, "not measured") != 0)
        write_worst(found.worst, worst, sizeof worst);
    report_fact(r, "target", "%s: %s%s%s", write_target(all, target, sizeof target), outcome, *worst ? ", " : "",
                worst);
}

void bench_report_fill(report *r, const bench_result *results, size_t count, const char *best) {
    static const bench_way order[BENCH_WAYS] = {BENCH_PLAIN, BENCH_EXACT, BENCH_FAST};
    char name[48];
    for (size_t i = 0; i < count; i++) {
        const bench_result *result = &results[i];
        const bench_case *which = &result->which;
        int draws = is_drawn(results, count, result, best);
        for (size_t w = 0; w < BENCH_WAYS; w++) {
            bench_way way = order[w];
            if (way == BENCH_FAST && !result->has_fast)
                continue;
            add_report_row(r, result, way);
            snprintf(name, sizeof name, "%s %s, %s %s", way_names[way], reduct_operator_name(which->op),
                     data_name(which), reduct_type_name(which->type));
            if (draws)
                report_add_point(report_series_named(r, name), (double)(which->bytes / reduct_type_size(which->type)),
                                 rate(result, way));
        }
    }
}
