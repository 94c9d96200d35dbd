/* Tables of accumulators: making, growing, merging, results. Elements come in by table_add.c. */
#include "state/table.h"

#include "core/many.h"
#include "core/options.h"
#include "core/status.h"
#include "core/system.h"
#include "cpu/backend.h"
#include "cpu/team.h"
#include "family/family.h"
#include "state/saved.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Making
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status check_options(const reduct_table_options *options, struct rd_device *device, reduct_error *error) {
    if (!options->reductions || !options->reduction_count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reductions: %s; expected at least one",
                       options->reductions ? "none" : "null pointer");
    if (options->reduction_count > PTRDIFF_MAX / 1024)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "reduction_count: %zu", options->reduction_count);
    reduct_status status = RD_CHECK_RESERVED("reserved", options, error);
    if (status == REDUCT_OK)
        status = rd_check_executor(options->executor, error);
    if (status == REDUCT_OK)
        status = rd_device_open(options->device, NULL, device, error);
    if (status == REDUCT_OK && device->backend != &rd_cpu_backend && !device->backend->change_table)
        status = rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "device: %s has no tables; expected cpu or one cuda:N",
                         device->name);
    return status;
}

/* Resolves the reductions, and gives each a state: one that is there, or one of its own. */
static reduct_status choose_states(reduct_table *table, const reduct_table_options *options, reduct_error *error) {
    for (size_t i = 0; i < table->reductions; i++) {
        reduct_reduction *reduction = &table->reduction[i];
        struct rd_cells cells;
        *reduction = options->reductions[i];
        reduct_status status = reduct_reduction_resolve(reduction, error);
        if (status == REDUCT_OK)
            status = rd_cells_of(reduction, &cells, error);
        if (status == REDUCT_OK && reduction->element != table->reduction[0].element)
            status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "reductions: number %zu is of %s, the first one of %s", i,
                             reduct_type_name(reduction->element), reduct_type_name(table->reduction[0].element));
        if (status != REDUCT_OK)
            return status;
        size_t s = 0;
        while (s < table->states && !rd_state_covers(&table->cells[s].reduction, &cells.reduction) &&
               !rd_state_covers(&cells.reduction, &table->cells[s].reduction))
            s++;
        if (s == table->states || !rd_state_covers(&table->cells[s].reduction, &cells.reduction))
            table->cells[s] = cells;
        table->states += s == table->states;
        table->state_of[i] = s;
        if (!i || rd_operator(reduction->op)->inputs > rd_operator(table->widest->op)->inputs)
            table->widest = reduction;
    }
    return REDUCT_OK;
}

static reduct_status no_memory(size_t bytes, reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated", bytes);
}

reduct_status rd_table_make(const reduct_table_options *options, reduct_table **table, reduct_error *error) {
    struct rd_device device;
    reduct_status status = check_options(options, &device, error);
    if (status != REDUCT_OK)
        return status;
    size_t count = options->reduction_count,
           each = sizeof(reduct_reduction) + sizeof(struct rd_cells) + sizeof(size_t) + sizeof(unsigned char *),
           bytes = sizeof **table + count * each;
    reduct_table *made = calloc(1, bytes);
    if (!made)
        return no_memory(bytes, error);
    made->reductions = count;
    made->reduction = (reduct_reduction *)(made + 1);
    made->cells = (struct rd_cells *)(made->reduction + count);
    made->state_of = (size_t *)(made->cells + count);
    made->rows = (struct rd_rows){(unsigned char **)(made->state_of + count), made->cells, false};
    made->device = device;
    made->crew = (struct rd_crew){options->threads, NULL};
    if (options->executor) {
        made->executor = *options->executor;
        made->crew.executor = &made->executor;
    }
    status = choose_states(made, options, error);
    if (status != REDUCT_OK)
        free(made);
    else
        *table = made;
    return status;
}

reduct_status reduct_table_create(const reduct_table_options *options, reduct_table **table, reduct_error *error) {
    if (!options || !table)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", options ? "table" : "options");
    reduct_table *made = NULL;
    reduct_status status = rd_table_make(options, &made, error);
    if (status == REDUCT_OK)
        status = reduct_table_resize(made, options->groups, error);
    if (status == REDUCT_OK)
        *table = made;
    else
        reduct_table_destroy(made);
    return status;
}

static void drop_pending(reduct_table *table) {
    if (table->pending)
        table->pending->drop(table->pending);
    table->pending = NULL;
}

