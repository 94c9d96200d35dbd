/* Part of template.h: sums side by side as in side.h, but on trust that a window holds all terms. Flags prove it; where they do not,
 * nothing has been added. A term takes one addition in one slice and four or five operations in two, where side.h takes twelve. A set
 * that has this defines HAS_TRIALS and, besides template.h's parameters:
 *
 *   TRIAL_VECTORS                columns are summed in so many vectors at a time, whose slices stay in registers
 *   TRIAL_READ_AHEAD(at)         asks for a line of the cache that is wanted later
 *   trial_open(e, c)             prepares two slices for terms below 2^(e + 1); false if exponents do not reach that far
 *   trial_split(S, T, v, factor) adds v to two slices; whatever is not exact raises a flag
 *   trial_turn(v)                lane k is the sum of the lanes of v[k]
 *   load_brief(x, i, n, element) a vector of elements from number i on, filled up with zeros
 *   trial_square(v, error)       optional, with HAS_TRIAL_SQUARE: v * v is the result and the error; raises a flag unless that is exact
 */

/* Rows of columns that are read at a time: as many streams of memory as processors follow, each of as much as all groups have of a
 * row, of which so many bytes are asked for ahead. Of columns that are too few for that, as many rows as stay in the first-level cache. */
enum { TRIAL_ROWS = 8, TRIAL_AHEAD = 1024, TAIL_ROWS = 64, TRIAL_LANES = VECTOR_BYTES / 8, TRIAL_WAYS = 4 };

_Static_assert(RD_SIDE % (TRIAL_VECTORS * TRIAL_LANES) == 0, "vectors make up a row");

/* A running sum in one or two slices. */
struct trial {
    doubles high, low;
};

struct trial_constants {
    doubles start, factor, back;
};

/* How terms are formed and added: constants, so that every variant is compiled by itself. */
struct trial_way {
    int slices;
    bool single, square;
};

ALWAYS_INLINE reduct_type trial_element(struct trial_way way) {
    return way.single ? REDUCT_F32 : REDUCT_F64;
}

ALWAYS_INLINE struct trial_constants trial_spread(const struct trial_slices *c) {
    return (struct trial_constants){(doubles){0} + c->start, (doubles){0} + c->factor, (doubles){0} + c->back};
}

ALWAYS_INLINE void trial_add(struct trial *sum, doubles term, const struct trial_constants *c, int slices) {
    if (slices == 1)
        sum->high += term;
    else
        trial_split(&sum->high, &sum->low, term, c->factor);
}

#ifdef HAS_TRIAL_SQUARE
enum { SQUARES_OF_DOUBLES = 1 };
#else
enum { SQUARES_OF_DOUBLES = 0 };
#define trial_square(v, error) (v)
#endif

/* How sums are opened and closed: those of terms, and those of what rounding leaves of squares of doubles. */
struct trial_frame {
    struct trial_constants terms, errors;
    words mask; /* of the bits of elements: all, or without the sign */
};

/* Adds elements, or their squares. */
ALWAYS_INLINE void trial_enter(struct trial *sum, struct trial *errors, doubles v, const struct trial_frame *frame,
                               struct trial_way way) {
    doubles error = {0};
    if (way.square && way.single)
        v *= v;
    else if (way.square)
        v = trial_square(v, &error);
    else
        v = (doubles)((words)v & frame->mask);
    trial_add(sum, v, &frame->terms, way.slices);
    if (way.square && !way.single)
        trial_add(errors, error, &frame->errors, way.slices);
}

/* Takes off what a sum started from. */
ALWAYS_INLINE void trial_close(struct trial *sum, const struct trial_constants *c) {
    sum->high = (sum->high - c->start) * c->back;
    sum->low *= c->back;
}

