/* Sums side by side: see side.h. Columns are added where they are, a lane for each, and rows that lie one after another are turned into
 * lanes, on trust that windows hold all terms (kernels/trial.h). Where that fails, and for what else there is, elements become rows of
 * doubles in a buffer, and are added lane by lane (kernels/side.h). Most sums are then one addition away from their result. Those
 * that a lane could not hold, and whatever is not finite, are reduced in the ordinary way. */
#include "cpu/side.h"

#include "core/environment.h"
#include "core/reduction.h"
#include "cpu/numbers.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Rows in the buffer, which with what else is used stays in the first-level cache; rows after which lanes are emptied into limbs, while
 * most of them still hold all bits. */
enum { ROWS = 16, ROWS_HELD = 1 << 12 };

/* Rows of fewer elements are turned into lanes as they are; others are folded to few doubles first, up to where a row takes so long that
 * what else there is to do no longer counts. */
enum { FOLDED_LEAST = 24, FOLDED_MOST = 1 << 14, TURNED_MOST = 256 };

/* Squares are up to three sums. Rows of so many take less one by one, where a set of kernels answers so many at once. */
enum { ALONE_F64 = 1 << 10, ALONE_F32 = 1 << 12 };

/* Fewer columns, or other results that lie side by side, are left to other ways. */
enum { COLUMNS_LEAST = 2, LANES_LEAST = 8 };

/* Groups of RD_SIDE columns, or rows, that are summed at once; of rows, groups make up so many elements at least. Where there is less
 * than a group of columns for each thread, so many lines of each row at least are a unit. */
enum { GROUPS = 32, ROWS_AT_ONCE = 8, ROWS_ELEMENTS = 1 << 13, LINE_BYTES = 64, LINES_LEAST = 2 };

/* Columns of so few elements are summed and rounded without coming to lie in lanes: all rows are read side by side, which
 * memory does not like of more than so many rows where the data lie beyond the cache. */
enum { BRIEF = 64, BRIEF_ROWS = 16, BRIEF_BYTES = 1 << 20 };

/* Elements that are added on trust before it is looked whether that was justified; of which several sums are formed, one after
 * another, fewer: these stay in the second-level cache. How long what was learned of the data is relied on. */
enum { TRIED = 1 << 18, TRIED_AGAIN = 1 << 15, PATIENCE = 32 };

/* Where trust was not justified it often is but for one term, as small as few are: then the same is tried in so many pieces. After so many
 * failures in a row nothing is tried for a while. */
enum { PIECES = 8, FAILURES = 3 };

/* What is summed for a result: its terms, their squares, and what rounding leaves of f64 products. */
enum plane { TERMS, SQUARES, ERRORS, PLANES };

/* How terms of a kind are tried: in one slice where exponents lie near each other, otherwise in two, or not at all; `exponent` is of the
 * largest element, of use with two. After so many tries more it is thought over. `failures`: the last ones, of what cannot be tried in
 * pieces. */
struct trust {
    enum { UNKNOWN, ONE_SLICE, TWO_SLICES, NONE } level;
    int exponent;
    unsigned left, failures;
};

struct side;

/* What a group of at most RD_SIDE results is reduced with. */
struct work {
    struct rd_job *job;
    const struct rd_kernels *kernels;
    const struct rd_desk *desk;
    struct side *side;
    struct rd_side *sum;      /* by plane */
    struct rd_partial *state; /* by lane; of no use before the lanes were emptied once */
    enum rd_transform transform;
    int planes;                              /* in use */
    bool single, absolute, emptied, in_rows; /* in_rows: elements of a lane lie one after another, and are tried */
    bool fresh;                              /* nothing was added since lanes were cleared */
    bool unsigned_zeros;                     /* sums that are zero may have lost their sign */
    uint64_t first, lanes;
    struct rd_source source; /* of the first lane */
};

/* What a thread works in. */
struct side {
    struct work work[GROUPS];
    struct rd_side sum[GROUPS][PLANES], saved[GROUPS][PLANES];
    struct rd_trial_sum trial[2 * GROUPS];
    struct trust elements, squares;
    _Alignas(64) double brief_high[GROUPS * RD_SIDE], brief_low[GROUPS * RD_SIDE];
    _Alignas(64) double x[ROWS * RD_SIDE], y[ROWS * RD_SIDE], product[ROWS * RD_SIDE], error[ROWS * RD_SIDE];
};

