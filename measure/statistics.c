/* Order statistics, on which a single disturbed measurement has little influence. */
#include "measure/statistics.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double share) {
    double position = share * (double)(count - 1);
    size_t below = (size_t)position;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

measure_statistics measure_summarise(double *values, size_t count) {
    if (count == 0)
        return (measure_statistics){0};
    qsort(values, count, sizeof *values, compare);
    return (measure_statistics){
        .least = values[0],
        .lower = quantile(values, count, 0.25),
        .median = quantile(values, count, 0.5),
        .upper = quantile(values, count, 0.75),
        .greatest = values[count - 1],
    };
}

double measure_spread(const measure_statistics *statistics) {
    if (statistics->median == 0)
        return 0;
    return (statistics->upper - statistics->lower) / 2 / statistics->median;
}