void reduct_table_reset(reduct_table *table) {
    if (!table)
        return;
    drop_pending(table);
    for (size_t s = 0; table->rows.used && s < table->states; s++)
        rd_cells_clear(&table->cells[s], table->rows.cell[s], table->groups);
    table->rows.used = false;
    table->seen = 0;
}

void reduct_table_destroy(reduct_table *table) {
    if (!table)
        return;
    drop_pending(table);
    for (size_t s = 0; s < table->states; s++) {
        rd_cells_release(&table->cells[s], table->rows.cell[s], table->groups);
        free(table->rows.cell[s]);
    }
    free(table);
}

/* Cells that are all zero, at a multiple of 64 bytes, as most of them are themselves: so each is in one cache line. */
static unsigned char *new_cells(size_t bytes) {
    size_t whole = (bytes + 63) / 64 * 64;
    unsigned char *cells = bytes < RD_LARGE_PAGE ? aligned_alloc(64, whole ? whole : 64) : rd_large_alloc(bytes);
    if (cells)
        memset(cells, 0, bytes);
    return cells;
}

/* Moves the cells to larger arrays, or leaves all as it is. */
static reduct_status make_room(reduct_table *table, uint64_t room, reduct_error *error) {
    unsigned char **grown = calloc(table->states, sizeof *grown);
    size_t bytes = 0, s = 0;
    for (; grown && s < table->states; s++) {
        bytes = (size_t)(room * table->cells[s].size);
        if (!(grown[s] = new_cells(bytes)))
            break;
    }
    if (!grown || s < table->states) {
        while (grown && s-- > 0)
            free(grown[s]);
        free(grown);
        return no_memory(bytes, error);
    }
    for (s = 0; s < table->states; s++) {
        if (table->groups)
            memcpy(grown[s], table->rows.cell[s], (size_t)(table->groups * table->cells[s].size));
        free(table->rows.cell[s]);
        table->rows.cell[s] = grown[s];
    }
    free(grown);
    table->room = room;
    return REDUCT_OK;
}

reduct_status reduct_table_resize(reduct_table *table, uint64_t groups, reduct_error *error) {
    if (!table)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "table: null pointer");
    if (groups < table->groups)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "groups: %llu; there are %llu already", (unsigned long long)groups,
                       (unsigned long long)table->groups);
    if (groups > (uint64_t)PTRDIFF_MAX / 256)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "groups: %llu exceed an address space",
                       (unsigned long long)groups);
    reduct_status status = REDUCT_OK;
    if (groups > table->room) {
        uint64_t room = table->room + table->room / 2;
        status = make_room(table, groups > room ? groups : room, error);
    }
    if (status == REDUCT_OK)
        table->groups = groups;
    return status;
}

uint64_t reduct_table_groups(const reduct_table *table) {
    return table ? table->groups : 0;
}

size_t reduct_table_reductions(const reduct_table *table) {
    return table ? table->reductions : 0;
}

reduct_reduction reduct_table_reduction(const reduct_table *table, size_t which) {
    return table && which < table->reductions ? table->reduction[which] : (reduct_reduction){0};
}

/* A table is an object that its creator may change: what is pending is a part of what it holds wherever that lies. */
reduct_status rd_table_rows(const reduct_table *table, const struct rd_rows **rows, reduct_error *error) {
    reduct_table *own = (reduct_table *)(uintptr_t)table;
    const reduct_status status = own->pending ? own->pending->bring_home(own, error) : REDUCT_OK;
    *rows = &table->rows;
    return status;
}

const struct rd_rows *rd_table_rows_to_add(reduct_table *table) {
    table->rows.used = true;
    return &table->rows;
}

reduct_status rd_table_rows_to_change(reduct_table *table, const struct rd_rows **rows, reduct_error *error) {
    const reduct_status status = rd_table_rows(table, rows, error);
    if (status == REDUCT_OK)
        *rows = rd_table_rows_to_add(table);
    return status;
}

