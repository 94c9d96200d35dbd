/* Sums side by side: see side.h. Elements become rows of doubles in a buffer, a lane for each result, and are added lane by lane
 * (kernels/side.h). Most sums are then one addition away from their result. Those that a lane could not hold, and whatever is not
 * finite, are reduced in the ordinary way. */
#include "cpu/side.h"

#include "core/environment.h"
#include "core/reduction.h"
#include "cpu/numbers.h"

#include <math.h>
#include <string.h>

/* Rows in the buffer, which with what else is used stays in the first-level cache; rows after which lanes are emptied into limbs, while
 * most of them still hold all bits. */
enum { ROWS = 16, ROWS_HELD = 1 << 12 };

/* Rows of fewer elements are turned into lanes as they are; others are folded to few doubles first, up to where a row takes so long that
 * what else there is to do no longer counts. */
enum { FOLDED_LEAST = 24, FOLDED_MOST = 1 << 14, TURNED_MOST = 256 };

/* Groups of RD_SIDE columns that are summed at once, so that as much of each row as is a page of memory is read before the next row. */
enum { GROUPS = 8, ROWS_AT_ONCE = 8 };

/* What is summed for a result: its terms, their squares, and what rounding leaves of f64 products. */
enum plane { TERMS, SQUARES, ERRORS, PLANES };

struct side {
    struct rd_side sum[GROUPS][PLANES];
    _Alignas(64) double x[ROWS * RD_SIDE], y[ROWS * RD_SIDE], product[ROWS * RD_SIDE], error[ROWS * RD_SIDE];
};

/* What a group of at most RD_SIDE results is reduced with. */
struct work {
    struct rd_job *job;
    const struct rd_kernels *kernels;
    const struct rd_desk *desk;
    struct side *side;
    struct rd_side *sum;      /* by plane */
    struct rd_partial *state; /* by lane; of no use before the lanes were emptied once */
    enum rd_transform transform;
    bool single, absolute, emptied;
    uint64_t first, lanes;
    struct rd_source source; /* of the first lane */
};

/* Whether the terms are elements or their absolute values. */
static bool has_elements(enum rd_transform transform) {
    return transform == RD_IDENTITY || transform == RD_ABSOLUTE;
}

