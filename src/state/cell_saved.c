/* The saved form of cells: see cell.h. */
#include "core/status.h"
#include "state/cell_words.h"
#include "state/saved.h"

#include <string.h>

/* One walk writes and reads, so that the two cannot disagree. */
struct bytes {
    unsigned char *to;             /* where it writes, or null */
    const unsigned char *at, *end; /* where it reads */
    bool broken;                   /* too short, or a number too long */
};

static void walk_long_number(struct bytes *bytes, uint64_t *number) {
    uint64_t value = bytes->to ? *number : 0;
    if (bytes->to) {
        for (; value >> 7; value >>= 7)
            *bytes->to++ = (unsigned char)(value | 0x80);
        *bytes->to++ = (unsigned char)value;
        return;
    }
    for (int shift = 0; shift < 64; shift += 7) {
        if (bytes->at == bytes->end)
            break;
        unsigned char byte = *bytes->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *number = value;
            return;
        }
    }
    *number = 0;
    bytes->broken = true;
}

/* Most numbers have one byte. */
static inline void walk_number(struct bytes *bytes, uint64_t *number) {
    if (bytes->to && *number < 0x80)
        *bytes->to++ = (unsigned char)*number;
    else if (!bytes->to && bytes->at != bytes->end && *bytes->at < 0x80)
        *number = *bytes->at++;
    else
        walk_long_number(bytes, number);
}

