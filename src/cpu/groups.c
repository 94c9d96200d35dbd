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

#include <stdlib.h>
#include <string.h>

/* What sorting needs to know, and what comes of it. */
struct sorting {
    const struct rd_many *many;
    const struct rd_execution *execution;
    size_t bytes;    /* of an element */
    uint64_t *bound; /* by result, and one more: where its elements begin */
    uint64_t elements;
    unsigned char *input[2];
    uint64_t *places;
};

/* Whether to stop before a row: asked now and then. */
static bool stops(const struct sorting *sorting, uint64_t row) {
    return row && row % RD_STOPPING_STEP == 0 && rd_team_stops(&sorting->many->state[0].crew);
}

/* Counts the elements of each result, two places on. */
static reduct_status count_elements(struct sorting *sorting, reduct_error *error) {
    const reduct_groups *groups = &sorting->many->groups;
    uint64_t width = groups->width, results = sorting->many->layout.results;
    memset(sorting->bound, 0, (results + 2) * sizeof *sorting->bound);
    for (uint64_t r = 0; groups->with_initial && r < results; r++)
        sorting->bound[r + 2] = 1;
    for (uint64_t at = 0; at < groups->elements; at++) {
        uint64_t group = rd_group_of(sorting->many, sorting->execution, at);
        if (stops(sorting, at))
            return rd_team_stopped(error);
        for (uint64_t c = 0; c < width; c++) {
            if (!rd_group_counts(sorting->many, sorting->execution, at * width + c))
                continue;
            if (group < groups->count)
                sorting->bound[group * width + c + 2]++;
            else if (!groups->skip)
                return rd_group_refuse(sorting->many, sorting->execution, at, error);
        }
    }
    for (uint64_t r = 0; r < results; r++)
        sorting->bound[r + 2] += sorting->bound[r + 1];
    sorting->elements = sorting->bound[results + 1];
    return REDUCT_OK;
}

static void put(struct sorting *sorting, unsigned input, uint64_t at, const void *from, uint64_t number) {
    size_t bytes = sorting->bytes;
    memcpy(sorting->input[input] + at * bytes, (const unsigned char *)from + number * bytes, bytes);
}

/* Moves every element to where its group's next one belongs: bound[r + 1] is that place, and in the end where the group ends. False
 * if it was to stop. */
static bool move_elements(struct sorting *sorting) {
    const struct rd_execution *execution = sorting->execution;
    const reduct_groups *groups = &sorting->many->groups;
    uint64_t width = groups->width, results = sorting->many->layout.results, *next = sorting->bound + 1;
    for (uint64_t r = 0; groups->with_initial && r < results; r++) {
        sorting->places[next[r]] = RD_NO_PLACE;
        put(sorting, 0, next[r]++, execution->initial, r);
    }
    for (uint64_t at = 0; at < groups->elements; at++) {
        uint64_t group = rd_group_of(sorting->many, sorting->execution, at);
        if (stops(sorting, at))
            return false;
        for (uint64_t c = 0; group < groups->count && c < width; c++) {
            uint64_t element = at * width + c;
            if (!rd_group_counts(sorting->many, sorting->execution, element))
                continue;
            uint64_t to = next[group * width + c]++;
            sorting->places[to] = at;
            for (unsigned i = 0; i < sorting->many->inputs; i++)
                put(sorting, i, to, execution->input[i], element);
        }
    }
    return true;
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
    const bool moved = move_elements(sorting);
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

reduct_status rd_cpu_execute_groups(const struct rd_many *many, const struct rd_execution *execution,
                                    reduct_error *error) {
    if (many->layout.results && rd_group_tables_suit(many))
        return rd_group_tables_execute(many, execution, error);
    struct sorting sorting = {
        .many = many, .execution = execution, .bytes = rd_type(many->reduction[0].element)->bytes};
    uint64_t results = many->layout.results;
    sorting.bound = malloc((results + 2) * sizeof *sorting.bound);
    if (!sorting.bound)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %llu results could not be allocated",
                       (unsigned long long)results);
    reduct_status status = count_elements(&sorting, error);
    if (status == REDUCT_OK && results)
        status = reduce_sorted(&sorting, error);
    free(sorting.bound);
    return status;
}
