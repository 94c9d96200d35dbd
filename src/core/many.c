/* Making plans of many: see many.h. */
#include "core/many.h"

#include "core/options.h"
#include "core/reduction.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * States
 * ------------------------------------------------------------------------------------------------------------------ */

bool rd_state_covers(const reduct_reduction *a, const reduct_reduction *b) {
    const struct rd_operator *of_a = rd_operator(a->op), *of_b = rd_operator(b->op);
    if (a->nan != b->nan || rd_family(a) != rd_family(b))
        return false;
    switch (rd_family(a)) {
    case RD_EXACT_SUM:
    case RD_INTEGER_SUM:
        return of_a->transform == of_b->transform || (of_a->transform == RD_MOMENTS && of_b->transform == RD_IDENTITY);
    case RD_FAST_SUM:
        return of_a->transform == of_b->transform;
    case RD_EXTREME:
        return of_a->transform == of_b->transform && of_a->combine == of_b->combine &&
               (of_a->finish == RD_INDEX || of_b->finish != RD_INDEX);
    case RD_COUNT:
        return of_a->transform == of_b->transform;
    case RD_BITS:
        return of_a->transform == of_b->transform && of_a->combine == of_b->combine;
    case RD_FLOAT_PRODUCT:
        return true;
    case RD_INTEGER_PRODUCT:
        break;
    }
    return a->flags == b->flags; /* that wrap does not keep what would not fit */
}

/* Chooses the fewest states: each reduction takes one that is there, or grows one to hold both, or has one of its own. */
static void choose_states(struct rd_many *many) {
    for (size_t i = 0; i < many->reductions; i++) {
        size_t s = 0;
        const reduct_reduction *reduction = &many->reduction[i];
        while (s < many->states && !rd_state_covers(&many->state[s].reduction, reduction) &&
               !rd_state_covers(reduction, &many->state[s].reduction))
            s++;
        if (s == many->states)
            many->state[many->states++].reduction = *reduction;
        else if (!rd_state_covers(&many->state[s].reduction, reduction))
            many->state[s].reduction = *reduction;
        many->state_of[i] = s;
    }
}

/* Whether the order of the elements means nothing to a state; whether parts of it may be merged, and give what one pass does. */
static bool is_ordered(const reduct_reduction *reduction) {
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
    case RD_INTEGER_SUM:
    case RD_INTEGER_PRODUCT:
    case RD_COUNT:
    case RD_BITS:
        return reduction->nan == REDUCT_NAN_ERROR;
    case RD_EXTREME:
        return reduction->nan == REDUCT_NAN_ERROR || rd_operator(reduction->op)->finish == RD_INDEX;
    case RD_FAST_SUM:
    case RD_FLOAT_PRODUCT:
        break;
    }
    return true;
}

