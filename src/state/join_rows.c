/* Cells as integers of few words: see join_rows.h. */
#include "state/join_rows.h"

#include "state/cell_words.h"

#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* Where time is spent, functions are inlined with what is the same for all cells as constants. */
#define INLINED static inline __attribute__((always_inline))

/* Where a window can be that begins at the last word there is, or nowhere. */
enum { PLACES = RD_NO_WINDOW + 1 + 8 };

/* Words of a row's bits, and what is written beyond them. */
enum { ROOM = 2 * RD_LIMBS + 16 };

/* Where there is no bit. */
enum { NO_LOW = INT32_MAX };

/* ---------------------------------------------------------------------------------------------------------------------
 * Looking at cells
 * ------------------------------------------------------------------------------------------------------------------ */

/* The bits that some cell has, of counts, and of fields and their magnitudes by word. */
struct seen {
    uint64_t count[RD_ROW_COUNTS];
    uint64_t any[2][PLACES], magnitude[2][PLACES];
};

static int length_of(uint64_t bits) {
    return bits ? 64 - __builtin_clzll(bits) : 0;
}

/* From the lowest bit that is set to the highest of a magnitude; a negative power of two has only the former. */
struct span {
    int low, high;
};

static struct span span_of(const uint64_t *any, const uint64_t *magnitude, int words) {
    struct span span = {NO_LOW, 0};
    for (int w = words; w-- > 0;)
        if (any[w])
            span.low = 64 * w + __builtin_ctzll(any[w]);
    for (int w = 0; w < words; w++)
        if (magnitude[w])
            span.high = 64 * w + length_of(magnitude[w]);
    span.high = span.low != NO_LOW && span.high < span.low ? span.low : span.high;
    return span;
}

static struct span span_of_field(struct rd_field field) {
    const uint64_t sign = rd_words_sign(field.word, field.words);
    const struct rd_extent extent = rd_extent_of(field);
    if (!extent.words)
        return (struct span){NO_LOW, 0};
    const int top = extent.low + extent.words - 1;
    struct span span = {64 * extent.low + __builtin_ctzll(field.word[extent.low]),
                        64 * top + length_of(field.word[top] ^ sign)};
    span.high = span.high < span.low ? span.low : span.high;
    return (struct span){span.low + 64 * field.first, span.high + 64 * field.first};
}

/* The number of the word that has the sign of a sum of all parts. */
static int last_word(int high, int headroom) {
    return (high + headroom) / 64;
}

static bool within_limits(const struct rd_cells *cells, const struct rd_cell_sums *cell, int headroom,
                          const struct rd_row_limits *limits) {
    for (int i = 0; limits && i < cells->fields; i++) {
        const struct span span = span_of_field(rd_field_of(cells, cell, i));
        if (span.low != NO_LOW &&
            (span.low / 64 < limits->first[i] || last_word(span.high, headroom) >= limits->first[i] + cells->words[i]))
            return false;
    }
    return true;
}

/* Bits that counts of one part must not have, for those of all to fit in a cell: of each special term; of what is ignored. */
static uint64_t too_many_specials(int headroom) {
    uint16_t special[RD_SPECIALS];
    uint64_t all;
    for (int i = 0; i < RD_SPECIALS; i++)
        special[i] = headroom < 16 ? (uint16_t)(UINT16_MAX << (16 - headroom)) : UINT16_MAX;
    memcpy(&all, special, sizeof all);
    return all;
}

static uint64_t too_many_ignored(int headroom) {
    return UINT64_MAX << (32 - headroom);
}

INLINED void see_window(struct seen *seen, int which, const uint64_t *word, int words, int first) {
    const uint64_t sign = rd_words_sign(word, words);
    for (int w = 0; w < words; w++) {
        seen->any[which][first + w] |= word[w];
        seen->magnitude[which][first + w] |= word[w] ^ sign;
    }
}

