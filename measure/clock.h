/* The monotonic clock. */
#ifndef MEASURE_CLOCK_H
#define MEASURE_CLOCK_H

/* Seconds since some fixed moment. */
double measure_seconds(void);

#endif