static bool has_one_tree(const reduct_reduction *reduction) {
    return rd_family(reduction) == RD_FLOAT_PRODUCT;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Making
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status resolve_all(const reduct_plan_options *options, struct rd_many *many, reduct_error *error) {
    for (size_t i = 0; i < many->reductions; i++) {
        reduct_reduction *reduction = &many->reduction[i];
        *reduction = options->reductions[i];
        reduct_status status = reduct_reduction_resolve(reduction, error);
        if (status != REDUCT_OK)
            return status;
        if (reduction->element != many->reduction[0].element)
            return rd_fail(error, REDUCT_ERROR_ARGUMENT,
                           "reductions: number %zu reads %s elements, the first one %s; they read the same data", i,
                           rd_type(reduction->element)->name, rd_type(many->reduction[0].element)->name);
        /* Fast sums are of whole arrays, whose blocks they have; of few elements they are no faster. */
        reduction->mode = REDUCT_EXACT;
        unsigned inputs = rd_operator(reduction->op)->inputs;
        many->inputs = inputs > many->inputs ? inputs : many->inputs;
    }
    return REDUCT_OK;
}

static reduct_status check_segments(const reduct_segments *segments, size_t bytes, reduct_error *error) {
    char label[RD_TYPE_LABEL];
    if (!segments)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "segments: null pointer");
    reduct_type index = segments->index;
    if (index != REDUCT_DEFAULT && index != REDUCT_I32 && index != REDUCT_U32 && index != REDUCT_I64 &&
        index != REDUCT_U64)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "segments: index: %s; expected i32, u32, i64 or u64",
                       rd_type_label(index, label));
    uint64_t product;
    if (index == REDUCT_DEFAULT &&
        (__builtin_mul_overflow(segments->count, segments->length, &product) || product > segments->elements))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "segments: %llu of %llu elements are more than the array's %llu",
                       (unsigned long long)segments->count, (unsigned long long)segments->length,
                       (unsigned long long)segments->elements);
    if (segments->elements > PTRDIFF_MAX / bytes || segments->count > PTRDIFF_MAX / 32)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE,
                       "segments: %llu of %llu elements are more than an address space holds",
                       (unsigned long long)segments->count, (unsigned long long)segments->elements);
    return RD_CHECK_RESERVED("segments: reserved", segments, error);
}

static bool is_group_index(reduct_type index) {
    switch ((int)index) {
    case REDUCT_U8:
    case REDUCT_U16:
    case REDUCT_U32:
    case REDUCT_U64:
    case REDUCT_I32:
    case REDUCT_I64:
        return true;
    default:
        return false;
    }
}

/* What an initial value would be of a reduction that gives a place, or of pairs, nobody can say. */
static reduct_status check_initial(const struct rd_many *many, reduct_error *error) {
    for (size_t i = 0; i < many->reductions; i++) {
        const struct rd_operator *op = rd_operator(many->reduction[i].op);
        if (op->finish == RD_INDEX || op->inputs == 2)
            return rd_fail(error, REDUCT_ERROR_ARGUMENT, "groups: with_initial: %s takes no initial values; it %s",
                           op->name, op->inputs == 2 ? "reads two arrays" : "gives places in the array");
    }
    return REDUCT_OK;
}

static reduct_status check_groups(const struct rd_many *many, const reduct_groups *groups, size_t bytes,
                                  reduct_error *error) {
    char label[RD_TYPE_LABEL];
    if (!groups)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "groups: null pointer");
    if (!is_group_index(groups->index))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "groups: index: %s; expected u8, u16, u32, u64, i32 or i64",
                       rd_type_label(groups->index, label));
    reduct_status status = groups->with_initial ? check_initial(many, error) : REDUCT_OK;
    if (status != REDUCT_OK)
        return status;
    uint64_t width = groups->width ? groups->width : 1, elements, results;
    if (__builtin_mul_overflow(groups->elements, width, &elements) || elements > PTRDIFF_MAX / bytes ||
        groups->elements > PTRDIFF_MAX / rd_type(groups->index)->bytes ||
        __builtin_mul_overflow(groups->count, width, &results) || results > PTRDIFF_MAX / 32)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE,
                       "groups: %llu of them, %llu elements and a width of %llu are more than an address space holds",
                       (unsigned long long)groups->count, (unsigned long long)groups->elements,
                       (unsigned long long)width);
    return RD_CHECK_RESERVED("groups: reserved", groups, error);
}

static reduct_status make_groups(const reduct_plan_options *options, struct rd_many *many, size_t bytes,
                                 reduct_error *error) {
    reduct_status status = check_groups(many, options->groups, bytes, error);
    if (status != REDUCT_OK)
        return status;
    many->groups = *options->groups;
    many->groups.width += !many->groups.width;
    many->layout.results = many->groups.count * many->groups.width;
    return REDUCT_OK;
}

