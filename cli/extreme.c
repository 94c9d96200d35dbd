/* argmin and argmax over many chunks: see extreme.h. */
#include "extreme.h"

#include "element.h"

/* Orders elements, the best first: NaN, which only counts where it propagates, then towards the other end. */
static uint64_t rank_of(const struct extreme *extreme, const void *element) {
    if (element_is_nan(extreme->type, element))
        return 0; /* which no other floating-point number has, either way round */
    uint64_t key = element_key(extreme->type, element);
    return extreme->least ? key : ~key;
}

/* The smallest index of elements that have a rank, of which the one at `at` is the first. Along the first
 * axis, which runs fastest in the file, the index grows: the first of each run will do. */
static uint64_t smallest_index(const struct extreme *extreme, const struct reader *reader, const struct chunk *elements,
                               uint64_t first, uint64_t at, uint64_t rank) {
    const struct layout *layout = &reader->layout;
    size_t size = reduct_type_size(reader->type);
    uint64_t smallest = layout_index(layout, first + at);
    if (!layout->fortran)
        return smallest;
    while (at < elements->count) {
        uint64_t left = layout->shape[0] - (first + at) % layout->shape[0];
        uint64_t next = left < elements->count - at ? at + left : elements->count;
        while (at < next && rank_of(extreme, (const char *)elements->data + at * size) != rank)
            at++;
        if (at < next) {
            uint64_t index = layout_index(layout, first + at);
            smallest = index < smallest ? index : smallest;
        }
        at = next;
    }
    return smallest;
}

reduct_status extreme_add(struct extreme *extreme, const struct reader *reader, const struct chunk *elements,
                          uint64_t first, reduct_error *error) {
    uint64_t at;
    reduct_accumulator_reset(extreme->accumulator);
    reduct_status status = reduct_accumulator_add(extreme->accumulator, elements->data, NULL, elements->count, error);
    if (status == REDUCT_OK)
        status = reduct_accumulator_result(extreme->accumulator, REDUCT_U64, &at, error);
    if (status != REDUCT_OK)
        return status == REDUCT_ERROR_EMPTY ? REDUCT_OK : status; /* all of it ignored */
    uint64_t rank = rank_of(extreme, (const char *)elements->data + at * reduct_type_size(reader->type));
    if (extreme->found && rank > extreme->rank)
        return REDUCT_OK;
    const struct extreme best = {.found = true,
                                 .rank = rank,
                                 .index = extreme->base + smallest_index(extreme, reader, elements, first, at, rank)};
    extreme_merge(extreme, &best);
    return REDUCT_OK;
}

void extreme_merge(struct extreme *extreme, const struct extreme *other) {
    if (!other->found || (extreme->found && other->rank > extreme->rank))
        return;
    if (!extreme->found || other->rank < extreme->rank || other->index < extreme->index)
        extreme->index = other->index;
    extreme->rank = other->rank;
    extreme->found = true;
}

reduct_status extreme_result(struct extreme *extreme, uint64_t *index, reduct_error *error) {
    if (!extreme->found) {
        reduct_accumulator_reset(extreme->accumulator);
        return reduct_accumulator_result(extreme->accumulator, REDUCT_U64, index, error);
    }
    *index = extreme->index;
    return REDUCT_OK;
}
