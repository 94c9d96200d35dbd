/* Asking for lines of the cache before they are read: into the first level those that lie AHEAD, and where so much of the array comes
 * that it is in no cache, into the second level those that lie FAR_AHEAD. A verified sum has too many instructions per line for the
 * processor to look far enough ahead by itself.
 *
 * Nothing beyond the array is asked for: where no memory is, the processor looks for it in vain each time, which took a variance of
 * 4096 doubles 64 us instead of 12. To see that for each line takes twice the time of the sum itself where the data are in a cache,
 * so a block has two parts: the first asks for what lies AHEAD, the second, whose lines have been asked for, for nothing new. Lines
 * that lie far ahead are worth a tenth where the array comes from memory and one thread reads it, and cost a third where it is in the
 * second level; a test in the loop costs as much, so that blocks with and without are compiled apart.
 *
 * Instruction sets define READ_AHEAD(at, ahead): asks for the line that lies so many bytes behind `at`; and
 * READ_LINES_AHEAD(at, ahead, far), which asks for the one FAR_AHEAD besides, if `far`, a constant, says so. */
#ifndef RD_AHEAD_H
#define RD_AHEAD_H

#include <stddef.h>

enum { AHEAD = 2048, FAR_AHEAD = 16384, BEYOND_CACHES = 1 << 26 };

/* How many of n elements have AHEAD more bytes behind them, in whole steps; so many bytes come after them. */
static inline size_t count_ahead(size_t n, size_t step, size_t bytes, size_t after) {
    const size_t all = n * bytes + after, most = all > AHEAD ? (all - AHEAD) / bytes / step * step : 0;
    return most < n ? most : n;
}

/* A loop over n elements, a whole number of steps, in which READ_AHEAD(at, ahead) may ask for what lies behind any that is read. */
#define FOR_AHEAD(i, ahead, n, step, bytes, after)                                                                     \
    for (size_t i = 0, ahead = AHEAD, until_ = count_ahead(n, step, bytes, after); i < (n); ahead = 0, until_ = (n))   \
        for (; i < until_; i += (step))

#endif
