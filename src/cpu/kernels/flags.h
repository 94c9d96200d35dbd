/* Verifying by exception flags, shared by the vector kernels of x86-64.
 *
 * A block adds terms to running sums with additions that are either corrected (the rounding error goes on to the next
 * slice) or required to be exact. The corrected ones round without touching the sticky flags of MXCSR; if after the
 * block the inexact, overflow, underflow and invalid flags are still clear, every other operation was exact, so the
 * slices hold exactly what they held before plus the block. A quiet NaN raises no flag, nor does an infinity that meets
 * no other, and both are looked for at the end.
 */
#ifndef RD_FLAGS_H
#define RD_FLAGS_H

#include "core/environment.h"
#include "cpu/kernels.h"
#include "cpu/kernels/ahead.h"

#include <immintrin.h>
#include <string.h>

enum { RD_INVALID = 0x01, RD_OVERFLOW = 0x08, RD_UNDERFLOW = 0x10, RD_INEXACT = 0x20 };

/* Keeps the arithmetic that forms `v` before this point, and what uses it after. */
#define BARRIER(v) __asm__ volatile("" : "+v"(v)::"memory")

/* True if none of `flags` was raised; if one was, all are cleared for what comes next. */
static inline bool flags_clear(unsigned flags) {
    if (!(_mm_getcsr() & flags))
        return true;
    _mm_setcsr(RD_MXCSR_DEFAULT);
    return false;
}

/* Brings 2^log2_lanes lanes of each slice home and starts them afresh; what they started from is taken off again. Most
 * often their sum is a double. */
static inline __attribute__((always_inline)) void
flush_lanes(struct rd_window *w, int log2_lanes, bool (*sum_lanes)(const struct rd_window *w, int k, double *total)) {
    for (int k = 0; k < w->level; k++) {
        double total;
        bool summed = sum_lanes(w, k, &total);
        if (summed)
            rd_sum_add_double(w->sum, total, w->scale[k]);
        for (int j = 0; j < 1 << log2_lanes; j++) {
            if (!summed)
                rd_sum_add_double(w->sum, w->lane[k][j], w->scale[k]);
            w->lane[k][j] = w->magic[k];
        }
        if (!summed)
            rd_sum_add_double(w->sum, -w->magic[k], w->scale[k] + log2_lanes);
    }
}

/* A macro, because GCC drops calls of functions that do nothing but this. */
#define READ_AHEAD(at, ahead) _mm_prefetch((const char *)(at) + (ahead), _MM_HINT_T0)

/* Two slices of trials: what lanes of the first one start from; what terms are, and sums have to be, multiplied by. */
struct trial_slices {
    double start, factor, back;
};

#endif
