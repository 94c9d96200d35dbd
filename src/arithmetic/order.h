/* The order of elements, as one of integers. Compiled for the host and for CUDA devices. */
#ifndef RD_ORDER_H
#define RD_ORDER_H

#include "arithmetic/limbs.h"

/* An integer that orders as the elements do that have these bits, -0 below +0. NaN is not ordered. */
RD_LOCAL inline int64_t rd_order(uint64_t bits, enum rd_class kind, int bytes) {
    int64_t wide = (int64_t)(bits << (64 - 8 * bytes));
    switch (kind) {
    case RD_FLOAT:
        return wide ^ (int64_t)((uint64_t)(wide >> 63) >> 1);
    case RD_UNSIGNED:
        return wide ^ INT64_MIN;
    case RD_SIGNED:
        break;
    }
    return wide;
}

#endif