/* Squares are below 2^(2 e + 2), what rounding leaves of them a half in the last place of that. */
static bool trial_prepare(const struct rd_trial *trial, struct trial_frame *frame) {
    int e = trial->exponent;
    struct trial_slices terms = {0, 1, 1}, errors = terms;
    bool opened = trial->slices == 1;
    if (!opened && trial->square)
        opened = trial_open(2 * e + 1, &terms) &&
                 (trial->single || (SQUARES_OF_DOUBLES && trial_open(2 * e + 1 - 53, &errors)));
    else if (!opened)
        opened = trial_open(e, &terms);
    frame->terms = trial_spread(&terms);
    frame->errors = trial_spread(&errors);
    frame->mask = (words){0} + (trial->absolute ? UINT64_MAX >> 1 : UINT64_MAX);
    return opened;
}

/* Exceptions of what came before are forgotten; nothing moves across. */
static void trial_begin(void) {
    __asm__ volatile("" ::: "memory");
    flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT);
    __asm__ volatile("" ::: "memory");
}

/* Whether all that has been stored was formed exactly. */
static bool trial_was_exact(void) {
    __asm__ volatile("" ::: "memory");
    return flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT);
}

/* Adds sums that are exact to those in `side`, as elements are there: how far apart the last bits of all that was added are is of no
 * concern. Into fresh ones they are copied. Returns whether some totals are zero. */
ALWAYS_INLINE bool trial_take(struct rd_side *side, const struct rd_trial_sum *sum, bool fresh) {
    side_bits zeros = {0};
    for (size_t at = 0; at < RD_SIDE; at += SIDE_LANES) {
        side_vector high = *(side_vector *)(side->high + at), low = *(side_vector *)(side->low + at), error, rest;
        side_bits lost = *(side_bits *)(side->lost + at);
        const side_vector more_high = *(const side_vector *)(sum->high + at),
                          more_low = *(const side_vector *)(sum->low + at);
        if (fresh) {
            high = more_high;
            low = more_low;
            rest = SIDE_MINUS(high, high); /* NaN for what is not finite */
        } else {
            side_vector more;
            high = side_add(high, more_high, &error);
            low = side_add(low, error, &rest);
            lost |= (side_bits)rest;
            high = side_add(high, more_low, &more);
            low = side_add(low, more, &rest);
        }
        lost |= (side_bits)rest;
        *(side_vector *)(side->high + at) = high;
        *(side_vector *)(side->low + at) = low;
        *(side_bits *)(side->lost + at) = lost;
        zeros |= (high == 0) & (low == 0);
    }
    int64_t any = 0;
    for (size_t l = 0; l < SIDE_LANES; l++)
        any |= zeros[l];
    return any;
}

