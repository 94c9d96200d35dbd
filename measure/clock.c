/* The monotonic clock: never set back, unaffected by changes of the date. */
#include "measure/clock.h"

#include <time.h>

double measure_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
