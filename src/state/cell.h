/* Cells: partial results small enough for one to each of many groups.
 *
 * A cell holds what a partial result (state/partial.h) holds of a reduction, in 24 to 128 bytes. An exact sum is an integer in
 * two's complement in units of the least term that there can be, of which the cell keeps a window of a few 64-bit words around
 * those that are in use. The window moves as values come; where they range so widely that it cannot hold them all, the words of
 * all exponents, and counts of 64 bits, are allocated and the cell points to them: it spills. A cell whose bytes are all zero
 * holds nothing. */
#ifndef RD_CELL_H
#define RD_CELL_H

#include "state/partial.h"

#include <stddef.h>

/* What cells of one reduction are like. */
enum rd_cell_kind { RD_CELL_SUMS, RD_CELL_EXTREMES, RD_CELL_COUNTS, RD_CELL_BITS };

struct rd_cells {
    reduct_reduction reduction; /* resolved, in mode exact, which for cells is the only one */
    enum rd_cell_kind kind;
    bool removes;    /* what was added can be taken out again */
    size_t size;     /* of a cell, in bytes; a multiple of 8 */
    int fields;      /* of sums: 1, of moments and weighted means 2 */
    int words[2];    /* of each field, in the cell */
    int full[2];     /* and where it has spilled */
    int exponent[2]; /* of the lowest bit of word 0 */
    bool wide;       /* products of two elements can have more than 64 bits */
};

/* Fails with REDUCT_ERROR_UNSUPPORTED where a reduction, which must be resolved, has no cells. */
reduct_status rd_cells_of(const reduct_reduction *reduction, struct rd_cells *cells, reduct_error *error);

/* What elements are added to, or taken out of. Cell i * step is that of element i. */
struct rd_batch {
    void *const *cell;
    size_t step;
    const void *x, *y;
    size_t count;
    const uint64_t *place; /* of each element, for indices; null: what the cell has seen */
    bool removes;
    bool undoes;   /* restores what cells held before, which never needs memory */
    bool *missing; /* set where an element is not there to be taken out; or null */
};

/* Adds the elements in order, or takes them out, and returns how many were done before one failed: for want of memory, because
 * the cell has seen 2^63 elements or, where it is taken out, because it is not there. Of reductions that remove nothing none
 * fails; their cells must not come to see more. Elements must not be NaN where that is an error. */
size_t rd_cells_add(const struct rd_cells *cells, const struct rd_batch *batch);

/* Takes the first `done` elements of a batch back. */
void rd_cells_undo(const struct rd_cells *cells, const struct rd_batch *batch, size_t done);

/* The first NaN of elements, or pairs, where NaNs are an error; otherwise UINT64_MAX. */
uint64_t rd_cells_refused(const struct rd_cells *cells, const void *x, const void *y, uint64_t count);

/* Adds what `other`, another cell, holds; its indices count from `offset`. False, and nothing is done, where there is no
 * memory. */
bool rd_cell_combine(const struct rd_cells *cells, void *cell, const void *other, uint64_t offset);

/* Takes a cell out that was just combined. */
void rd_cell_separate(const struct rd_cells *cells, void *cell, const void *other);

/* What elements of a cell came to elsewhere, such as on a device. */
struct rd_digit {
    int64_t value; /* times 2^exponent: so much of a field's sum */
    int16_t exponent, field;
};
struct rd_cell_part {
    uint64_t seen, ignored;
    uint64_t special[4]; /* of sums, counts in the order of the saved form */
    const struct rd_digit *digit;
    size_t digits;
    bool found;       /* an extreme, */
    uint64_t extreme; /* its bits, and */
    uint64_t other;   /* its index, or the bits of the greatest where both are wanted */
    uint64_t nan;     /* one more than the index of the first NaN, or 0 */
    uint64_t counted; /* of counts */
    uint64_t bits;    /* by which the combination differs from that of nothing */
};

/* Whether a cell can have elements that are to be taken out. */
bool rd_cell_may_hold(const struct rd_cells *cells, const void *cell, const struct rd_cell_part *part);

/* Adds a part, or takes it out, of a cell that may hold it. False, and nothing is done, where there is no memory, which only sums can
 * need. */
bool rd_cell_take(const struct rd_cells *cells, void *cell, const struct rd_cell_part *part, bool removes);

/* Takes back what was just done. */
void rd_cell_untake(const struct rd_cells *cells, void *cell, const struct rd_cell_part *part, bool removes);

/* Frees what cells, one after another, point to; they are then of no use. */
void rd_cells_release(const struct rd_cells *cells, void *cell, uint64_t count);

/* The same; they then hold nothing. */
void rd_cells_clear(const struct rd_cells *cells, void *cell, uint64_t count);

/* The same of one. */
void rd_cell_clear(const struct rd_cells *cells, void *cell);

/* Whether a cell is as zero bytes are. */
bool rd_cell_is_empty(const struct rd_cells *cells, const void *cell);

/* Elements presented, those that are NaN and ignored included; of these, those that count. */
static inline uint64_t rd_cell_seen(const void *cell) {
    return *(const uint64_t *)cell; /* first in all kinds */
}
uint64_t rd_cell_count(const struct rd_cells *cells, const void *cell);

/* What the cell holds, for rd_partial_finish() and a reduction that is finished from such a cell. */
void rd_cell_partial(const struct rd_cells *cells, const void *cell, const reduct_reduction *reduction,
                     struct rd_partial *partial);

/* The saved form: all numbers are in LEB128 (seven bits in a byte, the low ones first, the high bit set in all bytes but the
 * last), sums in words of 8 bytes, little-endian. First come what was seen and ignored, then
 *   sums        counts of NaNs, of infinities, of negative ones and of terms that are -0; for each field the number of the
 *               lowest word that is not zero, how many words follow until all others repeat the sign, and these
 *   extremes    1 if there is one; one more than the index of the first NaN, or 0 (1 for any NaN where only a value is
 *               wanted); the extreme's bits; its index, or the bits of the greatest where both are wanted
 *   counts      how many
 *   bits        these
 * Equal contents have equal bytes. */
enum { RD_CELL_SAVED_MOST = 1536 };

/* Writes RD_CELL_SAVED_MOST bytes at most, and returns how many of them count. */
size_t rd_cell_write(const struct rd_cells *cells, const void *cell, unsigned char *bytes);

/* How many these are, without writing them where that is quicker. */
size_t rd_cell_saved_size(const struct rd_cells *cells, const void *cell);

/* Reads what rd_cell_write() wrote to a cell that holds nothing, and moves *bytes on. Fails with REDUCT_ERROR_CORRUPT or
 * _OUT_OF_MEMORY; the cell then still holds nothing. `seen` is what no index may reach, or UINT64_MAX: what the cell itself has
 * seen. */
reduct_status rd_cell_read(const struct rd_cells *cells, const unsigned char **bytes, const unsigned char *end,
                           uint64_t seen, void *cell);

#endif