uint64_t reduct_table_count(const reduct_table *table, size_t which, uint64_t group) {
    const struct rd_rows *rows;
    if (!table || which >= table->reductions || group >= table->groups ||
        rd_table_rows(table, &rows, NULL) != REDUCT_OK)
        return 0;
    size_t s = table->state_of[which];
    return rd_cell_count(&table->cells[s], rd_table_cell(rows, s, group));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Merging
 * ------------------------------------------------------------------------------------------------------------------ */

static bool same_reductions(const reduct_table *a, const reduct_table *b) {
    bool same = a->reductions == b->reductions;
    for (size_t i = 0; same && i < a->reductions; i++) {
        const reduct_reduction *of_a = &a->reduction[i], *of_b = &b->reduction[i];
        same = of_a->op == of_b->op && of_a->element == of_b->element && of_a->nan == of_b->nan &&
               of_a->flags == of_b->flags;
    }
    return same;
}

static reduct_status check_merge(const reduct_table *table, const reduct_table *other, const uint64_t *mapping,
                                 reduct_error *error) {
    if (!table || !other)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", table ? "other" : "table");
    if (table == other)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "other: the table itself");
    if (!same_reductions(table, other))
        return rd_fail(error, REDUCT_ERROR_MISMATCH, "other: a table of other reductions");
    if (!mapping && other->groups > table->groups)
        return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, table->groups,
                          "other: has %llu groups, more than the %llu of this table; expected a mapping of them",
                          (unsigned long long)other->groups, (unsigned long long)table->groups);
    for (uint64_t g = 0; mapping && g < other->groups; g++)
        if (mapping[g] >= table->groups)
            return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, g, "mapping: group %llu is to be %llu of %llu",
                              (unsigned long long)g, (unsigned long long)mapping[g], (unsigned long long)table->groups);
    if (other->seen > RD_ELEMENTS_MAX - table->seen)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "other: %llu elements after %llu; expected at most 2^63 in all",
                       (unsigned long long)other->seen, (unsigned long long)table->seen);
    return REDUCT_OK;
}

/* What is added to what. */
struct merging {
    const struct rd_rows *to, *from;
    const uint64_t *mapping;
    uint64_t groups, seen; /* groups of the latter, elements of the former */
};

static void *merged_cell(const struct merging *merging, size_t s, uint64_t group) {
    return rd_table_cell(merging->to, s, merging->mapping ? merging->mapping[group] : group);
}

/* Combines the cells of a state; returns how many before there was no memory. */
static uint64_t merge_state(const struct merging *merging, size_t s) {
    for (uint64_t g = 0; g < merging->groups; g++) {
        const void *cell = rd_table_cell(merging->from, s, g);
        if (rd_cell_seen(cell) &&
            !rd_cell_combine(&merging->to->cells[s], merged_cell(merging, s, g), cell, merging->seen))
            return g;
    }
    return merging->groups;
}

static void separate_state(const struct merging *merging, size_t s, uint64_t groups) {
    while (groups-- > 0)
        if (rd_cell_seen(rd_table_cell(merging->from, s, groups)))
            rd_cell_separate(&merging->to->cells[s], merged_cell(merging, s, groups),
                             rd_table_cell(merging->from, s, groups));
}

/* Sums come first: only they can fail. */
reduct_status reduct_table_merge(reduct_table *table, const reduct_table *other, const uint64_t *mapping,
                                 reduct_error *error) {
    struct merging merging = {.mapping = mapping};
    reduct_status status = check_merge(table, other, mapping, error);
    if (status == REDUCT_OK)
        status = rd_table_rows(other, &merging.from, error);
    uint64_t done = 0;
    size_t s = 0;
    if (status != REDUCT_OK)
        return status;
    merging.to = rd_table_rows_to_add(table);
    merging.groups = other->groups;
    merging.seen = table->seen;
    for (; s < table->states; s++)
        if (table->cells[s].kind == RD_CELL_SUMS && (done = merge_state(&merging, s)) < other->groups)
            break;
    if (s < table->states) {
        separate_state(&merging, s, done);
        while (s-- > 0)
            if (table->cells[s].kind == RD_CELL_SUMS)
                separate_state(&merging, s, other->groups);
        return rd_fail_at(error, REDUCT_ERROR_OUT_OF_MEMORY, done,
                          "table: words for all exponents could not be allocated");
    }
    for (s = 0; s < table->states; s++)
        if (table->cells[s].kind != RD_CELL_SUMS)
            merge_state(&merging, s);
    table->seen += other->seen;
    return REDUCT_OK;
}

