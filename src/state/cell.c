/* Cells: adding, taking out, combining. */
#include "state/cell.h"

#include "arithmetic/element.h"
#include "arithmetic/order.h"
#include "core/environment.h"
#include "core/status.h"
#include "cpu/call.h"
#include "state/cell_words.h"
#include "state/saved.h"
#include "family/family.h"

#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NOINLINE      static __attribute__((noinline))

/* Elements that are decoded at a time; how many elements ahead their cells are fetched. */
enum { BLOCK = 256, AHEAD = 24 };

/* The largest cell, in bytes. */
enum { CELL_MOST = 128 };

/* ---------------------------------------------------------------------------------------------------------------------
 * What cells are like
 * ------------------------------------------------------------------------------------------------------------------ */

/* Floats are decoded as doubles. Of shorter ones these low bits are zero: they are left out, and products stay short. */
enum { DROPPED = 29 };
static int dropped_bits(const struct rd_type *type) {
    return type->precision < 53 ? DROPPED : 0;
}

/* The exponent of the lowest bit that a term can have, rounded down to whole limbs. */
static int lowest_exponent(const struct rd_type *type) {
    if (type->kind != RD_FLOAT)
        return 0;
    int lowest = 2 - type->max_exponent - type->precision; /* of the smallest subnormal number */
    int below = type->precision < 53 ? 52 - dropped_bits(type) : 0;
    return -32 * ((31 + below - lowest) / 32);
}

static void lay_out_sums(struct rd_cells *cells) {
    const struct rd_operator *op = rd_operator(cells->reduction.op);
    const struct rd_type *type = rd_type(cells->reduction.element);
    bool products = op->transform == RD_SQUARE || op->transform == RD_TIMES;
    cells->fields = op->transform == RD_MOMENTS || op->transform == RD_WEIGHTED ? 2 : 1;
    cells->wide = type->kind != RD_FLOAT || type->precision == 53;
    cells->size = sizeof(struct rd_cell_sums);
    for (int i = 0; i < cells->fields; i++) {
        bool of_products = products || i == 1;
        int limbs = type->kind == RD_FLOAT ? (type->max_exponent + 32) / 32 : 2; /* that single elements reach */
        cells->exponent[i] = lowest_exponent(type) * (of_products ? 2 : 1);
        int bits = 32 * (limbs * (of_products ? 2 : 1) + 2) - cells->exponent[i]; /* 2^63 terms, and the sign */
        cells->full[i] = bits / 64 + 2;
        cells->words[i] = of_products && type->kind == RD_FLOAT && cells->wide ? 8 : 4;
        cells->size += (size_t)cells->words[i] * sizeof(uint64_t);
    }
}

static enum rd_cell_kind kind_of(const reduct_reduction *reduction) {
    switch (rd_family(reduction)) {
    case RD_EXTREME:
        return RD_CELL_EXTREMES;
    case RD_COUNT:
        return RD_CELL_COUNTS;
    case RD_BITS:
        return rd_is_truth(reduction) ? RD_CELL_COUNTS : RD_CELL_BITS;
    case RD_EXACT_SUM:
    case RD_FAST_SUM:
    case RD_INTEGER_SUM:
    case RD_FLOAT_PRODUCT:
    case RD_INTEGER_PRODUCT:
        break;
    }
    return RD_CELL_SUMS;
}

reduct_status rd_cells_of(const reduct_reduction *reduction, struct rd_cells *cells, reduct_error *error) {
    const struct rd_operator *op = rd_operator(reduction->op);
    *cells = (struct rd_cells){.reduction = *reduction, .kind = kind_of(reduction)};
    cells->reduction.mode = REDUCT_EXACT;
    if (op->combine == RD_MULTIPLY)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "op: %s has no state of a fixed size that can be merged",
                       op->name);
    switch (cells->kind) {
    case RD_CELL_SUMS:
        lay_out_sums(cells);
        break;
    case RD_CELL_EXTREMES:
        cells->size = sizeof(struct rd_cell_extremes);
        break;
    case RD_CELL_COUNTS:
        cells->size = sizeof(struct rd_cell_counts);
        break;
    case RD_CELL_BITS:
        cells->size = sizeof(struct rd_cell_bits);
        break;
    }
    cells->removes = cells->kind == RD_CELL_SUMS || cells->kind == RD_CELL_COUNTS || op->combine == RD_XOR;
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------------------------------------------------------ */

/* Whether a word that the sign follows has two bits to spare, so that a term can be added without overflow. */
static bool has_margin(uint64_t top, uint64_t sign) {
    return (top ^ sign) < (uint64_t)1 << 61;
}

bool rd_cell_spill(const struct rd_cells *cells, struct rd_cell_sums *cell) {
    size_t words = (size_t)(cells->full[0] + cells->full[1]);
    struct rd_spill *spill = calloc(1, sizeof *spill + words * sizeof *spill->word);
    if (!spill)
        return false;
    for (int i = 0; i < cells->fields; i++) {
        struct rd_field from = rd_field_of(cells, cell, i);
        uint64_t *to = spill->word + (i ? cells->full[0] : 0);
        for (int w = from.first; from.first != RD_NO_WINDOW && w < cells->full[i]; w++)
            to[w] = w - from.first < from.words ? from.word[w - from.first] : rd_words_sign(from.word, from.words);
        memset(from.word, 0, (size_t)from.words * sizeof *from.word);
        cell->outside[i] = 0;
    }
    spill->ignored = cell->ignored;
    for (int i = 0; i < RD_SPECIALS; i++)
        spill->special[i] = cell->special[i];
    cell->spill = spill;
    return true;
}

/* Moves a window so that it starts with word number `first`. */
static void move_window(struct rd_cell_sums *cell, int which, struct rd_field field, int first) {
    uint64_t old[8], sign = rd_words_sign(field.word, field.words);
    memcpy(old, field.word, (size_t)field.words * sizeof *old);
    for (int w = 0; w < field.words; w++) {
        int from = field.first == RD_NO_WINDOW ? -1 : first + w - field.first;
        field.word[w] = from < 0 ? 0 : from < field.words ? old[from] : sign;
    }
    cell->outside[which] = (uint8_t)(first ^ RD_NO_WINDOW);
}

