/* Many results, or several reductions of the same data.
 *
 * The work is cut into units: some results that lie together, and of these all elements or, where there are fewer results than
 * threads want, a part of them. A thread that takes a unit reduces each result by the backend's way for whole arrays, on itself
 * alone. Elements that do not lie one after another are gathered into a buffer first; columns of a matrix in groups, so that a
 * line of the cache that was fetched for one serves its neighbours. Results that are too long for one thread to be left with, and
 * cannot be cut, are reduced one after another by all threads.
 *
 * Neither the cut nor the gathering changes a bit. Products of floats are not cut, so that these depend on the data alone as well; mode
 * fast is done as mode exact. */
#include "cpu/many.h"

#include "core/environment.h"
#include "core/reduction.h"
#include "core/status.h"
#include "cpu/groups.h"
#include "cpu/job.h"
#include "cpu/numbers.h"
#include "cpu/side.h"
#include "cpu/side_extremes.h"
#include "cpu/team.h"
#include "family/family.h"

#include <stdlib.h>
#include <string.h>

/* Elements gathered at a time of one result, and of each of several: a multiple of the blocks of products. */
enum { GATHERED = RD_MASK_BLOCK, GATHERED_EACH = 1 << 12 };

/* What a line of the cache holds; how many elements of a column are copied before its neighbour's turn, so that their lines stay
 * in the first-level cache. */
enum { LINE_BYTES = 64, COLUMN_STEP = 64 };

/* A unit is at least so many bytes, to be worth taking, and at most so many results. */
enum { UNIT_BYTES = 1 << 16, UNIT_RESULTS = 1 << 12 };

/* Of a result's elements, the fewest that are a part, and of a column's, which take longer; units that each thread should find, so that
 * all end together. */
enum { PART_LEAST = 1 << 16, COLUMNS_PART_LEAST = 1 << 13, UNITS_PER_THREAD = 4 };

/* Elements of one result that all threads reduce together, where it cannot be cut. */
enum { LONG = 1 << 18 };

/* What a result that was reduced elsewhere counts for where it is asked how many threads pay. */
enum { MADE_BYTES = 256 };

/* Bytes that several states read one after another while they are in cache. */
enum { SHARED_BYTES = 1 << 15 };

