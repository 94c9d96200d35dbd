/* Arithmetic of whole numbers that counts blocks, pieces and passes. */
#ifndef GPU_WHOLE_H
#define GPU_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t gpu_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* a / b, rounded up. */
static inline uint64_t gpu_ceil_divide(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

/* The least k with 2^k at least x; 63 for what is greater than 2^63. */
static inline unsigned gpu_ceil_log2(uint64_t x) {
    unsigned log = 0;
    while (log < 63 && UINT64_C(1) << log < x)
        log++;
    return log;
}

static inline bool gpu_is_power_of_two(uint64_t x) {
    return x && (x & (x - 1)) == 0;
}

#endif
