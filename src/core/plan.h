/* A plan: a checked reduction, shape and device. */
#ifndef RD_PLAN_H
#define RD_PLAN_H

#include "core/many.h"

struct reduct_plan {
    struct rd_prepared prepared;
    uint64_t count;
    reduct_executor executor; /* the caller's, if one was given */
    struct rd_many *many;     /* null: a whole array to one result, of which the above says all */
};

#endif