/* Cells of which those that do not suit are put aside. `few`: they have one field, of four words, as most have. */
INLINED bool see_cells(const struct rd_cells *cells, const unsigned char *at, uint64_t count, int headroom,
                       const struct rd_row_limits *limits, bool few, uint64_t *asides, struct seen *seen) {
    const uint64_t special_limit = too_many_specials(headroom), ignored_limit = too_many_ignored(headroom);
    const size_t size = few ? sizeof(struct rd_cell_sums) + 4 * sizeof(uint64_t) : cells->size;
    const int fields = few ? 1 : cells->fields;
    uint64_t specials = 0;
    uint16_t special[RD_SPECIALS];
    bool any = false;
    for (uint64_t i = 0; i < count; i++, at += size) {
        const struct rd_cell_sums *cell = (const void *)at;
        uint64_t own;
        memcpy(&own, cell->special, sizeof own);
        if (__builtin_expect(cell->spill || own & special_limit || cell->ignored & ignored_limit, 0) ||
            (limits && !within_limits(cells, cell, headroom, limits))) {
            asides[i / 64] |= (uint64_t)1 << (i % 64);
            any = true;
            continue;
        }
        seen->count[0] |= cell->seen;
        seen->count[1] |= cell->ignored;
        specials |= own;
        see_window(seen, 0, cell->word, few ? 4 : cells->words[0], cell->outside[0] ^ RD_NO_WINDOW);
        if (fields == 2)
            see_window(seen, 1, cell->word + cells->words[0], cells->words[1], cell->outside[1] ^ RD_NO_WINDOW);
    }
    memcpy(special, &specials, sizeof special);
    for (int i = 0; i < RD_SPECIALS; i++)
        seen->count[2 + i] |= special[i];
    return any;
}

/* Any cells at all. */
static void see_asides(const struct rd_cells *cells, const unsigned char *at, uint64_t count, struct seen *seen) {
    for (uint64_t i = 0; i < count; i++, at += cells->size) {
        const struct rd_cell_sums *cell = (const void *)at;
        seen->count[0] |= cell->seen;
        seen->count[1] |= rd_cell_ignored(cell);
        for (int s = 0; s < RD_SPECIALS; s++)
            seen->count[2 + s] |= rd_cell_special(cell, (enum rd_special)s);
        for (int f = 0; f < cells->fields; f++) {
            const struct rd_field field = rd_field_of(cells, cell, f);
            see_window(seen, f, field.word, field.words, field.first);
        }
    }
}

/* Words at the beginning of cells, other than those of sums, that are counts. */
static int counts_of(const struct rd_cells *cells) {
    switch (cells->kind) {
    case RD_CELL_COUNTS:
        return 3;
    case RD_CELL_EXTREMES:
        return 2;
    case RD_CELL_BITS:
        return 1;
    case RD_CELL_SUMS:
        break;
    }
    return RD_ROW_COUNTS;
}

static void see_counts(const struct rd_cells *cells, const unsigned char *at, uint64_t count, struct seen *seen) {
    const int counts = counts_of(cells);
    for (uint64_t i = 0; i < count; i++, at += cells->size)
        for (int c = 0; c < counts; c++)
            seen->count[c] |= ((const uint64_t *)(const void *)at)[c];
}

void rd_rows_survey(const struct rd_cells *cells, const void *cell, uint64_t count, int headroom,
                    const struct rd_row_limits *limits, uint64_t *asides, struct rd_survey *survey) {
    struct seen seen;
    bool any = false;
    memset(&seen, 0, sizeof seen);
    if (cells->kind != RD_CELL_SUMS)
        see_counts(cells, cell, count, &seen);
    else if (!asides)
        see_asides(cells, cell, count, &seen);
    else if (cells->fields == 1 && cells->words[0] == 4 && !limits)
        any = see_cells(cells, cell, count, headroom, NULL, true, asides, &seen);
    else
        any = see_cells(cells, cell, count, headroom, limits, false, asides, &seen);
    survey->aside = any ? -1 : 0;
    for (int c = 0; c < RD_ROW_COUNTS; c++)
        survey->minus_bits[c] = -length_of(seen.count[c]);
    for (int f = 0; f < 2; f++) {
        const struct span span = span_of(seen.any[f], seen.magnitude[f], PLACES);
        survey->minus_high[f] = -span.high;
        survey->low[f] = span.low;
    }
}

bool rd_rows_fit(const struct rd_cells *cells, const struct rd_survey *survey, int headroom) {
    for (int f = 0; f < cells->fields; f++)
        if (survey->low[f] != NO_LOW &&
            last_word((int)-survey->minus_high[f], headroom) - survey->low[f] / 64 >= cells->words[f])
            return false;
    return true;
}

