/* Groups of elements, by tables (group_tables.c) where all reductions have such, otherwise by sorting: elements are put in the
 * order of their groups, each group's in the order of the array, with their places beside them; what comes of it are segments,
 * which many.c reduces. */
#include "cpu/groups.h"

#include "core/status.h"
#include "cpu/group_blocks.h"
#include "cpu/group_tables.h"
#include "cpu/job.h"
#include "cpu/many.h"
#include "cpu/team.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Fewest rows of a part. */
enum { PART_ROWS = 1 << 14 };

/* What sorting needs to know, and what comes of it. Rows are cut into parts, of which each knows how many elements of each result it has, and
 * then where its next one belongs: elements of a result stay in the order of the array, whatever threads do the parts. */
struct sorting {
    const struct rd_many *many;
    const struct rd_execution *execution;
    size_t bytes;    /* of an element */
    uint64_t *bound; /* by result, and one more: where its elements begin */
    uint64_t elements;
    unsigned char *input[2];
    uint64_t *places;
    unsigned parts; /* as many as threads */
    uint64_t *next; /* by part, result */
    void (*work)(struct sorting *sorting, uint64_t part);
    atomic_ullong part;    /* the next one */
    atomic_ullong outside; /* the first row whose index is outside */
};

/* Does all parts. */
static void take_parts(void *context) {
    struct sorting *sorting = context;
    for (uint64_t part; (part = atomic_fetch_add(&sorting->part, 1)) < sorting->parts;)
        sorting->work(sorting, part);
}

static void run(struct sorting *sorting, void (*work)(struct sorting *sorting, uint64_t part)) {
    sorting->work = work;
    atomic_store(&sorting->part, 0);
    rd_team_run(&sorting->many->state[0].crew, sorting->parts, take_parts, sorting);
}

/* Where a part begins. */
static uint64_t part_row(const struct sorting *sorting, uint64_t part) {
    const uint64_t rows = sorting->many->groups.elements;
    return rows / sorting->parts * part + rows % sorting->parts * part / sorting->parts;
}

/* Whether to stop before a row: asked now and then. */
static bool stops(const struct sorting *sorting, uint64_t row) {
    return row % RD_STOPPING_STEP == 0 && rd_team_stops(&sorting->many->state[0].crew);
}

/* Counts a part's elements of each result. */
static void count_elements(struct sorting *sorting, uint64_t part) {
    const reduct_groups *groups = &sorting->many->groups;
    const uint64_t width = groups->width, results = sorting->many->layout.results, end = part_row(sorting, part + 1);
    uint64_t *count = sorting->next + part * results;
    memset(count, 0, results * sizeof *count);
    for (uint64_t at = part_row(sorting, part); at < end && !stops(sorting, at); at++) {
        const uint64_t group = rd_group_of(sorting->many, sorting->execution, at);
        for (uint64_t c = 0; c < width; c++) {
            if (!rd_group_counts(sorting->many, sorting->execution, at * width + c))
                continue;
            if (group < groups->count) {
                count[group * width + c]++;
            } else if (!groups->skip) {
                rd_group_note_outside(&sorting->outside, at);
                return;
            }
        }
    }
}

/* From how many elements there are to where they belong: an initial value before those of the parts. */
static void find_places(struct sorting *sorting) {
    const uint64_t results = sorting->many->layout.results;
    uint64_t place = 0;
    for (uint64_t r = 0; r < results; r++) {
        sorting->bound[r] = place;
        place += sorting->many->groups.with_initial ? 1 : 0;
        for (uint64_t part = 0; part < sorting->parts; part++) {
            uint64_t *next = &sorting->next[part * results + r], count = *next;
            *next = place;
            place += count;
        }
    }
    sorting->bound[results] = sorting->elements = place;
}

static void put(struct sorting *sorting, unsigned input, uint64_t at, const void *from, uint64_t number) {
    size_t bytes = sorting->bytes;
    memcpy(sorting->input[input] + at * bytes, (const unsigned char *)from + number * bytes, bytes);
}

static void put_initial(struct sorting *sorting) {
    for (uint64_t r = 0; sorting->many->groups.with_initial && r < sorting->many->layout.results; r++) {
        sorting->places[sorting->bound[r]] = RD_NO_PLACE;
        put(sorting, 0, sorting->bound[r], sorting->execution->initial, r);
    }
}

