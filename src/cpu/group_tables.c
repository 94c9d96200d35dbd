/* Groups by tables: see group_tables.h.
 *
 * Sums are integers, which commute: an element is cut into two of them (kernels/split.h), in units that are the same for all
 * results, and these are added to the pair that a table has for its result. The units are chosen from a sample of the elements
 * and so small that no pair can overflow: slices of 62 - log2(elements) bits. What does not fit is cut at the borders of such
 * windows above and below, and added to tables of these, which are made when they are first wanted. So any float has its place,
 * and elements in one window take one addition of 16 bytes.
 *
 * What is not finite is noted beside. In the end, and for each result, pairs of all windows and threads make one sum, which is
 * rounded once. None of this depends on the order of elements or on what thread they came to. */
#include "cpu/group_tables.h"

#include "arithmetic/element.h"
#include "core/environment.h"
#include "core/reduction.h"
#include "core/status.h"
#include "core/system.h"
#include "cpu/group_blocks.h"
#include "cpu/group_buckets.h"
#include "cpu/kernels.h"
#include "cpu/many.h"
#include "cpu/numbers.h"
#include "cpu/team.h"
#include "family/family.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Elements that a thread takes at a time; that are looked at to choose a window, in stretches. */
enum { UNIT = 1 << 16, SAMPLED = 2048, SAMPLE_STRETCH = 16 };

/* Of few results each has several pairs by turns, since an addition to a pair must wait for the one before. */
enum { TURNS = 8, TURNS_RESULTS = 1 << 8 };

/* The most windows of one kind of terms: products of f64 reach over 4200 bits, in steps of at least 60. */
enum { WINDOWS = 72, CHANNELS = 3 };

/* More elements would leave slices too narrow. */
static const uint64_t MOST_ELEMENTS = (uint64_t)1 << 31;

/* Tables of threads take at most so many bytes, unless one alone takes more; and no more entries than that many times the
 * elements. */
static const uint64_t TABLES_BYTES = (uint64_t)1 << 29;
enum { ENTRIES_PER_ELEMENT = 2, ELEMENTS_PER_ENTRY = 4 };

/* Entries of tables larger than this are fetched ahead, by so many elements; from the third-level cache on by more, and those of
 * the first elements of a block before it is cut. So are elements, by blocks. */
enum { NEAR_BYTES = 1 << 19, AHEAD = 24, FAR_BYTES = 1 << 22, AHEAD_FAR = 96, BLOCKS_AHEAD = 2 };

struct rd_group_sharing rd_group_sharing = {
    .times = 2, .elements = 1 << 20, .bucket_bytes = 1 << 18, .item = 1 << 18, .moved = 1 << 22};

typedef int64_t pair __attribute__((vector_size(16)));

/* ---------------------------------------------------------------------------------------------------------------------
 * What is kept
 * ------------------------------------------------------------------------------------------------------------------ */

/* Kinds of states: sums; words that are added or combined bit by bit; the greatest of keys, or two of them. */
enum kind { SUMS, WORDS, KEYS };

/* Products of f64 are two terms each, what multiplying gives and what it rounds off: two channels, one after another. */
enum part { WHOLE, ROUNDED, REST };

/* Terms of sums, and their window: of `unit` and twice `bits` bits. */
struct channel {
    enum rd_transform transform;
    enum part part;
    bool squares; /* it adds to the second sum of a state */
    int unit;
    struct rd_slices slices;
};

/* How bits of an element become a key that orders as the elements do, -0 below +0, and back. NaNs have none. */
struct order {
    int shift;
    bool is_float, is_unsigned, absolute, least;
};

struct column_plan {
    const reduct_reduction *reduction;
    enum kind kind;
    unsigned channels;
    struct channel channel[CHANNELS];
    bool counts;   /* elements are counted: the results need it */
    size_t step;   /* of sums, pairs that a result has: one for each channel, and the count */
    bool wants[2]; /* keys: of the least, of the greatest */
    struct order order[2];
    unsigned char *settled; /* by result, where that had to be found out: HAS_ELEMENTS, HAS_OTHERS */
};

/* The first one of a channel has a table; of others there are as many results in a piece as follow each other, where any of
 * these is wanted: as a rule only few are. */
enum { PIECE = 512 };
_Static_assert(PIECE % RD_SIDE == 0, "results that are rounded together are of one piece");

struct window {
    int unit;
    uint32_t base; /* the first result of the table */
    size_t step;   /* of the table */
    pair *table;   /* by turn, result */
    pair **piece;
};

struct windows {
    unsigned count;
    struct window window[WINDOWS]; /* the first is that of the channel */
};

/* Of not finite terms. */
enum { IS_NAN = 1, IS_PLUS = 2, IS_MINUS = 4 };

/* Factors of a block, filled up with zeros to whole vectors, their products and what is missing from these. */
struct factors {
    _Alignas(64) double x[RD_GROUP_BLOCK], y[RD_GROUP_BLOCK], product[RD_GROUP_BLOCK], rest[RD_GROUP_BLOCK];
};

/* What a thread works in, too much for a stack: what it reads, pairs of a block's elements, factors; bits, and whether they
 * count. */
struct room {
    struct rd_group_reader reader;
    _Alignas(64) pair pairs[RD_GROUP_BLOCK + RD_PAIRS];
    struct factors factors;
    uint64_t word[RD_GROUP_BLOCK];
    bool keep[RD_GROUP_BLOCK];
};

/* One state of one thread. What is null was never wanted. */
struct column {
    struct room *room; /* of the thread, while it works */
    struct windows sums[CHANNELS];
    pair
        *cells; /* by turn, result: the sums of all channels in their first windows, then how many elements there are */
    uint64_t *word;
    int64_t *key[2];    /* the greatest keys; of the least element, the greatest of the negated ones */
    uint64_t *key_row;  /* of the first key that is that great: where it is wanted */
    unsigned char *odd; /* terms that are not finite */
    uint32_t *ignored;  /* NaNs */
    uint64_t *nan_row;  /* of the first NaN, plus 1; of an initial value 0 */
    bool minus_zeros;   /* some term was -0 */
};

/* Elements of a bucket that a thread takes, of those that were moved. `alone`: no other thread has some of the bucket; `first`: it takes the
 * bucket's initial values as well. */
struct item {
    uint32_t bucket;
    bool alone, first;
    uint64_t begin, end;
};

struct tables {
    const struct rd_many *many;
    const struct rd_execution *execution;
    const struct rd_kernels *kernels;
    uint64_t results, elements;
    uint64_t spread; /* results that the elements of a block may be of: all, or those of a bucket */
    size_t bytes;    /* of an element */
    int bits;        /* of a slice of sums of floats */
    unsigned turns, copies;
    struct column_plan *plan;    /* by state */
    struct column *column;       /* by thread, state */
    struct answering *answering; /* by reduction, once all elements are in */
    atomic_uint next_copy;
    atomic_ullong next_unit;
    atomic_bool lacks_memory;
    atomic_ullong outside; /* the first row whose index is outside, or UINT64_MAX */
    /* Where threads share tables: */
    struct rd_group_buckets buckets;
    struct column *shared; /* by state: the tables, and nothing else */
    struct item *item;
    uint64_t items;
    pthread_mutex_t meeting; /* of what threads have of the same bucket */
};

/* Terms of a result are there; some are not -0. */
enum { HAS_ELEMENTS = 1, HAS_OTHERS = 2 };

static void *new_room_for(struct tables *tables, size_t entries, size_t bytes) {
    const size_t size = entries * bytes;
    void *table = size < RD_LARGE_PAGE ? malloc(size) : rd_large_alloc(size);
    if (!table)
        atomic_store(&tables->lacks_memory, true);
    return table;
}

static void *new_table(struct tables *tables, size_t entries, size_t bytes, int fill) {
    void *table = new_room_for(tables, entries, bytes);
    if (table)
        memset(table, fill, entries * bytes);
    return table;
}

/* Tables for what is seldom: whether a column has one, which is made when it is first wanted. Where threads share their tables, so they do these. */
#define SELDOM_TABLE(name, fill)                                                                                       \
    static bool have_##name(struct tables *tables, const struct column_plan *plan, struct column *column) {            \
        if (column->name)                                                                                              \
            return true;                                                                                               \
        if (!tables->shared) {                                                                                         \
            column->name = new_table(tables, tables->results, sizeof *column->name, fill);                             \
            return column->name;                                                                                       \
        }                                                                                                              \
        struct column *all = &tables->shared[plan - tables->plan];                                                     \
        pthread_mutex_lock(&tables->meeting);                                                                          \
        if (!all->name)                                                                                                \
            all->name = new_table(tables, tables->results, sizeof *all->name, fill);                                   \
        column->name = all->name;                                                                                      \
        pthread_mutex_unlock(&tables->meeting);                                                                        \
        return column->name;                                                                                           \
    }
SELDOM_TABLE(odd, 0)
SELDOM_TABLE(ignored, 0)
SELDOM_TABLE(nan_row, 0xff)

