/* From sums and products to one rounding: means, roots, variances. */
#ifndef RD_FINISH_H
#define RD_FINISH_H

#include "arithmetic/big.h"
#include "arithmetic/product.h"

/* Room to compute in: the caller's, since a thread of a GPU has no stack to speak of. */
struct rd_finish_room {
    struct rd_big value, mean, square;
};

/* What a reduction that adds came to, wherever it ran. */
struct rd_total {
    enum rd_transform transform;
    enum rd_finish finish;
    bool population; /* variances divide by the count, not by one less */
    bool is_float;   /* the elements are */
    bool nonzero;    /* some term was other than -0: the sum, if zero, is +0 */
    uint64_t count;  /* elements that count */
    uint64_t nans, plus_infinities, minus_infinities;
    struct rd_sum *sum,
        *squares; /* exact sums, in any layout; squares for moments, for weighted means of the products and then sum
                                   * of the weights. They get normalised */
    struct rd_finish_room *room;
    double high, low; /* fast sums: high + low; fast moments: the mean and sum of squared deviations */
};

/* An exact sum, or what is made of one, rounded once: the bit pattern of `type`, a floating-point type. */
RD_INLINED uint64_t rd_finish_float(const struct rd_total *total, const struct rd_type *type);

/* The same of exact moments: a variance, or its root. */
RD_SHARED uint64_t rd_finish_moments(const struct rd_total *total, const struct rd_type *type);

/* The same of a weighted mean: the sum of products over that of the weights, as IEEE 754 divides, but of the exact sums. */
RD_SHARED uint64_t rd_finish_quotient(const struct rd_total *total, const struct rd_type *type);

/* The value of an exact sum of integers, in four words of two's complement, least significant first. Returns false if
 * it does not fit `type`, an integer type; the words then hold it modulo 2^256 all the same. */
RD_INLINED bool rd_finish_integer(const struct rd_total *total, const struct rd_type *type, uint64_t word[4]);

/* The same of a product of integers. */
RD_SHARED bool rd_finish_whole(const struct rd_whole *whole, const struct rd_type *type, uint64_t word[4]);

/* A product of floats, among them `nans` NaNs that count, rounded once more: the bit pattern of `type`, a floating-point
 * type. The product is used up; `value` is room to compute in. Run within rd_environment_enter(). */
RD_SHARED uint64_t rd_finish_product(struct rd_product *product, uint64_t nans, const struct rd_type *type,
                                     struct rd_big *value);

/* A fast reduction: the bit pattern of `type`. Run within rd_environment_enter(). */
RD_SHARED uint64_t rd_finish_fast(const struct rd_total *total, const struct rd_type *type);

/* The canonical quiet NaN: positive, only the first bit of the significand set. */
RD_SHARED uint64_t rd_nan_bits(const struct rd_type *type);

#endif
