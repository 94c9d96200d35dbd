/* What cells are made of: for cell.c, which computes with them, and cell_saved.c, which writes them down. */
#ifndef RD_CELL_WORDS_H
#define RD_CELL_WORDS_H

#include "state/cell.h"

/* Terms that are no numbers, or a zero that has a sign. */
enum rd_special { RD_NANS, RD_PLUS, RD_MINUS, RD_NEGATIVE_ZEROS, RD_SPECIALS };

/* What a cell points to where its window, or a count, does not do. */
struct rd_spill {
    uint64_t ignored, special[RD_SPECIALS];
    uint64_t word[]; /* of each field all */
};

/* `outside` is the complement of the number that the window's first word has; all bits of that are set where there is no window,
 * so that no term seems to lie in it. */
struct rd_cell_sums {
    uint64_t seen;
    uint32_t ignored;
    uint16_t unused;
    uint8_t outside[2];
    uint16_t special[RD_SPECIALS];
    union {
        struct rd_spill *spill;
        uint64_t room;
    };
    uint64_t word[]; /* of each field its window */
};

struct rd_cell_extremes {
    uint64_t seen, ignored;
    uint64_t nan;   /* one more than the index of the first, or 0 */
    uint64_t found; /* 0 or 1 */
    int64_t key;    /* the greater the better */
    union {
        uint64_t index;   /* of it */
        int64_t greatest; /* where both extremes are wanted; `key` is then that of the least */
    };
};

struct rd_cell_counts {
    uint64_t seen, ignored, counted;
};

/* `bits` are those by which the combination differs from that of nothing. */
struct rd_cell_bits {
    uint64_t seen, bits;
};

/* The words of a field, wherever they are: number `first` and those that follow. */
struct rd_field {
    uint64_t *word;
    int words, first;
};

enum { RD_NO_WINDOW = 255 };

static inline struct rd_field rd_field_of(const struct rd_cells *cells, const struct rd_cell_sums *cell, int which) {
    if (cell->spill)
        return (struct rd_field){cell->spill->word + (which ? cells->full[0] : 0), cells->full[which], 0};
    uint64_t *word = (uint64_t *)(uintptr_t)cell->word; /* which is not written where the cell is const */
    return (struct rd_field){word + (which ? cells->words[0] : 0), cells->words[which],
                             cell->outside[which] ^ RD_NO_WINDOW};
}

/* Where a window begins that has words from `low` on in its middle, and `spare` more than these: within all words that there are. */
static inline int rd_window_about(const struct rd_cells *cells, int which, int low, int spare) {
    const int first = low - spare / 2, most = cells->full[which] - cells->words[which];
    return first < 0 ? 0 : first > most ? most : first;
}

/* The sign of so many words, in all bits. */
static inline uint64_t rd_words_sign(const uint64_t *word, int words) {
    return (uint64_t)((int64_t)word[words - 1] >> 63);
}

/* Adds a carry of -1, 0 or 1 from a word on. */
static inline __attribute__((always_inline)) void rd_words_carry(uint64_t *word, int at, int words, int64_t carry) {
    for (; carry && at < words; at++) {
        uint64_t before = word[at];
        word[at] = before + (uint64_t)carry;
        if (carry > 0 ? before != UINT64_MAX : before != 0)
            return;
    }
}

/* Words of a field that say all: `low` zeros are below them, and above them nothing but the sign. None for zero. */
struct rd_extent {
    int low, words;
};

/* Of so few words, without branches, as these come in no pattern. */
static inline __attribute__((always_inline)) struct rd_extent rd_extent_of_few(const uint64_t *word, int words) {
    const uint64_t sign = rd_words_sign(word, words);
    unsigned any = 0, needed = 1; /* a bit for each */
    for (int w = 0; w < words; w++)
        any |= (unsigned)(word[w] != 0) << w;
    for (int w = 1; w < words; w++)
        needed |= (unsigned)(((word[w] ^ sign) | ((word[w - 1] ^ sign) >> 63)) != 0) << w;
    if (!any)
        return (struct rd_extent){0, 0};
    const int low = __builtin_ctz(any), top = 31 - __builtin_clz(needed);
    return (struct rd_extent){low, top > low ? top - low + 1 : 1};
}

static inline struct rd_extent rd_extent_of(struct rd_field field) {
    if (field.words == 4) /* as most windows have */
        return rd_extent_of_few(field.word, 4);
    const uint64_t sign = rd_words_sign(field.word, field.words);
    int low = 0, words = field.words;
    while (low < words && !field.word[low])
        low++;
    while (words > low + 1 && field.word[words - 1] == sign && (field.word[words - 2] ^ sign) >> 63 == 0)
        words--;
    return low == field.words ? (struct rd_extent){0, 0} : (struct rd_extent){low, words - low};
}

/* Makes room for words of all exponents. False if there is no memory. */
bool rd_cell_spill(const struct rd_cells *cells, struct rd_cell_sums *cell);

/* Makes the window hold words `low` to `high`, and what it holds already. `margin`: with two bits to spare. False if there is no
 * memory. */
bool rd_cell_cover(const struct rd_cells *cells, struct rd_cell_sums *cell, int which, int low, int high, bool margin);

/* How often a special term was there. */
static inline uint64_t rd_cell_special(const struct rd_cell_sums *cell, enum rd_special which) {
    return cell->spill ? cell->spill->special[which] : cell->special[which];
}
static inline uint64_t rd_cell_ignored(const struct rd_cell_sums *cell) {
    return cell->spill ? cell->spill->ignored : cell->ignored;
}

/* Sets these counts; false if there is no memory. */
bool rd_cell_count_specials(const struct rd_cells *cells, struct rd_cell_sums *cell, uint64_t ignored,
                            const uint64_t special[RD_SPECIALS]);

/* An integer that orders as elements of a type do, -0 below +0, and back. */
int64_t rd_order_of(uint64_t bits, const struct rd_type *type);
uint64_t rd_bits_of(int64_t order, const struct rd_type *type);

/* The type that extremes are compared in: of absolute values, that without a sign. */
struct rd_type rd_compared_type(const reduct_reduction *reduction);

#endif
