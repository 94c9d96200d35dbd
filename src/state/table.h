/* Tables of accumulators: for each group of each state a cell (state/cell.h), in dense arrays.
 *
 * A device may have added elements to groups in its own memory, where they are pending: a group then holds what its cell and what is
 * pending come to together. So cells are reached through rd_table_rows() and its kin alone, which bring home what is pending unless the
 * caller only adds. All states of a table of which anything is pending are sums, to which it does not matter what comes first. */
#ifndef RD_TABLE_H
#define RD_TABLE_H

#include "core/backend.h"
#include "state/cell.h"

/* Cells of all groups of a table, of each state. */
struct rd_rows {
    unsigned char **cell;
    const struct rd_cells *cells;
    bool used; /* some may hold something */
};

/* Results that are asked for: of groups from one on, as a reduction says that is finished from a state of the table. */
struct rd_table_question {
    size_t state;
    reduct_reduction reduction; /* with its result type */
    uint64_t first, count;
    void *results;
    reduct_outcome *outcomes; /* may be null */
};

/* What is pending, as the device has it, which begins with this. */
struct rd_pending {
    /* Answers where it is, if the table holds nothing else and no result fails without an outcome. False: nothing was written, and results are to be had from
     * the cells. */
    bool (*answer)(const reduct_table *table, const struct rd_table_question *question);

    /* Adds it to the cells, and drops it. On failure all is as it was. */
    reduct_status (*bring_home)(reduct_table *table, reduct_error *error);

    void (*drop)(struct rd_pending *pending);
};

struct reduct_table {
    size_t reductions, states;
    reduct_reduction *reduction;    /* resolved */
    size_t *state_of;               /* from which state each is finished */
    struct rd_cells *cells;         /* of each state */
    struct rd_rows rows;            /* and its cells: see rd_table_rows() */
    struct rd_pending *pending;     /* null: nothing is */
    uint64_t groups, room;          /* cells in use, and allocated; the others are empty */
    uint64_t seen;                  /* elements presented, which is where the next one's index starts */
    const reduct_reduction *widest; /* the reduction that reads most arrays */
    struct rd_device device;
    struct rd_crew crew;
    reduct_executor executor; /* the caller's, if one was given */
};

/* What is added, or taken out: elements with an index each or, where there are no indices, all of one group. Its pointers were
 * checked, but not what they point to. */
struct rd_table_change {
    const reduct_table_batch *batch;
    uint64_t group;
    bool removes;
};

/* Makes a change whose arrays are in host memory. */
reduct_status rd_table_change_here(reduct_table *table, const struct rd_table_change *change, reduct_error *error);

/* Digits of a part: of two fields, as many planes as kernels have (cuda/kernels/groups.h). */
enum { RD_DIGITS_MOST = 384 };

/* What the elements of a change came to on a device: for group `first + number` of the table and each state a part, of which
 * `part` fills in what the state's cells need. */
struct rd_table_parts {
    uint64_t first, groups, elements;
    bool removes;
    void (*part)(const void *context, size_t state, uint64_t number, struct rd_digit digits[RD_DIGITS_MOST],
                 struct rd_cell_part *part); /* digits: room for the part's. Called by several threads */
    const void *context;
};

/* Adds the parts, or takes them out. Where an element cannot have been there, nothing is done and `missing` is set. */
reduct_status rd_table_take(reduct_table *table, const struct rd_table_parts *parts, bool *missing,
                            reduct_error *error);

/* The cells, when nothing is pending any more: to be read; to be changed in any way. They stay where they are said to be as the table
 * grows. Fails where what is pending cannot be brought home: with REDUCT_ERROR_OUT_OF_MEMORY or _DEVICE_LOST. */
reduct_status rd_table_rows(const reduct_table *table, const struct rd_rows **rows, reduct_error *error);
reduct_status rd_table_rows_to_change(reduct_table *table, const struct rd_rows **rows, reduct_error *error);

/* The cells as they are, for what only adds to them. */
const struct rd_rows *rd_table_rows_to_add(reduct_table *table);

static inline void *rd_table_cell(const struct rd_rows *rows, size_t state, uint64_t group) {
    return rows->cell[state] + group * rows->cells[state].size;
}

/* Makes a table of no groups. `executor` is null or copied. */
reduct_status rd_table_make(const reduct_table_options *options, reduct_table **table, reduct_error *error);

#endif
