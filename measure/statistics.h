/* Statistics of a few measurements: median, least, quartiles. */
#ifndef MEASURE_STATISTICS_H
#define MEASURE_STATISTICS_H

#include <stddef.h>

typedef struct measure_statistics {
    double least;
    double lower; /* first quartile */
    double median;
    double upper; /* third quartile */
    double greatest;
} measure_statistics;

/* Statistics of `count` values, which are sorted in place; all zero when there are none. Quartiles are interpolated
 * between neighbours (method 7 of Hyndman and Fan, the usual one). */
measure_statistics measure_summarise(double *values, size_t count);

/* Half the distance between the quartiles, as a share of the median: "1.02 +- 0.01". */
double measure_spread(const measure_statistics *statistics);

#endif
