/* Arithmetic that several files here need. */
#ifndef RD_NUMBERS_H
#define RD_NUMBERS_H

#include <stdint.h>
#include <string.h>

/* a / b rounded up. */
static inline uint64_t rd_divide_up(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

/* a + b, of which the last bit is set if it is no double: rounding that once more, to fewer bits, rounds a + b. S. Boldo, G. Melquiond,
 * "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008; the error of the addition as in
 * rd_partial_add_fast(). Run within rd_environment_enter(). */
static inline double rd_add_to_odd(double a, double b) {
    double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0 && !(bits & 1))
        bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    memcpy(&sum, &bits, sizeof bits);
    return sum;
}

#endif