static reduct_status make_layout(const reduct_plan_options *options, struct rd_many *many, reduct_error *error) {
    size_t bytes = rd_type(many->reduction[0].element)->bytes;
    if (options->kind == REDUCT_GROUPS)
        return make_groups(options, many, bytes, error);
    if (options->kind == REDUCT_SEGMENTS) {
        reduct_status status = check_segments(options->segments, bytes, error);
        if (status != REDUCT_OK)
            return status;
        many->segments = *options->segments;
        if (rd_many_is_segmented(many)) {
            many->layout.results = many->segments.count;
            return REDUCT_OK;
        }
    }
    reduct_status status = rd_layout_make(options, bytes, many->inputs, &many->layout, error);
    bool ordered = false;
    for (size_t s = 0; s < many->states; s++)
        ordered = ordered || is_ordered(&many->state[s].reduction);
    if (status == REDUCT_OK && !ordered)
        rd_layout_reorder(&many->layout);
    return status;
}

static reduct_status prepare_all(struct rd_many *many, const struct rd_place *place, reduct_error *error) {
    for (size_t s = 0; s < many->states; s++) {
        reduct_reduction reduction = many->state[s].reduction;
        reduct_status status = rd_prepare(&reduction, place, RD_FOR_MANY, &many->state[s], error);
        if (status != REDUCT_OK) {
            many->states = s; /* which are to be released */
            return status;
        }
    }
    const struct rd_backend *backend = many->state[0].device.backend;
    return backend->prepare_many ? backend->prepare_many(many, error) : REDUCT_OK;
}

static reduct_status make(const reduct_plan_options *options, const struct rd_place *place, struct rd_many *many,
                          reduct_error *error) {
    reduct_status status = resolve_all(options, many, error);
    if (status != REDUCT_OK)
        return status;
    many->mask = options->mask;
    many->mask_offset = options->mask_offset;
    choose_states(many);
    many->splits = true;
    for (size_t s = 0; s < many->states; s++)
        many->splits = many->splits && !has_one_tree(&many->state[s].reduction);
    status = make_layout(options, many, error);
    if (status != REDUCT_OK)
        many->states = 0;
    return status == REDUCT_OK ? prepare_all(many, place, error) : status;
}

reduct_status rd_many_make(const reduct_plan_options *options, const struct rd_place *place, struct rd_many **many,
                           reduct_error *error) {
    size_t count = options->reduction_count,
           each = sizeof *(*many)->state + sizeof *(*many)->reduction + sizeof *(*many)->state_of;
    struct rd_many *made = count < PTRDIFF_MAX / (2 * each) ? malloc(sizeof *made + count * each) : NULL;
    if (!made)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: %zu reductions could not be allocated", count);
    memset(made, 0, sizeof *made + count * each);
    made->reductions = count;
    made->state = (struct rd_prepared *)(made + 1);
    made->reduction = (reduct_reduction *)(made->state + count);
    made->state_of = (size_t *)(made->reduction + count);
    reduct_status status = make(options, place, made, error);
    if (status == REDUCT_OK)
        *many = made;
    else
        rd_many_release(made);
    return status;
}

bool rd_many_may_fail(const struct rd_many *many, size_t which) {
    const reduct_reduction *reduction = &many->reduction[which];
    bool of_floats = rd_type(reduction->element)->kind == RD_FLOAT;
    bool few = rd_many_is_segmented(many) || rd_many_is_grouped(many) || many->mask ||
               many->layout.count < rd_minimum(reduction) || reduction->nan == REDUCT_NAN_IGNORE;
    return (few && rd_minimum(reduction)) || (of_floats && reduction->nan == REDUCT_NAN_ERROR) ||
           (!of_floats && rd_type(reduction->result)->kind != RD_FLOAT && !(reduction->flags & REDUCT_WRAP));
}

void rd_many_release(struct rd_many *many) {
    if (many && many->kept)
        many->state[0].device.backend->release_many(many);
    for (size_t s = 0; many && s < many->states; s++)
        rd_release(&many->state[s]);
    free(many);
}
