/* The partial result of one reduction: what backends fill, accumulators hold, merging adds up, and finishing rounds. */
#ifndef RD_PARTIAL_H
#define RD_PARTIAL_H

#include "core/reduction.h"
#include "arithmetic/limbs.h"
#include "arithmetic/product.h"

/* The most elements, NaNs and all: so many terms of any type fit the limbs of a sum (arithmetic/limbs.h). */
#define RD_ELEMENTS_MAX ((uint64_t)1 << 63)

struct rd_partial {
    reduct_reduction reduction;                       /* resolved */
    uint64_t seen;                                    /* elements presented: where the next one's index starts */
    uint64_t ignored;                                 /* of these, NaNs dropped under REDUCT_NAN_IGNORE */
    uint64_t nans, plus_infinities, minus_infinities; /* terms of sums that are not finite */
    bool nonzero;                                     /* some term was other than -0: the sum, if zero, is +0 */
    union {
        struct {                   /* sums of integers, and exact sums */
            struct rd_sum sum;     /* of the terms, whatever the transform; weighted: of the weights */
            struct rd_sum squares; /* moments: of the squares; weighted: of the products */
        };
        struct {                       /* products */
            struct rd_product product; /* of floats */
            struct rd_whole whole;     /* of integers */
        };
    };
    double high, low;   /* fast sums: high + low; fast moments: the mean and sum of squared deviations */
    bool found;         /* extremes: there is one */
    uint64_t extreme;   /* its bits, zero-extended from the element type; of norminf, of the absolute value */
    uint64_t index;     /* its index */
    uint64_t greatest;  /* where both extremes are wanted: the greatest; the least is above */
    uint64_t counted;   /* counts: elements that are such */
    uint64_t bits;      /* bits: the low ones, as many as an element has; of truth values one */
    uint64_t nan_index; /* of the first NaN element that was not ignored, UINT64_MAX if none */
};

/* No elements; `reduction` must be resolved. */
void rd_partial_init(struct rd_partial *partial, const reduct_reduction *reduction);

/* No elements, to be merged into `before` later: a product goes on where that one stands in its tree, holding what it
 * holds, and rd_partial_follow() must be what merges it. */
void rd_partial_begin(struct rd_partial *partial, const struct rd_partial *before);

/* Adds what was begun after `partial` to it. */
void rd_partial_follow(struct rd_partial *partial, const struct rd_partial *begun);

/* Elements that count. */
uint64_t rd_partial_count(const struct rd_partial *partial);

/* The count of elements that `partial` must hold a multiple of, or none, for `other` to be merged into it: 1, but for
 * products of floats, whose tree must stay that of a single pass. */
uint64_t rd_partial_alignment(const struct rd_partial *other);

/* Adds `other`, of the same reduction, whose elements follow those of `partial`; it may be `partial` itself. */
void rd_partial_merge(struct rd_partial *partial, const struct rd_partial *other);

/* Adds a fast sum high + low. */
void rd_partial_add_fast(struct rd_partial *partial, double high, double low);

/* Adds fast moments of `count` elements to those of `before` elements. */
void rd_partial_add_moments(struct rd_partial *partial, uint64_t before, uint64_t count, double mean,
                            double deviations);

/* Takes one more extreme, with its index, where it is better, or as good and earlier. */
void rd_partial_take(struct rd_partial *partial, uint64_t bits, uint64_t index);

/* The same of two where both extremes are wanted: `least` and `greatest` of the same elements. */
void rd_partial_take_both(struct rd_partial *partial, uint64_t least, uint64_t greatest);

/* Of bits: whether it is one bit for each element, which may be any byte that is not 0 where it is a bool. */
bool rd_is_truth(const reduct_reduction *reduction);

/* Takes what some elements' bits come to. */
void rd_partial_take_bits(struct rd_partial *partial, uint64_t bits);

/* Brings it into the one form that its data have, however they were split. */
void rd_partial_canonicalise(struct rd_partial *partial);

/* Whether fields that were loaded are ones that some data could have given. */
bool rd_partial_is_plausible(const struct rd_partial *partial);

/* Rounds into `type` (which must have passed rd_result_check) at `result`. */
reduct_status rd_partial_finish(const struct rd_partial *partial, reduct_type type, void *result, reduct_error *error);

#endif
