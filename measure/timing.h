/* Timing several ways of doing the same thing, side by side.
 *
 * Clock speed, neighbours on the machine and page placement drift over seconds, so that "all of A, then all of B"
 * compares two moments rather than two programs. Here every round times each variant once, in an order that rotates
 * from round to round, and ratios are taken within a round. */
#ifndef MEASURE_TIMING_H
#define MEASURE_TIMING_H

#include "measure/statistics.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct measure_variant {
    void (*run)(void *context); /* does the work once */
    void *context;
    double *seconds; /* out: seconds per run in each round; room for as many as there are rounds */
} measure_variant;

/* Runs every variant once to warm up, then times `rounds` rounds. Where one run is short it is repeated within a
 * sample, so that a sample lasts at least `sample_seconds`; the seconds stored are per run. */
void measure_time(measure_variant *variants, size_t count, size_t rounds, double sample_seconds);

/* Statistics of the seconds of a variant; its array is left as it is. */
measure_statistics measure_variant_seconds(const measure_variant *variant, size_t rounds);

/* Statistics of the ratio of seconds, round by round: above 1 when `variant` is slower than `base`. */
measure_statistics measure_variant_ratio(const measure_variant *variant, const measure_variant *base, size_t rounds);

/* Whether a device that could read `first` bytes per second, and `last` later, has slowed down by more than 3%: it gets
 * too warm, or is shared. */
bool measure_has_slowed(double first, double last);

#endif
