/* Groups by tables: each thread adds elements where their indices say to tables of its own, with an entry for each result. */
#ifndef RD_GROUP_TABLES_H
#define RD_GROUP_TABLES_H

#include "core/many.h"

/* Whether all reductions of a plan over groups can be done this way. */
bool rd_group_tables_suit(const struct rd_many *many);

reduct_status rd_group_tables_execute(const struct rd_many *many, const struct rd_execution *execution,
                                      reduct_error *error);

#endif
