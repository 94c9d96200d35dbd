/* One reduction from data to result: what plans, accumulators and one-call functions share. */
#ifndef RD_EXECUTE_H
#define RD_EXECUTE_H

#include "core/backend.h"
#include "state/partial.h"

/* Checks the pointers to elements: whether they are there, as the operator reads them, and aligned; and that memory could hold
 * so many. */
reduct_status rd_check_inputs(const reduct_reduction *reduction, const void *x, const void *y, uint64_t count,
                              reduct_error *error);

/* Checks the pointers and adds the data to `partial`, which holds no elements (of `product` see core/backend.h). A null
 * workspace is found for the call where one is needed. `first` is the index that the first element has in the eyes of the
 * caller, for error messages. */
reduct_status rd_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                            void *workspace, uint64_t first, struct rd_partial *partial, reduct_error *error);

/* The same of the elements that a mask lets count, from its entry number `offset` on. */
reduct_status rd_accumulate_masked(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                   reduct_mask kind, const void *mask, uint64_t offset, uint64_t first,
                                   struct rd_partial *partial, reduct_error *error);

#endif
