/* States: cells in the caller's memory. */
#include "core/status.h"
#include "execute.h"
#include "state/cell.h"
#include "state/saved.h"

#include <string.h>

/* The saved form of a state: a byte that says what this is, one with the version, one each with operator, element type and NaN
 * policy; the cell (state/cell.h); the FNV-1a hash of all that precedes, in 8 bytes, little-endian. */
enum { MAGIC = 0xd3, VERSION = 1, HEADER = 5, HASH = 8 };

/* What every call needs. */
static reduct_status find_cells(const reduct_reduction *reduction, struct rd_cells *cells, reduct_error *error) {
    if (!reduction)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reduction: null pointer");
    reduct_reduction resolved = *reduction;
    reduct_status status = reduct_reduction_resolve(&resolved, error);
    return status == REDUCT_OK ? rd_cells_of(&resolved, cells, error) : status;
}

/* And a state, whose name messages say. */
static reduct_status check(const reduct_reduction *reduction, const void *state, const char *name,
                           struct rd_cells *cells, reduct_error *error) {
    reduct_status status = find_cells(reduction, cells, error);
    if (status == REDUCT_OK && !state)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", name);
    if (status == REDUCT_OK && (uintptr_t)state % _Alignof(uint64_t))
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: address is not a multiple of 8", name);
    return status;
}

reduct_status reduct_state_size(const reduct_reduction *reduction, size_t *size, reduct_error *error) {
    struct rd_cells cells;
    if (!size)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "size: null pointer");
    reduct_status status = find_cells(reduction, &cells, error);
    if (status == REDUCT_OK)
        *size = cells.size;
    return status;
}

reduct_status reduct_state_init(const reduct_reduction *reduction, void *state, reduct_error *error) {
    struct rd_cells cells;
    reduct_status status = check(reduction, state, "state", &cells, error);
    if (status == REDUCT_OK)
        memset(state, 0, cells.size);
    return status;
}

reduct_status reduct_state_clear(const reduct_reduction *reduction, void *state, reduct_error *error) {
    struct rd_cells cells;
    reduct_status status = check(reduction, state, "state", &cells, error);
    if (status == REDUCT_OK)
        rd_cell_clear(&cells, state);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Elements
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status too_large(const struct rd_batch *batch, uint64_t seen, reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu elements after %llu; expected at most 2^63 in all",
                   (unsigned long long)batch->count, (unsigned long long)seen);
}

/* Extremes could not be taken back: so it is asked before any state is touched whether it has room for all. */
static reduct_status check_room(const struct rd_batch *batch, reduct_error *error) {
    for (size_t i = 0; i < (batch->step || !batch->count ? batch->count : 1); i++) {
        uint64_t seen = rd_cell_seen(batch->cell[i * batch->step]);
        if (seen > RD_ELEMENTS_MAX - batch->count)
            return too_large(batch, seen, error);
    }
    return REDUCT_OK;
}

static reduct_status check_elements(const struct rd_cells *cells, const struct rd_batch *batch, reduct_error *error) {
    if (!cells->removes && batch->removes)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "op: %s cannot tell what it was without an element",
                       reduct_operator_name(cells->reduction.op));
    reduct_status status = rd_check_inputs(&cells->reduction, batch->x, batch->y, batch->count, error);
    if (status == REDUCT_OK && !cells->removes)
        status = check_room(batch, error);
    if (status != REDUCT_OK)
        return status;
    uint64_t nan = rd_cells_refused(cells, batch->x, batch->y, batch->count);
    if (nan != UINT64_MAX)
        return rd_fail_at(error, REDUCT_ERROR_NAN, nan, "element %llu is NaN", (unsigned long long)nan);
    return REDUCT_OK;
}

