/* Sums side by side: see side.h. Elements become rows of doubles in a buffer, a lane for each result, and are added lane by lane
 * (side_template.h). Most sums are then one addition away from their result. Those that a lane could not hold, and whatever is not
 * finite, are reduced in the ordinary way. */
#include "cpu/side.h"

#include "core/environment.h"
#include "core/reduction.h"

#include <math.h>
#include <string.h>

/* Rows in the buffer, which with what else is used stays in the first-level cache; rows after which lanes are emptied into limbs, while
 * most of them still hold all bits. */
enum { ROWS = 16, ROWS_HELD = 1 << 12 };

/* Elements of rows that are worth turning into lanes: longer ones are vectors by themselves. */
enum { TURNED = 256 };

/* What is summed for a result: its terms, their squares, and what rounding leaves of f64 products. */
enum plane { TERMS, SQUARES, ERRORS, PLANES };

struct side {
    struct rd_side sum[PLANES];
    _Alignas(64) double x[ROWS * RD_SIDE], y[ROWS * RD_SIDE], product[ROWS * RD_SIDE], error[ROWS * RD_SIDE];
};

struct work {
    struct rd_job *job;
    const struct rd_desk *desk;
    const struct rd_kernels *kernels;
    struct side *side;
    enum rd_transform transform;
    bool single;
    uint64_t first, lanes;
    struct rd_source source; /* of the first lane */
    bool emptied;            /* into the states, at least once */
};