static bool trial_total(struct rd_side *side, const struct rd_trial_sum *sum, bool fresh) {
    return fresh ? trial_take(side, sum, true) : trial_take(side, sum, false);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------------------------------------------------ */

/* What lanes are, and whether they have to be opened or closed. */
struct trial_columns {
    const struct trial_frame *frame;
    const char *x;
    ptrdiff_t step, ahead; /* bytes; 0: nothing is asked for */
    size_t rows;
    bool first, last;
};

ALWAYS_INLINE void trial_load(struct trial *sum, const struct rd_trial_sum *from, size_t at, int slices) {
    memcpy(&sum->high, from->high + at, sizeof sum->high);
    if (slices > 1)
        memcpy(&sum->low, from->low + at, sizeof sum->low);
}

ALWAYS_INLINE void trial_keep(const struct trial *sum, struct rd_trial_sum *to, size_t at, int slices) {
    memcpy(to->high + at, &sum->high, sizeof sum->high);
    if (slices > 1)
        memcpy(to->low + at, &sum->low, sizeof sum->low);
}

/* Sums of a vector of columns, and of what rounding leaves: opened where these are the first rows, closed after the last ones. */
ALWAYS_INLINE void trial_pick_up(const struct trial_columns *part, const struct trial_frame *frame,
                                 const struct rd_trial_sum *sum, const struct rd_trial_sum *errors, size_t at,
                                 struct trial_way way, struct trial *s, struct trial *e) {
    *s = (struct trial){frame->terms.start, {0}};
    *e = (struct trial){frame->errors.start, {0}};
    if (!part->first)
        trial_load(s, sum, at, way.slices);
    if (!part->first && way.square && !way.single)
        trial_load(e, errors, at, way.slices);
}

ALWAYS_INLINE void trial_put_down(const struct trial_columns *part, const struct trial_frame *frame,
                                  struct rd_trial_sum *sum, struct rd_trial_sum *errors, size_t at,
                                  struct trial_way way, struct trial s, struct trial e) {
    if (part->last) {
        trial_close(&s, &frame->terms);
        trial_close(&e, &frame->errors);
    }
    trial_keep(&s, sum, at, part->last ? 2 : way.slices);
    if (way.square && !way.single)
        trial_keep(&e, errors, at, way.slices);
}

/* TRIAL_ROWS rows of one group, what lies in a line of the cache of all of them after the other: the rows are read side by side, as
 * memory likes it. */
ALWAYS_INLINE void trial_streams(const struct trial_columns *part, struct rd_trial_sum *sum,
                                 struct rd_trial_sum *errors, struct trial_way way) {
    enum { LINE = 64 };
    const struct trial_frame frame = *part->frame;
    const ptrdiff_t ahead = part->ahead, step = part->step;
    const size_t bytes = way.single ? 4 : 8, vectors = LINE / bytes / TRIAL_LANES;
    const char *x = part->x;
    for (size_t at = 0; at < RD_SIDE; at += vectors * TRIAL_LANES, x += LINE) {
        struct trial s[LINE / 4 / TRIAL_LANES], e[LINE / 4 / TRIAL_LANES];
#pragma GCC unroll 8
        for (size_t j = 0; j < vectors; j++)
            trial_pick_up(part, &frame, sum, errors, at + j * TRIAL_LANES, way, &s[j], &e[j]);
        if (ahead)
#pragma GCC unroll 8
            for (ptrdiff_t row = 0; row < TRIAL_ROWS; row++)
                TRIAL_READ_AHEAD(x + row * step + ahead);
#pragma GCC unroll 8
        for (ptrdiff_t row = 0; row < TRIAL_ROWS; row++)
#pragma GCC unroll 8
            for (size_t j = 0; j < vectors; j++)
                trial_enter(&s[j], &e[j], load_terms(x + row * step, j * TRIAL_LANES, trial_element(way), false),
                            &frame, way);
#pragma GCC unroll 8
        for (size_t j = 0; j < vectors; j++)
            trial_put_down(part, &frame, sum, errors, at + j * TRIAL_LANES, way, s[j], e[j]);
    }
}

/* How many vectors of columns there are registers for. */
ALWAYS_INLINE size_t trial_at_once(struct trial_way way) {
    return way.square && !way.single ? TRIAL_VECTORS / 2 : TRIAL_VECTORS;
}

/* Some rows of so many vectors, whose sums stay in registers. Of a vector alone only the first `lanes` are there, unless that is 0. */
ALWAYS_INLINE void trial_vectors(const struct trial_columns *part, struct rd_trial_sum *sum,
                                 struct rd_trial_sum *errors, struct trial_way way, size_t at, size_t vectors,
                                 size_t lanes) {
    const struct trial_frame frame = *part->frame;
    const size_t bytes = way.single ? 4 : 8;
    struct trial s[TRIAL_VECTORS], e[TRIAL_VECTORS]; /* in registers, as all loops over them are unrolled */
    const char *x = part->x + at * bytes;
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++)
        trial_pick_up(part, &frame, sum, errors, at + j * TRIAL_LANES, way, &s[j], &e[j]);
    for (size_t row = 0; row < part->rows; row++, x += part->step)
#pragma GCC unroll 8
        for (size_t j = 0; j < vectors; j++)
            trial_enter(&s[j], &e[j],
                        lanes ? (doubles)load_brief(x, 0, lanes, trial_element(way))
                              : load_terms(x, j * TRIAL_LANES, trial_element(way), false),
                        &frame, way);
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++)
        trial_put_down(part, &frame, sum, errors, at + j * TRIAL_LANES, way, s[j], e[j]);
}

/* The same of as many columns as make up whole sets of so many vectors; returns where the others begin. */
ALWAYS_INLINE size_t trial_sets(const struct trial_columns *part, size_t columns, struct rd_trial_sum *sum,
                                struct rd_trial_sum *errors, struct trial_way way, size_t at, size_t vectors) {
    for (; vectors && columns - at >= vectors * TRIAL_LANES; at += vectors * TRIAL_LANES)
        trial_vectors(part, sum, errors, way, at, vectors, 0);
    return at;
}