void rd_rows_place(const struct rd_cells *cells, const void *cell, uint64_t count, int headroom,
                   struct rd_row_places *places) {
    const unsigned char *at = cell;
    for (uint64_t i = 0; i < count; i++, at += cells->size) {
        const struct rd_cell_sums *sums = (const void *)at;
        for (int f = 0; !sums->spill && f < cells->fields; f++) {
            const struct span span = span_of_field(rd_field_of(cells, sums, f));
            const int last = last_word(span.high, headroom);
            if (span.low == NO_LOW)
                continue;
            places->low[f][span.low / 64]++;
            places->high[f][last < RD_ROW_PLACES ? last : RD_ROW_PLACES - 1]++;
        }
    }
}

void rd_rows_limit(const struct rd_cells *cells, const struct rd_row_places *places, struct rd_row_limits *limits) {
    for (int f = 0; f < cells->fields; f++) {
        int64_t best = INT64_MIN, inside = 0; /* that end in time, but for those that begin too early */
        for (int w = 0; w < cells->words[f] - 1; w++)
            inside += (int64_t)places->high[f][w];
        for (int first = 0; first + cells->words[f] <= RD_ROW_PLACES; first++) {
            inside += (int64_t)places->high[f][first + cells->words[f] - 1];
            if (inside > best) {
                best = inside;
                limits->first[f] = first;
            }
            inside -= (int64_t)places->low[f][first];
        }
    }
}

