/* A plan: a checked reduction, shape and device. */
#ifndef RD_PLAN_H
#define RD_PLAN_H

#include "core/backend.h"

struct reduct_plan {
    reduct_reduction reduction; /* resolved */
    uint64_t count;
    struct rd_device device;
    unsigned threads;
    size_t workspace;
    void *prepared; /* what the backend keeps */
};

#endif
