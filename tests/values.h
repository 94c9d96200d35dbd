/* Data to reduce: every distribution and special value of the survival list, for every element type, from a seed.
 *
 * From the survival list: "Values" and, for integers, "integers at both ends of their range".
 */
#ifndef REDUCT_TESTS_VALUES_H
#define REDUCT_TESTS_VALUES_H

#include "support.h"

/* Pseudo-random numbers: splitmix64 (S. Vigna). The same seed gives the same numbers everywhere. */
struct rng {
    uint64_t state;
};
struct rng rng_of(uint64_t seed);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* in [0, bound); 0 for a bound of 0 */
double rng_unit(struct rng *rng);                    /* in [0, 1) */

struct distribution {
    const char *name;
    bool floats, integers; /* makes sense for */
    bool tame;             /* finite, and no partial sum of a million elements or their squares overflows f32 or f64 */
    /* Fills x, and y where it is not null, so that the pairs make an interesting dot. */
    void (*fill)(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count);
};
extern const struct distribution distributions[];
extern const size_t distribution_count;
const struct distribution *distribution_named(const char *name);

/* Whether a distribution makes sense for an element type. */
bool distribution_suits(const struct distribution *distribution, const struct test_type *type);

/* One element, from and to bits (the low bytes), from a double cut towards zero to what the type holds, from an integer
 * taken modulo 2^bits. */
uint64_t values_bits(const struct test_type *type, const void *array, size_t index);
void values_put_bits(const struct test_type *type, void *array, size_t index, uint64_t bits);
void values_put(const struct test_type *type, void *array, size_t index, double value);

/* A number of a floating-point type. */
double values_get(const struct test_type *type, const void *array, size_t index);

/* Floating-point types: the bits of infinity, the largest finite number, the smallest positive one. */
uint64_t values_infinity(const struct test_type *type);
double values_max(const struct test_type *type);
double values_tiny(const struct test_type *type);

/* A NaN: quiet or signalling, either sign, any payload. */
uint64_t values_nan(struct rng *rng, const struct test_type *type);

/* Puts pairs (x alone where y is null) in random order. */
void values_shuffle(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count);

/* A result type that the operator has for such elements; half the time REDUCT_DEFAULT. */
reduct_type test_pick_result(struct rng *rng, reduct_operator op, reduct_type element);

#endif
