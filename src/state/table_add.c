/* Elements of tables. Threads take ranges of groups each: every one reads all indices and does what is its own, so that no cell
 * is anybody else's, and what elements of a group do to its cell does not depend on threads. */
#include "core/options.h"
#include "core/status.h"
#include "cpu/call.h"
#include "cpu/mask.h"
#include "cpu/team.h"
#include "execute.h"
#include "state/saved.h"
#include "state/table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Elements that are taken at a time; fewest for which a thread pays. */
enum { BLOCK = 1024, WORTH = 1 << 15 };

/* What is added, or taken out: elements with an index each or, where `indices` is null, all of one group. */
struct addition {
    reduct_table *table;
    const struct rd_rows *rows;
    const reduct_table_batch *batch;
    uint64_t group;
    bool removes;
    bool leaves_out; /* some elements */
    bool last;       /* what cannot be taken back, after all else was done */
};

/* Elements of a block that belong to a thread, one after another. */
struct block {
    size_t count;
    const void *x, *y;
    uint64_t group[BLOCK], place[BLOCK];
    uint16_t own[BLOCK];
    void *cell[BLOCK];
    _Alignas(8) unsigned char kept[2][BLOCK * 8];
};

/* A thread's groups, and how many blocks are done. */
struct part {
    uint64_t first, end, done;
    bool missing, failed;
    uint64_t element; /* that failed */
    struct block block;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Indices
 * ------------------------------------------------------------------------------------------------------------------ */

/* Groups of elements, a block or less of them. Indices that are negative are larger than any group. */
#define LOAD(T)                                                                                                        \
    for (size_t i = 0; i < count; i++)                                                                                 \
        group[i] = (uint64_t)((const T *)batch->indices)[from + i];                                                    \
    break

static void load_groups(const struct addition *addition, uint64_t from, size_t count, uint64_t *group) {
    const reduct_table_batch *batch = addition->batch;
    if (!batch->indices) {
        for (size_t i = 0; i < count; i++)
            group[i] = addition->group;
        return;
    }
    switch ((int)batch->index) {
    case REDUCT_U8:
        LOAD(uint8_t);
    case REDUCT_U16:
        LOAD(uint16_t);
    case REDUCT_U32:
        LOAD(uint32_t);
    case REDUCT_I32:
        LOAD(int32_t);
    default:
        LOAD(uint64_t);
    }
}

static bool is_index_type(reduct_type type) {
    return type == REDUCT_U8 || type == REDUCT_U16 || type == REDUCT_U32 || type == REDUCT_U64 || type == REDUCT_I32 ||
           type == REDUCT_I64;
}

/* Whether a mask leaves an element out. */
static bool is_masked(const reduct_table_batch *batch, uint64_t i) {
    const unsigned char *mask = batch->mask;
    uint64_t entry = batch->mask_offset + i;
    if (batch->mask_kind == REDUCT_MASK_NONE)
        return false;
    return batch->mask_kind == REDUCT_MASK_BYTES ? !mask[entry] : !(mask[entry / 8] >> entry % 8 & 1);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status check_mask(const reduct_table_batch *batch, reduct_error *error) {
    if ((unsigned)batch->mask_kind > REDUCT_MASK_BITS)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "mask_kind: %d is not a kind of mask", (int)batch->mask_kind);
    if (batch->mask_kind != REDUCT_MASK_NONE && batch->count && !batch->mask)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "mask: null pointer");
    if (batch->mask_kind == REDUCT_MASK_NONE && batch->mask_offset)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "mask_offset: %llu; expected 0 without a mask",
                       (unsigned long long)batch->mask_offset);
    if (batch->mask_offset > INT64_MAX - batch->count)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE,
                       "mask_offset: %llu; expected at most 2^63 entries of the mask in all",
                       (unsigned long long)batch->mask_offset);
    return REDUCT_OK;
}

static reduct_status check_batch(const reduct_table *table, const reduct_table_batch *batch, bool removes,
                                 reduct_error *error) {
    for (size_t s = 0; removes && s < table->states; s++)
        if (!table->cells[s].removes)
            return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "op: %s cannot tell what it was without an element",
                           reduct_operator_name(table->cells[s].reduction.op));
    reduct_status status = rd_check_inputs(table->widest, batch->x, batch->y, batch->count, error);
    if (status == REDUCT_OK)
        status = check_mask(batch, error);
    if (status == REDUCT_OK && !removes && batch->count > RD_ELEMENTS_MAX - table->seen)
        status = rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu elements after %llu; expected at most 2^63 in all",
                         (unsigned long long)batch->count, (unsigned long long)table->seen);
    return status;
}

