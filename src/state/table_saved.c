/* The saved form of tables.
 *
 * All numbers are little-endian. Bytes 0-7 magic, 8-11 version, 12-15 reductions, 16-23 total size, 24-31 groups, 32-39 elements
 * seen, or 0 where no index is wanted. For each reduction 16 bytes: op, element, result, mode, nan, three zeros, flags in four,
 * four zeros. Then the cells (state/cell.h) of each state, group by group; reductions share states by rd_state_covers(), in
 * their order. Last the FNV-1a hash of all that precedes. */
#include "core/status.h"
#include "state/saved.h"
#include "state/table.h"
#include "state/walk.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, HEADER = 40, REDUCTION = 16, HASH = 8, CELL_LEAST = 3 };

static const unsigned char magic[8] = {0x89, 'r', 'd', 't', 'a', 'b', 'l', '\n'};

struct header {
    uint64_t version, reductions, size, groups, seen;
};

static void walk_header(struct rd_walk *walk, struct header *header) {
    walk->at += sizeof magic;
    rd_walk_bytes(walk, &header->version, 4);
    rd_walk_bytes(walk, &header->reductions, 4);
    rd_walk_word(walk, &header->size);
    rd_walk_word(walk, &header->groups);
    rd_walk_word(walk, &header->seen);
}

/* Whether a result depends on where elements were: otherwise that is not saved, as equal data have equal bytes. */
static bool wants_index(const reduct_table *table) {
    for (size_t i = 0; i < table->reductions; i++)
        if (rd_operator(table->reduction[i].op)->finish == RD_INDEX)
            return true;
    return false;
}

/* Bytes of all cells. */
static uint64_t size_of_cells(const reduct_table *table, const struct rd_rows *rows) {
    uint64_t bytes = 0;
    for (size_t s = 0; s < table->states; s++)
        for (uint64_t g = 0; g < table->groups; g++)
            bytes += rd_cell_saved_size(&table->cells[s], rd_table_cell(rows, s, g));
    return bytes;
}

/* Writes them, of which there is room for as many as there are, up to `end`. Returns where they end. */
static unsigned char *write_cells(const reduct_table *table, const struct rd_rows *rows, unsigned char *to,
                                  const unsigned char *end) {
    unsigned char saved[RD_CELL_SAVED_MOST];
    for (size_t s = 0; s < table->states; s++)
        for (uint64_t g = 0; g < table->groups; g++) {
            const bool direct = (size_t)(end - to) >= sizeof saved;
            const size_t size = rd_cell_write(&table->cells[s], rd_table_cell(rows, s, g), direct ? to : saved);
            if (!direct)
                memcpy(to, saved, size);
            to += size;
        }
    return to;
}

static void write_table(const reduct_table *table, const struct rd_rows *rows, size_t size, unsigned char *bytes) {
    struct rd_walk walk = {.doing = RD_WRITING, .at = bytes};
    struct header header = {VERSION, table->reductions, size, table->groups, wants_index(table) ? table->seen : 0};
    memcpy(bytes, magic, sizeof magic);
    walk_header(&walk, &header);
    for (size_t i = 0; i < table->reductions; i++) {
        reduct_reduction reduction = table->reduction[i];
        rd_saved_walk_reduction(&walk, &reduction);
    }
    walk.at = write_cells(table, rows, walk.at, bytes + size - HASH);
    uint64_t hash = rd_saved_hash(bytes, size - HASH);
    rd_walk_word(&walk, &hash);
}

reduct_status reduct_table_save(const reduct_table *table, void *bytes, size_t *size, reduct_error *error) {
    if (!table || !size)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", table ? "size" : "table");
    const struct rd_rows *rows;
    const reduct_status status = rd_table_rows(table, &rows, error);
    if (status != REDUCT_OK)
        return status;
    size_t needed = HEADER + table->reductions * REDUCTION + (size_t)size_of_cells(table, rows) + HASH;
    if (bytes && *size < needed)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "size: %zu; the table takes %zu bytes", *size, needed);
    if (bytes)
        write_table(table, rows, needed, bytes);
    *size = needed;
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Loading
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status damaged(const char *what, reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: damaged: %s", what);
}

static reduct_status read_header(const unsigned char *bytes, size_t size, struct header *header, reduct_error *error) {
    struct rd_walk walk = {.doing = RD_READING, .at = (unsigned char *)(uintptr_t)bytes}; /* read only */
    if (size < HEADER + HASH || memcmp(bytes, magic, sizeof magic) != 0)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: not a saved table");
    walk_header(&walk, header);
    if (header->version > VERSION)
        return rd_fail(error, REDUCT_ERROR_VERSION, "bytes: version %u; this library reads up to %d",
                       (unsigned)header->version, VERSION);
    struct rd_walk last = {.doing = RD_READING, .at = (unsigned char *)(uintptr_t)bytes + size - HASH};
    uint64_t hash = 0;
    rd_walk_word(&last, &hash);
    if (header->version != VERSION || header->size != size || hash != rd_saved_hash(bytes, size - HASH))
        return damaged("the size or the checksum is wrong", error);
    if (!header->reductions || header->reductions > (size - HEADER - HASH) / REDUCTION ||
        header->seen > RD_ELEMENTS_MAX)
        return damaged("a field is wrong", error);
    return REDUCT_OK;
}

