/* What may be asked for: which operators, element types and result types go together. */
#ifndef RD_REDUCTION_H
#define RD_REDUCTION_H

#include "core/tables.h"

/* Checks that `result`, not REDUCT_DEFAULT, is a result type of the reduction. */
reduct_status rd_result_check(const reduct_reduction *reduction, reduct_type result, reduct_error *error);

/* Fewest elements for which the reduction has a result. */
uint64_t rd_minimum(const reduct_reduction *reduction);

/* True where both modes form the answer alike, or the mode is exact: always so for integers, extremes and products. */
bool rd_is_exact(const reduct_reduction *reduction);

#endif
