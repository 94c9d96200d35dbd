/* Cells as numerals, integers of few words, for join.c.
 *
 * A numeral is what is in a cell as one integer in two's complement: from its lowest bit on the counts, then the sum of each field in
 * units of the least bit that any of the block has. Each has room for what all parts come to, so that adding numerals adds what is in
 * them. Of its words all but the last hold 63 - p bits, which are not negative, where there are 2^p parts at most: words add up within an int64. */
#ifndef RD_JOIN_NUMERALS_H
#define RD_JOIN_NUMERALS_H

#include "state/cell.h"

enum { RD_NUMERAL_COUNTS = 6 };

/* What all parts' cells of a block are like, as numbers of which the least says it for all. */
struct rd_survey {
    int64_t aside;                         /* -1 if some cell was put aside */
    int64_t minus_bits[RD_NUMERAL_COUNTS]; /* of each count */
    int64_t minus_high[2], low[2];         /* the bits of the magnitudes of each field: from `low` to below `high` */
};
enum { RD_SURVEY_NUMBERS = sizeof(struct rd_survey) / sizeof(int64_t) };

/* Where fields must lie, in words of the field, for cells not to be put aside. */
struct rd_numeral_limits {
    int first[2], words[2];
};

/* Counts of cells of which the lowest and the highest word of a field is there. */
enum { RD_NUMERAL_PLACES = 80 };
struct rd_numeral_places {
    uint64_t low[2][RD_NUMERAL_PLACES], high[2][RD_NUMERAL_PLACES];
};
enum { RD_PLACES_NUMBERS = sizeof(struct rd_numeral_places) / sizeof(uint64_t) };

/* How numerals are laid out. */
struct rd_numeral_form {
    int headroom, digit; /* p, and 63 - p */
    int at[RD_NUMERAL_COUNTS], bits[RD_NUMERAL_COUNTS];
    int value_at[2], value_bits[2], low[2];
    unsigned words;
};

/* Looks at cells. Where `asides` is not null those that have spilled, have large counts or lie beyond the limits, if there are any, are not
 * counted, and their bits set. */
void rd_numerals_survey(const struct rd_cells *cells, const void *cell, uint64_t count, int headroom,
                        const struct rd_numeral_limits *limits, uint64_t *asides, struct rd_survey *survey);

/* Whether what all cells of a block come to needs no memory of its own. */
bool rd_numerals_fit(const struct rd_cells *cells, const struct rd_survey *survey, int headroom);

/* Counts where those cells lie that have not spilled, and chooses the limits that leave few out. */
void rd_numerals_place(const struct rd_cells *cells, const void *cell, uint64_t count, int headroom,
                       struct rd_numeral_places *places);
void rd_numerals_limit(const struct rd_cells *cells, const struct rd_numeral_places *places,
                       struct rd_numeral_limits *limits);

void rd_numerals_form(const struct rd_cells *cells, const struct rd_survey *survey, int headroom,
                      struct rd_numeral_form *form);

/* Writes numerals of cells; reads them into cells, of which none has spilled. False where there is no memory, which only those need that were
 * put aside. */
void rd_numerals_pack(const struct rd_cells *cells, const struct rd_numeral_form *form, bool aside, const void *cell,
                      uint64_t count, int64_t *words);
bool rd_numerals_unpack(const struct rd_cells *cells, const struct rd_numeral_form *form, bool aside,
                        const int64_t *words, uint64_t count, void *cell);

/* Words of what does not add: 0, 1 or 2 for each cell; how they merge, and whether two do so as one. Places count from `before`. Counts
 * are read first. */
unsigned rd_rest_words(const struct rd_cells *cells);
reduct_merge rd_rest_merge(const struct rd_cells *cells);
unsigned rd_rest_width(const struct rd_cells *cells);
void rd_rest_pack(const struct rd_cells *cells, const void *cell, uint64_t count, uint64_t before, int64_t *words);
void rd_rest_unpack(const struct rd_cells *cells, const int64_t *words, uint64_t count, void *cell);

/* Writes what cells that hold nothing have there. */
void rd_rest_none(const struct rd_cells *cells, uint64_t count, int64_t *words);

#endif
