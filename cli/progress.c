/* The progress line: see progress.h. */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 70 };
static const double FIRST_AFTER = 1.0, THEN_EVERY = 0.2; /* seconds */

static bool enabled;
static uint64_t total;
static double started, next_due;
static volatile sig_atomic_t shown;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A number of bytes with three digits and a unit. */
static const char *in_units(char text[32], double bytes) {
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < sizeof UNITS / sizeof *UNITS) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, 32, "%.*f %s", unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2, bytes, UNITS[unit]);
    return text;
}

void progress_start(uint64_t bytes, bool quiet) {
    enabled = !quiet && isatty(STDERR_FILENO);
    total = bytes;
    started = now();
    next_due = started + FIRST_AFTER;
}

void progress_update(uint64_t done) {
    if (!enabled)
        return;
    double time = now();
    if (time < next_due)
        return;
    next_due = time + THEN_EVERY;
    double rate = (double)done / (time - started);
    char a[32], b[32], c[32], line[2 * WIDTH];
    if (total > done && rate > 0)
        snprintf(line, sizeof line, "%2.0f %%  %s of %s  %s/s  %.0f s left", 100.0 * (double)done / (double)total,
                 in_units(a, (double)done), in_units(b, (double)total), in_units(c, rate),
                 (double)(total - done) / rate);
    else
        snprintf(line, sizeof line, "%s  %s/s", in_units(a, (double)done), in_units(c, rate));
    shown = 1;
    fprintf(stderr, "\r%-*.*s", WIDTH, WIDTH, line);
    fflush(stderr);
}

void progress_erase(void) {
    if (!shown)
        return;
    shown = 0;
    char blank[WIDTH + 2];
    memset(blank, ' ', sizeof blank);
    blank[0] = blank[WIDTH + 1] = '\r';
    ssize_t written = write(STDERR_FILENO, blank, sizeof blank);
    (void)written; /* there is nobody left to tell */
}