void rd_rows_form(const struct rd_cells *cells, const struct rd_survey *survey, int headroom,
                  struct rd_row_form *form) {
    int bits = 0;
    *form = (struct rd_row_form){.headroom = headroom, .digit = 63 - headroom};
    for (int c = 0; c < RD_ROW_COUNTS; c++) {
        const int own = (int)-survey->minus_bits[c], all = own ? own + headroom : 0;
        form->at[c] = bits;
        form->bits[c] = all > 64 ? 64 : all; /* as there are 2^63 elements at most */
        bits += form->bits[c];
    }
    for (int f = 0; f < cells->fields; f++) {
        const bool none = survey->low[f] == NO_LOW;
        form->low[f] = none ? 0 : (int)survey->low[f];
        form->value_at[f] = bits;
        form->value_bits[f] = (none ? 0 : (int)(-survey->minus_high[f] - survey->low[f])) + 1 + headroom;
        bits += form->value_bits[f];
    }
    form->words = bits <= 64 ? 1 : 1 + (unsigned)((bits - 64 + form->digit - 1) / form->digit);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums as most are: of one field of four words, in one or two words
 * ------------------------------------------------------------------------------------------------------------------ */

enum { FEW = 4 };

/* Where the window begins, and the place in it of the word that has the lowest bit. */
struct place {
    int first, at;
};

static struct place place_of(const struct rd_cells *cells, const struct rd_row_form *form) {
    const int low = form->low[0] / 64, words = (form->low[0] + form->value_bits[0] - 1) / 64 - low + 1;
    const int most = cells->full[0] - FEW, first = low - (words < FEW ? FEW - words : 0) / 2;
    const int begin = first < 0 ? 0 : first > most ? most : first;
    return (struct place){begin, low - begin};
}

static bool is_plain(const struct rd_cells *cells, const struct rd_row_form *form, bool aside) {
    return !aside && cells->kind == RD_CELL_SUMS && cells->fields == 1 && cells->words[0] == FEW && form->words <= 2 &&
           form->value_at[0] < 64 && form->value_bits[0] <= 128 && place_of(cells, form).at < 3;
}

static bool counts_only_seen(const struct rd_row_form *form) {
    return form->value_at[0] == form->bits[0];
}

INLINED void pack_as(const struct rd_row_form *form, const unsigned char *at, uint64_t count, bool only_seen,
                     unsigned words, int64_t *restrict to) {
    const int low = form->low[0] / 64, shift = form->low[0] % 64, below = form->value_at[0], digit = form->digit;
    const int *places = form->at;
    uint64_t room[3 * FEW] = {0}; /* zeros, the words of a cell, its sign */
    for (uint64_t i = 0; i < count; i++, at += sizeof(struct rd_cell_sums) + FEW * sizeof(uint64_t), to += words) {
        const struct rd_cell_sums *cell = (const void *)at;
        const uint64_t sign = rd_words_sign(cell->word, FEW);
        int from = FEW + low - (cell->outside[0] ^ RD_NO_WINDOW);
        for (int w = 0; w < FEW; w++)
            room[FEW + w] = cell->word[w];
        for (int w = 0; w < 3; w++)
            room[2 * FEW + w] = sign;
        from = from < 0 ? 0 : from > 2 * FEW ? 2 * FEW : from; /* zeros can lie anywhere */
        const uint64_t first = (uint64_t)(((unsigned_wide)room[from + 1] << 64 | room[from]) >> shift);
        uint64_t counts = cell->seen;
        if (!only_seen) {
            counts |= (uint64_t)cell->ignored << places[1];
            for (int s = 0; s < RD_SPECIALS; s++)
                counts |= (uint64_t)cell->special[s] << places[2 + s];
        }
        if (words == 1) {
            to[0] = (int64_t)(counts + (first << below));
            continue;
        }
        const uint64_t second = (uint64_t)(((unsigned_wide)room[from + 2] << 64 | room[from + 1]) >> shift);
        const unsigned_wide row = (((unsigned_wide)second << 64 | first) << below) + counts;
        to[0] = (int64_t)((uint64_t)row & (((uint64_t)1 << digit) - 1));
        to[1] = (int64_t)((wide)row >> digit);
    }
}

/* `at`: where in the window the lowest bit's word is. */
INLINED void unpack_as(const struct rd_cells *cells, const struct rd_row_form *form, const int64_t *restrict from,
                       uint64_t count, bool only_seen, unsigned words, int at, unsigned char *restrict to) {
    const int shift = form->low[0] % 64, below = form->value_at[0], digit = form->digit;
    const uint8_t outside = (uint8_t)(place_of(cells, form).first ^ RD_NO_WINDOW);
    const uint64_t mask = ((uint64_t)1 << below) - 1, seen_mask = UINT64_MAX >> (63 - form->bits[0]) >> 1;
    const struct rd_row_form own = *form;
    for (uint64_t i = 0; i < count; i++, from += words, to += sizeof(struct rd_cell_sums) + FEW * sizeof(uint64_t)) {
        struct rd_cell_sums *cell = (void *)to;
        wide row = from[0];
        if (words == 2)
            row = (wide)(((unsigned_wide)(wide)from[1] << digit) + (uint64_t)from[0]);
        const uint64_t counts = (uint64_t)row & mask;
        const wide value = row >> below;
        const uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64), sign = (uint64_t)(value >> 127);
        const uint64_t shifted[3] = {low << shift, (uint64_t)((unsigned_wide)value << shift >> 64),
                                     (uint64_t)((((unsigned_wide)sign << 64) | high) << shift >> 64)};
        const uint64_t seen = only_seen ? counts : counts & seen_mask;
        cell->seen = seen;
        cell->ignored = 0;
        cell->unused = 0;
        cell->outside[0] = seen ? outside : 0;
        cell->outside[1] = 0;
        for (int s = 0; s < RD_SPECIALS; s++)
            cell->special[s] = 0;
        if (!only_seen) {
            cell->ignored = (uint32_t)(counts >> own.at[1] & (((uint64_t)1 << own.bits[1]) - 1));
            for (int s = 0; s < RD_SPECIALS; s++)
                cell->special[s] = (uint16_t)(counts >> own.at[2 + s] & (((uint64_t)1 << own.bits[2 + s]) - 1));
        }
        cell->room = 0;
        for (int w = 0; w < FEW; w++)
            cell->word[w] = w < at ? 0 : w - at < 3 ? shifted[w - at] : sign;
    }
}

static void pack_plain(const struct rd_row_form *form, const unsigned char *at, uint64_t count, int64_t *to) {
    const bool only_seen = counts_only_seen(form);
    if (form->words == 1)
        only_seen ? pack_as(form, at, count, true, 1, to) : pack_as(form, at, count, false, 1, to);
    else
        only_seen ? pack_as(form, at, count, true, 2, to) : pack_as(form, at, count, false, 2, to);
}