static reduct_status check_indices(const reduct_table_batch *batch, reduct_error *error) {
    char label[RD_TYPE_LABEL];
    if (!is_index_type(batch->index))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "index: %s; expected u8, u16, u32, u64, i32 or i64",
                       rd_type_label(batch->index, label));
    if (!batch->indices && batch->count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "indices: null pointer");
    size_t bytes = rd_type(batch->index)->bytes;
    if ((uintptr_t)batch->indices % bytes)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "indices: address is not a multiple of the index's %zu bytes",
                       bytes);
    return REDUCT_OK;
}

/* Whether reductions of a state refuse NaNs: they do so before anything is added. */
static bool refuses(const struct rd_cells *cells) {
    return cells->reduction.nan == REDUCT_NAN_ERROR && rd_type(cells->reduction.element)->kind == RD_FLOAT;
}

static bool any_refuses(const reduct_table *table) {
    for (size_t s = 0; s < table->states; s++)
        if (refuses(&table->cells[s]))
            return true;
    return false;
}

/* Whether an element, or the pair, is a NaN to a state that refuses them. */
static bool is_refused(const reduct_table *table, const void *x, const void *y) {
    for (size_t s = 0; s < table->states; s++) {
        const struct rd_cells *cells = &table->cells[s];
        if (refuses(cells) &&
            rd_cells_refused(cells, x, rd_operator(cells->reduction.op)->inputs == 2 ? y : NULL, 1) == 0)
            return true;
    }
    return false;
}

/* The same of a block in which something is not as usual. */
static reduct_status check_each(struct addition *addition, bool refusing, uint64_t from, size_t count,
                                const uint64_t *group, reduct_error *error) {
    const reduct_table *table = addition->table;
    const reduct_table_batch *batch = addition->batch;
    const size_t bytes = rd_type(table->widest->element)->bytes;
    for (uint64_t i = from; i < from + count; i++) {
        bool masked = is_masked(batch, i), outside = group[i - from] >= table->groups;
        if (outside && !masked && !batch->skip)
            return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, i, "indices: element %llu is of group %lld of %llu",
                              (unsigned long long)i, (long long)group[i - from], (unsigned long long)table->groups);
        addition->leaves_out |= masked || outside;
        const unsigned char *x = (const unsigned char *)batch->x + i * bytes,
                            *y = batch->y ? (const unsigned char *)batch->y + i * bytes : NULL;
        if (refusing && !masked && !outside && is_refused(table, x, y))
            return rd_fail_at(error, REDUCT_ERROR_NAN, i, "element %llu is NaN", (unsigned long long)i);
    }
    return REDUCT_OK;
}

