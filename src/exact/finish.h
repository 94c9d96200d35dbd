/* From exact sums to one rounding: means, roots, variances. */
#ifndef RD_FINISH_H
#define RD_FINISH_H

#include "exact/partial.h"

/* The finite value of an exact reduction, rounded once: the bit pattern of `type`, a floating-point type. The caller
 * has dealt with infinities, NaNs and the sign of a zero sum; a zero comes out as +0. */
uint64_t rd_finish_float(const struct rd_partial *partial, const struct rd_type *type);

/* The value of an exact sum of integers, in four words of two's complement, least significant first. Returns false if
 * it does not fit `type`, an integer type; the words then hold it modulo 2^256 all the same. */
bool rd_finish_integer(const struct rd_partial *partial, const struct rd_type *type, uint64_t word[4]);

#endif