INLINED void unpack_at(const struct rd_cells *cells, const struct rd_row_form *form, const int64_t *from,
                       uint64_t count, int at, unsigned char *to) {
    const bool only_seen = counts_only_seen(form);
    if (form->words == 1)
        only_seen ? unpack_as(cells, form, from, count, true, 1, at, to)
                  : unpack_as(cells, form, from, count, false, 1, at, to);
    else
        only_seen ? unpack_as(cells, form, from, count, true, 2, at, to)
                  : unpack_as(cells, form, from, count, false, 2, at, to);
}

static void unpack_plain(const struct rd_cells *cells, const struct rd_row_form *form, const int64_t *from,
                         uint64_t count, unsigned char *to) {
    switch (place_of(cells, form).at) {
    case 0:
        unpack_at(cells, form, from, count, 0, to);
        break;
    case 1:
        unpack_at(cells, form, from, count, 1, to);
        break;
    default:
        unpack_at(cells, form, from, count, 2, to);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Any rows
 * ------------------------------------------------------------------------------------------------------------------ */

/* Bits of words in a row: 64 from number `at` on; those of a value that are set. */
static uint64_t bits_at(const uint64_t *row, int at) {
    const int word = at / 64, shift = at % 64;
    return shift ? row[word] >> shift | row[word + 1] << (64 - shift) : row[word];
}

static void set_bits(uint64_t *row, int at, uint64_t value) {
    const int word = at / 64, shift = at % 64;
    row[word] |= value << shift;
    if (shift)
        row[word + 1] |= value >> (64 - shift);
}

/* Adds 1 or -1 from a bit on. */
static void carry_from(uint64_t *row, int words, int at, bool borrow) {
    const uint64_t one = (uint64_t)1 << (at % 64);
    bool carry = true;
    for (int w = at / 64; carry && w < words; w++) {
        const uint64_t term = w == at / 64 ? one : 1, before = row[w];
        row[w] = borrow ? before - term : before + term;
        carry = borrow ? before < term : row[w] < term;
    }
}

static uint64_t mask_of(int bits) {
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* Words that hold a row, and one more. */
static int row_words(const struct rd_row_form *form) {
    return ((int)(form->words - 1) * form->digit + 64) / 64 + 2;
}

static void set_value(uint64_t *row, int words, const struct rd_row_form *form, int which, bool top,
                      struct rd_field field) {
    const uint64_t sign = rd_words_sign(field.word, field.words);
    const int at = form->value_at[which], bits = top ? 64 * words - at : form->value_bits[which],
              shift = form->low[which] % 64;
    int from = form->low[which] / 64 - field.first;
    for (int done = 0; done < bits; done += 64, from++) {
        uint64_t pair[2];
        for (int w = 0; w < 2; w++)
            pair[w] = from + w < 0 ? 0 : from + w < field.words ? field.word[from + w] : sign;
        const uint64_t value = shift ? pair[0] >> shift | pair[1] << (64 - shift) : pair[0];
        set_bits(row, at + done, value & mask_of(bits - done));
    }
    if (sign && !top)
        carry_from(row, words, at + bits, true);
}

static void pack_row(const struct rd_cells *cells, const struct rd_row_form *form, const void *cell, int64_t *to) {
    uint64_t row[ROOM];
    const int words = row_words(form);
    const struct rd_cell_sums *sums = cell;
    memset(row, 0, (size_t)(words + 1) * sizeof *row);
    if (cells->kind == RD_CELL_SUMS) {
        set_bits(row, form->at[0], sums->seen);
        set_bits(row, form->at[1], rd_cell_ignored(sums));
        for (int s = 0; s < RD_SPECIALS; s++)
            set_bits(row, form->at[2 + s], rd_cell_special(sums, (enum rd_special)s));
    } else {
        for (int c = 0; c < counts_of(cells); c++)
            set_bits(row, form->at[c], ((const uint64_t *)cell)[c]);
    }
    for (int f = cells->fields; f-- > 0;) /* the one on top first, as others may borrow from it */
        set_value(row, words, form, f, f == cells->fields - 1, rd_field_of(cells, sums, f));
    for (unsigned w = 0; w + 1 < form->words; w++)
        to[w] = (int64_t)(bits_at(row, (int)w * form->digit) & mask_of(form->digit));
    to[form->words - 1] = (int64_t)bits_at(row, (int)(form->words - 1) * form->digit);
}

/* The bits of a sum of rows. */
static void join_words(const struct rd_row_form *form, const int64_t *from, uint64_t *row, int words) {
    const int top = (int)(form->words - 1) * form->digit;
    uint64_t carry = 0;
    memset(row, 0, (size_t)(words + 1) * sizeof *row);
    for (unsigned w = 0; w + 1 < form->words; w++) {
        const uint64_t sum = (uint64_t)from[w] + carry;
        set_bits(row, (int)w * form->digit, sum & mask_of(form->digit));
        carry = sum >> form->digit;
    }
    const int64_t last = (int64_t)((uint64_t)from[form->words - 1] + carry);
    set_bits(row, top, (uint64_t)last);
    for (int at = top + 64; last < 0 && at + 64 <= 64 * words; at += 64)
        set_bits(row, at, UINT64_MAX);
}

/* Writes the value of a field, in words of the field from that on which has the lowest bit; returns how many. */
static int value_of(const struct rd_row_form *form, uint64_t *row, int words, int which, bool top, uint64_t *value) {
    const int bits = form->value_bits[which], at = form->value_at[which], shift = form->low[which] % 64;
    const int count = (bits + 63) / 64, over = 64 * count - bits;
    for (int w = 0; w < count; w++)
        value[w] = bits_at(row, at + 64 * w);
    value[count - 1] = (uint64_t)((int64_t)(value[count - 1] << over) >> over);
    const uint64_t sign = rd_words_sign(value, count);
    if (sign && !top)
        carry_from(row, words, at + bits, false);
    value[count] = sign;
    for (int w = count; shift && w >= 0; w--)
        value[w] = value[w] << shift | (w ? value[w - 1] >> (64 - shift) : 0);
    return count + 1;
}

/* Puts a value in the place of zero. */
static bool put_value(const struct rd_cells *cells, struct rd_cell_sums *cell, int which, uint64_t *value, int words,
                      int first) {
    const struct rd_extent extent = rd_extent_of((struct rd_field){value, words, 0});
    const int low = first + extent.low, high = low + extent.words - 1;
    if (!extent.words)
        return true;
    if (!rd_cell_cover(cells, cell, which, low, high, false))
        return false;
    const struct rd_field field = rd_field_of(cells, cell, which);
    const uint64_t sign = rd_words_sign(value, words);
    for (int w = low - field.first; w < field.words; w++)
        field.word[w] = w + field.first <= high ? value[w + field.first - first] : sign;
    return true;
}

static bool unpack_row(const struct rd_cells *cells, const struct rd_row_form *form, const int64_t *from, void *cell) {
    uint64_t row[ROOM], value[ROOM], count[RD_ROW_COUNTS];
    const int words = row_words(form);
    struct rd_cell_sums *sums = cell;
    join_words(form, from, row, words);
    for (int c = 0; c < RD_ROW_COUNTS; c++)
        count[c] = form->bits[c] ? bits_at(row, form->at[c]) & mask_of(form->bits[c]) : 0;
    if (cells->kind != RD_CELL_SUMS) {
        memcpy(cell, count, (size_t)counts_of(cells) * sizeof *count);
        return true;
    }
    memset(cell, 0, cells->size);
    for (int f = 0; f < cells->fields; f++) {
        const int of_value = value_of(form, row, words, f, f == cells->fields - 1, value);
        if (!put_value(cells, sums, f, value, of_value, form->low[f] / 64))
            return false;
    }
    sums->seen = count[0];
    return rd_cell_count_specials(cells, sums, count[1], count + 2);
}

void rd_rows_pack(const struct rd_cells *cells, const struct rd_row_form *form, bool aside, const void *cell,
                  uint64_t count, int64_t *words) {
    const unsigned char *at = cell;
    if (is_plain(cells, form, aside)) {
        pack_plain(form, cell, count, words);
        return;
    }
    for (uint64_t i = 0; i < count; i++, at += cells->size, words += form->words)
        pack_row(cells, form, at, words);
}

bool rd_rows_unpack(const struct rd_cells *cells, const struct rd_row_form *form, bool aside, const int64_t *words,
                    uint64_t count, void *cell) {
    unsigned char *at = cell;
    if (is_plain(cells, form, aside)) {
        unpack_plain(cells, form, words, count, cell);
        return true;
    }
    bool whole = true;
    for (uint64_t i = 0; i < count; i++, at += cells->size, words += form->words)
        whole = unpack_row(cells, form, words, at) && whole;
    return whole;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What does not add
 * ------------------------------------------------------------------------------------------------------------------ */

/* Of extremes the least complement of a key counts. NaN comes before all of them, and nothing after: floats have no such keys, and
 * other types no NaN. */
#define FIRST INT64_MIN
#define LAST  INT64_MAX

static bool is_index(const struct rd_cells *cells) {
    return rd_operator(cells->reduction.op)->finish == RD_INDEX;
}

static bool is_both(const struct rd_cells *cells) {
    return rd_operator(cells->reduction.op)->combine == RD_BOTH;
}

unsigned rd_rest_words(const struct rd_cells *cells) {
    switch (cells->kind) {
    case RD_CELL_EXTREMES:
        return is_index(cells) || is_both(cells) ? 2 : 1;
    case RD_CELL_BITS:
        return 1;
    case RD_CELL_SUMS:
    case RD_CELL_COUNTS:
        break;
    }
    return 0;
}

reduct_merge rd_rest_merge(const struct rd_cells *cells) {
    if (cells->kind == RD_CELL_EXTREMES)
        return REDUCT_MERGE_LEAST;
    return rd_operator(cells->reduction.op)->combine == RD_XOR ? REDUCT_MERGE_XOR : REDUCT_MERGE_OR;
}

unsigned rd_rest_width(const struct rd_cells *cells) {
    return cells->kind == RD_CELL_EXTREMES && is_index(cells) ? 2 : 1;
}

void rd_rest_pack(const struct rd_cells *cells, const void *cell, uint64_t count, uint64_t before, int64_t *words) {
    const struct rd_cell_extremes *extremes = cell;
    const struct rd_cell_bits *bits = cell;
    const bool index = is_index(cells), both = is_both(cells);
    if (cells->kind == RD_CELL_BITS) {
        for (uint64_t i = 0; i < count; i++)
            words[i] = (int64_t)bits[i].bits;
        return;
    }
    for (uint64_t i = 0; i < count; i++, extremes++) {
        const bool found = extremes->found && !extremes->nan;
        *words++ = extremes->nan ? FIRST : found ? ~extremes->key : LAST;
        if (index)
            *words++ = extremes->nan ? (int64_t)(extremes->nan - 1 + before)
                       : found       ? (int64_t)(extremes->index + before)
                                     : LAST;
        else if (both)
            *words++ = found ? ~extremes->greatest : LAST;
    }
}

void rd_rest_none(const struct rd_cells *cells, uint64_t count, int64_t *words) {
    for (uint64_t i = 0; i < count * rd_rest_words(cells); i++)
        words[i] = cells->kind == RD_CELL_BITS ? 0 : LAST;
}

void rd_rest_unpack(const struct rd_cells *cells, const int64_t *words, uint64_t count, void *cell) {
    struct rd_cell_extremes *extremes = cell;
    struct rd_cell_bits *bits = cell;
    const bool index = is_index(cells), both = is_both(cells),
               of_floats = rd_type(cells->reduction.element)->kind == RD_FLOAT;
    if (cells->kind == RD_CELL_BITS) {
        for (uint64_t i = 0; i < count; i++)
            bits[i].bits = (uint64_t)words[i];
        return;
    }
    for (uint64_t i = 0; i < count; i++, extremes++) {
        const int64_t first = *words++, second = index || both ? *words++ : 0;
        const bool nan = of_floats && first == FIRST, found = of_floats ? !nan && first != LAST : extremes->seen != 0;
        extremes->nan = nan ? (index ? (uint64_t)second + 1 : 1) : 0;
        extremes->found = found;
        extremes->key = found ? ~first : 0;
        extremes->index = 0;
        if (found && both)
            extremes->greatest = ~second;
        else if (found && index)
            extremes->index = (uint64_t)second;
    }
}