bool rd_cell_cover(const struct rd_cells *cells, struct rd_cell_sums *cell, int which, int low, int high, bool margin) {
    if (cell->spill)
        return true;
    struct rd_field field = rd_field_of(cells, cell, which);
    const bool is_new = field.first == RD_NO_WINDOW;
    const struct rd_extent extent = is_new ? (struct rd_extent){0, 0} : rd_extent_of(field);
    if (extent.words) {
        int lowest = field.first + extent.low, top = extent.low + extent.words - 1, highest = field.first + top;
        if (margin && !has_margin(field.word[top], rd_words_sign(field.word, field.words)))
            highest++;
        low = lowest < low ? lowest : low;
        high = highest > high ? highest : high;
    }
    if (low >= field.first && high < field.first + field.words)
        return true;
    int spare = field.words - (high - low + 1);
    if (spare < 0)
        return rd_cell_spill(cells, cell);
    int first = rd_window_about(cells, which, low, spare);
    if (is_new)
        cell->outside[which] = (uint8_t)(first ^ RD_NO_WINDOW);
    else
        move_window(cell, which, field, first);
    return true;
}

/* Adds, or subtracts, an integer of n words in two's complement to one of `words`, modulo what these hold. */
static void add_words(uint64_t *word, int words, const uint64_t *value, int n, bool subtract) {
    uint64_t flip = subtract ? UINT64_MAX : 0, sign = rd_words_sign(value, n) ^ flip;
    bool carry = subtract;
    for (int i = 0; i < words; i++) {
        uint64_t term = i < n ? value[i] ^ flip : sign, sum;
        if (i >= n && term + carry == 0)
            return;
        bool first = __builtin_add_overflow(word[i], term, &sum);
        carry = first | __builtin_add_overflow(sum, (uint64_t)carry, &word[i]);
    }
}

/* Adds magnitude * 2^bit to a field, wherever that is. False if there is no memory. */
NOINLINE bool put_anywhere(const struct rd_cells *cells, struct rd_cell_sums *cell, int which, rd_u128 magnitude,
                           bool negative, unsigned bit, bool margin) {
    rd_u128 low = (rd_u128)(uint64_t)magnitude << (bit & 63), high = (magnitude >> 64) << (bit & 63);
    high += low >> 64;
    const uint64_t value[3] = {(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)};
    int at = (int)(bit >> 6), n = value[2] ? 3 : value[1] >> 62 ? 3 : 2;
    if (!magnitude)
        return true;
    if (!rd_cell_cover(cells, cell, which, at, at + n - 1, margin))
        return false;
    struct rd_field field = rd_field_of(cells, cell, which);
    add_words(field.word + (at - field.first), field.words - (at - field.first), value, n, negative);
    return true;
}

/* *sum = a + b + carry; returns what is carried on. */
ALWAYS_INLINE unsigned char add_carry(unsigned char carry, uint64_t a, uint64_t b, uint64_t *sum) {
#ifdef __x86_64__
    unsigned long long result;
    carry = _addcarry_u64(carry, a, b, &result);
    *sum = result;
    return carry;
#else
    uint64_t part = a + b;
    *sum = part + carry;
    return (unsigned char)((part < a) | (*sum < part));
#endif
}

/* Words of the fields in a cell: where loops have it, so that compilers know that nothing they store changes it. */
struct layout {
    int words[2];
};

/* The same of a term in a window of the cell. Fewer than 2^61 in its last word leave room for any term. `wide`: 128 bits,
 * otherwise 64. */