/* Some rows of one group. */
ALWAYS_INLINE void trial_group(const struct trial_columns *part, struct rd_trial_sum *sum, struct rd_trial_sum *errors,
                               struct trial_way way) {
    (void)trial_sets(part, RD_SIDE, sum, errors, way, 0, trial_at_once(way));
}

/* The same of fewer than RD_SIDE columns. Lanes without a column hold zeros at the end. */
ALWAYS_INLINE void trial_tail(const struct trial_columns *part, size_t columns, struct rd_trial_sum *sum,
                              struct rd_trial_sum *errors, struct trial_way way) {
    const size_t most = trial_at_once(way);
    size_t at = trial_sets(part, columns, sum, errors, way, 0, most);
    at = trial_sets(part, columns, sum, errors, way, at, most / 2);
    at = trial_sets(part, columns, sum, errors, way, at, most / 4);
    at = trial_sets(part, columns, sum, errors, way, at, most / 8);
    if (at < columns) {
        trial_vectors(part, sum, errors, way, at, 1, columns - at);
        at += TRIAL_LANES;
    }
    for (; part->last && at < RD_SIDE; at += TRIAL_LANES) {
        const struct trial none = {{0}, {0}};
        trial_keep(&none, sum, at, 2);
        if (way.square && !way.single)
            trial_keep(&none, errors, at, 2);
    }
}

/* From a group to what is wanted later: further on in the same rows or, near their end, in those that follow; 0 where it does not pay to ask
 * for it (cpu/kernels/ahead.h). */
ALWAYS_INLINE ptrdiff_t trial_ahead(const struct trial_columns *part, size_t group, size_t groups,
                                    ptrdiff_t group_bytes) {
    const size_t further = (size_t)(TRIAL_AHEAD / group_bytes);
    if (!rd_asks_ahead())
        return 0;
    if (group + further < groups)
        return TRIAL_AHEAD;
    return groups < further || part->last ? 0 : part->step * TRIAL_ROWS - (ptrdiff_t)(groups - further) * group_bytes;
}

/* Some rows of all groups. */
ALWAYS_INLINE void trial_groups(const struct trial_columns *all, size_t columns, struct rd_trial_sum *sum,
                                struct rd_trial_sum *errors, struct trial_way way) {
    const size_t groups = (columns + RD_SIDE - 1) / RD_SIDE, group_bytes = RD_SIDE * (way.single ? 4 : 8);
    struct trial_columns part = *all;
    for (size_t g = 0; g < groups; g++, part.x += group_bytes) {
        part.ahead = trial_ahead(&part, g, groups, (ptrdiff_t)group_bytes);
        if (columns - g * RD_SIDE < RD_SIDE)
            trial_tail(&part, columns - g * RD_SIDE, &sum[g], &errors[g], way);
        else if (part.rows == TRIAL_ROWS)
            trial_streams(&part, &sum[g], &errors[g], way);
        else
            trial_group(&part, &sum[g], &errors[g], way);
    }
}

#define TRIAL_WAY(name, slices, single, square)                                                                        \
    static void trial_groups_##name(const struct trial_columns *part, size_t columns, struct rd_trial_sum *sum,        \
                                    struct rd_trial_sum *errors) {                                                     \
        trial_groups(part, columns, sum, errors, (struct trial_way){slices, single, square});                          \
    }
TRIAL_WAY(f64, 2, false, false)
TRIAL_WAY(f64_square, 2, false, true)
TRIAL_WAY(f32, 1, true, false)
TRIAL_WAY(f32_wide, 2, true, false)
TRIAL_WAY(f32_square, 2, true, true)
#undef TRIAL_WAY