static void swap_numbers(uint64_t *a, uint64_t *b) {
    const uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* States follow from reductions, so that both have the same. */
reduct_status reduct_table_swap(reduct_table *table, reduct_table *other, reduct_error *error) {
    if (!table || !other)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", table ? "other" : "table");
    if (!same_reductions(table, other))
        return rd_fail(error, REDUCT_ERROR_MISMATCH, "other: a table of other reductions");
    for (size_t s = 0; s < table->states; s++) {
        unsigned char *kept = table->rows.cell[s];
        table->rows.cell[s] = other->rows.cell[s];
        other->rows.cell[s] = kept;
    }
    struct rd_pending *pending = table->pending;
    table->pending = other->pending;
    other->pending = pending;
    const bool used = table->rows.used;
    table->rows.used = other->rows.used;
    other->rows.used = used;
    swap_numbers(&table->groups, &other->groups);
    swap_numbers(&table->room, &other->room);
    swap_numbers(&table->seen, &other->seen);
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parts from a device
 * ------------------------------------------------------------------------------------------------------------------ */

/* Groups of a state that a thread takes. */
struct range {
    const struct rd_rows *rows;
    const struct rd_table_parts *parts;
    size_t state;
    uint64_t first, end, done; /* all before `done` are */
};

/* The fewest groups for which a thread pays; the most ranges of a state. */
enum { RANGE_LEAST = 4096, RANGES_MOST = 64 };

/* The next part of a range, and its cell. */
static void *next_cell(const struct range *range, struct rd_digit *digits, struct rd_cell_part *part) {
    *part = (struct rd_cell_part){.seen = 0};
    range->parts->part(range->parts->context, range->state, range->done, digits, part);
    return rd_table_cell(range->rows, range->state, range->parts->first + range->done);
}

static void take_range(struct range *range) {
    const struct rd_cells *cells = &range->rows->cells[range->state];
    struct rd_digit digits[RD_DIGITS_MOST];
    struct rd_cell_part part;
    for (range->done = range->first; range->done < range->end; range->done++) {
        void *cell = next_cell(range, digits, &part);
        if (part.seen && !rd_cell_take(cells, cell, &part, range->parts->removes))
            return;
    }
}

static void untake_range(struct range *range) {
    struct rd_digit digits[RD_DIGITS_MOST];
    struct rd_cell_part part;
    while (range->done-- > range->first) {
        void *cell = next_cell(range, digits, &part);
        if (part.seen)
            rd_cell_untake(&range->rows->cells[range->state], cell, &part, range->parts->removes);
    }
}

static bool may_hold_all(const reduct_table *table, const struct rd_rows *rows, const struct rd_table_parts *parts) {
    struct rd_digit digits[RD_DIGITS_MOST];
    struct rd_cell_part part;
    for (size_t s = 0; s < table->states; s++)
        for (struct range all = {rows, parts, s, 0, 0, 0}; all.done < parts->groups; all.done++) {
            const void *cell = next_cell(&all, digits, &part);
            if (!rd_cell_may_hold(&table->cells[s], cell, &part))
                return false;
        }
    return true;
}

struct ranges {
    struct range *range;
    unsigned count;
    atomic_uint next;
};

static void take_ranges(void *context) {
    struct ranges *ranges = context;
    for (unsigned i; (i = atomic_fetch_add(&ranges->next, 1)) < ranges->count;)
        take_range(&ranges->range[i]);
}

/* The parts of a state: all of them, or none where there was no memory. */
static bool take_state(const reduct_table *table, const struct rd_rows *rows, const struct rd_table_parts *parts,
                       size_t s) {
    struct range range[RANGES_MOST];
    const uint64_t useful = parts->groups / RANGE_LEAST + 1;
    const unsigned count = rd_team_threads(&table->crew, useful < RANGES_MOST ? useful : RANGES_MOST,
                                           parts->groups * table->cells[s].size);
    struct ranges ranges = {range, count, 0};
    bool failed = false;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t each = parts->groups / count, more = parts->groups % count;
        range[i] =
            (struct range){rows, parts, s, each * i + more * i / count, each * (i + 1) + more * (i + 1) / count, 0};
    }
    if (count > 1)
        rd_team_run(&table->crew, count, take_ranges, &ranges);
    else
        take_ranges(&ranges);
    for (unsigned i = 0; i < count; i++)
        failed = failed || range[i].done < range[i].end;
    for (unsigned i = 0; failed && i < count; i++)
        untake_range(&range[i]);
    return !failed;
}

static void untake_state(const struct rd_rows *rows, const struct rd_table_parts *parts, size_t s) {
    untake_range(&(struct range){rows, parts, s, 0, parts->groups, parts->groups});
}

/* Sums come first: only they can fail. */
reduct_status rd_table_take(reduct_table *table, const struct rd_table_parts *parts, bool *missing,
                            reduct_error *error) {
    const struct rd_rows *rows;
    size_t s = 0;
    *missing = false;
    const reduct_status status = parts->removes ? rd_table_rows_to_change(table, &rows, error) : REDUCT_OK;
    if (status != REDUCT_OK)
        return status;
    rows = rd_table_rows_to_add(table);
    *missing = parts->removes && !may_hold_all(table, rows, parts);
    if (*missing)
        return REDUCT_OK;
    while (s < table->states && (table->cells[s].kind != RD_CELL_SUMS || take_state(table, rows, parts, s)))
        s++;
    if (s < table->states) {
        while (s-- > 0)
            if (table->cells[s].kind == RD_CELL_SUMS)
                untake_state(rows, parts, s);
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: words for all exponents could not be allocated");
    }
    for (s = 0; s < table->states; s++)
        if (table->cells[s].kind != RD_CELL_SUMS)
            take_state(table, rows, parts, s);
    table->seen += parts->removes ? 0 : parts->elements;
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status finish(const reduct_table *table, const struct rd_rows *rows, size_t which, reduct_type type,
                            uint64_t group, void *result, reduct_error *error) {
    struct rd_partial partial;
    size_t s = table->state_of[which];
    rd_cell_partial(&table->cells[s], rd_table_cell(rows, s, group), &table->reduction[which], &partial);
    return rd_partial_finish(&partial, type, result, error);
}

/* Whether a result can fail: to exist, or to fit. */
static bool may_fail(const reduct_reduction *reduction, reduct_type type) {
    bool wraps = reduction->flags & REDUCT_WRAP || rd_type(type)->kind == RD_FLOAT;
    return rd_minimum(reduction) > 0 || (rd_family(reduction) == RD_INTEGER_SUM && !wraps);
}

/* To host memory. */
static reduct_status finish_all(const reduct_table *table, size_t which, const reduct_reduction *as, uint64_t first,
                                uint64_t count, size_t size, void *results, reduct_outcome *outcomes,
                                reduct_error *error) {
    unsigned char unused[64];
    const struct rd_rows *rows;
    reduct_status status = rd_table_rows(table, &rows, error);
    for (uint64_t i = 0; status == REDUCT_OK && !outcomes && may_fail(as, as->result) && i < count; i++) {
        status = finish(table, rows, which, as->result, first + i, unused, error);
        if (status != REDUCT_OK && error)
            error->index = first + i;
    }
    for (uint64_t i = 0; status == REDUCT_OK && i < count; i++) {
        unsigned char *result = (unsigned char *)results + i * size;
        reduct_status one = finish(table, rows, which, as->result, first + i, result, NULL);
        if (one != REDUCT_OK)
            rd_store_failed(as, result);
        if (outcomes)
            outcomes[i] = (reduct_outcome){.status = one, .index = UINT64_MAX};
    }
    return status;
}

reduct_status reduct_table_result(const reduct_table *table, size_t which, reduct_type type, uint64_t first,
                                  uint64_t count, void *results, reduct_outcome *outcomes, reduct_error *error) {
    if (!table || (!results && count))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", table ? "results" : "table");
    if (which >= table->reductions)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "which: %zu of %zu reductions", which, table->reductions);
    if (first > table->groups || count > table->groups - first)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "first: %llu groups from %llu on, of %llu",
                       (unsigned long long)count, (unsigned long long)first, (unsigned long long)table->groups);
    reduct_reduction as = table->reduction[which];
    as.result = type == REDUCT_DEFAULT ? as.result : type;
    reduct_status status = rd_result_check(&as, as.result, error);
    const size_t size = status == REDUCT_OK ? rd_result_size(&as) : 0;
    const struct rd_table_question question = {table->state_of[which], as, first, count, results, outcomes};
    if (status == REDUCT_OK && table->pending && table->pending->answer(table, &question))
        return REDUCT_OK;
    const int owner = size && count && table->device.backend->owner ? table->device.backend->owner(results) : -1;
    if (status != REDUCT_OK || owner < 0)
        return status == REDUCT_OK ? finish_all(table, which, &as, first, count, size, results, outcomes, error)
                                   : status;
    void *staged = malloc((size_t)count * size);
    if (!staged)
        return no_memory((size_t)count * size, error);
    status = finish_all(table, which, &as, first, count, size, staged, outcomes, error);
    if (status == REDUCT_OK)
        status = table->device.backend->put(owner, results, staged, (size_t)count * size, error);
    free(staged);
    return status;
}