/* Whether the terms are elements or their absolute values. */
static bool has_elements(enum rd_transform transform) {
    return transform == RD_IDENTITY || transform == RD_ABSOLUTE;
}

static int64_t distance(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

/* Whether columns are summed where they are. */
static bool is_in_place(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    return many->inputs == 1 && layout->kept[layout->kept_axes - 1].stride[0] == 1;
}

/* Elements that rows may have. */
static uint64_t most_in_rows(const struct rd_prepared *state) {
    const struct rd_kernels *kernels = state->device.private;
    if (has_elements(rd_operator(state->reduction.op)->transform) || kernels->most_products < RD_BRIEF)
        return FOLDED_MOST;
    return (state->reduction.element == REDUCT_F64 ? ALONE_F64 : ALONE_F32) - 1;
}

bool rd_side_suits(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    const struct rd_prepared *state = &many->state[0];
    if (many->states != 1 || many->mask || rd_type(state->reduction.element)->bytes < sizeof(float) ||
        rd_many_is_segmented(many) || rd_family(&state->reduction) != RD_EXACT_SUM ||
        rd_operator(state->reduction.op)->transform == RD_WEIGHTED || !layout->count || !layout->kept_axes ||
        layout->kept[layout->kept_axes - 1].length < (is_in_place(many) ? COLUMNS_LEAST : LANES_LEAST))
        return false;
    int64_t beside = distance(layout->kept[layout->kept_axes - 1].stride[0]),
            step = distance(rd_cursor_step(layout, 0));
    bool rows = step == 1 && many->inputs == 1;
    return beside < step || layout->count <= (rows ? most_in_rows(state) : TURNED_MOST);
}

size_t rd_side_bytes(void) {
    return sizeof(struct side);
}

uint64_t rd_side_tile(const struct rd_many *many, unsigned threads, uint64_t parts) {
    const uint64_t results = many->layout.results, line = LINE_BYTES / rd_type(many->state[0].reduction.element)->bytes;
    if (is_in_place(many))
        return rd_job_columns(results, RD_SIDE, GROUPS * RD_SIDE, LINES_LEAST * line, threads, parts);
    const uint64_t groups = ROWS_ELEMENTS / RD_SIDE / many->layout.count;
    return (groups < 1 ? 1 : groups > GROUPS ? GROUPS : groups) * RD_SIDE;
}

static void clear(struct work *work) {
    for (int p = 0; p < work->planes; p++)
        for (int l = 0; l < RD_SIDE; l++) {
            work->sum[p].high[l] = -0.0; /* the identity of addition: only terms that are all -0 leave it */
            work->sum[p].low[l] = 0;
            work->sum[p].lost[l] = 0;
        }
    work->fresh = true;
}

/* Adds products of the buffers x and y, and what rounding leaves of them. */
static void add_products(struct work *work, const double *x, const double *y, enum plane plane, size_t rows) {
    struct side *side = work->side;
    size_t count = rows * RD_SIDE;
    if (work->single) { /* whose products are doubles */
        for (size_t i = 0; i < count; i++)
            side->product[i] = x[i] * y[i];
    } else if (work->kernels->multiply(x, y, count, side->product, side->error)) {
        work->kernels->add_side_f64(&work->sum[ERRORS], side->error, RD_SIDE, rows, false);
    } else {
        memset(work->sum[plane].lost, 0xff, sizeof work->sum[plane].lost);
        return;
    }
    work->kernels->add_side_f64(&work->sum[plane], side->product, RD_SIDE, rows, false);
}

static void add_rows(struct work *work, size_t rows) {
    struct side *side = work->side;
    switch (work->transform) {
    case RD_ABSOLUTE:
    case RD_IDENTITY:
        work->kernels->add_side_f64(&work->sum[TERMS], side->x, RD_SIDE, rows, work->transform == RD_ABSOLUTE);
        break;
    case RD_MOMENTS:
        work->kernels->add_side_f64(&work->sum[TERMS], side->x, RD_SIDE, rows, false);
        add_products(work, side->x, side->x, SQUARES, rows);
        break;
    case RD_SQUARE:
        add_products(work, side->x, side->x, TERMS, rows);
        break;
    case RD_TIMES:
        add_products(work, side->x, side->y, TERMS, rows);
        break;
    case RD_WEIGHTED: /* rd_side_suits() lets none of these pass */
    case RD_PRESENT:
    case RD_NONZERO:
        break;
    }
}

typedef void fetch(const void *x, ptrdiff_t step, ptrdiff_t beside, size_t rows, size_t lanes, double *to);
typedef void add_side(struct rd_side *side, const void *x, ptrdiff_t step, size_t rows, bool absolute);
typedef void fold_side(const void *x, ptrdiff_t step, size_t rows, size_t count, bool absolute, double *to,
                       int64_t *lost);

static const struct rd_axis *axis_beside(const struct work *work) {
    return &work->job->many->layout.kept[work->job->many->layout.kept_axes - 1];
}

/* A run of elements of every lane, turned into rows of the buffer. */
static void add_turned(struct work *work, const struct rd_cursor *cursor, uint64_t run) {
    const struct rd_layout *layout = &work->job->many->layout;
    fetch *get = work->single ? work->kernels->fetch_f32 : work->kernels->fetch_f64;
    for (unsigned i = 0; i < work->job->many->inputs; i++)
        get(work->source.input[i] + cursor->offset[i] * (int64_t)work->job->bytes, rd_cursor_step(layout, i),
            axis_beside(work)->stride[i], run, work->lanes, i ? work->side->y : work->side->x);
    add_rows(work, run);
}

/* The same of as many elements as there are in a row of the layout. */
static void add_turned_rows(struct work *work, const struct rd_cursor *cursor, uint64_t run) {
    struct rd_cursor at = *cursor;
    for (uint64_t some; run; run -= some) {
        some = run < ROWS ? run : ROWS;
        add_turned(work, &at, some);
        rd_cursor_advance(&work->job->many->layout, some, &at);
    }
}

/* A long run that lies one after another: each lane's is a row, which is folded to few doubles before it is turned. */
static void add_folded(struct work *work, const struct rd_cursor *cursor, uint64_t run) {
    fold_side *fold = work->single ? work->kernels->fold_side_f32 : work->kernels->fold_side_f64;
    size_t folded = 2 * work->kernels->side_lanes;
    fold(work->source.input[0] + cursor->offset[0] * (int64_t)work->job->bytes, axis_beside(work)->stride[0],
         work->lanes, run, work->absolute, work->side->y, work->sum[TERMS].lost);
    work->kernels->fetch_f64(work->side->y, 1, (ptrdiff_t)folded, folded, work->lanes, work->side->x);
    work->kernels->add_side_f64(&work->sum[TERMS], work->side->x, RD_SIDE, folded, false);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Trials
 * ------------------------------------------------------------------------------------------------------------------ */

/* Elements that are tried: `rows` runs of `run` elements that lie one after another, `step` elements from one to the next. They are rows of
 * columns, of so many groups, or what the lanes of one group have. */
struct patch {
    const unsigned char *x;
    ptrdiff_t step;
    size_t rows, run, groups;
    bool columns, brief, in_pieces; /* in_pieces: if this fails, pieces of it are tried */
};

static bool try_patch(struct work *work, const struct patch *patch, struct rd_trial *trial, enum plane plane) {
    struct side *side = work->side;
    trial->fresh = work->fresh;
    if (patch->brief)
        return work->kernels->brief_columns(trial, patch->x, patch->step, patch->rows, patch->run, side->brief_high,
                                            side->brief_low);
    struct rd_side *sum = &work->sum[plane], *errors = trial->square && !trial->single ? &work->sum[ERRORS] : NULL;
    bool added = patch->columns ? work->kernels->try_columns(trial, sum, errors, PLANES, patch->run, patch->x,
                                                             patch->step, patch->rows, side->trial)
                                : work->kernels->try_rows(trial, sum, errors, patch->x, patch->step, patch->rows,
                                                          patch->run, side->trial);
    for (size_t g = 0; added && trial->zeros && g < patch->groups; g++)
        work[g].unsigned_zeros = true;
    return added;
}

/* The exponent of the largest of the first `rows` runs; false if one is not finite. */
static bool find_exponent(const struct work *work, const struct patch *patch, size_t rows, int *exponent) {
    uint64_t largest = 0;
    for (size_t r = 0; r < rows; r++) {
        struct rd_found found;
        work->kernels->extreme[work->single ? REDUCT_F32 : REDUCT_F64](
            patch->x + (ptrdiff_t)r * patch->step * (ptrdiff_t)work->job->bytes, patch->run, RD_LARGEST, &found);
        if (found.nan)
            return false;
        largest = found.bits > largest ? found.bits : largest;
    }
    int field = (int)(largest >> (work->single ? 23 : 52)), special = work->single ? 0xff : 0x7ff;
    *exponent = (field ? field : 1) - special / 2;
    return field != special;
}

/* The same with two slices for all that there is, where that was not tried before. */
static bool try_again(struct work *work, const struct patch *patch, struct rd_trial *trial, struct trust *trust,
                      enum plane plane) {
    const int tried = trial->slices == TWO_SLICES ? trust->exponent : INT_MIN;
    trial->slices = trust->level = TWO_SLICES;
    trust->left = PATIENCE;
    if (!find_exponent(work, patch, patch->rows, &trust->exponent) || trust->exponent == tried)
        return false;
    trial->exponent = trust->exponent;
    return try_patch(work, patch, trial, plane);
}

/* Adds elements or their squares to a plane of sums, if they can be held. */
static bool try_terms(struct work *work, const struct patch *patch, struct trust *trust, enum plane plane) {
    struct rd_trial trial = {
        .single = work->single, .absolute = work->absolute, .square = trust == &work->side->squares};
    if (trust->level >= TWO_SLICES && !trust->left--)
        trust->level = UNKNOWN;
    if (trust->level == NONE)
        return false;
    if (trust->level == UNKNOWN) {
        bool narrow = trial.single && !trial.square;
        trust->level = narrow ? ONE_SLICE : TWO_SLICES;
        trust->left = PATIENCE;
        if (!narrow && !find_exponent(work, patch, 1, &trust->exponent))
            trust->exponent = 0;
    }
    trial.slices = trust->level;
    trial.exponent = trust->exponent;
    if (try_patch(work, patch, &trial, plane) || try_again(work, patch, &trial, trust, plane)) {
        trust->failures = 0;
        return true;
    }
    if (!patch->in_pieces && ++trust->failures >= FAILURES) {
        trust->level = NONE;
        trust->failures = 0;
    }
    return false;
}

/* Adds all that is summed of a patch, if it can be held. */
static bool try_all(struct work *work, const struct patch *patch) {
    struct side *side = work->side;
    switch (work->transform) {
    case RD_IDENTITY:
    case RD_ABSOLUTE:
        return try_terms(work, patch, &side->elements, TERMS);
    case RD_SQUARE:
        return try_terms(work, patch, &side->squares, TERMS);
    case RD_MOMENTS:
        memcpy(side->saved, work->sum, patch->groups * sizeof *side->saved);
        if (try_terms(work, patch, &side->elements, TERMS) && try_terms(work, patch, &side->squares, SQUARES))
            return true;
        memcpy(work->sum, side->saved, patch->groups * sizeof *side->saved);
        return false;
    case RD_TIMES:
    case RD_PRESENT:
    case RD_NONZERO:
    case RD_WEIGHTED:
        break;
    }
    return false;
}

/* A run of elements of every lane that lie one after another. */
static bool try_run(struct work *work, const struct rd_cursor *cursor, uint64_t run) {
    struct patch patch = {.x = work->source.input[0] + cursor->offset[0] * (int64_t)work->job->bytes,
                          .step = axis_beside(work)->stride[0],
                          .rows = work->lanes,
                          .run = run,
                          .groups = 1};
    return work->in_rows && try_all(work, &patch);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Runs
 * ------------------------------------------------------------------------------------------------------------------ */

/* Adds elements number `first` to `end` of every lane. */
static void add_elements(struct work *work, uint64_t first, uint64_t end) {
    const struct rd_layout *layout = &work->job->many->layout;
    bool folded = rd_cursor_step(layout, 0) == 1 && has_elements(work->transform);
    struct rd_cursor cursor;
    rd_cursor_start(layout, first, &cursor);
    for (uint64_t run; first < end; first += run) {
        run = rd_cursor_run(layout, &cursor, end - first);
        bool added = try_run(work, &cursor, run);
        if (!added && folded && run >= FOLDED_LEAST)
            add_folded(work, &cursor, run);
        else if (!added)
            add_turned_rows(work, &cursor, run);
        work->fresh = false;
        rd_cursor_advance(layout, run, &cursor);
    }
}

/* Some rows of groups of columns, in place: a few rows of all groups, then the next rows. */
static void add_rows_surely(struct work *work, const unsigned char *x, ptrdiff_t step, size_t groups, uint64_t rows) {
    add_side *add = work->single ? work->kernels->add_side_f32 : work->kernels->add_side_f64;
    size_t some;
    for (uint64_t row = 0; row < rows; row += some) {
        some = rows - row < ROWS_AT_ONCE || groups == 1 ? rows - row : ROWS_AT_ONCE;
        for (size_t g = 0; g < groups; g++)
            add(&work[g].sum[TERMS], x + ((int64_t)row * step + (int64_t)(g * RD_SIDE)) * (int64_t)work->job->bytes,
                step, some, work->absolute);
    }
}

/* Adds some rows of columns, in place: where the cursor stands, which is then behind them. False, with nothing done, where they are to be
 * added in pieces. */
static bool add_columns(struct work *work, uint64_t columns, uint64_t rows, bool in_pieces, struct rd_cursor *cursor) {
    const struct rd_layout *layout = &work->job->many->layout;
    const size_t groups = rd_divide_up(columns, RD_SIDE),
                 direct = has_elements(work->transform) ? columns / RD_SIDE : 0;
    const struct patch patch = {.x = work->source.input[0] + cursor->offset[0] * (int64_t)work->job->bytes,
                                .step = rd_cursor_step(layout, 0),
                                .rows = rows,
                                .run = columns,
                                .groups = groups,
                                .columns = true,
                                .in_pieces = in_pieces};
    const bool added = work->kernels->try_columns && try_all(work, &patch);
    if (!added && in_pieces)
        return false;
    if (!added && direct)
        add_rows_surely(work, patch.x, patch.step, direct, rows);
    for (size_t g = direct; !added && g < groups; g++)
        add_turned_rows(&work[g], cursor, rows);
    work->fresh = false;
    rd_cursor_advance(layout, rows, cursor);
    return true;
}

/* Adds elements of columns, in place. */
static void add_in_place(struct work *work, uint64_t columns, uint64_t first, uint64_t end) {
    const struct rd_layout *layout = &work->job->many->layout;
    const struct side *side = work->side;
    const uint64_t tried =
        (work->transform == RD_MOMENTS ? TRIED_AGAIN : TRIED) / RD_SIDE / rd_divide_up(columns, RD_SIDE);
    struct rd_cursor cursor;
    rd_cursor_start(layout, first, &cursor);
    for (uint64_t run; first < end; first += run) {
        run = rd_cursor_run(layout, &cursor, end - first < tried ? end - first : tried);
        if (add_columns(work, columns, run, true, &cursor))
            continue;
        const bool trusted = side->elements.level != NONE && side->squares.level != NONE;
        const uint64_t piece = trusted && run / PIECES > ROWS_AT_ONCE ? run / PIECES : run;
        for (uint64_t row = 0, some; row < run; row += some) {
            some = run - row < piece ? run - row : piece;
            (void)add_columns(work, columns, some, false, &cursor);
        }
    }
}

static bool is_lost(const struct work *work, uint64_t lane) {
    int64_t lost = 0;
    for (int p = 0; p < work->planes; p++)
        lost |= work->sum[p].lost[lane];
    return lost != 0;
}

static const unsigned char *input_of(const struct work *work, unsigned i, uint64_t lane) {
    const struct rd_layout *layout = &work->job->many->layout;
    const unsigned char *first = work->source.input[i];
    return first ? first + layout->kept[layout->kept_axes - 1].stride[i] * (int64_t)(lane * work->job->bytes) : NULL;
}

/* Whether elements number `first` to `end` of a lane are all -0. */
static bool is_minus_zero(const struct work *work, uint64_t lane, uint64_t first, uint64_t end) {
    enum { AT_ONCE = 16 };
    size_t bytes = work->job->bytes;
    for (uint64_t count; first < end; first += count) {
        unsigned char element[AT_ONCE * sizeof(double)], minus[sizeof(double)] = {0};
        count = end - first < AT_ONCE ? end - first : AT_ONCE;
        rd_job_gather(&work->job->many->layout, 0, bytes, input_of(work, 0, lane), first, count, element);
        minus[bytes - 1] = 0x80;
        for (uint64_t i = 0; i < count; i++)
            if (memcmp(element + i * bytes, minus, bytes) != 0)
                return false;
    }
    return true;
}

/* Gives sums of elements number `first` to `end` that are zero their sign. */
static void sign_zeros(struct work *work, uint64_t first, uint64_t end) {
    struct rd_side *sum = &work->sum[TERMS];
    bool keeps_sign = work->transform == RD_IDENTITY || work->transform == RD_MOMENTS;
    for (uint64_t l = 0; work->unsigned_zeros && l < work->lanes; l++)
        if (sum->high[l] == 0 && sum->low[l] == 0)
            sum->high[l] = keeps_sign && is_minus_zero(work, l, first, end) ? -0.0 : 0.0;
    work->unsigned_zeros = false;
}

/* Brings a lane home into a state of no elements, `count` of which it holds. */
static void bring_home(const struct work *work, uint64_t lane, uint64_t count, struct rd_partial *state) {
    const struct rd_side *sum = work->sum;
    struct rd_sum *of_products = work->transform == RD_MOMENTS ? &state->squares : &state->sum;
    double high = sum[TERMS].high[lane], low = sum[TERMS].low[lane];
    state->nonzero |= high != 0 || low != 0 || !signbit(high);
    rd_sum_add_double(&state->sum, high, 0);
    rd_sum_add_double(&state->sum, low, 0);
    for (int p = SQUARES; p < work->planes; p++) {
        rd_sum_add_double(of_products, sum[p].high[lane], 0);
        rd_sum_add_double(of_products, sum[p].low[lane], 0);
    }
    state->seen += count;
}

/* Empties the lanes, which hold elements `first` to `end`, into their states; lost ones are read once more. */
static void empty(struct work *work, uint64_t first, uint64_t end) {
    struct rd_job *job = work->job;
    const struct rd_many *many = job->many;
    sign_zeros(work, first, end);
    for (uint64_t l = 0; l < work->lanes; l++) {
        struct rd_partial *state = &work->state[l];
        if (!work->emptied)
            rd_job_init_states(job, state);
        if (!is_lost(work, l)) {
            bring_home(work, l, end - first, state);
            continue;
        }
        for (unsigned i = 0; i < many->inputs; i++)
            rd_job_gather(&many->layout, i, job->bytes, input_of(work, i, l), first, end - first,
                          work->desk->gathered[i]);
        rd_job_add(job, work->desk, state, work->desk->gathered[0], many->inputs > 1 ? work->desk->gathered[1] : NULL,
                   end - first);
    }
    work->emptied = true;
    clear(work);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

/* What sums are divided by, or 0. */
static double divisor(const struct work *work) {
    const struct rd_many *many = work->job->many;
    return rd_operator(many->reduction[0].op)->finish == RD_MEAN ? (double)many->layout.count : 0;
}

static void fill_lanes(double *lane, double value) {
    for (size_t l = 0; l < RD_SIDE; l++)
        lane[l] = value;
}

/* Whether there is one result each, of a type that kernels round to. */
static bool is_plain(const struct rd_many *many) {
    const reduct_type result = many->reduction[0].result;
    return many->reductions == 1 && (result == REDUCT_F64 || result == REDUCT_F32) && many->layout.count >> 53 == 0;
}

/* Whether results follow from the sums of terms by one rounding. */
static bool is_simple(const struct work *work) {
    const enum rd_finish finish = rd_operator(work->job->many->reduction[0].op)->finish;
    return (work->single || has_elements(work->transform)) && (finish == RD_VALUE || finish == RD_MEAN);
}

/* Rounds what is made of several sums; false where there are no kernels for that. */
static bool finish_side(const struct work *work, bool narrow, void *rounded, int64_t *left, bool *all) {
    const reduct_reduction *reduction = &work->job->many->reduction[0];
    const uint64_t count = work->job->many->layout.count;
    const bool moments = work->transform == RD_MOMENTS, population = reduction->flags & REDUCT_POPULATION;
    _Alignas(64) double counts[RD_SIDE], freedoms[RD_SIDE];
    const struct rd_side_finish how = {.terms = &work->sum[TERMS],
                                       .products = &work->sum[moments ? SQUARES : TERMS],
                                       .errors = &work->sum[ERRORS],
                                       .finish = rd_operator(reduction->op)->finish,
                                       .signs = work->transform == RD_TIMES,
                                       .count = counts,
                                       .freedom = freedoms};
    if (work->planes < PLANES || count < rd_minimum(reduction) || (moments && count >> 26))
        return false;
    fill_lanes(counts, (double)count);
    fill_lanes(freedoms, (double)(population ? count : count - 1));
    *all = work->kernels->finish_side(&how, narrow, rounded, left);
    return true;
}

/* Rounds what is quickly rounded, with all lanes at once, and returns whether that is all; leaves the rest, those that are not 0 in
 * `left`. */
static bool round_lanes(struct work *work, int64_t left[RD_SIDE]) {
    struct rd_job *job = work->job;
    int64_t beside = job->held[0] ? 1 : axis_beside(work)->result_stride;
    const bool narrow = job->many->reduction[0].result == REDUCT_F32;
    const size_t bytes = narrow ? sizeof(float) : sizeof(double);
    unsigned char *place = rd_job_place(job, work->first, work->source.offset, 0, false);
    _Alignas(64) unsigned char rounded[RD_SIDE * sizeof(double)];
    _Alignas(64) double divisors[RD_SIDE];
    bool done = false;
    const bool plain = is_plain(job->many);
    if (plain && is_simple(work)) {
        fill_lanes(divisors, divisor(work));
        done = work->kernels->round_side(&work->sum[TERMS], divisors[0] != 0 ? divisors : NULL, narrow, rounded, left);
    } else if (!plain || !finish_side(work, narrow, rounded, left, &done)) {
        memset(left, 0xff, RD_SIDE * sizeof *left);
        return false;
    }
    if (done && beside == 1)
        memcpy(place, rounded, work->lanes * bytes);
    for (uint64_t l = 0; !(done && beside == 1) && l < work->lanes; l++)
        if (!left[l])
            memcpy(place + (int64_t)l * beside * (int64_t)bytes, rounded + l * bytes, bytes);
    rd_job_succeed(job, 0, work->first, work->lanes, left);
    return done;
}

/* Rounds and writes the results of lanes that hold all their elements. */
static void finish_lanes(struct work *work) {
    struct rd_job *job = work->job;
    const struct rd_layout *layout = &job->many->layout;
    _Alignas(64) int64_t left[RD_SIDE];
    sign_zeros(work, 0, layout->count);
    bool done = round_lanes(work, left);
    for (uint64_t l = 0; !done && l < work->lanes; l++) {
        if (!left[l])
            continue;
        if (is_lost(work, l)) {
            rd_job_reduce(job, work->desk, work->first + l, 0);
            continue;
        }
        rd_job_init_states(job, work->state);
        bring_home(work, l, layout->count, work->state);
        rd_job_finish(job, work->first + l,
                      work->source.offset + (int64_t)l * layout->kept[layout->kept_axes - 1].result_stride,
                      work->state);
    }
}

/* The same from states; of parts the states are all that is wanted so far. */
static void finish_states(struct work *work, uint64_t part) {
    struct rd_job *job = work->job;
    const struct rd_layout *layout = &job->many->layout;
    for (uint64_t l = 0; l < work->lanes; l++)
        if (job->parts > 1)
            job->partials[(work->first + l) * job->parts + part] = work->state[l];
        else
            rd_job_finish(job, work->first + l,
                          work->source.offset + (int64_t)l * layout->kept[layout->kept_axes - 1].result_stride,
                          &work->state[l]);
}

static void begin_group(struct work *work, struct rd_job *job, const struct rd_desk *desk, size_t group, uint64_t first,
                        uint64_t lanes) {
    const struct rd_prepared *prepared = &job->many->state[0];
    enum rd_transform transform = rd_operator(prepared->reduction.op)->transform;
    struct side *side = desk->side;
    *work = (struct work){.job = job,
                          .kernels = prepared->device.private,
                          .desk = desk,
                          .side = side,
                          .sum = side->sum[group],
                          .state = desk->state + group * RD_SIDE,
                          .transform = transform,
                          .planes = has_elements(transform) ? 1 : PLANES,
                          .single = prepared->reduction.element == REDUCT_F32,
                          .absolute = transform == RD_ABSOLUTE,
                          .first = first,
                          .lanes = lanes,
                          .source = rd_job_source(job, first)};
    work->in_rows = work->kernels->try_rows && rd_cursor_step(&job->many->layout, 0) == 1;
    clear(work);
}

/* Whether columns are so few elements long that they are summed and rounded at once. */
static bool are_brief(const struct rd_job *job) {
    const struct rd_many *many = job->many;
    const struct rd_layout *layout = &many->layout;
    const struct rd_kernels *kernels = many->state[0].device.private;
    const enum rd_finish finish = rd_operator(many->reduction[0].op)->finish;
    const uint64_t rows = layout->count, bytes = layout->results * rows * job->bytes;
    return kernels->brief_columns && is_in_place(many) && layout->reduced_axes == 1 &&
           rows <= (bytes > BRIEF_BYTES ? BRIEF_ROWS : BRIEF) && job->parts == 1 && is_plain(many) &&
           (finish == RD_VALUE || finish == RD_MEAN) &&
           has_elements(rd_operator(many->state[0].reduction.op)->transform) &&
           (job->held[0] || layout->kept[layout->kept_axes - 1].result_stride == 1);
}

/* The sums or means of these, all at once; false where that is not possible. Nothing was kept then. */
static bool reduce_briefly(struct work *work, uint64_t columns) {
    const struct rd_job *job = work->job;
    const struct rd_layout *layout = &job->many->layout;
    const uint64_t rows = layout->count;
    const bool narrow = job->many->reduction[0].result == REDUCT_F32;
    const bool pairs = rows <= 2 && !work->single && !narrow && divisor(work) == 0;
    struct side *side = work->side;
    const struct patch patch = {.x = work->source.input[0],
                                .step = rd_cursor_step(layout, 0),
                                .rows = rows,
                                .run = columns,
                                .groups = 1,
                                .columns = true,
                                .brief = true};
    struct rd_trial trial = {.slices = 1, .absolute = work->absolute};
    if (!(pairs ? try_patch(work, &patch, &trial, TERMS) : try_terms(work, &patch, &side->elements, TERMS)) ||
        !work->kernels->round_columns(
            side->brief_high, pairs || side->elements.level == ONE_SLICE ? NULL : side->brief_low, columns,
            divisor(work), narrow, rd_job_place(job, work->first, work->source.offset, 0, false)))
        return false;
    rd_job_succeed(job, 0, work->first, columns, NULL);
    return true;
}

void rd_side_begin(void *memory) {
    struct side *side = memory;
    side->elements = side->squares = (struct trust){.level = UNKNOWN};
}

void rd_side_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results, uint64_t part) {
    uint64_t begin = part * job->part, count = job->many->layout.count;
    uint64_t end = job->parts > 1 && count - begin > job->part ? begin + job->part : count;
    struct side *side = desk->side;
    struct work *work = side->work;
    size_t groups = 0;
    const bool in_place = is_in_place(job->many);
    rd_environment caller = rd_environment_enter();
    if (are_brief(job)) {
        begin_group(&work[0], job, desk, 0, first, results);
        if (reduce_briefly(&work[0], results)) {
            rd_environment_leave(caller);
            return;
        }
    }
    for (; groups * RD_SIDE < results; groups++) {
        uint64_t at = groups * RD_SIDE;
        begin_group(&work[groups], job, desk, groups, first + at, results - at < RD_SIDE ? results - at : RD_SIDE);
    }
    if (results % RD_SIDE) { /* lanes that are not used add zeros */
        memset(side->x, 0, sizeof side->x);
        memset(side->y, 0, sizeof side->y);
    }
    const uint64_t held = in_place ? ROWS_HELD : FOLDED_MOST;
    for (uint64_t at = begin, next; at < end && !rd_job_stops_after(job, at - begin); at = next) {
        next = end - at < held ? end : at + held;
        if (in_place)
            add_in_place(work, results, at, next);
        for (size_t g = 0; !in_place && g < groups; g++)
            add_elements(&work[g], at, next);
        for (size_t g = 0; g < groups && (job->parts > 1 || end - begin > held); g++)
            empty(&work[g], at, next);
    }
    for (size_t g = 0; g < groups; g++) {
        if (work[g].emptied)
            finish_states(&work[g], part);
        else
            finish_lanes(&work[g]);
    }
    rd_environment_leave(caller);
}