/* Moves every element of a part to where its result's next one belongs. */
static void move_elements(struct sorting *sorting, uint64_t part) {
    const reduct_groups *groups = &sorting->many->groups;
    const uint64_t width = groups->width, end = part_row(sorting, part + 1);
    uint64_t *next = sorting->next + part * sorting->many->layout.results;
    for (uint64_t at = part_row(sorting, part); at < end && !stops(sorting, at); at++) {
        const uint64_t group = rd_group_of(sorting->many, sorting->execution, at);
        for (uint64_t c = 0; group < groups->count && c < width; c++) {
            const uint64_t element = at * width + c;
            if (!rd_group_counts(sorting->many, sorting->execution, element))
                continue;
            const uint64_t to = next[group * width + c]++;
            sorting->places[to] = at;
            for (unsigned i = 0; i < sorting->many->inputs; i++)
                put(sorting, i, to, sorting->execution->input[i], element);
        }
    }
}

/* Sorts into memory for the elements that count, and reduces what comes of it. */
static reduct_status reduce_sorted(struct sorting *sorting, reduct_error *error) {
    const struct rd_many *many = sorting->many;
    uint64_t elements = sorting->elements;
    size_t room = elements * sorting->bytes, places = elements * sizeof *sorting->places;
    struct rd_many *sorted = malloc(sizeof *sorted + places + many->inputs * room); /* too large for the stack */
    if (!sorted)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %llu elements could not be allocated",
                       (unsigned long long)elements);
    sorting->places = (uint64_t *)(sorted + 1);
    for (unsigned i = 0; i < many->inputs; i++)
        sorting->input[i] = (unsigned char *)(sorted + 1) + places + i * room;
    put_initial(sorting);
    run(sorting, move_elements);
    const bool moved = !rd_team_stops(&many->state[0].crew);
    *sorted = *many;
    sorted->segments = (reduct_segments){.count = many->layout.results, .elements = elements, .index = REDUCT_U64};
    sorted->mask = REDUCT_MASK_NONE;
    struct rd_execution execution = {.input = {sorting->input[0], sorting->input[1]},
                                     .begins = sorting->bound,
                                     .results = sorting->execution->results,
                                     .outcomes = sorting->execution->outcomes};
    reduct_status status =
        moved ? rd_cpu_execute_gathered(sorted, &execution, sorting->places, error) : rd_team_stopped(error);
    free(sorted);
    return status;
}

/* A part for each thread that pays, as far as there are not more results in all parts than elements. */
static void choose_parts(struct sorting *sorting) {
    const struct rd_many *many = sorting->many;
    const uint64_t rows = many->groups.elements, results = many->layout.results,
                   by_work = results ? rows * many->groups.width / results : 1, by_rows = rows / PART_ROWS,
                   most = by_work < by_rows ? by_work : by_rows,
                   bytes =
                       rows * (many->groups.width * sorting->bytes * many->inputs + rd_type(many->groups.index)->bytes);
    sorting->parts = rd_team_threads(&many->state[0].crew, most ? most : 1, bytes);
}

static reduct_status sort(struct sorting *sorting, reduct_error *error) {
    const struct rd_many *many = sorting->many;
    run(sorting, count_elements);
    if (rd_team_stops(&many->state[0].crew))
        return rd_team_stopped(error);
    const uint64_t outside = atomic_load(&sorting->outside);
    if (outside != UINT64_MAX)
        return rd_group_refuse(many, sorting->execution, outside, error);
    find_places(sorting);
    return many->layout.results ? reduce_sorted(sorting, error) : REDUCT_OK;
}

reduct_status rd_cpu_execute_groups(const struct rd_many *many, const struct rd_execution *execution,
                                    reduct_error *error) {
    if (many->layout.results && rd_group_tables_suit(many))
        return rd_group_tables_execute(many, execution, error);
    struct sorting sorting = {
        .many = many, .execution = execution, .bytes = rd_type(many->reduction[0].element)->bytes};
    const uint64_t results = many->layout.results;
    atomic_init(&sorting.part, 0);
    atomic_init(&sorting.outside, UINT64_MAX);
    choose_parts(&sorting);
    sorting.bound = malloc((results + 1) * sizeof *sorting.bound);
    sorting.next = malloc((results * sorting.parts + 1) * sizeof *sorting.next);
    reduct_status status = REDUCT_OK;
    if (sorting.bound && sorting.next)
        status = sort(&sorting, error);
    else
        status = rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %llu results could not be allocated",
                         (unsigned long long)results);
    free(sorting.bound);
    free(sorting.next);
    return status;
}
