/* Interleaved timing: see timing.h for why. */
#include "measure/timing.h"

#include "measure/clock.h"
#include "program/memory.h"

#include <stdlib.h>

static double time_runs(const measure_variant *variant, size_t runs) {
    double start = measure_seconds();
    for (size_t i = 0; i < runs; i++)
        variant->run(variant->context);
    return (measure_seconds() - start) / (double)runs;
}

/* Runs that make up one sample: doubled until they last long enough. The last trial doubles as the warm-up. */
static size_t calibrate(const measure_variant *variant, double sample_seconds) {
    size_t runs = 1;
    while (time_runs(variant, runs) * (double)runs < sample_seconds)
        runs *= 2;
    return runs;
}

void measure_time(measure_variant *variants, size_t count, size_t rounds, double sample_seconds) {
    size_t *runs = program_allocate(count * sizeof *runs);
    for (size_t v = 0; v < count; v++)
        runs[v] = calibrate(&variants[v], sample_seconds);
    for (size_t round = 0; round < rounds; round++)
        for (size_t turn = 0; turn < count; turn++) {
            size_t v = (turn + round) % count;
            variants[v].seconds[round] = time_runs(&variants[v], runs[v]);
        }
    free(runs);
}

measure_statistics measure_variant_seconds(const measure_variant *variant, size_t rounds) {
    double *copy = program_allocate(rounds * sizeof *copy);
    for (size_t i = 0; i < rounds; i++)
        copy[i] = variant->seconds[i];
    measure_statistics statistics = measure_summarise(copy, rounds);
    free(copy);
    return statistics;
}

measure_statistics measure_variant_ratio(const measure_variant *variant, const measure_variant *base, size_t rounds) {
    double *ratios = program_allocate(rounds * sizeof *ratios);
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = variant->seconds[i] / base->seconds[i];
    measure_statistics statistics = measure_summarise(ratios, rounds);
    free(ratios);
    return statistics;
}

bool measure_has_slowed(double first, double last) {
    return last > 0 && last < 0.97 * first;
}