static reduct_status add(const struct rd_cells *cells, const struct rd_batch *batch, reduct_error *error) {
    reduct_status status = check_elements(cells, batch, error);
    if (status != REDUCT_OK)
        return status;
    bool missing = false;
    struct rd_batch watched = *batch;
    watched.missing = &missing;
    size_t done = rd_cells_add(cells, &watched);
    if (done == batch->count)
        return REDUCT_OK;
    uint64_t seen = rd_cell_seen(batch->cell[done * batch->step]);
    rd_cells_undo(cells, batch, done);
    if (!batch->removes && seen == RD_ELEMENTS_MAX)
        return too_large(batch, seen, error);
    if (missing)
        return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, done, "x: element %llu, to be removed, is not there",
                          (unsigned long long)done);
    return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "state: words for all exponents could not be allocated");
}

static reduct_status add_to_one(const reduct_reduction *reduction, void *state, const void *x, const void *y,
                                uint64_t count, bool removes, reduct_error *error) {
    struct rd_cells cells;
    reduct_status status = check(reduction, state, "state", &cells, error);
    const struct rd_batch batch = {.cell = &state, .x = x, .y = y, .count = count, .removes = removes};
    return status == REDUCT_OK ? add(&cells, &batch, error) : status;
}

static reduct_status add_to_each(const reduct_reduction *reduction, void *const *states, const void *x, const void *y,
                                 uint64_t count, bool removes, reduct_error *error) {
    struct rd_cells cells;
    reduct_status status = find_cells(reduction, &cells, error);
    if (status == REDUCT_OK && count && !states)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "states: null pointer");
    const struct rd_batch batch = {.cell = states, .step = 1, .x = x, .y = y, .count = count, .removes = removes};
    return status == REDUCT_OK ? add(&cells, &batch, error) : status;
}

reduct_status reduct_state_add(const reduct_reduction *reduction, void *state, const void *x, const void *y,
                               uint64_t count, reduct_error *error) {
    return add_to_one(reduction, state, x, y, count, false, error);
}

reduct_status reduct_state_add_each(const reduct_reduction *reduction, void *const *states, const void *x,
                                    const void *y, uint64_t count, reduct_error *error) {
    return add_to_each(reduction, states, x, y, count, false, error);
}

reduct_status reduct_state_remove(const reduct_reduction *reduction, void *state, const void *x, const void *y,
                                  uint64_t count, reduct_error *error) {
    return add_to_one(reduction, state, x, y, count, true, error);
}

reduct_status reduct_state_remove_each(const reduct_reduction *reduction, void *const *states, const void *x,
                                       const void *y, uint64_t count, reduct_error *error) {
    return add_to_each(reduction, states, x, y, count, true, error);
}

reduct_status reduct_state_combine(const reduct_reduction *reduction, void *state, const void *other,
                                   reduct_error *error) {
    struct rd_cells cells;
    reduct_status status = check(reduction, state, "state", &cells, error);
    if (status == REDUCT_OK)
        status = check(reduction, other, "other", &cells, error);
    if (status != REDUCT_OK)
        return status;
    uint64_t seen = rd_cell_seen(state), more = rd_cell_seen(other);
    if (more > RD_ELEMENTS_MAX - seen)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "other: %llu elements after %llu; expected at most 2^63 in all",
                       (unsigned long long)more, (unsigned long long)seen);
    if (!rd_cell_combine(&cells, state, other, seen))
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "state: words for all exponents could not be allocated");
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results and bytes
 * ------------------------------------------------------------------------------------------------------------------ */

reduct_status reduct_state_count(const reduct_reduction *reduction, const void *state, uint64_t *count,
                                 reduct_error *error) {
    struct rd_cells cells;
    reduct_status status = check(reduction, state, "state", &cells, error);
    if (status == REDUCT_OK && !count)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "count: null pointer");
    if (status == REDUCT_OK)
        *count = rd_cell_count(&cells, state);
    return status;
}

