/* Cells as numerals: see join_numerals.h. */
#include "state/join_numerals.h"

#include "state/cell_words.h"

#include <string.h>

/* Where time is spent, functions are inlined with what is the same for all cells as constants. */
#define INLINED static inline __attribute__((always_inline))

/* Where a window can be that begins at the last word there is, or nowhere. */
enum { PLACES = RD_NO_WINDOW + 1 + 8 };

/* Words of a numeral's bits, and what is written beyond them. */
enum { ROOM = 2 * RD_LIMBS + 16 };

/* Words of a field, as most cells have one. */
enum { FEW = 4, AHEAD = 1024 };

/* Of so many cells one may be put aside for the others to take fewer words. */
enum { MANY = 32 };

/* Where there is no bit. */
enum { NO_LOW = INT32_MAX };

/* ---------------------------------------------------------------------------------------------------------------------
 * Looking at cells
 * ------------------------------------------------------------------------------------------------------------------ */

/* The bits that some cell has, of counts, and of fields and their magnitudes by word. */
struct seen {
    uint64_t count[RD_NUMERAL_COUNTS];
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
                          const struct rd_numeral_limits *limits) {
    for (int i = 0; limits && i < cells->fields; i++) {
        const struct span span = span_of_field(rd_field_of(cells, cell, i));
        if (span.low != NO_LOW &&
            (span.low / 64 < limits->first[i] || last_word(span.high, headroom) >= limits->first[i] + limits->words[i]))
            return false;
    }
    return true;
}

