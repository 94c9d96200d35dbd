/* Arrays in Fortran order, handed out in C order, which is the order of their indices: for what depends on it.
 *
 * All of the array must be in hand: a file is mapped, so that its pages are the system's to keep or drop, but what comes
 * through a pipe is kept in memory. A chunk is whole rows, all elements that share some first indices, or part of one
 * row; along the first axis elements lie side by side in the file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../parallel.h"
#include "reader.h"

/* Bytes of a chunk. */
#define CHUNK ((size_t)32 << 20)

/* Rows gathered at a time: so many cache lines are written to in turn. */
enum { TILE = 64 };

/* A rectangle of the array: `rows` first indices from `row` on, and of the combinations of all other indices, counted in
 * C order, `columns` from `column` on. */
struct part {
    const struct layout *layout;
    const unsigned char *from; /* the array */
    unsigned char *to;         /* place of the part's first element; rows begin `pitch` elements apart */
    size_t element, pitch;
    uint64_t row, rows, column, columns;
};

/* One combination of the indices but the first, and its place in the file, in elements. */
struct walk {
    const struct layout *layout;
    uint64_t index[LAYOUT_MOST], stride[LAYOUT_MOST], place;
};

static void walk_start(struct walk *walk, const struct layout *layout, uint64_t column) {
    walk->layout = layout;
    walk->stride[0] = 1;
    walk->place = 0;
    for (unsigned i = 1; i < layout->rank; i++)
        walk->stride[i] = walk->stride[i - 1] * layout->shape[i - 1];
    for (unsigned i = layout->rank - 1; i > 0; i--) {
        walk->index[i] = column % layout->shape[i];
        walk->place += walk->index[i] * walk->stride[i];
        column /= layout->shape[i];
    }
}

/* The last index runs fastest. */
static void walk_on(struct walk *walk) {
    for (unsigned i = walk->layout->rank - 1; i > 0; i--) {
        walk->place += walk->stride[i];
        if (++walk->index[i] < walk->layout->shape[i])
            return;
        walk->place -= walk->index[i] * walk->stride[i];
        walk->index[i] = 0;
    }
}

#define COPY(bytes)                                                                                                    \
    for (size_t i = 0; i < count; i++)                                                                                 \
        memcpy(to + i * pitch * (bytes), from + i * (bytes), bytes);

/* Elements side by side, to places `pitch` elements apart. */
static void scatter(unsigned char *to, const unsigned char *from, size_t count, size_t pitch, size_t element) {
    if (element == 8)
        COPY(8)
    else if (element == 4)
        COPY(4)
    else if (element == 2)
        COPY(2)
    else
        COPY(1)
}

static void gather(void *item) {
    const struct part *part = item;
    for (uint64_t row = 0; row < part->rows; row += TILE) {
        size_t rows = part->rows - row < TILE ? (size_t)(part->rows - row) : TILE;
        struct walk walk;
        walk_start(&walk, part->layout, part->column);
        for (uint64_t column = 0; column < part->columns; column++, walk_on(&walk))
            scatter(part->to + (size_t)(row * part->pitch + column) * part->element,
                    part->from + (size_t)(walk.place + part->row + row) * part->element, rows, part->pitch,
                    part->element);
    }
}

/* Gathers a rectangle by several threads: each has some rows, or of a single row some columns. */
static void gather_all(const struct part *whole, unsigned threads) {
    struct part parts[PARALLEL_MOST];
    bool by_rows = whole->rows > 1;
    uint64_t length = by_rows ? whole->rows : whole->columns, share = (length + threads - 1) / threads;
    size_t used = 0;
    for (uint64_t done = 0; done < length; done += share, used++) {
        uint64_t count = length - done < share ? length - done : share;
        struct part *part = &parts[used];
        *part = *whole;
        part->to += (size_t)(by_rows ? done * whole->pitch : done) * whole->element;
        *(by_rows ? &part->row : &part->column) += done;
        *(by_rows ? &part->rows : &part->columns) = count;
    }
    parallel_for(parts, used, sizeof *parts, gather);
}

/* The chunk that begins at element `first`. */
static struct part next_part(const struct reader *reader, uint64_t first) {
    size_t element = reduct_type_size(reader->type);
    uint64_t width = reader->count / reader->order.layout.shape[0], room = CHUNK / element;
    struct part part = {.layout = &reader->order.layout,
                        .from = reader->order.elements,
                        .to = reader->order.copy,
                        .element = element,
                        .row = first / width,
                        .column = first % width,
                        .rows = 1};
    uint64_t rows = reader->order.layout.shape[0] - part.row, columns = width - part.column;
    part.columns = columns < room ? columns : room;
    if (width <= room)
        part.rows = rows < room / width ? rows : room / width;
    part.pitch = (size_t)part.columns;
    return part;
}

static enum outcome order_next(struct reader *reader, struct chunk *chunk) {
    size_t element = reduct_type_size(reader->type);
    if (reader->chunk_first == reader->count)
        return raw_finish(reader);
    struct part part = next_part(reader, reader->chunk_first);
    size_t count = (size_t)(part.rows * part.columns);
    gather_all(&part, reader->threads);
    if (reader->order.swap)
        raw_swap(reader->order.copy, reader->order.copy, count * element, element);
    *chunk = (struct chunk){reader->order.copy, count};
    source_forget(&reader->source);
    source_consume(&reader->source, count * element); /* as many as were handed out, though not the same */
    return DONE;
}

static void order_close(struct reader *reader) {
    free(reader->order.copy);
}

static const struct reader_class ORDER = {.next = order_next, .close = order_close};

enum outcome reader_in_order(struct reader *reader) {
    if (!reader->layout.fortran || reader->count == 0)
        return DONE;
    struct source *source = &reader->source;
    size_t element = reduct_type_size(reader->type);
    uint64_t bytes = reader->count * element;
    if (bytes > PTRDIFF_MAX / 2)
        return fail_memory();
    enum outcome outcome = source_peek(source, (size_t)bytes, 0);
    if (outcome != DONE)
        return outcome;
    if (source->available < bytes)
        return fail("%s: ends after %zu elements; expected %" PRIu64, source->name, source->available / element,
                    reader->count);
    bool swap = reader->raw.swap;
    reader->class = &ORDER;
    reader->order = (struct order_state){
        .layout = reader->layout, .elements = source->data, .swap = swap, .copy = aligned_alloc(64, CHUNK)};
    reader->layout.fortran = false;
    return reader->order.copy ? DONE : fail_memory();
}
