/* Groups by tables: each thread adds elements where their indices say to tables of its own, with an entry for each result. */
#ifndef RD_GROUP_TABLES_H
#define RD_GROUP_TABLES_H

#include "core/many.h"

/* Whether all reductions of a plan over groups can be done this way. */
bool rd_group_tables_suit(const struct rd_many *many);

reduct_status rd_group_tables_execute(const struct rd_many *many, const struct rd_execution *execution,
                                      reduct_error *error);

/* When threads share tables in place of having their own, for tests to change: how many times as many there are as may have their own, and elements,
 * from which they do; bytes of a table that a bucket of elements goes to; elements of a bucket that one thread takes, at least; elements that are
 * moved to buckets at a time, at least. */
struct rd_group_sharing {
    uint64_t times, elements, bucket_bytes, item, moved;
};
extern struct rd_group_sharing rd_group_sharing;

#endif