/* Reads a reduction; false if it is none, or of no states, or would be saved otherwise. */
static bool read_reduction(struct rd_walk *walk, reduct_reduction *reduction) {
    unsigned char again[REDUCTION];
    const unsigned char *bytes = walk->at;
    struct rd_walk writing = {.doing = RD_WRITING, .at = again};
    struct rd_cells cells;
    rd_saved_walk_reduction(walk, reduction);
    rd_saved_walk_reduction(&writing, reduction);
    reduct_reduction resolved = *reduction;
    return memcmp(again, bytes, sizeof again) == 0 && reduct_reduction_resolve(&resolved, NULL) == REDUCT_OK &&
           resolved.result == reduction->result && rd_cells_of(&resolved, &cells, NULL) == REDUCT_OK;
}

/* A table of no groups. */
static reduct_status make_table(const unsigned char *bytes, const struct header *header,
                                const reduct_table_options *options, reduct_table **table, reduct_error *error) {
    struct rd_walk walk = {.doing = RD_READING, .at = (unsigned char *)(uintptr_t)bytes + HEADER};
    size_t count = (size_t)header->reductions;
    reduct_reduction *reduction = malloc(count * sizeof *reduction);
    if (!reduction)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated",
                       count * sizeof *reduction);
    bool known = true;
    for (size_t i = 0; i < count; i++) {
        known &= read_reduction(&walk, &reduction[i]) && reduction[i].element == reduction[0].element;
    }
    reduct_table_options own = *options;
    own.reductions = reduction;
    own.reduction_count = count;
    own.groups = 0;
    reduct_status status = known ? rd_table_make(&own, table, error) : damaged("a reduction is none", error);
    free(reduction);
    return status;
}

/* Each cell takes some bytes: so groups that no bytes can hold are not allocated. */
static reduct_status read_cells(reduct_table *table, const struct header *header, const unsigned char *at,
                                const unsigned char *end, reduct_error *error) {
    if (header->groups > (uint64_t)(end - at) / CELL_LEAST / table->states)
        return damaged("more groups than bytes", error);
    table->seen = wants_index(table) ? header->seen : 0;
    reduct_status status = reduct_table_resize(table, header->groups, error);
    const struct rd_rows *rows = rd_table_rows_to_add(table);
    for (size_t s = 0; s < table->states; s++)
        for (uint64_t g = 0; status == REDUCT_OK && g < table->groups; g++) {
            status = rd_cell_read(&table->cells[s], &at, end, table->seen, rd_table_cell(rows, s, g));
            if (status == REDUCT_ERROR_CORRUPT)
                damaged("a group is wrong", error);
            else if (status != REDUCT_OK)
                rd_fail(error, status, "table: words for all exponents could not be allocated");
        }
    return status == REDUCT_OK && at != end ? damaged("too long", error) : status;
}

/* What is seen in all is what all groups have seen, at least, where it is not saved. */
static bool count_seen(reduct_table *table, const struct header *header) {
    const struct rd_rows *rows = rd_table_rows_to_add(table);
    for (size_t s = 0; s < table->states; s++) {
        uint64_t seen = 0;
        for (uint64_t g = 0; g < table->groups; g++) {
            uint64_t more = rd_cell_seen(rd_table_cell(rows, s, g));
            if (more > RD_ELEMENTS_MAX - seen)
                return false;
            seen += more;
        }
        if (wants_index(table) && seen > header->seen)
            return false;
        table->seen = seen > table->seen ? seen : table->seen;
    }
    return wants_index(table) || !header->seen;
}

reduct_status reduct_table_load(const void *bytes, size_t size, const reduct_table_options *options,
                                reduct_table **table, reduct_error *error) {
    static const reduct_table_options standard;
    struct header header = {0};
    reduct_table *made = NULL;
    if (!bytes || !table)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", bytes ? "table" : "bytes");
    options = options ? options : &standard;
    if (options->reductions || options->reduction_count || options->groups)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT,
                       "reductions: not null; the bytes say which they are, and how many "
                       "groups");
    reduct_status status = read_header(bytes, size, &header, error);
    if (status == REDUCT_OK)
        status = make_table(bytes, &header, options, &made, error);
    const unsigned char *at = (const unsigned char *)bytes + HEADER + header.reductions * REDUCTION;
    if (status == REDUCT_OK)
        status = read_cells(made, &header, at, (const unsigned char *)bytes + size - HASH, error);
    if (status == REDUCT_OK && !count_seen(made, &header))
        status = damaged("more elements than were seen", error);
    if (status == REDUCT_OK)
        *table = made;
    else
        reduct_table_destroy(made);
    return status;
}