static bool try_columns(struct rd_trial *trial, struct rd_side *side, struct rd_side *errors, size_t apart,
                        size_t columns, const void *x, ptrdiff_t step, size_t rows, struct rd_trial_sum *room) {
    struct trial_frame frame;
    if (!trial_prepare(trial, &frame))
        return false;
    const size_t bytes = trial->single ? 4 : 8, groups = (columns + RD_SIDE - 1) / RD_SIDE;
    struct trial_columns part = {.frame = &frame, .step = step * (ptrdiff_t)bytes, .first = true};
    void (*const add)(const struct trial_columns *, size_t, struct rd_trial_sum *, struct rd_trial_sum *) =
        trial->single   ? trial->square        ? trial_groups_f32_square
                          : trial->slices == 1 ? trial_groups_f32
                                               : trial_groups_f32_wide
        : trial->square ? trial_groups_f64_square
                        : trial_groups_f64;
    const size_t at_once = columns == RD_SIDE ? rows : groups == 1 ? TAIL_ROWS : TRIAL_ROWS;
    trial_begin();
    for (size_t row = 0; row < rows; row += at_once, part.first = false) {
        part.rows = rows - row < at_once ? rows - row : at_once;
        part.last = row + part.rows == rows;
        part.x = (const char *)x + (ptrdiff_t)row * part.step;
        add(&part, columns, room, room + groups);
    }
    if (!trial_was_exact())
        return false;
    for (size_t g = 0; g < groups; g++) {
        trial->zeros |= trial_total(&side[g * apart], &room[g], trial->fresh);
        if (errors)
            trial_total(&errors[g * apart], &room[groups + g], trial->fresh);
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Columns of few elements
 * ------------------------------------------------------------------------------------------------------------------ */

/* All of some columns, at most TRIAL_VECTORS vectors of them. A sum in one slice starts from -0, so that only terms that are all -0
 * leave that. `step`: bytes. */
ALWAYS_INLINE void brief_vectors(const char *x, ptrdiff_t step, size_t rows, size_t columns, size_t vectors,
                                 const struct trial_frame *frame, double *high, double *low, struct trial_way way) {
    struct trial s[TRIAL_VECTORS], unused;
    const bool whole = columns >= vectors * TRIAL_LANES;
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++)
        s[j] = (struct trial){way.slices == 1 ? -(doubles){0} : frame->terms.start, {0}};
    for (size_t row = 0; row < rows; row++, x += step)
#pragma GCC unroll 8
        for (size_t j = 0; j < vectors; j++)
            trial_enter(&s[j], &unused,
                        whole ? load_terms(x, j * TRIAL_LANES, trial_element(way), false)
                              : (doubles)load_brief(x, j * TRIAL_LANES, columns, trial_element(way)),
                        frame, way);
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++) {
        if (way.slices > 1) {
            trial_close(&s[j], &frame->terms);
            memcpy(low + j * TRIAL_LANES, &s[j].low, sizeof s[j].low);
        }
        memcpy(high + j * TRIAL_LANES, &s[j].high, sizeof s[j].high);
    }
}

#define BRIEF_WAY(name, slices, single)                                                                                \
    static void brief_columns_##name(const char *x, ptrdiff_t step, size_t rows, size_t columns,                       \
                                     const struct trial_frame *frame, double *high, double *low) {                     \
        const struct trial_way way = {slices, single, false};                                                          \
        const size_t bytes = (single) ? 4 : 8;                                                                         \
        size_t at = 0;                                                                                                 \
        for (; columns - at >= TRIAL_VECTORS * TRIAL_LANES; at += TRIAL_VECTORS * TRIAL_LANES)                         \
            brief_vectors(x + at * bytes, step, rows, columns - at, TRIAL_VECTORS, frame, high + at, low + at, way);   \
        for (; at < columns; at += TRIAL_LANES)                                                                        \
            brief_vectors(x + at * bytes, step, rows, columns - at, 1, frame, high + at, low + at, way);               \
    }
BRIEF_WAY(pair, 1, false)
BRIEF_WAY(f64, 2, false)
BRIEF_WAY(f32, 1, true)
BRIEF_WAY(f32_wide, 2, true)
#undef BRIEF_WAY

