/* Rows, columns and one verdict. */
#include "report.h"

#include "measure/colour.h"
#include "measure/sizes.h"
#include "measure/table.h"

#include <string.h>

static const double target_ratio = 1.05;
static const uint64_t target_bytes = (uint64_t)256 << 20;

static double rate(const bench_result *result, const measure_statistics *seconds) {
    return result->bytes_read / seconds->median / 1e9;
}

static void add_ratio(measure_table *table, const measure_statistics *ratio) {
    measure_table_cell(table, "%.2f", ratio->median);
    measure_table_cell(table, "%.2f", measure_spread(ratio) * ratio->median);
}

static void add_row(measure_table *table, const bench_result *result) {
    char size[32];
    const bench_case *which = &result->which;
    measure_table_cell(table, "%s", reduct_operator_name(which->op));
    measure_table_cell(table, "%s", reduct_type_name(which->type));
    measure_table_cell(table, "%s", reduct_type_is_float(which->type) ? measure_data_name(which->data) : "uniform");
    measure_table_cell(table, "%s", measure_size_text(which->bytes, size, sizeof size));
    measure_table_cell(table, "%u", which->threads);
    measure_table_cell(table, "%s", result->device);
    measure_table_cell(table, "%.1f", rate(result, &result->plain));
    measure_table_cell(table, "%s", result->prefetched ? "p" : "");
    measure_table_cell(table, "%.1f", rate(result, &result->exact));
    add_ratio(table, &result->exact_to_plain);
    if (result->has_fast) {
        measure_table_cell(table, "%.1f", rate(result, &result->fast));
        add_ratio(table, &result->fast_to_plain);
    } else {
        for (int i = 0; i < 3; i++)
            measure_table_cell(table, "-");
    }
}

void bench_report_table(const char *title, const bench_result *results, size_t count, FILE *stream) {
    static const char *const headings[] = {"op",      "type",       "data",       "size",       "threads",
                                           "kernels", "plain GB/s", "",           "exact GB/s", "exact/plain",
                                           "+-",      "fast GB/s",  "fast/plain", "+-"};
    measure_table *table = measure_table_create("lllrrlrlrrrrrr");
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        measure_table_cell(table, "%s", headings[i]);
    for (size_t i = 0; i < count; i++)
        add_row(table, &results[i]);
    fprintf(stream, "%s%s%s\n\n", measure_style_on(stream, MEASURE_BOLD), title,
            measure_style_on(stream, MEASURE_PLAIN));
    measure_table_print(table, stream, 0);
    fputc('\n', stream);
    measure_table_destroy(table);
    for (size_t i = 0; i < count; i++)
        if (*results[i].fault)
            fprintf(stream, "WRONG: row %zu: %s\n", i + 1, results[i].fault);
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
            which->bytes != target_bytes || strcmp(results[i].device, device) != 0)
            continue;
        found.seen[is_single][0] |= which->threads == 1;
        found.seen[is_single][1] |= which->threads == all;
        found.wrong |= *results[i].fault != 0;
        if (!found.worst || results[i].exact_to_plain.median > found.worst->exact_to_plain.median)
            found.worst = &results[i];
    }
    return found;
}

static void print_worst(const bench_result *worst, FILE *stream) {
    fprintf(stream, "%s at worst %.3f +- %.3f, %s on %u", worst->device, worst->exact_to_plain.median,
            measure_spread(&worst->exact_to_plain) * worst->exact_to_plain.median, reduct_type_name(worst->which.type),
            worst->which.threads);
}

void bench_report_verdict(const bench_result *results, size_t count, const char *best, unsigned all, FILE *stream) {
    static const char *const others[] = {"cpu:portable", "cpu:avx2", "cpu:avx512"};
    verdict found = judge(results, count, best, all);
    fprintf(stream,
            "Target: exact f64 and f32 sums of 256 MiB in at most %.2f times the time of plain ones with the same\n"
            "instruction set, on 1 and on all %u threads: ",
            target_ratio, all);
    if (!found.seen[0][0] || !found.seen[0][1] || !found.seen[1][0] || !found.seen[1][1]) {
        fprintf(stream, "not measured\n");
        return;
    }
    int met = !found.wrong && found.worst->exact_to_plain.median <= target_ratio;
    fprintf(stream, "%s%s%s (", measure_style_on(stream, met ? MEASURE_GOOD : MEASURE_BAD), met ? "met" : "missed",
            measure_style_on(stream, MEASURE_PLAIN));
    print_worst(found.worst, stream);
    fprintf(stream, ")\n");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        verdict other = judge(results, count, others[i], all);
        if (!other.worst || strcmp(others[i], best) == 0)
            continue;
        fprintf(stream, "Beside it: ");
        print_worst(other.worst, stream);
        fprintf(stream, "\n");
    }
}
