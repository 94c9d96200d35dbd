/* What fast mode promises (reduct_mode in the header), as a check: the exact value, from the oracle, and the error that is
 * allowed, in MPFR. What has no rounding, extremes, products and integers, must be what the oracle says, and so must
 * special values and failures.
 */
#ifndef REDUCT_TESTS_BOUND_H
#define REDUCT_TESTS_BOUND_H

#include "support.h"

enum { BOUND_WHY = 240 };

/* Whether an outcome is within the bound; if not, `why` says what is wrong. `steps` is how many additions and merges led
 * to it, 1 for a plan: variances lose a little with each. */
bool bound_holds(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t steps,
                 const struct test_outcome *got, char why[BOUND_WHY]);

/* The same, but fails the running test; the format describes the case. */
void bound_check(const struct oracle *oracle, const reduct_reduction *reduction, uint64_t steps,
                 const struct test_outcome *got, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
