/* Data to reduce: seeded, the same on every run whatever the number of threads. */
#ifndef MEASURE_DATA_H
#define MEASURE_DATA_H

#include "measure/parallel.h"

#include <stddef.h>
#include <stdint.h>

/* A stream of random bits: xoshiro256** by Blackman and Vigna, seeded through splitmix64. */
typedef struct measure_random {
    uint64_t state[4];
} measure_random;

measure_random measure_random_seed(uint64_t seed);
uint64_t measure_random_bits(measure_random *random);

/* Uniform on [0, 1), in steps of 2^-53. */
double measure_random_uniform(measure_random *random);

/* Random bits number i, counted from 0, of splitmix64 with the seed 0: any thread can make any of them. */
uint64_t measure_random_at(uint64_t i);

typedef enum measure_data {
    MEASURE_UNIFORM, /* [0, 1) */
    MEASURE_NORMAL,  /* mean 0, deviation 1 */
    MEASURE_WIDE, /* random sign and significand, exponents uniform over 60 binades around 1; of binary16, which has fewer,
                      * over all 30 */
    MEASURE_FULL,   /* the same over every exponent of the type, subnormals included */
    MEASURE_RANGE40 /* as MEASURE_WIDE over 40 binades around 1 */
} measure_data;

enum { MEASURE_DATA_COUNT = 5 };

/* "uniform", "normal", "wide", "full", "range40". */
const char *measure_data_name(measure_data data);

/* Fill an array with `count` values; integers of both widths are uniform over 32 bits, so that their sums fit. The work
 * is spread over the team's members, which also spreads the memory over the nodes of a machine that has several. */
void measure_fill_f64(double *values, size_t count, measure_data data, uint64_t seed, measure_team *team);
void measure_fill_f32(float *values, size_t count, measure_data data, uint64_t seed, measure_team *team);
void measure_fill_f16(uint16_t *values, size_t count, measure_data data, uint64_t seed, measure_team *team);
void measure_fill_bf16(uint16_t *values, size_t count, measure_data data, uint64_t seed, measure_team *team);
void measure_fill_i64(int64_t *values, size_t count, uint64_t seed, measure_team *team);
void measure_fill_i32(int32_t *values, size_t count, uint64_t seed, measure_team *team);

/* A number rounded to binary16 or bfloat16, as its bits: to nearest, ties to even; a NaN becomes a quiet one. */
uint16_t measure_f16(double value);
uint16_t measure_bf16(double value);

/* Integers of 1, 2, 4 or 8 bytes: uniform over all that the type holds; those of 8 bytes over 32 bits, so that their sums
 * fit. */
void measure_fill_integers(void *values, size_t count, unsigned bytes, int is_signed, uint64_t seed,
                           measure_team *team);

#endif