static bool brief_columns(const struct rd_trial *trial, const void *x, ptrdiff_t step, size_t rows, size_t columns,
                          double *high, double *low) {
    struct trial_frame frame;
    if (!trial_prepare(trial, &frame))
        return false;
    void (*const add)(const char *, ptrdiff_t, size_t, size_t, const struct trial_frame *, double *, double *) =
        trial->single        ? trial->slices == 1 ? brief_columns_f32 : brief_columns_f32_wide
        : trial->slices == 1 ? brief_columns_pair
                             : brief_columns_f64;
    trial_begin();
    add(x, step * (trial->single ? 4 : 8), rows, columns, &frame, high, low);
    return trial_was_exact() || (trial->slices == 1 && !trial->single);
}

ALWAYS_INLINE bool round_columns_as(const double *high, const double *low, size_t columns, double count, bool single,
                                    unsigned char *to) {
    const size_t bytes = single ? sizeof(float) : sizeof(double);
    side_bits left = {0};
    for (size_t at = 0; at < columns; at += SIDE_LANES) {
        side_vector h = *(const side_vector *)(high + at),
                    l = low ? *(const side_vector *)(low + at) : (side_vector){0};
        for (size_t k = columns - at; k < SIDE_LANES; k++)
            h[k] = 1; /* anything ordinary */
        if (low)      /* zeros lost their sign */
            left |= (h == 0) & (l == 0);
        if (count != 0)
            left |= divide_pairs(&h, &l, (side_vector){0} + count, single);
        if (columns - at >= SIDE_LANES) {
            left |= round_pairs(h, l, !low && count == 0, single, to + at * bytes);
        } else {
            unsigned char some[sizeof h];
            left |= round_pairs(h, l, !low && count == 0, single, some);
            memcpy(to + at * bytes, some, (columns - at) * bytes);
        }
    }
    return !has_any(left);
}

