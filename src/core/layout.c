/* Layouts: see layout.h. */
#include "core/layout.h"

#include "core/options.h"
#include "core/status.h"

#include <string.h>

enum { ELEMENTS_LOG2_MAX = 63 };

/* a * b, or false if it is more than 2^63. */
static bool multiply(uint64_t *a, uint64_t b) {
    return !__builtin_mul_overflow(*a, b, a) && *a <= (uint64_t)1 << ELEMENTS_LOG2_MAX;
}

/* Adds an axis below those that are there: one of length 1 is none, and one whose steps make up a step of the axis above is
 * part of it. */
static void append(struct rd_axis *axes, unsigned *count, struct rd_axis axis, bool kept) {
    if (axis.length == 1)
        return;
    struct rd_axis *above = *count ? &axes[*count - 1] : NULL;
    bool joined = above != NULL;
    for (unsigned i = 0; joined && i < RD_ARRAYS; i++) {
        int64_t step;
        joined = !__builtin_mul_overflow(axis.stride[i], (int64_t)axis.length, &step) && above->stride[i] == step;
    }
    if (joined && kept) {
        int64_t step;
        joined =
            !__builtin_mul_overflow(axis.result_stride, (int64_t)axis.length, &step) && above->result_stride == step;
    }
    if (joined) {
        axis.length *= above->length;
        *above = axis;
    } else {
        axes[(*count)++] = axis;
    }
}

/* How far the axes reach, in steps of one item; false if that is more than memory has room for. */
static bool reach(uint64_t *sum, uint64_t length, int64_t stride, uint64_t most) {
    uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride, far;
    return length < 2 ||
           (!__builtin_mul_overflow(step, length - 1, &far) && !__builtin_add_overflow(*sum, far, sum) && *sum < most);
}

/* Whether there is an input of this number, or the mask. */
static bool is_used(unsigned array, unsigned inputs, bool masked) {
    return array == RD_MASK ? masked : array < inputs;
}

static reduct_status check_reach(const struct rd_layout *layout, size_t element, unsigned inputs, bool masked,
                                 reduct_error *error) {
    for (unsigned i = 0; layout->results && layout->count && i < RD_ARRAYS; i++) {
        size_t bytes = i == RD_MASK ? 1 : element;
        uint64_t sum = 0;
        if (!is_used(i, inputs, masked))
            continue;
        bool fits = true;
        for (unsigned k = 0; fits && k < layout->kept_axes; k++)
            fits = reach(&sum, layout->kept[k].length, layout->kept[k].stride[i], PTRDIFF_MAX / bytes);
        for (unsigned k = 0; fits && k < layout->reduced_axes; k++)
            fits = reach(&sum, layout->reduced[k].length, layout->reduced[k].stride[i], PTRDIFF_MAX / bytes);
        if (!fits && i == RD_MASK)
            return rd_fail(error, REDUCT_ERROR_TOO_LARGE,
                           "mask_strides: the mask reaches further than an address space");
        if (!fits)
            return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "strides: input %u reaches further than an address space", i);
    }
    uint64_t sum = 0;
    bool fits = layout->results <= PTRDIFF_MAX / 32; /* bytes of the widest result */
    for (unsigned k = 0; fits && layout->results && k < layout->kept_axes; k++)
        fits = reach(&sum, layout->kept[k].length, layout->kept[k].result_stride, PTRDIFF_MAX / 32);
    if (!fits)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "results: %llu are more than an address space holds",
                       (unsigned long long)layout->results);
    return REDUCT_OK;
}

/* Axes from outermost to innermost; `reduced` by bit. A null stride is that of C order. */
static reduct_status make(const struct reduct_array *array, size_t bytes, unsigned inputs, bool masked,
                          struct rd_layout *layout, reduct_error *error) {
    const int64_t *given[RD_ARRAYS] = {array->strides[0], array->strides[1], array->mask_strides};
    int64_t stride[RD_ARRAYS][REDUCT_RANK_MAX] = {{0}}, result_stride[REDUCT_RANK_MAX];
    uint64_t elements = 1, results = 1;
    bool empty = false;
    *layout = (struct rd_layout){.results = 1, .count = 1};
    for (unsigned k = 0; k < array->rank; k++)
        empty = empty || array->lengths[k] == 0;
    for (unsigned k = array->rank; k-- > 0;) {
        bool reduced = array->axes >> k & 1;
        for (unsigned i = 0; i < RD_ARRAYS; i++)
            if (is_used(i, inputs, masked))
                stride[i][k] = given[i] ? given[i][k] : (int64_t)elements;
        result_stride[k] = reduced ? 0 : array->result_strides ? array->result_strides[k] : (int64_t)results;
        if (!multiply(&elements, empty && !array->lengths[k] ? 1 : array->lengths[k]) ||
            (!reduced && !multiply(&results, array->lengths[k])) ||
            (reduced && !multiply(&layout->count, array->lengths[k])))
            return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "lengths: more than 2^63 elements");
    }
    layout->results = results;
    for (unsigned k = 0; k < array->rank; k++) {
        struct rd_axis axis = {.length = array->lengths[k], .result_stride = result_stride[k]};
        for (unsigned i = 0; i < RD_ARRAYS; i++)
            axis.stride[i] = stride[i][k];
        if (array->axes >> k & 1)
            append(layout->reduced, &layout->reduced_axes, axis, false);
        else
            append(layout->kept, &layout->kept_axes, axis, true);
    }
    return check_reach(layout, bytes, inputs, masked, error);
}