/* What they hold may be changed by several threads, as elements of a bucket are shared out. */
static void raise_bits(unsigned char *at, unsigned char bits) {
    __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
}
static void lower_to(uint64_t *at, uint64_t value) {
    uint64_t least = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (value < least && !__atomic_compare_exchange_n(at, &least, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------------------------------------------------ */

static struct window *window_at(struct tables *tables, struct windows *windows, int unit) {
    for (unsigned i = 0; i < windows->count; i++)
        if (windows->window[i].unit == unit)
            return &windows->window[i];
    if (windows->count >= WINDOWS)
        return NULL;
    pair **piece = new_table(tables, rd_divide_up(tables->results, PIECE), sizeof *piece, 0);
    if (!piece)
        return NULL;
    windows->window[windows->count] = (struct window){.unit = unit, .piece = piece};
    return &windows->window[windows->count++];
}

static void free_window(const struct window *window, uint64_t results) {
    for (uint64_t r = 0; window->piece && r < results; r += PIECE)
        free(window->piece[r / PIECE]);
    free(window->piece);
}

/* Where a window has the sum of a result, or null. */
static pair *sum_in(const struct window *window, uint64_t result) {
    if (window->table)
        return &window->table[(result - window->base) * window->step];
    pair *piece = window->piece ? window->piece[result / PIECE] : NULL;
    return piece ? &piece[result % PIECE] : NULL;
}

/* The same of a window where all have a place. Null without memory. */
static pair *place_in(struct tables *tables, const struct window *window, uint64_t result) {
    pair **piece = window->table ? NULL : &window->piece[result / PIECE];
    if (piece && !*piece)
        *piece = new_table(tables, PIECE, sizeof **piece, 0);
    return sum_in(window, result);
}

/* Adds term * 2^more, of a finite term, to the windows that it reaches into. */
static void add_to_windows(struct tables *tables, struct windows *windows, uint32_t result, double term, int more) {
    int exponent, reach = 2 * tables->bits, base = windows->window[0].unit;
    int64_t significand = (int64_t)ldexp(frexp(term, &exponent), 53);
    uint64_t size = significand < 0 ? 0 - (uint64_t)significand : (uint64_t)significand;
    for (exponent += more - 53; size;) {
        int low = __builtin_ctzll(size), above = exponent + low - base;
        int steps = above >= 0 ? above / reach : -((reach - 1 - above) / reach);
        int unit = base + steps * reach, room = reach - (exponent + low - unit);
        uint64_t here = size >> low, left = room < 64 ? here >> room : 0;
        if (room < 64)
            here &= ((uint64_t)1 << room) - 1;
        rd_u128 units = (rd_u128)here << (exponent + low - unit);
        pair amount = {(int64_t)(units >> tables->bits),
                       (int64_t)((uint64_t)units & (((uint64_t)1 << tables->bits) - 1))};
        struct window *window = window_at(tables, windows, unit);
        pair *place = window ? place_in(tables, window, result) : NULL;
        if (!place)
            return;
        *place += significand < 0 ? -amount : amount;
        size = left;
        exponent += low + room;
    }
}

static double term_at(const struct rd_group_block *block, size_t at, reduct_type element, enum rd_transform transform) {
    double x = rd_element_value(element, block->input[0], at);
    switch ((int)transform) {
    case RD_ABSOLUTE:
        return fabs(x);
    case RD_SQUARE:
        return x * x;
    case RD_TIMES:
        return x * rd_element_value(element, block->input[1], at);
    default:
        return x;
    }
}

static bool fits(const struct rd_slices *slices, double term) {
    double rest = term - (term + slices->magic[0] - slices->magic[0]);
    return fabs(term) < slices->limit && rest - (rest + slices->magic[1] - slices->magic[1]) == 0;
}

/* Where NaNs propagate, extremes want to know of the first one; sums have them among their terms. */
static void note_nan(struct tables *tables, const struct column_plan *plan, struct column *column,
                     const struct rd_group_block *block, size_t at) {
    const reduct_nan policy = plan->reduction->nan;
    const uint32_t result = rd_group_result(block, at);
    const uint64_t number = rd_group_row(block, at) + 1;
    if (policy == REDUCT_NAN_IGNORE) {
        if (have_ignored(tables, plan, column))
            __atomic_fetch_add(&column->ignored[result], 1, __ATOMIC_RELAXED);
    } else if ((policy == REDUCT_NAN_ERROR || plan->kind == KEYS) && have_nan_row(tables, plan, column)) {
        lower_to(&column->nan_row[result], number);
    }
}

/* A term that is not finite. */
static void note_odd(struct tables *tables, const struct column_plan *plan, struct column *column,
                     const struct rd_group_block *block, size_t at, double term) {
    reduct_type element = plan->reduction->element;
    bool nan = isnan(rd_element_value(element, block->input[0], at)) ||
               (plan->channel[0].transform == RD_TIMES && isnan(rd_element_value(element, block->input[1], at)));
    if (nan)
        note_nan(tables, plan, column, block, at);
    if ((nan && plan->reduction->nan == REDUCT_NAN_IGNORE) || !have_odd(tables, plan, column))
        return;
    raise_bits(&column->odd[rd_group_result(block, at)], isnan(term) ? IS_NAN : term > 0 ? IS_PLUS : IS_MINUS);
}

/* Adds those terms of a block that do not fit elsewhere, and takes them out of the pairs. What is not finite is noted with the
 * first channel. */
static void take_out_odd(struct tables *tables, const struct column_plan *plan, struct column *column, unsigned which,
                         const struct rd_group_block *block, pair *pairs) {
    const struct channel *channel = &plan->channel[which];
    for (size_t i = 0; i < block->count; i++) {
        double term = term_at(block, i, plan->reduction->element, channel->transform);
        if (fits(&channel->slices, term))
            continue;
        pairs[i] = (pair){0};
        if (isfinite(term))
            add_to_windows(tables, &column->sums[which], rd_group_result(block, i), term, 0);
        else if (which == 0)
            note_odd(tables, plan, column, block, i, term);
    }
}

static bool is_far(const struct tables *tables, size_t step) {
    return tables->spread * step * sizeof(pair) > FAR_BYTES;
}

/* Fetches what scatter() begins with. */
static void fetch_first(const struct tables *tables, const struct window *window, const struct rd_group_block *block,
                        bool one) {
    for (size_t i = 0; !one && is_far(tables, window->step) && i < AHEAD_FAR && i < block->count; i++)
        __builtin_prefetch(&window->table[block->to[i] * window->step], 1);
}

/* Adds pairs to the sums of all turns, `step` pairs from one result to the next. `count_at`: how many pairs behind a sum it is
 * counted, or 0. `fetches`: whether none of this has been near yet. */
static inline __attribute__((always_inline)) void scatter(const struct tables *tables, pair *table, size_t step,
                                                          size_t count_at, bool fetches, const uint32_t *to,
                                                          const pair *pairs, size_t count) {
    const uint64_t turn_step = tables->spread * step;
    const size_t ahead = is_far(tables, step) ? AHEAD_FAR : AHEAD;
    size_t i = 0;
#define ADD_ONE(at, turn)                                                                                              \
    do {                                                                                                               \
        pair *sum = &table[(turn)*turn_step + to[at] * step];                                                          \
        *sum += pairs[at];                                                                                             \
        if (count_at)                                                                                                  \
            sum[count_at] += (pair){1};                                                                                \
    } while (0)
    if (tables->turns == TURNS)
        for (; i + TURNS <= count; i += TURNS)
            for (size_t turn = 0; turn < TURNS; turn++)
                ADD_ONE(i + turn, turn);
    else if (fetches && turn_step * sizeof *table > NEAR_BYTES)
        for (; i + ahead < count; i++) {
            __builtin_prefetch(&table[to[i + ahead] * step], 1);
            ADD_ONE(i, 0);
        }
    for (; i < count; i++)
        ADD_ONE(i, 0);
#undef ADD_ONE
}

/* Whether all elements are of one result, as in long runs of sorted indices. */
static bool is_one_result(const struct rd_group_block *block) {
    uint32_t first = block->to[0], other = first ^ block->to[block->count - 1];
    for (size_t i = 0; !other && i < block->count; i++)
        other |= block->to[i] ^ first;
    return !other;
}

static pair sum_of(const pair *pairs, size_t count) {
    pair sum[4] = {{0}};
    for (size_t i = 0; i < count; i++)
        sum[i % 4] += pairs[i];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Adds the pairs of a block to the first window of a channel; with those of the first channel elements are counted. */
static void add_pairs(const struct tables *tables, const struct column_plan *plan, const struct column *column,
                      unsigned which, const struct rd_group_block *block, bool one) {
    pair *table = column->sums[which].window[0].table, *pairs = column->room->pairs;
    const size_t count_at = which == 0 && plan->counts ? plan->channels : 0;
    if (one) {
        pair *sum = &table[block->to[0] * plan->step];
        *sum += sum_of(pairs, block->count);
        if (count_at)
            sum[count_at] += (pair){(int64_t)block->count};
    } else if (plan->step == 1) {
        scatter(tables, table, 1, 0, true, block->to, pairs, block->count);
    } else if (count_at) {
        scatter(tables, table, plan->step, count_at, true, block->to, pairs, block->count);
    } else {
        scatter(tables, table, plan->step, 0, which == 0, block->to, pairs, block->count);
    }
}

static void add_terms(struct tables *tables, const struct column_plan *plan, struct column *column, unsigned which,
                      const struct rd_group_block *block, bool one) {
    pair *pairs = column->room->pairs;
    const struct channel *channel = &plan->channel[which];
    fetch_first(tables, &column->sums[which].window[0], block, one || which);
    unsigned found = tables->kernels->split[plan->reduction->element](
        &channel->slices, channel->transform, block->input[0], block->input[1], block->count, (int64_t(*)[2])pairs);
    if (found & RD_SPLIT_ODD)
        take_out_odd(tables, plan, column, which, block, pairs);
    column->minus_zeros |= (found & RD_SPLIT_MINUS_ZERO) != 0;
    add_pairs(tables, plan, column, which, block, one);
}

/* Adds a product of finite factors that are not zero, whatever it comes to: that of numbers from 1/2 to 1 is exact in two
 * parts. */
static void add_product(struct tables *tables, struct windows *windows, uint32_t result, double x, double y) {
    int of_x, of_y;
    const double a = frexp(x, &of_x), b = frexp(y, &of_y), product = a * b;
    add_to_windows(tables, windows, result, product, of_x + of_y);
    add_to_windows(tables, windows, result, fma(a, b, -product), of_x + of_y);
}

/* Takes out factors whose product may not be exact in two doubles, and adds these products, or notes what is not finite. */
static void take_out_factors(struct tables *tables, const struct column_plan *plan, struct column *column,
                             unsigned which, const struct rd_group_block *block, struct factors *factors) {
    for (size_t i = 0; i < block->count; i++) {
        const double x = factors->x[i], y = factors->y[i], size = fabs(x * y);
        if ((size > 0x1p-900 && size < 0x1p1000) || (isfinite(size) && (x == 0 || y == 0)))
            continue;
        if (isfinite(x) && isfinite(y))
            add_product(tables, &column->sums[which], rd_group_result(block, i), x, y);
        else if (which == 0)
            note_odd(tables, plan, column, block, i, x * y);
        factors->x[i] = factors->y[i] = 0;
    }
}

/* Adds doubles, all finite. */
static void add_doubles(struct tables *tables, const struct column_plan *plan, struct column *column, unsigned which,
                        const struct rd_group_block *block, const double *terms, bool one) {
    pair *pairs = column->room->pairs;
    const struct rd_slices *slices = &plan->channel[which].slices;
    fetch_first(tables, &column->sums[which].window[0], block, one || which);
    unsigned found =
        tables->kernels->split[REDUCT_F64](slices, RD_IDENTITY, terms, NULL, block->count, (int64_t(*)[2])pairs);
    column->minus_zeros |= which == 0 && (found & RD_SPLIT_MINUS_ZERO);
    for (size_t i = 0; (found & RD_SPLIT_ODD) && i < block->count; i++) {
        if (fits(slices, terms[i]))
            continue;
        pairs[i] = (pair){0};
        add_to_windows(tables, &column->sums[which], rd_group_result(block, i), terms[i], 0);
    }
    add_pairs(tables, plan, column, which, block, one);
}

static void add_products(struct tables *tables, const struct column_plan *plan, struct column *column, unsigned which,
                         const struct rd_group_block *block, bool one) {
    struct factors *factors = &column->room->factors;
    const size_t all = (block->count + RD_LANES - 1) / RD_LANES * RD_LANES, bytes = block->count * sizeof(double);
    const bool square = plan->channel[which].transform == RD_SQUARE;
    memcpy(factors->x, block->input[0], bytes);
    memcpy(factors->y, block->input[square ? 0 : 1], bytes);
    memset(factors->x + block->count, 0, all * sizeof(double) - bytes);
    memset(factors->y + block->count, 0, all * sizeof(double) - bytes);
    if (!tables->kernels->multiply(factors->x, factors->y, all, factors->product, factors->rest)) {
        take_out_factors(tables, plan, column, which, block, factors);
        tables->kernels->multiply(factors->x, factors->y, all, factors->product, factors->rest);
    }
    add_doubles(tables, plan, column, which, block, factors->product, one);
    add_doubles(tables, plan, column, which + 1, block, factors->rest, one);
}

static void add_sums(struct tables *tables, const struct column_plan *plan, struct column *column,
                     const struct rd_group_block *block, bool one) {
    for (unsigned c = 0; c < plan->channels; c++)
        switch (plan->channel[c].part) {
        case WHOLE:
            add_terms(tables, plan, column, c, block, one);
            break;
        case ROUNDED:
            add_products(tables, plan, column, c, block, one);
            break;
        case REST: /* with the channel before */
            break;
        }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Words and keys
 * ------------------------------------------------------------------------------------------------------------------ */

#define EXTEND(T)                                                                                                      \
    for (size_t i = 0; i < count; i++)                                                                                 \
        word[i] = ((const T *)x)[i];                                                                                   \
    break

/* Bits of elements, zero-extended; of bool 1 for all that is true. */
static void read_bits(const void *x, reduct_type element, size_t count, uint64_t *word) {
    switch (rd_type(element)->bytes) {
    case 1:
        EXTEND(uint8_t);
    case 2:
        EXTEND(uint16_t);
    case 4:
        EXTEND(uint32_t);
    default:
        EXTEND(uint64_t);
    }
    for (size_t i = 0; element == REDUCT_BOOL && i < count; i++)
        word[i] = word[i] != 0;
}

static uint64_t infinity_of(const struct rd_type *type) {
    return (uint64_t)(2 * type->max_exponent + 1) << (type->precision - 1);
}

/* NaNs of a block: notes those that are to be noted, and returns whether there are any. `keep`: whether an element is to be taken
 * for what its bits are. */
static bool find_nans(struct tables *tables, const struct column_plan *plan, struct column *column,
                      const struct rd_group_block *block, const uint64_t *word, bool *keep) {
    const struct rd_type *type = rd_type(plan->reduction->element);
    const uint64_t magnitude = ((uint64_t)1 << (8 * type->bytes - 1)) - 1, infinity = infinity_of(type);
    uint64_t any = 0;
    if (type->kind != RD_FLOAT)
        return false;
    for (size_t i = 0; i < block->count; i++)
        any |= infinity - (word[i] & magnitude); /* negative for a NaN */
    any >>= 63;
    for (size_t i = 0; any && i < block->count; i++) {
        keep[i] = (word[i] & magnitude) <= infinity;
        if (!keep[i])
            note_nan(tables, plan, column, block, i);
    }
    return any;
}

/* Of NaNs: whether words take them for elements that are not zero. */
static bool counts_nans(const reduct_reduction *reduction) {
    return reduction->nan == REDUCT_NAN_PROPAGATE && rd_operator(reduction->op)->transform == RD_NONZERO;
}

static void add_words(struct tables *tables, const struct column_plan *plan, struct column *column,
                      const struct rd_group_block *block) {
    const struct rd_operator *op = rd_operator(plan->reduction->op);
    const struct rd_type *type = rd_type(plan->reduction->element);
    const bool counts = op->combine == RD_ADD, present = op->transform == RD_PRESENT,
               truth = !counts && rd_is_truth(plan->reduction);
    const uint64_t value = type->kind == RD_FLOAT ? UINT64_MAX >> (65 - 8 * type->bytes) : UINT64_MAX;
    uint64_t *word = column->room->word;
    bool *keep = column->room->keep;
    read_bits(block->input[0], plan->reduction->element, block->count, word);
    const bool some = find_nans(tables, plan, column, block, word, keep) && !counts_nans(plan->reduction);
    for (size_t i = 0; (counts || truth) && i < block->count; i++)
        word[i] = present || (word[i] & value) != 0;
    for (size_t i = 0; i < block->count; i++) {
        uint64_t *to = &column->word[block->to[i]];
        if (some && !keep[i])
            continue;
        if (counts)
            *to += word[i];
        else if (op->combine == RD_AND)
            *to &= word[i];
        else
            *to = op->combine == RD_OR ? *to | word[i] : *to ^ word[i];
    }
}

/* `least`: the greatest key is to be that of the least element. */
static struct order order_of(const reduct_reduction *reduction, bool least) {
    const struct rd_type *type = rd_type(reduction->element);
    bool absolute = rd_operator(reduction->op)->transform == RD_ABSOLUTE && type->kind != RD_UNSIGNED;
    return (struct order){.shift = 64 - 8 * type->bytes,
                          .is_float = type->kind == RD_FLOAT,
                          .is_unsigned = type->kind == RD_UNSIGNED || (absolute && type->kind == RD_SIGNED),
                          .absolute = absolute,
                          .least = least};
}

static int64_t turned(struct order order, int64_t wide) {
    return order.is_float ? wide ^ (int64_t)((uint64_t)(wide >> 63) >> 1) : order.is_unsigned ? wide ^ INT64_MIN : wide;
}

/* Shifted down again, so that of narrow elements none has the least key of all, that of no element. */
static int64_t to_key(struct order order, uint64_t bits) {
    int64_t wide = (int64_t)(bits << order.shift);
    if (order.absolute) { /* without a branch that depends on the sign, which comes in no pattern */
        const uint64_t negative = (uint64_t)(wide >> 63);
        wide = order.is_float ? wide & INT64_MAX : (int64_t)(((uint64_t)wide ^ negative) - negative);
    }
    int64_t key = turned(order, wide) >> order.shift;
    return order.least ? ~key : key;
}

static uint64_t from_key(struct order order, int64_t key) {
    int64_t wide = (int64_t)((uint64_t)(order.least ? ~key : key) << order.shift);
    return (uint64_t)turned(order, wide) >> order.shift;
}

static const int64_t NO_KEY = INT64_MIN;

/* Whether a reduction wants an extreme: the least (0), the greatest (1). */
static bool wants(const reduct_reduction *reduction, int which) {
    enum rd_combine combine = rd_operator(reduction->op)->combine;
    return combine == RD_BOTH || (combine == RD_LEAST) == (which == 0);
}

/* Bits of elements as keys, in place. */
static void to_keys(struct order order, uint64_t *word, size_t count) {
    for (size_t i = 0; i < count; i++)
        word[i] = (uint64_t)to_key(order, word[i]);
}

/* Enters keys, or if there is `keep` those that it says. Without branches, as they come in no pattern. */
static void raise_keys(int64_t *restrict best, const uint32_t *restrict to, const uint64_t *restrict key,
                       const bool *restrict keep, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int64_t own = !keep || keep[i] ? (int64_t)key[i] : NO_KEY, other = best[to[i]];
        best[to[i]] = own > other ? own : other;
    }
}

/* The same with the rows of the first that are so great. */
static void raise_rows(int64_t *restrict best, uint64_t *restrict row, const struct rd_group_block *block,
                       const uint64_t *restrict key, const bool *restrict keep) {
    for (size_t i = 0; i < block->count; i++) {
        const uint32_t to = block->to[i];
        const int64_t own = (int64_t)key[i];
        if (keep && !keep[i])
            continue;
        if (own > best[to] || row[to] == UINT64_MAX) {
            best[to] = own;
            row[to] = rd_group_row(block, i);
        }
    }
}

static void raise_all(struct column *column, int which, const struct rd_group_block *block, const bool *keep) {
    if (column->key_row)
        raise_rows(column->key[which], column->key_row, block, column->room->word, keep);
    else
        raise_keys(column->key[which], block->to, column->room->word, keep, block->count);
}

static void add_keys(struct tables *tables, const struct column_plan *plan, struct column *column,
                     const struct rd_group_block *block) {
    uint64_t *word = column->room->word;
    const int which = plan->wants[0] ? 0 : 1;
    read_bits(block->input[0], plan->reduction->element, block->count, word);
    const bool *keep = find_nans(tables, plan, column, block, word, column->room->keep) ? column->room->keep : NULL;
    to_keys(plan->order[which], word, block->count);
    raise_all(column, which, block, keep);
    if (which == 1 || !plan->wants[1])
        return;
    for (size_t i = 0; i < block->count; i++)
        word[i] = ~word[i]; /* what `least` means to keys */
    raise_all(column, 1, block, keep);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * All elements
 * ------------------------------------------------------------------------------------------------------------------ */

static void add_block(struct tables *tables, struct column *column, const struct rd_group_block *block) {
    const bool one = is_one_result(block);
    for (size_t s = 0; s < tables->many->states; s++) {
        const struct column_plan *plan = &tables->plan[s];
        switch (plan->kind) {
        case SUMS:
            add_sums(tables, plan, &column[s], block, one);
            break;
        case WORDS:
            add_words(tables, plan, &column[s], block);
            break;
        case KEYS:
            add_keys(tables, plan, &column[s], block);
            break;
        }
    }
}

/* Tables that every element goes to, for so many results; what they hold is not set. */
static void make_tables(struct tables *tables, size_t s, uint64_t results, struct column *column) {
    const struct column_plan *plan = &tables->plan[s];
    if (plan->kind == SUMS)
        column->cells = new_room_for(tables, results * tables->turns * plan->step, sizeof *column->cells);
    if (plan->kind == WORDS)
        column->word = new_room_for(tables, results, sizeof *column->word);
    for (int which = 0; plan->kind == KEYS && which < 2; which++)
        if (plan->wants[which])
            column->key[which] = new_room_for(tables, results, sizeof *column->key[which]);
    if (plan->kind == KEYS && rd_operator(plan->reduction->op)->finish == RD_INDEX)
        column->key_row = new_room_for(tables, results, sizeof *column->key_row);
}

/* Makes `count` results from `first` on be those of no elements, in all turns; if there are several, of all results. */
static void clear_tables(const struct tables *tables, size_t s, const struct column *column, uint64_t first,
                         uint64_t count) {
    const struct column_plan *plan = &tables->plan[s];
    const bool ones = rd_operator(plan->reduction->op)->combine == RD_AND;
    if (column->cells)
        memset(column->cells + first * plan->step, 0, count * tables->turns * plan->step * sizeof *column->cells);
    if (column->word)
        memset(column->word + first, ones ? 0xff : 0, count * sizeof *column->word);
    for (int which = 0; which < 2; which++)
        for (uint64_t r = first; column->key[which] && r < first + count; r++)
            column->key[which][r] = NO_KEY;
    if (column->key_row)
        memset(column->key_row + first, 0xff, count * sizeof *column->key_row);
}

/* Has a column add to the tables of another, or of its own: what is of the results from `base` on to their entries from `first` on. */
static void aim_column(const struct tables *tables, size_t s, struct column *column, const struct column *at,
                       uint64_t first, uint64_t base) {
    const struct column_plan *plan = &tables->plan[s];
    for (unsigned c = 0; c < plan->channels; c++) {
        struct windows *windows = &column->sums[c];
        windows->window[0] = (struct window){.unit = plan->channel[c].unit,
                                             .base = (uint32_t)base,
                                             .step = plan->step,
                                             .table = at->cells ? at->cells + first * plan->step + c : NULL};
        windows->count += !windows->count;
    }
    column->cells = at->cells ? at->cells + first * plan->step : NULL;
    column->word = at->word ? at->word + first : NULL;
    for (int which = 0; which < 2; which++)
        column->key[which] = at->key[which] ? at->key[which] + first : NULL;
    column->key_row = at->key_row ? at->key_row + first : NULL;
}

/* The tables of a thread, all of no elements. */
static void make_column(struct tables *tables, size_t s, struct column *column) {
    make_tables(tables, s, tables->results, column);
    if (atomic_load(&tables->lacks_memory))
        return;
    clear_tables(tables, s, column, 0, tables->results);
    aim_column(tables, s, column, column, 0, 0);
}

static void free_tables(struct column *column) {
    free(column->cells);
    free(column->word);
    free(column->key[0]);
    free(column->key[1]);
    free(column->key_row);
}

static void free_column(struct column *column, uint64_t results) {
    for (unsigned c = 0; c < CHANNELS; c++)
        for (unsigned w = 0; w < column->sums[c].count; w++)
            free_window(&column->sums[c].window[w], results);
    free_tables(column);
    free(column->odd);
    free(column->ignored);
    free(column->nan_row);
}

/* Whether what is left shall not be done. */
static bool stops(const struct tables *tables) {
    return rd_team_stops(&tables->many->state[0].crew);
}

/* Bytes that one thread's tables take for a result, if elements are as they should be. */
static size_t bytes_per_result(const struct tables *tables) {
    size_t bytes = 0;
    for (size_t s = 0; s < tables->many->states; s++) {
        const struct column_plan *plan = &tables->plan[s];
        bytes += plan->kind == SUMS    ? plan->step * tables->turns * sizeof(pair)
                 : plan->kind == WORDS ? sizeof(uint64_t)
                                       : 2 * sizeof(uint64_t);
    }
    return bytes;
}

/* Calls `take` with all elements of a range. */
typedef void take_block(struct tables *tables, void *context, const struct rd_group_block *block);

static void read_range(struct tables *tables, struct rd_group_reader *reader, uint64_t first, uint64_t end,
                       take_block *take, void *context) {
    const bool far = bytes_per_result(tables) * tables->spread > FAR_BYTES;
    struct rd_group_block block;
    for (uint64_t at = first; at < end && reader->outside == UINT64_MAX; at += RD_GROUP_BLOCK) {
        rd_group_read(reader, at, end - at < RD_GROUP_BLOCK ? (size_t)(end - at) : RD_GROUP_BLOCK, &block);
        if (tables->turns == 1 && end - at >= (BLOCKS_AHEAD + 1) * RD_GROUP_BLOCK)
            rd_group_fetch(reader, at + BLOCKS_AHEAD * RD_GROUP_BLOCK, RD_GROUP_BLOCK, !far);
        if (block.count)
            take(tables, context, &block);
    }
}

/* Initial values, those of `count` results from `base` on, are elements of no row. */
static void read_initial(struct tables *tables, struct rd_group_reader *reader, uint64_t base, uint64_t count,
                         take_block *take, void *context) {
    struct rd_group_block block = {.to = reader->to, .base = (uint32_t)base, .row = reader->row};
    for (size_t i = 0; i < RD_GROUP_BLOCK; i++)
        reader->row[i] = UINT64_MAX;
    for (uint64_t at = 0; at < count; at += RD_GROUP_BLOCK) {
        block.count = count - at < RD_GROUP_BLOCK ? (size_t)(count - at) : RD_GROUP_BLOCK;
        block.input[0] = (const unsigned char *)tables->execution->initial + (base + at) * tables->bytes;
        for (size_t i = 0; i < block.count; i++)
            reader->to[i] = (uint32_t)(at + i);
        take(tables, context, &block);
    }
}

static struct room *new_room(struct tables *tables) {
    struct room *room = aligned_alloc(64, (sizeof *room + 63) / 64 * 64);
    if (!room) {
        atomic_store(&tables->lacks_memory, true);
        return NULL;
    }
    room->reader.many = tables->many;
    room->reader.execution = tables->execution;
    room->reader.outside = UINT64_MAX;
    return room;
}

static void take_elements(struct tables *tables, void *context, const struct rd_group_block *block) {
    add_block(tables, context, block);
}

/* What each thread does. One that comes late finds nothing left, and needs no tables. */
static void add_units(void *context) {
    struct tables *tables = context;
    uint64_t unit = atomic_fetch_add(&tables->next_unit, 1), units = rd_divide_up(tables->elements, UNIT);
    const unsigned copy = atomic_fetch_add(&tables->next_copy, 1);
    if ((unit >= units && copy) || atomic_load(&tables->lacks_memory))
        return;
    struct column *column = tables->column + copy * tables->many->states;
    struct room *room = new_room(tables);
    for (size_t s = 0; s < tables->many->states; s++) {
        make_column(tables, s, &column[s]);
        column[s].room = room;
    }
    rd_environment caller = rd_environment_enter();
    if (!atomic_load(&tables->lacks_memory) && copy == 0 && tables->execution->initial)
        read_initial(tables, &room->reader, 0, tables->results, take_elements, column);
    for (; unit < units && room && !atomic_load(&tables->lacks_memory) && !stops(tables);
         unit = atomic_fetch_add(&tables->next_unit, 1)) {
        uint64_t first = unit * UNIT;
        read_range(tables, &room->reader, first, tables->elements - first < UNIT ? tables->elements : first + UNIT,
                   take_elements, column);
        if (room->reader.outside !=
            UINT64_MAX) { /* units before this one are with threads that will do them; those after it do not matter */
            rd_group_note_outside(&tables->outside, room->reader.outside);
            break;
        }
    }
    rd_environment_leave(caller);
    free(room);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * All elements, to tables that threads share
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t results_of(const struct tables *tables, size_t bucket) {
    const uint64_t first = (uint64_t)bucket << tables->buckets.log2, left = tables->results - first;
    return left < tables->spread ? left : tables->spread;
}

/* Adds what a thread has of a bucket to where all meet: to `count` results from `first` on. */
static void meet(const struct tables *tables, size_t s, const struct column *own, uint64_t first, uint64_t count) {
    const struct column_plan *plan = &tables->plan[s];
    const struct column *all = &tables->shared[s];
    const enum rd_combine combine = rd_operator(plan->reduction->op)->combine;
    for (uint64_t i = 0; own->cells && i < count * plan->step; i++)
        all->cells[first * plan->step + i] += own->cells[i];
    for (uint64_t i = 0; own->word && i < count; i++) {
        uint64_t *word = &all->word[first + i];
        *word = combine == RD_ADD   ? *word + own->word[i]
                : combine == RD_AND ? *word & own->word[i]
                : combine == RD_OR  ? *word | own->word[i]
                                    : *word ^ own->word[i];
    }
    for (int which = 0; which < 2; which++)
        for (uint64_t i = 0; own->key[which] && i < count; i++) {
            int64_t *key = &all->key[which][first + i];
            if (own->key_row) {
                uint64_t *row = &all->key_row[first + i];
                const bool is_first = own->key_row[i] < *row && (own->key[which][i] == *key || *row == UINT64_MAX);
                if (own->key_row[i] != UINT64_MAX && (is_first || own->key[which][i] > *key))
                    *row = own->key_row[i];
            }
            *key = own->key[which][i] > *key ? own->key[which][i] : *key;
        }
}

static void read_item(struct tables *tables, struct room *room, struct column *column, const struct item *item) {
    const uint64_t base = (uint64_t)item->bucket << tables->buckets.log2;
    if (item->first && tables->execution->initial)
        read_initial(tables, &room->reader, base, results_of(tables, item->bucket), take_elements, column);
    for (uint64_t at = item->begin; at < item->end; at += RD_GROUP_BLOCK) {
        if ((at - item->begin) % UNIT == 0 && stops(tables))
            break;
        const struct rd_group_block block = rd_group_buckets_read(&tables->buckets, item->bucket, at, item->end);
        add_block(tables, column, &block);
    }
}

/* An item of a bucket that others have some of, too: `own` is a table of the thread for as many results. */
static void take_some(struct tables *tables, struct room *room, struct column *column, struct column *own,
                      const struct item *item) {
    const uint64_t base = (uint64_t)item->bucket << tables->buckets.log2, count = results_of(tables, item->bucket);
    for (size_t s = 0; s < tables->many->states; s++) {
        clear_tables(tables, s, &own[s], 0, count);
        aim_column(tables, s, &column[s], &own[s], 0, base);
    }
    read_item(tables, room, column, item);
    pthread_mutex_lock(&tables->meeting);
    for (size_t s = 0; s < tables->many->states; s++)
        meet(tables, s, &own[s], base, count);
    pthread_mutex_unlock(&tables->meeting);
}

/* What each thread does with elements that were moved. */
static void take_items(struct tables *tables, struct room *room, struct column *column, struct column *own) {
    bool has_own = false;
    for (uint64_t i; (i = atomic_fetch_add(&tables->next_unit, 1)) < tables->items && !stops(tables);) {
        const struct item *item = &tables->item[i];
        const uint64_t base = (uint64_t)item->bucket << tables->buckets.log2;
        for (size_t s = 0; s < tables->many->states && !item->alone && !has_own; s++)
            make_tables(tables, s, tables->spread, &own[s]);
        has_own |= !item->alone;
        if (atomic_load(&tables->lacks_memory))
            break;
        for (size_t s = 0; s < tables->many->states && item->alone; s++)
            aim_column(tables, s, &column[s], &tables->shared[s], base, base);
        if (item->alone)
            read_item(tables, room, column, item);
        else
            take_some(tables, room, column, own, item);
    }
}

static void add_items(void *context) {
    struct tables *tables = context;
    const size_t states = tables->many->states;
    struct column *column = tables->column + atomic_fetch_add(&tables->next_copy, 1) * states;
    struct column *own = calloc(states, sizeof *own);
    struct room *room = new_room(tables);
    rd_environment caller = rd_environment_enter();
    if (!own)
        atomic_store(&tables->lacks_memory, true);
    for (size_t s = 0; s < states; s++)
        column[s].room = room;
    if (own && room)
        take_items(tables, room, column, own);
    const struct column none = {.room = NULL};
    for (size_t s = 0; s < states; s++) {
        aim_column(tables, s, &column[s], &none, 0, 0);
        column[s].odd = NULL;
        column[s].ignored = NULL;
        column[s].nan_row = NULL;
        if (own)
            free_tables(&own[s]);
    }
    rd_environment_leave(caller);
    free(own);
    free(room);
}

/* Makes shared entries of buckets be those of no elements. */
static void clear_buckets(void *context) {
    struct tables *tables = context;
    for (uint64_t b; (b = atomic_fetch_add(&tables->next_unit, 1)) < tables->buckets.count;)
        for (size_t s = 0; s < tables->many->states; s++)
            clear_tables(tables, s, &tables->shared[s], b << tables->buckets.log2, results_of(tables, b));
}

static void run_shared(struct tables *tables, void (*work)(void *context)) {
    atomic_store(&tables->next_unit, 0);
    atomic_store(&tables->next_copy, 0);
    rd_team_run(&tables->many->state[0].crew, tables->copies, work, tables);
}

/* Shares out what was moved. Elements of a bucket are several items where one thread would take long for them. */
static void make_items(struct tables *tables, bool initial) {
    const struct rd_group_buckets *buckets = &tables->buckets;
    const uint64_t share = buckets->begin[buckets->count] / (2 * tables->copies),
                   most = share > rd_group_sharing.item ? share : rd_group_sharing.item;
    tables->items = 0;
    for (size_t b = 0; b < buckets->count; b++) {
        const uint64_t begin = buckets->begin[b], end = buckets->begin[b + 1], pieces = rd_divide_up(end - begin, most);
        for (uint64_t i = 0; i < pieces || (i == 0 && initial); i++)
            tables->item[tables->items++] = (struct item){.bucket = (uint32_t)b,
                                                          .alone = pieces <= 1,
                                                          .first = i == 0 && initial,
                                                          .begin = begin + i * most,
                                                          .end = i + 1 < pieces ? begin + (i + 1) * most : end};
    }
}

/* Elements are moved to buckets, as many as there is room for, and then added, until there are no more. */
static void add_by_buckets(struct tables *tables) {
    struct rd_group_buckets *buckets = &tables->buckets;
    run_shared(tables, clear_buckets);
    for (uint64_t at = 0; at < tables->elements && !atomic_load(&tables->lacks_memory); at += buckets->room) {
        const uint64_t left = tables->elements - at;
        if (!rd_group_buckets_move(buckets, at, left < buckets->room ? left : buckets->room))
            break;
        make_items(tables, at == 0);
        run_shared(tables, add_items);
    }
    atomic_store(&tables->outside, atomic_load(&buckets->outside));
    if (atomic_load(&buckets->lacks_memory))
        atomic_store(&tables->lacks_memory, true);
    for (size_t s = 0; s < tables->many->states; s++) { /* results are looked for in columns */
        struct column *column = &tables->column[s];
        const struct column *all = &tables->shared[s];
        aim_column(tables, s, column, all, 0, 0);
        column->odd = all->odd;
        column->ignored = all->ignored;
        column->nan_row = all->nan_row;
    }
}

/* Whether somebody asks which rows elements are of. */
static bool asks_rows(const struct tables *tables) {
    bool asks = false;
    for (size_t s = 0; s < tables->many->states; s++) {
        const reduct_reduction *reduction = tables->plan[s].reduction;
        const bool of_nans = rd_type(reduction->element)->kind == RD_FLOAT &&
                             (reduction->nan == REDUCT_NAN_ERROR ||
                              (tables->plan[s].kind == KEYS && reduction->nan == REDUCT_NAN_PROPAGATE));
        asks = asks || of_nans || rd_operator(reduction->op)->finish == RD_INDEX;
    }
    return asks;
}

/* All elements, to buckets of 2^log2 results. False without memory for what is shared: then nothing was done. */
static bool share_tables(struct tables *tables, unsigned log2) {
    const size_t states = tables->many->states;
    struct rd_group_buckets *buckets = &tables->buckets;
    /* All buckets' tables are gone through once for what is moved at a time: some elements for each result of these. */
    const uint64_t some = ELEMENTS_PER_ENTRY * tables->results,
                   moved = some > rd_group_sharing.moved ? some : rd_group_sharing.moved;
    bool there =
        rd_group_buckets_open(buckets, tables->many, tables->execution, tables->copies, log2, moved, asks_rows(tables));
    tables->item = malloc((buckets->count + buckets->room / rd_group_sharing.item + 1) * sizeof *tables->item);
    tables->shared = calloc(states, sizeof *tables->shared);
    for (size_t s = 0; s < states && tables->shared && there; s++)
        make_tables(tables, s, tables->results, &tables->shared[s]);
    there = there && tables->item && tables->shared && !atomic_load(&tables->lacks_memory);
    if (there) {
        tables->spread = UINT64_C(1) << log2;
        pthread_mutex_init(&tables->meeting, NULL);
        add_by_buckets(tables);
        pthread_mutex_destroy(&tables->meeting);
        tables->spread = tables->results;
    }
    for (size_t s = 0; s < states && tables->shared && !there; s++)
        free_tables(&tables->shared[s]);
    free(tables->item);
    free(tables->shared);
    tables->shared = NULL;
    rd_group_buckets_close(buckets);
    return there;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

static rd_i128 value_of(const pair *sum, int bits) {
    return (rd_i128)(*sum)[0] * ((rd_i128)1 << bits) + (*sum)[1];
}

static int bits_of(const struct tables *tables, const struct column_plan *plan) {
    return rd_type(plan->reduction->element)->kind == RD_FLOAT ? tables->bits : 32;
}

/* What one thread has of a result in a window. */
static pair window_sum(const struct tables *tables, const struct window *window, uint64_t result) {
    const pair *place = sum_in(window, result);
    pair sum = place ? *place : (pair){0};
    for (unsigned turn = 1; window->table && turn < tables->turns; turn++)
        sum += window->table[(turn * tables->results + result) * window->step];
    return sum;
}

/* The sum of the terms of a channel, in its unit; false if other windows have a part in it. */
static bool main_sum(const struct tables *tables, size_t s, unsigned channel, uint64_t result, rd_i128 *value) {
    pair sum = {0};
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct windows *windows = &tables->column[copy * tables->many->states + s].sums[channel];
        for (unsigned w = 1; w < windows->count; w++) {
            const pair further = window_sum(tables, &windows->window[w], result);
            if (further[0] | further[1])
                return false;
        }
        if (windows->count)
            sum += window_sum(tables, &windows->window[0], result);
    }
    *value = value_of(&sum, bits_of(tables, &tables->plan[s]));
    return true;
}

static void all_sums(const struct tables *tables, size_t s, unsigned channel, uint64_t result, struct rd_sum *to) {
    const int bits = bits_of(tables, &tables->plan[s]);
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct windows *windows = &tables->column[copy * tables->many->states + s].sums[channel];
        for (unsigned w = 0; w < windows->count; w++) {
            pair sum = window_sum(tables, &windows->window[w], result);
            if (sum[0] | sum[1])
                rd_sum_add(to, value_of(&sum, bits), windows->window[w].unit);
        }
    }
}

/* What threads have of a result's elements, beside their values. */
struct noted {
    uint64_t count, ignored, nan_row;
    unsigned odd;
};

static struct noted noted_of(const struct tables *tables, size_t s, uint64_t result) {
    const struct column_plan *plan = &tables->plan[s];
    struct noted noted = {.nan_row = UINT64_MAX};
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct column *column = &tables->column[copy * tables->many->states + s];
        for (unsigned turn = 0; plan->counts && column->cells && turn < tables->turns; turn++)
            noted.count += (uint64_t)column->cells[(turn * tables->results + result) * plan->step + plan->channels][0];
        noted.ignored += column->ignored ? column->ignored[result] : 0;
        noted.odd |= column->odd ? column->odd[result] : 0;
        if (column->nan_row && column->nan_row[result] < noted.nan_row)
            noted.nan_row = column->nan_row[result];
    }
    return noted;
}

static void fill_sums(const struct tables *tables, size_t s, uint64_t result, struct noted noted,
                      struct rd_partial *state) {
    const struct column_plan *plan = &tables->plan[s];
    if (!plan->counts) { /* then it only matters whether all terms are -0 */
        state->seen = 1;
        state->ignored = 0;
    }
    state->nans = noted.odd & IS_NAN ? 1 : 0;
    state->plus_infinities = noted.odd & IS_PLUS ? 1 : 0;
    state->minus_infinities = noted.odd & IS_MINUS ? 1 : 0;
    state->nonzero = !plan->settled || plan->settled[result] != HAS_ELEMENTS;
    for (unsigned c = 0; c < plan->channels; c++)
        all_sums(tables, s, c, result, plan->channel[c].squares ? &state->squares : &state->sum);
}

/* The greatest keys that threads have of a result, and the row of the first that is that great, where it is wanted. */
struct greatest {
    int64_t key[2];
    uint64_t row;
};

static struct greatest greatest_of(const struct tables *tables, size_t s, uint64_t result) {
    struct greatest all = {{NO_KEY, NO_KEY}, UINT64_MAX};
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct column *column = &tables->column[copy * tables->many->states + s];
        for (int which = 0; which < 2; which++) {
            if (!column->key[which])
                continue;
            const int64_t key = column->key[which][result];
            if (column->key_row && column->key_row[result] != UINT64_MAX &&
                (key > all.key[which] || (key == all.key[which] && column->key_row[result] < all.row) ||
                 all.row == UINT64_MAX))
                all.row = column->key_row[result];
            all.key[which] = key > all.key[which] ? key : all.key[which];
        }
    }
    return all;
}

/* Whether there is any, and its bits. */
static bool best_of(const struct column_plan *plan, const struct greatest *all, uint64_t result, uint64_t *bits) {
    const int only = plan->wants[0] ? 0 : 1;
    *bits = from_key(plan->order[only], all->key[only]);
    return all->key[only] != NO_KEY || all->row != UINT64_MAX || (plan->settled && plan->settled[result]);
}

static void fill_keys(const struct tables *tables, size_t s, uint64_t result, struct rd_partial *state) {
    const struct column_plan *plan = &tables->plan[s];
    const struct greatest all = greatest_of(tables, s, result);
    uint64_t bits;
    state->found = best_of(plan, &all, result, &bits);
    state->seen = state->found || state->nan_index != UINT64_MAX;
    state->ignored = 0;
    if (!state->found)
        return;
    state->extreme = bits;
    if (plan->wants[0] && plan->wants[1])
        state->greatest = from_key(plan->order[1], all.key[1]);
    state->index = all.row;
}

static void fill_words(const struct tables *tables, size_t s, uint64_t result, struct rd_partial *state) {
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct column *column = &tables->column[copy * tables->many->states + s];
        if (column->word && rd_operator(state->reduction.op)->combine == RD_ADD)
            state->counted += column->word[result];
        else if (column->word)
            rd_partial_take_bits(state, column->word[result]);
    }
}

/* The states of a result. */
static void fill(const void *context, uint64_t result, struct rd_partial *states) {
    const struct tables *tables = context;
    for (size_t s = 0; s < tables->many->states; s++) {
        struct rd_partial *state = &states[s];
        const struct noted noted = noted_of(tables, s, result);
        rd_partial_init(state, tables->plan[s].reduction);
        state->seen = noted.count;
        state->ignored = noted.ignored;
        state->nan_index = noted.nan_row == UINT64_MAX ? UINT64_MAX : noted.nan_row ? noted.nan_row - 1 : RD_NO_PLACE;
        switch (tables->plan[s].kind) {
        case SUMS:
            fill_sums(tables, s, result, noted, state);
            break;
        case WORDS:
            state->seen = 1;
            state->ignored = 0;
            fill_words(tables, s, result, state);
            break;
        case KEYS:
            fill_keys(tables, s, result, state);
            break;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results without states
 * ------------------------------------------------------------------------------------------------------------------ */

/* How results are made without states, or not. */
enum way { FROM_STATES, FROM_SUMS, FROM_INTEGERS, FROM_KEYS, FROM_WORDS };

/* What is known of the results of a reduction before any is looked at. */
struct answering {
    const struct tables *tables;
    const struct column_plan *plan;
    const reduct_reduction *reduction;
    size_t s; /* state */
    enum way way;
    enum rd_transform transform;
    enum rd_finish finish;
    size_t bytes; /* of a result */
    bool noted;   /* something was noted of some elements */
    int bits;     /* of slices */
};

/* What sums of RD_SIDE results are made of: see rd_side_finish. */
struct lanes {
    struct rd_side terms, products, errors;
    _Alignas(64) double count[RD_SIDE], freedom[RD_SIDE];
    _Alignas(64) unsigned char rounded[RD_SIDE * sizeof(double)];
};

/* Whether greatest keys are results as they are, or their rows; whether words are. */
static bool keys_answer(const reduct_reduction *reduction) {
    const enum rd_finish finish = rd_operator(reduction->op)->finish;
    if (finish == RD_INDEX)
        return rd_type(reduction->result)->bytes == sizeof(uint64_t);
    return finish == RD_VALUE && reduction->result == reduction->element;
}

static bool words_answer(const reduct_reduction *reduction) {
    return rd_operator(reduction->op)->combine == RD_ADD && rd_type(reduction->result)->bytes == sizeof(uint64_t);
}

static enum way way_of(const struct column_plan *plan, const reduct_reduction *reduction) {
    const reduct_type result = reduction->result;
    switch (plan->kind) {
    case KEYS:
        return keys_answer(reduction) ? FROM_KEYS : FROM_STATES;
    case WORDS:
        return words_answer(reduction) ? FROM_WORDS : FROM_STATES;
    case SUMS:
        break;
    }
    return result == REDUCT_F64 || result == REDUCT_F32   ? FROM_SUMS
           : result == REDUCT_I64 || result == REDUCT_U64 ? FROM_INTEGERS
                                                          : FROM_STATES;
}

static struct answering begin_answering(const struct tables *tables, size_t which) {
    const struct rd_many *many = tables->many;
    const reduct_reduction *reduction = &many->reduction[which];
    const size_t s = many->state_of[which];
    struct answering answering = {.tables = tables,
                                  .plan = &tables->plan[s],
                                  .reduction = reduction,
                                  .s = s,
                                  .way = way_of(&tables->plan[s], reduction),
                                  .transform = rd_operator(reduction->op)->transform,
                                  .finish = rd_operator(reduction->op)->finish,
                                  .bytes = rd_type(reduction->result)->bytes,
                                  .bits = bits_of(tables, &tables->plan[s])};
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct column *column = &tables->column[copy * many->states + s];
        answering.noted |= column->odd || column->ignored || column->nan_row;
    }
    return answering;
}

/* Both halves of the sums of `count` results, which are added to what is there, unless these are the first. */
static void take_halves(const pair *sums, size_t step, size_t count, bool first, int64_t *restrict high,
                        int64_t *restrict low) {
    const int64_t *half = (const int64_t *)sums;
    if (first && step == 1 && count == RD_SIDE) { /* as a rule: in vectors */
        for (size_t l = 0; l < RD_SIDE; l++) {
            high[l] = half[2 * l];
            low[l] = half[2 * l + 1];
        }
        return;
    }
    for (size_t l = 0; first && l < RD_SIDE; l++)
        high[l] = low[l] = 0;
    for (size_t l = 0; l < count; l++, half += 2 * step) {
        high[l] += half[0];
        low[l] += half[1];
    }
}

/* Sums of a channel of `count` results; lost where other windows have a part in them. */
static void hold_channel(const struct answering *answering, unsigned channel, uint64_t first, size_t count,
                         struct rd_side *side) {
    const struct tables *tables = answering->tables;
    _Alignas(64) int64_t high[RD_SIDE], low[RD_SIDE];
    int64_t further[RD_SIDE];
    bool is_first = true, has_further = false;
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct windows *windows = &tables->column[copy * tables->many->states + answering->s].sums[channel];
        for (unsigned turn = 0; windows->count && windows->window[0].table && turn < tables->turns; turn++) {
            const size_t step = windows->window[0].step;
            take_halves(windows->window[0].table + (turn * tables->results + first) * step, step, count, is_first, high,
                        low);
            is_first = false;
        }
        for (unsigned w = 1; w < windows->count; w++) {
            const pair *sum = sum_in(&windows->window[w], first);
            if (sum && !has_further)
                memset(further, 0, sizeof further);
            has_further |= sum != NULL;
            for (size_t l = 0; sum && l < count; l++)
                further[l] |= sum[l][0] | sum[l][1];
        }
    }
    if (is_first)
        take_halves(NULL, 0, 0, true, high, low);
    tables->kernels->hold_side(high, low, answering->bits, ldexp(1, answering->plan->channel[channel].unit), side);
    for (size_t l = 0; has_further && l < RD_SIDE; l++)
        side->lost[l] |= further[l];
}

/* How many elements each result has. */
static void count_lanes(const struct answering *answering, uint64_t first, size_t count, uint64_t *counted) {
    const struct tables *tables = answering->tables;
    const size_t step = answering->plan->step;
    memset(counted, 0, RD_SIDE * sizeof *counted);
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const pair *cells = tables->column[copy * tables->many->states + answering->s].cells;
        for (unsigned turn = 0; cells && turn < tables->turns; turn++) {
            const pair *cell = cells + (turn * tables->results + first) * step + answering->plan->channels;
            for (size_t l = 0; l < count; l++, cell += step)
                counted[l] += (uint64_t)(*cell)[0];
        }
    }
}

/* Elements that count, and what of them the results are divided by. Results without states need so many, and none of which something
 * else was noted. */
static void hold_counts(const struct answering *answering, uint64_t first, size_t count, struct lanes *lanes,
                        int64_t *lost) {
    const bool moments = answering->transform == RD_MOMENTS,
               population = answering->reduction->flags & REDUCT_POPULATION;
    const uint64_t least = rd_minimum(answering->reduction), most = (uint64_t)1 << (moments ? 26 : 53);
    uint64_t counted[RD_SIDE];
    if (answering->plan->counts)
        count_lanes(answering, first, count, counted);
    for (size_t l = 0; answering->noted && l < count; l++) {
        const struct noted noted = noted_of(answering->tables, answering->s, first + l);
        counted[l] = noted.count - noted.ignored;
        lost[l] |= noted.odd || noted.nan_row != UINT64_MAX;
    }
    for (size_t l = 0; l < RD_SIDE; l++)
        lanes->count[l] = lanes->freedom[l] = 1;
    for (size_t l = 0; answering->plan->counts && l < count; l++) {
        const bool usual = counted[l] >= least && counted[l] && counted[l] < most;
        lost[l] |= counted[l] < least || counted[l] >= most;
        lanes->count[l] = usual ? (double)counted[l] : 1;
        lanes->freedom[l] = usual ? (double)(moments && !population ? counted[l] - 1 : counted[l]) : 1;
    }
}

/* Of sums of zero, which are +0 unless all terms are -0, only these are left. */
static void sign_zeros(const struct answering *answering, uint64_t first, size_t count, const struct rd_side *sum,
                       const struct rd_side *errors, int64_t *left) {
    const unsigned char *settled = answering->plan->settled;
    for (size_t l = 0; l < count; l++)
        if (sum->high[l] == 0 && sum->low[l] == 0 && errors->high[l] == 0 && errors->low[l] == 0)
            left[l] = sum->lost[l] || errors->lost[l] || (settled && settled[first + l] == HAS_ELEMENTS);
}

static bool answer_sums(const struct answering *answering, uint64_t first, size_t count, unsigned char *place,
                        int64_t *left) {
    const struct column_plan *plan = answering->plan;
    const struct rd_kernels *kernels = answering->tables->kernels;
    const bool moments = answering->transform == RD_MOMENTS, single = answering->reduction->result == REDUCT_F32;
    const unsigned products = moments ? 1 : 0;
    const bool errors = plan->channel[products].part == ROUNDED, mean = answering->finish == RD_MEAN;
    static const struct rd_side nothing = {.lost = {0}};
    struct lanes lanes;
    _Alignas(64) int64_t lost[RD_SIDE];
    if (moments)
        hold_channel(answering, 0, first, count, &lanes.terms);
    hold_channel(answering, products, first, count, &lanes.products);
    if (errors)
        hold_channel(answering, products + 1, first, count, &lanes.errors);
    const bool counted = plan->counts || answering->noted, rounds = !errors && (answering->finish == RD_VALUE || mean);
    bool all;
    if (counted || !rounds)
        hold_counts(answering, first, count, &lanes, lanes.products.lost);
    if (rounds) {
        all = kernels->round_side(&lanes.products, mean ? lanes.count : NULL, single, lanes.rounded, lost);
    } else {
        const struct rd_side_finish how = {.terms = moments ? &lanes.terms : &nothing,
                                           .products = &lanes.products,
                                           .errors = errors ? &lanes.errors : &nothing,
                                           .finish = answering->finish,
                                           .signs = answering->transform == RD_TIMES,
                                           .count = lanes.count,
                                           .freedom = lanes.freedom};
        all = kernels->finish_side(&how, single, lanes.rounded, lost);
    }
    const bool signs = answering->transform == RD_IDENTITY || answering->transform == RD_TIMES;
    if (signs && (!all || plan->settled)) {
        sign_zeros(answering, first, count, &lanes.products, errors ? &lanes.errors : &nothing, lost);
        all = false;
    }
    memcpy(place, lanes.rounded, count * answering->bytes);
    if (!all)
        memcpy(left, lost, count * sizeof *left);
    return all;
}

static bool answer_integer(const struct answering *answering, uint64_t result, unsigned char *place) {
    rd_i128 value;
    if (!main_sum(answering->tables, answering->s, 0, result, &value))
        return false;
    const bool fits_type =
        answering->reduction->result == REDUCT_I64 ? value == (int64_t)value : value == (rd_i128)(uint64_t)value;
    if (fits_type)
        rd_store(place, (uint64_t)value, sizeof(uint64_t));
    return fits_type;
}

static bool answer_key(const struct answering *answering, uint64_t result, unsigned char *place) {
    const struct column_plan *plan = answering->plan;
    const struct greatest all = greatest_of(answering->tables, answering->s, result);
    const int bytes = (int)answering->bytes;
    uint64_t bits;
    if ((answering->noted && noted_of(answering->tables, answering->s, result).nan_row != UINT64_MAX) ||
        !best_of(plan, &all, result, &bits))
        return false;
    rd_store(place, answering->finish == RD_INDEX ? all.row : bits, bytes);
    if (plan->wants[0] && plan->wants[1])
        rd_store(place + bytes, from_key(plan->order[1], all.key[1]), bytes);
    return true;
}

static bool answer_word(const struct answering *answering, uint64_t result, unsigned char *place) {
    const struct tables *tables = answering->tables;
    uint64_t counted = 0;
    if (answering->noted && noted_of(tables, answering->s, result).nan_row != UINT64_MAX)
        return false;
    for (unsigned copy = 0; copy < tables->copies; copy++) {
        const struct column *column = &tables->column[copy * tables->many->states + answering->s];
        counted += column->word ? column->word[result] : 0;
    }
    rd_store(place, counted, sizeof counted);
    return true;
}

/* What a reduction writes for each result. */
static size_t result_bytes(const struct answering *answering) {
    return answering->bytes * rd_outputs(rd_operator(answering->reduction->op));
}

#define ANSWER_EACH(one)                                                                                               \
    for (size_t i = 0; i < count; i++, place += bytes) {                                                               \
        left[i] = !one(answering, first + i, place);                                                                   \
        any |= left[i];                                                                                                \
    }                                                                                                                  \
    break

static bool answer(const void *context, size_t which, uint64_t first, size_t count, unsigned char *place,
                   int64_t *left) {
    const struct answering *answering = &((const struct tables *)context)->answering[which];
    const size_t bytes = result_bytes(answering);
    int64_t any = 0;
    switch (answering->way) {
    case FROM_STATES:
        memset(left, 0xff, count * sizeof *left);
        return false;
    case FROM_SUMS:
        return answer_sums(answering, first, count, place, left);
    case FROM_INTEGERS:
        ANSWER_EACH(answer_integer);
    case FROM_KEYS:
        ANSWER_EACH(answer_key);
    case FROM_WORDS:
        ANSWER_EACH(answer_word);
    }
    return !any;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What must be looked at once more
 * ------------------------------------------------------------------------------------------------------------------ */

/* A product that is too small for a double has its sign: a positive one is none of -0, and a sum with negative ones alone is less
 * than zero, whatever is said of it here. */
static void settle_block(struct tables *tables, void *context, const struct rd_group_block *block) {
    const struct column_plan *plan = context;
    const reduct_reduction *reduction = plan->reduction;
    (void)tables;
    for (size_t i = 0; i < block->count; i++) {
        unsigned char *settled = &plan->settled[rd_group_result(block, i)];
        double term = plan->kind == SUMS ? term_at(block, i, reduction->element, plan->channel[0].transform) : 0;
        if (isnan(term) && reduction->nan == REDUCT_NAN_IGNORE)
            continue;
        *settled |= HAS_ELEMENTS | (term != 0 || !signbit(term) ? HAS_OTHERS : 0);
    }
}

/* Whether results of a state depend on more than the tables have: sums of zero where there are -0, and greatest elements that may
 * be no elements. */
static bool is_unsettled(const struct tables *tables, size_t s) {
    const struct column_plan *plan = &tables->plan[s];
    const struct rd_type *type = rd_type(plan->reduction->element);
    bool minus_zeros = false, open = false;
    for (unsigned copy = 0; copy < tables->copies; copy++)
        minus_zeros |= tables->column[copy * tables->many->states + s].minus_zeros;
    if (plan->kind == SUMS && minus_zeros)
        for (uint64_t r = 0; r < tables->results && !open; r++) {
            rd_i128 value;
            open = !main_sum(tables, s, 0, r, &value) || !value;
        }
    if (plan->kind == KEYS && type->kind != RD_FLOAT && type->bytes == 8 &&
        rd_operator(plan->reduction->op)->finish != RD_INDEX)
        for (uint64_t r = 0; r < tables->results && !open; r++) {
            const struct greatest all = greatest_of(tables, s, r);
            uint64_t bits;
            open = !best_of(plan, &all, r, &bits);
        }
    return open;
}

/* Goes through all elements again, where that is needed. */
static void settle(struct tables *tables, size_t s) {
    struct column_plan *plan = &tables->plan[s];
    if (!is_unsettled(tables, s))
        return;
    struct room *room = new_room(tables);
    plan->settled = new_table(tables, tables->results, 1, 0);
    if (room && plan->settled) {
        rd_environment caller = rd_environment_enter();
        if (tables->execution->initial)
            read_initial(tables, &room->reader, 0, tables->results, settle_block, plan);
        for (uint64_t at = 0; at < tables->elements && !stops(tables); at += UNIT)
            read_range(tables, &room->reader, at, tables->elements - at < UNIT ? tables->elements : at + UNIT,
                       settle_block, plan);
        rd_environment_leave(caller);
    }
    free(room);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Plans
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sums of squares and products only of floats, and of integers where these are exact in 64 bits. */
static bool has_channels(const reduct_reduction *reduction) {
    const struct rd_type *type = rd_type(reduction->element);
    switch (rd_operator(reduction->op)->transform) {
    case RD_IDENTITY:
    case RD_ABSOLUTE:
        return true;
    case RD_SQUARE:
    case RD_TIMES:
    case RD_MOMENTS:
        return type->bytes <= 4 || type->kind == RD_FLOAT;
    case RD_PRESENT:
    case RD_NONZERO:
    case RD_WEIGHTED:
        break;
    }
    return false;
}

static bool suits(const reduct_reduction *reduction) {
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
    case RD_INTEGER_SUM:
        return has_channels(reduction);
    case RD_EXTREME:
    case RD_COUNT:
    case RD_BITS:
        return true;
    case RD_FAST_SUM:
    case RD_FLOAT_PRODUCT:
    case RD_INTEGER_PRODUCT:
        break;
    }
    return false;
}

bool rd_group_tables_suit(const struct rd_many *many) {
    bool all = many->layout.results < UINT32_MAX && many->groups.elements <= MOST_ELEMENTS;
    for (size_t s = 0; s < many->states; s++)
        all = all && suits(&many->state[s].reduction);
    return all;
}

/* An exponent that terms of the sample stay below, in absolute value: 2^exponent. */
static int sample_exponent(const struct tables *tables, const struct column_plan *plan, enum rd_transform transform) {
    const uint64_t stretches = SAMPLED / SAMPLE_STRETCH, elements = tables->elements;
    const uint64_t step = elements / stretches > SAMPLE_STRETCH ? elements / stretches : SAMPLE_STRETCH;
    struct rd_group_block block = {.input = {tables->execution->input[0], tables->execution->input[1]}};
    double largest = 0;
    for (uint64_t at = 0; at < elements; at += step)
        for (uint64_t i = at; i < at + SAMPLE_STRETCH && i < elements; i++) {
            double term = fabs(term_at(&block, i, plan->reduction->element, transform));
            largest = isfinite(term) && term > largest ? term : largest;
        }
    int exponent = 0;
    frexp(largest, &exponent);
    return largest > 0 ? exponent : 0;
}

/* The window of a channel: two bits above the largest term of the sample, in case others are larger, within what doubles can
 * do. */
static void choose_window(const struct tables *tables, const struct column_plan *plan, struct channel *channel) {
    const int bits = tables->bits, most = 1022 - 52 - bits;
    if (rd_type(plan->reduction->element)->kind != RD_FLOAT)
        return;
    int unit = sample_exponent(tables, plan, channel->transform) + 2 - 2 * bits - (channel->part == REST ? 53 : 0);
    unit = unit < -1074 ? -1074 : unit > most ? most : unit;
    channel->unit = unit;
    channel->slices.magic[0] = ldexp(1.5, 52 + unit + bits);
    channel->slices.magic[1] = ldexp(1.5, 52 + unit);
    channel->slices.limit = ldexp(1, unit + 2 * bits);
}

static void add_channels(struct column_plan *plan, enum rd_transform transform, bool squares) {
    const bool two = plan->reduction->element == REDUCT_F64 && (transform == RD_SQUARE || transform == RD_TIMES);
    struct channel channel = {.transform = transform, .part = two ? ROUNDED : WHOLE, .squares = squares};
    plan->channel[plan->channels++] = channel;
    channel.part = REST;
    if (two)
        plan->channel[plan->channels++] = channel;
}

static void make_plan(const struct tables *tables, size_t s) {
    struct column_plan *plan = &tables->plan[s];
    const struct rd_many *many = tables->many;
    *plan = (struct column_plan){.reduction = &many->state[s].reduction};
    const enum rd_family family = rd_family(plan->reduction);
    const enum rd_transform transform = rd_operator(plan->reduction->op)->transform;
    plan->kind = family == RD_EXTREME ? KEYS : family == RD_COUNT || family == RD_BITS ? WORDS : SUMS;
    for (int which = 0; plan->kind == KEYS && which < 2; which++) {
        plan->wants[which] = wants(plan->reduction, which);
        plan->order[which] = order_of(plan->reduction, which == 0);
    }
    if (plan->kind != SUMS)
        return;
    if (transform == RD_MOMENTS)
        add_channels(plan, RD_IDENTITY, false);
    add_channels(plan, transform == RD_MOMENTS ? RD_SQUARE : transform, transform == RD_MOMENTS);
    for (unsigned c = 0; c < plan->channels; c++)
        choose_window(tables, plan, &plan->channel[c]);
    for (size_t i = 0; i < many->reductions; i++)
        plan->counts |= many->state_of[i] == s && rd_operator(many->reduction[i].op)->finish != RD_VALUE &&
                        rd_operator(many->reduction[i].op)->finish != RD_ROOT;
    plan->step = plan->channels + plan->counts;
}

/* Threads that pay, if there are no more than `most`. */
static unsigned threads_for(const struct tables *tables, uint64_t most) {
    const struct rd_many *many = tables->many;
    const uint64_t units = rd_divide_up(tables->elements, UNIT), pieces = most < units ? most : units;
    return rd_team_threads(&many->state[0].crew, pieces ? pieces : 1,
                           tables->elements * tables->bytes * many->inputs +
                               many->groups.elements * rd_type(many->groups.index)->bytes);
}

static uint64_t table_bytes(const struct tables *tables) {
    return bytes_per_result(tables) * tables->results;
}

/* How many of them may have tables of their own. */
static uint64_t most_of_own(const struct tables *tables) {
    const uint64_t by_memory = TABLES_BYTES / (table_bytes(tables) + 1),
                   by_work = ENTRIES_PER_ELEMENT * tables->elements / tables->results;
    return by_memory < by_work ? by_memory : by_work;
}

/* Whether threads share tables, because few may have their own; and how many work. An element takes a thread about twice as long where it is
 * moved first. */
static bool is_shared(const struct tables *tables, unsigned own, unsigned *threads) {
    *threads = own;
    if (tables->turns != 1 || tables->elements < rd_group_sharing.elements)
        return false;
    const unsigned all = threads_for(tables, UINT64_MAX);
    if (all <= 1 || all <= rd_group_sharing.times * own)
        return false;
    *threads = all;
    return true;
}

/* Results of a bucket, as a power of two. */
static unsigned choose_bucket(const struct tables *tables) {
    unsigned log2 = 0;
    while (bytes_per_result(tables) << (log2 + 1) <= rd_group_sharing.bucket_bytes ||
           (tables->results - 1) >> log2 >= RD_GROUP_BUCKETS_MOST)
        log2++;
    return log2;
}

/* `own`: how many threads may have tables of their own. */
static reduct_status reduce(struct tables *tables, unsigned own, bool shares, reduct_error *error) {
    const struct rd_many *many = tables->many;
    if (!shares || !share_tables(tables, choose_bucket(tables))) {
        atomic_store(&tables->lacks_memory, false);
        tables->copies = own;
        rd_team_run(&many->state[0].crew, tables->copies, add_units, tables);
    }
    const uint64_t outside = atomic_load(&tables->outside);
    if (outside != UINT64_MAX && !many->groups.skip)
        return rd_group_refuse(many, tables->execution, outside, error);
    for (size_t s = 0; s < many->states && !atomic_load(&tables->lacks_memory) && !stops(tables); s++)
        settle(tables, s);
    if (atomic_load(&tables->lacks_memory))
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %llu results could not be allocated",
                       (unsigned long long)tables->results);
    tables->answering = malloc(many->reductions * sizeof *tables->answering);
    if (!tables->answering)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %zu reductions could not be allocated",
                       many->reductions);
    for (size_t i = 0; i < many->reductions; i++)
        tables->answering[i] = begin_answering(tables, i);
    const struct rd_results results = {fill, answer, tables};
    reduct_status status = rd_cpu_write_results(many, tables->execution, &results, error);
    free(tables->answering);
    return status;
}

reduct_status rd_group_tables_execute(const struct rd_many *many, const struct rd_execution *execution,
                                      reduct_error *error) {
    struct tables tables = {.many = many,
                            .execution = execution,
                            .kernels = many->state[0].device.private,
                            .results = many->layout.results,
                            .elements = many->groups.elements * many->groups.width,
                            .bytes = rd_type(many->reduction[0].element)->bytes};
    const int terms = 64 - __builtin_clzll(many->groups.elements + 1); /* below 2^terms, an initial value included */
    tables.bits = terms < 12 ? 50 : 62 - terms;
    tables.turns = tables.results <= TURNS_RESULTS ? TURNS : 1;
    tables.plan = malloc(many->states * sizeof *tables.plan);
    if (!tables.plan)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %zu reductions could not be allocated",
                       many->reductions);
    rd_environment caller = rd_environment_enter();
    for (size_t s = 0; s < many->states; s++)
        make_plan(&tables, s);
    rd_environment_leave(caller);
    tables.spread = tables.results;
    const unsigned own = threads_for(&tables, most_of_own(&tables));
    unsigned threads;
    const bool shares = is_shared(&tables, own, &threads);
    tables.copies = threads;
    const size_t bytes = threads * many->states * sizeof *tables.column;
    tables.column = malloc(bytes);
    atomic_init(&tables.next_copy, 0);
    atomic_init(&tables.next_unit, 0);
    atomic_init(&tables.lacks_memory, false);
    atomic_init(&tables.outside, UINT64_MAX);
    reduct_status status;
    if (tables.column) {
        memset(tables.column, 0, bytes);
        status = reduce(&tables, own, shares, error);
    } else {
        status =
            rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %u threads could not be allocated", threads);
    }
    for (size_t i = 0; tables.column && i < threads * many->states; i++)
        free_column(&tables.column[i], tables.results);
    for (size_t s = 0; s < many->states; s++)
        free(tables.plan[s].settled);
    free(tables.column);
    free(tables.plan);
    return status;
}
