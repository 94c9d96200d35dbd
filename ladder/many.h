/* Many sums judged at once, for ladders that leave more than one: against sums in integers, which share nothing with the library. */
#ifndef LADDER_MANY_H
#define LADDER_MANY_H

#include "ladder/ladder.h"

__extension__ typedef unsigned __int128 many_units;

/* Element i of the ladder's uniform data in whole units: floats are multiples of 2^-53 from 0 to 1, and so are their sums; integers
 * are themselves, modulo 2^32. */
many_units many_units_at(const ladder_data *data, uint64_t i);

/* Results to be judged. */
typedef struct many_results {
    reduct_type type;
    const void *values; /* `count` of them, `bytes` each: those of integers may be longer than the type */
    size_t bytes;
    uint64_t count;
    double terms;           /* as ladder_judge() has it */
    const many_units *sums; /* what each of them should be */
} many_results;

/* The worst of them is the row's; of none, it is right. */
void many_judge(const many_results *results, report_row *row);

#endif