ALWAYS_INLINE bool put(const struct rd_cells *cells, const struct layout *layout, struct rd_cell_sums *cell, int which,
                       rd_u128 magnitude, bool negative, unsigned bit, bool wide, bool margin) {
    int words = layout->words[which];
    uint64_t *word = cell->word + (which ? layout->words[0] : 0);
    unsigned at = (bit >> 6) - (unsigned)(cell->outside[which] ^ RD_NO_WINDOW), shift = bit & 63;
    bool outside = at > (unsigned)(words - (wide ? 3 : 2)), full = (word[words - 1] + ((uint64_t)1 << 61)) >> 62 != 0;
    if (__builtin_expect(outside || full, 0))
        return put_anywhere(cells, cell, which, magnitude, negative, bit, margin);
    uint64_t flip = -(uint64_t)negative, low = (uint64_t)magnitude << shift;
    rd_u128 high = wide ? (magnitude >> 1) >> (63 - shift) : ((uint64_t)magnitude >> 1) >> (63 - shift);
    int n = wide ? 3 : 2;
    unsigned char carry = add_carry(negative, word[at], low ^ flip, &word[at]);
    carry = add_carry(carry, word[at + 1], (uint64_t)high ^ flip, &word[at + 1]);
    if (wide)
        carry = add_carry(carry, word[at + 2], (uint64_t)(high >> 64) ^ flip, &word[at + 2]);
    rd_words_carry(word, (int)at + n, words, (int64_t)flip + carry);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Terms that are no numbers
 * ------------------------------------------------------------------------------------------------------------------ */

bool rd_cell_count_specials(const struct rd_cells *cells, struct rd_cell_sums *cell, uint64_t ignored,
                            const uint64_t special[RD_SPECIALS]) {
    bool fits = ignored <= UINT32_MAX;
    for (int i = 0; i < RD_SPECIALS; i++)
        fits &= special[i] <= UINT16_MAX;
    if (!fits && !cell->spill && !rd_cell_spill(cells, cell))
        return false;
    if (cell->spill) {
        cell->spill->ignored = ignored;
        memcpy(cell->spill->special, special, sizeof cell->spill->special);
        return true;
    }
    cell->ignored = (uint32_t)ignored;
    for (int i = 0; i < RD_SPECIALS; i++)
        cell->special[i] = (uint16_t)special[i];
    return true;
}

/* Whether a cell cannot have an element that is to be taken out, which the batch is then told. */
static bool lacks(const struct rd_batch *batch, bool missing) {
    if (!batch->removes || !missing)
        return false;
    if (batch->missing)
        *batch->missing = true;
    return true;
}

/* Whether a cell cannot take one more element. */
static bool is_full(const struct rd_batch *batch, uint64_t seen) {
    return !batch->removes && seen == RD_ELEMENTS_MAX;
}

/* One more, or less, of a special term, or of what is ignored where `which` is RD_SPECIALS. False if there is no memory, or none
 * to take. */
static bool count_special(const struct rd_cells *cells, struct rd_cell_sums *cell, int which,
                          const struct rd_batch *batch, bool removes) {
    uint64_t special[RD_SPECIALS], ignored = rd_cell_ignored(cell);
    for (int i = 0; i < RD_SPECIALS; i++)
        special[i] = rd_cell_special(cell, (enum rd_special)i);
    uint64_t *count = which == RD_SPECIALS ? &ignored : &special[which];
    if (removes && lacks(batch, !*count))
        return false;
    *count += removes ? UINT64_MAX : 1;
    return rd_cell_count_specials(cells, cell, ignored, special);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums of floats
 * ------------------------------------------------------------------------------------------------------------------ */

/* How elements of a type become terms. */
struct decoding {
    int bias, drop;
    bool ignores;
};

/* A finite double: significand * 2^bit. */
struct number {
    uint64_t significand;
    unsigned bit;
    bool negative;
};

ALWAYS_INLINE bool is_ordinary(uint64_t bits) {
    return ((bits >> 52 & 0x7ff) - 1) < 0x7fe; /* neither zero nor subnormal, infinite or NaN */
}

ALWAYS_INLINE struct number ordinary(uint64_t bits, const struct decoding *how) {
    uint64_t significand = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
    return (struct number){significand >> how->drop, (unsigned)((int)(bits >> 52 & 0x7ff) + how->bias), bits >> 63};
}

static struct number finite_number(uint64_t bits, const struct decoding *how) {
    if (bits >> 52 & 0x7ff)
        return ordinary(bits, how);
    return (struct number){(bits & 0xfffffffffffff) >> how->drop, (unsigned)(1 + how->bias), bits >> 63};
}

/* The terms of numbers. */
ALWAYS_INLINE bool put_terms(const struct rd_cells *cells, const struct layout *layout, struct rd_cell_sums *cell,
                             enum rd_transform transform, struct number x, struct number y, bool wide, bool removes,
                             bool margin) {
    rd_u128 product = (rd_u128)x.significand * y.significand;
    bool negative = x.negative != y.negative;
    switch ((int)transform) {
    case RD_IDENTITY:
        return put(cells, layout, cell, 0, x.significand, x.negative != removes, x.bit, false, margin);
    case RD_ABSOLUTE:
        return put(cells, layout, cell, 0, x.significand, removes, x.bit, false, margin);
    case RD_SQUARE:
    case RD_TIMES:
        return put(cells, layout, cell, 0, product, negative != removes, x.bit + y.bit, wide, margin);
    default:
        break;
    }
    struct number first = transform == RD_WEIGHTED ? y : x;
    if (!put(cells, layout, cell, 0, first.significand, first.negative != removes, first.bit, false, margin))
        return false;
    if (put(cells, layout, cell, 1, product, negative != removes, x.bit + y.bit, wide, margin))
        return true;
    put_anywhere(cells, cell, 0, first.significand, first.negative == removes, first.bit, false);
    return false;
}

static bool is_nan(uint64_t bits) {
    return bits << 1 > (uint64_t)0x7ff << 53;
}

static bool is_infinite(uint64_t bits) {
    return bits << 1 == (uint64_t)0x7ff << 53;
}

/* What a pair with an infinity is, of absolute values and squares with the sign taken off. */
static enum rd_special infinite_term(enum rd_transform transform, uint64_t x, uint64_t y) {
    bool pair = transform == RD_TIMES || transform == RD_WEIGHTED;
    if (pair && (!(x << 1) || !(y << 1)))
        return RD_NANS; /* zero times infinity */
    if (transform == RD_WEIGHTED && is_infinite(y))
        return RD_NANS;
    bool negative = pair ? (x ^ y) >> 63 : x >> 63 && transform != RD_ABSOLUTE && transform != RD_SQUARE;
    return negative ? RD_MINUS : RD_PLUS;
}

/* Whether the sum of such terms alone, if it is zero, has a minus. */
static bool is_negative_zero(enum rd_transform transform, uint64_t x, uint64_t y) {
    if (transform != RD_TIMES && transform != RD_WEIGHTED)
        return !(x << 1) && x >> 63;
    return (!(x << 1) || !(y << 1)) && (x ^ y) >> 63;
}

/* Any element, or pair, at all. */
NOINLINE bool add_special(const struct rd_cells *cells, struct rd_cell_sums *cell, enum rd_transform transform,
                          uint64_t x, uint64_t y, const struct decoding *how, const struct rd_batch *batch) {
    bool removes = batch->removes, nan = is_nan(x) || is_nan(y), infinite = is_infinite(x) || is_infinite(y);
    bool signed_zero = is_negative_zero(transform, x, y), counted = true;
    if (nan && how->ignores)
        return count_special(cells, cell, RD_SPECIALS, batch, removes);
    if (signed_zero && !count_special(cells, cell, RD_NEGATIVE_ZEROS, batch, removes))
        return false;
    if (nan)
        counted = count_special(cells, cell, RD_NANS, batch, removes);
    else if (infinite)
        counted = count_special(cells, cell, infinite_term(transform, x, y), batch, removes);
    bool keeps_weight = transform == RD_WEIGHTED && infinite && !nan && infinite_term(transform, x, y) != RD_NANS;
    if (counted && !nan && (!infinite || keeps_weight))
        counted = put_terms(cells, &(struct layout){{cells->words[0], cells->words[1]}}, cell, transform,
                            finite_number(infinite ? 0 : x, how), finite_number(y, how), cells->wide, removes,
                            !batch->undoes);
    if (!counted && signed_zero)
        count_special(cells, cell, RD_NEGATIVE_ZEROS, batch, !removes);
    return counted;
}

ALWAYS_INLINE size_t add_floats(const struct rd_cells *cells, enum rd_transform transform, bool wide, const uint64_t *x,
                                const uint64_t *y, size_t from, size_t count, const struct decoding *how,
                                const struct rd_batch *batch) {
    const bool pairs = transform == RD_TIMES || transform == RD_WEIGHTED, removes = batch->removes,
               margin = !batch->undoes;
    const struct decoding own = {how->bias, wide ? 0 : DROPPED, false};
    const struct layout layout = {{wide && (transform == RD_SQUARE || transform == RD_TIMES) ? 8 : 4, wide ? 8 : 4}};
    const uint64_t limit = removes ? 0 : RD_ELEMENTS_MAX, one = removes ? UINT64_MAX : 1;
    const size_t step = batch->step, ahead = step ? AHEAD : 0, last = batch->count - 1;
    void *const *place = batch->cell + from * step;
    for (size_t i = 0; i < count; i++) {
        struct rd_cell_sums *cell = place[i * step];
        uint64_t a = x[i], b = pairs ? y[i] : a;
        if (from + i + ahead <= last)
            __builtin_prefetch(place[(i + ahead) * step], 1);
        if (__builtin_expect(cell->seen == limit, 0)) {
            lacks(batch, true);
            return i;
        }
        if (__builtin_expect(!is_ordinary(a) || (pairs && !is_ordinary(b)), 0)) {
            if (!add_special(cells, cell, transform, a, b, how, batch))
                return i;
        } else {
            struct number m = ordinary(a, &own);
            if (!put_terms(cells, &layout, cell, transform, m, pairs ? ordinary(b, &own) : m, wide, removes, margin))
                return i;
        }
        cell->seen += one;
    }
    return count;
}

typedef size_t add_block(const struct rd_cells *cells, const uint64_t *x, const uint64_t *y, size_t from, size_t count,
                         const struct decoding *how, const struct rd_batch *batch);

/* A function for each loop, so that each has all registers. */
#define LOOP(transform, wide)                                                                                          \
    NOINLINE size_t add_##transform##_##wide(const struct rd_cells *cells, const uint64_t *x, const uint64_t *y,       \
                                             size_t from, size_t count, const struct decoding *how,                    \
                                             const struct rd_batch *batch) {                                           \
        return add_floats(cells, transform, wide, x, y, from, count, how, batch);                                      \
    }
#define LOOPS(transform) LOOP(transform, 0) LOOP(transform, 1)
LOOPS(RD_IDENTITY)
LOOPS(RD_ABSOLUTE)
LOOPS(RD_SQUARE)
LOOPS(RD_TIMES)
LOOPS(RD_MOMENTS)
LOOPS(RD_WEIGHTED)

/* By transform, of shorter floats and of doubles. */
static add_block *const loops[][2] = {
    [RD_IDENTITY] = {add_RD_IDENTITY_0, add_RD_IDENTITY_1}, [RD_ABSOLUTE] = {add_RD_ABSOLUTE_0, add_RD_ABSOLUTE_1},
    [RD_SQUARE] = {add_RD_SQUARE_0, add_RD_SQUARE_1},       [RD_TIMES] = {add_RD_TIMES_0, add_RD_TIMES_1},
    [RD_MOMENTS] = {add_RD_MOMENTS_0, add_RD_MOMENTS_1},    [RD_WEIGHTED] = {add_RD_WEIGHTED_0, add_RD_WEIGHTED_1}};

/* ---------------------------------------------------------------------------------------------------------------------
 * Elements, a block at a time
 * ------------------------------------------------------------------------------------------------------------------ */

/* The bits of floats as doubles; of doubles they are where they lie. */
static const uint64_t *load_floats(reduct_type element, const void *x, size_t from, size_t count, uint64_t *room) {
    if (element == REDUCT_F64)
        return (const uint64_t *)x + from;
    for (size_t i = 0; i < count; i++) {
        double value = rd_element_value(element, x, from + i);
        memcpy(&room[i], &value, sizeof value);
    }
    return room;
}

/* Bits of elements, zero-extended. */
static void load_bits(const struct rd_type *type, const void *x, size_t from, size_t count, uint64_t *room) {
    for (size_t i = 0; i < count; i++)
        switch (type->bytes) {
        case 1:
            room[i] = ((const uint8_t *)x)[from + i];
            break;
        case 2:
            room[i] = ((const uint16_t *)x)[from + i];
            break;
        case 4:
            room[i] = ((const uint32_t *)x)[from + i];
            break;
        default:
            room[i] = ((const uint64_t *)x)[from + i];
        }
}

/* Integers as 64 bits, truth values as 0 or 1. */
static void load_integers(reduct_type element, const void *x, size_t from, size_t count, uint64_t *room) {
    const struct rd_type *type = rd_type(element);
    int shift = 64 - 8 * type->bytes;
    load_bits(type, x, from, count, room);
    for (size_t i = 0; i < count; i++)
        if (element == REDUCT_BOOL)
            room[i] = room[i] != 0;
        else if (type->kind == RD_SIGNED)
            room[i] = (uint64_t)((int64_t)(room[i] << shift) >> shift);
}

static size_t add_sums_of_floats(const struct rd_cells *cells, const struct rd_batch *batch) {
    const struct rd_type *type = rd_type(cells->reduction.element);
    add_block *add = loops[rd_operator(cells->reduction.op)->transform][cells->wide];
    uint64_t room[2][BLOCK];
    int elements = lowest_exponent(type);
    struct decoding how = {dropped_bits(type) - 1075 - elements, dropped_bits(type),
                           cells->reduction.nan == REDUCT_NAN_IGNORE};
    rd_environment caller = rd_environment_enter();
    size_t done = 0;
    for (size_t n, added; done < batch->count; done += n) {
        n = batch->count - done < BLOCK ? batch->count - done : BLOCK;
        const uint64_t *x = load_floats(cells->reduction.element, batch->x, done, n, room[0]);
        const uint64_t *y = batch->y ? load_floats(cells->reduction.element, batch->y, done, n, room[1]) : NULL;
        added = add(cells, x, y, done, n, &how, batch);
        if (added < n) {
            done += added;
            break;
        }
    }
    rd_environment_leave(caller);
    return done;
}

/* Terms of integers never need more than a cell has. */
ALWAYS_INLINE void add_integer(const struct rd_cells *cells, struct rd_cell_sums *cell, enum rd_transform transform,
                               uint64_t x, uint64_t y, bool is_signed, bool removes) {
    const struct layout *layout = &(struct layout){{4, 4}};
    bool minus_x = is_signed && x >> 63, minus_y = is_signed && y >> 63;
    uint64_t a = minus_x ? -x : x, b = minus_y ? -y : y;
    bool minus = minus_x != minus_y;
    switch ((int)transform) {
    case RD_IDENTITY:
    case RD_ABSOLUTE:
        put(cells, layout, cell, 0, a, (minus_x && transform == RD_IDENTITY) != removes, 0, false, true);
        break;
    case RD_SQUARE:
    case RD_TIMES:
        put(cells, layout, cell, 0, (rd_u128)a * b, minus != removes, 0, true, true);
        break;
    default:
        put(cells, layout, cell, 0, transform == RD_WEIGHTED ? b : a,
            (transform == RD_WEIGHTED ? minus_y : minus_x) != removes, 0, false, true);
        put(cells, layout, cell, 1, (rd_u128)a * b, minus != removes, 0, true, true);
    }
}

static size_t add_sums_of_integers(const struct rd_cells *cells, const struct rd_batch *batch) {
    enum rd_transform transform = rd_operator(cells->reduction.op)->transform;
    bool is_signed = rd_type(cells->reduction.element)->kind == RD_SIGNED;
    uint64_t room[2][BLOCK];
    for (size_t from = 0, n; from < batch->count; from += n) {
        n = batch->count - from < BLOCK ? batch->count - from : BLOCK;
        load_integers(cells->reduction.element, batch->x, from, n, room[0]);
        if (batch->y)
            load_integers(cells->reduction.element, batch->y, from, n, room[1]);
        for (size_t i = 0; i < n; i++) {
            struct rd_cell_sums *cell = batch->cell[(from + i) * batch->step];
            if (batch->step && from + i + AHEAD < batch->count)
                __builtin_prefetch(batch->cell[from + i + AHEAD], 1);
            if (lacks(batch, !cell->seen) || is_full(batch, cell->seen))
                return from + i;
            uint64_t x = room[0][i], y = batch->y ? room[1][i] : x;
            if (transform == RD_IDENTITY)
                add_integer(cells, cell, RD_IDENTITY, x, y, is_signed, batch->removes);
            else
                add_integer(cells, cell, transform, x, y, is_signed, batch->removes);
            cell->seen += batch->removes ? UINT64_MAX : 1;
        }
    }
    return batch->count;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Extremes, counts and bits
 * ------------------------------------------------------------------------------------------------------------------ */

int64_t rd_order_of(uint64_t bits, const struct rd_type *type) {
    return rd_order(bits, type->kind, type->bytes);
}

uint64_t rd_bits_of(int64_t order, const struct rd_type *type) {
    int64_t wide = type->kind == RD_FLOAT      ? order ^ (int64_t)((uint64_t)(order >> 63) >> 1)
                   : type->kind == RD_UNSIGNED ? order ^ INT64_MIN
                                               : order;
    return (uint64_t)wide >> (64 - 8 * type->bytes);
}

struct rd_type rd_compared_type(const reduct_reduction *reduction) {
    struct rd_type type = *rd_type(reduction->element);
    if (rd_operator(reduction->op)->transform == RD_ABSOLUTE && type.kind == RD_SIGNED)
        type.kind = RD_UNSIGNED;
    return type;
}

/* The absolute value of an element, as its bits. */
static uint64_t absolute_bits(uint64_t bits, const struct rd_type *type) {
    int shift = 64 - 8 * type->bytes;
    if (type->kind == RD_FLOAT)
        return bits & ~((uint64_t)1 << (8 * type->bytes - 1));
    if (type->kind == RD_SIGNED && (int64_t)(bits << shift) < 0)
        return (-bits << shift) >> shift;
    return bits;
}

/* The bits of infinity; floats whose others are greater are NaN. */
static uint64_t infinity_of(const struct rd_type *type) {
    return (uint64_t)(2 * type->max_exponent + 1) << (type->precision - 1);
}

/* Takes a key, or two, where it is better, or as good and earlier. */
ALWAYS_INLINE void take_key(struct rd_cell_extremes *cell, int64_t key, int64_t greatest, uint64_t index, bool both) {
    if (both) {
        cell->key = !cell->found || key > cell->key ? key : cell->key;
        cell->greatest = !cell->found || greatest > cell->greatest ? greatest : cell->greatest;
    } else if (!cell->found || key > cell->key || (key == cell->key && index < cell->index)) {
        cell->key = key;
        cell->index = index;
    }
    cell->found = 1;
}

static void note_nan(struct rd_cell_extremes *cell, uint64_t index) {
    if (!cell->nan || index + 1 < cell->nan)
        cell->nan = index + 1;
}

static size_t take_extremes(const struct rd_cells *cells, const struct rd_batch *batch) {
    const struct rd_operator *op = rd_operator(cells->reduction.op);
    const struct rd_type *type = rd_type(cells->reduction.element), compared = rd_compared_type(&cells->reduction);
    const bool both = op->combine == RD_BOTH, absolute = op->transform == RD_ABSOLUTE,
               truth = cells->reduction.element == REDUCT_BOOL, of_floats = type->kind == RD_FLOAT,
               ignores = cells->reduction.nan == REDUCT_NAN_IGNORE;
    const int64_t flip = op->combine == RD_GREATEST ? 0 : -1; /* the least has the greatest complement */
    const uint64_t infinity = of_floats ? infinity_of(type) : 0;
    uint64_t bits[BLOCK];
    for (size_t from = 0, n; from < batch->count; from += n) {
        n = batch->count - from < BLOCK ? batch->count - from : BLOCK;
        load_bits(type, batch->x, from, n, bits);
        for (size_t i = 0; i < n; i++) {
            struct rd_cell_extremes *cell = batch->cell[(from + i) * batch->step];
            if (batch->step && from + i + AHEAD < batch->count)
                __builtin_prefetch(batch->cell[from + i + AHEAD], 1);
            uint64_t index = batch->place ? batch->place[from + i] : cell->seen;
            cell->seen++;
            if (of_floats && absolute_bits(bits[i], type) > infinity) {
                if (ignores)
                    cell->ignored++;
                else
                    note_nan(cell, index);
                continue;
            }
            uint64_t value = truth ? bits[i] != 0 : absolute ? absolute_bits(bits[i], type) : bits[i];
            int64_t order = rd_order_of(value, &compared);
            take_key(cell, order ^ flip, order, index, both);
        }
    }
    return batch->count;
}

static size_t add_counts(const struct rd_cells *cells, const struct rd_batch *batch) {
    const struct rd_type *type = rd_type(cells->reduction.element);
    const bool of_floats = type->kind == RD_FLOAT, ignores = cells->reduction.nan == REDUCT_NAN_IGNORE,
               present = rd_operator(cells->reduction.op)->transform == RD_PRESENT;
    const uint64_t infinity = of_floats ? infinity_of(type) : 0, one = batch->removes ? UINT64_MAX : 1;
    uint64_t bits[BLOCK];
    for (size_t from = 0, n; from < batch->count; from += n) {
        n = batch->count - from < BLOCK ? batch->count - from : BLOCK;
        load_bits(type, batch->x, from, n, bits);
        for (size_t i = 0; i < n; i++) {
            struct rd_cell_counts *cell = batch->cell[(from + i) * batch->step];
            uint64_t magnitude = of_floats ? absolute_bits(bits[i], type) : bits[i];
            bool nan = of_floats && magnitude > infinity, absent = nan && (ignores || present),
                 counted = present ? !absent : magnitude && !absent, ignored = nan && ignores;
            if (is_full(batch, cell->seen) ||
                lacks(batch, !cell->seen || (counted && !cell->counted) || (ignored && !cell->ignored)))
                return from + i;
            cell->seen += one;
            cell->ignored += ignored ? one : 0;
            cell->counted += counted ? one : 0;
        }
    }
    return batch->count;
}

/* By which the combination differs from that of nothing, of which all bits are set where it is `and`. */
static uint64_t combine_bits(enum rd_combine combine, uint64_t state, uint64_t bits) {
    return combine == RD_XOR ? state ^ bits : combine == RD_OR ? state | bits : state | ~bits;
}

static size_t add_bits(const struct rd_cells *cells, const struct rd_batch *batch) {
    const struct rd_type *type = rd_type(cells->reduction.element);
    const enum rd_combine combine = rd_operator(cells->reduction.op)->combine;
    const uint64_t used = UINT64_MAX >> (64 - 8 * type->bytes);
    uint64_t bits[BLOCK];
    for (size_t from = 0, n; from < batch->count; from += n) {
        n = batch->count - from < BLOCK ? batch->count - from : BLOCK;
        load_bits(type, batch->x, from, n, bits);
        for (size_t i = 0; i < n; i++) {
            struct rd_cell_bits *cell = batch->cell[(from + i) * batch->step];
            if (lacks(batch, !cell->seen) || is_full(batch, cell->seen))
                return from + i;
            cell->seen += batch->removes ? UINT64_MAX : 1;
            cell->bits = combine_bits(combine, cell->bits, bits[i]) & used;
        }
    }
    return batch->count;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * All kinds
 * ------------------------------------------------------------------------------------------------------------------ */

size_t rd_cells_add(const struct rd_cells *cells, const struct rd_batch *batch) {
    switch (cells->kind) {
    case RD_CELL_EXTREMES:
        return take_extremes(cells, batch);
    case RD_CELL_COUNTS:
        return add_counts(cells, batch);
    case RD_CELL_BITS:
        return add_bits(cells, batch);
    case RD_CELL_SUMS:
        break;
    }
    return rd_type(cells->reduction.element)->kind == RD_FLOAT ? add_sums_of_floats(cells, batch)
                                                               : add_sums_of_integers(cells, batch);
}

/* A batch of the one element. */
static struct rd_batch alone(const struct rd_cells *cells, const struct rd_batch *batch, size_t i) {
    size_t bytes = rd_type(cells->reduction.element)->bytes;
    struct rd_batch one = *batch;
    one.cell += i * batch->step;
    one.x = (const unsigned char *)batch->x + i * bytes;
    one.y = batch->y ? (const unsigned char *)batch->y + i * bytes : NULL;
    one.place = NULL;
    one.count = 1;
    return one;
}

/* The last one first, so that each window comes by every place where it was. */
void rd_cells_undo(const struct rd_cells *cells, const struct rd_batch *batch, size_t done) {
    while (done-- > 0) {
        struct rd_batch one = alone(cells, batch, done);
        one.removes = !batch->removes;
        one.undoes = true;
        rd_cells_add(cells, &one);
    }
}

uint64_t rd_cells_refused(const struct rd_cells *cells, const void *x, const void *y, uint64_t count) {
    reduct_type element = cells->reduction.element;
    if (cells->reduction.nan != REDUCT_NAN_ERROR || rd_type(element)->kind != RD_FLOAT)
        return UINT64_MAX;
    return rd_first_nan(&(struct rd_range){x, y, 0, count}, element);
}

/* Adds or subtracts the words of another cell's field. */
static bool combine_field(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_cell_sums *other,
                          int which, bool subtract) {
    struct rd_field from = rd_field_of(cells, other, which);
    struct rd_extent extent = rd_extent_of(from);
    uint64_t value[2 * RD_LIMBS];
    int low = from.first + extent.low, high = low + extent.words - 1;
    if (!extent.words)
        return true;
    memcpy(value, from.word + extent.low, (size_t)extent.words * sizeof *value); /* the cells may be one */
    if (!subtract && !has_margin(value[extent.words - 1], rd_words_sign(value, extent.words)))
        high++;
    if (!rd_cell_cover(cells, cell, which, low, high, !subtract))
        return false;
    struct rd_field to = rd_field_of(cells, cell, which);
    int at = low - to.first;
    add_words(to.word + at, to.words - at, value, extent.words, subtract);
    return true;
}

static bool combine_specials(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_cell_sums *other,
                             bool subtract) {
    uint64_t special[RD_SPECIALS], ignored = rd_cell_ignored(cell);
    ignored += subtract ? -rd_cell_ignored(other) : rd_cell_ignored(other);
    for (int i = 0; i < RD_SPECIALS; i++) {
        uint64_t count = rd_cell_special(other, (enum rd_special)i);
        special[i] = rd_cell_special(cell, (enum rd_special)i) + (subtract ? -count : count);
    }
    return rd_cell_count_specials(cells, cell, ignored, special);
}

/* Whether two cells are as most are, so that the following does. */
static bool is_plain(const struct rd_cell_sums *cell, const struct rd_cell_sums *other) {
    uint64_t special;
    memcpy(&special, other->special, sizeof special);
    return !cell->spill && !other->spill && !other->ignored && !special;
}

/* The words of a window as they are in one that begins `ahead` words before; false where it has no room for them. */
ALWAYS_INLINE bool shift_words(const uint64_t *from, int words, int ahead, uint64_t *to) {
    const uint64_t sign = rd_words_sign(from, words);
    uint64_t lost = 0;
    for (int w = 0; w < words; w++) {
        const int at = w + ahead;
        lost |= at < 0 ? from[w] : at >= words ? from[w] ^ sign : 0;
        to[w] = w < ahead ? 0 : w - ahead < words ? from[w - ahead] : sign;
    }
    return !lost && rd_words_sign(to, words) == sign;
}

/* Adds a field where its words are in both cells' windows, and there are two bits to spare in both; false, and nothing is done, where
 * they are not. */
ALWAYS_INLINE bool combine_windows(const struct rd_cells *cells, struct rd_cell_sums *cell,
                                   const struct rd_cell_sums *other, int which, uint64_t sums[8]) {
    const int words = cells->words[which], ahead = (int)cell->outside[which] - (int)other->outside[which];
    const uint64_t *to = cell->word + (which ? cells->words[0] : 0),
                   *from = other->word + (which ? cells->words[0] : 0);
    uint64_t moved[8];
    if (ahead) {
        if (!cell->outside[which] || !other->outside[which] || !shift_words(from, words, ahead, moved))
            return false;
        from = moved;
    }
    const uint64_t spare = (uint64_t)1 << 61;
    if ((to[words - 1] + spare) >> 62 || (from[words - 1] + spare) >> 62)
        return false;
    unsigned char carry = 0;
    for (int w = 0; w < words; w++)
        carry = add_carry(carry, to[w], from[w], &sums[w]);
    return true;
}

/* The same of all fields of such cells. */
static bool combine_plain(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_cell_sums *other) {
    uint64_t sums[2][8];
    if (rd_cell_is_empty(cells, cell)) {
        memcpy(cell, other, cells->size);
        return true;
    }
    for (int i = 0; i < cells->fields; i++)
        if (!combine_windows(cells, cell, other, i, sums[i]))
            return false;
    for (int i = 0; i < cells->fields; i++)
        memcpy(cell->word + (i ? cells->words[0] : 0), sums[i], (size_t)cells->words[i] * sizeof *sums[i]);
    cell->seen += other->seen;
    return true;
}

/* A cell combined with itself is read from a copy, unless it has spilled, when nothing can fail. */
static bool combine_sums(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_cell_sums *other) {
    union {
        struct rd_cell_sums cell;
        unsigned char bytes[CELL_MOST];
    } copy;
    if (is_plain(cell, other) && combine_plain(cells, cell, other))
        return true;
    if (cell == other && !cell->spill)
        other = memcpy(copy.bytes, cell, cells->size);
    int done = 0;
    while (done < cells->fields && combine_field(cells, cell, other, done, false))
        done++;
    if (done == cells->fields && combine_specials(cells, cell, other, false)) {
        cell->seen += other->seen;
        return true;
    }
    while (done-- > 0)
        combine_field(cells, cell, other, done, true);
    return false;
}

static void combine_extremes(const struct rd_cells *cells, struct rd_cell_extremes *cell,
                             const struct rd_cell_extremes *other, uint64_t offset) {
    bool both = rd_operator(cells->reduction.op)->combine == RD_BOTH;
    struct rd_cell_extremes taken = *other;
    if (taken.nan)
        note_nan(cell, taken.nan - 1 + offset);
    if (taken.found)
        take_key(cell, taken.key, taken.greatest, taken.index + offset, both);
    cell->seen += taken.seen;
    cell->ignored += taken.ignored;
}

bool rd_cell_combine(const struct rd_cells *cells, void *cell, const void *other, uint64_t offset) {
    enum rd_combine combine = rd_operator(cells->reduction.op)->combine;
    struct rd_cell_counts *counts = cell;
    struct rd_cell_bits *bits = cell;
    const struct rd_cell_counts *other_counts = other;
    const struct rd_cell_bits *other_bits = other;
    switch (cells->kind) {
    case RD_CELL_SUMS:
        return combine_sums(cells, cell, other);
    case RD_CELL_EXTREMES:
        combine_extremes(cells, cell, other, offset);
        break;
    case RD_CELL_COUNTS:
        counts->seen += other_counts->seen;
        counts->ignored += other_counts->ignored;
        counts->counted += other_counts->counted;
        break;
    case RD_CELL_BITS:
        bits->seen += other_bits->seen;
        bits->bits = combine == RD_XOR ? bits->bits ^ other_bits->bits : bits->bits | other_bits->bits;
        break;
    }
    return true;
}

void rd_cell_separate(const struct rd_cells *cells, void *cell, const void *other) {
    struct rd_cell_sums *sums = cell;
    const struct rd_cell_sums *taken = other;
    for (int i = cells->fields; i-- > 0;)
        combine_field(cells, sums, taken, i, true);
    combine_specials(cells, sums, taken, true);
    sums->seen -= taken->seen;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------------------------------------------------ */

bool rd_cell_may_hold(const struct rd_cells *cells, const void *cell, const struct rd_cell_part *part) {
    const struct rd_cell_sums *sums = cell;
    const struct rd_cell_counts *counts = cell;
    bool holds = rd_cell_seen(cell) >= part->seen;
    switch (cells->kind) {
    case RD_CELL_SUMS:
        holds = holds && rd_cell_ignored(sums) >= part->ignored;
        for (int i = 0; i < RD_SPECIALS; i++)
            holds = holds && rd_cell_special(sums, (enum rd_special)i) >= part->special[i];
        break;
    case RD_CELL_COUNTS:
        holds = holds && counts->ignored >= part->ignored && counts->counted >= part->counted;
        break;
    case RD_CELL_EXTREMES:
    case RD_CELL_BITS:
        break;
    }
    return holds;
}

/* Adds a digit to its field. What lies below the least term is zero. */
static bool put_digit(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_digit *digit,
                      bool removes, bool margin) {
    bool negative = digit->value < 0;
    uint64_t magnitude = negative ? -(uint64_t)digit->value : (uint64_t)digit->value;
    int bit = digit->exponent - cells->exponent[digit->field];
    if (bit < 0) {
        magnitude = bit > -64 ? magnitude >> -bit : 0;
        bit = 0;
    }
    return put_anywhere(cells, cell, digit->field, magnitude, negative != removes, (unsigned)bit, margin);
}

static bool take_specials(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_cell_part *part,
                          bool removes) {
    uint64_t special[RD_SPECIALS], ignored = rd_cell_ignored(cell);
    ignored += removes ? -part->ignored : part->ignored;
    for (int i = 0; i < RD_SPECIALS; i++)
        special[i] = rd_cell_special(cell, (enum rd_special)i) + (removes ? -part->special[i] : part->special[i]);
    return rd_cell_count_specials(cells, cell, ignored, special);
}

/* As for elements that are undone: the last one first, without a margin, there is no need of memory. */
static void untake_digits(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_cell_part *part,
                          size_t digits, bool removes) {
    while (digits-- > 0)
        put_digit(cells, cell, &part->digit[digits], !removes, false);
}

static bool take_sums(const struct rd_cells *cells, struct rd_cell_sums *cell, const struct rd_cell_part *part,
                      bool removes) {
    size_t done = 0;
    while (done < part->digits && put_digit(cells, cell, &part->digit[done], removes, true))
        done++;
    if (done == part->digits && take_specials(cells, cell, part, removes)) {
        cell->seen += removes ? -part->seen : part->seen;
        return true;
    }
    untake_digits(cells, cell, part, done, removes);
    return false;
}

static void take_extreme(const struct rd_cells *cells, struct rd_cell_extremes *cell, const struct rd_cell_part *part) {
    const struct rd_operator *op = rd_operator(cells->reduction.op);
    const struct rd_type type = rd_compared_type(&cells->reduction);
    const bool both = op->combine == RD_BOTH;
    const int64_t flip = op->combine == RD_GREATEST ? 0 : -1;
    if (part->nan)
        note_nan(cell, part->nan - 1);
    if (part->found)
        take_key(cell, rd_order_of(part->extreme, &type) ^ flip, both ? rd_order_of(part->other, &type) : 0,
                 part->other, both);
    cell->seen += part->seen;
    cell->ignored += part->ignored;
}

bool rd_cell_take(const struct rd_cells *cells, void *cell, const struct rd_cell_part *part, bool removes) {
    struct rd_cell_counts *counts = cell;
    struct rd_cell_bits *bits = cell;
    switch (cells->kind) {
    case RD_CELL_SUMS:
        return take_sums(cells, cell, part, removes);
    case RD_CELL_EXTREMES:
        take_extreme(cells, cell, part);
        break;
    case RD_CELL_COUNTS:
        counts->seen += removes ? -part->seen : part->seen;
        counts->ignored += removes ? -part->ignored : part->ignored;
        counts->counted += removes ? -part->counted : part->counted;
        break;
    case RD_CELL_BITS:
        bits->seen += removes ? -part->seen : part->seen;
        bits->bits =
            rd_operator(cells->reduction.op)->combine == RD_XOR ? bits->bits ^ part->bits : bits->bits | part->bits;
        break;
    }
    return true;
}

void rd_cell_untake(const struct rd_cells *cells, void *cell, const struct rd_cell_part *part, bool removes) {
    struct rd_cell_sums *sums = cell; /* others do not fail, and come last */
    take_specials(cells, sums, part, !removes);
    sums->seen -= removes ? -part->seen : part->seen;
    untake_digits(cells, sums, part, part->digits, removes);
}

void rd_cells_release(const struct rd_cells *cells, void *cell, uint64_t count) {
    unsigned char *at = cell;
    for (uint64_t i = 0; cells->kind == RD_CELL_SUMS && i < count; i++, at += cells->size) {
        struct rd_spill *spill = ((struct rd_cell_sums *)(void *)at)->spill;
        if (spill) /* of hardly any */
            free(spill);
    }
}

void rd_cells_clear(const struct rd_cells *cells, void *cell, uint64_t count) {
    rd_cells_release(cells, cell, count);
    if (count)
        memset(cell, 0, (size_t)count * cells->size);
}

void rd_cell_clear(const struct rd_cells *cells, void *cell) {
    rd_cells_clear(cells, cell, 1);
}

bool rd_cell_is_empty(const struct rd_cells *cells, const void *cell) {
    uint64_t any = 0;
    for (size_t i = 0; i < cells->size / sizeof(uint64_t); i++)
        any |= ((const uint64_t *)cell)[i];
    return !any;
}

uint64_t rd_cell_count(const struct rd_cells *cells, const void *cell) {
    uint64_t ignored = 0;
    switch (cells->kind) {
    case RD_CELL_SUMS:
        ignored = rd_cell_ignored(cell);
        break;
    case RD_CELL_EXTREMES:
        ignored = ((const struct rd_cell_extremes *)cell)->ignored;
        break;
    case RD_CELL_COUNTS:
        ignored = ((const struct rd_cell_counts *)cell)->ignored;
        break;
    case RD_CELL_BITS:
        break;
    }
    return rd_cell_seen(cell) - ignored;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * As partial results
 * ------------------------------------------------------------------------------------------------------------------ */

/* The words in use as limbs: the last one has the sign. */
static void sum_of_field(const struct rd_cells *cells, const struct rd_cell_sums *cell, int which, struct rd_sum *sum) {
    struct rd_field field = rd_field_of(cells, cell, which);
    struct rd_extent extent = rd_extent_of(field);
    const uint64_t *word = field.word + extent.low;
    int words = extent.words;
    sum->first = cells->exponent[which] / 32 + 2 * (words ? field.first + extent.low : 0);
    sum->length = words ? 2 * words : 2;
    sum->pending = 0;
    sum->limb[0] = sum->limb[1] = 0;
    for (int i = 0; i < words; i++) {
        sum->limb[2 * i] = (int64_t)(word[i] & 0xffffffff);
        sum->limb[2 * i + 1] = i == words - 1 ? (int64_t)word[i] >> 32 : (int64_t)(word[i] >> 32);
    }
}

static void partial_of_sums(const struct rd_cells *cells, const struct rd_cell_sums *cell, struct rd_partial *partial) {
    partial->ignored = rd_cell_ignored(cell);
    partial->nans = rd_cell_special(cell, RD_NANS);
    partial->plus_infinities = rd_cell_special(cell, RD_PLUS);
    partial->minus_infinities = rd_cell_special(cell, RD_MINUS);
    partial->nonzero = partial->seen - partial->ignored > rd_cell_special(cell, RD_NEGATIVE_ZEROS);
    sum_of_field(cells, cell, 0, &partial->sum);
    if (cells->fields == 2)
        sum_of_field(cells, cell, 1, &partial->squares);
}

static void partial_of_extremes(const struct rd_cells *cells, const struct rd_cell_extremes *cell,
                                struct rd_partial *partial) {
    const struct rd_operator *op = rd_operator(cells->reduction.op);
    const struct rd_type type = rd_compared_type(&cells->reduction);
    bool both = op->combine == RD_BOTH;
    partial->ignored = cell->ignored;
    partial->nan_index = cell->nan - 1; /* UINT64_MAX if there is none */
    partial->found = cell->found;
    partial->extreme = cell->found ? rd_bits_of(op->combine == RD_GREATEST ? cell->key : ~cell->key, &type) : 0;
    partial->index = both ? 0 : cell->index;
    partial->greatest = both && cell->found ? rd_bits_of(cell->greatest, &type) : 0;
}

static void partial_of_counts(const struct rd_cell_counts *cell, struct rd_partial *partial) {
    enum rd_combine combine = rd_operator(partial->reduction.op)->combine;
    partial->ignored = cell->ignored;
    partial->counted = cell->counted;
    partial->bits = combine == RD_AND  ? cell->counted == cell->seen - cell->ignored
                    : combine == RD_OR ? cell->counted != 0
                                       : cell->counted & 1;
}

static void partial_of_bits(const struct rd_cell_bits *cell, struct rd_partial *partial) {
    uint64_t used = UINT64_MAX >> (64 - 8 * rd_type(partial->reduction.element)->bytes);
    bool all = rd_operator(partial->reduction.op)->combine == RD_AND;
    partial->bits = all ? ~cell->bits & used : cell->bits;
}

void rd_cell_partial(const struct rd_cells *cells, const void *cell, const reduct_reduction *reduction,
                     struct rd_partial *partial) {
    partial->reduction = *reduction;
    partial->reduction.mode = REDUCT_EXACT;
    partial->seen = rd_cell_seen(cell);
    partial->ignored = partial->nans = partial->plus_infinities = partial->minus_infinities = 0;
    partial->nonzero = false;
    partial->nan_index = UINT64_MAX;
    switch (cells->kind) {
    case RD_CELL_SUMS:
        partial_of_sums(cells, cell, partial);
        break;
    case RD_CELL_EXTREMES:
        partial_of_extremes(cells, cell, partial);
        break;
    case RD_CELL_COUNTS:
        partial_of_counts(cell, partial);
        break;
    case RD_CELL_BITS:
        partial_of_bits(cell, partial);
        break;
    }
}
