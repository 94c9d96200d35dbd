/* Choosing kernels for the processor at hand. */
#ifndef RD_FEATURES_H
#define RD_FEATURES_H

#include "cpu/kernels.h"

/* The best kernels that run here. Decided once. */
const struct rd_kernels *rd_kernels_best(void);

/* The kernels for an instruction set by name ("portable", "avx2", "avx512"), or null if there are none or they do not
 * run here. */
const struct rd_kernels *rd_kernels_find(const char *name);

/* Whether it pays to ask for lines of the cache before they are read (cpu/kernels/ahead.h). */
bool rd_asks_ahead(void);

/* Whether the processor does vectors of 512 bits in two halves, and widens floats faster to halves; what to believe of it from now on, for
 * tests. */
bool rd_does_halves(void);
void rd_assume_halves(bool does);

/* Names of the kernels that run here, separated by ", ", for messages. */
void rd_kernels_list(char *text, size_t size);

#endif