/* The bytes of a word, in the order of the saved form, or a word of these. */
static inline uint64_t in_order(uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static inline void walk_word(struct bytes *bytes, uint64_t *word) {
    if (bytes->to) {
        const uint64_t written = in_order(*word);
        memcpy(bytes->to, &written, sizeof written);
        bytes->to += sizeof written;
        return;
    }
    if (bytes->end - bytes->at < 8) {
        bytes->broken = true;
        return;
    }
    memcpy(word, bytes->at, sizeof *word);
    *word = in_order(*word);
    bytes->at += sizeof *word;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------------------------------------------------ */

static void write_field(struct bytes *bytes, struct rd_field field) {
    struct rd_extent extent = rd_extent_of(field);
    uint64_t low = extent.words ? (uint64_t)(field.first + extent.low) : 0, words = (uint64_t)extent.words;
    walk_number(bytes, &low);
    walk_number(bytes, &words);
    for (int i = 0; i < extent.words; i++)
        walk_word(bytes, &field.word[extent.low + i]);
}

static reduct_status read_field(struct bytes *bytes, const struct rd_cells *cells, struct rd_cell_sums *cell,
                                int which) {
    uint64_t low = 0, words = 0, full = (uint64_t)cells->full[which];
    walk_number(bytes, &low);
    walk_number(bytes, &words);
    if (bytes->broken || low > full || words > full - low)
        return REDUCT_ERROR_CORRUPT;
    if (!words)
        return REDUCT_OK;
    if (!rd_cell_cover(cells, cell, which, (int)low, (int)(low + words) - 1, false))
        return REDUCT_ERROR_OUT_OF_MEMORY;
    struct rd_field field = rd_field_of(cells, cell, which);
    int at = (int)low - field.first, end = at + (int)words;
    for (int i = at; i < end; i++)
        walk_word(bytes, &field.word[i]);
    for (int i = end; i < field.words; i++)
        field.word[i] = field.word[end - 1] >> 63 ? UINT64_MAX : 0;
    return bytes->broken ? REDUCT_ERROR_CORRUPT : REDUCT_OK;
}

static void write_sums(struct bytes *bytes, const struct rd_cells *cells, const struct rd_cell_sums *cell) {
    uint64_t none;
    memcpy(&none, cell->special, sizeof none);
    if (!cell->spill && !none) {
        memset(bytes->to, 0, RD_SPECIALS);
        bytes->to += RD_SPECIALS;
    }
    for (int i = 0; (cell->spill || none) && i < RD_SPECIALS; i++) {
        uint64_t count = rd_cell_special(cell, (enum rd_special)i);
        walk_number(bytes, &count);
    }
    for (int i = 0; i < cells->fields; i++)
        write_field(bytes, rd_field_of(cells, cell, i));
}

static reduct_status read_sums(struct bytes *bytes, const struct rd_cells *cells, uint64_t ignored,
                               struct rd_cell_sums *cell) {
    uint64_t special[RD_SPECIALS] = {0}, count = cell->seen - ignored, not_finite = 0;
    bool fits = true;
    for (int i = 0; i < RD_SPECIALS; i++) {
        walk_number(bytes, &special[i]);
        fits &= special[i] <= count && (i == RD_NEGATIVE_ZEROS || special[i] <= count - not_finite);
        not_finite += i == RD_NEGATIVE_ZEROS ? 0 : special[i];
    }
    if (bytes->broken || !fits)
        return REDUCT_ERROR_CORRUPT;
    reduct_status status = REDUCT_OK;
    for (int i = 0; status == REDUCT_OK && i < cells->fields; i++)
        status = read_field(bytes, cells, cell, i);
    if (status == REDUCT_OK && !rd_cell_count_specials(cells, cell, ignored, special))
        status = REDUCT_ERROR_OUT_OF_MEMORY;
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Others
 * ------------------------------------------------------------------------------------------------------------------ */

static bool wants_index(const struct rd_cells *cells) {
    return rd_operator(cells->reduction.op)->finish == RD_INDEX;
}

static bool wants_both(const struct rd_cells *cells) {
    return rd_operator(cells->reduction.op)->combine == RD_BOTH;
}

/* An extreme that a NaN makes void leaves no trace, nor does where it was found where only its value counts. */
static void walk_extremes(struct bytes *bytes, const struct rd_cells *cells, struct rd_cell_extremes *cell) {
    const struct rd_type type = rd_compared_type(&cells->reduction);
    const int64_t flip = rd_operator(cells->reduction.op)->combine == RD_GREATEST ? 0 : -1;
    uint64_t extreme = 0, other = 0;
    if (bytes->to && cell->nan)
        cell->found = 0;
    if (bytes->to && !wants_index(cells))
        cell->nan = cell->nan != 0;
    if (bytes->to && cell->found) {
        extreme = rd_bits_of(cell->key ^ flip, &type);
        other = wants_both(cells) ? rd_bits_of(cell->greatest, &type) : wants_index(cells) ? cell->index : 0;
    }
    walk_number(bytes, &cell->found);
    walk_number(bytes, &cell->nan);
    walk_number(bytes, &extreme);
    walk_number(bytes, &other);
    if (bytes->to)
        return;
    cell->key = cell->found ? rd_order_of(extreme, &type) ^ flip : 0;
    if (wants_both(cells))
        cell->greatest = cell->found ? rd_order_of(other, &type) : 0;
    else
        cell->index = other;
}

/* `seen` is what no index may reach. */
static bool is_plausible(const struct rd_cells *cells, const struct rd_cell_extremes *cell, uint64_t seen) {
    if (cell->found > 1 || (cell->found && cell->seen == cell->ignored) || cell->nan > seen ||
        (cell->nan && cell->seen == cell->ignored))
        return false;
    return !cell->found || (wants_both(cells) ? ~cell->key <= cell->greatest : cell->index < seen);
}

static reduct_status read_others(struct bytes *bytes, const struct rd_cells *cells, uint64_t seen, uint64_t ignored,
                                 void *cell) {
    struct rd_cell_extremes *extremes = cell;
    struct rd_cell_counts *counts = cell;
    struct rd_cell_bits *bits = cell;
    bool fits = true;
    if (cells->kind == RD_CELL_EXTREMES) {
        extremes->ignored = ignored;
        walk_extremes(bytes, cells, extremes);
        fits = is_plausible(cells, extremes, seen);
    } else if (cells->kind == RD_CELL_COUNTS) {
        counts->ignored = ignored;
        walk_number(bytes, &counts->counted);
        fits = counts->counted <= counts->seen - ignored;
    } else {
        walk_number(bytes, &bits->bits);
        fits = !ignored && (bits->seen || !bits->bits) &&
               !(bits->bits & ~(UINT64_MAX >> (64 - 8 * rd_type(cells->reduction.element)->bytes)));
    }
    return bytes->broken || !fits ? REDUCT_ERROR_CORRUPT : REDUCT_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

size_t rd_cell_write(const struct rd_cells *cells, const void *cell, unsigned char *to) {
    struct bytes bytes = {.to = to};
    uint64_t seen = rd_cell_seen(cell), ignored = seen - rd_cell_count(cells, cell);
    struct rd_cell_extremes extremes;
    struct rd_cell_counts counts;
    struct rd_cell_bits bits;
    walk_number(&bytes, &seen);
    walk_number(&bytes, &ignored);
    switch (cells->kind) {
    case RD_CELL_SUMS:
        write_sums(&bytes, cells, cell);
        break;
    case RD_CELL_EXTREMES:
        extremes = *(const struct rd_cell_extremes *)cell;
        walk_extremes(&bytes, cells, &extremes);
        break;
    case RD_CELL_COUNTS:
        counts = *(const struct rd_cell_counts *)cell;
        walk_number(&bytes, &counts.counted);
        break;
    case RD_CELL_BITS:
        bits = *(const struct rd_cell_bits *)cell;
        walk_number(&bytes, &bits.bits);
        break;
    }
    return (size_t)(bytes.to - to);
}

/* Bytes that a number takes. */
static size_t number_size(uint64_t number) {
    return (size_t)(63 - __builtin_clzll(number | 1)) / 7 + 1;
}

size_t rd_cell_saved_size(const struct rd_cells *cells, const void *cell) {
    unsigned char unused[RD_CELL_SAVED_MOST];
    const struct rd_cell_sums *sums = cell;
    uint64_t special = 0;
    if (cells->kind == RD_CELL_SUMS)
        memcpy(&special, sums->special, sizeof special);
    if (cells->kind != RD_CELL_SUMS || special || sums->spill)
        return rd_cell_write(cells, cell, unused);
    size_t size = number_size(sums->seen) + number_size(sums->ignored) + RD_SPECIALS;
    for (int i = 0; i < cells->fields; i++)
        size += 2 + (size_t)rd_extent_of(rd_field_of(cells, sums, i)).words * sizeof(uint64_t);
    return size;
}

/* What was read is written again: only the one form that its contents have passes. */
reduct_status rd_cell_read(const struct rd_cells *cells, const unsigned char **from, const unsigned char *end,
                           uint64_t most, void *cell) {
    struct bytes bytes = {.at = *from, .end = end};
    unsigned char again[RD_CELL_SAVED_MOST];
    uint64_t seen = 0, ignored = 0;
    walk_number(&bytes, &seen);
    walk_number(&bytes, &ignored);
    if (bytes.broken || seen > RD_ELEMENTS_MAX || ignored > seen)
        return REDUCT_ERROR_CORRUPT;
    *(uint64_t *)cell = seen;
    reduct_status status =
        cells->kind == RD_CELL_SUMS
            ? read_sums(&bytes, cells, ignored, cell)
            : read_others(&bytes, cells, most == UINT64_MAX || most < seen ? seen : most, ignored, cell);
    size_t size = (size_t)(bytes.at - *from);
    if (status == REDUCT_OK &&
        (size > sizeof again || rd_cell_write(cells, cell, again) != size || memcmp(again, *from, size) != 0))
        status = REDUCT_ERROR_CORRUPT;
    if (status != REDUCT_OK)
        rd_cell_clear(cells, cell);
    else
        *from = bytes.at;
    return status;
}
