/* Extremes side by side: see side_extremes.h. The largest key of each result, and where it is, is found by kernels
 * (kernels/extreme_side.h) and turned back into the bits of an element. */
#include "cpu/side_extremes.h"

#include "arithmetic/finish.h"
#include "family/family.h"
#include "core/environment.h"
#include "core/reduction.h"
#include "cpu/numbers.h"

#include <string.h>

/* Results of a tile: columns in the order in which they lie, so that much of each row is read before the next; rows of so many
 * elements. Fewer columns, and longer rows, are left to other ways: longer than a few lines of the cache where indices are wanted,
 * since those take a second pass. */
enum {
    TILE = 2048,
    TILE_LEAST = 256,
    ROWS_ELEMENTS = 1 << 14,
    COLUMNS_LEAST = 2,
    ROW_MOST = 1 << 12,
    INDEXED_ROW_MOST = 1 << 7,
    STRETCH = 1 << 14 /* elements of a result between two questions whether to stop */
};

struct desk {
    int64_t best[TILE];
    uint64_t index[TILE];
    _Alignas(64) int64_t room[2 * TILE];
};

static bool are_columns(const struct rd_layout *layout) {
    return layout->kept[layout->kept_axes - 1].stride[0] == 1;
}

bool rd_side_extremes_suit(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    if (many->reductions != 1 || many->mask || rd_many_is_segmented(many) ||
        rd_family(&many->reduction[0]) != RD_EXTREME || !layout->count || !layout->kept_axes)
        return false;
    const reduct_reduction *reduction = &many->reduction[0];
    const struct rd_kernels *kernels = many->state[0].device.private;
    const struct rd_operator *op = rd_operator(reduction->op);
    const uint64_t most = op->finish == RD_INDEX ? INDEXED_ROW_MOST : ROW_MOST;
    if (op->combine == RD_BOTH || !kernels->extreme_rows[reduction->element] ||
        (rd_type(reduction->element)->kind == RD_FLOAT && reduction->nan == REDUCT_NAN_ERROR))
        return false;
    return are_columns(layout) ? layout->kept[layout->kept_axes - 1].length >= COLUMNS_LEAST
                               : rd_cursor_step(layout, 0) == 1 && layout->count <= most;
}

uint64_t rd_side_extremes_tile(const struct rd_many *many, unsigned units) {
    if (!are_columns(&many->layout)) {
        uint64_t rows = ROWS_ELEMENTS / many->layout.count;
        return rows > TILE ? TILE : rows;
    }
    uint64_t columns = rd_divide_up(many->layout.results, (uint64_t)units * TILE_LEAST) * TILE_LEAST;
    return columns > TILE ? TILE : columns;
}

size_t rd_side_extremes_bytes(void) {
    return sizeof(struct desk);
}

/* The bits of the element, or of its absolute value, that a key stands for. */
static uint64_t bits_of_key(int64_t key, const struct rd_type *type, enum rd_extreme which) {
    const uint64_t sign = (uint64_t)1 << (8 * type->bytes - 1), all = sign | (sign - 1);
    uint64_t bits = (uint64_t)(which == RD_LOWEST ? ~key : key) & all;
    bool is_offset = type->kind == RD_UNSIGNED || (type->kind == RD_SIGNED && which == RD_LARGEST);
    if (is_offset)
        return bits ^ sign;
    return type->kind == RD_FLOAT && bits & sign ? bits ^ (sign - 1) : bits;
}

struct tile {
    struct rd_job *job;
    const struct rd_type *type;
    struct rd_keys keys;
    bool gives_index;
    uint64_t begin, end; /* elements */
};

/* Whether the key is that of a NaN. */
static bool is_nan(const struct tile *tile, int64_t key) {
    int64_t most = (int64_t)(((uint64_t)1 << (8 * tile->type->bytes - 1)) - 1);
    return tile->keys.is_float && key == (tile->keys.ignore_nan ? ~most : most);
}

/* What the state of a part of a result is. */
static void keep(const struct tile *tile, int64_t key, uint64_t index, struct rd_partial *state) {
    bool nan = is_nan(tile, key);
    rd_job_init_states(tile->job, state);
    state->seen = tile->end - tile->begin;
    if (nan && tile->keys.ignore_nan)
        state->ignored = state->seen;
    else if (nan)
        state->nan_index = index;
    else
        rd_partial_take(state, bits_of_key(key, tile->type, tile->keys.which), index);
}

