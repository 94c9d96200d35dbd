/* A report with something of everything, its figures made up: for the tests of the writers, and for looking at them:
 *
 *     report_sample terminal|json|csv|markdown|html
 */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"global-halving", "neighbour-modulo", "neighbour-strided", "halving", "first-add",
                                    "last-warp",      "unrolled",         "grid-stride",       "shuffle", "warp-reduce",
                                    "vector-loads",   "one-launch",       "bulk-copy",         "exact"};
enum { NAMES = sizeof names / sizeof *names };

static const double limit = 4.7e12, nominal = 4.8e12;

static report_row timed(const char *group, const char *name, const char *variant, double seconds) {
    report_row row = report_row_empty();
    snprintf(row.group, sizeof row.group, "%s", group);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.variant, sizeof row.variant, "%s", variant);
    snprintf(row.type, sizeof row.type, "f32");
    snprintf(row.device, sizeof row.device, "cuda:0");
    snprintf(row.language, sizeof row.language, "cuda");
    row.n = 4 << 20;
    row.bytes = row.n * 4;
    row.seconds = seconds;
    row.spread = 0.004;
    row.of_limit = (double)row.bytes / seconds / limit;
    row.of_nominal = (double)row.bytes / seconds / nominal;
    row.verdict = REPORT_RIGHT;
    return row;
}

static void add_rungs(report *r) {
    for (int i = 0; i < NAMES; i++) {
        report_row row = timed("rungs", names[i], i < 11 ? "second-launch" : "last-block",
                               (double)(4 << 22) / limit * (1.05 + 30 * exp(-0.55 * i)));
        report_set(&row, MEASURE_SPEEDUP, i ? report_row_at(r, 0)->seconds / row.seconds : 1);
        row.ulp = i == NAMES - 1 ? 0.42 : 3 + i % 4;
        row.verdict = i == NAMES - 1 ? REPORT_RIGHT : REPORT_WITHIN_BOUND;
        report_set(&row, MEASURE_BLOCK, 256);
        report_set(&row, MEASURE_REGISTERS, 16 + i);
        report_set(&row, MEASURE_SHARED_BYTES, i < 9 ? 1024 : 128);
        report_set(&row, MEASURE_OCCUPANCY, i == 12 ? 0.5 : 1);
        report_add_row(r, &row);
    }
}

/* Rows that only kernels and threads tell apart, or nothing but a note. */
static void add_alike(report *r) {
    static const char *const devices[] = {"cpu:avx2 x 1 thread", "cpu:avx2 x 2 threads"};
    for (int device = 0; device < 2; device++)
        for (int exact = 0; exact < 2; exact++) {
            report_row row =
                timed("sum, normal data", exact ? "sum" : "plain loop", exact ? "exact" : "", 5e-6 + 1e-6 * exact);
            snprintf(row.device, sizeof row.device, "%s", devices[device]);
            row.of_limit = row.of_nominal = -1;
            report_set(&row, MEASURE_TO_PLAIN, exact ? 1.02 : 1);
            row.ulp = exact ? 0 : 187.4;
            row.verdict = exact ? REPORT_RIGHT : REPORT_WITHIN_BOUND;
            report_add_row(r, &row);
        }
    for (int window = 0; window < 2; window++) {
        report_row row = timed("windows", "exact", "last-block", 6e-6);
        snprintf(row.note, sizeof row.note, "%s", window ? "window in f64" : "window in 32-bit integers");
        report_add_row(r, &row);
    }
}

static void add_specimens(report *r) {
    report_row row = timed("specimens", "last-warp-implicit", "no synchronisation", 9.1e-6);
    row.may_be_wrong = true;
    row.verdict = REPORT_WRONG;
    snprintf(row.expected, sizeof row.expected, "2097466.2");
    snprintf(row.got, sizeof row.got, "1787466");
    row.ulp = 1.2e6;
    report_add_row(r, &row);
    row = timed("specimens", "last-warp-implicit", "repaired: __syncwarp", 9.2e-6);
    row.ulp = 2;
    row.verdict = REPORT_WITHIN_BOUND;
    report_add_row(r, &row);
    row = timed("specimens", "shuffle-full-mask", "half the lanes run", 8.7e-6);
    row.verdict = REPORT_LUCKY;
    report_add_row(r, &row);
    row = timed("specimens", "<script>|a*b+1, \"quoted\"", "", 0);
    row.seconds = 0;
    row.of_limit = row.of_nominal = -1;
    row.verdict = REPORT_NOT_RUN;
    snprintf(row.note, sizeof row.note, "needs 1024 threads & a line\nbreak");
    report_add_row(r, &row);
}

static void add_series(report *r) {
    for (int i = 0; i < NAMES; i++) {
        report_series *series = report_series_named(r, names[i]);
        for (int e = 10; e <= 30; e++) {
            double n = (double)(1 << e), seconds = 3.5e-6 + 4 * n / limit * (1 + 30 * exp(-0.55 * i));
            series->x[series->count] = n;
            series->y[series->count++] = 4 * n / seconds / 1e9;
        }
    }
}

static void add_references(report *r) {
    report_reference old = {.source = "An old talk, 4 Mi int", .machine = "Old GPU"};
    report_reference older = {.source = "Older notes, 1 Mi int", .machine = "Older GPU"};
    for (int i = 1; i < 8; i++) {
        old.point[old.count].seconds = 8e-3 / i / i;
        old.point[old.count].bytes_per_second = (4 << 22) / old.point[old.count].seconds;
        snprintf(old.point[old.count++].name, sizeof old.point->name, "%s", names[i]);
    }
    for (int i = 3; i < 6; i++) {
        older.point[older.count].bytes_per_second = 3e7 * i;
        snprintf(older.point[older.count++].name, sizeof older.point->name, "%s", names[i]);
    }
    snprintf(older.point[older.count].name, sizeof older.point->name, "a library");
    older.point[older.count].seconds = 1e-3;
    older.point[older.count++].bytes_per_second = 4.2e9;
    report_add_reference(r, &old);
    report_add_reference(r, &older);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*write)(const report *r, FILE *stream);
    } formats[] = {{"terminal", report_write_terminal},
                   {"json", report_write_json},
                   {"csv", report_write_csv},
                   {"markdown", report_write_markdown},
                   {"html", report_write_html}};
    report *r = report_create("Sample: the ladder of reductions on cuda:0", "Figures made up to look at the layout");
    report_fact(r, "GPU", "%s", "NVIDIA Sample 100, 132 multiprocessors");
    report_fact(r, "driver", "%s", "1.2.3");
    report_fact(r, "date", "%s", "never");
    report_fact(r, "date", "%s", "2025-01-31 12:00 UTC");
    report_warning(r, "%s", "the spread of 3 rows is over 5%: is something else running?");
    report_warning(r, "%s", "the spread of 3 rows is over 5%: is something else running?");
    report_feature(r, "rungs");
    add_rungs(r);
    add_alike(r);
    add_specimens(r);
    add_series(r);
    add_references(r);
    int status = 2;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (argc == 2 && strcmp(argv[1], formats[i].name) == 0)
            status = formats[i].write(r, stdout) == 0 ? 0 : 1;
    }
    if (report_has_wrong(r))
        status = 3; /* only a specimen is wrong */
    report_destroy(r);
    return status;
}