reduct_status reduct_state_result(const reduct_reduction *reduction, const void *state, void *result,
                                  reduct_error *error) {
    struct rd_cells cells;
    struct rd_partial partial;
    reduct_status status = check(reduction, state, "state", &cells, error);
    if (status == REDUCT_OK && !result)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "result: null pointer");
    if (status != REDUCT_OK)
        return status;
    rd_cell_partial(&cells, state, &cells.reduction, &partial);
    return rd_partial_finish(&partial, cells.reduction.result, result, error);
}

static void write_header(const struct rd_cells *cells, unsigned char header[HEADER]) {
    header[0] = MAGIC;
    header[1] = VERSION;
    header[2] = (unsigned char)cells->reduction.op;
    header[3] = (unsigned char)cells->reduction.element;
    header[4] = (unsigned char)cells->reduction.nan;
}

static void write_hash(unsigned char *bytes, size_t size) {
    uint64_t hash = rd_saved_hash(bytes, size);
    for (int i = 0; i < HASH; i++)
        bytes[size + (size_t)i] = (unsigned char)(hash >> (8 * i));
}

reduct_status reduct_state_save(const reduct_reduction *reduction, const void *state, void *bytes, size_t *size,
                                reduct_error *error) {
    struct rd_cells cells;
    unsigned char saved[HEADER + RD_CELL_SAVED_MOST + HASH];
    reduct_status status = check(reduction, state, "state", &cells, error);
    if (status == REDUCT_OK && !size)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "size: null pointer");
    if (status != REDUCT_OK)
        return status;
    write_header(&cells, saved);
    size_t length = HEADER + rd_cell_write(&cells, state, saved + HEADER);
    write_hash(saved, length);
    length += HASH;
    if (bytes && *size < length)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "size: %zu; the state takes %zu bytes", *size, length);
    if (bytes)
        memcpy(bytes, saved, length);
    *size = length;
    return REDUCT_OK;
}

static reduct_status check_header(const struct rd_cells *cells, const unsigned char *bytes, size_t size,
                                  reduct_error *error) {
    unsigned char header[HEADER], hash[HASH];
    write_header(cells, header);
    if (size < HEADER + HASH || size > HEADER + RD_CELL_SAVED_MOST + HASH || bytes[0] != MAGIC)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: not a saved state");
    if (bytes[1] > VERSION)
        return rd_fail(error, REDUCT_ERROR_VERSION, "bytes: version %u; this library reads up to %d",
                       (unsigned)bytes[1], VERSION);
    uint64_t expected = rd_saved_hash(bytes, size - HASH);
    for (int i = 0; i < HASH; i++)
        hash[i] = (unsigned char)(expected >> (8 * i));
    if (bytes[1] != VERSION || memcmp(bytes + size - HASH, hash, HASH) != 0)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: damaged: the checksum is wrong");
    if (memcmp(bytes, header, HEADER) != 0)
        return rd_fail(error, REDUCT_ERROR_MISMATCH, "bytes: a state of another operator, element type or NaN policy");
    return REDUCT_OK;
}

reduct_status reduct_state_load(const reduct_reduction *reduction, const void *bytes, size_t size, void *state,
                                reduct_error *error) {
    struct rd_cells cells;
    reduct_status status = check(reduction, state, "state", &cells, error);
    if (status == REDUCT_OK && !bytes)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "bytes: null pointer");
    if (status == REDUCT_OK && !rd_cell_is_empty(&cells, state))
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "state: not empty");
    if (status == REDUCT_OK)
        status = check_header(&cells, bytes, size, error);
    if (status != REDUCT_OK)
        return status;
    const unsigned char *at = (const unsigned char *)bytes + HEADER, *end = (const unsigned char *)bytes + size - HASH;
    status = rd_cell_read(&cells, &at, end, UINT64_MAX, state);
    if (status == REDUCT_ERROR_OUT_OF_MEMORY)
        return rd_fail(error, status, "state: words for all exponents could not be allocated");
    if (status == REDUCT_OK && at == end)
        return REDUCT_OK;
    rd_cell_clear(&cells, state);
    return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: damaged: a field is wrong");
}