static bool round_columns(const double *high, const double *low, size_t columns, double count, bool single, void *to) {
#define ROUND_AS(count, single)                                                                                        \
    (low ? round_columns_as(high, low, columns, count, single, to)                                                     \
         : round_columns_as(high, NULL, columns, count, single, to))
    return count == 0 ? single ? ROUND_AS(0, true) : ROUND_AS(0, false)
           : single ? ROUND_AS(count, true)
                      : ROUND_AS(count, false);
#undef ROUND_AS
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------------------------------ */

/* The sum of a row, in the lanes of a vector. Long ones in several vectors, so that additions need not wait for each other. */
ALWAYS_INLINE void trial_row(const void *x, size_t count, const struct trial_frame *frame, struct trial *sum,
                             struct trial *errors, struct trial_way way) {
    struct trial s[TRIAL_WAYS], e[TRIAL_WAYS];
    size_t i = 0;
    s[0] = (struct trial){frame->terms.start, {0}};
    e[0] = (struct trial){frame->errors.start, {0}};
    if (count >= 4 * TRIAL_WAYS * TRIAL_LANES) {
        for (size_t j = 1; j < TRIAL_WAYS; j++) {
            s[j] = s[0];
            e[j] = e[0];
        }
        for (; count - i >= TRIAL_WAYS * TRIAL_LANES; i += TRIAL_WAYS * TRIAL_LANES)
#pragma GCC unroll 4
            for (size_t j = 0; j < TRIAL_WAYS; j++)
                trial_enter(&s[j], &e[j], load_terms(x, i + j * TRIAL_LANES, trial_element(way), false), frame, way);
        for (size_t j = 1; j < TRIAL_WAYS; j++) {
            s[0].high += s[j].high - frame->terms.start;
            s[0].low += s[j].low;
            e[0].high += e[j].high - frame->errors.start;
            e[0].low += e[j].low;
        }
    }
    for (; count - i >= TRIAL_LANES; i += TRIAL_LANES)
        trial_enter(&s[0], &e[0], load_terms(x, i, trial_element(way), false), frame, way);
    if (i < count)
        trial_enter(&s[0], &e[0], (doubles)load_brief(x, i, count, trial_element(way)), frame, way);
    trial_close(&s[0], &frame->terms);
    trial_close(&e[0], &frame->errors);
    *sum = s[0];
    *errors = e[0];
}

/* Rows that become the lanes of a vector. `step`: bytes. */
ALWAYS_INLINE void trial_rows(const char *x, ptrdiff_t step, size_t rows, size_t count, const struct trial_frame *frame,
                              size_t at, struct rd_trial_sum *sum, struct rd_trial_sum *errors, struct trial_way way) {
    doubles high[TRIAL_LANES], low[TRIAL_LANES], of_errors[2][TRIAL_LANES];
#define TAKE_ROW                                                                                                       \
    do {                                                                                                               \
        high[r] = s.high;                                                                                              \
        low[r] = s.low;                                                                                                \
        of_errors[0][r] = e.high;                                                                                      \
        of_errors[1][r] = e.low;                                                                                       \
    } while (0)
    if (count <= TRIAL_LANES && rows >= TRIAL_LANES) { /* in registers all the way */
#pragma GCC unroll 8
        for (size_t r = 0; r < TRIAL_LANES; r++) {
            struct trial s = {frame->terms.start, {0}}, e = {frame->errors.start, {0}};
            trial_enter(&s, &e, (doubles)load_brief(x + (ptrdiff_t)r * step, 0, count, trial_element(way)), frame, way);
            trial_close(&s, &frame->terms);
            trial_close(&e, &frame->errors);
            TAKE_ROW;
        }
    } else {
        for (size_t r = 0; r < TRIAL_LANES; r++) {
            struct trial s = {{0}, {0}}, e = s;
            if (r < rows)
                trial_row(x + (ptrdiff_t)r * step, count, frame, &s, &e, way);
            TAKE_ROW;
        }
    }
#undef TAKE_ROW
    *(doubles *)(sum->high + at) = trial_turn(high);
    *(doubles *)(sum->low + at) = way.slices == 1 ? (doubles){0} : trial_turn(low);
    if (way.square && !way.single) {
        *(doubles *)(errors->high + at) = trial_turn(of_errors[0]);
        *(doubles *)(errors->low + at) = trial_turn(of_errors[1]);
    }
}

#define TRIAL_WAY(name, slices, single, square)                                                                        \
    static void trial_rows_##name(const char *x, ptrdiff_t step, size_t rows, size_t count,                            \
                                  const struct trial_frame *frame, size_t at, struct rd_trial_sum *sum,                \
                                  struct rd_trial_sum *errors) {                                                       \
        trial_rows(x, step, rows, count, frame, at, sum, errors, (struct trial_way){slices, single, square});          \
    }
TRIAL_WAY(f64, 2, false, false)
TRIAL_WAY(f64_square, 2, false, true)
TRIAL_WAY(f32, 1, true, false)
TRIAL_WAY(f32_wide, 2, true, false)
TRIAL_WAY(f32_square, 2, true, true)
#undef TRIAL_WAY

static bool try_rows(struct rd_trial *trial, struct rd_side *side, struct rd_side *errors, const void *x,
                     ptrdiff_t step, size_t rows, size_t count, struct rd_trial_sum room[2]) {
    struct trial_frame frame;
    if (!trial_prepare(trial, &frame))
        return false;
    const ptrdiff_t bytes = trial->single ? 4 : 8;
    void (*const add)(const char *, ptrdiff_t, size_t, size_t, const struct trial_frame *, size_t,
                      struct rd_trial_sum *, struct rd_trial_sum *) = trial->single
                                                                          ? trial->square        ? trial_rows_f32_square
                                                                            : trial->slices == 1 ? trial_rows_f32
                                                                                                 : trial_rows_f32_wide
                                                                      : trial->square ? trial_rows_f64_square
                                                                                      : trial_rows_f64;
    trial_begin();
    for (size_t r = 0; r < RD_SIDE; r += TRIAL_LANES)
        add((const char *)x + (ptrdiff_t)r * step * bytes, step * bytes, r < rows ? rows - r : 0, count, &frame, r,
            &room[0], &room[1]);
    if (!trial_was_exact())
        return false;
    trial->zeros |= trial_total(side, &room[0], trial->fresh);
    if (errors)
        trial_total(errors, &room[1], trial->fresh);
    return true;
}