static uint64_t at_least(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

bool rd_job_stops(const struct rd_job *job) {
    return rd_team_stops(&job->many->state[0].crew);
}

bool rd_job_stops_after(const struct rd_job *job, uint64_t done) {
    return done && done % RD_STOPPING_STEP == 0 && rd_job_stops(job);
}

static uint64_t bound(const void *bounds, reduct_type type, uint64_t at) {
    switch ((int)type) { /* those that check_segments() lets pass */
    case REDUCT_I32:
        return (uint64_t)((const int32_t *)bounds)[at];
    case REDUCT_U32:
        return ((const uint32_t *)bounds)[at];
    default:
        return ((const uint64_t *)bounds)[at];
    }
}

static uint64_t segment_begin(const struct rd_job *job, uint64_t at) {
    return bound(job->execution->begins, job->many->segments.index, at);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

static void note_failure(struct rd_job *job, uint64_t result, size_t which, const reduct_error *error) {
    pthread_mutex_lock(&job->lock);
    struct rd_failure *first = &job->failure;
    if (first->status == REDUCT_OK || result < first->result || (result == first->result && which < first->which))
        *first = (struct rd_failure){result, which, error->status, *error};
    pthread_mutex_unlock(&job->lock);
}

/* Where a result is to be written: where it belongs, or where it waits. */
unsigned char *rd_job_place(const struct rd_job *job, uint64_t result, int64_t offset, size_t which, bool final) {
    size_t bytes = rd_result_size(&job->many->reduction[which]);
    if (job->held[which] && !final)
        return job->held[which] + result * bytes;
    return (unsigned char *)job->execution->results[which] + offset * (int64_t)bytes;
}

/* As of a whole array, too few elements come before what they are. */
static reduct_status finish_state(struct rd_partial *state, const reduct_reduction *reduction, void *result,
                                  reduct_error *error) {
    reduct_reduction own = state->reduction;
    bool refused = reduction->nan == REDUCT_NAN_ERROR && state->nan_index != UINT64_MAX;
    if (refused && rd_partial_count(state) >= rd_minimum(reduction))
        return rd_fail_at(error, REDUCT_ERROR_NAN, state->nan_index, "element %llu is NaN",
                          (unsigned long long)state->nan_index);
    state->reduction = *reduction;
    reduct_status status = rd_partial_finish(state, reduction->result, result, error);
    state->reduction = own;
    return status;
}

/* Puts the place that an element had elsewhere for its number, in a result that is an index and in a failure. */
static void name_places(const struct rd_job *job, uint64_t result, const reduct_reduction *reduction,
                        reduct_status status, void *bytes, reduct_error *error) {
    const uint64_t *places = job->places ? job->places + segment_begin(job, result) : NULL;
    uint64_t index;
    if (places && status == REDUCT_OK && rd_operator(reduction->op)->finish == RD_INDEX) {
        memcpy(&index, bytes, sizeof index);
        memcpy(bytes, &places[index], sizeof index);
    } else if (status == REDUCT_ERROR_NAN) {
        index = places ? places[error->index] : error->index;
        if (index == RD_NO_PLACE)
            rd_fail_at(error, status, UINT64_MAX, "the initial value is NaN");
        else
            rd_fail_at(error, status, index, "element %llu is NaN", (unsigned long long)index);
    }
}

/* Rounds all reductions of one result from its states. */
void rd_job_finish(struct rd_job *job, uint64_t result, int64_t offset, struct rd_partial *state) {
    const struct rd_many *many = job->many;
    for (size_t i = 0; i < many->reductions; i++) {
        unsigned char *place = rd_job_place(job, result, offset, i, false);
        reduct_outcome *outcomes = job->execution->outcomes ? job->execution->outcomes[i] : NULL;
        _Alignas(32) unsigned char bytes[32];
        reduct_error error = {.index = UINT64_MAX};
        reduct_status status = finish_state(&state[many->state_of[i]], &many->reduction[i], bytes, &error);
        if (job->places || job->made)
            name_places(job, result, &many->reduction[i], status, bytes, &error);
        if (status != REDUCT_OK)
            rd_store_failed(&many->reduction[i], bytes);
        memcpy(place, bytes, rd_result_size(&many->reduction[i]));
        if (outcomes)
            outcomes[result] = (reduct_outcome){.status = status, .index = error.index};
        else if (status != REDUCT_OK)
            note_failure(job, result, i, &error);
    }
}

void rd_job_succeed(const struct rd_job *job, size_t which, uint64_t first, uint64_t results, const int64_t *left) {
    reduct_outcome *outcomes = job->execution->outcomes ? job->execution->outcomes[which] : NULL;
    for (uint64_t r = 0; outcomes && r < results; r++)
        if (!left || !left[r])
            outcomes[first + r] = (reduct_outcome){.status = REDUCT_OK, .index = UINT64_MAX};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Elements
 * ------------------------------------------------------------------------------------------------------------------ */

#define COPY(T)                                                                                                        \
    for (uint64_t i = 0; i < count; i++)                                                                               \
        ((T *)to)[i] = *(const T *)(from + (int64_t)i * step);                                                         \
    break

/* `step`: bytes from one element to the next. */
static void copy_strided(void *to, const unsigned char *from, int64_t step, uint64_t count, size_t bytes) {
    switch (bytes) {
    case 1:
        COPY(uint8_t);
    case 2:
        COPY(uint16_t);
    case 4:
        COPY(uint32_t);
    default:
        COPY(uint64_t);
    }
}

/* Copies the elements number `first` and so on of a result, in their order. `from`: its first element. */
void rd_job_gather(const struct rd_layout *layout, unsigned input, size_t bytes, const unsigned char *from,
                   uint64_t first, uint64_t count, unsigned char *to) {
    struct rd_cursor cursor;
    rd_cursor_start(layout, first, &cursor);
    for (uint64_t run; count; count -= run, to += run * bytes) {
        run = rd_cursor_run(layout, &cursor, count);
        copy_strided(to, from + cursor.offset[input] * (int64_t)bytes, rd_cursor_step(layout, input) * (int64_t)bytes,
                     run, bytes);
        rd_cursor_advance(layout, run, &cursor);
    }
}

/* Adds elements that lie one after another to a state. */
static void add(struct rd_job *job, const struct rd_desk *desk, size_t s, struct rd_partial *state, const void *x,
                const void *y, uint64_t count) {
    struct rd_prepared alone = job->many->state[s];
    bool two = rd_operator(alone.reduction.op)->inputs == 2;
    struct rd_partial part, *to = state->seen ? &part : state;
    alone.crew = (struct rd_crew){.threads = 1};
    if (state->seen)
        rd_partial_begin(&part, state);
    if (alone.device.backend->accumulate(&alone, x, two ? y : NULL, count, desk->room, to, NULL) != REDUCT_OK)
        atomic_store(&job->lacks_memory, true);
    if (to == &part)
        rd_partial_follow(state, &part);
}

/* How many elements are added at a time: what stays in cache where there are several states, and no more than need be where somebody
 * may want to stop in between. */
static uint64_t step_of(const struct rd_job *job, uint64_t count) {
    const struct rd_many *many = job->many;
    if (many->states > 1)
        return SHARED_BYTES / job->bytes;
    return many->splits && rd_team_may_stop(&many->state[0].crew) ? RD_STOPPING_STEP : count;
}

/* Adds them to all states. */
void rd_job_add(struct rd_job *job, const struct rd_desk *desk, struct rd_partial *state, const unsigned char *x,
                const unsigned char *y, uint64_t count) {
    uint64_t step = step_of(job, count);
    for (uint64_t at = 0; at < count && !rd_job_stops_after(job, at); at += step) {
        uint64_t some = count - at < step ? count - at : step;
        for (size_t s = 0; s < job->many->states; s++)
            add(job, desk, s, &state[s], x + at * job->bytes, y ? y + at * job->bytes : NULL, some);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Units
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t segment_end(const struct rd_job *job, uint64_t at) {
    const struct rd_execution *execution = job->execution;
    return execution->ends ? bound(execution->ends, job->many->segments.index, at) : segment_begin(job, at + 1);
}

struct rd_source rd_job_source(const struct rd_job *job, uint64_t result) {
    const struct rd_execution *execution = job->execution;
    struct rd_source source = {.offset = (int64_t)result};
    int64_t first[RD_ARRAYS];
    if (rd_many_is_segmented(job->many)) {
        first[0] = first[1] = first[RD_MASK] = (int64_t)segment_begin(job, result);
        source.count = segment_end(job, result) - segment_begin(job, result);
    } else {
        struct rd_offsets offsets = rd_layout_result(&job->many->layout, result);
        memcpy(first, offsets.input, sizeof first);
        source.offset = offsets.result;
        source.count = job->many->layout.count;
    }
    for (unsigned i = 0; i < 2; i++)
        source.input[i] = execution->input[i] ? execution->input[i] + first[i] * (int64_t)job->bytes : NULL;
    source.mask = first[RD_MASK] + (int64_t)job->many->mask_offset;
    return source;
}

void rd_job_init_states(const struct rd_job *job, struct rd_partial *state) {
    for (size_t s = 0; s < job->many->states; s++)
        rd_partial_init(&state[s], &job->many->state[s].reduction);
}

/* Small ordinary sums, which are known in less time than a state takes to begin with. */
static bool answer(const struct rd_job *job, const struct rd_source *source, uint64_t result) {
    const struct rd_many *many = job->many;
    const struct rd_backend *backend = many->state[0].device.backend;
    return many->reductions == 1 && job->direct && job->parts == 1 && source->count && backend->answer &&
           !(job->execution->outcomes && job->execution->outcomes[0]) &&
           backend->answer(&many->state[0], source->input[0], source->input[1], source->count,
                           rd_job_place(job, result, source->offset, 0, false));
}

/* Reads the mask of elements of a result from number `first` on. */
static void read_mask(const struct rd_job *job, const struct rd_desk *desk, const struct rd_source *source,
                      uint64_t first, uint64_t count) {
    const struct rd_many *many = job->many;
    const struct rd_layout *layout = &many->layout;
    uint64_t *keep = desk->mask->keep;
    memset(keep, 0, sizeof desk->mask->keep);
    if (rd_many_is_segmented(many)) {
        rd_mask_read(many->mask, job->execution->mask, source->mask + (int64_t)first, 1, count, keep, 0);
        return;
    }
    struct rd_cursor cursor;
    rd_cursor_start(layout, first, &cursor);
    for (uint64_t at = 0, run; at < count; at += run) {
        run = rd_cursor_run(layout, &cursor, count - at);
        rd_mask_read(many->mask, job->execution->mask, source->mask + cursor.offset[RD_MASK],
                     rd_cursor_step(layout, RD_MASK), run, keep, at);
        rd_cursor_advance(layout, run, &cursor);
    }
}

/* Adds elements of a result, of which a mask says which count, to all states. */
static void add_masked(struct rd_job *job, const struct rd_desk *desk, const struct rd_source *source, uint64_t first,
                       uint64_t count, struct rd_partial *state) {
    const struct rd_many *many = job->many;
    const unsigned char *input[2] = {NULL, NULL};
    read_mask(job, desk, source, first, count);
    for (unsigned i = 0; i < many->inputs; i++) {
        input[i] = job->contiguous ? source->input[i] + first * job->bytes : desk->gathered[i];
        if (!job->contiguous)
            rd_job_gather(&many->layout, i, job->bytes, source->input[i], first, count, desk->gathered[i]);
    }
    for (size_t s = 0; s < many->states; s++) {
        struct rd_prepared alone = many->state[s];
        bool two = rd_operator(alone.reduction.op)->inputs == 2;
        alone.crew = (struct rd_crew){.threads = 1};
        if (rd_mask_add(&alone, desk->mask, input[0], two ? input[1] : NULL, count, desk->room, &state[s], NULL) !=
            REDUCT_OK)
            atomic_store(&job->lacks_memory, true);
    }
}

/* The part of a result that begins with element `first`. */
void rd_job_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t result, uint64_t part) {
    const struct rd_many *many = job->many;
    struct rd_source source = rd_job_source(job, result);
    uint64_t first = part * job->part,
             end = job->parts > 1 && source.count - first > job->part ? first + job->part : source.count;
    if (source.count > job->longest || answer(job, &source, result))
        return;
    struct rd_partial *state =
        job->parts > 1 ? job->partials + (result * job->parts + part) * many->states : desk->state;
    rd_job_init_states(job, state);
    if (many->mask) {
        for (uint64_t at = first; at < end && !rd_job_stops_after(job, at - first); at += GATHERED)
            add_masked(job, desk, &source, at, end - at < GATHERED ? end - at : GATHERED, state);
    } else if (job->direct && end > first) { /* where there are no elements, there may be no array */
        rd_job_add(job, desk, state, source.input[0] + first * job->bytes,
                   source.input[1] ? source.input[1] + first * job->bytes : NULL, end - first);
    } else {
        for (uint64_t at = first; at < end && !rd_job_stops_after(job, at - first); at += GATHERED) {
            uint64_t some = end - at < GATHERED ? end - at : GATHERED;
            for (unsigned i = 0; i < many->inputs; i++)
                rd_job_gather(&many->layout, i, job->bytes, source.input[i], at, some, desk->gathered[i]);
            rd_job_add(job, desk, state, desk->gathered[0], many->inputs > 1 ? desk->gathered[1] : NULL, some);
        }
    }
    if (job->parts == 1)
        rd_job_finish(job, result, source.offset, state);
}

/* The same for results whose elements lie side by side. */
static void reduce_together(struct rd_job *job, const struct rd_desk *desk, uint64_t result, uint64_t results,
                            uint64_t part) {
    const struct rd_many *many = job->many;
    const struct rd_layout *layout = &many->layout;
    struct rd_source source[LINE_BYTES];
    uint64_t first = part * job->part, end = layout->count - first > job->part ? first + job->part : layout->count;
    size_t room = GATHERED_EACH * job->bytes;
    for (uint64_t r = 0; r < results; r++) {
        source[r] = rd_job_source(job, result + r);
        rd_job_init_states(job, desk->state + r * many->states);
    }
    for (uint64_t at = first; at < end && !rd_job_stops_after(job, at - first); at += GATHERED_EACH) {
        uint64_t some = end - at < GATHERED_EACH ? end - at : GATHERED_EACH;
        for (uint64_t step = 0; step < some; step += COLUMN_STEP)
            for (unsigned i = 0; i < many->inputs; i++)
                for (uint64_t r = 0; r < results; r++)
                    rd_job_gather(layout, i, job->bytes, source[r].input[i], at + step,
                                  some - step < COLUMN_STEP ? some - step : COLUMN_STEP,
                                  desk->gathered[i] + r * room + step * job->bytes);
        for (uint64_t r = 0; r < results; r++)
            rd_job_add(job, desk, desk->state + r * many->states, desk->gathered[0] + r * room,
                       many->inputs > 1 ? desk->gathered[1] + r * room : NULL, some);
    }
    for (uint64_t r = 0; r < results; r++) {
        struct rd_partial *state = desk->state + r * many->states;
        if (job->parts == 1)
            rd_job_finish(job, result + r, source[r].offset, state);
        else
            memcpy(job->partials + ((result + r) * job->parts + part) * many->states, state,
                   many->states * sizeof *state);
    }
}

/* The results of a unit: `tile` of them or, along rows, as many as are left in one. */
static uint64_t results_of(const struct rd_job *job, uint64_t unit, uint64_t *first) {
    uint64_t tile = unit / job->parts, tiles = rd_divide_up(job->row, job->tile), left;
    *first = tile / tiles * job->row + tile % tiles * job->tile;
    left = job->row - tile % tiles * job->tile;
    return left < job->tile ? left : job->tile;
}

/* Results that were reduced elsewhere. */
static void write_results(struct rd_job *job, const struct rd_desk *desk, uint64_t first, uint64_t results) {
    const struct rd_many *many = job->many;
    const struct rd_results *made = job->made;
    const uint64_t end = first + results;
    rd_environment caller = rd_environment_enter();
    for (uint64_t at = first; at < end; at += RD_SIDE) {
        const size_t count = end - at < RD_SIDE ? (size_t)(end - at) : RD_SIDE;
        int64_t left[RD_SIDE], any[RD_SIDE];
        bool all = true;
        for (size_t i = 0; i < many->reductions; i++) {
            const bool answered =
                made->answer(made->context, i, at, count, rd_job_place(job, at, (int64_t)at, i, false), left);
            rd_job_succeed(job, i, at, count, answered ? NULL : left);
            for (size_t r = 0; r < count && !answered; r++)
                any[r] = all ? left[r] : any[r] | left[r];
            all = all && answered;
        }
        for (size_t r = 0; r < count && !all; r++) {
            if (!any[r])
                continue;
            made->fill(made->context, at + r, desk->state);
            rd_job_finish(job, at + r, (int64_t)(at + r), desk->state);
        }
    }
    rd_environment_leave(caller);
}

static void do_unit(struct rd_job *job, const struct rd_desk *desk, uint64_t unit) {
    uint64_t first, results = results_of(job, unit, &first), part = unit % job->parts;
    if (job->made)
        write_results(job, desk, first, results);
    else if (job->side)
        rd_side_reduce(job, desk, first, results, part);
    else if (job->extremes)
        rd_side_extremes_reduce(job, desk, first, results, part);
    else if (job->together)
        reduce_together(job, desk, first, results, part);
    else
        for (uint64_t r = 0; r < results; r++)
            rd_job_reduce(job, desk, first + r, part);
}

static size_t in_lines(size_t bytes) {
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

static void work(void *context) {
    struct rd_job *job = context;
    const struct rd_many *many = job->many;
    struct rd_desk desk = {.room = rd_room_take()};
    uint64_t together = !job->side && !job->together ? 1 : job->tile < job->row ? job->tile : job->row;
    size_t states = in_lines(together * many->states * sizeof(struct rd_partial)),
           side = job->side       ? in_lines(rd_side_bytes())
                  : job->extremes ? in_lines(rd_side_extremes_bytes())
                                  : 0;
    size_t gathered = job->extremes || job->made || (job->direct && !job->side)
                          ? 0
                          : in_lines((job->together ? together * GATHERED_EACH : GATHERED) * job->bytes);
    size_t mask = many->mask && !job->made ? in_lines(sizeof *desk.mask) : 0;
    const size_t bytes = states + side + mask + many->inputs * gathered;
    const bool fits = desk.room && bytes <= sizeof desk.room->desk;
    unsigned char *own = fits ? NULL : aligned_alloc(LINE_BYTES, bytes), *memory = fits ? desk.room->desk : own;
    if (desk.room && memory) {
        desk.state = (void *)memory;
        desk.side = memory + states;
        if (job->side)
            rd_side_begin(desk.side);
        for (unsigned i = 0; i < many->inputs; i++)
            desk.gathered[i] = memory + states + side + mask + i * gathered;
        desk.mask = mask ? (void *)(memory + states + side) : NULL;
        for (uint64_t unit; (unit = atomic_fetch_add(&job->next, 1)) < job->units && !rd_job_stops(job);)
            do_unit(job, &desk, unit);
    } /* one that lacks memory leaves its part to the others */
    free(own);
    if (desk.room)
        rd_room_give(desk.room);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Executions
 * ------------------------------------------------------------------------------------------------------------------ */

/* Reduces one result with all threads. Its elements lie one after another. */
static void reduce_with_all(struct rd_job *job, uint64_t result, struct rd_partial *state) {
    const struct rd_many *many = job->many;
    struct rd_source source = rd_job_source(job, result);
    rd_job_init_states(job, state);
    for (size_t s = 0; s < many->states; s++) {
        const void *y = rd_operator(many->state[s].reduction.op)->inputs == 2 ? source.input[1] : NULL;
        if (many->state[s].device.backend->accumulate(&many->state[s], source.input[0], y, source.count, NULL,
                                                      &state[s], NULL) == REDUCT_ERROR_OUT_OF_MEMORY)
            atomic_store(&job->lacks_memory, true);
    }
    rd_job_finish(job, result, source.offset, state);
}

static void merge_parts(struct rd_job *job) {
    const struct rd_many *many = job->many;
    for (uint64_t r = 0; r < many->layout.results; r++) {
        struct rd_partial *state = job->partials + r * job->parts * many->states;
        for (uint64_t p = 1; p < job->parts; p++)
            for (size_t s = 0; s < many->states; s++)
                rd_partial_merge(&state[s], &state[p * many->states + s]);
        rd_job_finish(job, r, rd_job_source(job, r).offset, state);
    }
}

/* Whether the call fails where a result does: then nothing is written until all are known. */
static bool may_fail(const struct rd_job *job, size_t which) {
    return !(job->execution->outcomes && job->execution->outcomes[which]) && rd_many_may_fail(job->many, which);
}

static bool is_contiguous(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    if (rd_many_is_segmented(many) || !layout->reduced_axes)
        return true;
    return layout->reduced_axes == 1 && layout->reduced[0].stride[0] == 1 &&
           (many->inputs == 1 || layout->reduced[0].stride[1] == 1);
}

/* Whether neighbouring results share lines of the cache that their own elements do not. */
static bool are_side_by_side(const struct rd_many *many, size_t bytes) {
    const struct rd_layout *layout = &many->layout;
    if (!layout->kept_axes || !layout->reduced_axes)
        return false;
    int64_t beside = layout->kept[layout->kept_axes - 1].stride[0],
            below = layout->reduced[layout->reduced_axes - 1].stride[0];
    beside = beside < 0 ? -beside : beside;
    below = below < 0 ? -below : below;
    return beside < below && (size_t)beside * bytes < LINE_BYTES;
}

/* The same where only results are left to be made, which take about as long as so many bytes take elsewhere. Units begin at multiples
 * of RD_SIDE. */
_Static_assert(UNIT_RESULTS % RD_SIDE == 0, "units begin where results that are rounded together do");
static unsigned cut_results(struct rd_job *job) {
    uint64_t results = job->many->layout.results;
    job->row = results;
    job->tile = results < UNIT_RESULTS ? results : UNIT_RESULTS;
    job->parts = 1;
    job->longest = UINT64_MAX;
    job->units = rd_divide_up(results, job->tile);
    return rd_team_threads(&job->many->state[0].crew, job->units, results * MADE_BYTES);
}

/* Decides how the work is cut; returns the number of threads for it. */
static unsigned cut(struct rd_job *job) {
    if (job->made)
        return cut_results(job);
    const struct rd_many *many = job->many;
    const struct rd_crew *crew = &many->state[0].crew;
    uint64_t results = many->layout.results, count = many->layout.count;
    uint64_t all = rd_many_is_segmented(many) ? many->segments.elements : results * at_least(count, 1);
    uint64_t each = at_least(all / results, 1) * job->bytes;
    job->contiguous = is_contiguous(many);
    job->direct = job->contiguous && !many->mask;
    job->side = rd_side_suits(many);
    job->extremes = rd_side_extremes_suit(many);
    job->together = !job->side && !job->extremes && !many->mask && !job->direct && are_side_by_side(many, job->bytes);
    job->row = job->side || job->extremes ? many->layout.kept[many->layout.kept_axes - 1].length : results;
    uint64_t bytes = all * job->bytes * many->inputs;
    unsigned threads = rd_team_threads(crew, UINT64_MAX, bytes), wanted = threads * UNITS_PER_THREAD;
    const bool columns = (job->side || job->extremes) && are_side_by_side(many, job->bytes);
    const uint64_t least = columns ? COLUMNS_PART_LEAST : PART_LEAST,
                   most = many->splits ? at_least(count / least, 1) : 1;
    job->tile = job->side            ? rd_side_tile(many, threads, most)
                : job->extremes      ? rd_side_extremes_tile(many, threads, most)
                : job->together      ? LINE_BYTES / job->bytes
                : each >= UNIT_BYTES ? 1
                                     : at_least(UNIT_BYTES / each < UNIT_RESULTS ? UNIT_BYTES / each : UNIT_RESULTS, 1);
    job->parts = 1;
    job->part = count;
    job->longest = UINT64_MAX;
    uint64_t tiles = results / job->row * rd_divide_up(job->row, job->tile);
    if (job->direct && !job->extremes && (!many->splits || (threads > 1 && rd_many_is_segmented(many)))) {
        job->longest = LONG; /* what is not cut must not depend on the number of threads */
    } else if (threads > 1 && tiles < wanted && most > 1) {
        uint64_t parts = rd_divide_up(columns ? rd_job_units(threads) : wanted, tiles);
        job->part = rd_divide_up(at_least(rd_divide_up(count, parts), least), GATHERED) * GATHERED;
        job->parts = rd_divide_up(count, job->part);
    }
    job->units = tiles * job->parts;
    return threads < job->units ? threads : (unsigned)job->units;
}

/* A bound as it was given, which is negative only in a signed type: its sign, and what follows. */
static const char *sign_of(const struct rd_job *job, uint64_t *bound) {
    const bool is_negative = job->many->segments.index != REDUCT_U64 && *bound >> 63;
    *bound = is_negative ? 0 - *bound : *bound;
    return is_negative ? "-" : "";
}

/* The first segment that is none, in `error`. */
static reduct_status check_bounds(const struct rd_job *job, reduct_error *error) {
    const struct rd_many *many = job->many;
    for (uint64_t r = 0; r < many->layout.results; r++) {
        uint64_t begin = segment_begin(job, r), end = segment_end(job, r);
        if (begin > end || end > many->segments.elements) {
            const char *begin_sign = sign_of(job, &begin), *end_sign = sign_of(job, &end);
            return rd_fail_at(
                error, REDUCT_ERROR_ARGUMENT, r,
                "segments: number %llu is from element %s%llu to %s%llu; expected one within the array's %llu",
                (unsigned long long)r, begin_sign, (unsigned long long)begin, end_sign, (unsigned long long)end,
                (unsigned long long)many->segments.elements);
        }
    }
    return REDUCT_OK;
}

/* Room for results that wait, by reduction, and for parts. False without memory. */
static bool make_room(struct rd_job *job) {
    const struct rd_many *many = job->many;
    job->held = malloc(many->reductions * sizeof *job->held);
    bool made = job->held != NULL, wait = false;
    for (size_t i = 0; made && i < many->reductions; i++) {
        job->held[i] = NULL;
        wait = wait || may_fail(job, i);
    }
    for (size_t i = 0; made && wait && i < many->reductions; i++)
        made = (job->held[i] = malloc(many->layout.results * rd_result_size(&many->reduction[i]))) != NULL;
    if (made && job->parts > 1)
        made =
            (job->partials = malloc(many->layout.results * job->parts * many->states * sizeof *job->partials)) != NULL;
    return made;
}

static void free_room(struct rd_job *job) {
    for (size_t i = 0; job->held && i < job->many->reductions; i++)
        free(job->held[i]);
    free(job->held);
    free(job->partials);
}

/* Copies results that waited to where they belong. */
static void release_results(const struct rd_job *job) {
    const struct rd_many *many = job->many;
    for (size_t i = 0; i < many->reductions; i++) {
        const size_t bytes = rd_result_size(&many->reduction[i]);
        const bool in_order = rd_many_is_segmented(many) || job->made;
        if (job->held[i] && in_order)
            memcpy(rd_job_place(job, 0, 0, i, true), job->held[i], many->layout.results * bytes);
        for (uint64_t r = 0; job->held[i] && !in_order && r < many->layout.results; r++)
            memcpy(rd_job_place(job, r, rd_layout_result(&many->layout, r).result, i, true), job->held[i] + r * bytes,
                   bytes);
    }
}

static reduct_status no_memory(const struct rd_job *job, reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %llu results could not be allocated",
                   (unsigned long long)job->many->layout.results);
}

static reduct_status reduce_all(struct rd_job *job, unsigned threads, reduct_error *error) {
    const struct rd_many *many = job->many;
    const bool any_long = job->longest != UINT64_MAX;
    struct rd_partial *state = any_long ? malloc(many->states * sizeof *state) : NULL;
    if (any_long && !state)
        return no_memory(job, error);
    rd_team_run(&many->state[0].crew, threads, work, job);
    if (job->units && !atomic_load(&job->next) && !rd_job_stops(job)) /* all of them did: nothing was written */
        atomic_store(&job->lacks_memory, true);
    else if (job->parts > 1 && !rd_job_stops(job))
        merge_parts(job);
    for (uint64_t r = 0; any_long && r < many->layout.results && !atomic_load(&job->lacks_memory); r++)
        if (rd_job_source(job, r).count > job->longest && !rd_job_stops(job))
            reduce_with_all(job, r, state);
    free(state);
    if (atomic_load(&job->lacks_memory))
        return no_memory(job, error);
    return rd_job_stops(job) ? rd_team_stopped(error) : REDUCT_OK;
}

/* The first failure, which names its result where there are several. */
static reduct_status report(const struct rd_job *job, reduct_error *error) {
    const struct rd_failure *failure = &job->failure;
    const char *name = rd_operator(job->many->reduction[failure->which].op)->name;
    if (job->many->layout.results == 1)
        return rd_fail_at(error, failure->status, failure->error.index, "%s: %s", name, failure->error.message);
    return rd_fail_at(error, failure->status, failure->error.index, "%s: result %llu: %s", name,
                      (unsigned long long)failure->result, failure->error.message);
}

/* `places` as in rd_cpu_execute_gathered(), or null; `made`: where results come from that were reduced elsewhere, or null. */
static reduct_status execute(const struct rd_many *many, const struct rd_execution *execution, const uint64_t *places,
                             const struct rd_results *made, reduct_error *error) {
    struct rd_job job = {.many = many,
                         .execution = execution,
                         .places = places,
                         .made = made,
                         .bytes = rd_type(many->reduction[0].element)->bytes};
    if (!many->layout.results)
        return REDUCT_OK;
    reduct_status status = rd_many_is_segmented(many) && !places ? check_bounds(&job, error) : REDUCT_OK;
    if (status != REDUCT_OK)
        return status;
    unsigned threads = cut(&job);
    atomic_init(&job.next, 0);
    atomic_init(&job.lacks_memory, false);
    pthread_mutex_init(&job.lock, NULL);
    status = make_room(&job) ? reduce_all(&job, threads, error) : no_memory(&job, error);
    if (status == REDUCT_OK && job.failure.status != REDUCT_OK)
        status = report(&job, error);
    else if (status == REDUCT_OK)
        release_results(&job);
    free_room(&job);
    pthread_mutex_destroy(&job.lock);
    return status;
}

reduct_status rd_cpu_execute_gathered(const struct rd_many *many, const struct rd_execution *execution,
                                      const uint64_t *places, reduct_error *error) {
    return execute(many, execution, places, NULL, error);
}

reduct_status rd_cpu_write_results(const struct rd_many *many, const struct rd_execution *execution,
                                   const struct rd_results *results, reduct_error *error) {
    return execute(many, execution, NULL, results, error);
}

reduct_status rd_cpu_execute_many(const struct rd_many *many, const struct rd_execution *execution,
                                  reduct_error *error) {
    return rd_many_is_grouped(many) ? rd_cpu_execute_groups(many, execution, error)
                                    : execute(many, execution, NULL, NULL, error);
}
