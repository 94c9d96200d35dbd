/* Asking for lines of the cache before they are read. A verified sum has too many instructions per line for the processor to look far
 * enough ahead by itself.
 *
 * Nothing beyond the array is asked for: where no memory is, the processor looks for it in vain each time, which took a variance of
 * 4096 doubles 64 us instead of 12. To see that for each line takes twice the time of the sum itself where the data are in a cache,
 * so a block has two parts: the first asks for what lies AHEAD, the second, whose lines have been asked for, for nothing new. What is
 * 16 KiB away is not asked for, to come into the second level: that is worth a tenth at most, where one thread reads memory, makes
 * variances slower there, and sums of what is in that level a third slower.
 *
 * Processors of AMD look far enough ahead by themselves, and are kept from it by such questions: sums of f64 from memory took 1.4 times as
 * long, dot products from the second level 1.4 times. There all is the second part.
 *
 * Instruction sets define READ_AHEAD(at, ahead): asks for the line that lies so many bytes behind `at`. */
#ifndef RD_AHEAD_H
#define RD_AHEAD_H

#include "cpu/features.h"

#include <stddef.h>

enum { AHEAD = 2048 };

/* AHEAD, where it pays to ask and so many bytes come after what is read; else 0. */
static inline size_t bytes_ahead(size_t after) {
    return after >= AHEAD && rd_asks_ahead() ? AHEAD : 0;
}

/* How many of n elements have AHEAD more bytes behind them, in whole steps; so many bytes come after them. */
static inline size_t count_ahead(size_t n, size_t step, size_t bytes, size_t after) {
    const size_t all = n * bytes + after,
                 most = all > AHEAD && rd_asks_ahead() ? (all - AHEAD) / bytes / step * step : 0;
    return most < n ? most : n;
}

/* A loop over n elements, a whole number of steps, in which READ_AHEAD(at, ahead) may ask for what lies behind any that is read. */
#define FOR_AHEAD(i, ahead, n, step, bytes, after)                                                                     \
    for (size_t i = 0, ahead = AHEAD, until_ = count_ahead(n, step, bytes, after); i < (n); ahead = 0, until_ = (n))   \
        for (; i < until_; i += (step))

#endif