static int64_t distance(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

bool rd_side_suits(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    const size_t bytes = rd_type(many->state[0].reduction.element)->bytes;
    if (many->states != 1 || bytes < sizeof(float) || rd_many_is_segmented(many) ||
        rd_family(&many->state[0].reduction) != RD_EXACT_SUM ||
        rd_operator(many->state[0].reduction.op)->transform == RD_WEIGHTED || !layout->count || !layout->kept_axes ||
        layout->kept[layout->kept_axes - 1].length < 8)
        return false;
    int64_t beside = distance(layout->kept[layout->kept_axes - 1].stride[0]),
            step = distance(rd_cursor_step(layout, 0));
    bool rows = step == 1 && has_elements(rd_operator(many->state[0].reduction.op)->transform);
    return beside < step || layout->count <= (rows ? FOLDED_MOST : TURNED_MOST);
}

size_t rd_side_bytes(void) {
    return sizeof(struct side);
}

/* Whether columns are summed where they are. */
static bool is_in_place(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    return has_elements(rd_operator(many->state[0].reduction.op)->transform) &&
           layout->kept[layout->kept_axes - 1].stride[0] == 1;
}

uint64_t rd_side_tile(const struct rd_many *many) {
    return is_in_place(many) ? GROUPS * RD_SIDE : RD_SIDE;
}

static void clear(struct work *work) {
    for (int p = 0; p < PLANES; p++)
        for (int l = 0; l < RD_SIDE; l++) {
            work->sum[p].high[l] = -0.0; /* the identity of addition: only terms that are all -0 leave it */
            work->sum[p].low[l] = 0;
            work->sum[p].lost[l] = 0;
        }
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
    case RD_PRODUCT:
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

/* A long run that lies one after another: each lane's is a row, which is folded to few doubles before it is turned. */
static void add_folded(struct work *work, const struct rd_cursor *cursor, uint64_t run) {
    fold_side *fold = work->single ? work->kernels->fold_side_f32 : work->kernels->fold_side_f64;
    size_t folded = 2 * work->kernels->side_lanes;
    fold(work->source.input[0] + cursor->offset[0] * (int64_t)work->job->bytes, axis_beside(work)->stride[0],
         work->lanes, run, work->absolute, work->side->y, work->sum[TERMS].lost);
    work->kernels->fetch_f64(work->side->y, 1, (ptrdiff_t)folded, folded, work->lanes, work->side->x);
    work->kernels->add_side_f64(&work->sum[TERMS], work->side->x, RD_SIDE, folded, false);
}

/* Adds elements number `first` to `end` of every lane. */
static void add_elements(struct work *work, uint64_t first, uint64_t end) {
    const struct rd_layout *layout = &work->job->many->layout;
    bool in_rows = rd_cursor_step(layout, 0) == 1 && has_elements(work->transform);
    struct rd_cursor cursor;
    rd_cursor_start(layout, first, &cursor);
    for (uint64_t run; first < end; first += run) {
        run = rd_cursor_run(layout, &cursor, end - first);
        if (in_rows && run >= FOLDED_LEAST) {
            add_folded(work, &cursor, run);
        } else {
            run = run < ROWS ? run : ROWS;
            add_turned(work, &cursor, run);
        }
        rd_cursor_advance(layout, run, &cursor);
    }
}

/* The same for groups of columns, in place: some rows of all groups, then the next rows. */
static void add_in_place(struct work *work, size_t groups, uint64_t first, uint64_t end) {
    const struct rd_layout *layout = &work->job->many->layout;
    add_side *add = work->single ? work->kernels->add_side_f32 : work->kernels->add_side_f64;
    int64_t step = rd_cursor_step(layout, 0);
    struct rd_cursor cursor;
    rd_cursor_start(layout, first, &cursor);
    for (uint64_t run; first < end; first += run) {
        run = rd_cursor_run(layout, &cursor, end - first < ROWS_AT_ONCE || groups == 1 ? end - first : ROWS_AT_ONCE);
        for (size_t g = 0; g < groups; g++)
            add(&work[g].sum[TERMS], work[g].source.input[0] + cursor.offset[0] * (int64_t)work->job->bytes, step, run,
                work->absolute);
        rd_cursor_advance(layout, run, &cursor);
    }
}

static bool is_lost(const struct work *work, uint64_t lane) {
    return (work->sum[TERMS].lost[lane] | work->sum[SQUARES].lost[lane] | work->sum[ERRORS].lost[lane]) != 0;
}

/* Brings a lane home into a state of no elements, `count` of which it holds. */
static void bring_home(const struct work *work, uint64_t lane, uint64_t count, struct rd_partial *state) {
    const struct rd_side *sum = work->sum;
    struct rd_sum *of_products = work->transform == RD_MOMENTS ? &state->squares : &state->sum;
    double high = sum[TERMS].high[lane], low = sum[TERMS].low[lane];
    state->nonzero |= high != 0 || low != 0 || !signbit(high);
    rd_sum_add_double(&state->sum, high, 0);
    rd_sum_add_double(&state->sum, low, 0);
    for (int p = SQUARES; p < PLANES; p++) {
        rd_sum_add_double(of_products, sum[p].high[lane], 0);
        rd_sum_add_double(of_products, sum[p].low[lane], 0);
    }
    state->seen += count;
}

static const unsigned char *input_of(const struct work *work, unsigned i, uint64_t lane) {
    const struct rd_layout *layout = &work->job->many->layout;
    const unsigned char *first = work->source.input[i];
    return first ? first + layout->kept[layout->kept_axes - 1].stride[i] * (int64_t)(lane * work->job->bytes) : NULL;
}

/* Empties the lanes, which hold elements `first` to `end`, into their states; lost ones are read once more. */
static void empty(struct work *work, uint64_t first, uint64_t end) {
    struct rd_job *job = work->job;
    const struct rd_many *many = job->many;
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

/* (high + low) / count as a quotient and what is left of it, so small that only its sign and size beside the quotient's last bit matter.
 * The remainder of a division is exact where nothing under- or overflows. */
static bool divide(double high, double low, double count, double *quotient, double *rest) {
    double sum = high + low, part = sum - high, error = (high - (sum - part)) + (low - part);
    *quotient = sum / count;
    *rest = (fma(-*quotient, count, sum) + error) / count;
    double size = fabs(*quotient);
    return sum == 0 ? error == 0 : size > 0x1p-900 && size < 0x1p900;
}

/* Writes a mean that follows from a lane by one rounding; false where it is not that simple. */
static bool round_mean(const struct work *work, uint64_t lane, unsigned char *place) {
    const struct rd_side *sum = &work->sum[TERMS];
    bool single = work->job->many->reduction[0].result == REDUCT_F32;
    double high = sum->high[lane], low = sum->low[lane];
    if (high == 0 && low == 0)
        low = high; /* which leaves its sign to the sum */
    if (!(fabs(high) < 0x1p1000) || !divide(high, low, (double)work->job->many->layout.count, &high, &low))
        return false;
    double margin = fabs(low) * 0x1p-50; /* of what the rest may be off */
    if (high == 0 && low == 0)
        low = high;
    else if (!single && high + (low + margin) != high + (low - margin))
        return false;
    double rounded = high + low;
    float narrow = (float)rd_add_to_odd(high, low);
    memcpy(place, single ? (const void *)&narrow : &rounded, single ? sizeof narrow : sizeof rounded);
    return true;
}

/* Rounds what is simple to round, with all lanes at once; leaves the rest, those that are not 0 in `left`. */
static void round_lanes(struct work *work, int64_t left[RD_SIDE]) {
    struct rd_job *job = work->job;
    const struct rd_many *many = job->many;
    const struct rd_layout *layout = &many->layout;
    const reduct_reduction *reduction = &many->reduction[0];
    int64_t beside = job->held[0] ? 1 : layout->kept[layout->kept_axes - 1].result_stride;
    bool single = reduction->result == REDUCT_F32,
         terms = work->single || work->transform == RD_IDENTITY || work->transform == RD_ABSOLUTE;
    size_t bytes = single ? sizeof(float) : sizeof(double);
    unsigned char *place = rd_job_place(job, work->first, work->source.offset, 0, false);
    _Alignas(64) unsigned char rounded[RD_SIDE * sizeof(double)];
    enum rd_finish finish = rd_operator(reduction->op)->finish;
    memset(left, 0xff, RD_SIDE * sizeof *left);
    if (many->reductions > 1 || (job->execution->outcomes && job->execution->outcomes[0]) || !terms ||
        !(reduction->result == REDUCT_F64 || single))
        return;
    if (finish == RD_VALUE) {
        work->kernels->round_side(&work->sum[TERMS], single, rounded, left);
        for (uint64_t l = 0; l < work->lanes; l++)
            if (!left[l])
                memcpy(place + (int64_t)l * beside * (int64_t)bytes, rounded + l * bytes, bytes);
    } else if (finish == RD_MEAN && layout->count < (uint64_t)1 << 53) {
        for (uint64_t l = 0; l < work->lanes; l++)
            left[l] = is_lost(work, l) || !round_mean(work, l, place + (int64_t)l * beside * (int64_t)bytes);
    }
}

/* Rounds and writes the results of lanes that hold all their elements. */
static void finish_lanes(struct work *work) {
    struct rd_job *job = work->job;
    const struct rd_layout *layout = &job->many->layout;
    _Alignas(64) int64_t left[RD_SIDE];
    round_lanes(work, left);
    for (uint64_t l = 0; l < work->lanes; l++) {
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

void rd_side_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results, uint64_t part) {
    const struct rd_prepared *prepared = &job->many->state[0];
    uint64_t begin = part * job->part, count = job->many->layout.count;
    uint64_t end = job->parts > 1 && count - begin > job->part ? begin + job->part : count;
    struct side *side = desk->side;
    struct work work[GROUPS];
    size_t groups = 0, in_place = is_in_place(job->many) ? results / RD_SIDE : 0;
    rd_environment caller = rd_environment_enter();
    for (; groups * RD_SIDE < results; groups++) {
        uint64_t at = groups * RD_SIDE;
        work[groups] = (struct work){.job = job,
                                     .kernels = prepared->device.private,
                                     .desk = desk,
                                     .side = side,
                                     .sum = side->sum[groups],
                                     .state = desk->state + at,
                                     .transform = rd_operator(prepared->reduction.op)->transform,
                                     .single = prepared->reduction.element == REDUCT_F32,
                                     .first = first + at,
                                     .lanes = results - at < RD_SIDE ? results - at : RD_SIDE,
                                     .source = rd_job_source(job, first + at)};
        work[groups].absolute = work[groups].transform == RD_ABSOLUTE;
        clear(&work[groups]);
    }
    if (results % RD_SIDE) { /* lanes that are not used add zeros */
        memset(side->x, 0, sizeof side->x);
        memset(side->y, 0, sizeof side->y);
    }
    for (uint64_t at = begin, next; at < end; at = next) {
        next = end - at < ROWS_HELD ? end : at + ROWS_HELD;
        if (in_place)
            add_in_place(work, in_place, at, next);
        for (size_t g = in_place; g < groups; g++)
            add_elements(&work[g], at, next);
        for (size_t g = 0; g < groups && (job->parts > 1 || end - begin > ROWS_HELD); g++)
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