/* Writes a result; false if there is none. */
static bool write(const struct tile *tile, int64_t key, uint64_t index, unsigned char *place) {
    bool nan = is_nan(tile, key);
    const struct rd_type *type = rd_type(tile->job->many->reduction[0].result);
    if (nan && tile->keys.ignore_nan)
        return false;
    rd_store(place,
             tile->gives_index ? index
             : nan             ? rd_nan_bits(type)
                               : bits_of_key(key, tile->type, tile->keys.which),
             type->bytes);
    return true;
}

static void find_keys(const struct tile *tile, const struct rd_kernels *kernels, struct desk *desk,
                      const unsigned char *from, uint64_t results) {
    const struct rd_layout *layout = &tile->job->many->layout;
    const reduct_type element = tile->job->many->reduction[0].element;
    struct rd_keys keys = tile->keys;
    uint64_t *index = tile->gives_index ? desk->index : NULL;
    struct rd_cursor cursor;
    rd_cursor_start(layout, tile->begin, &cursor);
    uint64_t asked = tile->begin;
    for (uint64_t at = tile->begin, run; at < tile->end; at += run) {
        if (at - asked >= STRETCH) {
            asked = at;
            if (rd_job_stops(tile->job))
                return;
        }
        run = rd_cursor_run(layout, &cursor, tile->end - at < STRETCH ? tile->end - at : STRETCH);
        keys.first = at - tile->begin;
        const unsigned char *x = from + cursor.offset[0] * (int64_t)tile->type->bytes;
        if (are_columns(layout))
            kernels->extreme_columns[element](&keys, x, rd_cursor_step(layout, 0), run, results, desk->room, desk->best,
                                              index);
        else
            kernels->extreme_rows[element](&keys, x, layout->kept[layout->kept_axes - 1].stride[0], results, run,
                                           desk->best, index);
        rd_cursor_advance(layout, run, &cursor);
    }
}

void rd_side_extremes_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results,
                             uint64_t part) {
    const reduct_reduction *reduction = &job->many->reduction[0];
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_layout *layout = &job->many->layout;
    struct desk *memory = desk->side;
    struct rd_source source = rd_job_source(job, first);
    struct tile tile = {.job = job,
                        .type = rd_type(reduction->element),
                        .gives_index = op->finish == RD_INDEX,
                        .begin = part * job->part,
                        .end = layout->count};
    int64_t beside = layout->kept[layout->kept_axes - 1].result_stride;
    size_t bytes = rd_type(reduction->result)->bytes;
    unsigned char rounded[8];
    reduct_outcome *outcomes = job->execution->outcomes ? job->execution->outcomes[0] : NULL;
    tile.keys = (struct rd_keys){.which = op->transform == RD_ABSOLUTE ? RD_LARGEST
                                          : op->combine == RD_LEAST    ? RD_LOWEST
                                                                       : RD_HIGHEST,
                                 .is_float = tile.type->kind == RD_FLOAT,
                                 .ignore_nan = reduction->nan == REDUCT_NAN_IGNORE};
    if (job->parts > 1 && tile.end - tile.begin > job->part)
        tile.end = tile.begin + job->part;
    for (uint64_t r = 0; r < results; r++) {
        memory->best[r] = INT64_MIN;
        memory->index[r] = 0;
    }
    find_keys(&tile, job->many->state[0].device.private, memory, source.input[0], results);
    for (uint64_t r = 0; r < results; r++) {
        if (job->parts > 1) {
            keep(&tile, memory->best[r], memory->index[r], &job->partials[(first + r) * job->parts + part]);
        } else if (outcomes || !write(&tile, memory->best[r], memory->index[r], rounded)) {
            keep(&tile, memory->best[r], memory->index[r], desk->state);
            rd_job_finish(job, first + r, source.offset + (int64_t)r * beside, desk->state);
        } else {
            memcpy(rd_job_place(job, first + r, source.offset + (int64_t)r * beside, 0, false), rounded, bytes);
        }
    }
}
