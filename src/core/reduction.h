/* What may be asked for: which operators, element types and result types go together. */
#ifndef RD_REDUCTION_H
#define RD_REDUCTION_H

#include "core/tables.h"

/* Reductions of one family keep the same state and run the same code; what an operator is to its family, its transform and
 * finish say. There is no "otherwise": code that tells families apart names each. */
enum rd_family {
    RD_EXACT_SUM,     /* of floats: sums, means, norms, variances, dot products in mode exact */
    RD_FAST_SUM,      /* the same in mode fast */
    RD_INTEGER_SUM,   /* the same of integers, in any mode */
    RD_EXTREME,       /* one of the elements, its index, or two elements and what lies between them */
    RD_COUNT,         /* how many elements are such */
    RD_BITS,          /* and, or, exclusive or of the elements' bits, or of one bit for each */
    RD_FLOAT_PRODUCT, /* along a tree */
    RD_INTEGER_PRODUCT
};
enum rd_family rd_family(const reduct_reduction *reduction);

/* Checks that `result`, not REDUCT_DEFAULT, is a result type of the reduction. */
reduct_status rd_result_check(const reduct_reduction *reduction, reduct_type result, reduct_error *error);

/* Bytes of a result: of all its values. */
size_t rd_result_size(const reduct_reduction *reduction);

/* Fewest elements for which the reduction has a result. */
uint64_t rd_minimum(const reduct_reduction *reduction);

/* True where both modes form the answer alike, or the mode is exact: always so but for sums of floats, and of these always for
 * weighted means. */
bool rd_is_exact(const reduct_reduction *reduction);

#endif
