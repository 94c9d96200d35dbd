/* Exact sums of floats side by side: of columns, and of rows that are short. */
#ifndef RD_SIDE_H
#define RD_SIDE_H

#include "cpu/job.h"

/* Whether a job is for this way. Then its tiles are of at most rd_side_tile() results along the
 * innermost axis that stays, where each can be cut into so many parts. */
bool rd_side_suits(const struct rd_many *many);
uint64_t rd_side_tile(const struct rd_many *many, unsigned threads, uint64_t parts);

/* Memory that a thread needs for it, in bytes, besides a state for each result of a tile; what is to be done with it first. */
size_t rd_side_bytes(void);
void rd_side_begin(void *memory);

/* Reduces a part of `results` results from number `first` on. */
void rd_side_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results, uint64_t part);

#endif