/* Looks at all elements before any is added: whether it has a group, and is no NaN where that is an error. */
static reduct_status check_elements(struct addition *addition, struct block *block, reduct_error *error) {
    const reduct_table *table = addition->table;
    const reduct_table_batch *batch = addition->batch;
    const bool refusing = any_refuses(table);
    reduct_status status = REDUCT_OK;
    for (uint64_t from = 0; status == REDUCT_OK && from < batch->count; from += BLOCK) {
        size_t count = batch->count - from < BLOCK ? (size_t)(batch->count - from) : BLOCK;
        bool outside = false;
        load_groups(addition, from, count, block->group);
        for (size_t i = 0; i < count; i++)
            outside |= block->group[i] >= table->groups;
        if (outside || refusing || batch->mask_kind != REDUCT_MASK_NONE)
            status = check_each(addition, refusing, from, count, block->group, error);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------------------------------------------------------ */

#define COPY(T)                                                                                                        \
    for (size_t i = 0; i < count; i++)                                                                                 \
        ((T *)to)[i] = ((const T *)from)[which[i]];                                                                    \
    break

/* Elements of these numbers, one after another. */
static void copy_elements(void *to, const void *from, size_t bytes, const uint16_t *which, size_t count) {
    switch (bytes) {
    case 1:
        COPY(uint8_t);
    case 2:
        COPY(uint16_t);
    case 4:
        COPY(uint32_t);
    default:
        COPY(uint64_t);
    }
}

/* Finds the elements of a block that belong to a part; returns how many. Without jumps, as no processor foresees which they are. */
static size_t find_own(const struct addition *addition, struct part *part, uint64_t from, size_t count) {
    const uint64_t first = part->first, groups = part->end - part->first, *group = part->block.group;
    uint16_t *own = part->block.own;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        own[kept] = (uint16_t)i;
        kept += group[i] - first < groups;
    }
    if (addition->batch->mask_kind == REDUCT_MASK_NONE)
        return kept;
    const size_t found = kept;
    kept = 0;
    for (size_t i = 0; i < found; i++) {
        const uint16_t at = own[i];
        own[kept] = at;
        kept += !is_masked(addition->batch, from + at);
    }
    return kept;
}

/* Leaves the elements of a block that belong to a part, one after another. */
static void keep_own(const struct addition *addition, struct part *part, uint64_t from, size_t count) {
    const reduct_table_batch *batch = addition->batch;
    struct block *block = &part->block;
    const size_t bytes = rd_type(addition->table->widest->element)->bytes, kept = find_own(addition, part, from, count);
    for (size_t i = 0; i < kept; i++) {
        block->group[i] = block->group[block->own[i]];
        block->place[i] = addition->table->seen + from + block->own[i];
    }
    copy_elements(block->kept[0], (const unsigned char *)batch->x + from * bytes, bytes, block->own, kept);
    if (batch->y)
        copy_elements(block->kept[1], (const unsigned char *)batch->y + from * bytes, bytes, block->own, kept);
    block->count = kept;
    block->x = block->kept[0];
    block->y = batch->y ? block->kept[1] : NULL;
}

/* Elements of block number `number` that belong to a part. Where all do they stay where they are. */
static void load_block(const struct addition *addition, struct part *part, uint64_t number) {
    const reduct_table_batch *batch = addition->batch;
    struct block *block = &part->block;
    const size_t bytes = rd_type(addition->table->widest->element)->bytes;
    const uint64_t from = number * BLOCK;
    const size_t count = batch->count - from < BLOCK ? (size_t)(batch->count - from) : BLOCK;
    load_groups(addition, from, count, block->group);
    if (addition->leaves_out || part->first != 0 || part->end != addition->table->groups) {
        keep_own(addition, part, from, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        block->place[i] = addition->table->seen + from + i;
    block->count = count;
    block->x = (const unsigned char *)batch->x + from * bytes;
    block->y = batch->y ? (const unsigned char *)batch->y + from * bytes : NULL;
}

/* A block as a state's batch. */
static struct rd_batch batch_of(const struct addition *addition, struct part *part, size_t s) {
    struct block *block = &part->block;
    const struct rd_cells *cells = &addition->table->cells[s];
    unsigned char *first = addition->rows->cell[s];
    const size_t size = cells->size;
    for (size_t i = 0; i < block->count; i++)
        block->cell[i] = first + block->group[i] * size;
    return (struct rd_batch){.cell = block->cell,
                             .step = 1,
                             .x = block->x,
                             .y = rd_operator(cells->reduction.op)->inputs == 2 ? block->y : NULL,
                             .count = block->count,
                             .place = block->place,
                             .removes = addition->removes,
                             .missing = &part->missing};
}

/* Whether a state's turn is now. */
static bool has_turn(const struct addition *addition, size_t s) {
    return addition->table->cells[s].removes != addition->last;
}

/* Takes a block back that states before number `s` have. */
static void undo_block(const struct addition *addition, struct part *part, size_t s) {
    while (s-- > 0)
        if (has_turn(addition, s)) {
            struct rd_batch batch = batch_of(addition, part, s);
            rd_cells_undo(&addition->table->cells[s], &batch, batch.count);
        }
}

static bool add_block(const struct addition *addition, struct part *part) {
    for (size_t s = 0; s < addition->table->states; s++) {
        if (!has_turn(addition, s))
            continue;
        struct rd_batch batch = batch_of(addition, part, s);
        size_t done = rd_cells_add(&addition->table->cells[s], &batch);
        if (done == batch.count)
            continue;
        part->element = part->block.place[done] - addition->table->seen;
        rd_cells_undo(&addition->table->cells[s], &batch, done);
        undo_block(addition, part, s);
        return false;
    }
    return true;
}

static void add_part(const struct addition *addition, struct part *part) {
    uint64_t blocks = addition->batch->count / BLOCK + (addition->batch->count % BLOCK != 0);
    for (part->done = 0; part->done < blocks; part->done++) {
        load_block(addition, part, part->done);
        if (!add_block(addition, part)) {
            part->failed = true;
            return;
        }
    }
}

static void undo_part(const struct addition *addition, struct part *part) {
    while (part->done-- > 0) {
        load_block(addition, part, part->done);
        undo_block(addition, part, addition->table->states);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

struct sharing {
    const struct addition *addition;
    struct part *part;
    unsigned parts;
    atomic_uint next;
};

static void take_parts(void *context) {
    struct sharing *sharing = context;
    for (unsigned i; (i = atomic_fetch_add(&sharing->next, 1)) < sharing->parts;)
        add_part(sharing->addition, &sharing->part[i]);
}

/* One round: of what can be taken back, or of the rest. The part that failed at the first element, or null. */
static const struct part *add_round(const struct addition *addition, struct part *part, unsigned parts) {
    struct sharing sharing = {addition, part, parts, 0};
    const struct part *failed = NULL;
    if (parts > 1)
        rd_team_run(&addition->table->crew, parts, take_parts, &sharing);
    else
        take_parts(&sharing);
    for (unsigned i = 0; i < parts; i++)
        if (part[i].failed && (!failed || part[i].element < failed->element))
            failed = &part[i];
    for (unsigned i = 0; failed && i < parts; i++)
        undo_part(addition, &part[i]);
    return failed;
}

static bool has_round(const struct addition *addition) {
    for (size_t s = 0; s < addition->table->states; s++)
        if (has_turn(addition, s))
            return true;
    return false;
}

static reduct_status add_parts(struct addition *addition, struct part *part, unsigned parts, reduct_error *error) {
    const struct part *failed = NULL;
    for (unsigned i = 0; i < parts; i++) {
        part[i].first = addition->table->groups / parts * i + addition->table->groups % parts * i / parts;
        part[i].end = addition->table->groups / parts * (i + 1) + addition->table->groups % parts * (i + 1) / parts;
        part[i].missing = part[i].failed = false;
    }
    for (int last = 0; last < 2 && !failed; last++) {
        addition->last = last;
        if (has_round(addition))
            failed = add_round(addition, part, parts);
    }
    if (failed && failed->missing)
        return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, failed->element, "x: element %llu, to be removed, is not there",
                          (unsigned long long)failed->element);
    if (failed)
        return rd_fail_at(error, REDUCT_ERROR_OUT_OF_MEMORY, failed->element,
                          "table: words for all exponents could not be allocated");
    return REDUCT_OK;
}

static reduct_status add(struct addition *addition, reduct_error *error) {
    const reduct_table *table = addition->table;
    const uint64_t count = addition->batch->count;
    uint64_t pieces = addition->batch->indices ? count / WORTH + 1 : 1;
    pieces = pieces < table->groups ? pieces : table->groups + !table->groups;
    unsigned parts = rd_team_threads(&table->crew, pieces, count * sizeof(double));
    struct part *part = count ? malloc(parts * sizeof *part) : NULL;
    if (count && !part)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated",
                       parts * sizeof *part);
    reduct_status status = count ? check_elements(addition, &part->block, error) : REDUCT_OK;
    if (status == REDUCT_OK && count)
        status = add_parts(addition, part, parts, error);
    free(part);
    if (status == REDUCT_OK && !addition->removes)
        addition->table->seen += count;
    return status;
}

reduct_status rd_table_change_here(reduct_table *table, const struct rd_table_change *change, reduct_error *error) {
    struct addition addition = {
        .table = table, .batch = change->batch, .group = change->group, .removes = change->removes};
    const reduct_status status = change->removes ? rd_table_rows_to_change(table, &addition.rows, error) : REDUCT_OK;
    if (!change->removes)
        addition.rows = rd_table_rows_to_add(table);
    return status == REDUCT_OK ? add(&addition, error) : status;
}

static reduct_status make_change(reduct_table *table, const struct rd_table_change *change, reduct_error *error) {
    const struct rd_backend *backend = table->device.backend;
    return backend->change_table ? backend->change_table(&table->device, table, change, error)
                                 : rd_table_change_here(table, change, error);
}

static reduct_status add_batch(reduct_table *table, const reduct_table_batch *batch, bool removes,
                               reduct_error *error) {
    if (!table || !batch)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", table ? "batch" : "table");
    reduct_status status = RD_CHECK_RESERVED("reserved", batch, error);
    if (status == REDUCT_OK)
        status = check_batch(table, batch, removes, error);
    if (status == REDUCT_OK)
        status = check_indices(batch, error);
    return status == REDUCT_OK
               ? make_change(table, &(struct rd_table_change){.batch = batch, .removes = removes}, error)
               : status;
}

reduct_status reduct_table_add(reduct_table *table, const reduct_table_batch *batch, reduct_error *error) {
    return add_batch(table, batch, false, error);
}

reduct_status reduct_table_remove(reduct_table *table, const reduct_table_batch *batch, reduct_error *error) {
    return add_batch(table, batch, true, error);
}

reduct_status reduct_table_add_group(reduct_table *table, uint64_t group, const void *x, const void *y, uint64_t count,
                                     reduct_error *error) {
    const reduct_table_batch batch = {.x = x, .y = y, .count = count};
    if (!table)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "table: null pointer");
    if (group >= table->groups)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "group: %llu of %llu", (unsigned long long)group,
                       (unsigned long long)table->groups);
    reduct_status status = check_batch(table, &batch, false, error);
    return status == REDUCT_OK ? make_change(table, &(struct rd_table_change){.batch = &batch, .group = group}, error)
                               : status;
}