static reduct_status check_array(const reduct_array *array, reduct_error *error) {
    if (!array)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "array: null pointer");
    if (array->rank > REDUCT_RANK_MAX)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "array: rank: %u; expected at most %d", array->rank,
                       REDUCT_RANK_MAX);
    if (array->rank && !array->lengths)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "array: lengths: null pointer");
    if (array->rank < 64 && ~array->axes && array->axes >> array->rank)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "array: axes: 0x%llx has axes beyond rank %u",
                       (unsigned long long)array->axes, array->rank);
    return RD_CHECK_RESERVED("array: reserved", array, error);
}

reduct_status rd_layout_make(const reduct_plan_options *options, size_t bytes, unsigned inputs,
                             struct rd_layout *layout, reduct_error *error) {
    const reduct_shape *shape = &options->shape;
    uint64_t lengths[3] = {shape->outer, shape->n, shape->inner};
    int64_t strides[3] = {shape->outer_stride, shape->stride, shape->inner_stride};
    reduct_array array = {
        .rank = 3, .lengths = lengths, .strides = {strides, strides}, .axes = 2, .mask_strides = strides};
    switch (options->kind) {
    case REDUCT_WHOLE:
        array = (reduct_array){.rank = 1, .lengths = &shape->n, .axes = 1};
        break;
    case REDUCT_SHAPE:
    case REDUCT_GROUPS: /* whose elements have no layout: core/many.c does not ask */
        break;
    case REDUCT_ARRAY: {
        reduct_status status = check_array(options->array, error);
        if (status != REDUCT_OK)
            return status;
        array = *options->array;
        break;
    }
    case REDUCT_SEGMENTS:
        lengths[0] = options->segments->count;
        lengths[1] = options->segments->length;
        array = (reduct_array){.rank = 2, .lengths = lengths, .axes = 2};
        break;
    }
    return make(&array, bytes, inputs, options->mask != REDUCT_MASK_NONE, layout, error);
}

void rd_layout_reorder(struct rd_layout *layout) {
    struct rd_axis *axes = layout->reduced, sorted[REDUCT_RANK_MAX];
    unsigned count = layout->reduced_axes;
    for (unsigned k = 0; k < count; k++)
        if (axes[k].stride[0] < 0)
            for (unsigned i = 0; i < RD_ARRAYS; i++) {
                layout->first[i] += axes[k].stride[i] * (int64_t)(axes[k].length - 1);
                axes[k].stride[i] = -axes[k].stride[i];
            }
    for (unsigned k = 0; k < count; k++) { /* insertion sort: there are few */
        unsigned at = k;
        for (; at > 0 && sorted[at - 1].stride[0] < axes[k].stride[0]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = axes[k];
    }
    layout->reduced_axes = 0;
    for (unsigned k = 0; k < count; k++)
        append(axes, &layout->reduced_axes, sorted[k], false);
}

struct rd_offsets rd_layout_result(const struct rd_layout *layout, uint64_t at) {
    struct rd_offsets offsets = {{layout->first[0], layout->first[1], layout->first[RD_MASK]}, 0};
    for (unsigned k = layout->kept_axes; k-- > 0;) {
        const struct rd_axis *axis = &layout->kept[k];
        int64_t place = (int64_t)(at % axis->length);
        at /= axis->length;
        for (unsigned i = 0; i < RD_ARRAYS; i++)
            offsets.input[i] += place * axis->stride[i];
        offsets.result += place * axis->result_stride;
    }
    return offsets;
}

void rd_cursor_start(const struct rd_layout *layout, uint64_t first, struct rd_cursor *cursor) {
    memset(cursor->offset, 0, sizeof cursor->offset);
    for (unsigned k = layout->reduced_axes; k-- > 0;) {
        const struct rd_axis *axis = &layout->reduced[k];
        cursor->place[k] = first % axis->length;
        first /= axis->length;
        for (unsigned i = 0; i < RD_ARRAYS; i++)
            cursor->offset[i] += (int64_t)cursor->place[k] * axis->stride[i];
    }
}

uint64_t rd_cursor_run(const struct rd_layout *layout, const struct rd_cursor *cursor, uint64_t most) {
    unsigned axes = layout->reduced_axes;
    uint64_t left = axes ? layout->reduced[axes - 1].length - cursor->place[axes - 1] : 1;
    return left < most ? left : most;
}

void rd_cursor_advance(const struct rd_layout *layout, uint64_t by, struct rd_cursor *cursor) {
    const struct rd_axis *axes = layout->reduced;
    if (!layout->reduced_axes)
        return;
    unsigned k = layout->reduced_axes - 1;
    cursor->place[k] += by;
    for (unsigned i = 0; i < RD_ARRAYS; i++)
        cursor->offset[i] += (int64_t)by * axes[k].stride[i];
    for (; k > 0 && cursor->place[k] == axes[k].length; k--) { /* on to the next run */
        for (unsigned i = 0; i < RD_ARRAYS; i++)
            cursor->offset[i] += axes[k - 1].stride[i] - (int64_t)cursor->place[k] * axes[k].stride[i];
        cursor->place[k] = 0;
        cursor->place[k - 1]++;
    }
}
