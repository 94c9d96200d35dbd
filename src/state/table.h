/* Tables of accumulators: for each group of each state a cell (state/cell.h), in dense arrays. */
#ifndef RD_TABLE_H
#define RD_TABLE_H

#include "core/backend.h"
#include "state/cell.h"

struct reduct_table {
    size_t reductions, states;
    reduct_reduction *reduction;    /* resolved */
    size_t *state_of;               /* from which state each is finished */
    struct rd_cells *cells;         /* of each state */
    unsigned char **cell;           /* and its cells */
    uint64_t groups, room;          /* cells in use, and allocated; the others are empty */
    uint64_t seen;                  /* elements presented, which is where the next one's index starts */
    const reduct_reduction *widest; /* the reduction that reads most arrays */
    struct rd_crew crew;
    reduct_executor executor; /* the caller's, if one was given */
};

static inline void *rd_table_cell(const reduct_table *table, size_t state, uint64_t group) {
    return table->cell[state] + group * table->cells[state].size;
}

/* Makes a table of no groups. `executor` is null or copied. */
reduct_status rd_table_make(const reduct_table_options *options, reduct_table **table, reduct_error *error);

#endif
