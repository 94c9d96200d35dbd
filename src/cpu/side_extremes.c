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
    TILE_LEAST = 64,
    TILE_NARROW = 16, /* where there are fewer for each thread */
    ROWS_ELEMENTS = 1 << 14,
    COLUMNS_LEAST = 2,
    ROW_MOST = 1 << 12,
    INDEXED_ROW_MOST = 1 << 7,
    STRETCH = 1 << 14 /* elements of a result between two questions whether to stop */
};

/* Of elements of up to 64 bits; `bits` as they are in results. */
struct desk {
    _Alignas(64) int64_t best[TILE], room[2 * TILE];
    uint64_t index[TILE];
    unsigned char bits[TILE * sizeof(int64_t)];
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

uint64_t rd_side_extremes_tile(const struct rd_many *many, unsigned threads, uint64_t parts) {
    if (!are_columns(&many->layout)) {
        uint64_t rows = ROWS_ELEMENTS / many->layout.count;
        return rows > TILE ? TILE : rows;
    }
    return rd_job_columns(many->layout.results, TILE_LEAST, TILE, TILE_NARROW, threads, parts);
}

size_t rd_side_extremes_bytes(void) {
    return sizeof(struct desk);
}

struct tile {
    struct rd_job *job;
    const struct rd_kernels *kernels;
    reduct_type element;
    const struct rd_type *type;
    struct rd_keys keys;
    bool gives_index;
    uint64_t begin, end; /* elements */
};

/* What the state of a part of a result is. */
static void keep(const struct tile *tile, const struct desk *desk, uint64_t result, struct rd_partial *state) {
    const unsigned char *key = (const unsigned char *)desk->best + result * tile->type->bytes;
    const uint64_t index = tile->gives_index ? desk->index[result] : 0;
    uint64_t bits = 0;
    bool nan = tile->kernels->bits_of_keys[tile->element](&tile->keys, key, 1, &bits);
    rd_job_init_states(tile->job, state);
    state->seen = tile->end - tile->begin;
    if (nan && tile->keys.ignore_nan)
        state->ignored = state->seen;
    else if (nan)
        state->nan_index = index;
    else
        rd_partial_take(state, bits, index);
}

static void find_keys(const struct tile *tile, struct desk *desk, const unsigned char *from, uint64_t results) {
    const struct rd_layout *layout = &tile->job->many->layout;
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
            tile->kernels->extreme_columns[tile->element](&keys, x, rd_cursor_step(layout, 0), run, results, desk->room,
                                                          desk->best, index);
        else
            tile->kernels->extreme_rows[tile->element](&keys, x, layout->kept[layout->kept_axes - 1].stride[0], results,
                                                       run, desk->best, index);
        rd_cursor_advance(layout, run, &cursor);
    }
}

/* Writes results that are all there, whichever way they are asked for; false where one of them has no element. */
static bool write(const struct tile *tile, struct desk *desk, uint64_t first, const struct rd_source *source,
                  uint64_t results) {
    const struct rd_axis *axis = &tile->job->many->layout.kept[tile->job->many->layout.kept_axes - 1];
    const int64_t beside = tile->job->held[0] ? 1 : axis->result_stride;
    const size_t bytes = tile->gives_index ? sizeof(uint64_t) : tile->type->bytes;
    unsigned char *place = rd_job_place(tile->job, first, source->offset, 0, false),
                  *to = beside == 1 && !tile->gives_index ? place : desk->bits;
    const unsigned char *bits = tile->gives_index ? (const unsigned char *)desk->index : to;
    if (tile->kernels->bits_of_keys[tile->element](&tile->keys, desk->best, results, to) && tile->keys.ignore_nan)
        return false;
    if (beside == 1 && bits != place)
        memcpy(place, bits, results * bytes);
    for (uint64_t r = 0; beside != 1 && r < results; r++)
        memcpy(place + (int64_t)r * beside * (int64_t)bytes, bits + r * bytes, bytes);
    rd_job_succeed(tile->job, 0, first, results, NULL);
    return true;
}

void rd_side_extremes_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results,
                             uint64_t part) {
    const reduct_reduction *reduction = &job->many->reduction[0];
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_layout *layout = &job->many->layout;
    struct desk *memory = desk->side;
    struct rd_source source = rd_job_source(job, first);
    struct tile tile = {.job = job,
                        .kernels = job->many->state[0].device.private,
                        .element = reduction->element,
                        .type = rd_type(reduction->element),
                        .gives_index = op->finish == RD_INDEX,
                        .begin = part * job->part,
                        .end = layout->count};
    int64_t beside = layout->kept[layout->kept_axes - 1].result_stride;
    tile.keys = (struct rd_keys){.which = op->transform == RD_ABSOLUTE ? RD_LARGEST
                                          : op->combine == RD_LEAST    ? RD_LOWEST
                                                                       : RD_HIGHEST,
                                 .is_float = tile.type->kind == RD_FLOAT,
                                 .ignore_nan = reduction->nan == REDUCT_NAN_IGNORE,
                                 .nan_bits = rd_nan_bits(tile.type)};
    if (job->parts > 1 && tile.end - tile.begin > job->part)
        tile.end = tile.begin + job->part;
    find_keys(&tile, memory, source.input[0], results);
    if (job->parts == 1 && write(&tile, memory, first, &source, results))
        return;
    for (uint64_t r = 0; r < results; r++) {
        struct rd_partial *state = job->parts > 1 ? &job->partials[(first + r) * job->parts + part] : desk->state;
        keep(&tile, memory, r, state);
        if (job->parts == 1)
            rd_job_finish(job, first + r, source.offset + (int64_t)r * beside, state);
    }
}
