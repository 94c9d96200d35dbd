/* Reports: what was measured, in one model that every program fills and every format is written from.
 *
 * A report is the machine, rows (one per thing measured), series for charts over the number of elements, and published figures
 * for reference. Rows say what was measured, on what, how long it took and whether the result was right; everything else that is
 * known of them is one of the figures that measure/figures.def lists. Text is copied into the report.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "measure/figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What is said of a result, in the same words everywhere: see report/judge.h, which says them. */
typedef enum report_verdict {
    REPORT_RIGHT,        /* the bits of the exact result, for floats correctly rounded */
    REPORT_WITHIN_BOUND, /* not those, but as near as the bound of the way of adding promises */
    REPORT_WRONG,        /* shown in red, with expected and got */
    REPORT_LUCKY,        /* right here, but nothing guarantees it */
    REPORT_NOT_RUN,      /* `note` says why */
    REPORT_UNCHECKED     /* nothing to compare with */
} report_verdict;

/* "right", "within bound", "wrong", "lucky", "not run", "unchecked". */
const char *report_verdict_name(report_verdict verdict);

/* Whether a result is what its method promises: right, or within its bound. */
bool report_verdict_is_good(report_verdict verdict);

/* One measurement. What is not known is 0, negative where 0 would mean something, or empty. */
typedef struct report_row {
    char group[160];                /* heading that rows are gathered under: "sum, normal data" */
    char name[40];                  /* what was measured */
    char variant[48];               /* in which way */
    char type[8];                   /* element type; empty where a group is not about arrays of one type */
    char device[40];                /* "cuda:0", "cpu:avx512", "cpu x 2 threads" */
    char language[8];               /* of its source: "c", "cuda" */
    uint64_t n;                     /* elements */
    uint64_t bytes;                 /* read in all */
    double seconds;                 /* median per run */
    double spread;                  /* half the distance between the quartiles, as a share of the median */
    double of_limit;                /* share of the measured read limit, negative if unknown */
    double of_nominal;              /* share of the nominal bandwidth, negative if unknown */
    double figure[MEASURE_FIGURES]; /* set with report_set(); NaN if unknown */
    report_verdict verdict;
    bool may_be_wrong; /* a mistake that is shown on purpose: wrong is no failure of the program */
    char expected[48], got[48];
    double ulp; /* distance from the exact value in units in the last place, negative if unknown or not a float */
    char note[120];
} report_row;

/* A curve: GB/s (y) over elements (x). */
typedef struct report_series {
    char name[48];
    double x[64], y[64];
    size_t count;
} report_series;

/* Published figures, shown as reference beside ours: "Harris 2007, G80, 4 Mi int". */
typedef struct report_reference {
    char source[96];
    char machine[48];
    struct {
        char name[32]; /* as of rows */
        double seconds, bytes_per_second;
    } point[16];
    size_t count;
} report_reference;

typedef struct report report;

report *report_create(const char *title, const char *subtitle);
void report_destroy(report *r);

/* Facts of the machine and run, in order: ("GPU", "NVIDIA H200"), ("driver", ...), ("date", ...). A fact of a name that
 * is there already takes its place. */
void report_fact(report *r, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The facts of the machine that this runs on: processor, caches, memory, system, and the compiler that built this. */
void report_add_machine(report *r);

/* Warnings: noise, throttling. Each is kept once. */
void report_warning(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A row with every optional field set to unknown. */
report_row report_row_empty(void);

/* Sets a figure of a row. A value that is negative or NaN is unknown; so is a ratio or a factor of 0. */
void report_set(report_row *row, measure_figure figure, double value);

/* Sections of this group begin, on a page, with their most important figures: the fastest row, its share of the read limit, how
 * much faster than the first row it is, how many results are right. */
void report_feature(report *r, const char *group);

/* Rows of the same group, type and n are shown together, in the order in which they were added. Control characters in
 * texts become spaces. */
void report_add_row(report *r, const report_row *row);

/* Each source is kept once. */
void report_add_reference(report *r, const report_reference *reference);

/* The series of that name in the chart "GB/s over elements", made on first use. Names that end in the same word, as in
 * "halving f32" and "exact f32", share a chart. */
report_series *report_series_named(report *r, const char *name);

/* Adds a point in the order of x, whatever the order in which points come; the last one of an x stays. A full series keeps
 * what it has. */
void report_add_point(report_series *series, double x, double y);

/* What the rows hold. */
size_t report_row_count(const report *r);
const report_row *report_row_at(const report *r, size_t i);
/* 1 if any row is wrong that may not be. */
int report_has_wrong(const report *r);

/* A number of elements as reports write it: "4 Mi", "1000003". Returns `text`. */
char *report_count_text(uint64_t n, char *text, size_t room);

/* An error as reports write it: "0.42 ulp", "187 ulp"; empty where it is not known. Returns `text`. */
char *report_ulp_text(double ulp, char *text, size_t room);

/* Writers. Return 0, or -1 if writing failed (errno says why). */
typedef int report_writer(const report *r, FILE *stream);
int report_write_terminal(const report *r, FILE *stream); /* table with bars; colour as program/colour.h decides */
int report_write_json(const report *r, FILE *stream);
int report_write_submission(const report *r, FILE *stream); /* what docs/results/ collects: see report/submission.c */
int report_write_csv(const report *r, FILE *stream);
int report_write_markdown(const report *r, FILE *stream);
int report_write_html(const report *r, FILE *stream); /* one self-contained page with charts */

/* A page, or what any writer writes, into a file. Returns 0, or -1 with errno saying why it could not be written. */
int report_write_page(const report *r, const char *path);
int report_write_file(const report *r, report_writer *write, const char *path);

#endif
