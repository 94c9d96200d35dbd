/* Extremes side by side: of columns, and of rows that are short. */
#ifndef RD_SIDE_EXTREMES_H
#define RD_SIDE_EXTREMES_H

#include "cpu/job.h"

/* Whether a job is for this way. Then its tiles are of at most so many results along the innermost axis that stays. */
bool rd_side_extremes_suit(const struct rd_many *many);
uint64_t rd_side_extremes_tile(const struct rd_many *many, unsigned threads, uint64_t parts);

/* Memory that a thread needs for it, in bytes. */
size_t rd_side_extremes_bytes(void);

/* Reduces a part of `results` results from number `first` on. */
void rd_side_extremes_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results,
                             uint64_t part);

#endif