static int64_t distance(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

bool rd_side_suits(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    if (many->states != 1 || rd_many_is_segmented(many) || rd_family(&many->state[0].reduction) != RD_EXACT_SUM ||
        !layout->count || !layout->kept_axes || layout->kept[layout->kept_axes - 1].length < 8)
        return false;
    int64_t beside = distance(layout->kept[layout->kept_axes - 1].stride[0]),
            step = distance(rd_cursor_step(layout, 0));
    return beside < step || layout->count <= TURNED;
}

size_t rd_side_bytes(void) {
    return sizeof(struct side);
}

static void clear(struct work *work) {
    for (int p = 0; p < PLANES; p++)
        for (int l = 0; l < RD_SIDE; l++) {
            work->side->sum[p].high[l] = -0.0; /* the identity of addition: only terms that are all -0 leave it */
            work->side->sum[p].low[l] = 0;
            work->side->sum[p].lost[l] = 0;
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
        work->kernels->add_side_f64(&side->sum[ERRORS], side->error, RD_SIDE, rows, false);
    } else {
        memset(side->sum[plane].lost, 0xff, sizeof side->sum[plane].lost);
        return;
    }
    work->kernels->add_side_f64(&side->sum[plane], side->product, RD_SIDE, rows, false);
}

static void add_rows(struct work *work, size_t rows) {
    struct side *side = work->side;
    switch (work->transform) {
    case RD_ABSOLUTE:
    case RD_IDENTITY:
        work->kernels->add_side_f64(&side->sum[TERMS], side->x, RD_SIDE, rows, work->transform == RD_ABSOLUTE);
        break;
    case RD_MOMENTS:
        work->kernels->add_side_f64(&side->sum[TERMS], side->x, RD_SIDE, rows, false);
        add_products(work, side->x, side->x, SQUARES, rows);
        break;
    case RD_SQUARE:
        add_products(work, side->x, side->x, TERMS, rows);
        break;
    case RD_PRODUCT:
        add_products(work, side->x, side->y, TERMS, rows);
        break;
    }
}

/* Adds elements number `first` to `end` of every lane. */
static void add_elements(struct work *work, uint64_t first, uint64_t end) {
    const struct rd_layout *layout = &work->job->many->layout;
    const struct rd_axis *beside = &layout->kept[layout->kept_axes - 1];
    struct rd_cursor cursor;
    rd_cursor_start(layout, first, &cursor);
    bool elements = work->transform == RD_IDENTITY || work->transform == RD_ABSOLUTE;
    bool in_place = elements && beside->stride[0] == 1 && work->lanes == RD_SIDE;
    uint64_t most = in_place ? ROWS_HELD : ROWS;
    for (uint64_t run; first < end; first += run) {
        run = rd_cursor_run(layout, &cursor, end - first < most ? end - first : most);
        if (in_place) {
            (work->single ? work->kernels->add_side_f32 : work->kernels->add_side_f64)(
                &work->side->sum[TERMS], work->source.input[0] + cursor.offset[0] * (int64_t)work->job->bytes,
                rd_cursor_step(layout, 0), run, work->transform == RD_ABSOLUTE);
            rd_cursor_advance(layout, run, &cursor);
            continue;
        }
        for (unsigned i = 0; i < work->job->many->inputs; i++)
            (work->single ? work->kernels->fetch_f32 : work->kernels->fetch_f64)(
                work->source.input[i] + cursor.offset[i] * (int64_t)work->job->bytes, rd_cursor_step(layout, i),
                beside->stride[i], run, work->lanes, i ? work->side->y : work->side->x);
        add_rows(work, run);
        rd_cursor_advance(layout, run, &cursor);
    }
}

static bool is_lost(const struct side *side, uint64_t lane) {
    return (side->sum[TERMS].lost[lane] | side->sum[SQUARES].lost[lane] | side->sum[ERRORS].lost[lane]) != 0;
}

/* Brings a lane home into a state of no elements, `count` of which it holds. */
static void bring_home(const struct work *work, uint64_t lane, uint64_t count, struct rd_partial *state) {
    const struct rd_side *sum = work->side->sum;
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
        struct rd_partial *state = &work->desk->state[l];
        if (!work->emptied)
            rd_job_init_states(job, state);
        if (!is_lost(work->side, l)) {
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

/* a + b rounded to odd: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd",
 * 2008. Rounding that once more, to fewer bits, rounds a + b. */
static double add_to_odd(double a, double b) {
    double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0 && !(bits & 1))
        bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    memcpy(&sum, &bits, sizeof bits);
    return sum;
}

/* (high + low) / count as a quotient and what is left of it, so small that only its sign and size beside the quotient's last bit matter.
 * The remainder of a division is exact where nothing under- or overflows. */
static bool divide(double high, double low, double count, double *quotient, double *rest) {
    double sum = high + low, part = sum - high, error = (high - (sum - part)) + (low - part);
    *quotient = sum / count;
    *rest = (fma(-*quotient, count, sum) + error) / count;
    double size = fabs(*quotient);
    return sum == 0 ? error == 0 : size > 0x1p-900 && size < 0x1p900;
}

/* Writes a result that follows from a lane by one rounding; false where it is not that simple. */
static bool round_simply(const struct work *work, uint64_t lane, unsigned char *place) {
    const reduct_reduction *reduction = &work->job->many->reduction[0];
    enum rd_finish finish = rd_operator(reduction->op)->finish;
    double high = work->side->sum[TERMS].high[lane], low = work->side->sum[TERMS].low[lane];
    bool whole = finish == RD_VALUE,
         terms = work->single || work->transform == RD_IDENTITY || work->transform == RD_ABSOLUTE;
    bool mean = finish == RD_MEAN && work->job->many->layout.count < (uint64_t)1 << 53;
    double count = (double)work->job->many->layout.count;
    if (!terms || !(whole || mean) || !(fabs(high) < 0x1p1000) ||
        !(reduction->result == REDUCT_F64 || reduction->result == REDUCT_F32))
        return false;
    if (high == 0 && low == 0)
        low = high; /* which leaves its sign to the sum */
    if (mean && !divide(high, low, count, &high, &low))
        return false;
    if (high == 0 && low == 0) {
        low = high;
    } else if (mean && reduction->result == REDUCT_F64) {
        double margin = fabs(low) * 0x1p-50; /* of what the rest may be off */
        if (high + (low + margin) != high + (low - margin))
            return false;
    }
    if (reduction->result == REDUCT_F64) {
        double rounded = high + low;
        memcpy(place, &rounded, sizeof rounded);
    } else {
        float rounded = (float)add_to_odd(high, low);
        memcpy(place, &rounded, sizeof rounded);
    }
    return true;
}

/* Rounds and writes the results of lanes that hold all their elements. */
static void finish_lanes(struct work *work) {
    struct rd_job *job = work->job;
    const struct rd_layout *layout = &job->many->layout;
    int64_t beside = layout->kept[layout->kept_axes - 1].result_stride;
    bool simple = job->many->reductions == 1 && !(job->execution->outcomes && job->execution->outcomes[0]);
    for (uint64_t l = 0; l < work->lanes; l++) {
        uint64_t result = work->first + l;
        int64_t offset = work->source.offset + (int64_t)l * beside;
        if (is_lost(work->side, l)) {
            rd_job_reduce(job, work->desk, result, 0);
            continue;
        }
        if (simple && round_simply(work, l, rd_job_place(job, result, offset, 0, false)))
            continue;
        rd_job_init_states(job, work->desk->state);
        bring_home(work, l, layout->count, work->desk->state);
        rd_job_finish(job, result, offset, work->desk->state);
    }
}

/* The same from states; of parts the states are all that is wanted so far. */
static void finish_states(struct work *work, uint64_t part) {
    struct rd_job *job = work->job;
    const struct rd_layout *layout = &job->many->layout;
    for (uint64_t l = 0; l < work->lanes; l++)
        if (job->parts > 1)
            job->partials[(work->first + l) * job->parts + part] = work->desk->state[l];
        else
            rd_job_finish(job, work->first + l,
                          work->source.offset + (int64_t)l * layout->kept[layout->kept_axes - 1].result_stride,
                          &work->desk->state[l]);
}

void rd_side_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results, uint64_t part,
                    void *memory) {
    const struct rd_prepared *prepared = &job->many->state[0];
    uint64_t begin = part * job->part, count = job->many->layout.count;
    uint64_t end = job->parts > 1 && count - begin > job->part ? begin + job->part : count;
    struct work work = {.job = job,
                        .desk = desk,
                        .kernels = prepared->device.private,
                        .side = memory,
                        .transform = rd_operator(prepared->reduction.op)->transform,
                        .single = prepared->reduction.element == REDUCT_F32,
                        .first = first,
                        .lanes = results,
                        .source = rd_job_source(job, first)};
    rd_environment caller = rd_environment_enter();
    clear(&work);
    if (results < RD_SIDE) { /* lanes that are not used add zeros */
        memset(work.side->x, 0, sizeof work.side->x);
        memset(work.side->y, 0, sizeof work.side->y);
    }
    for (uint64_t at = begin; at < end; at += ROWS_HELD) {
        uint64_t next = end - at < ROWS_HELD ? end : at + ROWS_HELD;
        add_elements(&work, at, next);
        if (job->parts > 1 || end - begin > ROWS_HELD)
            empty(&work, at, next);
    }
    if (work.emptied)
        finish_states(&work, part);
    else
        finish_lanes(&work);
    rd_environment_leave(caller);
}
