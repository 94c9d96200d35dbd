/* Division, which GPUs have no instruction for. */
#pragma once

#include "grid.cuh"

namespace {

/* A quotient, by the shorter way where that will do. */
__device__ __forceinline__ u64 divide(u64 a, u64 b) {
    return (a | b) >> 32 ? a / b : (unsigned)a / (unsigned)b;
}

} // namespace
