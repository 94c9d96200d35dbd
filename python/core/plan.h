/* What plans are made from (plan.c), and how those of long executions are executed (pieces.c). */
#ifndef PYREDUCT_PLAN_H
#define PYREDUCT_PLAN_H

#include "core.h"

enum { REDUCTIONS_MAX = 64 };

/* What a plan is made from, as Python gives it. */
struct request {
    reduct_reduction reductions[REDUCTIONS_MAX];
    size_t count;
    uint64_t lengths[REDUCT_RANK_MAX];
    int64_t strides[2][REDUCT_RANK_MAX];
    int64_t result_strides[REDUCT_RANK_MAX], mask_strides[REDUCT_RANK_MAX];
    reduct_array array;
    reduct_segments segments;
    reduct_groups groups;
    reduct_plan_options options;
};

static inline uint64_t product(const uint64_t *lengths, unsigned count) {
    uint64_t elements = 1;
    for (unsigned axis = 0; axis < count; axis++)
        elements *= lengths[axis];
    return elements;
}

/* Whether executions of a plan of so many elements are done in pieces of so many. */
bool pieces_suit(const struct request *request, uint64_t elements, uint64_t piece);

/* With the interpreter's lock, which is released meanwhile. Results may be written where the status is not REDUCT_OK, of which there is no
 * message. Whether a signal's handler raised an exception is written to `interrupted`. */
reduct_status pieces_execute(const struct request *request, uint64_t piece, const void *const *inputs,
                             void *const *results, bool *interrupted);

#endif