/* Bits that counts of one part must not have, for those of all to fit in a cell: of each special term; of what is ignored. */
static uint64_t too_many_specials(int headroom) {
    uint16_t special[RD_SPECIALS];
    uint64_t all;
    for (int i = 0; i < RD_SPECIALS; i++)
        special[i] = headroom < 16 ? (uint16_t)((uint32_t)UINT16_MAX << (16 - headroom)) : UINT16_MAX;
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

/* What one part's cells must not have more of, if those of all are to fit in a cell. */
struct fitting {
    uint64_t special, ignored;
    int headroom;
    const struct rd_numeral_limits *limits;
};

INLINED bool suits(const struct rd_cells *cells, const struct rd_cell_sums *cell, const struct fitting *fitting) {
    uint64_t special;
    memcpy(&special, cell->special, sizeof special);
    return !(cell->room | (special & fitting->special) | (cell->ignored & fitting->ignored)) &&
           (!fitting->limits || within_limits(cells, cell, fitting->headroom, fitting->limits));
}

/* Of the cells from one on, up to the first that does not suit, of one field of four words, and with windows in one place: how many.
 * Registers keep what they have. */
static uint64_t see_few(const struct rd_cells *cells, const unsigned char *at, uint64_t count,
                        const struct fitting *fitting, uint64_t *specials, struct seen *seen) {
    const uint8_t outside = ((const struct rd_cell_sums *)(const void *)at)->outside[0];
    uint64_t counted = 0, ignored = 0, special = 0, any[FEW] = {0}, magnitude[FEW] = {0}, i = 0;
    for (; i < count; i++, at += sizeof(struct rd_cell_sums) + FEW * sizeof(uint64_t)) {
        const struct rd_cell_sums *cell = (const void *)at;
        const uint64_t sign = rd_words_sign(cell->word, FEW);
        uint64_t own;
        __builtin_prefetch(at + AHEAD);
        if (__builtin_expect(cell->outside[0] != outside || !suits(cells, cell, fitting), 0))
            break;
        memcpy(&own, cell->special, sizeof own);
        counted |= cell->seen;
        ignored |= cell->ignored;
        special |= own;
        for (int w = 0; w < FEW; w++) {
            any[w] |= cell->word[w];
            magnitude[w] |= cell->word[w] ^ sign;
        }
    }
    seen->count[0] |= counted;
    seen->count[1] |= ignored;
    *specials |= special;
    for (int w = 0; w < FEW; w++) {
        seen->any[0][(outside ^ RD_NO_WINDOW) + w] |= any[w];
        seen->magnitude[0][(outside ^ RD_NO_WINDOW) + w] |= magnitude[w];
    }
    return i;
}

/* The same of any that suits. */
static void see_one(const struct rd_cells *cells, const struct rd_cell_sums *cell, uint64_t *specials,
                    struct seen *seen) {
    uint64_t own;
    memcpy(&own, cell->special, sizeof own);
    seen->count[0] |= cell->seen;
    seen->count[1] |= cell->ignored;
    *specials |= own;
    for (int f = 0; f < cells->fields; f++)
        see_window(seen, f, cell->word + (f ? cells->words[0] : 0), cells->words[f], cell->outside[f] ^ RD_NO_WINDOW);
}

/* Those that do not suit are put aside. Returns whether there are any. */
static bool see_cells(const struct rd_cells *cells, const unsigned char *at, uint64_t count,
                      const struct fitting *fitting, uint64_t *asides, struct seen *seen) {
    const bool few = cells->fields == 1 && cells->words[0] == FEW;
    uint64_t specials = 0;
    uint16_t special[RD_SPECIALS];
    bool puts = false;
    for (uint64_t i = 0; i < count;) {
        const struct rd_cell_sums *cell = (const void *)(at + i * cells->size);
        if (!suits(cells, cell, fitting)) {
            asides[i / 64] |= (uint64_t)1 << (i % 64);
            puts = true;
            i++;
        } else if (few) {
            i += see_few(cells, at + i * cells->size, count - i, fitting, &specials, seen);
        } else {
            see_one(cells, cell, &specials, seen);
            i++;
        }
    }
    memcpy(special, &specials, sizeof special);
    for (int i = 0; i < RD_SPECIALS; i++)
        seen->count[2 + i] |= special[i];
    return puts;
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
    return RD_NUMERAL_COUNTS;
}

static void see_counts(const struct rd_cells *cells, const unsigned char *at, uint64_t count, struct seen *seen) {
    const int counts = counts_of(cells);
    for (uint64_t i = 0; i < count; i++, at += cells->size)
        for (int c = 0; c < counts; c++)
            seen->count[c] |= ((const uint64_t *)(const void *)at)[c];
}

void rd_numerals_survey(const struct rd_cells *cells, const void *cell, uint64_t count, int headroom,
                        const struct rd_numeral_limits *limits, uint64_t *asides, struct rd_survey *survey) {
    const struct fitting fitting = {too_many_specials(headroom), too_many_ignored(headroom), headroom, limits};
    struct seen seen;
    bool any = false;
    memset(&seen, 0, sizeof seen);
    if (cells->kind != RD_CELL_SUMS)
        see_counts(cells, cell, count, &seen);
    else if (!asides)
        see_asides(cells, cell, count, &seen);
    else
        any = see_cells(cells, cell, count, &fitting, asides, &seen);
    survey->aside = any ? -1 : 0;
    for (int c = 0; c < RD_NUMERAL_COUNTS; c++)
        survey->minus_bits[c] = -length_of(seen.count[c]);
    for (int f = 0; f < 2; f++) {
        const struct span span = span_of(seen.any[f], seen.magnitude[f], PLACES);
        survey->minus_high[f] = -span.high;
        survey->low[f] = span.low;
    }
}

bool rd_numerals_fit(const struct rd_cells *cells, const struct rd_survey *survey, int headroom) {
    for (int f = 0; f < cells->fields; f++)
        if (survey->low[f] != NO_LOW &&
            last_word((int)-survey->minus_high[f], headroom) - survey->low[f] / 64 >= cells->words[f])
            return false;
    return true;
}

void rd_numerals_place(const struct rd_cells *cells, const void *cell, uint64_t count, int headroom,
                       struct rd_numeral_places *places) {
    const unsigned char *at = cell;
    for (uint64_t i = 0; i < count; i++, at += cells->size) {
        const struct rd_cell_sums *sums = (const void *)at;
        for (int f = 0; !sums->spill && f < cells->fields; f++) {
            const struct span span = span_of_field(rd_field_of(cells, sums, f));
            const int last = last_word(span.high, headroom);
            if (span.low == NO_LOW)
                continue;
            places->low[f][span.low / 64]++;
            places->high[f][last < RD_NUMERAL_PLACES ? last : RD_NUMERAL_PLACES - 1]++;
        }
    }
}

/* The most cells that lie in so many words, and where these begin: what ends in time, but for what begins too early. */
static int64_t find_limits(const struct rd_numeral_places *places, int which, int words, int *begin) {
    int64_t best = INT64_MIN, inside = 0;
    for (int w = 0; w < words - 1; w++)
        inside += (int64_t)places->high[which][w];
    for (int first = 0; first + words <= RD_NUMERAL_PLACES; first++) {
        inside += (int64_t)places->high[which][first + words - 1];
        if (inside > best) {
            best = inside;
            *begin = first;
        }
        inside -= (int64_t)places->low[which][first];
    }
    return best;
}

void rd_numerals_limit(const struct rd_cells *cells, const struct rd_numeral_places *places,
                       struct rd_numeral_limits *limits) {
    for (int f = 0; f < cells->fields; f++) {
        const int64_t most = find_limits(places, f, cells->words[f], &limits->first[f]);
        limits->words[f] = 0;
        while (++limits->words[f] < cells->words[f])
            if (find_limits(places, f, limits->words[f], &limits->first[f]) >= most - most / MANY)
                break;
        find_limits(places, f, limits->words[f], &limits->first[f]);
    }
}

void rd_numerals_form(const struct rd_cells *cells, const struct rd_survey *survey, int headroom,
                      struct rd_numeral_form *form) {
    int bits = 0;
    *form = (struct rd_numeral_form){.headroom = headroom, .digit = 63 - headroom};
    for (int c = 0; c < RD_NUMERAL_COUNTS; c++) {
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
    bits += cells->fields == 0; /* as words are signed; sums have that already */
    form->words = bits <= 64 ? 1 : 1 + (unsigned)((bits - 64 + form->digit - 1) / form->digit);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums as most are: of one field of four words, in one or two words
 * ------------------------------------------------------------------------------------------------------------------ */

/* Where the window begins, and the place in it of the word that has the lowest bit. */
struct place {
    int first, at;
};

static struct place place_of(const struct rd_cells *cells, const struct rd_numeral_form *form, int which) {
    const int low = form->low[which] / 64, last = (form->low[which] + form->value_bits[which] - 1) / 64;
    const int spare = cells->words[which] - (last - low + 1);
    const int begin = rd_window_about(cells, which, low, spare > 0 ? spare : 0);
    return (struct place){begin, low - begin};
}

static bool is_plain(const struct rd_cells *cells, const struct rd_numeral_form *form, bool aside) {
    return !aside && cells->kind == RD_CELL_SUMS && cells->fields == 1 && cells->words[0] == FEW && form->words <= 2 &&
           form->value_at[0] < 64 && form->value_bits[0] <= 128 && place_of(cells, form, 0).at < 3;
}

static bool counts_only_seen(const struct rd_numeral_form *form) {
    return form->value_at[0] == form->bits[0];
}

/* The words of a window from `at` on, and what is beyond it: zeros below, the sign above. Not inlined where most cells do not need it. */
static __attribute__((noinline)) void reach(const struct rd_cell_sums *cell, int at, uint64_t found[3]) {
    const uint64_t sign = rd_words_sign(cell->word, FEW);
    for (int w = 0; w < 3; w++)
        found[w] = at + w < 0 ? 0 : at + w < FEW ? cell->word[at + w] : sign;
}

/* 64 bits of two words from bit number `shift` on. Shifts of more than 63 bits are two. */
INLINED uint64_t joined(uint64_t low, uint64_t high, int shift) {
    return low >> shift | (high << 1) << (63 - shift);
}

INLINED void pack_as(const struct rd_numeral_form *form, const unsigned char *at, uint64_t count, bool only_seen,
                     unsigned words, int64_t *restrict to) {
    const int low = form->low[0] / 64, shift = form->low[0] % 64, below = form->value_at[0], digit = form->digit;
    const uint64_t mask = ((uint64_t)1 << digit) - 1;
    int places[RD_NUMERAL_COUNTS];
    memcpy(places, form->at, sizeof places);
    for (uint64_t i = 0; i < count; i++, at += sizeof(struct rd_cell_sums) + FEW * sizeof(uint64_t), to += words) {
        const struct rd_cell_sums *cell = (const void *)at;
        __builtin_prefetch(at + AHEAD);
        const int from = low - (cell->outside[0] ^ RD_NO_WINDOW);
        const uint64_t *word = cell->word + from;
        uint64_t beyond[3];
        if (__builtin_expect((unsigned)from > FEW - 3, 0)) {
            reach(cell, from, beyond);
            word = beyond;
        }
        const uint64_t first = joined(word[0], word[1], shift);
        uint64_t counts = cell->seen;
        if (!only_seen) {
            counts |= (uint64_t)cell->ignored << places[1];
            for (int s = 0; s < RD_SPECIALS; s++)
                counts |= (uint64_t)cell->special[s] << places[2 + s];
        }
        const uint64_t numeral = counts | first << below;
        if (words == 1) {
            to[0] = (int64_t)numeral;
            continue;
        }
        const uint64_t above = joined(word[1], word[2], shift) << below | (first >> 1) >> (63 - below);
        to[0] = (int64_t)(numeral & mask);
        to[1] = (int64_t)(numeral >> digit | above << (64 - digit));
    }
}

/* `at`: where in the window the lowest bit's word is. */
INLINED void unpack_as(const struct rd_cells *cells, const struct rd_numeral_form *form, const int64_t *restrict from,
                       uint64_t count, bool only_seen, unsigned words, int at, unsigned char *restrict to) {
    const int shift = form->low[0] % 64, below = form->value_at[0], digit = form->digit;
    const struct rd_cell_sums head = {.outside = {(uint8_t)(place_of(cells, form, 0).first ^ RD_NO_WINDOW)}};
    uint64_t window; /* `ignored`, which is 0, to `outside` */
    _Static_assert(offsetof(struct rd_cell_sums, special) - offsetof(struct rd_cell_sums, ignored) == sizeof window,
                   "");
    memcpy(&window, (const unsigned char *)&head + offsetof(struct rd_cell_sums, ignored), sizeof window);
    const uint64_t mask = ((uint64_t)1 << below) - 1, seen_mask = UINT64_MAX >> (63 - form->bits[0]) >> 1;
    const struct rd_numeral_form own = *form;
    for (uint64_t i = 0; i < count; i++, from += words, to += sizeof(struct rd_cell_sums) + FEW * sizeof(uint64_t)) {
        struct rd_cell_sums *cell = (void *)to;
        uint64_t numeral = (uint64_t)from[0], above = 0;
        int64_t value = (int64_t)numeral >> below, high = value >> 63;
        if (words == 2) {
            const uint64_t part = (uint64_t)from[1] << digit;
            numeral += part;
            above = (uint64_t)(from[1] >> (64 - digit)) + (numeral < part);
            value = (int64_t)joined(numeral, above, below);
            high = (int64_t)above >> below;
        }
        const uint64_t counts = numeral & mask, sign = (uint64_t)(high >> 63);
        const uint64_t shifted[3] = {(uint64_t)value << shift,
                                     words == 1 ? (uint64_t)((value >> 1) >> (63 - shift))
                                                : (uint64_t)high << shift | ((uint64_t)value >> 1) >> (63 - shift),
                                     words == 1 ? sign : (uint64_t)((high >> 1) >> (63 - shift))};
        const uint64_t seen = only_seen ? counts : counts & seen_mask;
        const uint64_t where = seen ? window : 0;
        cell->seen = seen;
        memcpy(to + offsetof(struct rd_cell_sums, ignored), &where, sizeof where);
        memset(cell->special, 0, sizeof cell->special);
        cell->room = 0;
        if (!only_seen) {
            cell->ignored = (uint32_t)(counts >> own.at[1] & (((uint64_t)1 << own.bits[1]) - 1));
            for (int s = 0; s < RD_SPECIALS; s++)
                cell->special[s] = (uint16_t)(counts >> own.at[2 + s] & (((uint64_t)1 << own.bits[2 + s]) - 1));
        }
        for (int w = 0; w < FEW; w++)
            cell->word[w] = w < at ? 0 : w - at < 3 ? shifted[w - at] : sign;
    }
}

static void pack_plain(const struct rd_numeral_form *form, const unsigned char *at, uint64_t count, int64_t *to) {
    const bool only_seen = counts_only_seen(form);
    if (form->words == 1)
        only_seen ? pack_as(form, at, count, true, 1, to) : pack_as(form, at, count, false, 1, to);
    else
        only_seen ? pack_as(form, at, count, true, 2, to) : pack_as(form, at, count, false, 2, to);
}

INLINED void unpack_at(const struct rd_cells *cells, const struct rd_numeral_form *form, const int64_t *from,
                       uint64_t count, int at, unsigned char *to) {
    const bool only_seen = counts_only_seen(form);
    if (form->words == 1)
        only_seen ? unpack_as(cells, form, from, count, true, 1, at, to)
                  : unpack_as(cells, form, from, count, false, 1, at, to);
    else
        only_seen ? unpack_as(cells, form, from, count, true, 2, at, to)
                  : unpack_as(cells, form, from, count, false, 2, at, to);
}

static void unpack_plain(const struct rd_cells *cells, const struct rd_numeral_form *form, const int64_t *from,
                         uint64_t count, unsigned char *to) {
    switch (place_of(cells, form, 0).at) {
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
 * Any numerals
 * ------------------------------------------------------------------------------------------------------------------ */

/* Bits of words that follow each other: 64 from number `at` on; those of a value that are set. */
INLINED uint64_t bits_at(const uint64_t *numeral, int at) {
    const int word = at / 64, shift = at % 64;
    return shift ? numeral[word] >> shift | numeral[word + 1] << (64 - shift) : numeral[word];
}

INLINED void set_bits(uint64_t *numeral, int at, uint64_t value) {
    const int word = at / 64, shift = at % 64;
    numeral[word] |= value << shift;
    if (shift)
        numeral[word + 1] |= value >> (64 - shift);
}

/* Adds a carry of -1 or 1 from a bit on, which the numeral has. */
INLINED void carry_from(uint64_t *numeral, int words, int at, int64_t carry) {
    const int word = at / 64;
    const uint64_t one = (uint64_t)1 << (at % 64), before = numeral[word];
    numeral[word] = carry < 0 ? before - one : before + one;
    if (carry < 0 ? before < one : numeral[word] < one)
        rd_words_carry(numeral, word + 1, words, carry);
}

INLINED uint64_t mask_of(int bits) {
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* Words that are enough to hold a numeral of `words`, of less than 64 bits each but for the last, and then one more. */
INLINED int numeral_words(unsigned words) {
    return (int)words + 2;
}

INLINED void set_value(uint64_t *numeral, int words, const struct rd_numeral_form *form, int which, bool top,
                       struct rd_field field) {
    const uint64_t sign = rd_words_sign(field.word, field.words);
    const int at = form->value_at[which], bits = top ? 64 * words - at : form->value_bits[which],
              shift = form->low[which] % 64;
    int from = form->low[which] / 64 - field.first;
    for (int done = 0; done < bits; done += 64, from++) {
        uint64_t pair[2];
        for (int w = 0; w < 2; w++)
            pair[w] = from + w < 0 ? 0 : from + w < field.words ? field.word[from + w] : sign;
        set_bits(numeral, at + done, joined(pair[0], pair[1], shift) & mask_of(bits - done));
    }
    if (sign && !top)
        carry_from(numeral, words, at + bits, -1);
}

/* `width`: words of the numeral. */
INLINED void pack_numeral(const struct rd_cells *cells, const struct rd_numeral_form *form, unsigned width, int fields,
                          const void *cell, int64_t *to) {
    uint64_t numeral[ROOM];
    const int words = numeral_words(width), digit = form->digit;
    const struct rd_cell_sums *sums = cell;
    for (int w = 0; w <= words; w++)
        numeral[w] = 0;
    if (fields) {
        set_bits(numeral, form->at[0], sums->seen);
        set_bits(numeral, form->at[1], rd_cell_ignored(sums));
        for (int s = 0; s < RD_SPECIALS; s++)
            set_bits(numeral, form->at[2 + s], rd_cell_special(sums, (enum rd_special)s));
    } else {
        for (int c = 0; c < counts_of(cells); c++)
            set_bits(numeral, form->at[c], ((const uint64_t *)cell)[c]);
    }
    for (int f = fields; f-- > 0;) /* the one on top first, as others may borrow from it */
        set_value(numeral, words, form, f, f == fields - 1, rd_field_of(cells, sums, f));
    for (unsigned w = 0; w + 1 < width; w++)
        to[w] = (int64_t)(bits_at(numeral, (int)w * digit) & mask_of(digit));
    to[width - 1] = (int64_t)bits_at(numeral, (int)(width - 1) * digit);
}

/* The bits of a sum of numerals. */
INLINED void join_words(int digit, unsigned width, const int64_t *from, uint64_t *numeral) {
    const int top = (int)(width - 1) * digit, words = numeral_words(width);
    uint64_t carry = 0;
    for (int w = 0; w <= words; w++)
        numeral[w] = 0;
    for (unsigned w = 0; w + 1 < width; w++) {
        const uint64_t sum = (uint64_t)from[w] + carry;
        set_bits(numeral, (int)w * digit, sum & mask_of(digit));
        carry = sum >> digit;
    }
    const int64_t last = (int64_t)((uint64_t)from[width - 1] + carry);
    set_bits(numeral, top, (uint64_t)last);
    for (int at = top + 64; last < 0 && at + 64 <= 64 * words; at += 64)
        set_bits(numeral, at, UINT64_MAX);
}

/* Writes the value of a field, in words of the field from that on which has the lowest bit; returns how many. */
INLINED int value_of(const struct rd_numeral_form *form, uint64_t *numeral, int words, int which, bool top,
                     uint64_t *value) {
    const int bits = form->value_bits[which], at = form->value_at[which], shift = form->low[which] % 64;
    const int count = (bits + 63) / 64, over = 64 * count - bits;
    for (int w = 0; w < count; w++)
        value[w] = bits_at(numeral, at + 64 * w);
    value[count - 1] = (uint64_t)((int64_t)(value[count - 1] << over) >> over);
    const uint64_t sign = rd_words_sign(value, count);
    if (sign && !top)
        carry_from(numeral, words, at + bits, 1);
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

/* Puts a value in the place of whatever there was, where the window of the whole block is to be, which is wide enough. */
INLINED void set_window(const struct rd_cells *cells, struct rd_cell_sums *cell, int which, const uint64_t *value,
                        int words, struct place place) {
    const uint64_t sign = rd_words_sign(value, words);
    uint64_t *word = cell->word + (which ? cells->words[0] : 0);
    cell->outside[which] = (uint8_t)(place.first ^ RD_NO_WINDOW);
    for (int w = 0; w < cells->words[which]; w++)
        word[w] = w < place.at ? 0 : w - place.at < words ? value[w - place.at] : sign;
}

INLINED void set_counts(struct rd_cell_sums *cell, const uint64_t count[RD_NUMERAL_COUNTS]) {
    cell->seen = count[0];
    cell->ignored = (uint32_t)count[1];
    cell->unused = 0;
    cell->outside[0] = cell->outside[1] = 0;
    for (int s = 0; s < RD_SPECIALS; s++)
        cell->special[s] = (uint16_t)count[2 + s];
    cell->room = 0;
}

INLINED bool unpack_numeral(const struct rd_cells *cells, const struct rd_numeral_form *form, bool aside,
                            unsigned width, int fields, const struct place places[2], const int64_t *from, void *cell) {
    uint64_t numeral[ROOM], value[ROOM], count[RD_NUMERAL_COUNTS];
    struct rd_cell_sums *sums = cell;
    join_words(form->digit, width, from, numeral);
    for (int c = 0; c < RD_NUMERAL_COUNTS; c++)
        count[c] = form->bits[c] ? bits_at(numeral, form->at[c]) & mask_of(form->bits[c]) : 0;
    if (!fields) {
        for (int c = 0; c < counts_of(cells); c++)
            ((uint64_t *)cell)[c] = count[c];
        return true;
    }
    if (aside)
        memset(cell, 0, cells->size);
    else
        set_counts(sums, count);
    for (int f = 0; f < fields; f++) {
        const int words = value_of(form, numeral, numeral_words(width), f, f == fields - 1, value);
        if (!aside)
            set_window(cells, sums, f, value, words, places[f]);
        else if (!put_value(cells, sums, f, value, words, form->low[f] / 64))
            return false;
    }
    sums->seen = count[0];
    return !aside || rd_cell_count_specials(cells, sums, count[1], count + 2);
}

INLINED void pack_numerals(const struct rd_cells *cells, const struct rd_numeral_form *form, unsigned width, int fields,
                           const unsigned char *at, uint64_t count, int64_t *words) {
    for (uint64_t i = 0; i < count; i++, at += cells->size, words += width)
        pack_numeral(cells, form, width, fields, at, words);
}

INLINED bool unpack_numerals(const struct rd_cells *cells, const struct rd_numeral_form *form, bool aside,
                             unsigned width, int fields, const int64_t *words, uint64_t count, unsigned char *at) {
    struct place places[2];
    bool whole = true;
    for (int f = 0; f < fields; f++)
        places[f] = place_of(cells, form, f);
    for (uint64_t i = 0; i < count; i++, at += cells->size, words += width)
        whole = unpack_numeral(cells, form, aside, width, fields, places, words, at) && whole;
    return whole;
}

/* Loops of their own for numerals that are common: by words and fields. */
#define WITH_CONSTANTS(form, fields, call)                                                                             \
    switch (4 * (fields) + (int)((form)->words < 4 ? (form)->words : 0)) {                                             \
    case 1:                                                                                                            \
        call(1, 0);                                                                                                    \
    case 4 + 2:                                                                                                        \
        call(2, 1);                                                                                                    \
    case 4 + 3:                                                                                                        \
        call(3, 1);                                                                                                    \
    case 8 + 2:                                                                                                        \
        call(2, 2);                                                                                                    \
    case 8 + 3:                                                                                                        \
        call(3, 2);                                                                                                    \
    default:                                                                                                           \
        call((form)->words, fields);                                                                                   \
    }

void rd_numerals_pack(const struct rd_cells *cells, const struct rd_numeral_form *form, bool aside, const void *cell,
                      uint64_t count, int64_t *words) {
    if (is_plain(cells, form, aside)) {
        pack_plain(form, cell, count, words);
        return;
    }
#define PACK(width, fields)                                                                                            \
    pack_numerals(cells, form, width, fields, cell, count, words);                                                     \
    return
    WITH_CONSTANTS(form, cells->fields, PACK)
}

bool rd_numerals_unpack(const struct rd_cells *cells, const struct rd_numeral_form *form, bool aside,
                        const int64_t *words, uint64_t count, void *cell) {
    if (is_plain(cells, form, aside)) {
        unpack_plain(cells, form, words, count, cell);
        return true;
    }
    if (aside)
        return unpack_numerals(cells, form, true, form->words, cells->fields, words, count, cell);
#define UNPACK(width, fields) return unpack_numerals(cells, form, false, width, fields, words, count, cell)
    WITH_CONSTANTS(form, cells->fields, UNPACK)
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
