/* What the programs share that verify a GPU's ladder: counting what passed. */
#ifndef LADDER_CHECK_H
#define LADDER_CHECK_H

#include "report/report.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct check_count {
    unsigned long passed, failed;
} check_count;

enum { CHECK_SHOWN_MOST = 40 }; /* failures that are printed */

static inline void check_add(check_count *count, bool right, const char *what, const char *expected, const char *got) {
    if (right)
        count->passed++;
    else if (count->failed++ < CHECK_SHOWN_MOST)
        printf("WRONG  %s: expected %s, got %s\n", what, expected, got);
}

/* A row of a report, if it was judged; and a row of this variant (or null) that was not run. */
static inline void check_row(check_count *count, const report_row *row, const char *must_run) {
    char what[200];
    snprintf(what, sizeof what, "report: %s, %s, %s, %s", row->name, row->variant, row->language, row->type);
    bool good = report_verdict_is_good(row->verdict);
    if (good || row->verdict == REPORT_WRONG)
        check_add(count, good && row->seconds > 0, what, row->expected, row->got);
    else if (row->verdict == REPORT_NOT_RUN && must_run && strcmp(row->variant, must_run) == 0)
        check_add(count, false, what, "to be run", row->note);
}

#endif
